//! Words that are tokens, where these are looked up before merging.

use super::*;

/// Random pairs of letters, and words behind spaces; some of these are tokens that no merge makes.
struct Case {
    pairs: Pairs,
    others: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let longest = [12, 40][random.below(2)];
        let pairs = pairs(random, 60, 3, longest);
        let mut case = Self {
            pairs,
            others: Vec::new(),
            words: Vec::new(),
        };
        let lengths = [4, 14, 15, 16, 30, 63, 64, 200];
        for index in 0..400 {
            let length = 1 + random.below(lengths[index % lengths.len()]);
            let word = [b" ", &mixed_text(random, 3, length)[..]].concat();
            if index % 3 == 0 {
                case.others.push(word.clone());
            }
            case.words.push(word);
        }
        case.others.sort();
        case.others.dedup();
        case
    }

    /// The tokens with their ids, but for one letter if `lacks_letter`.
    fn vocabulary(&self, symbols: Symbols, lacks_letter: bool) -> Vocabulary {
        let mut strings: Vec<Vec<u8>> = match symbols {
            Symbols::Bytes => (0..=u8::MAX).map(|byte| vec![byte]).collect(),
            Symbols::Chars => (b' '..=b'z').map(|byte| vec![byte]).collect(),
        };
        strings.retain(|string| !lacks_letter || string != b"b");
        let products = self.pairs.iter();
        strings.extend(products.map(|(left, right)| [&left[..], right].concat()));
        strings.extend(self.others.clone());
        let tokens: Vec<(&[u8], Id)> = strings.iter().map(Vec::as_slice).zip(7..).collect();
        let pairs = self.pairs.iter().zip(0..);
        let pairs = pairs.map(|((left, right), rank)| (&left[..], &right[..], rank));
        let merging = Merging::Pairs(pairs.collect());
        Vocabulary::new(&tokens, &merging, symbols, Marks::default()).expect("a valid vocabulary")
    }
}

/// The ids of a word by the definition: its own if it is looked up and a token, else those of its
/// symbols with an id, merged.
pub(super) fn by_definition(vocabulary: &Vocabulary, looks_up_whole: bool, word: &[u8]) -> Vec<Id> {
    let whole = vocabulary.number(word);
    if looks_up_whole && let Some(id) = whole.and_then(|number| vocabulary.id(number)) {
        return vec![id];
    }
    let symbols = vocabulary.symbols_of(word).into_iter().flatten();
    let known = symbols.filter(|&symbol| vocabulary.id(symbol).is_some());
    let tokens = vocabulary.ranks().apply(known.collect(), |_, _| Ok(()));
    let tokens = tokens.expect("merging does not fail").into_iter();
    tokens.filter_map(|token| vocabulary.id(token)).collect()
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn words_of_all_lengths_are_looked_up_before_they_are_merged() {
    let mut random = Random(11);
    for round in 0..24 {
        let case = Case::new(&mut random);
        let symbols = [Symbols::Bytes, Symbols::Chars][round % 2];
        let lacks_letter = round / 2 % 2 > 0;
        let looks_up_whole = round % 3 > 0;
        let vocabulary = case.vocabulary(symbols, lacks_letter);
        assert!(vocabulary.unreachable().next().is_some());
        let expected = case.words.iter();
        let expected = expected.map(|word| by_definition(&vocabulary, looks_up_whole, word));
        let expected: Vec<Vec<Id>> = expected.collect();
        let steps = Steps {
            pattern: Pattern::new(Some("whitespace")).expect("a name"),
            preparation: Preparation::default(),
            pipeline: None,
            json: None,
        };
        let dropped = Unknown::Dropped;
        let encoder = Encoder::new(vocabulary, dropped, looks_up_whole, vec![], steps, vec![]);
        let encoder = encoder.expect("an encoder");
        let call = encoder.call(&Choice::default()).expect("no special tokens");
        let encode = |text: &[u8]| encoder.encode(text, &call, &Watch::default());
        let told = format!("{round}: {:?}", case.pairs);
        // Words alone and together, new and known.
        for (word, expected) in case.words.iter().zip(&expected).take(case.words.len() / 2) {
            assert_eq!(encode(word).as_ref(), Ok(expected), "{word:?} in {told}");
        }
        for _ in 0..2 {
            let found = encode(&case.words.concat()).expect("encodes");
            assert!(found == expected.concat(), "{told}");
        }
    }
}
