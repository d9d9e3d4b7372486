//! Words of any length with their ids.
//!
//! Words of up to 63 bytes and 15 ids have two lines of cache for themselves, others are in an
//! ordinary map. The lines of words follow each other in memory, and groups of eight tell where they
//! are: beside the place of a line there is a byte of the hash of its word, so that hardly any line of
//! another word is loaded.

use std::collections::HashMap;
use std::ops::Range;

use super::shared_words::SharedLonger;
use crate::keys::{KEY, hash_word, with_length};
use crate::merges::Id;
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;

/// The longest word that fits two lines of cache, and the most ids.
const LONG: usize = 63;
pub(super) const LONG_IDS: usize = 15;
/// The longest word that is kept at all.
const LONGEST: usize = 1 << 12;
/// The most bytes of words and ids in the map.
const MOST_ODD_BYTES: usize = 1 << 23;
/// The number of pairs of lines that there is room for at first, and at most: 16 MB.
const FIRST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 17;
/// The most lines of a group.
const GROUP: usize = 8;

/// The bytes of a word, padded with zeros, and in the highest byte its length.
type Key = [u128; (LONG + 1) / KEY];

#[derive(Debug, Clone, Copy)]
#[repr(align(128))]
struct Line {
    key: Key,
    ids: LineIds,
}

/// The ids of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineIds {
    /// The ids, and zeros behind them.
    pub(super) all: [Id; LONG_IDS],
    len: u32,
}

impl LineIds {
    fn new(ids: &[Id]) -> Self {
        let mut all = [0; LONG_IDS];
        all[..ids.len()].copy_from_slice(ids);
        Self {
            all,
            len: ids.len() as u32,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }
}

impl Line {
    /// The key as numbers, of which the last has the length of the word.
    fn shared_key(&self) -> [u64; 8] {
        let halves = self.key.map(|part| [part as u64, (part >> 64) as u64]);
        *halves.as_flattened().first_chunk().expect("four parts")
    }

    /// The ids as numbers, of which the last has their number.
    fn shared_ids(&self) -> [u64; 8] {
        let LineIds { all, len } = self.ids;
        let id = |place: usize| u64::from(*all.get(place).unwrap_or(&len));
        std::array::from_fn(|pair| id(2 * pair + 1) << 32 | id(2 * pair))
    }

    /// The line with these ids.
    fn with_shared(self, ids: [u64; 8]) -> Self {
        let id = |place: usize| (ids[place / 2] >> (32 * (place % 2))) as Id;
        let all = std::array::from_fn(id);
        let ids = LineIds {
            all,
            len: id(LONG_IDS),
        };
        Self { ids, ..self }
    }
}

/// A word that does not fit a line.
#[derive(Debug)]
struct Odd {
    word: Box<[u8]>,
    ids: Box<[Id]>,
}

/// Words with their ids.
#[derive(Debug)]
pub(super) struct LongerWords {
    /// A power of two of them.
    groups: Vec<Group>,
    lines: Vec<Line>,
    /// Words that do not fit a line, by their hashes; one for each hash.
    odd: HashMap<u64, Odd>,
    /// How many bytes those words and their ids have.
    odd_bytes: usize,
    /// Of how many parts of the full size there is one.
    part: usize,
}

impl LongerWords {
    pub(super) fn new() -> Self {
        Self {
            groups: vec![Group::EMPTY; FIRST_LINES / GROUP],
            lines: Vec::with_capacity(FIRST_LINES),
            odd: HashMap::new(),
            odd_bytes: 0,
            part: 1,
        }
    }

    /// How many words have lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Grow to this part of the full size at most.
    pub(super) fn keep_to(&mut self, part: usize) {
        self.part = part;
    }

    /// Begin to load what tells where a word is that is looked up soon.
    #[inline]
    pub(super) fn prefetch_group(&self, hash: u64) {
        prefetch(&self.groups[self.group(hash)]);
    }

    /// The same for the line of the word, once the first is there.
    #[inline]
    pub(super) fn prefetch_line(&self, hash: u64) {
        if let Some(line) = self.lines_like(hash).next() {
            prefetch(line);
            prefetch(&line.ids);
        }
    }

