//! What a search for prices has found, and how far it is.

use std::sync::Mutex;

use super::claim::{Ring, Rings};
use super::instance::Instance;
use super::rounded_rings::RoundedRings;
use super::rounding::RoundedBatch;
use super::schedule::DescentOptions;
use super::tolls::Around;
use crate::merges::Id;
use crate::parallel;
use crate::prices::{StringIndex, whole_tokens};

/// Prices and what they prove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundPrices {
    /// No list of the instance's number of merges, or no vocabulary of that number of strings, saves
    /// more tokens.
    pub gain: u64,
    /// The same before it was rounded down, in units of 1 / 2^bits.
    pub total: i128,
    /// The proof: for each distinct piece in ascending order and each symbol of it, how much it costs
    /// less than 1; against merges followed by how much each span that begins there costs less than
    /// the smaller of 1 and its dearest parts, the shorter spans first.
    pub discounts: Vec<u32>,
    /// The number of steps taken, without those of trials.
    pub num_steps: usize,
    /// The strings with the largest losses, one for each merge: a good vocabulary.
    pub chosen: Vec<Vec<Id>>,
    /// The tree of cases of which the proof has the prices, one after the other; see
    /// [`Case`](super::Case).
    pub tree: Vec<Option<Vec<Id>>>,
    /// The rings of a proof by one case.
    pub rings: Rings,
    /// For each piece in ascending order, and each place in it where spans with a price cross along a
    /// chain, or the strings of two are neighbours by either, its credit in units of 1 / 2^bits. The
    /// spans of a place are written in the order that begins with the first of those at its ends, and
    /// spans, then places, are ordered by their starts and their lengths.
    pub credits: Vec<u32>,
}

/// Prices as integers, and what they prove.
#[derive(Debug)]
pub(super) struct Rounded {
    pub(super) batches: Vec<RoundedBatch>,
    pub(super) rings: RoundedRings,
    pub(super) total: i128,
}

/// The progress of a descent, to be read from another thread.
#[derive(Debug, Default)]
pub struct DescentProgress(Mutex<(usize, Option<u64>)>);

impl DescentProgress {
    /// Note the number of steps taken.
    pub(super) fn set_steps(&self, num_steps: usize) {
        parallel::lock(&self.0).0 = num_steps;
    }

    /// Note the number of steps taken, and the most that can be gained.
    pub(super) fn set(&self, num_steps: usize, gain: u64) {
        *parallel::lock(&self.0) = (num_steps, Some(gain));
    }

    /// The number of steps taken, and the most that can be gained by the best bound so far; None
    /// before the first.
    pub fn read(&self) -> (usize, Option<u64>) {
        *parallel::lock(&self.0)
    }
}

impl FoundPrices {
    /// Keep these prices if their bound is the smallest so far.
    pub(super) fn keep(
        &mut self,
        rounded: Rounded,
        instance: &Instance,
        options: &DescentOptions,
        progress: &DescentProgress,
    ) {
        if rounded.total < self.total {
            self.total = rounded.total;
            self.gain = whole_tokens(self.total, options.bits);
            self.discounts = Vec::new();
            self.discounts.reserve_exact(instance.num_prices());
            self.credits = Vec::new();
            for batch in rounded.batches {
                self.discounts.extend(batch.discounts);
                self.credits.extend(batch.credits);
            }
            let spelled = |string: &StringIndex| instance.symbols_of(string.at()).to_vec();
            let in_full = |(around, toll): (Around, u64)| Ring {
                strings: around.iter().map(|(string, _)| spelled(string)).collect(),
                by_both: around.iter().map(|&(_, by_both)| by_both).collect(),
                toll,
            };
            let chains = rounded.rings.chains.iter();
            let chains = chains.map(|chain| chain.iter().map(spelled).collect());
            self.rings = Rings {
                chains: chains.collect(),
                rings: rounded.rings.rings.into_iter().map(in_full).collect(),
            };
            parallel::lock(&progress.0).1 = Some(self.gain);
        }
    }
}
