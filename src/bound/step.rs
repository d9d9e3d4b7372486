//! One step of the prices of a part: what each string loses, then how the prices move.
//!
//! With the shares of the strings given, pieces are independent.

use std::ops::Range;

use super::overlaps::Overlaps;
use super::part::{Part, items_of};
use super::smooth::{Climb, smooth_plus};
use super::{forest, spread};

/// What a step needs to know of the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// How much each string counts: 1 if it is among the chosen, 0 if not.
    pub(super) shares: &'a [f32],
    /// Over which width corners are rounded.
    pub(super) width: f32,
    pub(super) climb: Climb,
    /// The loss from which on a string counts.
    pub(super) threshold: f32,
}

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    excess: Vec<f32>,
    gradients: Vec<f32>,
}

/// Sum up the losses of the strings in a part.
pub(super) fn weigh(part: &mut Part, width: f32, scratch: &mut Scratch) {
    let num_strings = part.losses.len() - part.num_repeats;
    part.losses[..num_strings].fill(0.0);
    let beyond = -width / 2.0;
    let mut overlaps = part.overlaps.pieces().iter().peekable();
    for (index, piece) in part.pieces.iter().enumerate() {
        let groups = overlaps.next_if(|(piece, _)| *piece == index);
        let rows = piece.rows(&part.rows);
        let names = &part.names[items_of(rows)];
        let weight = piece.weight as f32;
        let mut lose = |item: usize, excess: f32| {
            part.losses[names[item] as usize] += weight * smooth_plus(excess, width);
        };
        let prices = &part.prices[piece.first_price as usize..];
        let excess = match (piece.by_symbol, groups) {
            (true, None) => {
                spread::for_each_excess(rows, prices, beyond, |span, excess| {
                    lose(span.item, excess);
                });
                continue;
            }
            (true, Some(_)) => {
                spread::find_excess(rows, prices, &mut scratch.excess);
                scratch.excess.as_mut_slice()
            }
            (false, _) => {
                let excess = &mut part.excess[piece.first_price as usize..];
                forest::find_excess(rows, prices, excess);
                &mut excess[..names.len()]
            }
        };
        if let Some((_, groups)) = groups {
            keep_heaviest(&part.overlaps, groups, width, excess);
        }
        for (item, &excess) in excess.iter().enumerate() {
            if excess > beyond {
                lose(item, excess);
            }
        }
    }
}

/// Of overlapping places of one string only the heaviest disjoint ones count.
fn keep_heaviest(overlaps: &Overlaps, groups: &Range<usize>, width: f32, excess: &mut [f32]) {
    let all = excess.to_vec();
    let weigh = |item: usize| smooth_plus(all[item], width);
    let drop = |item: usize| excess[item] = f32::NEG_INFINITY;
    overlaps.drop_lighter(groups.clone(), weigh, drop);
}

/// Move the prices of a part, whose losses were weighed.
pub(super) fn climb(part: &mut Part, step: &Step, scratch: &mut Scratch) {
    let Scratch { excess, gradients } = scratch;
    let mut overlaps = part.overlaps.pieces().iter().peekable();
    for (index, piece) in part.pieces.iter().enumerate() {
        let groups = overlaps.next_if(|(piece, _)| *piece == index);
        let rows = piece.rows(&part.rows);
        let names = &part.names[items_of(rows)];
        let from = piece.first_price as usize;
        let prices = &part.prices[from..];
        match (piece.by_symbol, groups) {
            (true, None) => spread::slope(rows, names, prices, step, gradients),
            (true, Some((_, groups))) => {
                spread::find_excess(rows, prices, excess);
                keep_heaviest(&part.overlaps, groups, step.width, excess);
                spread::slope_of(rows, names, excess, step, gradients);
            }
            (false, _) => {
                forest::slope(rows, names, prices, &part.excess[from..], step, gradients);
            }
        }
        if !part.pressure.is_empty() {
            for symbol in piece.symbols() {
                let price = piece.price_of(symbol, &part.rows) - from;
                gradients[price] -= part.pressure[symbol];
            }
        }
        let all = piece.prices(rows);
        let prices = &mut part.prices[all.clone()];
        let (means, squares) = (&mut part.means[all.clone()], &mut part.squares[all]);
        step.climb.climb(prices, means, squares, gradients);
        if piece.unpriced > 0 {
            spread::keep_below(prices, 1.0 + step.threshold / piece.unpriced as f32);
        }
    }
}
