//! Strings that overlap themselves inside a piece, as `aa` does in `aaa`.
//!
//! Tokens of one string are disjoint, so that of overlapping places only the heaviest disjoint ones
//! count. Few pieces hold any.

use std::ops::{Add, Range};

use super::naming::NONE;

/// A place of a string: its first symbol and its item, both counted from the first of its piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) item: u32,
}

/// Places of one string in one piece, each overlapping the next.
#[derive(Debug)]
struct Group {
    length: u32,
    places: Range<usize>,
}

/// The overlaps of some pieces.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    places: Vec<Place>,
    groups: Vec<Group>,
    /// Which piece, counted by the caller, has which groups.
    pieces: Vec<(usize, Range<usize>)>,
}

impl Overlaps {
    /// Add the overlaps of a piece, given its rows and the names in them.
    pub(super) fn add(&mut self, piece: usize, rows: &[u32], names: &[u32]) {
        let mut found = overlapping(rows, names);
        if found.is_empty() {
            return;
        }
        found.sort_unstable();
        found.dedup();
        let first = self.groups.len();
        let mut last: Option<(u32, Place)> = None;
        for &(name, length, place) in &found {
            let is_next = last.is_some_and(|(other, before)| {
                other == name && place.start < before.start + length
            });
            let start = self.places.len();
            self.places.push(place);
            match self.groups.last_mut() {
                Some(group) if is_next => group.places.end = start + 1,
                _ => self.groups.push(Group {
                    length,
                    places: start..start + 1,
                }),
            }
            last = Some((name, place));
        }
        self.pieces.push((piece, first..self.groups.len()));
    }

    /// The pieces that have overlaps, in the order in which they were added.
    pub(super) fn pieces(&self) -> &[(usize, Range<usize>)] {
        &self.pieces
    }

    /// Call `drop` for each item of `groups` that is not among the heaviest disjoint ones.
    pub(super) fn drop_lighter<T>(
        &self,
        groups: Range<usize>,
        weigh: impl Fn(usize) -> T,
        mut drop: impl FnMut(usize),
    ) where
        T: Copy + Default + PartialOrd + Add<Output = T>,
    {
        for group in &self.groups[groups] {
            let places = &self.places[group.places.clone()];
            let is_chosen = heaviest(places, group.length, &weigh);
            for (place, is_chosen) in places.iter().zip(is_chosen) {
                if !is_chosen {
                    drop(place.item as usize);
                }
            }
        }
    }
}

/// The places of strings that overlap another place of the same string: name, length, place.
fn overlapping(rows: &[u32], names: &[u32]) -> Vec<(u32, u32, Place)> {
    let row = |start: usize| {
        &names[(rows[start] - rows[0]) as usize..(rows[start + 1] - rows[0]) as usize]
    };
    let mut found = Vec::new();
    for start in 0..rows.len() - 1 {
        let ours = row(start);
        for distance in 1..ours.len() {
            // Equal strings longer than their distance overlap.
            let theirs = row(start + distance);
            let longer = ours.iter().zip(theirs).enumerate().skip(distance);
            for (index, (&name, _)) in longer.take_while(|(_, (a, b))| a == b && **a != NONE) {
                for place in [start, start + distance] {
                    let item = rows[place] - rows[0] + index as u32;
                    let place = Place {
                        start: place as u32,
                        item,
                    };
                    found.push((name, index as u32 + 1, place));
                }
            }
        }
    }
    found
}

/// Which of the places, all of one length, weigh most among disjoint ones.
fn heaviest<T>(places: &[Place], length: u32, weigh: &impl Fn(usize) -> T) -> Vec<bool>
where
    T: Copy + Default + PartialOrd + Add<Output = T>,
{
    // best[i]: of the first i places. before[i]: how many end where place i begins, or earlier.
    let mut best: Vec<T> = vec![T::default()];
    let mut before: Vec<usize> = Vec::with_capacity(places.len());
    let mut free = 0;
    for (index, place) in places.iter().enumerate() {
        while places[free].start + length <= place.start {
            free += 1;
        }
        let with = best[free] + weigh(place.item as usize);
        before.push(free);
        let without = best[index];
        best.push(if with > without { with } else { without });
    }
    let mut is_chosen = vec![false; places.len()];
    let mut index = places.len();
    while index > 0 {
        if best[index] > best[index - 1] {
            is_chosen[index - 1] = true;
            index = before[index - 1];
        } else {
            index -= 1;
        }
    }
    is_chosen
}
