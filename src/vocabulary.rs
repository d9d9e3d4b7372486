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

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::merges::{Id, Ranks};

/// Names a token inside this module and the encoder; files have ids of their own.
pub type Number = u32;

/// What a word begins as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbols {
    /// Its bytes.
    Bytes,
    /// Its characters.
    Chars,
}

/// Which pairs merge.
#[derive(Debug)]
pub enum Merging<'a> {
    /// These, the first ones first.
    Pairs(Vec<(&'a [u8], &'a [u8])>),
    /// All that make one of these tokens, those of the lowest rank first.
    Ranks(Vec<(&'a [u8], u32)>),
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
    end_of_word: Box<[u8]>,
    /// Is the end of a word a symbol of its own?
    end_is_symbol: bool,
    strings: Vec<Box<[u8]>>,
    /// A symbol may be part of tokens without being one.
    ids: Vec<Option<Id>>,
    numbers: FxHashMap<Box<[u8]>, Number>,
    is_symbol: Vec<bool>,
    merges: Vec<Merge>,
    ranks: Ranks,
}

impl Vocabulary {
    /// The vocabulary of `tokens`. With `end_of_word`, a word's last symbol has that at its end; if
    /// it is a token by itself, it is a symbol of its own after the last.
    pub fn new(
        tokens: &[(&[u8], Id)],
        merging: &Merging<'_>,
        symbols: Symbols,
        end_of_word: &[u8],
    ) -> Result<Self> {
        let mut vocabulary = Self {
            symbols,
            end_of_word: end_of_word.into(),
            end_is_symbol: tokens.iter().any(|&(string, _)| string == end_of_word),
            strings: Vec::with_capacity(tokens.len()),
            ids: Vec::with_capacity(tokens.len()),
            numbers: FxHashMap::default(),
            is_symbol: Vec::new(),
            merges: Vec::new(),
            ranks: Ranks::default(),
        };
        for &(string, id) in tokens {
            vocabulary.name(string, Some(id))?;
        }
        let spellings = vocabulary.name_symbols(tokens)?;
        let candidates = vocabulary.candidates(merging)?;
        vocabulary.keep_own_merges(&candidates, &spellings);
        Ok(vocabulary)
    }

    fn name(&mut self, string: &[u8], id: Option<Id>) -> Result<Number> {
        let number = Number::try_from(self.strings.len()).map_err(|_| Error::TooManyTokens)?;
        self.numbers.insert(string.into(), number);
        self.strings.push(string.into());
        self.ids.push(id);
        Ok(number)
    }

    /// Give every symbol of every token a number; the symbols of each token.
    fn name_symbols(&mut self, tokens: &[(&[u8], Id)]) -> Result<Vec<Vec<Number>>> {
        if self.symbols == Symbols::Bytes {
            for byte in 0..=u8::MAX {
                if !self.numbers.contains_key([byte].as_slice()) {
                    self.name(&[byte], None)?;
                }
            }
        }
        let mut spellings = Vec::with_capacity(tokens.len());
        for &(token, _) in tokens {
            let mut spelling = Vec::new();
            for symbol in self.spell(token)? {
                let number = match self.numbers.get(&*symbol) {
                    Some(&number) => number,
                    None => self.name(&symbol, None)?,
                };
                spelling.push(number);
            }
            spellings.push(spelling);
        }
        self.is_symbol = vec![false; self.strings.len()];
        self.is_symbol[tokens.len()..].fill(true);
        for (number, spelling) in spellings.iter().enumerate() {
            self.is_symbol[number] = spelling.len() == 1;
        }
        Ok(spellings)
    }

    /// The symbols of a token's string.
    fn spell(&self, token: &[u8]) -> Result<Vec<Vec<u8>>> {
        let (body, is_end) = match token.strip_suffix(&*self.end_of_word) {
            Some(body) if !self.end_of_word.is_empty() => (body, true),
            _ => (token, false),
        };
        let mut symbols: Vec<Vec<u8>> = match self.symbols {
            Symbols::Bytes => body.iter().map(|&byte| vec![byte]).collect(),
            Symbols::Chars => {
                let text = std::str::from_utf8(body).map_err(|_| Error::NotText {
                    word: token.to_vec(),
                })?;
                text.chars().map(|c| c.to_string().into_bytes()).collect()
            }
        };
        if is_end {
            self.end_word(&mut symbols);
        }
        Ok(symbols)
    }

    fn end_word(&self, symbols: &mut Vec<Vec<u8>>) {
        match symbols.last_mut() {
            Some(last) if !self.end_is_symbol => {
                last.extend_from_slice(&self.end_of_word);
            }
            _ => symbols.push(self.end_of_word.to_vec()),
        }
    }

    /// All pairs that have a rank.
    fn candidates(&self, merging: &Merging<'_>) -> Result<Ranks> {
        let mut ranks = Ranks::default();
        match merging {
            Merging::Pairs(pairs) => {
                for (index, &(left, right)) in pairs.iter().enumerate() {
                    let find = |string: &[u8]| {
                        self.number(string).ok_or_else(|| Error::UnknownPart {
                            index,
                            string: string.to_vec(),
                        })
                    };
                    let product = find(&[left, right].concat())?;
                    let rank = u32::try_from(index).map_err(|_| Error::TooManyTokens)?;
                    ranks.add((find(left)?, find(right)?), rank, product);
                }
            }
            Merging::Ranks(tokens) => {
                let mut lengths: Vec<usize> = self.strings.iter().map(|s| s.len()).collect();
                lengths.sort_unstable();
                lengths.dedup();
                for &(token, rank) in tokens {
                    let Some(product) = self.number(token) else {
                        continue;
                    };
                    let shorter = lengths.iter().take_while(|&&length| length < token.len());
                    // The length of an empty token is no place to cut.
                    let cuts = shorter.copied().filter(|&length| length > 0);
                    for (left, right) in cuts.map(|at| token.split_at(at)) {
                        if let (Some(left), Some(right)) = (self.number(left), self.number(right)) {
                            ranks.add((left, right), rank, product);
                        }
                    }
                }
            }
        }
        Ok(ranks)
    }

    fn keep_own_merges(&mut self, candidates: &Ranks, spellings: &[Vec<Number>]) {
        for (product, spelling) in (0..).zip(spellings) {
            if spelling.len() < 2 {
                continue;
            }
            let mut last = None;
            let made = candidates.apply(spelling.clone(), |left, right| {
                last = Some((left, right));
                Ok(())
            });
            if made.is_ok_and(|made| made != [product]) {
                continue;
            }
            if let Some((left, right)) = last
                && let Some((rank, _)) = candidates.get(left, right)
            {
                self.merges.push(Merge {
                    left,
                    right,
                    product,
                    rank,
                });
            }
        }
        // Of equal ranks, the longer product comes first: where a list must break the ties, runs of one
        // character still merge from the left.
        let strings = &self.strings;
        let string = |merge: &Merge| &strings[merge.product as usize];
        let length = |merge: &Merge| string(merge).len();
        self.merges
            .sort_unstable_by_key(|m| (m.rank, Reverse(length(m)), string(m)));
        let mut rank = 0;
        for index in 0..self.merges.len() {
            let is_new = index > 0 && self.merges[index].rank != self.merges[index - 1].rank;
            rank += u32::from(is_new);
            // The old rank is still needed by the next comparison: new ones are set below.
            self.ranks.add(
                (self.merges[index].left, self.merges[index].right),
                rank,
                self.merges[index].product,
            );
        }
        for merge in &mut self.merges {
            if let Some((rank, _)) = self.ranks.get(merge.left, merge.right) {
                merge.rank = rank;
            }
        }
    }

    /// What a word begins as.
    #[must_use]
    pub fn symbols(&self) -> Symbols {
        self.symbols
    }

    /// What is at the end of each token that ends a word.
    #[must_use]
    pub fn end_of_word(&self) -> &[u8] {
        &self.end_of_word
    }

    /// The own merges, in the order of their ranks.
    #[must_use]
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The own merges by their pairs.
    #[must_use]
    pub fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// How many numbers there are: tokens, then symbols that are none.
    #[must_use]
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Is there no token and no symbol?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// The string of a number that exists.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn string(&self, number: Number) -> &[u8] {
        &self.strings[number as usize]
    }

    /// The id of a token; none for a symbol that is not one.
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn id(&self, number: Number) -> Option<Id> {
        self.ids[number as usize]
    }

    /// The number of a string.
    #[must_use]
    pub fn number(&self, string: &[u8]) -> Option<Number> {
        self.numbers.get(string).copied()
    }

    /// Does nothing smaller make it up?
    ///
    /// # Panics
    /// If there is no such number.
    #[must_use]
    pub fn is_symbol(&self, number: Number) -> bool {
        self.is_symbol[number as usize]
    }

    /// The tokens that neither are symbols nor are made by a merge.
    pub fn unreachable(&self) -> impl Iterator<Item = Number> {
        let mut is_reached = self.is_symbol.clone();
        for merge in &self.merges {
            is_reached[merge.product as usize] = true;
        }
        (0..)
            .zip(is_reached)
            .filter_map(|(n, is)| (!is).then_some(n))
    }

    /// The numbers of a word's symbols; of a symbol that has none, its string.
    #[must_use]
    pub fn symbols_of<'w>(&self, word: &'w [u8]) -> Vec<std::result::Result<Number, &'w [u8]>> {
        let mut units: Vec<&[u8]> = Vec::new();
        match self.symbols {
            Symbols::Bytes => units.extend(word.chunks(1)),
            Symbols::Chars => {
                for chunk in word.utf8_chunks() {
                    let valid = chunk.valid();
                    let ends = valid.char_indices().map(|(at, c)| (at, at + c.len_utf8()));
                    units.extend(ends.map(|(start, end)| &valid.as_bytes()[start..end]));
                    units.extend(chunk.invalid().chunks(1));
                }
            }
        }
        let mut symbols: Vec<_> = units
            .iter()
            .map(|&unit| self.number(unit).ok_or(unit))
            .collect();
        if self.end_of_word.is_empty() {
            return symbols;
        }
        if let Some(end) = self
            .number(&self.end_of_word)
            .filter(|_| self.end_is_symbol)
        {
            symbols.push(Ok(end));
        } else if let (Some(symbol), Some(unit)) = (symbols.last_mut(), units.last()) {
            let last = [unit, &*self.end_of_word].concat();
            *symbol = self.number(&last).ok_or(unit);
        }
        symbols
    }
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
        let vocabulary = Vocabulary::new(&ABC, &Merging::Ranks(ranks), Symbols::Chars, b"")
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
            (&b"a"[..], &b"b"[..]),
            (b"b", b"c"),
            (b"a", b"bc"),
            (b"c", b"ab"),
        ];
        let vocabulary = Vocabulary::new(&ABC, &Merging::Pairs(pairs), Symbols::Chars, b"")
            .expect("a valid vocabulary");
        let unreachable: Vec<_> = vocabulary.unreachable().collect();
        assert_eq!(unreachable, [5]);
        assert_eq!(vocabulary.merges().len(), 3);
    }

    #[test]
    fn the_end_of_a_word_is_part_of_its_last_symbol() {
        let tokens = [(&b"o"[..], 0), (b"w</w>", 1), (b"ow</w>", 2)];
        let pairs = vec![(&b"o"[..], &b"w</w>"[..])];
        let vocabulary = Vocabulary::new(&tokens, &Merging::Pairs(pairs), Symbols::Chars, b"</w>")
            .expect("a valid vocabulary");
        assert_eq!(vocabulary.symbols_of(b"ow"), [Ok(0), Ok(1)]);
        assert_eq!(vocabulary.symbols_of(b"wo"), [Err(&b"w"[..]), Err(b"o")]);
        assert_eq!(strings(&vocabulary), [(&b"o"[..], &b"w</w>"[..], 0)]);
    }
}
