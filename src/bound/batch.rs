//! A batch of pieces, with all that changes as prices move.
//!
//! Against merges a piece has a price for each of its items. Against vocabularies only symbols have
//! prices; so it is in light pieces against merges, whose spans cost what their symbols do, but not
//! more than 1. Most pieces of a large corpus are light, and prices for their spans would hardly
//! improve the bound. Small corpora have no light pieces.
//!
//! The pieces are cut into batches that take about the same time each, and threads take batches. Where
//! they are cut, and so what is summed up and in which order, does not depend on the number of threads.

use std::ops::Range;

use super::against::Against;
use super::chains::Chains;
use super::instance::Instance;
use super::lists::Lists;
use super::overlaps::Overlaps;
use super::repeats::Place;
use crate::prices::{Prices, StringIndex};

/// The number of prices that are worked on side by side.
pub(super) const LANES: usize = 4;

/// The more batches the better for many threads, but each has losses of its own, which take time to add
/// up.
const MOST_BATCHES: usize = 64;
/// The smallest number of cuts and symbols that is worth a batch.
const LEAST_WORK: usize = 1 << 13;

/// With fewer items no piece is light.
const MANY_ITEMS: usize = 1 << 19;
/// A piece is light if its weight times this is at most the floor, and if the symbols of all light
/// pieces are at most some part of all symbols.
const LIGHT_BESIDE_FLOOR: u64 = 3;

/// The symbols of light pieces are at most these parts of all, by numerator and denominator.
#[derive(Debug, Clone, Copy)]
pub(super) struct LightPart(pub(super) u128, pub(super) u128);

impl LightPart {
    pub(super) const FIRST: Self = Self(2, 3);
    /// Prices of more spans are worth their time where most prices are nearly found.
    pub(super) const LATER: Self = Self(1, 2);
}

/// A piece of a batch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Piece {
    /// How often the piece occurs.
    pub(super) weight: u64,
    /// Against vocabularies: how often a string without a price in it may occur.
    pub(super) unpriced: u64,
    /// Its first symbol, and that of the next piece.
    start: u32,
    end: u32,
    /// Where its prices begin.
    pub(super) first_price: u32,
    /// Whether only its symbols have a price.
    pub(super) by_symbol: bool,
    /// Its groups of overlapping spans.
    first_group: u32,
    end_of_groups: u32,
    /// Its chains.
    pub(super) first_chain: u32,
    pub(super) end_of_chains: u32,
}

/// A place of a string that is too long for a price.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    /// Its symbols are counted from the first of the batch.
    place: Place,
    pub(super) piece: u32,
    pub(super) weight: u64,
}

impl Repeat {
    pub(super) fn symbols(&self) -> Range<usize> {
        let Place { start, length, .. } = self.place;
        start as usize..(start + length) as usize
    }

    /// Which of the repeats it is.
    pub(super) fn index(&self) -> usize {
        self.place.repeat as usize
    }
}

/// Pieces and their prices.
#[derive(Debug, Default)]
pub(super) struct Batch<'a> {
    /// Where the row of each symbol begins among the items, and where the last ends.
    pub(super) rows: Vec<u32>,
    pub(super) pieces: Vec<Piece>,
    /// The string of each item.
    pub(super) strings: &'a [StringIndex],
    pub(super) overlaps: Overlaps,
    /// The prices of each piece, followed by `LANES` more that may be read but do not count.
    pub(super) prices: Prices,
    /// What the dearest parts of each span with a price cost more than it does; -infinity if that is
    /// not counted.
    pub(super) excess: Vec<f32>,
    /// Places of strings too long for a price, and what their symbols cost more than 1.
    pub(super) repeats: Vec<Repeat>,
    pub(super) repeat_excess: Vec<f32>,
    /// How much these press each symbol down; empty without repeats.
    pub(super) pressure: Vec<f32>,
    /// The loss of each string in these pieces, then that of each repeat.
    pub(super) losses: Vec<f32>,
    /// The loss of each split in these pieces, if splits are told apart: then `losses` has only what
    /// pieces add in which symbols alone have a price.
    pub(super) split_losses: Vec<f32>,
    pub(super) num_strings: usize,
    pub(super) chains: Chains,
    /// What matters for some steps, where splits are told apart: see `active`.
    pub(super) lists: Lists,
}

impl<'a> Batch<'a> {
    /// All pieces of an instance, in batches that are to be finished.
    pub(super) fn all(instance: &'a Instance, light: LightPart) -> Vec<Self> {
        let heaviest_light = heaviest_light(instance, light);
        let is_by_symbol =
            |weight| instance.against == Against::Vocabularies || weight <= heaviest_light;
        let share = (work_of(instance, is_by_symbol) / MOST_BATCHES).max(LEAST_WORK);
        let mut work = 0;
        let mut batches = Vec::new();
        let mut strings = instance.strings.as_slice();
        let mut places = instance.repeats.places.iter().peekable();
        let mut symbol = 0;
        let mut batch = Self::empty();
        for (&end, &weight) in instance.pieces.ends.iter().zip(&instance.pieces.counts) {
            let start = batch.rows.len() - 1;
            let by_symbol = is_by_symbol(weight);
            for &reach in &instance.reach[symbol..end] {
                batch.rows.push(batch.num_items() as u32 + u32::from(reach));
                work += work_of_row(reach, by_symbol);
            }
            while let Some(place) = places.next_if(|place| (place.start as usize) < end) {
                batch.repeats.push(Repeat {
                    place: Place {
                        start: (place.start as usize - symbol + start) as u32,
                        ..*place
                    },
                    piece: batch.pieces.len() as u32,
                    weight,
                });
            }
            batch.pieces.push(Piece {
                weight,
                unpriced: unpriced(instance, weight, end - symbol),
                start: start as u32,
                end: (batch.rows.len() - 1) as u32,
                by_symbol,
                ..Piece::default()
            });
            symbol = end;
            if work >= share || end == instance.reach.len() {
                work = 0;
                let mut full = std::mem::replace(&mut batch, Self::empty());
                (full.strings, strings) = strings.split_at(full.num_items());
                batches.push(full);
            }
        }
        batches
    }

