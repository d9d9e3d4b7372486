//! The search for some of the special tokens in a text.
//!
//! Of tokens that begin at one place the longest is found. An automaton finds them all at once, and where
//! they are few it passes over most of a text quickly. Where they are many, it may read every byte; there
//! a trie is asked, at places whose next two bytes begin one of them.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use memchr::memchr3;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::trie::Trie;
use crate::vocabulary::Number;

/// Up to so many texts the automaton has means of its own.
const FEW_TEXTS: usize = 128;

/// Finds some of the special tokens.
#[derive(Debug)]
pub(super) struct Finder {
    means: Means,
    /// The index of the special token for each text.
    pub(super) indices: Vec<usize>,
}

#[derive(Debug)]
enum Means {
    Automaton(AhoCorasick),
    Trie(Box<Starts>),
}

/// Many texts, and the bytes and the pairs of bytes that they begin with.
#[derive(Debug)]
struct Starts {
    /// All first bytes, if they are so few; they may be the same.
    few: Option<[u8; 3]>,
    /// 1 for each first byte.
    bytes: [u8; 256],
    pairs: [u64; 1024],
    trie: Trie,
    lengths: Vec<usize>,
}

/// The search of many texts: a bit for each of the next places where one may begin, unless they begin with
/// few bytes; then only the next place.
#[derive(Default)]
struct Places {
    base: usize,
    bits: u64,
}

/// How many places have a bit.
const GROUP: usize = 64;

impl Finder {
    /// Finds `texts`, none of which is empty; `indices` are those of their special tokens.
    pub(super) fn new(indices: Vec<usize>, texts: &[&str]) -> Result<Self> {
        let means = if texts.len() > FEW_TEXTS {
            Starts::new(texts).map(|starts| Means::Trie(Box::new(starts)))
        } else {
            let automaton = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(texts);
            automaton.ok().map(Means::Automaton)
        };
        Ok(Self {
            means: means.ok_or(Error::TooManyTokens)?,
            indices,
        })
    }

    /// The index and the place of the first special token at `from` or behind it.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<(usize, Range<usize>)> {
        self.find_iter(text, from).next()
    }

    /// The index and the place of each special token at `from` or behind it.
    pub(super) fn find_iter<'t>(
        &'t self,
        text: &'t [u8],
        mut from: usize,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let mut places = match &self.means {
            Means::Trie(starts) => starts.places(text, from),
            Means::Automaton(_) => Places::default(),
        };
        std::iter::from_fn(move || {
            let (which, place) = match &self.means {
                Means::Automaton(automaton) => {
                    let found = automaton.find(Input::new(text).range(from..))?;
                    (found.pattern().as_usize(), found.range())
                }
                Means::Trie(starts) => starts.find(text, from, &mut places)?,
            };
            from = place.end;
            Some((self.indices[which], place))
        })
    }
}

impl Starts {
    /// None if the texts are too many.
    fn new(texts: &[&str]) -> Option<Self> {
        let (mut bytes, mut pairs) = ([0; 256], [0; 1024]);
        for text in texts {
            let (first, seconds) = match text.as_bytes() {
                &[first, second, ..] => (first, second..=second),
                rest => (*rest.first()?, 0..=u8::MAX),
            };
            bytes[usize::from(first)] = 1;
            for second in seconds {
                let key = usize::from(first) << 8 | usize::from(second);
                pairs[key / 64] |= 1 << (key % 64);
            }
        }
        // Of equal texts the first counts.
        let numbers = texts.iter().enumerate().rev();
        let numbers: FxHashMap<&[u8], Number> = numbers
            .map(|(which, text)| (text.as_bytes(), Number::new(which)))
            .collect();
        let first = (0..=u8::MAX).filter(|&byte| bytes[usize::from(byte)] == 1);
        let few = match *first.collect::<Vec<u8>>() {
            [one] => Some([one; 3]),
            [one, two] => Some([one, two, two]),
            [one, two, three] => Some([one, two, three]),
            _ => None,
        };
        Some(Self {
            few,
            bytes,
            pairs,
            trie: Trie::new(numbers, |_, _| ())?,
            lengths: texts.iter().map(|text| text.len()).collect(),
        })
    }

