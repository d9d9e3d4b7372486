//! Simulated annealing over merge lists.
//!
//! Moves come in rounds. The drafts of a round are drawn and weighed against one state, by any
//! thread; then they are looked at in order, and those that are accepted are made, after another
//! weighing if one before them was. So the result does not depend on the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::draft::{Draft, Edit};
use super::moves::{Guide, propose, repair};
use super::random::Random;
use super::state::{Outcome, Scratch, State};
use super::{Options, Standing};
use crate::limits::Watch;

/// How many moves a round has.
const ROUND: u64 = 64;
/// Every so many rounds, what moves draw from is brought up to date.
const ROUNDS_BETWEEN_LOOKS: u64 = 64;
/// With more words there are more rounds between looks.
const WORDS_PER_ROUND: u64 = 4096;
/// Pairs are drawn that occur at least so many times the price.
const WORTH_JOINING: f64 = 0.6;
/// Temperatures in units of the price of a token: at the beginning and before the last part.
const HOT: f64 = 0.2;
const COLD: f64 = 0.01;
/// The last part of the search accepts nothing that is worse.
const FROZEN: f64 = 0.95;
/// With one part in so many too many tokens, the price is multiplied by e.
const STIFFNESS: f64 = 25.0;
/// How fast the price follows, a round.
const LEARNING: f64 = 0.001;
/// Drafts that cost at most so many prices are repaired.
const WORTH_REPAIR: f64 = 30.0;
const MOST_REPAIRS: usize = 3;

/// A draft that may be accepted.
struct Candidate {
    number: u64,
    edit: Edit,
    outcome: Outcome,
    /// What it may cost at most.
    allowed: f64,
}

/// Search until the moves are made or the watch ends it.
pub(super) fn search(
    state: &mut State<'_>,
    price: f64,
    len: usize,
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) {
    let mut steering = Steering::new(price, len);
    let (started, mut done) = (Instant::now(), 0);
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(options.num_threads.max(1), Scratch::default);
    let rounds_between_looks =
        ROUNDS_BETWEEN_LOOKS.max(state.corpus.num_words() as u64 / WORDS_PER_ROUND);
    for round in 0.. {
        let progress = options.progress(done, started);
        if progress >= 1.0 || watch.is_stopped() {
            return;
        }
        let price = steering.price(state.list.len());
        if round % rounds_between_looks == 0 {
            state.list.spread_ranks();
            state.look_around(price * WORTH_JOINING);
        }
        let guide = Guide {
            price,
            longest_token: options.longest_token,
        };
        let temperature = price * temperature(progress);
        let until = options.num_moves.unwrap_or(u64::MAX).min(done + ROUND);
        let candidates = draw(
            state,
            guide,
            temperature,
            done..until,
            options,
            &mut scratches,
        );
        let mut is_changed = false;
        for candidate in candidates {
            is_changed |= settle(state, candidate, &steering, is_changed, &mut scratches[0]);
        }
        steering.learn(state.list.len());
        watch.advance(until - done);
        done = until;
        standing.set(state.num_tokens);
    }
}

/// The price of a token, such that there are about as many as there should be.
struct Steering {
    /// What a token seems to be worth.
    base: f64,
    len: f64,
}

impl Steering {
    fn new(price: f64, len: usize) -> Self {
        Self {
            base: price.max(1.0),
            len: len as f64,
        }
    }

    fn excess(&self, len: usize) -> f64 {
        (len as f64 - self.len) / self.len
    }

    /// The price when there are `len` tokens.
    fn price(&self, len: usize) -> f64 {
        self.base * (STIFFNESS * self.excess(len)).clamp(-1.0, 1.0).exp()
    }

    fn learn(&mut self, len: usize) {
        let step = LEARNING * (STIFFNESS * self.excess(len)).clamp(-1.0, 1.0);
        self.base = (self.base * (1.0 + step)).max(1.0);
    }
}

fn temperature(progress: f64) -> f64 {
    if progress >= FROZEN {
        return 0.0;
    }
    HOT * (COLD / HOT).powf(progress / FROZEN)
}

/// The candidates among the moves of these numbers, in their order.
fn draw(
    state: &State<'_>,
    guide: Guide,
    temperature: f64,
    numbers: std::ops::Range<u64>,
    options: &Options,
    scratches: &mut [Scratch],
) -> Vec<Candidate> {
    let (next, end) = (AtomicU64::new(numbers.start), numbers.end);
    let found = Mutex::new(Vec::new());
    let work = |scratch: &mut Scratch| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= end {
                return;
            }
            let candidate = candidate(state, guide, temperature, number, options.seed, scratch);
            if let (Some(candidate), Ok(mut found)) = (candidate, found.lock()) {
                found.push(candidate);
            }
        }
    };
    if let Some((first, others)) = scratches.split_first_mut() {
        std::thread::scope(|scope| {
            for scratch in others {
                scope.spawn(|| work(scratch));
            }
            work(first);
        });
    }
    let mut candidates: Vec<Candidate> = found.into_inner().unwrap_or_default();
    candidates.sort_unstable_by_key(|candidate| candidate.number);
    candidates
}

/// Draw one move and weigh it, with its repairs.
fn candidate(
    state: &State<'_>,
    guide: Guide,
    temperature: f64,
    number: u64,
    seed: u64,
    scratch: &mut Scratch,
) -> Option<Candidate> {
    let mut random = Random::of_move(seed, number);
    let allowed = -temperature * (1.0 - random.unit()).ln();
    let mut draft = propose(state, guide, &mut random)?;
    let mut worth_repair = WORTH_REPAIR * guide.price;
    for num_repairs in 0..=MOST_REPAIRS {
        debug_assert!(draft.is_valid(), "{:?}", draft.edit);
        let cost_of_growth = draft.edit.growth() as f64 * guide.price;
        let limit = worth_repair - cost_of_growth;
        let outcome = state.weigh(&draft, limit, scratch)?;
        let cost = outcome.delta as f64 + cost_of_growth;
        if cost <= allowed && !is_idle(&outcome, &draft.edit) {
            return Some(Candidate {
                number,
                edit: draft.edit,
                outcome,
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

/// Would nothing be otherwise?
fn is_idle(outcome: &Outcome, edit: &Edit) -> bool {
    outcome.words.is_empty() && edit.growth() == 0
}

/// Make a candidate, unless others that were made since its weighing have spoilt it.
fn settle(
    state: &mut State<'_>,
    candidate: Candidate,
    steering: &Steering,
    is_changed: bool,
    scratch: &mut Scratch,
) -> bool {
    let Candidate {
        edit,
        outcome,
        allowed,
        ..
    } = candidate;
    if !is_changed {
        state.make(&edit, &outcome, scratch);
        return true;
    }
    let Some(draft) = Draft::again(&state.list, edit) else {
        return false;
    };
    // The price of now: at an old one, a round could remove too many and the next add too many.
    let cost_of_growth = draft.edit.growth() as f64 * steering.price(state.list.len());
    let Some(outcome) = state.weigh(&draft, allowed - cost_of_growth, scratch) else {
        return false;
    };
    if outcome.delta as f64 + cost_of_growth > allowed {
        return false;
    }
    let edit = draft.edit;
    state.make(&edit, &outcome, scratch);
    true
}
