//! Words and texts of characters.

use super::*;

/// Of one to four bytes. Some share their first bytes, some their last.
const LETTERS: [&str; 8] = ["a", "b", " ", "é", "è", "中", "丮", "🦊"];
/// In no vocabulary: characters, and bytes that are part of none.
const UNKNOWN: [&[u8]; 7] = [
    "z".as_bytes(),
    "\u{e8a}".as_bytes(),
    "🦋".as_bytes(),
    b"\xC3",
    b"\xA9",
    b"\xE4\xB8",
    b"\xC1\x81",
];

/// Some of the letters, and products of random pairs. The ids are those of the bytes, then theirs.
fn characters(random: &mut Random, num_merges: usize, longest: usize) -> Vocabulary {
    let mut strings: Vec<Vec<u8>> = LETTERS
        .iter()
        .map(|letter| letter.as_bytes().to_vec())
        .collect();
    let mut pairs = Vec::new();
    for _ in 0..num_merges * 4 {
        let mut part = || strings[random.below(strings.len())].clone();
        let (left, right) = (part(), part());
        let product = [&left[..], &right].concat();
        if pairs.len() < num_merges && product.len() <= longest && !strings.contains(&product) {
            strings.push(product);
            pairs.push((left, right));
        }
    }
    if random.below(3) == 0 {
        // Ranks need not rise.
        for index in (1..pairs.len()).rev() {
            pairs.swap(index, random.below(index + 1));
        }
    }
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(256..).collect();
    let pairs = pairs.iter().zip(0..);
    let pairs = pairs.map(|((left, right), rank)| (&left[..], &right[..], rank));
    let merging = Merging::Pairs(pairs.collect());
    Vocabulary::new(&tokens, &merging, Symbols::Chars, Marks::default()).expect("valid")
}

/// Letters, and now and then something unknown if `unknown` is not 0: one in so many.
fn letters(random: &mut Random, num_letters: usize, unknown: usize) -> Vec<u8> {
    let mut text = Vec::new();
    let num_different = 1 + random.below(LETTERS.len());
    for _ in 0..num_letters {
        if unknown > 0 && random.below(unknown) == 0 {
            text.extend(UNKNOWN[random.below(UNKNOWN.len())]);
        } else {
            let times = [1, 1, 1, 1, 9][random.below(5)];
            text.extend(
                LETTERS[random.below(num_different)]
                    .as_bytes()
                    .repeat(times),
            );
        }
    }
    text
}

/// The ids of a text, by the definition: unknown symbols become their bytes.
fn merged_or_bytes(vocabulary: &Vocabulary, text: &[u8]) -> Vec<Id> {
    let symbols = vocabulary.symbols_of(text);
    let mut ids = Vec::new();
    for run in symbols.chunk_by(|a, b| a.is_ok() && b.is_ok()) {
        if let [Err(unknown)] = run {
            ids.extend(unknown.iter().map(|&byte| Id::from(byte)));
            continue;
        }
        let known = run.iter().filter_map(|symbol| symbol.ok());
        let tokens = vocabulary.ranks().apply(known.collect(), |_, _| Ok(()));
        let tokens = tokens.expect("merging does not fail").into_iter();
        ids.extend(tokens.filter_map(|token| vocabulary.id(token)));
    }
    ids
}

fn encoder(vocabulary: Vocabulary, unknown: Unknown) -> Encoder {
    encoder_with(vocabulary, unknown, vec![])
}

fn encoder_with(vocabulary: Vocabulary, unknown: Unknown, specials: Vec<Special>) -> Encoder {
    let steps = Steps {
        pattern: Pattern::new(None).expect("no pattern"),
        preparation: Preparation::default(),
        pipeline: None,
        json: None,
    };
    Encoder::new(vocabulary, unknown, false, vec![], steps, specials).expect("an encoder")
}

