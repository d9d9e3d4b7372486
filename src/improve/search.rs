//! Simulated annealing over merge lists.
//!
//! Moves come in rounds. The drafts of a round are drawn and weighed against one state, by any
//! thread; then they are looked at in order, and those that are accepted are made, after another
//! weighing if one before them was. So the result does not depend on the number of threads.

use std::sync::Mutex;
use std::time::Instant;

use super::draft::{Draft, Edit};
use super::moves::{Guide, propose, repair};
use super::random::Random;
use super::state::{Outcome, Scratch, State};
use super::{Options, Standing};
use crate::error::Result;
use crate::merges::Id;
use crate::parallel::{for_each, into_inner, lock};
use crate::watch::Watch;

/// How many moves a round has.
const ROUND: u64 = 64;
/// Every so many rounds, what moves draw from is brought up to date.
const ROUNDS_BETWEEN_LOOKS: u64 = 64;
/// With more tokens there are more rounds between lists that are kept.
const TOKENS_A_ROUND: u64 = 64;
/// With more words there are more rounds between looks.
const WORDS_PER_ROUND: u64 = 4096;
/// Pairs are drawn that occur at least so many times the price.
const WORTH_JOINING: f64 = 0.6;
/// Temperatures in units of the price of a token. With so many moves for each token the search can
/// afford to begin at one; with fewer moves it begins cooler.
const MOVES_TO_COOL: f64 = 300.0;
const HOTTEST: f64 = 1.0;
const COOLEST: f64 = 0.02;
/// Short lists, whose tokens are dear, never begin hotter than their length over this.
const LEN_OF_HOT: f64 = 500.0;
/// Before the last part.
const COLD: f64 = 0.003;
/// The last part of the search accepts nothing that is worse.
const FROZEN: f64 = 0.95;
/// With one part in so many too many tokens, the price is multiplied by e, which is the most.
const STIFFNESS: f64 = 25.0;
/// But in short lists that takes so many tokens.
const SLACK: f64 = 20.0;
/// How fast the price follows, a round.
const LEARNING: f64 = 0.001;
/// Drafts that cost at most so many prices are repaired.
const WORTH_REPAIR: f64 = 300.0;
const MOST_REPAIRS: usize = 3;
/// Drafts of strings that occur in more places are first weighed on a sample of the words.
const SCREENED: usize = 256;
/// Drafts that seem to cost so many prices too much, as far as a sample shows, are weighed exactly.
const DOUBT: f64 = 1.0;

/// A draft that may be accepted.
struct Candidate {
    number: u64,
    edit: Edit,
    outcome: Outcome,
    /// What it may cost at most.
    allowed: f64,
}

/// The best list that was not too long, as it was.
#[derive(Debug)]
pub(super) struct Best {
    pub(super) cost: u64,
    /// The tokens in order: the ids of their parts, and whether they are pinned.
    pub(super) merges: Vec<(Id, Id)>,
    pub(super) is_pinned: Vec<bool>,
}

impl Best {
    fn of(state: &State<'_>) -> Self {
        let (merges, is_pinned) = state.list.merges().into_iter().unzip();
        Self {
            cost: state.cost,
            merges,
            is_pinned,
        }
    }
}

/// Search until the moves are made or the watch ends it; the best that was seen on the way.
pub(super) fn search(
    state: &mut State<'_>,
    price: f64,
    len: usize,
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<Best> {
    let mut best = Best::of(state);
    // Lists are kept seldom enough not to be felt.
    let rounds_between_bests = 1 + len as u64 / TOKENS_A_ROUND;
    let mut steering = Steering::new(price, len);
    let (started, mut done) = (Instant::now(), 0);
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(options.num_threads.max(1), Scratch::default);
    let rounds_between_looks =
        ROUNDS_BETWEEN_LOOKS.max(state.corpus.num_words() as u64 / WORDS_PER_ROUND);
    for round in 0.. {
        let progress = options.progress(done, started);
        if progress >= 1.0 || watch.is_stopped() {
            break;
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
        let temperature = price * steering.temperature(progress, done);
        let until = options.num_moves.unwrap_or(u64::MAX).min(done + ROUND);
        let candidates = draw(
            state,
            guide,
            temperature,
            done..until,
            options,
            &mut scratches,
        )?;
        let mut is_changed = false;
        for candidate in candidates {
            is_changed |= settle(state, candidate, &steering, is_changed, &mut scratches[0]);
        }
        steering.learn(state.list.len());
        watch.advance(until - done);
        done = until;
        standing.set(state.num_tokens);
        let is_better = state.list.len() <= len && state.cost < best.cost;
        if is_better && round % rounds_between_bests == 0 {
            best = Best::of(state);
        }
    }
    Ok(best)
}

/// The price of a token, such that there are about as many as there should be.
struct Steering {
    /// What a token seems to be worth.
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

    /// How much the price has to change when there are `len` tokens, as a power of e.
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

    /// The temperature in units of the price, after so many moves.
    fn temperature(&self, progress: f64, num_moves: u64) -> f64 {
        if progress >= FROZEN {
            return 0.0;
        }
        let moves_of_token = num_moves as f64 / progress.max(1e-9) / self.len;
        let hottest = HOTTEST.min(self.len / LEN_OF_HOT);
        let hot = (moves_of_token / MOVES_TO_COOL).min(hottest).max(COOLEST);
        hot * (COLD / hot).powf(progress / FROZEN)
    }
}

/// The candidates among the moves of these numbers, in their order.
fn draw(
    state: &State<'_>,
    guide: Guide,
    temperature: f64,
    numbers: std::ops::Range<u64>,
    options: &Options,
    scratches: &mut [Scratch],
) -> Result<Vec<Candidate>> {
    let num_moves = (numbers.end - numbers.start) as usize;
    let found = Mutex::new(Vec::new());
    for_each(scratches, num_moves, |scratch, index| {
        let number = numbers.start + index as u64;
        let candidate = candidate(state, guide, temperature, number, options.seed, scratch);
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
        let cost_of = |outcome: &Outcome| outcome.delta as f64 + cost_of_growth;
        let mut is_sampled = draft.edit.num_places() > SCREENED;
        let mut outcome = if is_sampled {
            state.estimate(&draft, scratch)
        } else {
            state.weigh(&draft, scratch)
        };
        if is_sampled && cost_of(&outcome) <= allowed + guide.price * DOUBT {
            outcome = state.weigh(&draft, scratch);
            is_sampled = false;
        }
        let cost = cost_of(&outcome);
        if !is_sampled && cost <= allowed && !is_idle(&outcome, &draft.edit) {
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
        let effects = state.effects(&draft, &outcome, is_sampled, scratch);
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
    let outcome = state.weigh(&draft, scratch);
    if outcome.delta as f64 + cost_of_growth > allowed {
        return false;
    }
    let edit = draft.edit;
    state.make(&edit, &outcome, scratch);
    true
}
