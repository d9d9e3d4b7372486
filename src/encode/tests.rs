mod characters;
mod cut_words;
mod gathered;
mod whole;

use super::search::Scratch;
use super::short::{self, AT_ONCE, Key, ShortWords};
use super::words::Words;
use super::*;
use crate::error::Error;
use crate::keys::{hash, short_key};
use crate::merges::Id;
use crate::pattern::Pattern;
use crate::vocabulary::{Marks, Merging, Number, Symbols, Vocabulary};
use crate::watch::Watch;

/// A generator of pseudo-random numbers.
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

/// How much random input there is; little under Miri, which is a thousand times slower.
const fn amount(usual: usize, under_miri: usize) -> usize {
    if cfg!(miri) { under_miri } else { usual }
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// At most `num_pairs` random pairs of letters and of products of earlier pairs.
fn pairs(random: &mut Random, num_pairs: usize, num_letters: usize, longest: usize) -> Pairs {
    let (mut products, mut pairs) = (Vec::<Vec<u8>>::new(), Vec::new());
    for _ in 0..num_pairs * 4 {
        let mut part = || match random.below(3) {
            1 | 2 if !products.is_empty() => products[random.below(products.len())].clone(),
            _ => vec![b'a' + random.below(num_letters) as u8],
        };
        let (left, right) = (part(), part());
        let product = [&left[..], &right].concat();
        if pairs.len() < num_pairs && product.len() <= longest && !products.contains(&product) {
            products.push(product);
            pairs.push((left, right));
        }
    }
    pairs
}

/// Bytes, and what the pairs make; the ids are not the numbers.
fn vocabulary_of(pairs: &Pairs) -> Vocabulary {
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    strings.extend(
        pairs
            .iter()
            .map(|(left, right)| [&left[..], right].concat()),
    );
    let ids = (7..).step_by(3);
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(ids).collect();
    let pairs = pairs.iter().zip(0..);
    let pairs = pairs.map(|((left, right), rank)| (&left[..], &right[..], rank));
    Vocabulary::new(
        &tokens,
        &Merging::Pairs(pairs.collect()),
        Symbols::Bytes,
        Marks::default(),
    )
    .expect("a valid vocabulary")
}

fn vocabulary(random: &mut Random) -> Vocabulary {
    vocabulary_of(&pairs(random, amount(60, 12), 4, 12))
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

fn keys<const N: usize>(words: &[Vec<u8>]) -> Vec<Key<N>> {
    let key = |word: &Vec<u8>| {
        let mut key = [0; N];
        key[..word.len()].copy_from_slice(word);
        key[N - 1] = word.len() as u8;
        key
    };
    words.iter().map(key).collect()
}

fn check_merging<const N: usize>(random: &mut Random) {
    let vocabulary = vocabulary(random);
    let short = ShortWords::new(&vocabulary, false).expect("no ties");
    let words: Vec<_> = (0..AT_ONCE).map(|_| word(random, N - 1)).collect();
    let expected = words.iter().map(|word| merged(&vocabulary, word));
    let expected: Vec<_> = expected.enumerate().collect();
    let ids_of = |merged: &short::Merging<N>| {
        let (ids, len) = short.ids(merged).expect("all are tokens");
        ids[..len].to_vec()
    };
    let mut found = Vec::new();
    short.merge(&keys::<N>(&words), |index, merged| {
        found.push((index, ids_of(merged)));
    });
    assert_eq!(found, expected, "{words:?}");
    found.clear();
    short.merge_by_any(&keys::<N>(&words), |index, merged| {
        found.push((index, ids_of(merged)));
    });
    assert_eq!(found, expected, "{words:?}");
}

#[test]
fn words_merged_together_are_merged_by_rank() {
    let mut random = Random(1);
    for _ in 0..amount(20, 1) {
        check_merging::<16>(&mut random);
        check_merging::<32>(&mut random);
    }
}

/// Letters at random, runs of one, and strings that come again and again.
fn mixed_text(random: &mut Random, num_letters: usize, length: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < length {
        let part_length = 1 + random.below(9);
        let part: Vec<u8> = (0..part_length)
            .map(|_| b'a' + random.below(num_letters) as u8)
            .collect();
        let times = [1, 1, 1, 2, 3, 20][random.below(6)];
        text.extend(part.repeat(times));
    }
    text.truncate(length);
    text
}

#[test]
fn windows_of_long_words_are_joined_to_what_merging_makes() {
    let mut random = Random(3);
    for round in 0..amount(60, 1) {
        let num_letters = 1 + random.below(4);
        // Some tokens are longer than windows, and than the bits that hold their bounds.
        let longest = [5, 12, 40, 100][round % 4];
        let mut pairs = pairs(&mut random, amount(70, 20), num_letters, longest);
        if round % 3 == 0 {
            // Ranks need not rise.
            for index in (1..pairs.len()).rev() {
                pairs.swap(index, random.below(index + 1));
            }
        }
        let encoder = Words::new(vocabulary_of(&pairs), Unknown::Refused, false, vec![]);
        let tools = encoder.tools().expect("no ties");
        let text = mixed_text(&mut random, num_letters, 2_000);
        // Every place of a text, and every length, comes at the bounds of windows.
        let step = amount(1, 30);
        let places = (0..60).step_by(step);
        let mut words: Vec<&[u8]> = places
            .map(|i| &text[i..amount(700, 200) + i * i % 61])
            .collect();
        let lengths = (16..140).step_by(step);
        words.extend(lengths.map(|length| &text[2 * length..3 * length]));
        words.extend([&text[..amount(2_000, 400)], &text[1000..1016]]);
        let mut found = Vec::new();
        let mut use_tokens = |index, tokens: &[Number]| {
            let ids = tokens.iter().filter_map(|&n| encoder.vocabulary.id(n));
            found.push((index, ids.collect::<Vec<_>>()));
            Ok(())
        };
        let watch = Watch::default();
        let result = tools.encode(&words, &mut Scratch::default(), &watch, &mut use_tokens);
        result.expect("nobody interrupts");
        let expected = words.iter().map(|word| merged(&encoder.vocabulary, word));
        assert_eq!(found, expected.enumerate().collect::<Vec<_>>(), "{pairs:?}");
    }
}

#[test]
fn long_words_are_interrupted() {
    let encoder = Words::new(vocabulary(&mut Random(4)), Unknown::Refused, false, vec![]);
    let text = mixed_text(&mut Random(4), 4, 2_000);
    let watch = Watch::default();
    watch.stop();
    let tools = encoder.tools().expect("no ties");
    let result = tools.encode(&[&text], &mut Scratch::default(), &watch, |_, _| Ok(()));
    assert_eq!(result, Err(Error::Interrupted));
}

#[test]
fn many_pairs_are_all_found() {
    // More in a line than it has slots, here and there.
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let num_pairs = amount(60_000, 255);
    strings.extend((0..num_pairs).map(|pair| vec![(pair >> 8) as u8, pair as u8]));
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(0..).collect();
    let ranks = Merging::Ranks(tokens[256..].to_vec());
    let vocabulary =
        Vocabulary::new(&tokens, &ranks, Symbols::Bytes, Marks::default()).expect("valid");
    let short = ShortWords::new(&vocabulary, false).expect("no ties");
    for (string, id) in strings.iter().zip(0..) {
        let key = short_key(string, 0, string.len());
        assert_eq!(
            short.whole.id(key, hash(key)),
            (string.len() > 1).then_some(id)
        );
        if let [left, right] = string[..] {
            assert!(short.merges(left.into(), right.into()));
        }
    }
}

#[test]
fn a_byte_without_an_id_is_left_to_others() {
    let tokens: [(&[u8], Id); 3] = [(b"a", 0), (b"b", 1), (b"ab", 2)];
    let pairs = Merging::Pairs(vec![(b"a", b"b", 0)]);
    let vocabulary =
        Vocabulary::new(&tokens, &pairs, Symbols::Bytes, Marks::default()).expect("valid");
    let short = ShortWords::new(&vocabulary, false).expect("no ties");
    let mut found = Vec::new();
    short.merge(&keys::<16>(&[b"abc".into(), b"aab".into()]), |_, merged| {
        found.push(short.ids(merged).map(|(ids, len)| ids[..len].to_vec()));
    });
    assert_eq!(found, [None, Some(vec![0, 2])]);
}

#[test]
fn a_cache_that_grows_and_overflows_forgets_no_right_answer() {
    let mut random = Random(2);
    let rules = vocabulary(&mut random);
    let steps = Steps {
        pattern: Pattern::new(Some("whitespace")).expect("a name"),
        preparation: Preparation::default(),
        pipeline: None,
        json: None,
    };
    // Words of all kinds: with an entry, with more ids than an entry has, long and very long.
    let lengths = [6, 14, 14, 14, 40, 80];
    let words = (0..amount(30_000, 60)).map(|index| {
        let word = word(&mut random, lengths[index % lengths.len()]);
        [b" ", &word[..]].concat()
    });
    let words: Vec<Vec<u8>> = words.collect();
    let expected: Vec<Id> = words.iter().flat_map(|word| merged(&rules, word)).collect();
    let encoder =
        Encoder::new(rules, Unknown::Refused, true, vec![], steps, vec![]).expect("an encoder");
    let text = words.concat();
    let call = encoder.call(&Choice::default()).expect("no special tokens");
    for _ in 0..2 {
        let found = encoder.encode(&text, &call, &Watch::default());
        assert!(found.expect("encodes") == expected);
    }
    // Caches of other threads, which share what they find.
    let _sharing = encoder.desks.sharing(4, 64);
    for _ in 0..2 {
        let found = encoder.encode_batch(&[&text[..]; 4], &call, 4, &Watch::default());
        let (found, _) = found.expect("encodes");
        assert!(found.len() == 4 * expected.len());
        assert!(found.chunks(expected.len()).all(|ids| ids == expected));
    }
}

#[test]
fn no_word_changes_tokens_that_are_settled() {
    let mut random = Random(8);
    let mut num_settled = 0;
    for _ in 0..amount(200, 2) {
        let vocabulary = vocabulary_of(&pairs(&mut random, 12, 2, 6));
        let words = Words::new(vocabulary, Unknown::Refused, false, Vec::new());
        let beginning = word(&mut random, 14);
        let mut settled = words.settled_ends(&beginning, &mut Ways::default());
        num_settled += settled.len();
        // The same byte by byte, without what is settled.
        let (mut ways, mut start) = (Ways::default(), 0);
        for end in 1..=beginning.len() {
            let ends = words.settled_ends(&beginning[start..end], &mut ways);
            if let Some(&last) = ends.first() {
                start += last;
                ways.keep(end - start, last);
                settled.push(start);
            }
        }
        // Nothing is settled earlier than when it is read at once, nor later.
        assert_eq!(
            start,
            settled.first().copied().unwrap_or(0),
            "{beginning:?}"
        );
        // All that can follow, up to the longest token.
        let mut rests = vec![Vec::new()];
        for at in 0..if cfg!(miri) { 40 } else { 120 } {
            for letter in *b"ab" {
                let mut rest: Vec<u8> = rests[at].clone();
                rest.push(letter);
                rests.push(rest);
            }
        }
        for rest in rests {
            let whole = [&beginning[..], &rest].concat();
            let (mut scratch, mut pieces) = (Scratch::default(), Vec::new());
            let encoded = words.encode(&whole, &mut scratch, &mut pieces, &Watch::default());
            assert_eq!(encoded, Ok(()));
            let mut end = 0;
            let ends: Vec<usize> = pieces
                .iter()
                .map(|&(_, length)| {
                    end += length;
                    end
                })
                .collect();
            assert!(
                settled.iter().all(|end| ends.contains(end)),
                "{beginning:?} {rest:?}"
            );
        }
    }
    assert!(num_settled > 100);
}
