//! One step of the prices against vocabularies.
//!
//! Only symbols have prices. The loss of a span is what its symbols cost more than 1; a span that
//! counts takes all of its symbols.

use super::forest::Step;
use super::part::Part;
use super::smooth::{ramp, smooth_plus};

/// Sum up the losses of the strings in a part.
pub(super) fn weigh(part: &mut Part, width: f32) {
    let num_strings = part.losses.len() - part.num_repeats;
    part.losses[..num_strings].fill(0.0);
    let mut overlaps = part.overlaps.pieces().iter().peekable();
    let mut start = 0;
    for (index, piece) in part.pieces.iter().enumerate() {
        let end = piece.end as usize;
        let rows = &part.rows[start..=end];
        let items = rows[0] as usize..rows[rows.len() - 1] as usize;
        let excess = &mut part.excess[items.clone()];
        find_excess(rows, &part.prices[start..end], excess);
        if let Some((_, groups)) = overlaps.next_if(|(piece, _)| *piece == index) {
            let all = excess.to_vec();
            let weigh = |item: usize| smooth_plus(all[item], width);
            let drop = |item: usize| excess[item] = f32::NEG_INFINITY;
            part.overlaps.drop_lighter(groups.clone(), weigh, drop);
        }
        let weight = piece.weight as f32;
        let half = width / 2.0;
        for (&name, &excess) in part.names[items].iter().zip(&*excess) {
            if excess > -half {
                part.losses[name as usize] += weight * smooth_plus(excess, width);
            }
        }
        start = end;
    }
}

/// Move the prices of a part, whose losses were weighed.
pub(super) fn climb(part: &mut Part, step: &Step, gradients: &mut Vec<f32>) {
    let mut start = 0;
    for piece in &part.pieces {
        let end = piece.end as usize;
        let rows = &part.rows[start..=end];
        share_out(rows, &part.excess, part.names, step, gradients);
        for (gradient, pressure) in gradients.iter_mut().zip(&part.pressure[start..end]) {
            *gradient -= pressure;
        }
        let prices = &mut part.prices[start..end];
        step.climb.climb(
            prices,
            &mut part.means[start..end],
            &mut part.squares[start..end],
            gradients,
        );
        if piece.unpriced > 0 {
            keep_below(prices, 1.0 + step.threshold / piece.unpriced as f32);
        }
        start = end;
    }
}

/// What the symbols of each span cost more than 1.
fn find_excess(rows: &[u32], prices: &[f32], excess: &mut [f32]) {
    for (start, ends) in rows.windows(2).enumerate() {
        let mut sum = -1.0;
        let row = &mut excess[(ends[0] - rows[0]) as usize..(ends[1] - rows[0]) as usize];
        for (excess, price) in row.iter_mut().zip(&prices[start..]) {
            sum += price;
            *excess = sum;
        }
        row[0] = f32::NEG_INFINITY;
    }
}

/// The gradients of the prices.
fn share_out(rows: &[u32], excess: &[f32], names: &[u32], step: &Step, gradients: &mut Vec<f32>) {
    // First the differences from symbol to symbol, then their sums.
    gradients.clear();
    gradients.resize(rows.len(), 0.0);
    gradients[0] = 1.0;
    let beyond = -step.width / 2.0;
    for (start, ends) in rows.windows(2).enumerate() {
        let row = ends[0] as usize..ends[1] as usize;
        let mut taken = 0.0;
        for (after, (&excess, &name)) in
            (start + 1..).zip(excess[row.clone()].iter().zip(&names[row]))
        {
            if excess <= beyond {
                continue;
            }
            let share = step.shares[name as usize] * ramp(excess / step.width);
            taken += share;
            gradients[after] += share;
        }
        gradients[start] -= taken;
    }
    let mut sum = 0.0;
    for gradient in gradients {
        sum += *gradient;
        *gradient = sum;
    }
}

/// Lower prices whose sum is larger than `most`.
fn keep_below(prices: &mut [f32], most: f32) {
    let sum: f32 = prices.iter().map(|price| price.max(0.0)).sum();
    if sum > most {
        let scale = most / sum;
        for price in prices {
            *price = price.max(0.0) * scale;
        }
    }
}
