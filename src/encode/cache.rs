//! Words seen before, with their tokens.
//!
//! Most words of a text are old acquaintances. A word of up to 15 bytes is looked up by one load of
//! a line of cache: two entries of a key (the bytes, padded, and the length) and a few ids. If that
//! line is full, the word may be in one of seven others. Words of up to 63 bytes and 15 tokens have
//! two lines for themselves, and all others are in an ordinary map; a short word with more ids than
//! an entry has room for is there too, and its entry says so. A new word takes the place of an old
//! one once the cache has its full size, so memory is bounded.

use std::collections::HashMap;
use std::ops::Range;

use crate::encode::ends::MOST_WORDS;
use crate::keys::{SHORT, hash, short_key};
use crate::merges::Id;
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;

/// The longest word that fits a pair of lines, and how many ids do.
const LONG: usize = 63;
const LONG_IDS: usize = 15;
/// The longest word that is remembered at all.
const ODD: usize = 1 << 12;
const MOST_ODD_BYTES: usize = 1 << 22;
/// A cache begins small, and grows to this at most: 16 MB for short words, 4 MB for long ones.
const MOST_SHORT_LINES: usize = 1 << 18;
const MOST_LONG_LINES: usize = 1 << 15;
const FIRST_LINES: usize = 1 << 10;
/// The number of a line whose entries are taken differs by this, at most, from that of the line that
/// a short word goes to instead.
const FARTHEST: usize = 7;
/// In how many lines a long word may be.
const LONG_PLACES: usize = 8;
/// The highest byte of the key of a word that is not short.
const NOT_SHORT: u128 = u8::MAX as u128;

/// A few ids: the first two as they are, the others in as many bits as the largest id has.
#[derive(Debug, Clone, Copy, Default)]
struct Packed {
    first: [Id; 2],
    /// How many there are, in the highest byte; the third and so on from the lowest bit up.
    rest: u64,
}

impl Packed {
    /// Stands for ids that are kept elsewhere, as they do not fit.
    const ELSEWHERE: Self = Self {
        first: [0; 2],
        rest: u64::MAX,
    };

    #[inline]
    fn len(self) -> usize {
        (self.rest >> 56) as usize
    }

    fn is_elsewhere(self) -> bool {
        self.rest == u64::MAX
    }

    /// None if they do not fit.
    fn new(ids: &[Id], bits: u32) -> Option<Self> {
        let mut packed = Self::default();
        let num_first = ids.len().min(2);
        let (first, others) = ids.split_at(num_first);
        if others.len() * bits as usize > 56 || ids.len() > MOST_PACKED {
            return None;
        }
        packed.first[..num_first].copy_from_slice(first);
        packed.rest = (ids.len() as u64) << 56;
        for (index, &id) in (0..).zip(others) {
            packed.rest |= u64::from(id) << (index * bits);
        }
        Some(packed)
    }

    /// Write the ids, and maybe one behind them, to a buffer from `at` on; where they end, if they
    /// are here.
    #[inline]
    fn write(self, buffer: &mut [Id], at: usize, bits: u32) -> Option<usize> {
        buffer[at..at + 2].copy_from_slice(&self.first);
        let end = at + self.len();
        if self.len() > 2 {
            if self.is_elsewhere() {
                return None;
            }
            let mut rest = self.rest;
            for id in &mut buffer[at + 2..end] {
                *id = (rest & ((1 << bits) - 1)) as Id;
                rest >>= bits;
            }
        }
        Some(end)
    }
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct ShortLine {
    keys: [u128; 2],
    values: [Packed; 2],
}

impl ShortLine {
    fn is_full(&self) -> bool {
        !self.keys.contains(&0)
    }
}

#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
struct LongLine {
    key: [u8; LONG + 1],
    ids: [Id; LONG_IDS],
    num_ids: u32,
}

const EMPTY_LONG_LINE: LongLine = LongLine {
    key: [0; LONG + 1],
    ids: [0; LONG_IDS],
    num_ids: 0,
};

/// A word to be looked up. The key of a short one is its bytes and, highest, its length; of another
/// one, where it ends and a length that no short word has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    key: u128,
    start: usize,
    line: usize,
}

impl Word {
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        self.key >> 120 != NOT_SHORT
    }

    /// The bytes of a short word, filled up with zeros, and its length in the highest byte.
    pub(super) fn key(&self) -> u128 {
        self.key
    }

    /// Where it is looked for in the cache: a hash.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Where it is in the text.
    pub(super) fn place(&self) -> Range<usize> {
        let end = if self.is_short() {
            self.start + (self.key >> 120) as usize
        } else {
            self.key as usize
        };
        self.start..end
    }
}

/// A word of a batch whose ids the cache could not write, and where they belong in the buffer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Miss {
    index: u16,
    at: u16,
}

impl Miss {
    pub(super) fn index(self) -> usize {
        self.index.into()
    }

    pub(super) fn at(self) -> usize {
        self.at.into()
    }
}

