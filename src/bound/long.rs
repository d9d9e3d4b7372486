//! Spans that are too long for a price of their own, in a step.
//!
//! Such a span costs as much as its symbols, but at most 1, and loses by how much they cost more than
//! 1, against merges at most 1 itself. No long string should lose more than a string must to be
//! chosen: then none counts. If one does, its symbols are pressed down, and before prices are
//! rounded they are lowered until none does.

use super::instance::Against;
use super::part::Part;
use super::smooth::{ramp, smooth_plus};
use super::step::Step;

/// How hard a repeat that loses too much presses, beside a string with a price. Found by trial: what
/// is missing is made up for when prices are lowered.
const PRESSURE: f32 = 0.3;

/// What a span can lose at most.
fn most(against: Against) -> f32 {
    match against {
        Against::Merges => 1.0,
        Against::Vocabularies => f32::INFINITY,
    }
}

/// Sum up the losses of the repeats in a part, behind those of the strings with a price.
pub(super) fn weigh(part: &mut Part, against: Against, width: f32, sums: &mut Vec<f64>) {
    let first = part.losses.len() - part.num_repeats;
    part.losses[first..].fill(0.0);
    if part.repeats.is_empty() {
        return;
    }
    sums.clear();
    sums.push(0.0);
    let mut sum = 0.0;
    for piece in &part.pieces {
        for symbol in piece.symbols() {
            sum += f64::from(part.prices[piece.price_of(symbol, &part.rows)].max(0.0));
            sums.push(sum);
        }
    }
    for (repeat, excess) in part.repeats.iter().zip(&mut part.repeat_excess) {
        let (start, end) = (repeat.start as usize, repeat.end as usize);
        *excess = (sums[end] - sums[start] - 1.0) as f32;
        let loss = smooth_plus(excess.min(most(against)), width);
        part.losses[first + repeat.number as usize] += repeat.weight as f32 * loss;
    }
}

/// How much the symbols of a part are pressed down by repeats that lose too much.
pub(super) fn press(part: &mut Part, step: &Step, changes: &mut Vec<f64>) {
    if part.repeats.is_empty() {
        return;
    }
    let first = part.losses.len() - part.num_repeats;
    changes.clear();
    changes.resize(part.rows.len(), 0.0);
    for (repeat, &excess) in part.repeats.iter().zip(&part.repeat_excess) {
        let share = step.shares[first + repeat.number as usize] * ramp(excess / step.width);
        if share > 0.0 {
            let pressure = f64::from(PRESSURE * share);
            changes[repeat.start as usize] += pressure;
            changes[repeat.end as usize] -= pressure;
        }
    }
    let mut sum = 0.0;
    for (pressure, change) in part.pressure.iter_mut().zip(changes) {
        sum += *change;
        *pressure = sum as f32;
    }
}

/// Lower prices until no repeat loses more than `threshold`; `losses` are those of the repeats.
pub(super) fn settle(part: &mut Part, against: Against, losses: &[f32], threshold: f32) {
    for index in 0..part.repeats.len() {
        let repeat = part.repeats[index];
        let loss = losses[repeat.number as usize];
        let excess = part.repeat_excess[index].min(most(against));
        if loss <= threshold || excess <= 0.0 {
            continue;
        }
        let piece = part.pieces[repeat.piece as usize];
        let symbols = repeat.start as usize..repeat.end as usize;
        let at = symbols.map(|symbol| piece.price_of(symbol, &part.rows));
        let sum: f32 = at.clone().map(|at| part.prices[at].max(0.0)).sum();
        let most = 1.0 + excess * threshold / loss;
        if sum > most {
            for at in at {
                let price = &mut part.prices[at];
                *price *= if *price > 0.0 { most / sum } else { 1.0 };
            }
        }
    }
}
