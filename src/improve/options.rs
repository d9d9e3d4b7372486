//! What a search is asked for, and what can be seen of it while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The limits of a search.
#[derive(Debug, Clone)]
pub struct ImproveOptions {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of moves to try; None: as many as the deadline allows.
    pub num_moves: Option<u64>,
    /// When to end the search.
    pub deadline: Option<Instant>,
    /// The number of threads; it does not change the result of a given number of moves.
    pub num_threads: usize,
    /// The length of the longest new token, in symbols.
    pub max_token_length: usize,
}

impl ImproveOptions {
    /// The part of the search that is done after `num_moves` moves; 1 or more: all of it.
    pub(super) fn part_done(&self, num_moves: u64, started: Instant) -> f64 {
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

/// The progress of a search, to be read from another thread.
#[derive(Debug, Default)]
pub struct ImproveProgress {
    num_tokens: AtomicU64,
}

impl ImproveProgress {
    /// The number of tokens that the words currently have; 0 before the search begins.
    #[must_use]
    pub fn num_tokens(&self) -> u64 {
        self.num_tokens.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, num_tokens: u64) {
        self.num_tokens.store(num_tokens, Ordering::Relaxed);
    }
}
