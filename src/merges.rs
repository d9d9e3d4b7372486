//! Merge lists: which tokens exist, how each is made, and what they do to a sequence.
//!
//! A token is named by an id: first the symbols of the alphabet, then one id for each new string
//! that a merge makes. A token's identity is its string. In trained lists no two merges make the
//! same string (Lemma Y of docs/theory/lemmas.md); in imported ones they may, and share its id.
//!
//! [`MergeList::apply`] merges the adjacent pair of lowest rank, leftmost first, until no pair has
//! a rank. For lists whose strings are distinct this is the paper's APPLY (each merge in turn,
//! `formal.apply`), because a merge that uses a token comes after the one that makes it. For the
//! others it is what the encoders of tokenizers and tiktoken do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

/// The name of a token.
pub type Id = u32;

/// What the ids below the first merge stand for.
///
/// ```
/// use mergewise::Alphabet;
///
/// assert_eq!(Alphabet::Bytes.symbols("é".as_bytes())?, [0xC3, 0xA9]);
/// assert_eq!(Alphabet::of_chars("éa".chars()).symbols("aéa".as_bytes())?, [0, 1, 0]);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alphabet {
    /// The 256 bytes: id 65 is the byte 65.
    Bytes,
    /// The 256 bytes in another order.
    OrderedBytes(Box<ByteOrder>),
    /// Code points in ascending order: id 0 is the smallest.
    Chars(Vec<char>),
}

/// An order of the 256 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteOrder {
    bytes: [u8; 256],
    /// The place of each byte.
    places: [u8; 256],
}

impl Alphabet {
    /// The 256 bytes, ordered by a key; equal keys go by the bytes.
    pub fn of_bytes<K: Ord>(key: impl Fn(u8) -> K) -> Self {
        let mut bytes = std::array::from_fn(|place| place as u8);
        bytes.sort_by_key(|&byte| key(byte));
        if bytes.is_sorted() {
            return Self::Bytes;
        }
        let mut places = [0; 256];
        for (place, &byte) in (0..=u8::MAX).zip(&bytes) {
            places[usize::from(byte)] = place;
        }
        Self::OrderedBytes(Box::new(ByteOrder { bytes, places }))
    }

    /// The 256 bytes in the order of the letters that GPT-2 writes for them, as in tokenizers:
    /// first the bytes that Latin-1 prints, then the others.
    pub fn letter_bytes() -> Self {
        Self::of_bytes(|byte| !matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF))
    }

    /// The alphabet of the code points in `characters`, each once.
    pub fn of_chars(characters: impl IntoIterator<Item = char>) -> Self {
        let mut sorted: Vec<char> = characters.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self::Chars(sorted)
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes | Self::OrderedBytes(_) => 256,
            Self::Chars(characters) => characters.len(),
        }
    }

    /// Whether there is no symbol at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text as symbols.
    pub fn symbols(&self, text: &[u8]) -> Result<Vec<Id>> {
        let mut symbols = Vec::with_capacity(text.len());
        self.extend_symbols(text, &mut symbols)?;
        Ok(symbols)
    }

    /// Append the symbols of the text.
    pub fn extend_symbols(&self, text: &[u8], symbols: &mut Vec<Id>) -> Result<()> {
        match self {
            Self::Bytes => symbols.extend(text.iter().map(|&byte| Id::from(byte))),
            Self::OrderedBytes(order) => {
                let place = |&byte: &u8| Id::from(order.places[usize::from(byte)]);
                symbols.extend(text.iter().map(place));
            }
            Self::Chars(characters) => {
                let text = std::str::from_utf8(text).map_err(|error| Error::InvalidUtf8 {
                    offset: error.valid_up_to(),
                })?;
                for (offset, character) in text.char_indices() {
                    match characters.binary_search(&character) {
                        Ok(id) => symbols.push(id as Id),
                        Err(_) => return Err(Error::UnknownCharacter { character, offset }),
                    }
                }
            }
        }
        Ok(())
    }

    /// How many symbols a string of the alphabet has.
    pub fn num_symbols(&self, string: &[u8]) -> usize {
        match self {
            Self::Bytes | Self::OrderedBytes(_) => string.len(),
            // One byte of each character is not a continuation byte.
            Self::Chars(_) => string.iter().filter(|&&byte| byte & 0xC0 != 0x80).count(),
        }
    }

    fn strings(&self) -> Vec<Box<[u8]>> {
        match self {
            Self::Bytes => (0..=u8::MAX).map(|byte| Box::from([byte])).collect(),
            Self::OrderedBytes(order) => order.bytes.map(|byte| Box::from([byte])).into(),
            Self::Chars(characters) => characters
                .iter()
                .map(|character| character.to_string().into_bytes().into_boxed_slice())
                .collect(),
        }
    }
}