    fn empty() -> Self {
        Self {
            rows: vec![0],
            ..Self::default()
        }
    }

    /// Make room for the prices, all of which are 1, and find what overlaps.
    pub(super) fn finish(&mut self, instance: &Instance) {
        let mut num_prices = 0;
        for piece in &mut self.pieces {
            piece.first_price = num_prices as u32;
            let rows = piece.rows(&self.rows);
            num_prices += piece.num_prices(rows);
            let groups = self.overlaps.add(rows, &self.strings[items_of(rows)]);
            (piece.first_group, piece.end_of_groups) = (groups.start, groups.end);
        }
        self.prices = Prices::new(vec![1.0; num_prices + LANES]);
        self.excess = vec![f32::NEG_INFINITY; num_prices + LANES];
        self.num_strings = instance.num_strings;
        self.losses = vec![0.0; instance.num_losses()];
        self.repeat_excess = vec![0.0; self.repeats.len()];
        if !self.repeats.is_empty() {
            self.pressure = vec![0.0; self.rows.len() - 1];
        }
    }

    pub(super) fn num_items(&self) -> usize {
        self.rows[self.rows.len() - 1] as usize
    }
}

impl Piece {
    /// The rows of its symbols, and the end of the last.
    pub(super) fn rows<'r>(&self, rows: &'r [u32]) -> &'r [u32] {
        &rows[self.start as usize..=self.end as usize]
    }

    pub(super) fn symbols(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Its groups of overlapping spans.
    pub(super) fn overlaps(&self) -> Range<usize> {
        self.first_group as usize..self.end_of_groups as usize
    }

    /// Its chains.
    pub(super) fn chains(&self) -> Range<usize> {
        self.first_chain as usize..self.end_of_chains as usize
    }

    /// Where its prices are.
    pub(super) fn prices(&self, rows: &[u32]) -> Range<usize> {
        let first = self.first_price as usize;
        first..first + self.num_prices(rows)
    }

    /// Where the price of one of its symbols is, given the rows of the batch.
    pub(super) fn price_of(&self, symbol: usize, rows: &[u32]) -> usize {
        let start = self.start as usize;
        let before = if self.by_symbol {
            symbol - start
        } else {
            (rows[symbol] - rows[start]) as usize
        };
        self.first_price as usize + before
    }

    fn num_prices(&self, rows: &[u32]) -> usize {
        if self.by_symbol {
            rows.len() - 1
        } else {
            items_of(rows).len()
        }
    }
}

/// The items of some rows.
pub(super) fn items_of(rows: &[u32]) -> Range<usize> {
    rows[0] as usize..rows[rows.len() - 1] as usize
}

/// About how much work a symbol with this reach is in a step: the cuts of its spans.
fn work_of_row(reach: u8, by_symbol: bool) -> usize {
    let reach = usize::from(reach);
    if by_symbol {
        reach
    } else {
        reach + reach * (reach - 1) / 2
    }
}

/// The same of all symbols.
fn work_of(instance: &Instance, is_by_symbol: impl Fn(u64) -> bool) -> usize {
    let mut symbol = 0;
    let mut work = 0;
    for (&end, &weight) in instance.pieces.ends.iter().zip(&instance.pieces.counts) {
        let by_symbol = is_by_symbol(weight);
        let rows = instance.reach[symbol..end].iter();
        work += rows
            .map(|&reach| work_of_row(reach, by_symbol))
            .sum::<usize>();
        symbol = end;
    }
    work
}

/// The weight of the heaviest light pieces; 0 if there are none.
fn heaviest_light(instance: &Instance, light: LightPart) -> u64 {
    if instance.strings.len() < MANY_ITEMS {
        return 0;
    }
    let mut symbols_of: Vec<(u64, u64)> = instance
        .pieces
        .iter()
        .map(|(piece, weight)| (weight, weight.saturating_mul(piece.len() as u64)))
        .collect();
    symbols_of.sort_unstable();
    let sum_of = |pieces: &[(u64, u64)]| -> u128 {
        let symbols = pieces.iter().map(|&(_, symbols)| u128::from(symbols));
        symbols.sum()
    };
    let total = sum_of(&symbols_of);
    let mut sum = 0;
    let mut heaviest = 0;
    for same in symbols_of.chunk_by(|(a, _), (b, _)| a == b) {
        sum += sum_of(same);
        let weight = same[0].0;
        let is_rare = weight.saturating_mul(LIGHT_BESIDE_FLOOR) <= instance.floor;
        if !is_rare || sum * light.1 > total * light.0 {
            break;
        }
        heaviest = weight;
    }
    heaviest
}

/// Against vocabularies, how often a string without a price can occur if a word of this count and
/// length holds it.
fn unpriced(instance: &Instance, weight: u64, length: usize) -> u64 {
    if instance.against == Against::Merges {
        return 0;
    }
    let rare = (weight <= instance.floor).then_some(instance.floor);
    let long = (length > instance.counted()).then_some(instance.repeats.too_long);
    rare.max(long).unwrap_or(0)
}
