//! Long words of bytes, which are cut between characters that no token holds side by side.

use super::whole::by_definition;
use super::*;

/// Of one to four bytes. Some share their first bytes, some their last.
const LETTERS: [&str; 9] = ["a", "b", "é", "è", "ĩ", "中", "丮", "の", "🦊"];
/// Bytes that are part of no character.
const STRAY: [&[u8]; 4] = [b"\xC3", b"\xA9", b"\xE4\xB8", b"\x9F\xA6"];

/// A word behind a space, of letters and, if `stray` is not 0, of other bytes: one in so many.
fn word(random: &mut Random, num_letters: usize, stray: usize) -> Vec<u8> {
    let mut word = b" ".to_vec();
    for _ in 0..=random.below(num_letters) {
        if stray > 0 && random.below(stray) == 0 {
            word.extend(STRAY[random.below(STRAY.len())]);
        } else {
            word.extend(LETTERS[random.below(LETTERS.len())].as_bytes());
        }
    }
    word
}

/// Random pairs of neighbours in words, the products of earlier pairs among them. Many products hold
/// only a part of a character.
fn pairs_in(random: &mut Random, words: &[Vec<u8>], num_pairs: usize) -> Pairs {
    let mut tokens: Vec<Vec<Vec<u8>>> = words
        .iter()
        .map(|word| word.iter().map(|&byte| vec![byte]).collect())
        .collect();
    let mut pairs = Pairs::new();
    for _ in 0..num_pairs * 4 {
        let word = random.below(tokens.len());
        if pairs.len() == num_pairs || tokens[word].len() < 2 {
            continue;
        }
        let place = random.below(tokens[word].len() - 1);
        let pair = (tokens[word][place].clone(), tokens[word][place + 1].clone());
        let product = [&pair.0[..], &pair.1].concat();
        let is_product =
            |(left, right): &(Vec<u8>, Vec<u8>)| product == [&left[..], right].concat();
        if !pairs.iter().any(is_product) {
            pairs.push(pair);
            tokens[word].splice(place..place + 2, [product]);
        }
    }
    pairs
}

/// The bytes, the products, and other tokens.
fn vocabulary_with(pairs: &Pairs, others: &[Vec<u8>]) -> Vocabulary {
    let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let products = pairs.iter();
    strings.extend(products.map(|(left, right)| [&left[..], right].concat()));
    for other in others {
        if !strings.contains(other) {
            strings.push(other.clone());
        }
    }
    let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(7..).collect();
    let pairs = pairs.iter().zip(0..);
    let pairs = pairs.map(|((left, right), rank)| (&left[..], &right[..], rank));
    let merging = Merging::Pairs(pairs.collect());
    Vocabulary::new(&tokens, &merging, Symbols::Bytes, Marks::default()).expect("valid")
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn words_that_are_cut_are_what_merging_makes_of_the_whole() {
    let mut random = Random(12);
    for round in 0..60 {
        let stray = [0, 0, 9][round % 3];
        let has_pattern = round % 5 > 0;
        let mut words: Vec<Vec<u8>> = (0..60)
            .map(|index| word(&mut random, [6, 12, 40, 900][index % 4], stray))
            .collect();
        let num_pairs = [5, 30, 120][round / 3 % 3];
        let pairs = pairs_in(&mut random, &words, num_pairs);
        // Tokens that no merge makes: whole words, and parts of words.
        let mut others = Vec::new();
        for _ in 0..[0, 30][round % 2] {
            let word = &words[random.below(words.len())];
            let start = random.below(word.len());
            let end = word.len().min(start + 2 + random.below(12));
            others.push(word[start..end].to_vec());
            let whole = [b" ", &word[start.max(1)..end]].concat();
            words.extend([whole.clone(), [&whole[..], &word[start.max(1)..]].concat()]);
            others.push(whole);
        }
        let vocabulary = vocabulary_with(&pairs, &others);
        let looks_up_whole = has_pattern;
        let expected: Vec<Vec<Id>> = if has_pattern {
            let ids = |word: &Vec<u8>| by_definition(&vocabulary, looks_up_whole, word);
            words.iter().map(ids).collect()
        } else {
            vec![merged(&vocabulary, &words.concat())]
        };
        let pattern = has_pattern.then_some("whitespace");
        let steps = Steps {
            pattern: Pattern::new(pattern).expect("a name"),
            preparation: Preparation::default(),
            pipeline: None,
            json: None,
        };
        let refused = Unknown::Refused;
        let encoder = Encoder::new(vocabulary, refused, looks_up_whole, vec![], steps, vec![]);
        let encoder = encoder.expect("an encoder");
        let call = encoder.call(&Choice::default()).expect("no special tokens");
        let encode = |text: &[u8]| encoder.encode(text, &call, &Watch::default());
        for seen in ["new", "known"] {
            let found = encode(&words.concat()).expect("encodes");
            assert!(found == expected.concat(), "{round}, {seen}: {pairs:x?}");
        }
        for (word, expected) in words.iter().zip(&expected).filter(|_| has_pattern) {
            assert_eq!(encode(word).as_ref(), Ok(expected), "{word:x?} {pairs:x?}");
        }
    }
}