#[test]
fn words_of_characters_are_merged_by_rank() {
    let mut random = Random(5);
    for _ in 0..amount(40, 1) {
        let vocabulary = characters(&mut random, 40, 12);
        let short = ShortWords::new(&vocabulary, false).expect("no ties");
        let words = (0..AT_ONCE).map(|_| letters(&mut random, 6, 0));
        let words: Vec<Vec<u8>> = words.filter(|word| word.len() < 32).collect();
        let expected: Vec<_> = words.iter().map(|word| merged(&vocabulary, word)).collect();
        let mut found = Vec::new();
        short.merge(&keys::<32>(&words), |_, merged| {
            let (ids, len) = short.ids(merged).expect("all are tokens");
            found.push(ids[..len].to_vec());
        });
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn a_text_without_a_pattern_is_what_merging_makes_of_all_of_it() {
    let mut random = Random(6);
    for round in 0..amount(300, 2) {
        let num_merges = [3, 12, 40][round % 3];
        let vocabulary = characters(&mut random, num_merges, [6, 12, 70][round / 3 % 3]);
        let texts = (0..4).map(|index| letters(&mut random, 120, [0, 3, 12, 50][index]));
        let texts: Vec<Vec<u8>> = texts.collect();
        let expected = texts.iter().map(|text| merged_or_bytes(&vocabulary, text));
        let expected: Vec<Vec<Id>> = expected.collect();
        let bytes = Box::new(std::array::from_fn(|byte| byte as Id));
        let encoder = encoder(vocabulary, Unknown::Bytes(bytes));
        let call = encoder.call(&Choice::default()).expect("no special tokens");
        let encode = |text: &[u8]| {
            let ids = encoder.encode(text, &call, &Watch::default());
            ids.expect("nothing is refused")
        };
        for (text, expected) in texts.iter().zip(&expected) {
            assert_eq!(&encode(text), expected, "{text:x?}");
            assert_eq!(&encode(text), expected, "from the cache: {text:x?}");
            for known in [text.len() / 2, text.len() / 2 + 1, text.len() - 1] {
                if let Some(cut) = encoder.last_cut(&text[..known]) {
                    let parts = [encode(&text[..cut]), encode(&text[cut..])];
                    assert_eq!(&parts.concat(), expected, "{text:x?} cut at {cut}");
                }
            }
        }
    }
}

#[test]
fn neighbours_of_what_is_left_out_merge() {
    let tokens: [(&[u8], Id); 3] = [(b"a", 0), (b"b", 1), (b"ab", 2)];
    let pairs = Merging::Pairs(vec![(b"a", b"b", 0)]);
    let vocabulary =
        Vocabulary::new(&tokens, &pairs, Symbols::Chars, Marks::default()).expect("valid");
    let encoder = encoder(vocabulary, Unknown::Dropped);
    let call = encoder.call(&Choice::default()).expect("no special tokens");
    let found = encoder.encode("axb aéb".as_bytes(), &call, &Watch::default());
    assert_eq!(found, Ok(vec![2, 2]));
}

#[test]
#[cfg_attr(
    miri,
    ignore = "memchr aligns by addresses, which its check of alignment refuses"
)]
fn special_tokens_are_found_whether_or_not_merging_makes_them() {
    let mut random = Random(7);
    let mut num_cut_out = 0;
    for _ in 0..amount(200, 2) {
        let vocabulary = characters(&mut random, 40, 12);
        let tokens: Vec<_> = vocabulary.numbers().collect();
        let mut specials = vec![special("a🦋", 1000)];
        for other in 1001..1001 + random.below(4) as Id {
            let token = tokens[random.below(tokens.len())];
            let text = std::str::from_utf8(vocabulary.string(token)).expect("of letters");
            let id = vocabulary.id(token).filter(|_| random.below(3) > 0);
            if specials.iter().all(|special| special.text != text) {
                specials.push(special(text, id.unwrap_or(other)));
            }
        }
        let unknown = [0, 3, 12][random.below(3)];
        let text = letters(&mut random, 120, unknown);
        let expected = merged_between(&vocabulary, &specials, &text);
        let bytes = Box::new(std::array::from_fn(|byte| byte as Id));
        let encoder = encoder_with(vocabulary, Unknown::Bytes(bytes), specials);
        num_cut_out += encoder.cut_out.ids.len();
        let call = encoder
            .call(&Choice::default())
            .expect("few special tokens");
        let found = encoder.encode(&text, &call, &Watch::default());
        assert_eq!(found, Ok(expected), "{text:x?} {:?}", encoder.specials());
    }
    assert!(num_cut_out > 0);
}

