//! Where a text without a pattern can be cut: between two symbols that no token holds side by side.
//!
//! A merge across a place makes a token that holds the symbols on both sides of it, side by side. Where
//! no token does, no merge ever crosses the place, whatever stands around it, so what is before it and
//! what is behind it are encoded independently, like words of a pattern. Of each token only the pair in
//! the middle of its own merge is looked at: the others are in the middle of the merges of its parts.
//!
//! Pairs of bytes, and of ASCII characters, have a bit each. All other pairs of characters share the bits
//! of a table by their hashes: there a text may stay whole where it could be cut, which is no error.

use crate::encode::characters::{
    Character, character_at, character_before, is_inside, length_from,
};
use crate::keys::hash_pair;
use crate::vocabulary::{Symbols, Vocabulary};

/// Bits for each pair in the table of pairs of characters.
const BITS_PER_PAIR: usize = 16;
/// How many places are looked at together if nothing tells them apart.
const AT_ONCE: usize = 8;
const NOT_ASCII: u64 = u64::from_ne_bytes([0x80; AT_ONCE]);

/// The pairs of symbols that stand side by side in some token.
#[derive(Debug)]
pub(super) struct Joins {
    bytes: Box<[u64; 1024]>,
    /// Empty if symbols are bytes.
    characters: Vec<u64>,
}

/// How far the places of a text have been looked at.
#[derive(Debug)]
pub(super) struct Places {
    at: usize,
    /// The symbol before.
    left: Character,
}

impl Joins {
    /// Those of a vocabulary that has no mark for the ends of words.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let has_characters = vocabulary.symbols() == Symbols::Chars;
        let middle = |left: &[u8], right: &[u8]| match has_characters {
            true => (character_before(left, left.len()), character_at(right, 0).0),
            false => (left[left.len() - 1].into(), right[0].into()),
        };
        let merges = vocabulary.merges().iter();
        let pairs = merges.map(|merge| {
            middle(
                vocabulary.string(merge.left),
                vocabulary.string(merge.right),
            )
        });
        let in_table =
            |&(left, right): &(Character, Character)| has_characters && (left | right) > 0x7F;
        let (in_table, of_bytes): (Vec<_>, Vec<_>) = pairs.partition(in_table);
        let num_bits = (in_table.len() * BITS_PER_PAIR).next_power_of_two().max(64);
        let mut joins = Self {
            bytes: Box::new([0; 1024]),
            characters: vec![0; if has_characters { num_bits / 64 } else { 0 }],
        };
        for (left, right) in of_bytes {
            let key = (left << 8 | right) as usize;
            joins.bytes[key / 64] |= 1 << (key % 64);
        }
        for (left, right) in in_table {
            let (word, bit) = joins.place(left, right);
            joins.characters[word] |= 1 << bit;
        }
        joins
    }

    /// Where the bit of a pair of characters is.
    #[inline(always)]
    fn place(&self, left: Character, right: Character) -> (usize, u32) {
        let hash = hash_pair(u64::from(left) << 32 | u64::from(right));
        (hash / 64 & (self.characters.len() - 1), hash as u32 % 64)
    }

    /// Whether a text is cut between two bytes, or two characters that are ASCII.
    #[inline(always)]
    fn cuts_bytes(&self, left: u8, right: u8) -> bool {
        let key = usize::from(left) << 8 | usize::from(right);
        self.bytes[key / 64] >> (key % 64) & 1 == 0
    }

    /// Whether a text is cut between two symbols.
    #[inline(always)]
    fn cuts(&self, left: Character, right: Character) -> bool {
        if self.characters.is_empty() || left | right < 0x80 {
            return self.cuts_bytes(left as u8, right as u8);
        }
        let (word, bit) = self.place(left, right);
        self.characters[word] >> bit & 1 == 0
    }

    /// The last place where a text is cut, whatever follows it.
    pub(super) fn last_cut(&self, text: &[u8]) -> Option<usize> {
        (1..text.len()).rev().find(|&at| {
            if self.characters.is_empty() {
                return self.cuts_bytes(text[at - 1], text[at]);
            }
            // The last character may not be whole yet.
            let is_known = !is_inside(text[at]) && at + length_from(text[at]) <= text.len();
            is_known && self.cuts(character_before(text, at), character_at(text, at).0)
        })
    }

    /// The first place of a text; `None` if it is empty.
    pub(super) fn begin(&self, text: &[u8]) -> Option<Places> {
        let (left, at) = (!text.is_empty()).then(|| self.symbol_at(text, 0))?;
        Some(Places { at, left })
    }

    #[inline(always)]
    fn symbol_at(&self, text: &[u8], at: usize) -> (Character, usize) {
        if self.characters.is_empty() {
            return (text[at].into(), 1);
        }
        character_at(text, at)
    }

    /// Call `use_place` with the next place between symbols, or a few of them, and whether the text is
    /// cut there; false if there is none.
    // Always inlined, so that a caller's loop keeps its state in registers.
    #[inline(always)]
    pub(super) fn go_on(
        &self,
        text: &[u8],
        places: &mut Places,
        mut use_place: impl FnMut(usize, bool),
    ) -> bool {
        let Places { at, left } = places;
        let Some(rest) = text.get(*at..).filter(|rest| !rest.is_empty()) else {
            return false;
        };
        if let Some(next) = rest.first_chunk::<AT_ONCE>()
            && (self.characters.is_empty()
                || *left < 0x80 && u64::from_ne_bytes(*next) & NOT_ASCII == 0)
        {
            let mut last = *left as u8;
            for (place, &byte) in (*at..).zip(next) {
                use_place(place, self.cuts_bytes(last, byte));
                last = byte;
            }
            *places = Places {
                at: *at + AT_ONCE,
                left: last.into(),
            };
            return true;
        }
        let (right, length) = self.symbol_at(text, *at);
        // A byte that is part of no character stays with what is before it.
        let is_apart = self.characters.is_empty() || !is_inside(rest[0]);
        use_place(*at, is_apart && self.cuts(*left, right));
        *places = Places {
            at: *at + length,
            left: right,
        };
        true
    }

    /// Call `use_part` with where each part of a text begins and ends.
    pub(super) fn for_each_part(&self, text: &[u8], mut use_part: impl FnMut(usize, usize)) {
        let Some(mut places) = self.begin(text) else {
            return;
        };
        let mut start = 0;
        while self.go_on(text, &mut places, |at, is_cut| {
            if is_cut {
                use_part(start, at);
                start = at;
            }
        }) {}
        use_part(start, text.len());
    }
}
