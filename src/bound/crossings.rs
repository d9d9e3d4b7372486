//! Spans of a batch that cross, and what is taken off the losses of both.
//!
//! Of two spans that cross at most one is a token. So a credit may be taken off the losses of both if
//! it is counted once wherever either of their strings is made. Which strings cross, and how much of
//! their credits counts, is told by `tolls`.

use std::ops::Range;

use crate::prices::{Adam, Prices};

/// Two strings that are neighbours in a ring, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PairIndex(pub(super) u32);

impl PairIndex {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Two spans that cross, by their items, which are counted from the first of their piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    pub(super) items: [u32; 2],
    pub(super) pair: PairIndex,
}

/// The crossings of a batch, piece after piece.
#[derive(Debug, Default)]
pub(super) struct Crossings {
    pub(super) all: Vec<Crossing>,
    /// The credit of each.
    pub(super) credits: Prices,
    /// What is taken off the losses of each span, where its price is; empty if nothing crosses.
    allowed: Vec<f32>,
    /// What the credits of each pair sum to, with the weights of the pieces.
    pub(super) of_pairs: Vec<f32>,
    pulls: Vec<f32>,
}

impl Crossings {
    /// Crossings with their credits, in a batch of so many prices.
    pub(super) fn new(
        all: Vec<Crossing>,
        credits: Vec<f32>,
        num_prices: usize,
        num_pairs: usize,
    ) -> Self {
        Self {
            all,
            credits: Prices::new(credits),
            allowed: vec![0.0; num_prices],
            of_pairs: vec![0.0; num_pairs],
            pulls: Vec::new(),
        }
    }

    /// Begin to sum up credits.
    pub(super) fn clear(&mut self) {
        self.of_pairs.fill(0.0);
    }

    /// Sum up the credits of the piece that has these crossings and prices; returns what is taken off
    /// the losses of its spans, if anything crosses.
    pub(super) fn add_up(
        &mut self,
        crossings: Range<usize>,
        prices: Range<usize>,
        weight: f32,
    ) -> Option<&[f32]> {
        if crossings.is_empty() {
            return None;
        }
        let allowed = &mut self.allowed[prices];
        allowed.fill(0.0);
        for index in crossings {
            let (crossing, credit) = (self.all[index], self.credits.values[index]);
            for item in crossing.items {
                allowed[item as usize] += credit;
            }
            self.of_pairs[crossing.pair.at()] += weight * credit;
        }
        Some(allowed)
    }

    /// What is taken off the losses of the spans of a piece, if anything crosses: as it was summed up last.
    pub(super) fn allowed(&self, crossings: &Range<usize>, prices: Range<usize>) -> Option<&[f32]> {
        (!crossings.is_empty()).then(|| &self.allowed[prices])
    }

    /// Move the credits of a piece, given how much each of its spans counts, and each pair.
    pub(super) fn follow(
        &mut self,
        crossings: Range<usize>,
        made: &[f32],
        shares: &[f32],
        adam: Adam,
    ) {
        self.pulls.clear();
        for crossing in &self.all[crossings.clone()] {
            let [one, other] = crossing.items.map(|item| made[item as usize]);
            self.pulls.push(one + other - shares[crossing.pair.at()]);
        }
        self.credits
            .follow_within(crossings, &self.pulls, adam, 0.0, 1.0);
    }
}

/// Call `visit` with the items of two spans that cross, for all spans of a piece that `is_wanted` says,
/// the one that begins first before the other.
pub(super) fn for_each_crossing(
    rows: &[u32],
    is_wanted: impl Fn(usize) -> bool,
    mut visit: impl FnMut([usize; 2]),
) {
    let row = |symbol: usize| (rows[symbol] - rows[0]) as usize;
    for start in 0..rows.len() - 1 {
        for item in (row(start) + 1..row(start + 1)).filter(|&item| is_wanted(item)) {
            let end = start + item - row(start) + 1;
            for inside in start + 1..end {
                // Those that end behind it.
                let others = row(inside) + end - inside..row(inside + 1);
                for other in others.filter(|&other| is_wanted(other)) {
                    visit([item, other]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cross_if_they_overlap_and_none_holds_the_other() {
        // Five symbols, with spans of up to 4, 3, 3, 2 and 1.
        let reaches = [4_u32, 3, 3, 2, 1];
        let mut rows = vec![7];
        let mut spans = Vec::new();
        for (start, reach) in reaches.into_iter().enumerate() {
            spans.extend((1..=reach as usize).map(|length| start..start + length));
            rows.push(rows[start] + reach);
        }
        let is_wanted = |item: usize| spans[item].len() != 3;
        let mut expected = Vec::new();
        for (item, span) in spans.iter().enumerate() {
            for (other, next) in spans.iter().enumerate() {
                let crosses =
                    span.start < next.start && next.start < span.end && span.end < next.end;
                if crosses && is_wanted(item) && is_wanted(other) {
                    expected.push([item, other]);
                }
            }
        }
        let mut found = Vec::new();
        for_each_crossing(&rows, is_wanted, |items| found.push(items));
        assert_eq!(found, expected);
        assert!(!found.is_empty());
    }
}