    /// The ids of the word `text[place]`, if it is in a line.
    #[inline]
    pub(super) fn find_line(
        &self,
        text: &[u8],
        place: Range<usize>,
        hash: u64,
    ) -> Option<&LineIds> {
        if place.len() > LONG {
            return None;
        }
        let key = key_at(text, place);
        let line = self
            .lines_like(hash)
            .find(|line| are_equal(&line.key, &key));
        line.map(|line| &line.ids)
    }

    /// The ids of the word `text[place]`, if it is known.
    #[inline]
    pub(super) fn find(&self, text: &[u8], place: Range<usize>, hash: u64) -> Option<&[Id]> {
        if let Some(ids) = self.find_line(text, place.clone(), hash) {
            return Some(&ids.all[..ids.len()]);
        }
        let odd = self.odd.get(&hash);
        let odd = odd.filter(|odd| *odd.word == text[place]);
        odd.map(|odd| &*odd.ids)
    }

    /// The same, also if another thread has found them.
    pub(super) fn find_or_take(
        &mut self,
        text: &[u8],
        place: Range<usize>,
        hash: u64,
        shared: Option<&SharedLonger>,
    ) -> Option<&[Id]> {
        if let Some(shared) = shared
            && place.len() <= LONG
            && self.find_line(text, place.clone(), hash).is_none()
        {
            let line = Line {
                key: key_at(text, place.clone()),
                ids: LineIds::new(&[]),
            };
            if let Some(ids) = shared.find(&line.shared_key(), hash) {
                self.insert_line(line.with_shared(ids), hash);
            }
        }
        self.find(text, place, hash)
    }

    /// The group of a hash.
    fn group(&self, hash: u64) -> usize {
        hash as usize & (self.groups.len() - 1)
    }

    /// The lines of words whose hashes may be this one.
    #[inline]
    fn lines_like(&self, hash: u64) -> impl Iterator<Item = &Line> {
        let group = &self.groups[self.group(hash)];
        let places = group.places(tag(hash));
        places.map(|place| &self.lines[group.lines[place] as usize])
    }

    /// Remember the ids of the word `text[place]`, and share them.
    pub(super) fn insert(
        &mut self,
        text: &[u8],
        place: Range<usize>,
        hash: u64,
        ids: &[Id],
        shared: Option<&SharedLonger>,
    ) {
        if self.find(text, place.clone(), hash).is_some() {
            // It came twice in a batch.
        } else if place.len() <= LONG && ids.len() <= LONG_IDS {
            let line = Line {
                key: key_at(text, place),
                ids: LineIds::new(ids),
            };
            if let Some(shared) = shared {
                shared.insert(&line.shared_key(), hash, &line.shared_ids());
            }
            self.insert_line(line, hash);
        } else if place.len() <= LONGEST {
            self.insert_odd(&text[place], hash, ids);
        }
    }

    fn insert_line(&mut self, line: Line, hash: u64) {
        let index = self.group(hash);
        let group = &mut self.groups[index];
        let num_lines = group.places(0).next().unwrap_or(GROUP);
        if num_lines < GROUP && self.lines.len() < MOST_LINES / self.part {
            group.set(num_lines, tag(hash), self.lines.len());
            self.push(line);
        } else if let Some(place) = ((hash >> 32) as usize).checked_rem(num_lines) {
            let replaced = group.lines[place] as usize;
            group.set(place, tag(hash), replaced);
            self.lines[replaced] = line;
        }
    }

    fn push(&mut self, line: Line) {
        if self.lines.len() == self.lines.capacity() {
            // Memory that is not used yet costs nothing.
            let mut larger = Vec::with_capacity(MOST_LINES);
            prefer_large_pages(&mut larger);
            larger.append(&mut self.lines);
            self.lines = larger;
        }
        self.lines.push(line);
        if self.lines.len() * 2 > self.groups.len() * GROUP {
            self.groups = vec![Group::EMPTY; self.groups.len() * 4];
            for index in 0..self.lines.len() {
                let bytes = self.lines[index].key.map(u128::to_le_bytes);
                let bytes = bytes.as_flattened();
                let hash = hash_word(&bytes[..usize::from(bytes[LONG])]);
                let group = self.group(hash);
                if let Some(place) = self.groups[group].places(0).next() {
                    self.groups[group].set(place, tag(hash), index);
                }
            }
        }
    }

