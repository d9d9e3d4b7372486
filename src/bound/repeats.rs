//! Strings that are too long for a price, but frequent: their maximal repeats.
//!
//! What such a string loses is summed over its places, and grows with the spans (`long`). A string all
//! of whose places have the same neighbour loses no more than the longer one with that neighbour, so
//! that only repeats with different neighbours on both sides need a look: few, where a long string
//! has very many strings in it. If all places of a string have the same left neighbour, so have those
//! of every string that it begins, and the search ends there.

use rustc_hash::FxHashMap;

use super::naming::{Level, NONE};
use super::words::Words;
use crate::error::Result;
use crate::watch::Watch;

/// As many places are looked at, of strings up to this length. The strings beyond count as often as
/// their beginnings occur.
const PLACES_OF_A_SYMBOL: usize = 20;
const ROOM_FOR_PLACES: usize = 20_000_000;
const LONGEST_COUNTED: usize = 10_000;

/// A place of a repeat, counted in symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) length: u32,
    /// Which repeat it is.
    pub(super) number: u32,
}

/// The maximal repeats of some pieces.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Ascending.
    pub(super) places: Vec<Place>,
    /// How many there are.
    pub(super) number: usize,
    /// No longer string was looked at.
    pub(super) counted: usize,
    /// How often a longer one occurs at most.
    pub(super) too_long: u64,
}

/// The maximal repeats that have at least `length` symbols and occur more than `floor` times, given
/// all strings of that length that do.
pub(super) fn find(
    pieces: &Words,
    level: Level,
    length: usize,
    floor: u64,
    watch: &Watch,
) -> Result<Repeats> {
    let mut room = PLACES_OF_A_SYMBOL * pieces.symbols().len() + ROOM_FOR_PLACES;
    let mut repeats = Repeats {
        counted: length - 1,
        ..Repeats::default()
    };
    let mut same = Same::of(pieces, level, length);
    loop {
        watch.check()?;
        same.keep(|group| group.left == Neighbour::Different && group.count > floor);
        if same.places.is_empty() {
            repeats.places.sort_unstable();
            return Ok(repeats);
        }
        if same.places.len() > room || repeats.counted == LONGEST_COUNTED {
            let counts = same.groups.iter().map(|group| group.count);
            repeats.too_long = counts.max().unwrap_or(0);
            repeats.places.sort_unstable();
            return Ok(repeats);
        }
        room -= same.places.len();
        repeats.counted += 1;
        repeats.record(&same, repeats.counted);
        same = same.extended(pieces, repeats.counted);
    }
}

impl Repeats {
    /// Record the strings that have different neighbours on the right.
    fn record(&mut self, same: &Same, length: usize) {
        let mut numbers = Vec::with_capacity(same.groups.len());
        for group in &same.groups {
            let is_maximal = group.right == Neighbour::Different;
            numbers.push(if is_maximal { self.number as u32 } else { NONE });
            self.number += usize::from(is_maximal);
        }
        for &(start, name) in &same.places {
            let number = numbers[name as usize];
            if number != NONE {
                self.places.push(Place {
                    start,
                    length: length as u32,
                    number,
                });
            }
        }
    }
}

/// What is beside the places of a string.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Unknown,
    Always(u32),
    /// Several symbols, or the end of a piece.
    Different,
}

impl Neighbour {
    fn add(&mut self, symbol: Option<&u32>) {
        *self = match (*self, symbol) {
            (Self::Unknown, Some(&symbol)) => Self::Always(symbol),
            (Self::Always(other), Some(&symbol)) if other == symbol => Self::Always(symbol),
            _ => Self::Different,
        };
    }
}

#[derive(Clone, Copy)]
struct Group {
    count: u64,
    left: Neighbour,
    right: Neighbour,
}

const NEW: Group = Group {
    count: 0,
    left: Neighbour::Unknown,
    right: Neighbour::Unknown,
};

/// Strings of one length: where they are, in ascending order, with their names.
struct Same {
    places: Vec<(u32, u32)>,
    groups: Vec<Group>,
}

impl Same {
    fn of(pieces: &Words, level: Level, length: usize) -> Self {
        let mut same = Self {
            places: level.places.into_iter().zip(level.names).collect(),
            groups: vec![NEW; level.num_names],
        };
        same.look_around(pieces, length);
        same
    }

    /// Count the strings, and look at their neighbours.
    fn look_around(&mut self, pieces: &Words, length: usize) {
        let mut piece = 0;
        for &(start, name) in &self.places {
            let start = start as usize;
            piece += pieces.ends()[piece..].partition_point(|&end| end <= start);
            let first = if piece == 0 {
                0
            } else {
                pieces.ends()[piece - 1]
            };
            let symbols = &pieces.symbols()[first..pieces.ends()[piece]];
            let group = &mut self.groups[name as usize];
            group.count = group.count.saturating_add(pieces.counts()[piece]);
            let before = (start - first).checked_sub(1);
            group.left.add(before.map(|before| &symbols[before]));
            group.right.add(symbols.get(start - first + length));
        }
    }

    /// Keep some of the strings, and name them anew.
    fn keep(&mut self, is_kept: impl Fn(&Group) -> bool) {
        let mut names = vec![NONE; self.groups.len()];
        let mut kept = Vec::new();
        for (name, group) in names.iter_mut().zip(&self.groups) {
            if is_kept(group) {
                *name = kept.len() as u32;
                kept.push(*group);
            }
        }
        self.groups = kept;
        self.places.retain_mut(|(_, name)| {
            *name = names[*name as usize];
            *name != NONE
        });
    }

    /// The strings with one symbol more; those of now have `length`.
    fn extended(self, pieces: &Words, length: usize) -> Self {
        let mut longer = Self {
            places: Vec::with_capacity(self.places.len()),
            groups: Vec::new(),
        };
        let mut names: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut piece = 0;
        for (start, name) in self.places {
            let next = start as usize + length;
            piece += pieces.ends()[piece..].partition_point(|&end| end < next);
            if pieces.ends()[piece] == next {
                continue;
            }
            let new = longer.groups.len() as u32;
            let key = (name, pieces.symbols()[next]);
            let name = *names.entry(key).or_insert(new);
            if name == new {
                longer.groups.push(NEW);
            }
            longer.places.push((start, name));
        }
        longer.look_around(pieces, length + 1);
        longer
    }
}
