//! Simulated annealing over merge lists.
//!
//! Moves come in rounds, see [`super::round`].

use std::time::Instant;

use super::ImproveProgress;
use super::builder::Guide;
use super::chains::Pace;
use super::list::PinnedMerge;
use super::round::{Move, Round, play};
use super::state::{Scratch, State};
use super::steering::Steering;
use crate::error::{Error, Result};
use crate::parallel::Team;
use crate::watch::Watch;

/// The number of moves in a round, at least and at most.
const FEWEST_OF_ROUND: u64 = 64;
const MOST_OF_ROUND: u64 = 256;
/// Between these limits, a list has this number of merges for each move of a round.
const MERGES_PER_MOVE: u64 = 4;
/// The smallest number of moves after which the pools that moves draw from are refreshed.
const MOVES_BETWEEN_REFRESHES: u64 = 4096;
/// With more words for each move than this, they are refreshed less often.
const WORDS_PER_MOVE: u64 = 64;
/// The smallest weight of the pairs that are drawn, in prices of a token.
const WORTH_JOINING: f64 = 0.6;

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// What a token must save to be worth its place, at first.
    pub(super) price: f64,
    /// The length of the list.
    pub(super) len: usize,
    /// The length of the longest new token, in symbols.
    pub(super) max_token_length: usize,
}

impl Goal {
    /// What moves are judged by, when a token is worth a `price`; the temperature is one in prices.
    fn guide(&self, price: f64, temperature: f64) -> Guide {
        Guide {
            price,
            max_token_length: self.max_token_length,
            temperature: price * temperature,
        }
    }
}

/// Search until the moves are made or the watch ends it. `state` is left at the last list; returns the
/// best on the way that was not too long: its cost, and its tokens in order. An error if the watch
/// ends it before the first move.
pub(super) fn search(
    state: &mut State<'_>,
    goal: Goal,
    pace: &Pace,
    team: &Team,
    watch: &Watch,
    progress: &ImproveProgress,
) -> Result<(u64, Vec<PinnedMerge>)> {
    let Goal { price, len, .. } = goal;
    let mut best = (state.cost, state.list.merges());
    progress.set(state.num_tokens);
    let mut steering = Steering::new(price, len, pace.hottest);
    let (started, mut done) = (Instant::now(), 0);
    let mut scratches = vec![Scratch::default(); team.num_threads()];
    let (most_moves, moves_of_round) = (pace.num_moves.unwrap_or(u64::MAX), moves_of_round(len));
    let mut refreshes = Every::new(moves_between_refreshes(state.corpus.num_words()));
    // Copies of the list are rare enough to take no noticeable time.
    let mut copies = Every::new(len as u64);
    let mut later: Vec<Move> = Vec::new();
    loop {
        if done == 0 {
            watch.check()?;
        }
        let part_done = pace.part_done(done, started);
        let is_over = part_done >= 1.0 && (later.is_empty() || pace.is_over());
        if is_over || watch.is_stopped() {
            break;
        }
        let price = steering.price(state.list.len());
        let guide = goal.guide(price, steering.temperature(part_done, done));
        if refreshes.is_due(done) {
            match state.refresh(price * WORTH_JOINING, team, watch) {
                Err(_) if done > 0 => break,
                outcome => outcome?,
            }
        }
        let until = most_moves.min(done + moves_of_round);
        let round = Round {
            numbers: done..until,
            seed: pace.seed,
            guide,
            steering: &steering,
        };
        let is_late = || watch.is_stopped() || done > 0 && pace.is_over();
        match play(state, &round, later, is_late, team, &mut scratches) {
            Err(Error::Interrupted) if done > 0 => break,
            left => later = left?,
        }
        steering.learn(state.list.len(), until - done);
        watch.advance(until - done);
        done = until;
        progress.set(state.num_tokens);
        let is_better = state.list.len() <= len && state.cost < best.0;
        if is_better && copies.is_due(done) {
            best = (state.cost, state.list.merges());
        }
    }
    Ok(best)
}

/// The number of moves in a round, for a list of `len` merges. Some moves take many times as long as most:
/// in a long round the other threads find enough to do meanwhile. In a short list, moves of a long round
/// would be in each other's way.
fn moves_of_round(len: usize) -> u64 {
    (len as u64 / MERGES_PER_MOVE).clamp(FEWEST_OF_ROUND, MOST_OF_ROUND)
}

/// The number of moves after which the pools that moves draw from are refreshed.
fn moves_between_refreshes(num_words: usize) -> u64 {
    MOVES_BETWEEN_REFRESHES.max(num_words as u64 / WORDS_PER_MOVE)
}

/// Something that is due at first, and then after every so many moves.
struct Every {
    moves: u64,
    next: u64,
}

impl Every {
    fn new(moves: u64) -> Self {
        Self { moves, next: 0 }
    }

    /// Whether it is due after `done` moves; if so, it is done now.
    fn is_due(&mut self, done: u64) -> bool {
        let is_due = done >= self.next;
        if is_due {
            self.next = done + self.moves;
        }
        is_due
    }
}
