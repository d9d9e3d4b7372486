//! Strings that are too long for a price, but frequent: their maximal repeats.
//!
//! What such a string loses is summed over its places, and grows with the spans (`long`). A string
//! whose places all have the same neighbour loses no more than the longer one with that neighbour, so
//! that only repeats with different neighbours on both sides matter: few, where a long string has
//! very many strings in it. If all places of a string have the same left neighbour, so have those of
//! every string that it begins, and the search ends there.

use rustc_hash::FxHashMap;

use super::frequent::FrequentStrings;
use super::words::Words;
use crate::error::Result;
use crate::watch::Watch;

/// How many places are looked at: for each symbol, and in any case. Strings beyond, and those
/// longer than `LONGEST_COUNTED`, are taken to occur as often as their beginnings.
const PLACES_OF_A_SYMBOL: usize = 20;
const ROOM_FOR_PLACES: usize = 20_000_000;
const LONGEST_COUNTED: usize = 10_000;

/// A place of a repeat, counted in symbols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) length: u32,
    /// Which repeat it is, from 0.
    pub(super) repeat: u32,
}

/// The maximal repeats of some pieces.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// Ascending.
    pub(super) places: Vec<Place>,
    pub(super) num_strings: usize,
    /// No longer string was looked at.
    pub(super) counted: usize,
    /// How often a longer string occurs at most.
    pub(super) too_long: u64,
}

/// The maximal repeats that have at least `length` symbols and occur more than `floor` times, given
/// the strings of exactly that length.
pub(super) fn find(
    pieces: &Words,
    frequent: FrequentStrings,
    length: usize,
    floor: u64,
    watch: &Watch,
) -> Result<Repeats> {
    let mut room = PLACES_OF_A_SYMBOL * pieces.symbols.len() + ROOM_FOR_PLACES;
    let mut repeats = Repeats {
        counted: length - 1,
        ..Repeats::default()
    };
    let mut same = SameLength::of(pieces, frequent, length);
    loop {
        watch.check()?;
        same.keep(|group| group.left == Neighbour::Different && group.count > floor);
        let is_too_much = same.places.len() > room || repeats.counted == LONGEST_COUNTED;
        if same.places.is_empty() || is_too_much {
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
    fn record(&mut self, same: &SameLength, length: usize) {
        let repeats = number(&same.groups, |group| group.right == Neighbour::Different);
        let first = self.num_strings as u32;
        self.num_strings += repeats.iter().flatten().count();
        for &(start, group) in &same.places {
            if let Some(repeat) = repeats[group as usize] {
                self.places.push(Place {
                    start,
                    length: length as u32,
                    repeat: first + repeat,
                });
            }
        }
    }
}

/// The groups that `is_kept` says, numbered from 0.
fn number(groups: &[Group], is_kept: impl Fn(&Group) -> bool) -> Vec<Option<u32>> {
    let mut next = 0..;
    let number = |group| is_kept(group).then(|| next.next()).flatten();
    groups.iter().map(number).collect()
}

/// The symbol beside the places of a string.
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

/// The places of one string.
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

/// Strings of one length.
struct SameLength {
    /// The symbols at which they begin, ascending, each with its group.
    places: Vec<(u32, u32)>,
    groups: Vec<Group>,
}

impl SameLength {
    fn of(pieces: &Words, frequent: FrequentStrings, length: usize) -> Self {
        let groups = vec![NEW; frequent.num_strings()];
        let strings = frequent.strings.into_iter().map(|string| string.0);
        let mut same = Self {
            places: frequent.places.into_iter().zip(strings).collect(),
            groups,
        };
        same.look_around(pieces, length);
        same
    }

    /// Count the strings, and look at their neighbours.
    fn look_around(&mut self, pieces: &Words, length: usize) {
        let mut piece = 0;
        for &(start, group) in &self.places {
            let start = start as usize;
            piece += pieces.ends[piece..].partition_point(|&end| end <= start);
            let first = piece.checked_sub(1).map_or(0, |before| pieces.ends[before]);
            let (left, right) = pieces.symbols[first..pieces.ends[piece]].split_at(start - first);
            let group = &mut self.groups[group as usize];
            group.count = group.count.saturating_add(pieces.counts[piece]);
            group.left.add(left.last());
            group.right.add(right.get(length));
        }
    }

    /// Keep the strings that `is_kept` says, numbered from 0.
    fn keep(&mut self, is_kept: impl Fn(&Group) -> bool) {
        let numbers = number(&self.groups, &is_kept);
        self.groups.retain(is_kept);
        self.places.retain_mut(|(_, group)| {
            let number = numbers[*group as usize];
            *group = number.unwrap_or_default();
            number.is_some()
        });
    }

    /// The strings with one symbol more than these, which have `length`.
    fn extended(self, pieces: &Words, length: usize) -> Self {
        let mut longer = Self {
            places: Vec::with_capacity(self.places.len()),
            groups: Vec::new(),
        };
        let mut groups: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut piece = 0;
        for (start, group) in self.places {
            let next = start as usize + length;
            piece += pieces.ends[piece..].partition_point(|&end| end < next);
            if pieces.ends[piece] == next {
                continue;
            }
            let new = longer.groups.len() as u32;
            let key = (group, pieces.symbols[next]);
            let group = *groups.entry(key).or_insert(new);
            if group == new {
                longer.groups.push(NEW);
            }
            longer.places.push((start, group));
        }
        longer.look_around(pieces, length + 1);
        longer
    }
}
