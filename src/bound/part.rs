//! A share of the pieces, with all that changes as prices rise and fall.
//!
//! The pieces are cut into a fixed number of parts, and threads take parts: what is summed up, and
//! in which order, does not depend on the number of threads.

use super::instance::{Against, Instance};
use super::overlaps::Overlaps;

/// How many numbers are worked on side by side.
pub(super) const LANES: usize = 4;

const NUM_PARTS: usize = 16;
const ITEMS_OF_A_PART: usize = 1 << 12;

/// A piece of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// The first symbol of the next piece.
    pub(super) end: u32,
    pub(super) weight: u64,
    /// Against vocabularies: how often an unpriced string in it may occur.
    pub(super) unpriced: u64,
}

/// A place of a long string, between two symbols of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repeat {
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
    /// The price of each item, or against vocabularies of each symbol; and the averages that scale
    /// its steps. Followed by as many more as one may read too far.
    pub(super) prices: Vec<f32>,
    pub(super) means: Vec<f32>,
    pub(super) squares: Vec<f32>,
    /// What the dearest parts of each item cost more than it does; -infinity if that is not counted.
    pub(super) excess: Vec<f32>,
    /// Places of strings too long for a price, and what their symbols cost more than 1.
    pub(super) repeats: Vec<Repeat>,
    pub(super) repeat_excess: Vec<f32>,
    /// How much these press each symbol down.
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
                    start,
                    end: start + place.length,
                    number: place.number,
                    weight,
                });
            }
            symbol = end;
            part.pieces.push(Piece {
                end: part.rows.len() as u32 - 1,
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
        let num_prices = match instance.against {
            Against::Merges => self.num_items(),
            Against::Vocabularies => self.rows.len() - 1,
        };
        self.prices = vec![1.0; num_prices + LANES];
        self.means = vec![0.0; num_prices + LANES];
        self.squares = vec![0.0; num_prices + LANES];
        self.excess = vec![f32::NEG_INFINITY; self.num_items() + LANES];
        self.num_repeats = instance.repeats.number;
        self.losses = vec![0.0; instance.num_strings + self.num_repeats];
        self.repeat_excess = vec![0.0; self.repeats.len()];
        self.pressure = vec![0.0; self.rows.len() - 1];
        let mut start = 0;
        for (index, piece) in self.pieces.iter().enumerate() {
            let rows = &self.rows[start..=piece.end as usize];
            let items = rows[0] as usize..rows[rows.len() - 1] as usize;
            self.overlaps.add(index, rows, &self.names[items]);
            start = piece.end as usize;
        }
    }

    pub(super) fn num_items(&self) -> usize {
        self.rows[self.rows.len() - 1] as usize
    }

    /// How many prices a certificate has for these pieces.
    pub(super) fn num_prices(&self) -> usize {
        self.prices.len() - LANES
    }
}

/// Against vocabularies, how often a string that is not priced can occur if a word of this count
/// and length holds it.
fn unpriced(instance: &Instance, weight: u64, length: usize) -> u64 {
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
