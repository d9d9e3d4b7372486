//! Simulated annealing over merge lists.
//!
//! Moves come in rounds. The drafts of a round are drawn and weighed against one state, by any
//! thread. Then one thread takes them in order and makes those that are accepted; after the first,
//! each is weighed again. So the result does not depend on the number of threads.
//!
//! Half of the moves are weighed in ten microseconds, one in a hundred takes a hundred times as long. So
//! rounds are long, and their longest moves come first: else most threads would wait for one.

use std::cmp::Reverse;
use std::ops::Range;
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
use crate::error::{Error, Result};
use crate::parallel::{Team, into_inner, lock};
use crate::watch::Watch;

/// The number of moves in a round, at least and at most.
const FEWEST_OF_ROUND: u64 = 64;
const MOST_OF_ROUND: u64 = 256;
/// Between these limits, a list has this number of merges for each move of a round.
const MERGES_PER_MOVE: u64 = 4;
/// The number of moves that a thread draws after one another.
const DRAWN_AT_ONCE: usize = 8;
/// Moves are weighed in groups that change strings of at most this number of places in all, or one; some
/// work of each takes as long as this number of places.
const PLACES_OF_A_GROUP: usize = 256;
const PLACES_OF_A_MOVE: usize = 8;
/// The smallest number of moves after which the pools that moves draw from are refreshed.
const MOVES_BETWEEN_REFRESHES: u64 = 4096;
/// With more words for each move than this, they are refreshed less often.
const WORDS_PER_MOVE: u64 = 64;
/// The smallest weight of the pairs that are drawn, in prices of a token.
const WORTH_JOINING: f64 = 0.6;
/// Temperatures, in prices of a token: with this number of moves for each token, the search begins
/// at the hottest of its pace; with fewer it begins cooler.
const MOVES_TO_COOL: f64 = 300.0;
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
/// The part by which the price follows in a move.
const LEARNING: f64 = 0.001 / 64.0;
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
    progress.set(state.num_tokens);
    let mut steering = Steering::new(price, len, pace.hottest);
    let (started, mut done) = (Instant::now(), 0);
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(team.num_threads(), Scratch::default);
    let num_words = state.corpus.num_words() as u64;
    let (most_moves, moves_of_round) = (pace.num_moves.unwrap_or(u64::MAX), moves_of_round(len));
    let mut refreshes = Every::new(MOVES_BETWEEN_REFRESHES.max(num_words / WORDS_PER_MOVE));
    // Copies of the list are rare enough to take no noticeable time.
    let mut copies = Every::new(len as u64);
    loop {
        if done == 0 {
            watch.check()?;
        }
        let part_done = pace.part_done(done, started);
        if part_done >= 1.0 || watch.is_stopped() {
            break;
        }
        let price = steering.price(state.list.len());
        if refreshes.is_due(done) {
            state.list.spread_ranks();
            match state.refresh(price * WORTH_JOINING, team, watch) {
                Err(_) if done > 0 => break,
                outcome => outcome?,
            }
        }
        let guide = Guide {
            price,
            max_token_length: goal.max_token_length,
            temperature: price * steering.temperature(part_done, done),
        };
        let until = most_moves.min(done + moves_of_round);
        let (moves, seed) = (done..until, pace.seed);
        let round = Round { moves, seed, guide };
        let is_late = || watch.is_stopped() || done > 0 && pace.is_over();
        match draw(state, &round, is_late, team, &mut scratches) {
            Err(Error::Interrupted) if done > 0 => break,
            candidates => settle(state, candidates?, &steering, &mut scratches[0]),
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

/// The price of a token, such that the number of tokens stays near the wanted one.
struct Steering {
    /// The price at the wanted number of tokens.
    base: f64,
    len: f64,
    stiffness: f64,
    /// The highest temperature.
    hottest: f64,
}

impl Steering {
    fn new(price: f64, len: usize, hottest: f64) -> Self {
        Self {
            base: price.max(1.0),
            len: len as f64,
            stiffness: STIFFNESS.min(len as f64 / SLACK),
            hottest: hottest.min(len as f64 / LEN_OF_HOT),
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

    /// Follow the number of tokens, `len` after `num_moves` more moves.
    fn learn(&mut self, len: usize, num_moves: u64) {
        let part = LEARNING * num_moves as f64;
        self.base = (self.base * (1.0 + part * self.pull(len))).max(1.0);
    }

    /// The temperature, in prices, when a part of the search and `num_moves` moves are done.
    fn temperature(&self, part_done: f64, num_moves: u64) -> f64 {
        if part_done >= FROZEN {
            return 0.0;
        }
        let moves_of_token = num_moves as f64 / part_done.max(1e-9) / self.len;
        let hot = moves_of_token / MOVES_TO_COOL;
        let hot = hot.min(self.hottest).max(COOLEST);
        hot * (COLD / hot).powf(part_done / FROZEN)
    }
}

/// A move that is drawn and not yet weighed.
struct Drawn<'a> {
    number: u64,
    draft: Draft<'a>,
    /// The highest cost at which it is accepted.
    allowed: f64,
    random: Random,
}

/// The moves of a round.
struct Round {
    moves: Range<u64>,
    seed: u64,
    guide: Guide,
}

/// The candidates among the moves of a round, in their order; [`Error::Interrupted`] as soon as it is late.
fn draw(
    state: &State<'_>,
    round: &Round,
    is_late: impl Fn() -> bool + Sync,
    team: &Team,
    scratches: &mut [Scratch],
) -> Result<Vec<Candidate>> {
    let Range { start, end } = round.moves;
    let num_parts = ((end - start) as usize).div_ceil(DRAWN_AT_ONCE);
    let drawn = team.map(num_parts, |part| {
        let start = start + (part * DRAWN_AT_ONCE) as u64;
        let numbers = start..end.min(start + DRAWN_AT_ONCE as u64);
        let drawn = numbers.filter_map(|number| draw_one(state, round, number));
        Ok(drawn.collect::<Vec<_>>())
    })?;
    let groups = in_groups(drawn.into_iter().flatten().collect());
    let found: Vec<Mutex<Vec<Candidate>>> = groups.iter().map(|_| Mutex::default()).collect();
    team.for_each(scratches, groups.len(), |scratch, index| {
        if is_late() {
            return Err(Error::Interrupted);
        }
        let group = std::mem::take(&mut *lock(&groups[index])).into_iter();
        let candidates = group.filter_map(|drawn| weigh(state, round.guide, drawn, scratch));
        *lock(&found[index]) = candidates.collect();
        Ok(())
    })?;
    let mut candidates: Vec<Candidate> = found.into_iter().flat_map(into_inner).collect();
    candidates.sort_unstable_by_key(|candidate| candidate.number);
    Ok(candidates)
}

/// Moves that one thread weighs after one another: first those that take long, so that no thread begins
/// one when the others have nothing left to do; in the end several that are weighed in a moment.
fn in_groups(mut drawn: Vec<Drawn<'_>>) -> Vec<Mutex<Vec<Drawn<'_>>>> {
    drawn.sort_by_cached_key(|drawn| Reverse(drawn.draft.edit.num_places()));
    let mut groups: Vec<Vec<Drawn<'_>>> = Vec::new();
    let mut room = 0;
    for drawn in drawn {
        let work = drawn.draft.edit.num_places() + PLACES_OF_A_MOVE;
        match groups.last_mut() {
            Some(group) if work <= room => {
                room -= work;
                group.push(drawn);
            }
            _ => {
                room = PLACES_OF_A_GROUP.saturating_sub(work);
                groups.push(vec![drawn]);
            }
        }
    }
    groups.into_iter().map(Mutex::new).collect()
}

/// Draw one move.
fn draw_one<'a>(state: &'a State<'_>, round: &Round, number: u64) -> Option<Drawn<'a>> {
    let guide = round.guide;
    let mut random = Random::of_move(round.seed, number);
    let allowed = -guide.temperature * (1.0 - random.unit()).ln();
    let draft = propose(state, guide, &mut random)?;
    Some(Drawn {
        number,
        draft,
        allowed,
        random,
    })
}

/// Weigh a move, with its repairs.
fn weigh(
    state: &State<'_>,
    guide: Guide,
    drawn: Drawn<'_>,
    scratch: &mut Scratch,
) -> Option<Candidate> {
    let Drawn {
        number,
        mut draft,
        allowed,
        mut random,
    } = drawn;
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

/// Make the candidates of a round.
fn settle(
    state: &mut State<'_>,
    candidates: Vec<Candidate>,
    steering: &Steering,
    scratch: &mut Scratch,
) {
    let mut made = Made::default();
    for candidate in candidates {
        settle_one(state, candidate, steering, &mut made, scratch);
    }
}

/// Make a candidate, unless it is no longer good after those that were made since it was weighed.
fn settle_one(
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
