//! Where a text without a pattern, or a long word, can be cut: between two characters that no token
//! holds side by side.
//!
//! A merge across a place makes a token that holds what is on both sides of it, side by side. Where no
//! token does, no merge ever crosses the place, whatever stands around it, so what is before it and
//! what is behind it are encoded independently, like words of a pattern. Of each token only the pair in
//! the middle of its own merge is looked at: the others are in the middle of the merges of its parts.
//! A part that is merged of bytes may hold only some of a character; then its outer byte stands for it.
//!
//! Pairs of ASCII characters have a byte each. All share the bits of a table by their hashes: there a text
//! may stay whole where it could be cut, which is no error.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::keys::hash_word;
use crate::pattern::{Processor, Work, on_this_processor};
use crate::spelling::{Spelling, is_inside, length_from, spelling_at, spelling_before};
use crate::vocabulary::Vocabulary;

/// How many bits of a table there are for each hash.
const BITS_PER_HASH: usize = 16;
/// How many places a group has at most.
pub(super) const GROUP: usize = 64;
/// How many places are looked at together if nothing tells them apart.
const AT_ONCE: usize = 8;
/// So many bytes are on both sides of these places.
const AROUND: usize = AT_ONCE + 1;
/// A bit in each of the bytes of such places.
const ONES: u64 = u64::from_ne_bytes([1; AT_ONCE]);

/// Some token holds both bytes side by side: ASCII, or parts of two characters.
const BOTH: u8 = 1;
/// Some token holds a whole character that ends with the left byte, and a part of the right one.
const LEFT_WHOLE: u8 = 2;
/// Some token holds a part of the left one, and a whole character that begins with the right byte.
const RIGHT_WHOLE: u8 = 4;

/// The pairs of characters that stand side by side in some token.
#[derive(Debug)]
pub(super) struct Joins {
    /// What tokens hold of two characters, the last byte of the left one and the first byte of the
    /// right one, other than both of them whole. The left byte is the low one.
    bytes: Box<[u8; 1 << 16]>,
    /// Whether some token holds a part of a character.
    holds_parts: bool,
    /// A bit for each pair of characters.
    characters: Bits,
    /// A bit for each token that no merge makes, if words are looked up.
    whole: Bits,
}

/// Bits that are chosen by hashes of 32 bits: a power of two of words, by the highest bits.
#[derive(Debug)]
struct Bits {
    words: Vec<u32>,
    shift: u32,
}

impl Bits {
    /// Those of some hashes.
    fn new(hashes: impl ExactSizeIterator<Item = u32>) -> Self {
        let num_bits = (hashes.len() * BITS_PER_HASH).next_power_of_two().max(64);
        let mut bits = Self {
            words: vec![0; num_bits / 32],
            shift: u32::BITS - num_bits.ilog2(),
        };
        for hash in hashes {
            let number = bits.number(hash);
            bits.words[number as usize / 32] |= 1 << (number % 32);
        }
        bits
    }

    /// The number of the bit of a hash.
    #[inline(always)]
    fn number(&self, hash: u32) -> u32 {
        hash >> self.shift
    }

    /// Whether a hash may be one of those.
    #[inline(always)]
    fn contain(&self, hash: u32) -> bool {
        let number = self.number(hash);
        self.words[number as usize / 32] >> (number % 32) & 1 == 1
    }
}

/// How far the places of a stretch of a text have been looked at.
#[derive(Debug)]
pub(super) struct Places {
    at: usize,
    end: usize,
    /// The last symbol that is not ASCII alone.
    left: Spelling,
}

impl Places {
    /// The places inside `text[start..end]`, which is not empty, from the first on.
    pub(super) fn new(text: &[u8], start: usize, end: usize) -> Self {
        Self {
            at: start + 1,
            end,
            left: spelling_at(text, start),
        }
    }

    /// The symbol before a place. A byte that is part of no character stays with what is before it.
    #[inline(always)]
    fn before(&self, text: &[u8], at: usize) -> Spelling {
        let last = Spelling::from(text[at - 1]);
        if last < 0x80 { last } else { self.left }
    }
}

