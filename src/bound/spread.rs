//! Pieces in which only symbols have prices.
//!
//! The loss of a span is what its symbols cost more than 1; a span that counts takes all of its
//! symbols.

use super::smooth::ramp;
use super::step::Step;

/// A span of two symbols or more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: usize,
    end: usize,
    /// Its item, counted from the first of the piece.
    pub(super) item: usize,
}

/// Call `visit` for each span whose symbols cost more than `1 + beyond`, with what they cost more
/// than 1.
#[inline]
pub(super) fn for_each_excess(
    rows: &[u32],
    prices: &[f32],
    beyond: f32,
    mut visit: impl FnMut(Span, f32),
) {
    for (start, ends) in rows.windows(2).enumerate() {
        let mut excess = prices[start] - 1.0;
        let row = (ends[0] - rows[0]) as usize;
        let reach = (ends[1] - ends[0]) as usize;
        for (index, price) in (1..reach).zip(&prices[start + 1..]) {
            excess += price;
            if excess > beyond {
                let span = Span {
                    start,
                    end: start + index + 1,
                    item: row + index,
                };
                visit(span, excess);
            }
        }
    }
}

/// What the symbols of each span cost more than 1, for all items of a piece.
pub(super) fn find_excess(rows: &[u32], prices: &[f32], excess: &mut Vec<f32>) {
    excess.clear();
    excess.resize((rows[rows.len() - 1] - rows[0]) as usize, f32::NEG_INFINITY);
    for_each_excess(rows, prices, f32::NEG_INFINITY, |span, found| {
        excess[span.item] = found;
    });
}

/// The gradients of the prices.
pub(super) fn slope(
    rows: &[u32],
    names: &[u32],
    prices: &[f32],
    step: &Step,
    gradients: &mut Vec<f32>,
) {
    // First the differences from symbol to symbol, then their sums.
    begin(rows, gradients);
    for_each_excess(rows, prices, -step.width / 2.0, |span, excess| {
        take(span, names, excess, step, gradients);
    });
    sum_up(gradients);
}

/// The same, with what spans cost more than 1 given.
pub(super) fn slope_of(
    rows: &[u32],
    names: &[u32],
    excess: &[f32],
    step: &Step,
    gradients: &mut Vec<f32>,
) {
    begin(rows, gradients);
    for (start, ends) in rows.windows(2).enumerate() {
        let row = (ends[0] - rows[0]) as usize;
        for index in 1..(ends[1] - ends[0]) as usize {
            let span = Span {
                start,
                end: start + index + 1,
                item: row + index,
            };
            if excess[span.item] > -step.width / 2.0 {
                take(span, names, excess[span.item], step, gradients);
            }
        }
    }
    sum_up(gradients);
}

fn begin(rows: &[u32], gradients: &mut Vec<f32>) {
    gradients.clear();
    gradients.resize(rows.len(), 0.0);
    gradients[0] = 1.0;
}

/// A span that counts takes all of its symbols.
#[inline]
fn take(span: Span, names: &[u32], excess: f32, step: &Step, gradients: &mut [f32]) {
    let share = step.shares[names[span.item] as usize] * ramp(excess / step.width);
    gradients[span.start] -= share;
    gradients[span.end] += share;
}

fn sum_up(gradients: &mut [f32]) {
    let mut sum = 0.0;
    for gradient in gradients {
        sum += *gradient;
        *gradient = sum;
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
