//! Simulated annealing over merge lists.
//!
//! Moves come in rounds. The drafts of a round are drawn and weighed against one state, by any
//! thread. Then one thread takes them in order and makes those that are accepted; after the first,
//! each is weighed again. So the result does not depend on the number of threads.

use std::sync::Mutex;
use std::time::Instant;

use super::ImproveProgress;
use super::again::{Made, Reach};
use super::builder::Guide;
use super::chains::Pace;
use super::draft::{Draft, Edit};
use super::list::PinnedMerge;
use super::moves::{propose, repair};
use super::random::Random;
use super::state::{Outcome, Scratch, State};
use crate::error::Result;
use crate::parallel::{Team, into_inner, lock};
use crate::watch::Watch;

/// The number of moves in a round.
const ROUND: u64 = 64;
/// The smallest number of rounds after which the pools that moves draw from are refreshed.
const ROUNDS_BETWEEN_REFRESHES: u64 = 64;
/// A refresh takes as many rounds more as there are words over this.
const WORDS_PER_ROUND: u64 = 4096;
/// The best list is kept every as many rounds as there are tokens over this.
const TOKENS_PER_ROUND: u64 = 64;
/// The smallest weight of the pairs that are drawn, in prices of a token.
const WORTH_JOINING: f64 = 0.6;
/// Temperatures, in prices of a token: with this number of moves for each token, the search begins
/// at the hottest; with fewer it begins cooler.
const MOVES_TO_COOL: f64 = 300.0;
const HOTTEST: f64 = 1.0;
const COOLEST: f64 = 0.02;
/// Short lists, whose tokens cost much, never begin hotter than their length over this.
const LEN_OF_HOT: f64 = 500.0;
/// The temperature before the last part of the search.
const COLD: f64 = 0.003;
/// Where the last part begins, which accepts no change for the worse.
const FROZEN: f64 = 0.95;
/// With too many tokens by one part in this, the price is multiplied by e, the largest factor.
const STIFFNESS: f64 = 25.0;
/// In short lists the largest factor takes this number of tokens too many.
const SLACK: f64 = 20.0;
/// The part by which the price follows in a round.
const LEARNING: f64 = 0.001;
/// Drafts that cost at most this number of prices are repaired.
const WORTH_REPAIR: f64 = 300.0;
const MOST_REPAIRS: usize = 3;
/// Drafts of strings that occur in more places are first weighed on a sample of the words.
const SCREENED: usize = 256;
/// Drafts that a sample shows to cost at most this number of prices too much are weighed exactly.
const DOUBT: f64 = 1.0;

/// A draft that may be accepted.
struct Candidate {
    number: u64,
    edit: Edit,
    outcome: Outcome,
    reach: Reach,
    /// The highest cost at which it is accepted.
    allowed: f64,
}

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
    let num_tokens_before = state.num_tokens as i64;
    // Copies of the list are rare enough to take no noticeable time.
    let rounds_between_bests = 1 + len as u64 / TOKENS_PER_ROUND;
    let mut steering = Steering::new(price, len);
    let (started, mut done) = (Instant::now(), 0);
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(team.num_threads(), Scratch::default);
    let rounds_between_refreshes =
        ROUNDS_BETWEEN_REFRESHES.max(state.corpus.num_words() as u64 / WORDS_PER_ROUND);
    for round in 0.. {
        if done == 0 {
            watch.check()?;
        }
        let part_done = pace.part_done(done, started);
        if part_done >= 1.0 || watch.is_stopped() {
            break;
        }
        let price = steering.price(state.list.len());
        if round % rounds_between_refreshes == 0 {
            state.list.spread_ranks();
            let refreshed = state.refresh(price * WORTH_JOINING, team, watch);
            if refreshed.is_err() && done > 0 {
                break;
            }
            refreshed?;
        }
        let guide = Guide {
            price,
            max_token_length: goal.max_token_length,
            temperature: price * steering.temperature(part_done, done),
        };
        let until = pace.num_moves.unwrap_or(u64::MAX).min(done + ROUND);
        let mut made = Made::default();
        let moves = done..until;
        for candidate in draw(state, guide, moves, pace.seed, team, &mut scratches)? {
            settle(state, candidate, &steering, &mut made, &mut scratches[0]);
        }
        steering.learn(state.list.len());
        watch.advance(until - done);
        done = until;
        progress.set_saved(num_tokens_before - state.num_tokens as i64);
        let is_better = state.list.len() <= len && state.cost < best.0;
        if is_better && round % rounds_between_bests == 0 {
            best = (state.cost, state.list.merges());
        }
    }
    Ok(best)
}

/// The price of a token, such that the number of tokens stays near the wanted one.
struct Steering {
    /// The price at the wanted number of tokens.
    base: f64,
    len: f64,
    stiffness: f64,
}