    fn insert_odd(&mut self, word: &[u8], hash: u64, ids: &[Id]) {
        if self.odd_bytes > MOST_ODD_BYTES / self.part {
            self.odd.clear();
            self.odd_bytes = 0;
        }
        self.odd_bytes += word.len() + size_of_val(ids);
        let (word, ids) = (word.into(), ids.into());
        self.odd.insert(hash, Odd { word, ids });
    }
}

/// `MASKS[n]` keeps the first n bytes of a key.
static MASKS: [Key; LONG + 1] = {
    let mut masks = [[0; _]; LONG + 1];
    let mut place = 0;
    while place < (LONG + 1) * LONG {
        let (length, byte) = (place / LONG, place % LONG);
        if byte < length {
            masks[length][byte / KEY] |= 0xFF << (8 * (byte % KEY));
        }
        place += 1;
    }
    masks
};

/// The key of the word `text[place]`.
#[inline]
fn key_at(text: &[u8], place: Range<usize>) -> Key {
    let bytes = match text[place.start..].first_chunk() {
        Some(bytes) => *bytes,
        None => padded(&text[place.clone()]),
    };
    let mut key = [0; _];
    let chunks = bytes.as_chunks::<KEY>().0.iter().zip(&MASKS[place.len()]);
    for (part, (&chunk, mask)) in key.iter_mut().zip(chunks) {
        *part = u128::from_le_bytes(chunk) & mask;
    }
    key[key.len() - 1] |= with_length(place.len());
    key
}

// Written out, or it is a call.
#[inline]
fn are_equal(left: &Key, right: &Key) -> bool {
    let parts = left.iter().zip(right);
    parts.fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

/// The bytes of a word near the end of the text.
#[cold]
#[inline(never)]
fn padded(word: &[u8]) -> [u8; LONG + 1] {
    let mut bytes = [0; _];
    bytes[..word.len()].copy_from_slice(word);
    bytes
}

/// A byte of a hash that its group does not depend on; 0 stands for no word.
fn tag(hash: u64) -> u8 {
    ((hash >> 56) as u8).max(1)
}

/// Where the lines of some words are.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Group {
    /// A byte for each line, from the lowest on.
    tags: u64,
    lines: [u32; GROUP],
}

impl Group {
    const EMPTY: Self = Self {
        tags: 0,
        lines: [0; GROUP],
    };
    const ONES: u64 = u64::MAX / 0xFF;

    /// The places with this tag, and maybe others behind the first of them.
    #[inline]
    fn places(&self, tag: u8) -> impl Iterator<Item = usize> + use<> {
        let different = self.tags ^ (Self::ONES * u64::from(tag));
        // The highest bit of each byte that is 0, and of some 1 behind those.
        let mut bits = different.wrapping_sub(Self::ONES) & !different & Self::ONES << 7;
        std::iter::from_fn(move || {
            let place = bits.trailing_zeros() as usize / 8;
            bits &= bits.wrapping_sub(1);
            (place < GROUP).then_some(place)
        })
    }

    fn set(&mut self, place: usize, tag: u8, line: usize) {
        self.tags &= !(0xFF << (8 * place));
        self.tags |= u64::from(tag) << (8 * place);
        self.lines[place] = line as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_stand() {
        let text: Vec<u8> = (0..200).collect();
        let mut words = LongerWords::new();
        let places = |length: usize| [0, 1, 100, text.len() - length].map(|at| at..at + length);
        for place in (0..=LONG + 9).flat_map(places) {
            let hash = hash_word(&text[place.clone()]);
            let ids = [place.start as Id, place.len() as Id];
            words.insert(&text, place.clone(), hash, &ids, None);
            let word = &text[place.clone()];
            for (text, place) in [(&*text, place.clone()), (word, 0..word.len())] {
                let expected: &[Id] = if word.is_empty() { &[0, 0] } else { &ids };
                assert_eq!(words.find(text, place, hash), Some(expected));
            }
        }
    }
}
