//! A batch of pieces, with all that changes as prices move.
//!
//! Against merges a piece has a price for each of its items. Against vocabularies only symbols have
//! prices; so it is in light pieces against merges, whose spans cost what their symbols do, but not
//! more than 1. Most pieces of a large corpus are light, and prices for their spans would hardly
//! improve the bound. Small corpora have no light pieces.

use std::ops::Range;

use super::against::Against;
use super::chains::Chains;
use super::instance::Instance;
use super::lists::Lists;
use super::overlaps::Overlaps;
use super::repeats::Place;
use super::sections::Section;
use super::symbol_prices::DearSpan;
use crate::prices::{Prices, StringIndex};

/// The number of prices that are worked on side by side.
pub(super) const LANES: usize = 4;

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
    /// Its number in the section.
    pub(super) own: u32,
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
#[derive(Debug)]
pub(super) struct Batch<'a> {
    /// Where the row of each symbol begins among the items, and where the last ends.
    pub(super) rows: Vec<u32>,
    pub(super) pieces: Vec<Piece>,
    /// The string of each item, by its number in the section.
    pub(super) strings: &'a [StringIndex],
    pub(super) section: &'a Section,
    pub(super) overlaps: Overlaps,
    /// The prices of each piece, followed by `LANES` more that may be read but do not count.
    pub(super) prices: Prices,
    /// What the dearest parts of each span with a price cost more than it does; -infinity if that is
    /// not counted.
    pub(super) excess: Vec<f32>,
    /// The spans that may pull prices in pieces in which only symbols have one.
    pub(super) dear: Vec<DearSpan>,
    /// Places of strings too long for a price, and what their symbols cost more than 1.
    pub(super) repeats: Vec<Repeat>,
    pub(super) repeat_excess: Vec<f32>,
    /// How much these press each symbol down; empty without repeats.
    pub(super) pressure: Vec<f32>,
    /// The loss of each string of the section, then that of each repeat.
    pub(super) losses: Vec<f32>,
    /// The loss of each split of the section, if splits are told apart: then `losses` has only what
    /// pieces add in which symbols alone have a price.
    pub(super) split_losses: Vec<f32>,
    pub(super) chains: Chains,
    /// What matters for some steps, where splits are told apart: see `active`.
    pub(super) lists: Lists,
}

impl<'a> Batch<'a> {
    /// The pieces of a section, with all prices 1, given the weight of the heaviest light pieces.
    pub(super) fn new(instance: &'a Instance, section: &'a Section, heaviest_light: u64) -> Self {
        let mut batch = Self {
            rows: vec![0],
            pieces: Vec::with_capacity(section.pieces.len()),
            strings: &instance.strings[section.items.clone()],
            section,
            overlaps: Overlaps::default(),
            prices: Prices::default(),
            excess: Vec::new(),
            dear: Vec::new(),
            repeats: Vec::new(),
            repeat_excess: Vec::new(),
            pressure: Vec::new(),
            losses: vec![0.0; section.num_losses()],
            split_losses: Vec::new(),
            chains: Chains::default(),
            lists: Lists::default(),
        };
        let mut row = 0;
        for &reach in &instance.reach[section.symbols.clone()] {
            row += u32::from(reach);
            batch.rows.push(row);
        }
        batch.add_pieces(instance, heaviest_light);
        batch.add_repeats(instance);
        batch
    }

    fn add_pieces(&mut self, instance: &Instance, heaviest_light: u64) {
        let Section {
            pieces, symbols, ..
        } = self.section;
        let (mut start, mut num_prices) = (0, 0);
        for (&end, &weight) in instance.pieces.ends[pieces.clone()]
            .iter()
            .zip(&instance.pieces.counts[pieces.clone()])
        {
            let end = end - symbols.start;
            let mut piece = Piece {
                weight,
                unpriced: unpriced(instance, weight, end - start),
                start: start as u32,
                end: end as u32,
                first_price: num_prices as u32,
                by_symbol: instance.against == Against::Vocabularies || weight <= heaviest_light,
                ..Piece::default()
            };
            let rows = piece.rows(&self.rows);
            num_prices += piece.num_prices(rows);
            let groups = self.overlaps.add(rows, &self.strings[items_of(rows)]);
            (piece.first_group, piece.end_of_groups) = (groups.start, groups.end);
            self.pieces.push(piece);
            start = end;
        }
        self.prices = Prices::new(vec![1.0; num_prices + LANES]);
        self.excess = vec![f32::NEG_INFINITY; num_prices + LANES];
    }

    fn add_repeats(&mut self, instance: &Instance) {
        let symbols = &self.section.symbols;
        for place in instance.repeats_in(symbols) {
            let start = place.start - symbols.start as u32;
            let piece = self.pieces.partition_point(|piece| piece.end <= start);
            let name = instance.num_strings + place.repeat as usize;
            self.repeats.push(Repeat {
                place: Place { start, ..*place },
                own: self.section.number_of(name) as u32,
                piece: piece as u32,
                weight: self.pieces[piece].weight,
            });
        }
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
