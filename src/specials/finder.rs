//! The search for some of the special tokens in a text.
//!
//! Of tokens that begin at one place the longest is found. An automaton finds them all at once, and where
//! they are few, or begin alike, it passes over most of a text quickly. Where they are many and begin
//! with many different bytes, it would read every byte; there it is asked only at places whose next two
//! bytes begin one of them.

use std::ops::Range;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

use crate::error::{Error, Result};

/// Up to so many texts, or first bytes of them, the automaton has means of its own.
const FEW_TEXTS: usize = 128;
const FEW_BYTES: usize = 3;

/// Finds some of the special tokens.
#[derive(Debug)]
pub(super) struct Finder {
    automaton: AhoCorasick,
    /// The index of the special token for each string of the automaton.
    pub(super) indices: Vec<usize>,
    /// None if the automaton needs no help.
    starts: Option<Starts>,
}

/// The bytes, and the pairs of bytes, that special tokens begin with.
#[derive(Debug)]
struct Starts {
    bytes: [bool; 256],
    pairs: Box<[u64; 1024]>,
}

impl Finder {
    /// Finds `texts`, none of which is empty; `indices` are those of their special tokens.
    pub(super) fn new(indices: Vec<usize>, texts: &[&str]) -> Result<Self> {
        let starts = Starts::new(texts);
        let kind = match starts {
            Some(_) => StartKind::Anchored,
            None => StartKind::Unanchored,
        };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(kind)
            .build(texts)
            .map_err(|_| Error::TooManyTokens)?;
        Ok(Self {
            automaton,
            indices,
            starts,
        })
    }

    /// The index and the place of the first special token at `from` or behind it.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<(usize, Range<usize>)> {
        let rest = Input::new(text).range(from..);
        let found = match &self.starts {
            None => self.automaton.find(rest),
            Some(starts) => {
                let anchored = rest.anchored(Anchored::Yes);
                let mut places = starts.places(text, from);
                places.find_map(|at| self.automaton.find(anchored.clone().range(at..)))
            }
        }?;
        Some((self.indices[found.pattern().as_usize()], found.range()))
    }

    /// The index and the place of each special token in a text.
    pub(super) fn find_iter<'t>(
        &'t self,
        text: &'t [u8],
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.find(text, from)?;
            from = found.1.end;
            Some(found)
        })
    }
}

impl Starts {
    /// None if texts are few or begin alike.
    fn new(texts: &[&str]) -> Option<Self> {
        let mut starts = Self {
            bytes: [false; 256],
            pairs: Box::new([0; 1024]),
        };
        for text in texts {
            let (&first, rest) = text.as_bytes().split_first()?;
            starts.bytes[usize::from(first)] = true;
            let seconds = match rest.first() {
                Some(&second) => second..=second,
                None => 0..=u8::MAX,
            };
            for second in seconds {
                let key = usize::from(first) << 8 | usize::from(second);
                starts.pairs[key / 64] |= 1 << (key % 64);
            }
        }
        let num_bytes = starts.bytes.iter().filter(|&&is_first| is_first).count();
        (texts.len() > FEW_TEXTS && num_bytes > FEW_BYTES).then_some(starts)
    }

    /// The places from `from` on where a special token may begin.
    fn places<'t>(&'t self, text: &'t [u8], from: usize) -> impl Iterator<Item = usize> + 't {
        let bytes = text[from..].iter().enumerate();
        let firsts = bytes.filter(|&(_, &byte)| self.bytes[usize::from(byte)]);
        let places = firsts.map(move |(at, _)| from + at);
        places.filter(|&at| {
            text[at..].first_chunk().is_none_or(|&[first, second]| {
                let key = usize::from(first) << 8 | usize::from(second);
                self.pairs[key / 64] >> (key % 64) & 1 == 1
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_texts_are_found_as_few_are() {
        let mut texts: Vec<String> = (0..200).map(|n| format!("<{n}>")).collect();
        texts.extend(["[x]", "\n\n", "\n\n\n", "\t", "ä", "äb", "a"].map(String::from));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let finder = Finder::new((0..texts.len()).collect(), &texts).expect("few enough");
        assert!(finder.starts.is_some());
        let text = "\n\n\n\n\n<1>b<17><<199>>[x\t\t[x]äbäö<200>\na<";
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
        let found: Vec<_> = finder.find_iter(text.as_bytes()).collect();
        assert!(expected.len() > 10);
        assert_eq!(found, expected);
    }
}
