//! Spans that are too long for a price of their own, in a step.
//!
//! Such a span costs as much as its symbols, but at most 1, and loses what they cost more than 1,
//! against merges at most 1 (the one place where the bound is not convex). No long string should
//! lose more than the threshold from which on strings count: then none counts. While one does, the
//! prices of its symbols are pressed down, and before prices are rounded they are lowered until none
//! does.

use super::against::Against;
use super::batch::Batch;
use crate::prices::{SpanShares, smooth_plus};

/// How hard a repeat that loses too much presses, compared with a string that has a price. Found by
/// trial: what is missing is made up for when prices are lowered.
const PRESSURE: f32 = 0.3;

/// Sum up the losses of the repeats in a batch, behind those of the strings with a price.
pub(super) fn weigh(batch: &mut Batch, against: Against, width: f32, sums: &mut Vec<f64>) {
    let num_strings = batch.section.num_strings();
    batch.losses[num_strings..].fill(0.0);
    if batch.repeats.is_empty() {
        return;
    }
    sums.clear();
    sums.push(0.0);
    let mut sum = 0.0;
    for piece in &batch.pieces {
        for symbol in piece.symbols() {
            let price = batch.prices.values[piece.price_of(symbol, &batch.rows)];
            sum += f64::from(price.max(0.0));
            sums.push(sum);
        }
    }
    for (repeat, excess) in batch.repeats.iter().zip(&mut batch.repeat_excess) {
        let symbols = repeat.symbols();
        *excess = (sums[symbols.end] - sums[symbols.start] - 1.0) as f32;
        let loss = smooth_plus(excess.min(against.most_lost()), width);
        batch.losses[repeat.own as usize] += repeat.weight as f32 * loss;
    }
}

/// Find how much the symbols of a batch are pressed down by repeats that lose too much.
pub(super) fn press(batch: &mut Batch, shares: SpanShares, changes: &mut Vec<f64>) {
    if batch.repeats.is_empty() {
        return;
    }
    changes.clear();
    changes.resize(batch.rows.len(), 0.0);
    for (repeat, &excess) in batch.repeats.iter().zip(&batch.repeat_excess) {
        let share = shares.of(repeat.own as usize, excess);
        if share > 0.0 {
            let pressure = f64::from(PRESSURE * share);
            let symbols = repeat.symbols();
            changes[symbols.start] += pressure;
            changes[symbols.end] -= pressure;
        }
    }
    let mut sum = 0.0;
    for (pressure, change) in batch.pressure.iter_mut().zip(changes) {
        sum += *change;
        *pressure = sum as f32;
    }
}

/// Lower prices until no repeat loses more than `threshold`; `losses` are those of the repeats.
pub(super) fn settle(batch: &mut Batch, against: Against, losses: &[f32], threshold: f32) {
    for (repeat, &excess) in batch.repeats.iter().zip(&batch.repeat_excess) {
        let loss = losses[repeat.index()];
        let excess = excess.min(against.most_lost());
        if loss <= threshold || excess <= 0.0 {
            continue;
        }
        let piece = batch.pieces[repeat.piece as usize];
        let symbols = repeat.symbols();
        let at = symbols.map(|symbol| piece.price_of(symbol, &batch.rows));
        let prices = &mut batch.prices.values;
        let sum: f32 = at.clone().map(|at| prices[at].max(0.0)).sum();
        let most = 1.0 + excess * threshold / loss;
        if sum > most {
            for at in at {
                let price = &mut prices[at];
                *price *= if *price > 0.0 { most / sum } else { 1.0 };
            }
        }
    }
}
