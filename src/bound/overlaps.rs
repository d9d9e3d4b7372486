//! Strings that overlap themselves inside a piece, as `aa` does in `aaa`.
//!
//! Tokens of one string are disjoint, so that of overlapping spans only the heaviest disjoint ones
//! count. Few pieces hold any.

use std::ops::{Add, Range};

use crate::prices::{StringIndex, heaviest_disjoint};

/// A span of a string: its first symbol and its item, both counted from the first of its piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: u32,
    item: u32,
}

/// Spans of one string in one piece, each overlapping the next.
#[derive(Debug)]
struct Group {
    length: u32,
    spans: Range<usize>,
}

/// The overlaps of some pieces.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    spans: Vec<Span>,
    groups: Vec<Group>,
}

impl Overlaps {
    /// Add the overlaps of a piece, given its rows and the strings in them; the groups of the piece.
    pub(super) fn add(&mut self, rows: &[u32], strings: &[StringIndex]) -> Range<u32> {
        let mut found = overlapping(rows, strings);
        found.sort_unstable();
        found.dedup();
        let first = self.groups.len() as u32;
        let mut last: Option<(StringIndex, Span)> = None;
        for &(string, length, span) in &found {
            let is_next = last.is_some_and(|(other, before)| {
                other == string && span.start < before.start + length
            });
            let index = self.spans.len();
            self.spans.push(span);
            match self.groups.last_mut() {
                Some(group) if is_next => group.spans.end = index + 1,
                _ => self.groups.push(Group {
                    length,
                    spans: index..index + 1,
                }),
            }
            last = Some((string, span));
        }
        first..self.groups.len() as u32
    }

    /// Call `visit(item, weigh_disjoint)` for each of `groups`, with one of its items; given what a span
    /// weighs, by its first symbol and its item, `weigh_disjoint` is the most that disjoint ones do.
    pub(super) fn for_each_group<T>(
        &self,
        groups: Range<usize>,
        mut visit: impl FnMut(usize, &dyn Fn(&dyn Fn(usize, usize) -> T) -> T),
    ) where
        T: Copy + Default + PartialOrd + Add<Output = T>,
    {
        for group in &self.groups[groups] {
            let spans = &self.spans[group.spans.clone()];
            let weigh_disjoint = |weigh: &dyn Fn(usize, usize) -> T| {
                let weigh = |span: &Span| weigh(span.start as usize, span.item as usize);
                heaviest_disjoint(spans, group.length, |span| span.start, weigh).0
            };
            visit(spans[0].item as usize, &weigh_disjoint);
        }
    }

    /// The items of `groups`.
    pub(super) fn items(&self, groups: Range<usize>) -> impl Iterator<Item = usize> {
        let groups = self.groups[groups].iter();
        let spans = groups.flat_map(|group| &self.spans[group.spans.clone()]);
        spans.map(|span| span.item as usize)
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
            let spans = &self.spans[group.spans.clone()];
            let weigh = |span: &Span| weigh(span.item as usize);
            let (_, is_chosen) = heaviest_disjoint(spans, group.length, |span| span.start, weigh);
            for (span, is_chosen) in spans.iter().zip(is_chosen) {
                if !is_chosen {
                    drop(span.item as usize);
                }
            }
        }
    }
}

/// The spans that overlap another span of the same string: string, length, span.
fn overlapping(rows: &[u32], strings: &[StringIndex]) -> Vec<(StringIndex, u32, Span)> {
    let row = |start: usize| {
        &strings[(rows[start] - rows[0]) as usize..(rows[start + 1] - rows[0]) as usize]
    };
    let mut found = Vec::new();
    for start in 0..rows.len() - 1 {
        let ours = row(start);
        for distance in 1..ours.len() {
            // Equal strings longer than their distance overlap.
            let theirs = row(start + distance);
            let longer = ours.iter().zip(theirs).enumerate().skip(distance);
            let equal = longer.take_while(|(_, (a, b))| a == b && **a != StringIndex::NONE);
            for (index, (&string, _)) in equal {
                for start in [start, start + distance] {
                    let span = Span {
                        start: start as u32,
                        item: rows[start] - rows[0] + index as u32,
                    };
                    found.push((string, index as u32 + 1, span));
                }
            }
        }
    }
    found
}