#[test]
#[cfg_attr(
    miri,
    ignore = "memchr aligns by addresses, which its check of alignment refuses"
)]
fn runs_are_special_tokens_whether_or_not_they_are_searched() {
    let mut random = Random(8);
    let (mut num_implied, mut num_searched) = (0, 0);
    for round in 0..amount(400, 4) {
        let longest = 1 + random.below(4);
        let runs: Vec<String> = (1..=longest).map(|length| "\n".repeat(length)).collect();
        let mut strings = vec!["a", "é", "aé"];
        strings.extend(runs.iter().map(|run| &**run));
        let mut pairs = vec![("a", "é")];
        pairs.extend(runs.windows(2).map(|two| (&*two[0], "\n")));
        // With a token that holds a line end and something else, runs must be searched.
        let is_joined = round % 4 == 0;
        if is_joined {
            strings.push("\na");
            pairs.push(("\n", "a"));
        }
        let tokens = strings.iter().map(|string| string.as_bytes());
        let tokens: Vec<(&[u8], Id)> = tokens.zip(256..).collect();
        let pairs = pairs.iter().zip(0..);
        let pairs = pairs.map(|(&(left, right), rank)| (left.as_bytes(), right.as_bytes(), rank));
        let merging = Merging::Pairs(pairs.collect());
        let vocabulary = Vocabulary::new(&tokens, &merging, Symbols::Chars, Marks::default());
        let vocabulary = vocabulary.expect("valid");
        let mut specials = vec![special("<a>", 1000)];
        specials.extend((259..).zip(&runs).map(|(id, run)| special(run, id)));
        let text = (0..40).map(|_| match random.below(6) {
            0 => "<a>".into(),
            1 | 2 => "\n".repeat(random.below(3 * longest + 2)),
            _ => ["a", "é", "z"][random.below(3)].into(),
        });
        let text: String = text.collect();
        let expected = merged_between(&vocabulary, &specials, text.as_bytes());
        let bytes = Box::new(std::array::from_fn(|byte| byte as Id));
        let encoder = encoder_with(vocabulary, Unknown::Bytes(bytes), specials);
        let is_implied = encoder.cut_out.imply(&encoder.specials()[1]);
        assert!(!(is_implied && is_joined));
        num_implied += usize::from(is_implied);
        num_searched += usize::from(!is_implied);
        let call = encoder.call(&Choice::default()).expect("few");
        let found = encoder.encode(text.as_bytes(), &call, &Watch::default());
        assert_eq!(found, Ok(expected), "{text:?} {:?}", encoder.specials());
    }
    assert!(num_implied > 0 && num_searched > 0);
}

/// The ids of a text, by the definition: the longest special token at each place from the first on, and
/// what merging makes of the stretches between them.
fn merged_between(vocabulary: &Vocabulary, specials: &[Special], text: &[u8]) -> Vec<Id> {
    let (mut ids, mut start, mut at) = (Vec::new(), 0, 0);
    while at < text.len() {
        let is_here = |special: &&Special| text[at..].starts_with(special.text.as_bytes());
        let here = specials.iter().filter(is_here);
        if let Some(found) = here.max_by_key(|special| special.text.len()) {
            ids.extend(merged_or_bytes(vocabulary, &text[start..at]));
            ids.push(found.id);
            at += found.text.len();
            start = at;
        } else {
            at += 1;
        }
    }
    ids.extend(merged_or_bytes(vocabulary, &text[start..]));
    ids
}

fn special(text: &str, id: Id) -> Special {
    Special {
        text: text.into(),
        id,
        always: true,
        search: Search::default(),
    }
}
