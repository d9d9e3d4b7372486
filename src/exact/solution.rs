//! What is searched for, and what was found.

use std::sync::Mutex;

use super::text::Pair;
use crate::parallel;
use crate::watch::Watch;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The paper's unpruned search.
    BruteForce,
    /// The paper's Algorithm 3, corrected.
    Guarded,
    /// Much faster than the others.
    BranchAndBound,
}

/// What to search for, and for how long.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// The length of the list.
    pub num_merges: usize,
    /// How to search.
    pub method: Method,
    /// The most nodes to visit.
    pub node_limit: Option<u64>,
    /// About how many bytes may be used for the states that were reached and the open nodes.
    pub memory_limit: usize,
    /// The number of threads; the answer does not depend on it.
    pub num_threads: usize,
}

/// Which limit ended a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The watch's deadline.
    Time,
    /// `SearchOptions::node_limit`.
    Nodes,
    /// The watch was stopped.
    Interrupt,
}

impl Limit {
    /// Why a watch stopped the work.
    pub(super) fn of(watch: &Watch) -> Self {
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
    /// The number of tokens that they save.
    pub utility: u64,
    /// No list of the same length saves more. Equal to the utility unless a limit was met.
    pub bound: u64,
    /// The number of nodes visited.
    pub nodes: u64,
    /// Which limit ended the search, if one did.
    pub limit: Option<Limit>,
}

/// The progress of a search, to be read from another thread.
#[derive(Debug, Default)]
pub struct SearchProgress(Mutex<(u64, u64)>);

impl SearchProgress {
    /// The best utility so far, and the bound.
    pub fn read(&self) -> (u64, u64) {
        *parallel::lock(&self.0)
    }

    pub(super) fn set(&self, utility: u64, bound: u64) {
        *parallel::lock(&self.0) = (utility, bound);
    }
}
