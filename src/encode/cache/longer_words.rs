//! Words of any length with their ids.
//!
//! Words of up to 63 bytes and 15 ids have two lines of cache for themselves, others are in an
//! ordinary map.

use std::collections::HashMap;

use crate::keys::{KEY, SHORT, hash, short_key, with_length};
use crate::merges::Id;
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;

/// The longest word that fits two lines of cache, and the most ids.
const LONG: usize = 63;
const LONG_IDS: usize = 15;
/// The longest word that is kept at all.
const LONGEST: usize = 1 << 12;
/// The most bytes of words and ids in the map.
const MOST_ODD_BYTES: usize = 1 << 23;
/// The number of pairs of lines at first, and at most: 16 MB.
const FIRST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 17;
/// In how many lines a word may be.
const PLACES: usize = 8;

/// The bytes of a word, padded with zeros, and in the highest byte its length.
type Key = [u128; (LONG + 1) / KEY];

#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
struct Line {
    key: Key,
    ids: [Id; LONG_IDS],
    num_ids: u32,
}

const EMPTY: Line = Line {
    key: [0; (LONG + 1) / KEY],
    ids: [0; LONG_IDS],
    num_ids: 0,
};

/// Words with their ids.
#[derive(Debug)]
pub(super) struct LongerWords {
    /// A power of two of them.
    lines: Vec<Line>,
    num_inserted: usize,
    /// Words that do not fit a line.
    odd: HashMap<Box<[u8]>, Box<[Id]>>,
    /// How many bytes those words and their ids have.
    odd_bytes: usize,
}

impl LongerWords {
    pub(super) fn new() -> Self {
        Self {
            lines: vec![EMPTY; FIRST_LINES],
            num_inserted: 0,
            odd: HashMap::new(),
            odd_bytes: 0,
        }
    }

    /// Begin to load the line of a word that is looked up soon; returns its hash.
    #[cold]
    #[inline(never)]
    pub(super) fn expect(&self, word: &[u8]) -> u32 {
        let hash = hash_of(word);
        if word.len() <= LONG {
            let line = &self.lines[self.line(hash)];
            prefetch(line);
            prefetch(&line.ids[0]);
        }
        hash
    }

    /// The ids of a word with this hash.
    #[inline]
    pub(super) fn find(&self, word: &[u8], hash: u32) -> Option<&[Id]> {
        if word.len() <= LONG {
            let (key, line) = (key_of(word), self.line(hash));
            for line in (0..PLACES).map(|step| &self.lines[line ^ step]) {
                if line.key == key {
                    return Some(&line.ids[..line.num_ids as usize]);
                }
                // A word goes to the first line that is free.
                if line.num_ids == 0 {
                    break;
                }
            }
        }
        self.odd.get(word).map(|ids| &**ids)
    }

    /// Remember the ids of a word with this hash.
    pub(super) fn insert(&mut self, word: &[u8], hash: u32, ids: &[Id]) {
        if self.find(word, hash).is_some() {
            // It came twice in a batch.
        } else if word.len() <= LONG && ids.len() <= LONG_IDS {
            self.insert_line(word, ids);
        } else if word.len() <= LONGEST {
            self.insert_odd(word, ids);
        }
    }

    fn insert_line(&mut self, word: &[u8], ids: &[Id]) {
        self.num_inserted += 1;
        if self.num_inserted * 2 > self.lines.len() && self.lines.len() < MOST_LINES {
            let num_lines = self.lines.len() * 2;
            let mut larger = Vec::with_capacity(num_lines);
            prefer_large_pages(&mut larger);
            larger.resize(num_lines, EMPTY);
            for line in std::mem::replace(&mut self.lines, larger) {
                if line.num_ids > 0 {
                    self.place(line);
                }
            }
        }
        let mut line = EMPTY;
        line.key = key_of(word);
        line.ids[..ids.len()].copy_from_slice(ids);
        line.num_ids = ids.len() as u32;
        self.place(line);
    }

    fn place(&mut self, line: Line) {
        let first = self.line(hash_of_key(&line.key));
        let is_free = |&place: &usize| self.lines[place].num_ids == 0;
        let place = (0..PLACES).map(|step| first ^ step).find(is_free);
        self.lines[place.unwrap_or(first)] = line;
    }

    /// The line where a word with this hash is looked for first.
    fn line(&self, hash: u32) -> usize {
        hash as usize & (self.lines.len() - 1)
    }

    fn insert_odd(&mut self, word: &[u8], ids: &[Id]) {
        if self.odd_bytes > MOST_ODD_BYTES {
            self.odd.clear();
            self.odd_bytes = 0;
        }
        self.odd_bytes += word.len() + size_of_val(ids);
        self.odd.insert(word.into(), ids.into());
    }
}

/// The hash of a word; 0 for those that fit no line.
pub(super) fn hash_of(word: &[u8]) -> u32 {
    if word.len() <= LONG {
        hash_of_key(&key_of(word))
    } else {
        0
    }
}

#[inline]
fn hash_of_key(key: &Key) -> u32 {
    // Parts without a byte of the word change nothing that is worth the time.
    let length = (key[key.len() - 1] >> (8 * SHORT)) as usize;
    let parts = &key[..length.div_ceil(KEY)];
    let hash = parts.iter().fold(0, |sum: u64, &part| {
        sum.rotate_left(23) ^ hash(part ^ u128::from(sum))
    });
    hash as u32
}

#[inline]
fn key_of(word: &[u8]) -> Key {
    let mut key = [0; _];
    let (chunks, rest) = word.as_chunks::<KEY>();
    for (part, &chunk) in key.iter_mut().zip(chunks) {
        *part = u128::from_le_bytes(chunk);
    }
    if let Some(part) = key.get_mut(chunks.len()).filter(|_| !rest.is_empty()) {
        *part = match word.last_chunk::<KEY>() {
            Some(&last) => u128::from_le_bytes(last) >> (8 * (KEY - rest.len())),
            None => short_key(word, 0, word.len()) ^ with_length(word.len()),
        };
    }
    key[key.len() - 1] |= with_length(word.len());
    key
}
