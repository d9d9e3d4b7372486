//! Vocabularies from anywhere: tokens with ids of any kind, and the merges that matter.
//!
//! Files say in two ways which pairs merge: by a list of pairs (a pair's rank is its place), or by
//! ranks of tokens (every pair that makes the token has its rank). Either way several pairs may make
//! one token, but only one of them is ever used. For consider a text in which the tokens `l` and `r`
//! become the token `t`. No merge has crossed the ends of `t` so far, so the merges inside it came
//! in the order in which they come when `t` stands alone, and that order is unique. So `(l, r)` is
//! the last merge of `t` alone: its *own merge*. A token whose string, alone, does not become it has
//! none, and no merge ever makes it. Of any vocabulary, the own merges and their ranks are all that
//! is kept here, and two vocabularies with the same ones encode every text alike.

mod own_merges;
mod strings;
mod symbols;

use std::cmp::Reverse;

use crate::error::{Error, Result};
use crate::merges::{Id, Ranks};
use own_merges::Finder;
pub(crate) use strings::Strings;
pub use symbols::Marks;
use symbols::Spellings;

/// Names a token or a symbol inside a vocabulary and its encoder; its id is what files and users see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Number(u32);

impl Number {
    /// No number: a vocabulary has fewer.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The number at `index`, which is below 2^32.
    #[inline]
    pub(crate) fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The index of what it names: numbers count from 0.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a word begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Symbols {
    /// Its bytes.
    #[default]
    Bytes,
    /// Its characters.
    Chars,
}

/// Which pairs merge.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Merging<'a> {
    /// These, those of the lowest rank first. Of a pair given twice the first rank counts.
    #[serde(borrow)]
    Pairs(Vec<(&'a [u8], &'a [u8], u32)>),
    /// All that make one of these tokens, those of the lowest rank first.
    #[serde(borrow)]
    Ranks(Vec<(&'a [u8], u32)>),
    /// These, in order: the places of the two parts and of what they make among the tokens. No pair
    /// is there twice.
    Numbers(Vec<[u32; 3]>),
}

/// The last merge that makes a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Merge {
    /// The left part.
    pub left: Number,
    /// The right part.
    pub right: Number,
    /// The token.
    pub product: Number,
    /// Lower ranks merge first. Ranks are counted from 0; merges of one rank merge from the left.
    pub rank: u32,
}

/// Tokens, their ids, and the merges that make them.
#[derive(Debug)]
pub struct Vocabulary {
    symbols: Symbols,
    start_of_word: Box<[u8]>,
    end_of_word: Box<[u8]>,
    /// Whether the end of a word is a symbol of its own.
    end_is_symbol: bool,
    strings: Strings,
    /// The ids of the tokens, which have the first numbers. The other numbers are symbols that are
    /// parts of tokens without being tokens.
    ids: Vec<Id>,
    is_symbol: Vec<bool>,
    merges: Vec<Merge>,
    ranks: Ranks<Number>,
}

impl Vocabulary {
    /// The vocabulary of `tokens`, whose strings and ids are all different.
    pub fn new(
        tokens: &[(&[u8], Id)],
        merging: &Merging<'_>,
        symbols: Symbols,
        marks: Marks<'_>,
    ) -> Result<Self> {
        let mut strings = Strings::with_capacity(tokens.len() + 256);
        for (number, &(string, _)) in tokens.iter().enumerate() {
            if strings.add(string)?.index() < number {
                return Err(Error::RepeatedToken {
                    string: string.to_vec(),
                });
            }
        }
        check_ids_differ(tokens)?;
        let mut vocabulary = Self {
            symbols,
            start_of_word: marks.start.into(),
            end_of_word: marks.end.into(),
            end_is_symbol: strings.find(marks.end).is_some(),
            strings,
            ids: tokens.iter().map(|&(_, id)| id).collect(),
            is_symbol: Vec::new(),
            merges: Vec::new(),
            ranks: Ranks::with_capacity(0),
        };
        let spellings = vocabulary.name_symbols()?;
        vocabulary.keep_own_merges(merging, &spellings)?;
        Ok(vocabulary)
    }

