//! Short texts, which are encoded together: as each is by itself.

use super::*;
use crate::error::Result;
use crate::settings::Normalization;

/// Parts of texts: words, special tokens and halves of them, and an accent that normalisation moves.
const PARTS: [&str; 11] = [
    " a", "b", "abc", " \n", "  ", "\u{e9}", "e\u{301}", "<s>", "<", "s>", "",
];

fn text(random: &mut Random, num_parts: usize, num_kinds: usize) -> String {
    let parts = (0..random.below(num_parts + 1)).map(|_| PARTS[random.below(num_kinds)]);
    parts.collect()
}

/// An encoder for bytes but those of `unknown`, with the special token `<s>`.
fn encoder(random: &mut Random, normalization: Normalization, unknown: &[u8]) -> Encoder {
    let pairs = pairs(random, 40, 3, 6);
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let products = pairs.iter();
    strings.extend(products.map(|(left, right)| [&left[..], right].concat()));
    strings.retain(|string| string != unknown);
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(7..).collect();
    let pairs = pairs.iter().zip(0..);
    let pairs = pairs.map(|((left, right), rank)| (&left[..], &right[..], rank));
    let merging = Merging::Pairs(pairs.collect());
    let vocabulary = Vocabulary::new(&tokens, &merging, Symbols::Bytes, Marks::default());
    let steps = Steps {
        pattern: Pattern::new(Some("gpt2")).expect("a name"),
        preparation: Preparation {
            normalization,
            ..Preparation::default()
        },
        pipeline: None,
        json: None,
    };
    let special = Special {
        text: "<s>".into(),
        id: 1000,
        always: false,
        search: Search::default(),
    };
    let vocabulary = vocabulary.expect("valid");
    Encoder::new(
        vocabulary,
        Unknown::Refused,
        false,
        vec![],
        steps,
        vec![special],
    )
    .expect("an encoder")
}

fn choices() -> [Choice; 4] {
    let frame = Frame {
        before: vec![2000],
        after: vec![2001, 2002],
        limit: Some((9, Side::Left)),
        padding: None,
    };
    let (allowed, refused) = (vec![true], vec![true]);
    [
        Choice::default(),
        Choice {
            allowed: allowed.clone(),
            ..Choice::default()
        },
        Choice {
            refused,
            ..Choice::default()
        },
        Choice {
            allowed,
            frame,
            ..Choice::default()
        },
    ]
}

/// Each text by itself, up to the first error.
fn one_by_one(encoder: &Encoder, texts: &[&[u8]], call: &Call) -> Result<Encoded> {
    let mut found = (vec![], vec![0]);
    for (index, text) in texts.iter().enumerate() {
        let ids = encoder.encode(text, call, &Watch::default());
        found
            .0
            .extend(ids.map_err(|error| error.in_document(index))?);
        found.1.push(found.0.len());
    }
    Ok(found)
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn texts_together_have_the_ids_of_each() {
    let mut random = Random(31);
    let normal_forms = [Normalization::None, Normalization::Nfc];
    for round in 0..64 {
        let unknown: &[u8] = if round % 4 == 3 { b"b" } else { b"none" };
        let encoder = encoder(&mut random, normal_forms[round % 2], unknown);
        // Texts of a few bytes, of some hundred, and now and then one that is not short.
        let (num_parts, num_kinds) = [(3, 11), (8, 6), (200, 11), (9, 8)][round / 2 % 4];
        let texts: Vec<String> = (0..400)
            .map(|index| {
                let num_parts = if index % 150 == 77 { 9000 } else { num_parts };
                text(&mut random, num_parts, num_kinds)
            })
            .collect();
        // Some begin or end inside of a character, which their neighbours may complete.
        let texts: Vec<&[u8]> = texts
            .iter()
            .map(|text| match (text.as_bytes(), random.below(4)) {
                ([_, rest @ ..], 0) | ([rest @ .., _], 1) => rest,
                (whole, _) => whole,
            })
            .collect();
        for choice in choices() {
            let call = encoder.call(&choice).expect("few special tokens");
            let expected = one_by_one(&encoder, &texts, &call);
            let found = encoder.encode_batch(&texts, &call, 1, &Watch::default());
            assert!(found == expected, "{round} {choice:?}: {expected:?}");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn of_special_tokens_near_to_one_another_few_texts_are_gathered() {
    let encoder = encoder(&mut Random(7), Normalization::None, b"none");
    let call = encoder.call(&choices()[1]).expect("one special token");
    let texts: Vec<&[u8]> = [&b"a bc a"[..], b"<s>a"].repeat(3000);
    let found = encoder.encode_batch(&texts, &call, 1, &Watch::default());
    assert_eq!(found, one_by_one(&encoder, &texts, &call));
    encoder
        .desks
        .with(|desk| assert!(desk.gathered.num_bytes < 100));
}