/// The most ids of an entry: two as they are, and others if they are small.
const MOST_PACKED: usize = 2 + 8;
/// Room for the ids of a batch of short words.
pub(super) type Buffer = [Id; MOST_WORDS * MOST_PACKED];
pub(super) const NO_IDS: Buffer = [0; MOST_WORDS * MOST_PACKED];

/// Words with their tokens.
#[derive(Debug)]
pub(super) struct Cache {
    /// Powers of two of both.
    short: Vec<ShortLine>,
    long: Vec<LongLine>,
    /// How many words were put into each.
    num_short: usize,
    num_long: usize,
    /// Words that do not fit the others, with their tokens.
    odd: HashMap<Box<[u8]>, Box<[Id]>>,
    /// How many bytes those words and tokens have.
    odd_bytes: usize,
    /// How many bits an id has.
    bits: u32,
}

impl Cache {
    /// For ids of at most `bits` bits.
    pub(super) fn new(bits: u32) -> Self {
        Self {
            short: vec![ShortLine::default(); FIRST_LINES],
            long: vec![EMPTY_LONG_LINE; FIRST_LINES],
            num_short: 0,
            num_long: 0,
            odd: HashMap::new(),
            odd_bytes: 0,
            bits,
        }
    }

    /// Begin to look up the word `text[start..end]`.
    #[allow(clippy::inline_always, reason = "or it goes through memory")]
    #[inline(always)]
    pub(super) fn begin(&self, text: &[u8], start: usize, end: usize) -> Word {
        if end - start > SHORT {
            self.expect_long(&text[start..end]);
            let (key, line) = (NOT_SHORT << 120 | end as u128, 0);
            return Word { key, start, line };
        }
        let key = short_key(text, start, end);
        let line = hash(key) as usize & (self.short.len() - 1);
        prefetch(&self.short[line]);
        Word { key, start, line }
    }

    #[cold]
    #[inline(never)]
    fn expect_long(&self, word: &[u8]) {
        if word.len() <= LONG {
            let line = &self.long[self.long_line(&long_key(word))];
            prefetch(line);
            prefetch(&line.ids[0]);
        }
    }