    /// Give every symbol of every token a number; the symbols of each token.
    fn name_symbols(&mut self) -> Result<Spellings> {
        let mut numbers_of_bytes = [Number::NONE; 256];
        if self.symbols == Symbols::Bytes {
            for (byte, number) in (0..=u8::MAX).zip(&mut numbers_of_bytes) {
                *number = self.strings.add(&[byte])?;
            }
        }
        let mut spellings = Spellings::default();
        for token in (0..self.ids.len()).map(Number::new) {
            if self.symbols == Symbols::Bytes && !self.marks_words() {
                let bytes = self.strings.get(token).iter();
                let numbers = bytes.map(|&byte| numbers_of_bytes[usize::from(byte)]);
                spellings.symbols.extend(numbers);
                spellings.ends.push(spellings.symbols.len());
                continue;
            }
            // Symbols are added while the token's string is read.
            let string = self.strings.get(token).to_vec();
            for symbol in self.spell(&string)? {
                let number = self.strings.add(&symbol)?;
                spellings.symbols.push(number);
            }
            spellings.ends.push(spellings.symbols.len());
        }
        self.is_symbol = vec![true; self.strings.len()];
        for token in 0..self.ids.len() {
            self.is_symbol[token] = spellings.of(token).len() == 1;
        }
        Ok(spellings)
    }

    fn keep_own_merges(&mut self, merging: &Merging<'_>, spellings: &Spellings) -> Result<()> {
        let strings = &self.strings;
        let mut finder = Finder::new(strings, merging)?;
        let mut tokens: Vec<usize> = (0..self.ids.len()).collect();
        tokens.sort_by_key(|&token| spellings.of(token).len());
        let mut merges = vec![None; tokens.len()];
        for token in tokens {
            merges[token] = finder.find(Number::new(token), spellings.of(token));
        }
        // Tokens mostly have the order of their ranks already.
        let mut merges: Vec<Merge> = merges.into_iter().flatten().collect();
        // Of equal ranks, the longer product comes first: where a list must break the ties, runs of one
        // character still merge from the left.
        merges.sort_unstable_by(|a, b| {
            let string = |merge: &Merge| strings.get(merge.product);
            let order = |merge: &Merge| (Reverse(string(merge).len()), string(merge));
            a.rank.cmp(&b.rank).then_with(|| order(a).cmp(&order(b)))
        });
        let (mut rank, mut given) = (0, merges.first().map_or(0, |merge| merge.rank));
        self.ranks = Ranks::with_capacity(merges.len());
        for merge in &mut merges {
            rank += u32::from(merge.rank != given);
            given = std::mem::replace(&mut merge.rank, rank);
            self.ranks
                .add((merge.left, merge.right), rank, merge.product);
        }
        self.merges = merges;
        Ok(())
    }

    /// What a word begins as.
    #[must_use]
    pub fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// The own merges, in the order of their ranks.
    #[must_use]
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The own merges by their pairs.
    #[must_use]
    pub fn ranks(&self) -> &Ranks<Number> {
        &self.ranks
    }

    /// How many numbers there are: tokens, then symbols that are none.
    #[must_use]
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// All numbers: those of tokens, then those of symbols that are none.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + use<> {
        (0..self.len()).map(Number::new)
    }

    /// Whether there is no token and no symbol.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strings.len() == 0
    }

    /// The string of a number that exists.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn string(&self, number: Number) -> &[u8] {
        self.strings.get(number)
    }

    /// The id of a token; `None` for a symbol that is not one.
    #[must_use]
    pub fn id(&self, number: Number) -> Option<Id> {
        self.ids.get(number.index()).copied()
    }

    /// The number of a string.
    #[must_use]
    pub fn number(&self, string: &[u8]) -> Option<Number> {
        self.strings.find(string)
    }

    /// Whether it is a symbol: no merge makes it.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn is_symbol(&self, number: Number) -> bool {
        self.is_symbol[number.index()]
    }

    /// The tokens that neither are symbols nor are made by a merge.
    pub fn unreachable(&self) -> impl Iterator<Item = Number> {
        let mut is_reached = self.is_symbol.clone();
        for merge in &self.merges {
            is_reached[merge.product.index()] = true;
        }
        self.numbers()
            .zip(is_reached)
            .filter_map(|(number, is_reached)| (!is_reached).then_some(number))
    }
}

