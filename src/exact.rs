//! The best list of M merges for a text: equation 3 of the paper, solved exactly.
//!
//! Three methods with one answer. `BruteForce` tries every sequence of merges that replace something;
//! `Guarded` is Algorithm 3 of the paper with a guard that is right; `BranchAndBound` visits a tiny
//! part of them: it leaves out every sequence that cannot gain more than the best one known, by the
//! forest bound (`forest`) and the types of boundaries (`text`), and every state that was reached
//! before. Limits end the search with the best list so far and a bound that holds.
//!
//! The formal twins are `formal.exact_brute_force` and `formal.exact_guarded`.

mod ascent;
mod beam;
mod depth_first;
mod forest;
mod search;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};

pub use text::{Pair, Text};

use crate::error::Result;
use crate::watch::Watch;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The paper's unpruned search.
    BruteForce,
    /// The paper's Algorithm 3, corrected.
    Guarded,
    /// What is meant to be used.
    BranchAndBound,
}

/// What to search for, and for how long.
#[derive(Debug, Clone)]
pub struct Options {
    /// The length of the list.
    pub num_merges: usize,
    /// How to search.
    pub method: Method,
    /// How many nodes may be visited.
    pub node_limit: Option<u64>,
    /// About how many bytes may be used for what was seen and what is open.
    pub memory_limit: usize,
    /// How many threads work; the answer is the same with any number.
    pub num_threads: usize,
}

/// Which limit ended a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The watch's deadline.
    Time,
    /// `Options::node_limit`.
    Nodes,
    /// A stop was asked for.
    Interrupt,
}

impl Limit {
    /// Why a watch stopped the work.
    fn of(watch: &Watch) -> Self {
        if watch.was_interrupted() {
            Self::Interrupt
        } else {
            Self::Time
        }
    }
}

/// The best list found, and how good any list can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Pairs of ids; the merges make the ids after those of the symbols.
    pub merges: Vec<Pair>,
    /// How many tokens they save.
    pub utility: u64,
    /// No list of the same length saves more. Equal to the utility unless a limit was met.
    pub bound: u64,
    /// How many nodes were visited.
    pub nodes: u64,
    /// Which limit ended the search, if one did.
    pub limit: Option<Limit>,
}

/// Where a search stands, to be read from another thread.
#[derive(Debug, Default)]
pub struct Standing {
    utility: AtomicU64,
    bound: AtomicU64,
}

impl Standing {
    /// The best utility so far, and the bound.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        let utility = self.utility.load(Ordering::Relaxed);
        (utility, self.bound.load(Ordering::Relaxed))
    }

    fn set(&self, utility: u64, bound: u64) {
        self.utility.store(utility, Ordering::Relaxed);
        self.bound.store(bound, Ordering::Relaxed);
    }
}

/// The best list of merges for a text.
pub fn solve(
    text: &Text,
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<Solution> {
    match options.method {
        Method::BranchAndBound => search::search(text, options, watch, standing),
        method => {
            let is_guarded = method == Method::Guarded;
            Ok(depth_first::depth_first(
                text, options, is_guarded, watch, standing,
            ))
        }
    }
}
