//! Where a text without a pattern can be cut: between two symbols that no token holds side by side.
//!
//! A merge across a place makes a token that holds the symbols on both sides of it, side by side. Where
//! no token does, no merge ever crosses the place, whatever stands around it, so what is before it and
//! what is behind it are encoded independently, like words of a pattern. Of each token only the pair in
//! the middle of its own merge is looked at: the others are in the middle of the merges of its parts.
//!
//! Pairs of bytes, and of ASCII characters, have a byte each. Pairs of characters share the bits of a
//! table by their hashes: there a text may stay whole where it could be cut, which is no error.

use rustc_hash::FxHashSet;

use crate::encode::characters::{Spelling, is_inside, length_from, spelling_at, spelling_before};
use crate::keys::hash_pair;
use crate::vocabulary::{Merge, Symbols, Vocabulary};

/// Bits for each pair in the table of pairs of characters.
const BITS_PER_PAIR: usize = 16;
/// How many places a group has at most.
pub(super) const GROUP: usize = 64;
/// How many places are looked at together if nothing tells them apart.
const AT_ONCE: usize = 8;
/// So many bytes are on both sides of these places.
const AROUND: usize = AT_ONCE + 1;
/// A bit in each of the bytes of such places.
const ONES: u64 = u64::from_ne_bytes([1; AT_ONCE]);

/// The pairs of symbols that stand side by side in some token.
#[derive(Debug)]
pub(super) struct Joins {
    /// 1 for each pair of bytes between which texts are cut. The left byte is the low one.
    byte_cuts: Box<[u8; 1 << 16]>,
    /// A bit for each pair of characters; empty if symbols are bytes.
    characters: Vec<u64>,
}

/// How far the places of a text have been looked at.
#[derive(Debug)]
pub(super) struct Places {
    at: usize,
    /// The last symbol that is not ASCII alone.
    left: Spelling,
}

impl Places {
    /// The places of a text that is not empty, from the first on.
    pub(super) fn new(text: &[u8]) -> Self {
        let left = spelling_at(text, 0);
        Self { at: 1, left }
    }
}

impl Joins {
    /// Those of a vocabulary that has no mark for the ends of words.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let has_characters = vocabulary.symbols() == Symbols::Chars;
        let pair = |merge: &Merge| {
            let (left, right) = (
                vocabulary.string(merge.left),
                vocabulary.string(merge.right),
            );
            if has_characters {
                (spelling_before(left, left.len()), spelling_at(right, 0))
            } else {
                (left[left.len() - 1].into(), right[0].into())
            }
        };
        let pairs: FxHashSet<_> = vocabulary.merges().iter().map(pair).collect();
        let num_bits = (pairs.len() * BITS_PER_PAIR).next_power_of_two().max(64);
        let mut joins = Self {
            byte_cuts: vec![1; 1 << 16]
                .into_boxed_slice()
                .try_into()
                .expect("as many"),
            characters: vec![0; if has_characters { num_bits / 64 } else { 0 }],
        };
        for (left, right) in pairs {
            if left | right < if has_characters { 0x80 } else { 0x100 } {
                joins.byte_cuts[(right << 8 | left) as usize] = 0;
            }
            if has_characters {
                let (word, bit) = joins.place(left, right);
                joins.characters[word] |= 1 << bit;
            }
        }
        joins
    }

    /// Where the bit of a pair of characters is.
    #[inline(always)]
    fn place(&self, left: Spelling, right: Spelling) -> (usize, u32) {
        let hash = hash_pair(u64::from(left) << 32 | u64::from(right));
        ((hash / 64) & (self.characters.len() - 1), hash as u32 % 64)
    }

    /// Whether a text is cut between two symbols.
    #[inline(always)]
    fn cuts(&self, left: Spelling, right: Spelling) -> bool {
        if self.characters.is_empty() {
            return self.byte_cuts[usize::from((right << 8 | left) as u16)] == 1;
        }
        let (word, bit) = self.place(left, right);
        self.characters[word] >> bit & 1 == 0
    }

    /// The last place where a text is cut, whatever follows it.
    pub(super) fn last_cut(&self, text: &[u8]) -> Option<usize> {
        (1..text.len()).rev().find(|&at| {
            if self.characters.is_empty() {
                return self.cuts(text[at - 1].into(), text[at].into());
            }
            // The last character may not be whole yet.
            let is_known = !is_inside(text[at]) && at + length_from(text[at]) <= text.len();
            is_known && self.cuts(spelling_before(text, at), spelling_at(text, at))
        })
    }

    /// The next places as a group: its bit `i` is set if the text is cut at the first place plus `i`,
    /// which is returned too. None if there is no place left.
    #[inline(always)]
    pub(super) fn next_group(&self, text: &[u8], places: &mut Places) -> Option<(usize, u64)> {
        let base = places.at;
        if base >= text.len() {
            return None;
        }
        // Where characters begin that are not among ASCII alone.
        let (mut cuts, mut starts) = (0, 0);
        for shift in (0..GROUP).step_by(AT_ONCE) {
            let Some(before) = text.get(base + shift - 1..) else {
                break;
            };
            let last;
            let around = if let Some(around) = before.first_chunk() {
                around
            } else {
                last = padded(before);
                &last
            };
            if self.characters.is_empty() || are_ascii(around) {
                let mut bits = 0;
                for bit in 0..AT_ONCE {
                    let pair = u16::from_le_bytes([around[bit], around[bit + 1]]);
                    bits |= u64::from(self.byte_cuts[usize::from(pair)]) << bit;
                }
                cuts |= bits << shift;
            } else {
                starts |= starts_in(around) << shift;
            }
        }
        let is_last = text.len() - base < GROUP;
        let within = if is_last {
            !(u64::MAX << (text.len() - base))
        } else {
            u64::MAX
        };
        starts &= within;
        while starts != 0 {
            let bit = starts.trailing_zeros();
            starts &= starts - 1;
            let at = base + bit as usize;
            // A byte that is part of no character stays with what is before it.
            let before = Spelling::from(text[at - 1]);
            let left = if before < 0x80 { before } else { places.left };
            places.left = spelling_at(text, at);
            cuts |= u64::from(self.cuts(left, places.left)) << bit;
        }
        places.at += GROUP;
        Some((base, cuts & within))
    }

    /// Call `use_part` with where each part of a text begins and ends.
    pub(super) fn for_each_part(&self, text: &[u8], mut use_part: impl FnMut(usize, usize)) {
        if text.is_empty() {
            return;
        }
        let (mut start, mut places) = (0, Places::new(text));
        while let Some((base, mut cuts)) = self.next_group(text, &mut places) {
            while cuts != 0 {
                let at = base + cuts.trailing_zeros() as usize;
                use_part(start, at);
                start = at;
                cuts &= cuts - 1;
            }
        }
        use_part(start, text.len());
    }
}

#[inline(always)]
fn are_ascii(&[first, ref rest @ ..]: &[u8; AROUND]) -> bool {
    first.is_ascii() && u64::from_ne_bytes(*rest) & ONES << 7 == 0
}

/// A bit for each but the first of the bytes that is not inside a character.
#[inline(always)]
fn starts_in([_, bytes @ ..]: &[u8; AROUND]) -> u64 {
    let bytes = u64::from_le_bytes(*bytes);
    let inside = bytes >> 7 & !(bytes >> 6) & ONES;
    // The lowest bits of all bytes, side by side in the highest byte.
    (!inside & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The last bytes of a text, and zeros.
#[cold]
fn padded(rest: &[u8]) -> [u8; AROUND] {
    let mut bytes = [0; AROUND];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}