impl Steering {
    fn new(price: f64, len: usize) -> Self {
        Self {
            base: price.max(1.0),
            len: len as f64,
            stiffness: STIFFNESS.min(len as f64 / SLACK),
        }
    }

    /// The logarithm of the factor of the price when there are `len` tokens.
    fn pull(&self, len: usize) -> f64 {
        let excess = (len as f64 - self.len) / self.len;
        (self.stiffness * excess).clamp(-1.0, 1.0)
    }

    /// The price when there are `len` tokens.
    fn price(&self, len: usize) -> f64 {
        self.base * self.pull(len).exp()
    }

    fn learn(&mut self, len: usize) {
        self.base = (self.base * (1.0 + LEARNING * self.pull(len))).max(1.0);
    }

    /// The temperature, in prices, when a part of the search and `num_moves` moves are done.
    fn temperature(&self, part_done: f64, num_moves: u64) -> f64 {
        if part_done >= FROZEN {
            return 0.0;
        }
        let moves_of_token = num_moves as f64 / part_done.max(1e-9) / self.len;
        let hottest = HOTTEST.min(self.len / LEN_OF_HOT);
        let hot = (moves_of_token / MOVES_TO_COOL).min(hottest).max(COOLEST);
        hot * (COLD / hot).powf(part_done / FROZEN)
    }
}

/// The candidates among the moves `numbers`, in their order.
fn draw(
    state: &State<'_>,
    guide: Guide,
    numbers: std::ops::Range<u64>,
    seed: u64,
    team: &Team,
    scratches: &mut [Scratch],
) -> Result<Vec<Candidate>> {
    let num_moves = (numbers.end - numbers.start) as usize;
    let found = Mutex::new(Vec::new());
    team.for_each(scratches, num_moves, |scratch, index| {
        let number = numbers.start + index as u64;
        // Drawn first: in one line with the lock, threads would wait for one another.
        let candidate = candidate(state, guide, number, seed, scratch);
        lock(&found).extend(candidate);
        Ok(())
    })?;
    let mut candidates: Vec<Candidate> = into_inner(found);
    candidates.sort_unstable_by_key(|candidate| candidate.number);
    Ok(candidates)
}

/// Draw one move and weigh it, with its repairs.
fn candidate(
    state: &State<'_>,
    guide: Guide,
    number: u64,
    seed: u64,
    scratch: &mut Scratch,
) -> Option<Candidate> {
    let mut random = Random::of_move(seed, number);
    let allowed = -guide.temperature * (1.0 - random.unit()).ln();
    let mut draft = propose(state, guide, &mut random)?;
    let mut worth_repair = WORTH_REPAIR * guide.price;
    for num_repairs in 0..=MOST_REPAIRS {
        debug_assert!(draft.is_valid(), "{:?}", draft.edit);
        let cost_of_growth = draft.edit.growth() as f64 * guide.price;
        let cost_of = |outcome: &Outcome| outcome.delta as f64 + cost_of_growth;
        let mut outcome = if draft.edit.num_places() > SCREENED {
            state.estimate(&draft, scratch)
        } else {
            state.weigh(&draft, scratch)
        };
        if outcome.is_sampled && cost_of(&outcome) <= allowed + guide.price * DOUBT {
            outcome = state.weigh(&draft, scratch);
        }
        let cost = cost_of(&outcome);
        let is_idle = outcome.words.is_empty() && draft.edit.growth() == 0;
        if !outcome.is_sampled && cost <= allowed && !is_idle {
            let reach = state.reach(&draft, scratch);
            return Some(Candidate {
                number,
                edit: draft.edit,
                outcome,
                reach,
                allowed,
            });
        }
        if num_repairs == MOST_REPAIRS || cost > worth_repair {
            return None;
        }
        worth_repair = cost * 0.7;
        let effects = state.effects(&draft, &outcome, scratch);
        draft = repair(state, guide, draft, &effects, &mut random)?;
    }
    None
}

/// Make a candidate, unless it is no longer good after those that were made since it was weighed.
fn settle(
    state: &mut State<'_>,
    candidate: Candidate,
    steering: &Steering,
    made: &mut Made,
    scratch: &mut Scratch,
) {
    if !made.is_any {
        state.make(&candidate.edit, &candidate.outcome);
        made.add(&candidate.edit, &candidate.outcome);
        return;
    }
    let Some(draft) = Draft::again(&state.list, candidate.edit) else {
        return;
    };
    // The current price: at an old one, a round could remove too many and the next add too many.
    let cost_of_growth = draft.edit.growth() as f64 * steering.price(state.list.len());
    let outcome = state.weigh_again(&draft, &candidate.reach, made, scratch);
    if outcome.delta as f64 + cost_of_growth <= candidate.allowed {
        let edit = draft.edit;
        state.make(&edit, &outcome);
        made.add(&edit, &outcome);
    }
}
