//! Words of any length with their ids.
//!
//! Words of up to 63 bytes and 15 ids have two lines of cache for themselves, others are in an
//! ordinary map.

use std::collections::HashMap;

use crate::keys::hash_word;
use crate::merges::Id;
use crate::pages::filled_in_large_pages;
use crate::prefetch::prefetch;

/// The longest word that fits two lines of cache, and the most ids.
const LONG: usize = 63;
const LONG_IDS: usize = 15;
/// The longest word that is kept at all.
const LONGEST: usize = 1 << 12;
/// The most bytes of words and ids in the map.
const MOST_ODD_BYTES: usize = 1 << 22;
/// The number of pairs of lines at first, and at most: 4 MB.
const FIRST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 15;
/// In how many lines a word may be.
const PLACES: usize = 8;

#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
struct Line {
    /// The bytes of the word, padded with zeros, and its length.
    key: [u8; LONG + 1],
    ids: [Id; LONG_IDS],
    num_ids: u32,
}

impl Line {
    fn word(&self) -> &[u8] {
        &self.key[..usize::from(self.key[LONG])]
    }
}

const EMPTY: Line = Line {
    key: [0; LONG + 1],
    ids: [0; LONG_IDS],
    num_ids: 0,
};

/// Words with their ids.
#[derive(Debug)]
pub(super) struct LongerWords {
    /// A power of two of them.
    lines: Vec<Line>,
    num_inserted: usize,
    /// Words that do not fit a line, by their hashes; one for each hash.
    odd: HashMap<u64, (Box<[u8]>, Box<[Id]>)>,
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

    /// The hash of a word that is looked up soon; its line is begun to be loaded.
    #[cold]
    #[inline(never)]
    pub(super) fn prefetch(&self, word: &[u8]) -> u64 {
        let hash = hash_word(word);
        if word.len() <= LONG {
            let line = &self.lines[self.line(hash)];
            prefetch(line);
            prefetch(&line.ids[0]);
        }
        hash
    }

    #[inline]
    pub(super) fn find(&self, word: &[u8], hash: u64) -> Option<&[Id]> {
        if word.len() <= LONG {
            let line = self.line(hash);
            for line in (0..PLACES).map(|step| &self.lines[line ^ step]) {
                if line.word() == word {
                    return Some(&line.ids[..line.num_ids as usize]);
                }
                // A word goes to the first line that is free.
                if line.num_ids == 0 {
                    break;
                }
            }
        }
        let odd = self.odd.get(&hash).filter(|odd| *odd.0 == *word);
        odd.map(|(_, ids)| &**ids)
    }

    pub(super) fn insert(&mut self, word: &[u8], hash: u64, ids: &[Id]) {
        if self.find(word, hash).is_some() {
            // It came twice in a batch.
        } else if word.len() <= LONG && ids.len() <= LONG_IDS {
            self.insert_line(word, hash, ids);
        } else if word.len() <= LONGEST {
            self.insert_odd(word, hash, ids);
        }
    }

    fn insert_line(&mut self, word: &[u8], hash: u64, ids: &[Id]) {
        self.num_inserted += 1;
        if self.num_inserted * 2 > self.lines.len() && self.lines.len() < MOST_LINES {
            let larger = filled_in_large_pages(MOST_LINES.min(self.lines.len() * 4), EMPTY);
            for line in std::mem::replace(&mut self.lines, larger) {
                if line.num_ids > 0 {
                    self.place(hash_word(line.word()), line);
                }
            }
        }
        let mut line = EMPTY;
        line.key[..word.len()].copy_from_slice(word);
        line.key[LONG] = word.len() as u8;
        line.ids[..ids.len()].copy_from_slice(ids);
        line.num_ids = ids.len() as u32;
        self.place(hash, line);
    }

    fn place(&mut self, hash: u64, line: Line) {
        let first = self.line(hash);
        let is_free = |&place: &usize| self.lines[place].num_ids == 0;
        let place = (0..PLACES).map(|step| first ^ step).find(is_free);
        self.lines[place.unwrap_or(first)] = line;
    }

    /// The line where a word with this hash is looked for first.
    fn line(&self, hash: u64) -> usize {
        hash as usize & (self.lines.len() - 1)
    }

    fn insert_odd(&mut self, word: &[u8], hash: u64, ids: &[Id]) {
        if self.odd_bytes > MOST_ODD_BYTES {
            self.odd.clear();
            self.odd_bytes = 0;
        }
        self.odd_bytes += word.len() + size_of_val(ids);
        self.odd.insert(hash, (word.into(), ids.into()));
    }
}
