//! Short words with a few ids each, two in a line of cache.

use crate::keys;
use crate::merges::Id;
use crate::pages::filled_in_large_pages;
use crate::prefetch::prefetch;

/// The most ids of an entry: two as they are, and others if they are small.
pub(super) const MOST_PACKED: usize = 2 + 8;
/// The number of lines at first, and at most: 16 MB.
const FIRST_LINES: usize = 1 << 10;
const MOST_LINES: usize = 1 << 18;
/// So many lines become twice as many at once, fewer four times.
const LARGE: usize = 1 << 16;
/// A word whose line is full goes to one of the lines whose numbers differ from it by at most this.
const FARTHEST: usize = 7;

/// A few ids: the first two as they are, the others in as many bits as the largest id has.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Packed {
    first: [Id; 2],
    /// The number of ids in the highest byte; the third and so on from the lowest bit up.
    rest: u64,
}

impl Packed {
    /// Stands for ids that do not fit and are kept elsewhere.
    pub(super) const ELSEWHERE: Self = Self {
        first: [0; 2],
        rest: u64::MAX,
    };

    fn len(self) -> usize {
        (self.rest >> 56) as usize
    }

    /// None if the ids, of at most `bits` bits, do not fit.
    pub(super) fn new(ids: &[Id], bits: u32) -> Option<Self> {
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

    /// The same as two numbers, of which the second is 0 only without ids.
    pub(super) fn to_shared(self) -> [u64; 2] {
        let [first, second] = self.first.map(u64::from);
        [second << 32 | first, self.rest]
    }

    /// The ids of these two numbers.
    pub(super) fn from_shared([first, rest]: [u64; 2]) -> Self {
        Self {
            first: [first as Id, (first >> 32) as Id],
            rest,
        }
    }

    /// Write the ids, and maybe one behind them, to a buffer from `at` on; returns where they end,
    /// or None if they are kept elsewhere.
    #[inline]
    pub(super) fn write(self, buffer: &mut [Id], at: usize, bits: u32) -> Option<usize> {
        buffer[at..at + 2].copy_from_slice(&self.first);
        let end = at + self.len();
        if self.len() > 2 {
            if self.rest == Self::ELSEWHERE.rest {
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
struct Line {
    keys: [u128; 2],
    values: [Packed; 2],
}

impl Line {
    fn is_full(&self) -> bool {
        !self.keys.contains(&0)
    }
}

/// Entries of short words by their keys.
#[derive(Debug)]
pub(super) struct ShortLines {
    /// A power of two of them.
    lines: Vec<Line>,
    num_inserted: usize,
    /// A power of two.
    most_lines: usize,
}

impl ShortLines {
    pub(super) fn new() -> Self {
        Self {
            lines: vec![Line::default(); FIRST_LINES],
            num_inserted: 0,
            most_lines: MOST_LINES,
        }
    }

    /// How many words were added.
    pub(super) fn len(&self) -> usize {
        self.num_inserted
    }

    /// Grow to this part of the full size at most.
    pub(super) fn keep_to(&mut self, part: usize) {
        self.most_lines = MOST_LINES >> part.next_power_of_two().ilog2();
    }

    /// The line where a key with this hash is looked for.
    #[inline]
    fn line(&self, hash: u64) -> usize {
        hash as usize & (self.lines.len() - 1)
    }

    /// Begin to load the line of a hash that is looked up soon.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.lines[self.line(hash)]);
    }

    /// The entry of a key that comes first in its line.
    #[inline]
    pub(super) fn first(&self, key: u128, hash: u64) -> Option<&Packed> {
        let line = &self.lines[self.line(hash)];
        (line.keys[0] == key).then_some(&line.values[0])
    }

    /// The entry of a key that does not come first in its line: from there, or from a line near to
    /// it if those before are full.
    #[inline(never)]
    pub(super) fn find_further(&mut self, key: u128, hash: u64) -> Option<&Packed> {
        let line = self.line(hash);
        if self.lines[line].keys[1] == key {
            let near = &mut self.lines[line];
            // The more frequent word comes first, and stays when a new one comes.
            near.keys.swap(0, 1);
            near.values.swap(0, 1);
            return Some(&near.values[0]);
        }
        let mut is_full = self.lines[line].is_full();
        for step in 1..=FARTHEST {
            if !is_full {
                return None;
            }
            let far = &self.lines[line ^ step];
            if let Some(place) = far.keys.iter().position(|&other| other == key) {
                return Some(&far.values[place]);
            }
            is_full = far.is_full();
        }
        None
    }

    /// Add an entry, unless the key has one.
    pub(super) fn insert(&mut self, key: u128, hash: u64, value: Packed) {
        if self.num_inserted > self.lines.len() && self.lines.len() < self.most_lines {
            let times = if self.lines.len() < LARGE { 4 } else { 2 };
            let num_lines = (self.lines.len() * times).min(self.most_lines);
            let larger = filled_in_large_pages(num_lines, Line::default());
            for line in std::mem::replace(&mut self.lines, larger) {
                for (key, value) in line.keys.into_iter().zip(line.values) {
                    if key != 0 {
                        self.place(key, keys::hash(key), value);
                    }
                }
            }
        }
        self.num_inserted += usize::from(self.place(key, hash, value));
    }

    /// Put an entry into the first free place, or else in place of another one; false if the key has
    /// one.
    fn place(&mut self, key: u128, hash: u64, value: Packed) -> bool {
        let first = self.line(hash);
        let mut place = (first, 1);
        'lines: for step in 0..=FARTHEST {
            let line = first ^ step;
            // In lines near to it the first place is left to their own words.
            for index in [usize::from(step > 0), usize::from(step == 0)] {
                let other = self.lines[line].keys[index];
                if other == key {
                    return false;
                }
                if other == 0 {
                    place = (line, index);
                    break 'lines;
                }
            }
        }
        let line = &mut self.lines[place.0];
        line.keys[place.1] = key;
        line.values[place.1] = value;
        true
    }
}
