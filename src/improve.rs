//! Merge lists better than greedy's, of the same length: local search.
//!
//! Greedy takes the pair that saves most and never looks back. What it leaves on the table is mostly
//! the order of the merges and how tokens are split (docs/theory.md): a token that takes a letter
//! from a better one, or cannot be built any more because another merge came first. So a move here
//! changes ranks, splits and tokens together, mends the tokens that it leaves underivable, and is
//! weighed exactly: only words on whose derivation some change acts are derived again.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]

mod corpus;
mod derivation;
mod draft;
mod finish;
mod list;
mod moves;
mod random;
mod sample;
mod search;
mod state;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use self::corpus::{Corpus, ONCE};
use self::state::{Scratch, State};
use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::MergeList;
use crate::watch::Watch;

/// Of so many words some will be met again, and others like them that were not seen: a token that
/// many words share will do for more of those than one that a few words have. So where tokens are
/// rare, each word weighs more than it was seen; where they are frequent, the counts are reliable.
const MANY_WORDS: usize = 1000;
const MOST_EXTRA: u64 = 3 * ONCE / 2;
/// As a product of a token's weight and the extra weight of a word.
const RARE: u64 = 15 * ONCE * ONCE;

/// How to search.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the random numbers begin.
    pub seed: u64,
    /// How many moves to try; None: as many as the deadline allows.
    pub num_moves: Option<u64>,
    /// When to be done.
    pub deadline: Option<Instant>,
    /// How many threads work; with the same number of moves the result is the same with any.
    pub num_threads: usize,
    /// No new token has more symbols.
    pub longest_token: usize,
}

impl Options {
    /// The part of the search that is done.
    fn progress(&self, num_moves: u64, started: Instant) -> f64 {
        if let Some(all) = self.num_moves {
            return if num_moves < all {
                num_moves as f64 / all as f64
            } else {
                1.0
            };
        }
        match self.deadline {
            Some(deadline) => {
                let all = deadline.saturating_duration_since(started).as_secs_f64();
                started.elapsed().as_secs_f64() / all.max(1e-9)
            }
            None => 0.0,
        }
    }
}

/// Where a search stands, to be read from another thread.
#[derive(Debug, Default)]
pub struct Standing {
    num_tokens: AtomicU64,
}

impl Standing {
    /// How many tokens the words have now; 0 before the search begins.
    #[must_use]
    pub fn num_tokens(&self) -> u64 {
        self.num_tokens.load(Ordering::Relaxed)
    }

    fn set(&self, num_tokens: u64) {
        self.num_tokens.store(num_tokens, Ordering::Relaxed);
    }
}

/// A list as long as `initial`, found by a search that begins there; `initial` itself if no list of
/// that length was found, or the search was ended before it began.
///
/// The merges of `initial` make distinct strings; those for which `is_pinned` says so stay tokens.
/// The caller judges the result: with many words too long for the search it may be no better.
pub fn improve(
    counts: &WordCounts,
    initial: &MergeList,
    is_pinned: &[bool],
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<MergeList> {
    match find(counts, initial, is_pinned, options, watch, standing) {
        Ok(Some(list)) => Ok(list),
        Ok(None) | Err(Error::Interrupted) => Ok(initial.clone()),
        Err(error) => Err(error),
    }
}

fn find(
    counts: &WordCounts,
    initial: &MergeList,
    is_pinned: &[bool],
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<Option<MergeList>> {
    let (alphabet, merges) = (initial.alphabet(), initial.pairs());
    if merges.is_empty() {
        return Ok(None);
    }
    let mut corpus = Corpus::new(counts, alphabet, watch)?;
    if corpus.num_words() >= MANY_WORDS {
        let state = State::new(&corpus, alphabet.len(), merges, is_pinned, watch)?;
        let extra = state.price().map_or(0, |price| RARE / price.max(1));
        corpus.add_to_weights(extra.min(MOST_EXTRA));
    }
    let mut state = State::new(&corpus, alphabet.len(), merges, is_pinned, watch)?;
    standing.set(state.num_tokens);
    let Some(price) = state.price() else {
        return Ok(None);
    };
    let len = merges.len();
    let best = search::search(&mut state, price as f64, len, options, watch, standing)?;
    let mut scratch = Scratch::default();
    let mut is_whole = finish::finish(&mut state, len, options.longest_token, &mut scratch);
    if !is_whole || best.cost < state.cost {
        // The search is over, and so is what the watch is for.
        let (merges, is_pinned) = (&best.merges, &best.is_pinned);
        state = State::new(
            &corpus,
            alphabet.len(),
            merges,
            is_pinned,
            &Watch::default(),
        )?;
        is_whole = finish::finish(&mut state, len, options.longest_token, &mut scratch);
    }
    if !is_whole {
        return Ok(None);
    }
    let pairs = state.list.merges().into_iter().map(|(pair, _)| pair);
    MergeList::from_pairs(alphabet.clone(), pairs).map(Some)
}
