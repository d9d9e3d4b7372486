use super::cache::{SHORT, short_key};
use super::short::{AT_ONCE, ShortWords};
use super::*;
use crate::vocabulary::{Merging, Number};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// Bytes, and tokens of random pairs of tokens in a random order; the ids are not the numbers.
fn vocabulary(random: &mut Random, num_merges: usize) -> Vocabulary {
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let mut pairs = Vec::new();
    while pairs.len() < num_merges {
        let mut part = || match random.below(3) {
            0 => vec![b'a' + random.below(4) as u8],
            _ => strings[strings.len() - 1 - random.below(strings.len() - 256 + 1)].clone(),
        };
        let (left, right) = (part(), part());
        let product = [&left[..], &right].concat();
        if !strings.contains(&product) && product.len() <= 12 {
            strings.push(product);
            pairs.push((left, right));
        }
    }
    let ids = (7..).step_by(3);
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(ids).collect();
    let pairs = pairs.iter().map(|(left, right)| (&left[..], &right[..]));
    Vocabulary::new(
        &tokens,
        &Merging::Pairs(pairs.collect()),
        Symbols::Bytes,
        b"",
    )
    .expect("a valid vocabulary")
}

fn word(random: &mut Random, most_bytes: usize) -> Vec<u8> {
    let length = 1 + random.below(most_bytes);
    (0..length).map(|_| b'a' + random.below(5) as u8).collect()
}

/// The ids of a word, by the definition.
fn merged(vocabulary: &Vocabulary, word: &[u8]) -> Vec<Id> {
    let symbols = vocabulary.symbols_of(word).into_iter();
    let symbols: Vec<Number> = symbols.map(|symbol| symbol.expect("a byte")).collect();
    let tokens = vocabulary.ranks().apply(symbols, |_, _| Ok(()));
    let tokens = tokens.expect("merging does not fail").into_iter();
    tokens
        .map(|token| vocabulary.id(token).expect("all are tokens"))
        .collect()
}

fn keys(words: &[Vec<u8>]) -> Vec<u128> {
    let keys = words.iter().map(|word| short_key(word, 0, word.len()));
    keys.collect()
}

#[test]
fn words_merged_together_are_merged_by_rank() {
    let mut random = Random(1);
    for _ in 0..20 {
        let vocabulary = vocabulary(&mut random, 60);
        let short = ShortWords::new(&vocabulary).expect("no ties");
        let words: Vec<_> = (0..AT_ONCE).map(|_| word(&mut random, SHORT)).collect();
        let expected = words.iter().map(|word| merged(&vocabulary, word));
        let expected: Vec<_> = expected.enumerate().collect();
        let mut found = Vec::new();
        short.merge(&keys(&words), |index, ids| {
            found.push((index, ids.to_vec()));
        });
        assert_eq!(found, expected, "{words:?}");
        found.clear();
        short.merge_by_any(&keys(&words), |index, ids| {
            found.push((index, ids.to_vec()));
        });
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn many_pairs_are_all_found() {
    // More in a line than it has slots, here and there.
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    strings.extend((0..60_000_u32).map(|pair| vec![(pair >> 8) as u8, pair as u8]));
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(0..).collect();
    let ranks = Merging::Ranks(tokens[256..].to_vec());
    let vocabulary = Vocabulary::new(&tokens, &ranks, Symbols::Bytes, b"").expect("valid");
    let short = ShortWords::new(&vocabulary).expect("no ties");
    for (string, id) in strings.iter().zip(0..) {
        let key = short_key(string, 0, string.len());
        assert_eq!(short.whole_word(key), (string.len() > 1).then_some(id));
        if let [left, right] = string[..] {
            assert!(short.merges(left.into(), right.into()));
        }
    }
}

#[test]
fn a_byte_without_an_id_is_left_to_others() {
    let tokens: [(&[u8], Id); 3] = [(b"a", 0), (b"b", 1), (b"ab", 2)];
    let pairs = Merging::Pairs(vec![(b"a", b"b")]);
    let vocabulary = Vocabulary::new(&tokens, &pairs, Symbols::Bytes, b"").expect("valid");
    let short = ShortWords::new(&vocabulary).expect("no ties");
    let mut found = Vec::new();
    short.merge(&keys(&[b"abc".into(), b"aab".into()]), |index, ids| {
        found.push((index, ids.to_vec()));
    });
    assert_eq!(found, [(1, vec![0, 2])]);
}

#[test]
fn a_cache_that_grows_and_overflows_forgets_no_right_answer() {
    let mut random = Random(2);
    let rules = vocabulary(&mut random, 60);
    let preparation = Preparation {
        normalization: Normalization::None,
        prefix_space: PrefixSpace::Never,
        mark_is_space: false,
    };
    let pattern = Pattern::new(Some("whitespace")).expect("a name");
    let copy = vocabulary(&mut Random(2), 60);
    let encoder = Encoder::new(copy, Unknown::Refused, true, pattern, preparation, vec![]);
    // Words of all kinds: with an entry, with more ids than an entry has, long and very long.
    let lengths = [6, 14, 14, 14, 40, 80];
    let words = (0..30_000).map(|index| {
        let word = word(&mut random, lengths[index % lengths.len()]);
        [b" ", &word[..]].concat()
    });
    let words: Vec<Vec<u8>> = words.collect();
    let expected: Vec<Id> = words.iter().flat_map(|word| merged(&rules, word)).collect();
    let text = words.concat();
    for _ in 0..2 {
        let found = encoder.encode(&text, &Choice::default(), &Watch::default());
        assert!(found.expect("encodes") == expected);
    }
}