/// Which pairs merge, in which order, and what they make.
#[derive(Debug, Clone, Default)]
pub struct Ranks<T = Id> {
    table: FxHashMap<(T, T), (u32, T)>,
}

impl<T: Copy + Eq + Hash> Ranks<T> {
    /// No ranks yet, and room for `num_pairs` pairs.
    pub fn with_capacity(num_pairs: usize) -> Self {
        let mut table = FxHashMap::default();
        table.reserve(num_pairs);
        Self { table }
    }

    /// Give a pair its rank and its product, unless it has them already.
    pub fn add(&mut self, pair: (T, T), rank: u32, product: T) {
        self.table.entry(pair).or_insert((rank, product));
    }

    /// The rank of a pair and the token it makes, if it merges.
    pub fn get(&self, left: T, right: T) -> Option<(u32, T)> {
        self.table.get(&(left, right)).copied()
    }

    /// Merge the adjacent pair of the lowest rank, the leftmost first, until no pair has a rank; the
    /// tokens that are left.
    ///
    /// `merged` is called with each pair that merges and may end the work by an error. O(n log n).
    pub fn apply(
        &self,
        mut tokens: Vec<T>,
        mut merged: impl FnMut(T, T) -> Result<()>,
    ) -> Result<Vec<T>> {
        let end = tokens.len();
        // next[i] and previous[i] link the tokens that are left; a merged one keeps its first cell.
        let mut next: Vec<usize> = (1..=end).collect();
        let mut previous: Vec<usize> = (0..end).map(|i| i.wrapping_sub(1)).collect();
        let mut is_token = vec![true; end];
        let rank =
            |tokens: &[T], next: &[usize], left: usize| self.get(tokens[left], tokens[next[left]]);
        let mut queue: BinaryHeap<_> = (1..end)
            .filter_map(|right| Some(Reverse((rank(&tokens, &next, right - 1)?.0, right - 1))))
            .collect();
        while let Some(Reverse((queued_rank, left))) = queue.pop() {
            let right = next[left];
            if !is_token[left] || right == end {
                continue;
            }
            let Some((current_rank, product)) = rank(&tokens, &next, left) else {
                continue;
            };
            if current_rank != queued_rank {
                continue;
            }
            merged(tokens[left], tokens[right])?;
            tokens[left] = product;
            is_token[right] = false;
            next[left] = next[right];
            if next[left] != end {
                previous[next[left]] = left;
                queue.extend(rank(&tokens, &next, left).map(|(r, _)| Reverse((r, left))));
            }
            if left != 0 {
                let before = previous[left];
                queue.extend(rank(&tokens, &next, before).map(|(r, _)| Reverse((r, before))));
            }
        }
        let mut kept = is_token.into_iter();
        tokens.retain(|_| kept.next() == Some(true));
        Ok(tokens)
    }
}

/// A valid list of merges over an alphabet.
///
/// ```
/// use mergewise::{Alphabet, MergeList};
///
/// let merges = MergeList::from_pairs(Alphabet::of_chars("abc".chars()), [(0, 1), (3, 2)])?;
/// assert_eq!(merges.token(4), b"abc");
/// assert_eq!(merges.apply(vec![0, 1, 0, 1, 2]), [3, 4]);
/// assert_eq!(merges.utility(b"ababc")?, 3);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MergeList {
    alphabet: Alphabet,
    strings: Vec<Box<[u8]>>,
    ids: FxHashMap<Box<[u8]>, Id>,
    pairs: Vec<(Id, Id)>,
    /// A pair's rank is its first place in the list.
    ranks: Ranks,
}

impl MergeList {
    /// The empty list.
    pub fn new(alphabet: Alphabet) -> Self {
        let strings = alphabet.strings();
        let ids = (0..).zip(&strings).map(|(id, s)| (s.clone(), id)).collect();
        Self {
            alphabet,
            strings,
            ids,
            pairs: Vec::new(),
            ranks: Ranks::default(),
        }
    }

    /// The list of `pairs`, each of symbols and of tokens that earlier pairs make.
    pub fn from_pairs(
        alphabet: Alphabet,
        pairs: impl IntoIterator<Item = (Id, Id)>,
    ) -> Result<Self> {
        let mut list = Self::new(alphabet);
        for (left, right) in pairs {
            list.push(left, right)?;
        }
        Ok(list)
    }

