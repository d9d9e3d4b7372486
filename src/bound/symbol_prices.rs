//! Pieces in which only symbols have prices.
//!
//! The loss of a span is what its symbols cost more than 1; a span that counts pulls all of its
//! symbols down.

use std::ops::Range;

use crate::prices::{SpanShares, StringIndex};

/// Call `visit(symbols, item, excess)` for each span of two symbols or more that cost more than
/// `1 + beyond`: its symbols and its item, counted from the first of the piece, and what they cost
/// more than 1.
#[inline]
pub(super) fn for_each_excess(
    rows: &[u32],
    prices: &[f32],
    beyond: f32,
    mut visit: impl FnMut(Range<usize>, usize, f32),
) {
    for (start, ends) in rows.windows(2).enumerate() {
        let mut excess = prices[start] - 1.0;
        let row = (ends[0] - rows[0]) as usize;
        let reach = (ends[1] - ends[0]) as usize;
        for (index, price) in (1..reach).zip(&prices[start + 1..]) {
            excess += price;
            if excess > beyond {
                visit(start..start + index + 1, row + index, excess);
            }
        }
    }
}

/// What the symbols of each span cost more than 1, for all items of a piece.
pub(super) fn find_excess(rows: &[u32], prices: &[f32], excess: &mut Vec<f32>) {
    excess.clear();
    excess.resize((rows[rows.len() - 1] - rows[0]) as usize, f32::NEG_INFINITY);
    for_each_excess(rows, prices, f32::NEG_INFINITY, |_, item, found| {
        excess[item] = found;
    });
}

/// The pulls on the prices. `excess_of(item, excess)` is what counts of the excess of a span.
#[inline]
pub(super) fn pull(
    rows: &[u32],
    strings: &[StringIndex],
    prices: &[f32],
    excess_of: impl Fn(usize, f32) -> f32,
    shares: SpanShares,
    pulls: &mut Vec<f32>,
) {
    pulls.clear();
    pulls.resize(rows.len(), 0.0);
    // First the differences from symbol to symbol, then their sums.
    pulls[0] = 1.0;
    for_each_excess(rows, prices, -shares.width / 2.0, |span, item, excess| {
        let share = shares.of(strings[item].at(), excess_of(item, excess));
        pulls[span.start] -= share;
        pulls[span.end] += share;
    });
    let mut sum = 0.0;
    for pull in pulls {
        sum += *pull;
        *pull = sum;
    }
}

/// Lower prices whose sum is larger than `most`.
pub(super) fn keep_below(prices: &mut [f32], most: f32) {
    let sum: f32 = prices.iter().map(|price| price.max(0.0)).sum();
    if sum > most {
        let scale = most / sum;
        for price in prices {
            *price = price.max(0.0) * scale;
        }
    }
}