    /// Begin to look up the words between `start` and the first end, the first and the second, and
    /// so on; where the last one ends.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn begin_all(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        words: &mut [Word],
    ) -> usize {
        for (word, &end) in words.iter_mut().zip(ends) {
            *word = self.begin(text, start, end);
            start = end;
        }
        start
    }

    /// Write the ids of the short words that are known, and the others as misses: how many ids and
    /// misses that were.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn copy_known(
        &mut self,
        words: &[Word],
        buffer: &mut Buffer,
        misses: &mut [Miss; MOST_WORDS],
    ) -> (usize, usize) {
        let (mut at, mut num_misses, bits) = (0, 0, self.bits);
        for (index, word) in words.iter().enumerate() {
            let packed = self.entry(word);
            if let Some(end) = packed.and_then(|packed| packed.write(buffer, at, bits)) {
                at = end;
            } else {
                misses[num_misses] = Miss {
                    index: index as u16,
                    at: at as u16,
                };
                num_misses += 1;
            }
        }
        (at, num_misses)
    }

    /// Is this a short word without an entry?
    pub(super) fn is_new(&mut self, word: &Word) -> bool {
        word.is_short() && self.entry(word).is_none()
    }

    /// Find the line of a word again, as the cache may have grown.
    fn locate(&self, word: &mut Word) {
        if word.is_short() {
            word.line = hash(word.key) as usize & (self.short.len() - 1);
        }
    }

    /// Append the ids of a word, if they are known.
    pub(super) fn find(&mut self, text: &[u8], word: &mut Word, ids: &mut Vec<Id>) -> bool {
        if word.is_short() {
            // The cache may have grown.
            self.locate(word);
            let mut buffer = [0; MOST_PACKED];
            match self.entry(word) {
                None => return false,
                Some(packed) => {
                    if let Some(end) = packed.write(&mut buffer, 0, self.bits) {
                        ids.extend_from_slice(&buffer[..end]);
                        return true;
                    }
                }
            }
        }
        let known = self.find_longer(&text[word.place()]);
        ids.extend_from_slice(known.unwrap_or_default());
        known.is_some()
    }

    /// The ids of a word that has no entry of its own.
    #[inline]
    fn find_longer(&self, text: &[u8]) -> Option<&[Id]> {
        if text.len() <= LONG {
            let key = long_key(text);
            let line = self.long_line(&key);
            for line in (0..LONG_PLACES).map(|step| &self.long[line ^ step]) {
                if line.key == key {
                    return Some(&line.ids[..line.num_ids as usize]);
                }
            }
        }
        self.odd.get(text).map(|ids| &**ids)
    }

    /// The entry of a short word.
    #[inline]
    fn entry(&mut self, word: &Word) -> Option<Packed> {
        let line = &self.short[word.line];
        if line.keys[0] == word.key {
            return Some(line.values[0]);
        }
        if word.is_short() {
            self.find_short(word)
        } else {
            None
        }
    }

    /// The entry of a short word that does not come first in its line: from there, or from a line
    /// near to it if those before are full.
    #[inline(never)]
    fn find_short(&mut self, word: &Word) -> Option<Packed> {
        let near = &mut self.short[word.line];
        if near.keys[1] == word.key {
            // The more frequent word comes first, and stays when a new one comes.
            near.keys.swap(0, 1);
            near.values.swap(0, 1);
            return Some(near.values[0]);
        }
        let mut is_full = near.is_full();
        for step in 1..=FARTHEST {
            if !is_full {
                return None;
            }
            let far = &self.short[word.line ^ step];
            if let Some(place) = far.keys.iter().position(|&other| other == word.key) {
                return Some(far.values[place]);
            }
            is_full = far.is_full();
        }
        None
    }

    /// Remember the ids of a short word that had no entry a while ago.
    pub(super) fn insert_new(&mut self, text: &[u8], word: &mut Word, ids: &[Id]) {
        // The same word may have come since, or words that made the cache grow.
        self.locate(word);
        if self.is_new(word) {
            self.insert(text, word, ids);
        }
    }

    /// Remember the ids of a word.
    pub(super) fn insert(&mut self, text: &[u8], word: &Word, ids: &[Id]) {
        if word.is_short() {
            let packed = Packed::new(ids, self.bits);
            // If it has an entry already, that says the same.
            if packed.is_some() || self.entry(word).is_none() {
                self.insert_short(word.key, packed.unwrap_or(Packed::ELSEWHERE));
            }
            if packed.is_some() {
                return;
            }
        }
        let text = &text[word.place()];
        if self.find_longer(text).is_some() {
            // It came twice in a batch.
        } else if text.len() <= LONG && ids.len() <= LONG_IDS {
            self.insert_long(text, ids);
        } else if text.len() <= ODD {
            self.insert_odd(text, ids);
        }
    }

    fn insert_short(&mut self, key: u128, value: Packed) {
        self.num_short += 1;
        if self.num_short > self.short.len() && self.short.len() < MOST_SHORT_LINES {
            let num_lines = self.short.len() * 4;
            let mut larger = Vec::with_capacity(num_lines);
            prefer_large_pages(&mut larger);
            larger.resize(num_lines, ShortLine::default());
            for line in std::mem::replace(&mut self.short, larger) {
                for (key, value) in line.keys.into_iter().zip(line.values) {
                    if key != 0 {
                        self.place_short(key, value);
                    }
                }
            }
        }
        self.place_short(key, value);
    }

    fn place_short(&mut self, key: u128, value: Packed) {
        let line = hash(key) as usize & (self.short.len() - 1);
        let others = (1..=FARTHEST).flat_map(|step| [(line ^ step, 1), (line ^ step, 0)]);
        let mut places = [(line, 0), (line, 1)].into_iter().chain(others);
        let is_free = |&(line, place): &(usize, usize)| self.short[line].keys[place] == 0;
        let (line, place) = places.find(is_free).unwrap_or((line, 1));
        self.short[line].keys[place] = key;
        self.short[line].values[place] = value;
    }

    fn insert_long(&mut self, text: &[u8], ids: &[Id]) {
        self.num_long += 1;
        if self.num_long * 2 > self.long.len() && self.long.len() < MOST_LONG_LINES {
            let larger = vec![EMPTY_LONG_LINE; self.long.len() * 2];
            for line in std::mem::replace(&mut self.long, larger) {
                if line.num_ids > 0 {
                    self.place_long(line);
                }
            }
        }
        let mut line = EMPTY_LONG_LINE;
        line.key = long_key(text);
        line.ids[..ids.len()].copy_from_slice(ids);
        line.num_ids = ids.len() as u32;
        self.place_long(line);
    }

    fn place_long(&mut self, line: LongLine) {
        let first = self.long_line(&line.key);
        let is_free = |&place: &usize| self.long[place].num_ids == 0;
        let place = (0..LONG_PLACES).map(|step| first ^ step).find(is_free);
        self.long[place.unwrap_or(first)] = line;
    }

    #[inline]
    fn long_line(&self, key: &[u8; LONG + 1]) -> usize {
        hash_long(key) as usize & (self.long.len() - 1)
    }

    fn insert_odd(&mut self, text: &[u8], ids: &[Id]) {
        if self.odd_bytes > MOST_ODD_BYTES {
            self.odd.clear();
            self.odd_bytes = 0;
        }
        self.odd_bytes += text.len() + size_of_val(ids);
        self.odd.insert(text.into(), ids.into());
    }
}

fn long_key(word: &[u8]) -> [u8; LONG + 1] {
    let mut key = [0; LONG + 1];
    key[..word.len()].copy_from_slice(word);
    key[LONG] = word.len() as u8;
    key
}

fn hash_long(key: &[u8; LONG + 1]) -> u64 {
    let (parts, _) = key[..usize::from(key[LONG]).next_multiple_of(16)].as_chunks::<16>();
    parts.iter().fold(0, |sum: u64, part| {
        sum.rotate_left(23) ^ hash(u128::from_le_bytes(*part) ^ u128::from(sum))
    })
}
