//! Pieces in which every span has a price, each split of a string on its own.
//!
//! A merge list cuts a string into the same two parts wherever it is made, so that a string loses as
//! much as its largest split does. A split that counts pulls the prices of its spans up and those of
//! their two parts down. Items are counted from the first of the piece.

use std::ops::Range;

use crate::prices::{StringIndex, ramp, smooth_plus};

/// How much each split counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct SplitShares<'a> {
    pub(super) splits: &'a [f32],
    /// Over which width corners are smoothed.
    pub(super) width: f32,
}

/// A piece.
#[derive(Clone, Copy)]
pub(super) struct Spans<'a> {
    pub(super) rows: &'a [u32],
    pub(super) strings: &'a [StringIndex],
    /// Where the splits of each string begin, and where the last end.
    pub(super) begins: &'a [u32],
    pub(super) prices: &'a [f32],
    /// If some overlap another of the same string: -infinity for those that do not count.
    pub(super) excess: Option<&'a [f32]>,
    /// What is taken off the losses of spans, if some cross.
    pub(super) allowed: Option<&'a [f32]>,
}

/// A span and its parts.
pub(super) struct Span<'a> {
    pub(super) item: usize,
    pub(super) string: StringIndex,
    /// The left parts, the shortest first.
    lefts: Range<usize>,
    /// Where the rows of the right parts begin.
    rights: &'a [u32],
}

impl<'a> Spans<'a> {
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(Span<'a>)) {
        let base = self.rows[0];
        for start in 0..self.rows.len() - 1 {
            let row = (self.rows[start] - base) as usize;
            for item in row + 1..(self.rows[start + 1] - base) as usize {
                if self
                    .excess
                    .is_none_or(|excess| excess[item] > f32::NEG_INFINITY)
                {
                    visit(Span {
                        item,
                        string: self.strings[item],
                        lefts: row..item,
                        rights: &self.rows[start + 1..],
                    });
                }
            }
        }
    }

    /// Call `visit(left, right, excess)` for each cut of a span: the items of the parts, and what they
    /// cost more than it does.
    #[inline]
    pub(super) fn for_each_cut(&self, span: &Span, mut visit: impl FnMut(usize, usize, f32)) {
        let allowed = self.allowed.map_or(0.0, |allowed| allowed[span.item]);
        let ours = self.prices[span.item] + allowed;
        for (left, &right) in span.lefts.clone().zip(span.rights) {
            let right = (right - self.rows[0]) as usize + span.item - left - 1;
            visit(left, right, self.prices[left] + self.prices[right] - ours);
        }
    }
}

/// Add what the splits of a piece lose.
pub(super) fn weigh(spans: Spans, weight: f32, width: f32, losses: &mut [f32]) {
    spans.for_each(|span| {
        let first = spans.begins[span.string.at()] as usize;
        let mut ours = losses[first..].iter_mut();
        spans.for_each_cut(&span, |_, _, excess| {
            if let Some(loss) = ours.next() {
                *loss += weight * smooth_plus(excess, width);
            }
        });
    });
}

/// The pulls on the prices; and how much each span counts, if some cross.
pub(super) fn pull(spans: Spans, shares: SplitShares, pulls: &mut Vec<f32>, made: &mut Vec<f32>) {
    made.clear();
    if spans.allowed.is_some() {
        made.resize(spans.strings.len(), 0.0);
    }
    pulls.clear();
    pulls.resize(spans.strings.len(), 0.0);
    for row in &spans.rows[..spans.rows.len() - 1] {
        pulls[(row - spans.rows[0]) as usize] = 1.0;
    }
    let steepness = 1.0 / shares.width;
    spans.for_each(|span| {
        let string = span.string.at();
        let range = spans.begins[string] as usize..spans.begins[string + 1] as usize;
        let mut shares = shares.splits[range].iter();
        let mut sum = 0.0;
        spans.for_each_cut(&span, |left, right, excess| {
            let share = shares.next().copied().unwrap_or(0.0);
            if share > 0.0 {
                let pulled = share * ramp(excess * steepness);
                sum += pulled;
                pulls[left] -= pulled;
                pulls[right] -= pulled;
            }
        });
        pulls[span.item] += sum;
        if let Some(made) = made.get_mut(span.item) {
            *made = sum;
        }
    });
}