impl Joins {
    /// Those of a vocabulary that has no mark for the ends of words. With `looks_up_whole`, a word that
    /// is a token becomes that token, whatever its merges make of it.
    pub(super) fn new(vocabulary: &Vocabulary, looks_up_whole: bool) -> Self {
        let bytes = vec![0; 1 << 16].into_boxed_slice().try_into();
        let mut bytes: Box<[u8; 1 << 16]> = bytes.expect("as many");
        let mut pairs = FxHashSet::default();
        let mut holds_parts = false;
        let mut join = |left: &[u8], right: &[u8]| {
            if is_inside(right[0]) {
                return;
            }
            let pair = (spelling_before(left, left.len()), spelling_at(right, 0));
            let is_ascii = pair.0 | pair.1 < 0x80;
            let outer = u16::from_le_bytes([left[left.len() - 1], right[0]]);
            bytes[usize::from(outer)] |= match (is_part(pair.0), is_part(pair.1)) {
                (true, true) => BOTH,
                (false, true) => LEFT_WHOLE,
                (true, false) => RIGHT_WHOLE,
                (false, false) if is_ascii => BOTH,
                (false, false) => 0,
            };
            holds_parts |= is_part(pair.0) || is_part(pair.1);
            pairs.insert(pair);
        };
        for merge in vocabulary.merges() {
            join(
                vocabulary.string(merge.left),
                vocabulary.string(merge.right),
            );
        }
        let whole: Vec<&[u8]> = vocabulary
            .unreachable()
            .filter(|_| looks_up_whole)
            .map(|number| vocabulary.string(number))
            .collect();
        for string in &whole {
            for at in 1..string.len() {
                join(&string[..at], &string[at..]);
            }
        }
        let pairs: Vec<_> = pairs.into_iter().collect();
        Self {
            bytes,
            holds_parts,
            characters: Bits::new(pairs.iter().map(|&(left, right)| hash_both(left, right))),
            whole: Bits::new(whole.iter().map(|string| high_half(hash_word(string)))),
        }
    }

    /// Whether some token may hold two characters, or their outer bytes, side by side.
    #[inline(always)]
    fn may_join(&self, left: Spelling, right: Spelling) -> bool {
        self.characters.contain(hash_both(left, right))
    }

    /// Whether a text is cut at `at`, between these two characters.
    #[inline(always)]
    fn cuts(&self, text: &[u8], at: usize, left: Spelling, right: Spelling) -> bool {
        let [last, first] = [text[at - 1], text[at]];
        let held = self.bytes[usize::from(u16::from_le_bytes([last, first]))];
        if self.holds_parts
            && (held & LEFT_WHOLE > 0 && self.may_join(left, first.into())
                || held & RIGHT_WHOLE > 0 && self.may_join(last.into(), right))
        {
            return false;
        }
        // Both are looked up always: a branch would often be predicted wrongly.
        !((held & BOTH > 0) | self.may_join(left, right))
    }

    /// The last place where a text is cut, whatever follows it.
    pub(super) fn last_cut(&self, text: &[u8]) -> Option<usize> {
        (1..text.len()).rev().find(|&at| {
            // The last character may not be whole yet.
            let is_known = !is_inside(text[at]) && at + length_from(text[at]) <= text.len();
            is_known && self.cuts(text, at, spelling_before(text, at), spelling_at(text, at))
        })
    }

    /// The next places as a group: its bit `i` is set if the text is cut at the first place plus `i`,
    /// which is returned too. None if there is no place left.
    #[inline(always)]
    pub(super) fn next_group<P: Processor>(
        &self,
        processor: P,
        text: &[u8],
        places: &mut Places,
    ) -> Option<(usize, u64)> {
        let base = places.at;
        if base >= places.end {
            return None;
        }
        // Where characters begin that are not among ASCII alone, and where these are.
        let (mut cuts, mut starts, mut ascii) = (0, 0, 0);
        for shift in (0..GROUP).step_by(AT_ONCE) {
            if base + shift >= places.end {
                break;
            }
            let before = &text[base + shift - 1..];
            let last;
            let around = if let Some(around) = before.first_chunk() {
                around
            } else {
                last = padded(before);
                &last
            };
            if are_ascii(around) {
                let mut bits = 0;
                for bit in 0..AT_ONCE {
                    let pair = u16::from_le_bytes([around[bit], around[bit + 1]]);
                    bits |= u64::from(self.bytes[usize::from(pair)]) << bit;
                }
                cuts |= (!bits & 0xFF) << shift;
                ascii |= 0xFF << shift;
            } else {
                starts |= starts_in(around) << shift;
            }
        }
        let within = if places.end - base < GROUP {
            !(u64::MAX << (places.end - base))
        } else {
            u64::MAX
        };
        starts &= within;
        if starts != 0 {
            cuts |= if self.holds_parts {
                self.cuts_at_parts(text, places, starts)
            } else {
                self.cuts_at_characters(processor, text, places, starts, ascii)
            };
        }
        places.at += GROUP;
        Some((base, cuts & within))
    }

