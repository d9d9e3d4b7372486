//! Words seen before, with their tokens.
//!
//! Most words of a text are old acquaintances. A word of up to 15 bytes is looked up by one load of
//! a line of cache: two entries of a key (the bytes, padded, and the length) and the ids, packed
//! into 16 bytes each. Longer words, up to 111 bytes, have two lines for themselves. A new word takes
//! the place of an old one once the cache has its full size, so memory is bounded.

use crate::merges::Id;
use crate::prefetch::prefetch;

/// The longest word that fits a pair of entries.
pub(super) const SHORT: usize = 15;
/// The longest word that is remembered.
pub(super) const LONG: usize = 111;
/// A cache begins small, and grows to this at most: 16 MB for short words, 4 MB for long ones.
const MOST_SHORT_LINES: usize = 1 << 18;
const MOST_LONG_LINES: usize = 1 << 15;
const FIRST_LINES: usize = 1 << 10;
/// Stands for a word that is not short.
const NOT_SHORT: u128 = u128::MAX;

/// `MASKS[n]` keeps the first n of 16 bytes.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = u128::MAX >> (8 * (16 - length));
        length += 1;
    }
    masks
};

/// The tokens of a word: their number in the highest byte, the ids in the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Packed(u128);

impl Packed {
    /// None if they do not fit.
    pub(super) fn new(ids: impl ExactSizeIterator<Item = Id>, bits: u32) -> Option<Self> {
        let count = ids.len();
        if count * bits as usize > 120 {
            return None;
        }
        let packed = ids.fold((0, 0), |(packed, shift), id| {
            (packed | u128::from(id) << shift, shift + bits)
        });
        Some(Self(packed.0 | (count as u128) << 120))
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        (self.0 >> 120) as usize
    }

    /// The first two ids, or zeros.
    #[inline]
    pub(super) fn first_two(self, bits: u32) -> [Id; 2] {
        let (low, mask) = (self.0 as u64, u64::MAX >> (64 - bits));
        [(low & mask) as Id, (low >> bits & mask) as Id]
    }

    #[inline]
    pub(super) fn get(self, index: usize, bits: u32) -> Id {
        (self.0 >> (index as u32 * bits)) as Id & (u32::MAX >> (32 - bits))
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct ShortLine {
    keys: [u128; 2],
    values: [Packed; 2],
}

#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct LongLine {
    key: [u8; LONG + 1],
    value: Packed,
}

const EMPTY_LONG_LINE: LongLine = LongLine {
    key: [0; LONG + 1],
    value: Packed(0),
};

/// Words with their tokens.
#[derive(Debug)]
pub(super) struct Cache {
    /// Powers of two of both.
    short: Vec<ShortLine>,
    long: Vec<LongLine>,
    /// How many words were put into each since it grew.
    num_short: usize,
    num_long: usize,
}

impl Cache {
    pub(super) fn new() -> Self {
        Self {
            short: vec![ShortLine::default(); FIRST_LINES],
            long: vec![EMPTY_LONG_LINE; FIRST_LINES],
            num_short: 0,
            num_long: 0,
        }
    }

    /// The line of a word, which is on its way into the cache of the processor from now on.
    #[inline]
    pub(super) fn line(&self, key: u128) -> usize {
        let line = hash(key) as usize & (self.short.len() - 1);
        prefetch(&self.short[line]);
        line
    }

    /// The tokens of a word whose line is known.
    #[inline]
    pub(super) fn get_short(&mut self, key: u128, line: usize) -> Option<Packed> {
        let near = &self.short[line];
        if near.keys[0] == key {
            return Some(near.values[0]);
        }
        self.get_second(key, line)
    }

    /// The tokens of a word that is not the first in its line: the second, or in the next line.
    fn get_second(&mut self, key: u128, line: usize) -> Option<Packed> {
        let near = &mut self.short[line];
        if near.keys[1] == key {
            // The more frequent word comes first, and stays when a new one comes.
            near.keys.swap(0, 1);
            near.values.swap(0, 1);
            return Some(near.values[0]);
        }
        let far = &self.short[line ^ 1];
        let place = far.keys.iter().position(|&other| other == key)?;
        Some(far.values[place])
    }

    pub(super) fn insert_short(&mut self, key: u128, value: Packed) {
        self.num_short += 1;
        if self.num_short > self.short.len() && self.short.len() < MOST_SHORT_LINES {
            let larger = vec![ShortLine::default(); self.short.len() * 4];
            let smaller = std::mem::replace(&mut self.short, larger);
            for line in smaller {
                for (key, value) in line.keys.into_iter().zip(line.values) {
                    if key != 0 {
                        self.place_short(key, value);
                    }
                }
            }
            self.num_short = 0;
        }
        self.place_short(key, value);
    }

    fn place_short(&mut self, key: u128, value: Packed) {
        let line = hash(key) as usize & (self.short.len() - 1);
        let places = [(line, 0), (line, 1), (line ^ 1, 1), (line ^ 1, 0)];
        let is_free = |&(line, place): &(usize, usize)| self.short[line].keys[place] == 0;
        let (line, place) = places.into_iter().find(is_free).unwrap_or((line, 1));
        self.short[line].keys[place] = key;
        self.short[line].values[place] = value;
    }

    /// The tokens of a word of up to 111 bytes.
    pub(super) fn get_long(&self, word: &[u8]) -> Option<Packed> {
        let key = long_key(word);
        let line = &self.long[hash_long(&key) as usize & (self.long.len() - 1)];
        (line.key == key).then_some(line.value)
    }

    pub(super) fn insert_long(&mut self, word: &[u8], value: Packed) {
        self.num_long += 1;
        if self.num_long > self.long.len() / 2 && self.long.len() < MOST_LONG_LINES {
            let larger = vec![EMPTY_LONG_LINE; self.long.len() * 4];
            for line in std::mem::replace(&mut self.long, larger) {
                self.place_long(line);
            }
            self.num_long = 0;
        }
        let key = long_key(word);
        self.place_long(LongLine { key, value });
    }

    fn place_long(&mut self, line: LongLine) {
        let place = hash_long(&line.key) as usize & (self.long.len() - 1);
        self.long[place] = line;
    }
}

/// The key of the word `text[start..end]`.
#[inline]
pub(super) fn short_key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    if length > SHORT {
        return NOT_SHORT;
    }
    let bytes = if let Some((bytes, _)) = text[start..].split_first_chunk() {
        u128::from_le_bytes(*bytes) & MASKS[length]
    } else {
        let mut bytes = [0; 16];
        bytes[..length].copy_from_slice(&text[start..end]);
        u128::from_le_bytes(bytes)
    };
    bytes | (length as u128) << 120
}

fn long_key(word: &[u8]) -> [u8; LONG + 1] {
    let mut key = [0; LONG + 1];
    key[..word.len()].copy_from_slice(word);
    key[LONG] = word.len() as u8;
    key
}

/// Both halves of a product, folded.
#[inline]
fn hash(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let product =
        u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    product as u64 ^ (product >> 64) as u64
}

fn hash_long(key: &[u8; LONG + 1]) -> u64 {
    let (parts, _) = key[..usize::from(key[LONG]).next_multiple_of(16)].as_chunks::<16>();
    parts.iter().fold(0, |sum: u64, part| {
        sum.rotate_left(23) ^ hash(u128::from_le_bytes(*part) ^ u128::from(sum))
    })
}
