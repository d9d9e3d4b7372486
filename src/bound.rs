//! How close a merge list is to the best one: a bound that prices prove.
//!
//! Two bounds (docs/theory.md). Against merges: give every symbol of a word and every span that could
//! be a token a price of at most 1; climbing a tree of merges, the prices of its leaves sum to at most
//! 1 plus the losses of its inner nodes, where the loss of a span is what its dearest two parts cost
//! more than it does. Against vocabularies: only symbols have prices, and the loss of a span is what
//! its symbols cost more than 1. Either way, M merges or M strings save at most
//!
//! ```text
//! sum of (1 - price) over the symbols  +  the M largest sums of losses over the spans of one string
//! ```
//!
//! Strings that occur at most `floor` times get no prices against merges: deleting them from the
//! trees adds at most `floor` tokens each, so that each merge counts as `floor` at least.
//!
//! Spans that are too long for a price of their own cost as much as their symbols, at most 1. Each
//! merge counts as much as the largest loss of such a string at least.
//!
//! Any prices give a valid bound. [`ascend`] finds good ones, by gradient ascent in floating point;
//! [`verify`] computes the bound from the words and the prices, in integers, and shares nothing with
//! the ascent. The formal twin is `formal.bound`.

// Prices found in floating point are only a proposal: the bound is computed in integers.
#![allow(clippy::cast_precision_loss)]

mod ascent;
mod forest;
mod instance;
mod long;
mod naming;
mod overlaps;
mod part;
pub mod proof;
mod repeats;
mod rounding;
mod schedule;
mod smooth;
mod spread;
mod start;
mod step;
#[cfg(test)]
mod tests;
mod threshold;
mod verify;
mod words;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use ascent::ascend;
pub use instance::{Against, Instance, LONGEST};
pub use verify::{Claim, Flaw, verify};
pub use words::Words;

use crate::merges::Id;

/// How to look for prices.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many steps to take; None: as many as the deadline allows, a few hundred without one.
    pub num_steps: Option<usize>,
    /// When to be done, without `num_steps`.
    pub deadline: Option<Instant>,
    /// Prices are integers in units of 1 / 2^bits; 10 is enough, at most 16.
    pub bits: u32,
    /// How many threads work; with the same number of steps the result is the same with any.
    pub num_threads: usize,
}

/// Prices and what they prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// No list of that many merges, or no vocabulary of that many strings, saves more tokens.
    pub gain: u64,
    /// The same before it was rounded down, in units of 1 / 2^bits.
    pub total: i128,
    /// The proof: for each distinct piece in ascending order and each symbol of it, how much it costs
    /// less than 1; against merges followed by how much each span that begins there costs less than
    /// the smaller of 1 and its dearest parts, the shorter spans first.
    pub discounts: Vec<u32>,
    /// How many steps were taken.
    pub num_steps: usize,
    /// The strings with the largest losses, as many as there are merges: a good vocabulary.
    pub chosen: Vec<Vec<Id>>,
}

/// Where an ascent stands, to be read from another thread.
#[derive(Debug)]
pub struct Standing {
    num_steps: AtomicU64,
    gain: AtomicU64,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            num_steps: AtomicU64::new(0),
            gain: AtomicU64::new(u64::MAX),
        }
    }
}

impl Standing {
    /// How many steps were taken, and what can be gained at most by what is known so far.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        let num_steps = self.num_steps.load(Ordering::Relaxed);
        (num_steps, self.gain.load(Ordering::Relaxed))
    }

    fn advance(&self) {
        self.num_steps.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, gain: u64) {
        self.gain.store(gain, Ordering::Relaxed);
    }
}
