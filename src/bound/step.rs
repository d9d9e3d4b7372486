//! One step of the prices of a batch: what each string loses, then how the prices move.
//!
//! With the shares of the strings given, pieces are independent.

use std::ops::Range;

use super::batch::{Batch, Piece, items_of};
use super::overlaps::Overlaps;
use super::split_prices::{Spans, SplitShares};
use super::{span_prices, split_prices, symbol_prices};
use crate::prices::{Adam, SpanShares, smooth_plus};

/// What a step needs to know of the other batches, by the numbers of the instance or of a section.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) shares: SpanShares<'a>,
    /// How much each split counts, if these are told apart.
    pub(super) splits: Option<SplitShares<'a>>,
    pub(super) adam: Adam,
    /// The most that a span can lose whose symbols alone have a price.
    pub(super) most: f32,
    /// The loss from which on a string counts.
    pub(super) threshold: f32,
    /// How much each link of the rings counts.
    pub(super) links: &'a [f32],
}

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    excess: Vec<f32>,
    pulls: Vec<f32>,
    /// How much each span of a piece counts, or of a batch.
    pub(super) made: Vec<f32>,
    /// The pulls on all prices of a batch.
    pub(super) all: Vec<f32>,
}

/// Sum up the losses of the strings in a batch, at most `most` for a span whose symbols alone have a price;
/// or those of their splits.
pub(super) fn weigh(
    batch: &mut Batch,
    width: f32,
    most: f32,
    by_split: bool,
    scratch: &mut Scratch,
) {
    batch.chains.clear();
    batch.split_losses.clear();
    if by_split {
        let num_splits = batch.section.num_splits();
        batch.split_losses.resize(num_splits, 0.0);
    }
    weigh_light(batch, width, most, scratch);
    for index in 0..batch.pieces.len() {
        let piece = batch.pieces[index];
        match (piece.by_symbol, by_split) {
            (true, _) => {}
            (false, false) => weigh_spans(batch, &piece, width),
            (false, true) => weigh_splits(batch, &piece, width),
        }
    }
}

/// Sum up the losses of the strings in the light pieces alone, and list their dear spans.
pub(super) fn weigh_light(batch: &mut Batch, width: f32, most: f32, scratch: &mut Scratch) {
    batch.losses[..batch.section.num_strings()].fill(0.0);
    batch.dear.clear();
    for piece in batch.pieces.iter().filter(|piece| piece.by_symbol) {
        let rows = piece.rows(&batch.rows);
        let strings = &batch.strings[items_of(rows)];
        let prices = &batch.prices.values[piece.prices(rows)];
        let (first, before) = (piece.first_price, batch.dear.len());
        symbol_prices::list(rows, strings, prices, first, -width / 2.0, &mut batch.dear);
        let dear = &mut batch.dear[before..];
        let groups = piece.overlaps();
        if !groups.is_empty() {
            let excess = &mut scratch.excess;
            symbol_prices::find_excess(rows, prices, most, excess);
            keep_heaviest(&batch.overlaps, groups, width, excess);
            symbol_prices::set_excess(rows, first, excess, dear);
        }
        let weight = piece.weight as f32;
        for span in dear {
            let loss = smooth_plus(span.excess.min(most), width);
            batch.losses[span.string.at()] += weight * loss;
        }
    }
}

/// Sum up the losses of the strings in a piece in which every span has a price.
fn weigh_spans(batch: &mut Batch, piece: &Piece, width: f32) {
    let rows = piece.rows(&batch.rows);
    let strings = &batch.strings[items_of(rows)];
    let prices = piece.prices(rows);
    let excess = &mut batch.excess[prices.start..];
    span_prices::find_excess(rows, &batch.prices.values[prices.start..], excess);
    let excess = &mut excess[..strings.len()];
    let groups = piece.overlaps();
    if !groups.is_empty() {
        keep_heaviest(&batch.overlaps, groups, width, excess);
    }
    let weight = piece.weight as f32;
    for (string, &excess) in strings.iter().zip(&*excess) {
        if excess > -width / 2.0 {
            batch.losses[string.at()] += weight * smooth_plus(excess, width);
        }
    }
}