    /// Which of the next places the text is cut at, where tokens hold parts of characters.
    #[inline(always)]
    fn cuts_at_parts(&self, text: &[u8], places: &mut Places, mut starts: u64) -> u64 {
        let mut cuts = 0;
        while starts != 0 {
            let bit = starts.trailing_zeros();
            starts &= starts - 1;
            let at = places.at + bit as usize;
            let left = places.before(text, at);
            places.left = spelling_at(text, at);
            cuts |= u64::from(self.cuts(text, at, left, places.left)) << bit;
        }
        cuts
    }

    /// The same where they do not. `ascii` are places among ASCII alone.
    #[inline(always)]
    fn cuts_at_characters<P: Processor>(
        &self,
        processor: P,
        text: &[u8],
        places: &mut Places,
        starts: u64,
        ascii: u64,
    ) -> u64 {
        // Each is looked up with the one before it.
        let shown = starts | starts >> 1 & ascii;
        let num_shown = shown.count_ones() as usize;
        let rest = &text[places.at..];
        let last;
        let block = if let Some(block) = rest.first_chunk() {
            block
        } else {
            last = padded(rest);
            &last
        };
        let mut spellings = [0; GROUP];
        processor.spell(block, shown, &mut spellings);
        let mut numbers = [0; GROUP];
        numbers[0] = hash_both(places.before(text, places.at), spellings[0]);
        for (number, pair) in numbers[1..].iter_mut().zip(spellings.windows(2)) {
            *number = hash_both(pair[0], pair[1]);
        }
        let numbers = numbers.map(|hash| self.characters.number(hash));
        let joined = processor.are_set(&self.characters.words, &numbers, num_shown);
        places.left = spellings[num_shown - 1];
        starts & processor.spread(!joined, shown)
    }

    /// Call `use_part` with where each part of a text begins and ends.
    pub(super) fn for_each_part(&self, text: &[u8], use_part: impl FnMut(usize, usize)) {
        if !text.is_empty() {
            self.for_each_part_within(text, 0, text.len(), use_part);
        }
    }

    /// The same with `text[start..end]`, which is not empty.
    pub(super) fn for_each_part_within(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        use_part: impl FnMut(usize, usize),
    ) {
        on_this_processor(Parts {
            joins: self,
            text,
            place: start..end,
            use_part,
        });
    }

    /// Whether a word with this hash may be one that is looked up although no merge makes it.
    #[inline(always)]
    pub(super) fn may_be_passed_over(&self, hash: u64) -> bool {
        self.whole.contain(high_half(hash))
    }
}

/// The parts of a stretch that are asked for.
struct Parts<'a, F> {
    joins: &'a Joins,
    text: &'a [u8],
    place: Range<usize>,
    use_part: F,
}

impl<F: FnMut(usize, usize)> Work for Parts<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<P: Processor>(mut self, processor: P) {
        let Range { mut start, end } = self.place;
        let mut places = Places::new(self.text, start, end);
        while let Some((base, mut cuts)) = self.joins.next_group(processor, self.text, &mut places)
        {
            while cuts != 0 {
                let at = base + cuts.trailing_zeros() as usize;
                (self.use_part)(start, at);
                start = at;
                cuts &= cuts - 1;
            }
        }
        (self.use_part)(start, end);
    }
}

/// Of the sum only high bits are used; so many are looked up that their hashes are computed together.
#[inline(always)]
fn hash_both(left: Spelling, right: Spelling) -> u32 {
    let products = [
        left.wrapping_mul(0x9E37_79B1),
        right.wrapping_mul(0x85EB_CA77),
    ];
    products[0].wrapping_add(products[1])
}

fn high_half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Whether a spelling is a byte that is part of a character.
fn is_part(spelling: Spelling) -> bool {
    (0x80..0x100).contains(&spelling)
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
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}
