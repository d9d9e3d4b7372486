//! A share of the pieces, with all that changes as prices rise and fall.
//!
//! Against merges a piece has a price for each of its items. Against vocabularies only symbols have
//! prices; and so it is in light pieces against merges, where a span costs what its symbols do, at
//! most 1. Most pieces of a large corpus are light, and their spans are hardly worth their time. Small
//! corpora have none.
//!
//! The pieces are cut into a fixed number of parts, and threads take parts: what is summed up, and
//! in which order, does not depend on the number of threads.

use std::ops::Range;

use super::instance::{Against, Instance};
use super::overlaps::Overlaps;

/// How many numbers are worked on side by side.
pub(super) const LANES: usize = 4;

const NUM_PARTS: usize = 16;
const ITEMS_OF_A_PART: usize = 1 << 12;

/// With fewer items there is time for all of them.
const MANY_ITEMS: usize = 1 << 18;
/// A piece is light if its weight is at most this part of the floor, and if all light ones together
/// have at most that part of all symbols.
const LIGHT_BESIDE_FLOOR: u64 = 3;
const LIGHT_OF_ALL: u64 = 4;

/// A piece of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Its first symbol, and that of the next piece.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where its prices begin.
    pub(super) first_price: u32,
    /// Have only its symbols a price?
    pub(super) by_symbol: bool,
    pub(super) weight: u64,
    /// Against vocabularies: how often an unpriced string in it may occur.
    pub(super) unpriced: u64,
}

/// A place of a long string, between two symbols of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
    pub(super) piece: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) number: u32,
    pub(super) weight: u64,
}

/// Pieces and their prices.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// Where the row of each symbol begins among the items, and where the last ends.
    pub(super) rows: Vec<u32>,
    pub(super) pieces: Vec<Piece>,
    /// The names of the items.
    pub(super) names: &'a [u32],
    pub(super) overlaps: Overlaps,
    /// The prices of each piece; and the averages that scale their steps. Followed by as many more as
    /// one may read too far.
    pub(super) prices: Vec<f32>,
    pub(super) means: Vec<f32>,
    pub(super) squares: Vec<f32>,
    /// What the dearest parts of each priced span cost more than it does; -infinity if that is not
    /// counted.
    pub(super) excess: Vec<f32>,
    /// Places of strings too long for a price, and what their symbols cost more than 1.
    pub(super) repeats: Vec<Repeat>,
    pub(super) repeat_excess: Vec<f32>,
    /// How much these press each symbol down, if there are any.
    pub(super) pressure: Vec<f32>,
    pub(super) num_repeats: usize,
    /// The loss of each string in these pieces, then that of each long one.
    pub(super) losses: Vec<f32>,
}

impl<'a> Part<'a> {
    /// All pieces of an instance, in parts.
    pub(super) fn all(instance: &'a Instance) -> Vec<Self> {
        let num_items = instance.names.len();
        let size = (num_items / NUM_PARTS).max(ITEMS_OF_A_PART);
        let heaviest_of_light = heaviest_of_light(instance);
        let mut parts = Vec::new();
        let mut names = instance.names.as_slice();
        let mut repeats = instance.repeats.places.iter().peekable();
        let mut symbol = 0;
        let mut part = Self::empty();
        for (&end, &weight) in instance.pieces.ends().iter().zip(instance.pieces.counts()) {
            let length = end - symbol;
            for &reach in &instance.reach[symbol..end] {
                part.rows.push(part.num_items() as u32 + u32::from(reach));
            }
            let first = symbol - (part.rows.len() - 1 - length);
            while let Some(place) = repeats.next_if(|place| (place.start as usize) < end) {
                let start = place.start - first as u32;
                part.repeats.push(Repeat {
                    piece: part.pieces.len() as u32,
                    start,
                    end: start + place.length,
                    number: place.number,
                    weight,
                });
            }
            symbol = end;
            let end_of_piece = part.rows.len() - 1;
            part.pieces.push(Piece {
                start: (end_of_piece - length) as u32,
                end: end_of_piece as u32,
                first_price: 0,
                by_symbol: instance.against == Against::Vocabularies || weight <= heaviest_of_light,
                weight,
                unpriced: unpriced(instance, weight, length),
            });
            if part.num_items() >= size || end == instance.reach.len() {
                let mut full = std::mem::replace(&mut part, Self::empty());
                (full.names, names) = names.split_at(full.num_items());
                full.finish(instance);
                parts.push(full);
            }
        }
        parts
    }

    fn empty() -> Self {
        Self {
            rows: vec![0],
            pieces: Vec::new(),
            names: &[],
            overlaps: Overlaps::default(),
            prices: Vec::new(),
            means: Vec::new(),
            squares: Vec::new(),
            excess: Vec::new(),
            repeats: Vec::new(),
            repeat_excess: Vec::new(),
            pressure: Vec::new(),
            num_repeats: 0,
            losses: Vec::new(),
        }
    }

    fn finish(&mut self, instance: &Instance) {
        let mut num_prices = 0;
        for (index, piece) in self.pieces.iter_mut().enumerate() {
            piece.first_price = num_prices as u32;
            let rows = piece.rows(&self.rows);
            num_prices += piece.num_prices(rows);
            self.overlaps.add(index, rows, &self.names[items_of(rows)]);
        }
        self.prices = vec![1.0; num_prices + LANES];
        self.means = vec![0.0; num_prices + LANES];
        self.squares = vec![0.0; num_prices + LANES];
        self.excess = vec![f32::NEG_INFINITY; num_prices + LANES];
        self.num_repeats = instance.repeats.number;
        self.losses = vec![0.0; instance.num_strings + self.num_repeats];
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

    /// Where its prices are.
    pub(super) fn prices(&self, rows: &[u32]) -> Range<usize> {
        let first = self.first_price as usize;
        first..first + self.num_prices(rows)
    }

    /// Where the price of one of its symbols is, given the rows of the part.
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

/// The weight of the heaviest light pieces; 0 if there are none.
fn heaviest_of_light(instance: &Instance) -> u64 {
    if instance.names.len() < MANY_ITEMS {
        return 0;
    }
    let mut start = 0;
    let mut symbols_of: Vec<(u64, u64)> = Vec::new();
    for (&end, &weight) in instance.pieces.ends().iter().zip(instance.pieces.counts()) {
        symbols_of.push((weight, weight.saturating_mul((end - start) as u64)));
        start = end;
    }
    symbols_of.sort_unstable();
    let total = symbols_of
        .iter()
        .map(|&(_, symbols)| u128::from(symbols))
        .sum::<u128>();
    let mut sum = 0;
    let mut heaviest = 0;
    for same in symbols_of.chunk_by(|(a, _), (b, _)| a == b) {
        sum += same
            .iter()
            .map(|&(_, symbols)| u128::from(symbols))
            .sum::<u128>();
        let weight = same[0].0;
        let is_rare = weight.saturating_mul(LIGHT_BESIDE_FLOOR) <= instance.floor;
        if !is_rare || sum * u128::from(LIGHT_OF_ALL) > total {
            break;
        }
        heaviest = weight;
    }
    heaviest
}

/// Against vocabularies, how often a string that is not priced can occur if a word of this count
/// and length holds it.
fn unpriced(instance: &Instance, weight: u64, length: usize) -> u64 {
    if instance.against == Against::Merges {
        return 0;
    }
    let rare = if weight <= instance.floor {
        instance.floor
    } else {
        0
    };
    let long = if length > instance.counted() {
        instance.repeats.too_long
    } else {
        0
    };
    rare.max(long)
}