    fn places(&self, text: &[u8], from: usize) -> Places {
        let bits = match self.few {
            Some(_) => 0,
            None => self.group(text, from),
        };
        Places { base: from, bits }
    }

    /// Which text is found first at `from` or behind it, and where.
    #[inline]
    fn find(&self, text: &[u8], from: usize, places: &mut Places) -> Option<(usize, Range<usize>)> {
        loop {
            let at = self.next(text, places)?;
            if at < from || !self.may_begin(&text[at..]) {
                continue;
            }
            let which = self.trie.longest(&text[at..]).index();
            if let Some(length) = self.lengths.get(which) {
                return Some((which, at..at + length));
            }
        }
    }

    /// The next place whose byte begins one of the texts.
    #[inline]
    fn next(&self, text: &[u8], places: &mut Places) -> Option<usize> {
        if let Some([one, two, three]) = self.few {
            let at = places.base + memchr3(one, two, three, text.get(places.base..)?)?;
            places.base = at + 1;
            return Some(at);
        }
        while places.bits == 0 {
            places.base += GROUP;
            if places.base >= text.len() {
                return None;
            }
            places.bits = self.group(text, places.base);
        }
        let at = places.base + places.bits.trailing_zeros() as usize;
        places.bits &= places.bits - 1;
        Some(at)
    }

    /// Whether the first two bytes are those of one of the texts.
    fn may_begin(&self, text: &[u8]) -> bool {
        text.first_chunk().is_none_or(|&[first, second]| {
            let key = usize::from(first) << 8 | usize::from(second);
            self.pairs[key / 64] >> (key % 64) & 1 == 1
        })
    }

    /// A bit for each of the next places whose byte begins one of the texts.
    #[inline]
    fn group(&self, text: &[u8], base: usize) -> u64 {
        let bits_of = |bytes: &[u8]| {
            let bits = bytes.iter().zip(0..);
            bits.fold(0, |bits, (&byte, bit)| {
                bits | u64::from(self.bytes[usize::from(byte)]) << bit
            })
        };
        let rest = &text[base..];
        // The number of bytes is known to the compiler.
        rest.first_chunk::<GROUP>()
            .map_or_else(|| bits_of(rest), |group| bits_of(group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_texts_are_found_as_few_are() {
        check(&["[x]", "\n\n", "\n\n\n", "\t", "ä", "äb", "a"]);
    }

    #[test]
    fn many_texts_with_few_first_bytes_are_found_as_few_are() {
        check(&[]);
        check(&["<"]);
        check(&["\n\n", "\n\n\n"]);
        check(&["\n\n", "\n\n\n", "ä", "äb"]);
    }

    /// Searches numbers in brackets, and others.
    fn check(others: &[&str]) {
        let numbers: Vec<String> = (0..200).map(|n| format!("<{n}>")).collect();
        let numbers = numbers.iter().map(String::as_str);
        let texts: Vec<&str> = numbers.chain(others.iter().copied()).collect();
        let finder = Finder::new((0..texts.len()).collect(), &texts).expect("few enough");
        assert!(matches!(finder.means, Means::Trie(_)));
        let text = "\n\n\n\n\n<1>b<17><<199>>[x\t\t[x]äbäö<200>\na<".repeat(3);
        let mut expected = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let here = (0..texts.len())
                .filter(|&i| text.as_bytes()[at..].starts_with(texts[i].as_bytes()));
            match here.max_by_key(|&i| texts[i].len()) {
                Some(index) => {
                    expected.push((index, at..at + texts[index].len()));
                    at += texts[index].len();
                }
                None => at += 1,
            }
        }
        let found: Vec<_> = finder.find_iter(text.as_bytes(), 0).collect();
        assert!(expected.len() > 5);
        assert_eq!(found, expected);
    }
}