/// Reject two tokens with one id: only one of them could be decoded.
fn check_ids_differ(tokens: &[(&[u8], Id)]) -> Result<()> {
    // They mostly are in order already, which sorting notices.
    let mut ids: Vec<Id> = tokens.iter().map(|&(_, id)| id).collect();
    ids.sort_unstable();
    let Some(same) = ids.windows(2).find(|pair| pair[0] == pair[1]) else {
        return Ok(());
    };
    let id = same[0];
    let mut strings = tokens.iter().filter(|token| token.1 == id);
    let mut next = || strings.next().map_or(Vec::new(), |token| token.0.to_vec());
    Err(Error::RepeatedId {
        id,
        first: next(),
        second: next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: [(&[u8], Id); 7] = [
        (b"a", 10),
        (b"b", 11),
        (b"c", 12),
        (b"ab", 20),
        (b"bc", 21),
        (b"abc", 22),
        (b"cab", 23),
    ];

    fn strings(vocabulary: &Vocabulary) -> Vec<(&[u8], &[u8], u32)> {
        let merges = vocabulary.merges().iter();
        let string = |number| vocabulary.string(number);
        merges
            .map(|m| (string(m.left), string(m.right), m.rank))
            .collect()
    }

    #[test]
    fn ranks_of_tokens_come_down_to_one_pair_each() {
        let ranks = vec![
            (&b"ab"[..], 0),
            (&b"bc"[..], 1),
            (&b"abc"[..], 2),
            (&b"cab"[..], 7),
        ];
        let vocabulary = Vocabulary::new(
            &ABC,
            &Merging::Ranks(ranks),
            Symbols::Chars,
            Marks::default(),
        )
        .expect("a valid vocabulary");
        assert_eq!(
            strings(&vocabulary),
            [
                (&b"a"[..], &b"b"[..], 0),
                (b"b", b"c", 1),
                (b"ab", b"c", 2),
                (b"c", b"ab", 3)
            ]
        );
        assert_eq!(vocabulary.unreachable().count(), 0);
    }

    #[test]
    fn a_token_that_its_string_does_not_become_has_no_merge() {
        // In "abc", a and b have merged before (a, bc) could.
        let pairs = vec![
            (&b"a"[..], &b"b"[..], 0),
            (b"b", b"c", 1),
            (b"a", b"bc", 2),
            (b"c", b"ab", 3),
        ];
        let vocabulary = Vocabulary::new(
            &ABC,
            &Merging::Pairs(pairs),
            Symbols::Chars,
            Marks::default(),
        )
        .expect("a valid vocabulary");
        let unreachable: Vec<_> = vocabulary.unreachable().collect();
        assert_eq!(unreachable, [Number(5)]);
        assert_eq!(vocabulary.merges().len(), 3);
    }

    #[test]
    fn the_end_of_a_word_is_part_of_its_last_symbol() {
        let tokens = [(&b"o"[..], 0), (b"w</w>", 1), (b"ow</w>", 2)];
        let pairs = vec![(&b"o"[..], &b"w</w>"[..], 0)];
        let vocabulary = Vocabulary::new(
            &tokens,
            &Merging::Pairs(pairs),
            Symbols::Chars,
            Marks {
                end: b"</w>",
                ..Marks::default()
            },
        )
        .expect("a valid vocabulary");
        assert_eq!(vocabulary.symbols_of(b"ow"), [Ok(Number(0)), Ok(Number(1))]);
        assert_eq!(vocabulary.symbols_of(b"wo"), [Err(&b"w"[..]), Err(b"o")]);
        assert_eq!(strings(&vocabulary), [(&b"o"[..], &b"w</w>"[..], 0)]);
    }
}