    /// The list of pairs given by their strings, each of symbols and of what earlier pairs make.
    pub fn from_strings<'s>(
        alphabet: Alphabet,
        pairs: impl IntoIterator<Item = (&'s [u8], &'s [u8])>,
    ) -> Result<Self> {
        let mut list = Self::new(alphabet);
        for (index, (left, right)) in pairs.into_iter().enumerate() {
            let find = |string: &[u8]| {
                list.id(string).ok_or_else(|| Error::UnknownPart {
                    index,
                    string: string.to_vec(),
                })
            };
            let (left, right) = (find(left)?, find(right)?);
            list.push(left, right)?;
        }
        Ok(list)
    }

    /// Append a merge; the id of the token it makes.
    pub fn push(&mut self, left: Id, right: Id) -> Result<Id> {
        for part in [left, right] {
            if part as usize >= self.strings.len() {
                return Err(Error::InvalidMerge {
                    index: self.pairs.len(),
                    part,
                    num_tokens: self.strings.len(),
                });
            }
        }
        let string = [self.token(left), self.token(right)].concat();
        let product = if let Some(&id) = self.ids.get(string.as_slice()) {
            id
        } else {
            let id = Id::try_from(self.strings.len()).map_err(|_| Error::TooManyTokens)?;
            let string = string.into_boxed_slice();
            self.ids.insert(string.clone(), id);
            self.strings.push(string);
            id
        };
        let rank = u32::try_from(self.pairs.len()).map_err(|_| Error::TooManyTokens)?;
        self.pairs.push((left, right));
        self.ranks.add((left, right), rank, product);
        Ok(product)
    }

    /// What the first ids stand for.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The merges in order.
    pub fn pairs(&self) -> &[(Id, Id)] {
        &self.pairs
    }

    /// Whether every merge makes a string that is neither a symbol nor made by another.
    pub fn makes_distinct_strings(&self) -> bool {
        self.strings.len() == self.alphabet.len() + self.pairs.len()
    }

    /// How many tokens there are, symbols included.
    pub fn num_tokens(&self) -> usize {
        self.strings.len()
    }

    /// The string of a token that exists.
    ///
    /// # Panics
    /// If there is no token of that id.
    pub fn token(&self, id: Id) -> &[u8] {
        &self.strings[id as usize]
    }

    /// The token with this string, if there is one.
    pub fn id(&self, string: &[u8]) -> Option<Id> {
        self.ids.get(string).copied()
    }

    /// κ: how many symbols of `text` the merges save.
    pub fn utility(&self, text: &[u8]) -> Result<usize> {
        let symbols = self.alphabet.symbols(text)?;
        let before = symbols.len();
        Ok(before - self.apply(symbols).len())
    }

    /// The tokens that the merges make of `tokens`. O(n log n).
    pub fn apply(&self, tokens: Vec<Id>) -> Vec<Id> {
        let never_fails = self.ranks.apply(tokens, |_, _| Ok(()));
        never_fails.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over_abc(pairs: &[(Id, Id)]) -> MergeList {
        MergeList::from_pairs(Alphabet::of_chars("cab".chars()), pairs.iter().copied())
            .expect("a valid list")
    }

    #[test]
    fn runs_are_merged_from_the_left() {
        let list = over_abc(&[(0, 0)]);
        assert_eq!(list.apply(vec![0, 0, 0]), [3, 0]);
        assert_eq!(list.utility(b"aaaa").expect("symbols of the alphabet"), 2);
    }

    #[test]
    fn merges_that_make_one_string_share_its_id() {
        let list = over_abc(&[(0, 1), (1, 2), (3, 2), (0, 4)]);
        assert_eq!(list.num_tokens(), 6);
        assert_eq!(list.id(b"abc"), Some(5));
    }

    #[test]
    fn a_part_that_nobody_made_is_named() {
        let pairs = [(97, 98), (256, 257)];
        let error = MergeList::from_pairs(Alphabet::Bytes, pairs).expect_err("257 does not exist");
        assert_eq!(
            error,
            Error::InvalidMerge {
                index: 1,
                part: 257,
                num_tokens: 257
            }
        );
    }

    #[test]
    fn nothing_is_a_defined_input() {
        let empty = MergeList::new(Alphabet::of_chars([]));
        assert!(empty.alphabet().is_empty());
        assert!(empty.apply(vec![]).is_empty());
        assert_eq!(over_abc(&[(0, 1)]).apply(vec![2]), [2]);
    }
}