/// The same of a piece in which every span has a price, each split on its own.
fn weigh_splits(batch: &mut Batch, piece: &Piece, width: f32) {
    let rows = piece.rows(&batch.rows);
    let strings = &batch.strings[items_of(rows)];
    let weight = piece.weight as f32;
    let prices = piece.prices(rows);
    let allowed = batch.chains.add_up(piece.chains(), prices.clone(), weight);
    let excess = &mut batch.excess[prices.start..];
    let prices = &batch.prices.values[prices.start..];
    let groups = piece.overlaps();
    let is_plain = groups.is_empty();
    if !is_plain {
        span_prices::find_excess(rows, prices, excess);
        let excess = &mut excess[..strings.len()];
        for (excess, allowed) in excess.iter_mut().zip(allowed.unwrap_or_default()) {
            *excess -= allowed;
        }
        keep_heaviest(&batch.overlaps, groups, width, excess);
    }
    let spans = Spans {
        rows,
        strings,
        begins: &batch.section.begins,
        prices,
        excess: (!is_plain).then_some(excess),
        allowed,
    };
    split_prices::weigh(spans, weight, width, &mut batch.split_losses);
}

/// Of overlapping spans of one string only the heaviest disjoint ones count.
fn keep_heaviest(overlaps: &Overlaps, groups: Range<usize>, width: f32, excess: &mut [f32]) {
    let all = excess.to_vec();
    let weigh = |item: usize| smooth_plus(all[item], width);
    let drop = |item: usize| excess[item] = f32::NEG_INFINITY;
    overlaps.drop_lighter(groups, weigh, drop);
}

/// Move the prices of a batch, whose losses were weighed.
pub(super) fn descend(batch: &mut Batch, step: &Step, scratch: &mut Scratch) {
    let mut dear = batch.dear.as_slice();
    for piece in &batch.pieces {
        let rows = piece.rows(&batch.rows);
        let strings = &batch.strings[items_of(rows)];
        let from = piece.first_price as usize;
        let prices = &batch.prices.values[from..];
        let excess = &batch.excess[from..];
        match (piece.by_symbol, step.splits) {
            (true, _) => {
                let (prices, pulls) = (piece.prices(rows), &mut scratch.pulls);
                dear = symbol_prices::pull(prices, dear, step.shares, step.most, pulls);
            }
            (false, None) => {
                let pulls = &mut scratch.pulls;
                span_prices::pull(rows, strings, prices, excess, step.shares, pulls);
            }
            (false, Some(splits)) => {
                let Scratch { pulls, made, .. } = scratch;
                let spans = Spans {
                    rows,
                    strings,
                    begins: &batch.section.begins,
                    prices,
                    excess: (!piece.overlaps().is_empty()).then_some(excess),
                    allowed: batch.chains.allowed(&piece.chains(), piece.prices(rows)),
                };
                split_prices::pull(spans, splits, pulls, made);
                let chains = piece.chains();
                batch.chains.follow(chains, made, step.links, step.adam);
            }
        }
        let pulls = &mut scratch.pulls;
        if !batch.pressure.is_empty() {
            for symbol in piece.symbols() {
                let price = piece.price_of(symbol, &batch.rows) - from;
                pulls[price] -= batch.pressure[symbol];
            }
        }
        let all = piece.prices(rows);
        batch.prices.follow(all.clone(), pulls, step.adam);
        if piece.unpriced > 0 {
            let most = 1.0 + step.threshold / piece.unpriced as f32;
            symbol_prices::keep_below(&mut batch.prices.values[all], most);
        }
    }
}

/// The pulls on the prices of the light pieces of a batch, and of long strings in all pieces.
pub(super) fn pull_light(batch: &Batch, step: &Step, scratch: &mut Scratch) {
    let mut dear = batch.dear.as_slice();
    for piece in &batch.pieces {
        if piece.by_symbol {
            let prices = piece.prices(piece.rows(&batch.rows));
            let Scratch { pulls, all, .. } = scratch;
            dear = symbol_prices::pull(prices.clone(), dear, step.shares, step.most, pulls);
            all[prices.clone()].copy_from_slice(&pulls[..prices.len()]);
        }
        if !batch.pressure.is_empty() {
            for symbol in piece.symbols() {
                scratch.all[piece.price_of(symbol, &batch.rows)] -= batch.pressure[symbol];
            }
        }
    }
}
