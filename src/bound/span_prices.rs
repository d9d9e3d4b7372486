//! Pieces in which every span has a price.
//!
//! The loss of a span is what its dearest two parts cost more than it does. A span that counts pulls
//! its own price up and the prices of its dearest parts down. The spans that begin at a symbol are
//! worked on side by side, a block of lengths at a time: the right parts of a cut lie in one row.
//! Items are counted from the first of the piece.

// The loops over cuts take most of the time of a step, and several times as long without inlining.
#![allow(clippy::inline_always)]

use super::batch::LANES;
use crate::prices::{SpanShares, StringIndex, ramp};

type Lanes = [f32; LANES];

/// From `LANES - n` on: -infinity for the first n lanes, 0 for the others.
const MASKS: [f32; 2 * LANES] = [OUT, OUT, OUT, OUT, 0.0, 0.0, 0.0, 0.0];
const OUT: f32 = f32::NEG_INFINITY;

/// The spans of the lengths `first + 2`, `first + 3`, ... that begin at the first of some rows.
#[derive(Clone, Copy)]
struct Block<'a> {
    rows: &'a [u32],
    /// The first row of the piece.
    base: u32,
    first: usize,
    /// The length of the longest span.
    reach: usize,
}

impl Block<'_> {
    fn row(&self) -> usize {
        (self.rows[0] - self.base) as usize
    }

    /// The item of the first span.
    fn at(&self) -> usize {
        self.row() + self.first + 1
    }

    /// Call `visit(left, right, mask)` for each cut: the item of the left part, the first of the
    /// items of the right parts, and -infinity to add to those lanes where the cut is not inside.
    #[inline(always)]
    fn for_each_cut(&self, mut visit: impl FnMut(usize, usize, Option<&Lanes>)) {
        let last = (self.reach - 1).min(self.first + LANES);
        let num_whole = last.min(self.first + 1);
        let row = self.row();
        for (cut, &right) in (1..).zip(&self.rows[1..=num_whole]) {
            let right = (right - self.base) as usize;
            visit(row + cut - 1, right + self.first + 1 - cut, None);
        }
        for (cut, &right) in (num_whole + 1..).zip(&self.rows[num_whole + 1..=last]) {
            let masked = cut - self.first - 1;
            let mask = MASKS[LANES - masked..].first_chunk::<LANES>();
            let right = (right - self.base) as usize;
            visit(row + cut - 1, right + self.first + 1 - cut, mask);
        }
    }
}

/// Call `visit` for each block of the spans of a piece.
#[inline(always)]
fn for_each_block(rows: &[u32], mut visit: impl FnMut(Block)) {
    for start in 0..rows.len() - 1 {
        let reach = (rows[start + 1] - rows[start]) as usize;
        let mut first = 0;
        while first + 1 < reach {
            visit(Block {
                rows: &rows[start..],
                base: rows[0],
                first,
                reach,
            });
            first += LANES;
        }
    }
}

#[inline(always)]
fn lanes(items: &[f32], at: usize) -> &Lanes {
    items[at..].first_chunk().unwrap_or(&[0.0; LANES])
}

#[inline(always)]
fn parts_of(prices: &[f32], left: usize, right: usize, mask: Option<&Lanes>) -> Lanes {
    let left = prices[left];
    let right = lanes(prices, right);
    let mut parts = [0.0; LANES];
    match mask {
        None => {
            for lane in 0..LANES {
                parts[lane] = left + right[lane];
            }
        }
        Some(mask) => {
            for lane in 0..LANES {
                parts[lane] = left + right[lane] + mask[lane];
            }
        }
    }
    parts
}

/// What the dearest parts of each span cost more than it does; -infinity for the symbols.
pub(super) fn find_excess(rows: &[u32], prices: &[f32], excess: &mut [f32]) {
    for_each_block(rows, |block| {
        let mut dearest = [f32::NEG_INFINITY; LANES];
        block.for_each_cut(|left, right, mask| {
            let parts = parts_of(prices, left, right, mask);
            for lane in 0..LANES {
                dearest[lane] = if parts[lane] > dearest[lane] {
                    parts[lane]
                } else {
                    dearest[lane]
                };
            }
        });
        let at = block.at();
        let ours = lanes(prices, at);
        if let Some(excess) = excess[at..].first_chunk_mut::<LANES>() {
            for lane in 0..LANES {
                excess[lane] = dearest[lane] - ours[lane];
            }
        }
    });
    // A block may end behind the row, where the next symbol is.
    for row in &rows[..rows.len() - 1] {
        excess[(row - rows[0]) as usize] = f32::NEG_INFINITY;
    }
}

/// The pulls on the prices, given what the dearest parts of each span cost more than it does.
pub(super) fn pull(
    rows: &[u32],
    strings: &[StringIndex],
    prices: &[f32],
    excess: &[f32],
    shares: SpanShares,
    pulls: &mut Vec<f32>,
) {
    pulls.clear();
    pulls.resize(strings.len() + LANES, 0.0);
    for row in &rows[..rows.len() - 1] {
        pulls[(row - rows[0]) as usize] = 1.0;
    }
    for_each_block(rows, |block| {
        share_out(&block, prices, excess, strings, shares, pulls);
    });
}

/// Pull down the dearest parts of the spans that count; parts that are nearly as dear have a share
/// in it. Long because its three loops over the cuts of a block keep their sums in registers.
#[inline(always)]
fn share_out(
    block: &Block,
    prices: &[f32],
    excess: &[f32],
    strings: &[StringIndex],
    of_spans: SpanShares,
    pulls: &mut [f32],
) {
    let at = block.at();
    let (excess, ours) = (lanes(excess, at), lanes(prices, at));
    let mut shares = [0.0; LANES];
    let mut bottoms = [f32::INFINITY; LANES];
    let (beyond, steepness) = (-of_spans.width / 2.0, 1.0 / of_spans.width);
    let mut any = 0.0;
    for (lane, string) in strings[at..block.row() + block.reach]
        .iter()
        .take(LANES)
        .enumerate()
    {
        if excess[lane] > beyond {
            let share = of_spans.strings[string.at()] * ramp(excess[lane] * steepness);
            shares[lane] = share;
            any += share;
            bottoms[lane] = ours[lane] + excess[lane] - of_spans.width;
        }
    }
    if any == 0.0 {
        return;
    }
    let mut all = [0.0; LANES];
    block.for_each_cut(|left, right, mask| {
        let parts = parts_of(prices, left, right, mask);
        for lane in 0..LANES {
            let near = parts[lane] - bottoms[lane];
            all[lane] += if near > 0.0 { near } else { 0.0 };
        }
    });
    let mut scales = [0.0; LANES];
    for lane in 0..LANES {
        scales[lane] = if shares[lane] > 0.0 {
            shares[lane] / all[lane]
        } else {
            0.0
        };
    }
    if let Some(ours) = pulls[at..].first_chunk_mut::<LANES>() {
        for lane in 0..LANES {
            ours[lane] += shares[lane];
        }
    }
    block.for_each_cut(|left, right, mask| {
        let mut parts = parts_of(prices, left, right, mask);
        let mut sum = 0.0;
        for lane in 0..LANES {
            let near = parts[lane] - bottoms[lane];
            parts[lane] = if near > 0.0 { near } else { 0.0 } * scales[lane];
        }
        if let Some(rights) = pulls[right..].first_chunk_mut::<LANES>() {
            for lane in 0..LANES {
                rights[lane] -= parts[lane];
            }
        }
        for lane in 0..LANES / 2 {
            sum += parts[lane] + parts[lane + LANES / 2];
        }
        pulls[left] -= sum;
    });
}
