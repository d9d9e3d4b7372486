//! A round of moves.
//!
//! Its moves are drawn and weighed against one state, by any thread. Then one thread takes those that are good
//! in order and makes them; after the first, each is weighed again. So the result does not depend on the number
//! of threads.
//!
//! Half of the moves are weighed in ten microseconds, one in a hundred takes a hundred times as long. So
//! rounds are long, and their longest moves come first: else most threads would wait for one. For the same
//! reason a long move that is repaired is weighed again in the next round only; and so is one that would have
//! to be weighed anew when others were made, as nothing else is done meanwhile.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Mutex;

use super::again::{Made, Reach};
use super::builder::Guide;
use super::draft::{Draft, Edit};
use super::moves::{propose, repair};
use super::outcome::Outcome;
use super::random::Random;
use super::state::{Scratch, State};
use super::steering::Steering;
use crate::error::{Error, Result};
use crate::parallel::{Team, into_inner, lock};

/// The number of moves that a thread draws after one another.
const DRAWN_AT_ONCE: usize = 2;
/// Moves are weighed in groups that change strings of at most this number of places in all, or one; some
/// work of each takes as long as this number of places.
const PLACES_OF_A_GROUP: usize = 256;
const PLACES_OF_A_MOVE: usize = 8;
/// Drafts that cost at most this number of prices are repaired.
const WORTH_REPAIR: f64 = 300.0;
const MOST_REPAIRS: usize = 3;
/// Each repair must make a draft cheaper by so much to be followed by another.
const WORTH_MORE_REPAIR: f64 = 0.7;
/// Drafts of strings that occur in more places are first weighed on a sample of the words.
const SCREENED: usize = 256;
/// Drafts that a sample shows to cost at most this number of prices too much are weighed exactly.
const DOUBT: f64 = 1.0;

/// A move that is not yet weighed.
pub(super) struct Move {
    number: u64,
    edit: Edit,
    /// The highest cost at which it is accepted.
    allowed: f64,
    random: Random,
    num_repairs: usize,
    /// The highest cost at which it is repaired.
    worth_repair: f64,
}

/// A move that may be accepted.
struct Candidate {
    its: Move,
    outcome: Outcome,
    reach: Reach,
}

/// What the moves of a round became.
#[derive(Default)]
struct Weighed {
    candidates: Vec<Candidate>,
    /// Those that are to be weighed in the next round.
    later: Vec<Move>,
}

/// The moves of a round.
pub(super) struct Round<'a> {
    /// Those that are drawn.
    pub(super) numbers: Range<u64>,
    pub(super) seed: u64,
    pub(super) guide: Guide,
    pub(super) steering: &'a Steering,
}

/// Draw the moves of a round, weigh them and those left of the last one, and make the good ones; returns those
/// that are left for the next. [`Error::Interrupted`] as soon as it is late, and nothing is made.
pub(super) fn play(
    state: &mut State<'_>,
    round: &Round<'_>,
    mut moves: Vec<Move>,
    is_late: impl Fn() -> bool + Sync,
    team: &Team,
    scratches: &mut [Scratch],
) -> Result<Vec<Move>> {
    moves.extend(draw(state, round, team)?);
    let weighed = weigh(state, moves, round.guide, is_late, team, scratches)?;
    Ok(settle(state, weighed, round.steering, &mut scratches[0]))
}

/// Draw the moves of a round.
fn draw(state: &State<'_>, round: &Round<'_>, team: &Team) -> Result<Vec<Move>> {
    let Range { start, end } = round.numbers;
    let num_parts = ((end - start) as usize).div_ceil(DRAWN_AT_ONCE);
    let drawn = team.map(num_parts, |part| {
        let start = start + (part * DRAWN_AT_ONCE) as u64;
        let numbers = start..end.min(start + DRAWN_AT_ONCE as u64);
        let drawn = numbers.filter_map(|number| draw_one(state, number, round));
        Ok(drawn.collect::<Vec<_>>())
    })?;
    Ok(drawn.into_iter().flatten().collect())
}

/// Draw one move.
fn draw_one(state: &State<'_>, number: u64, round: &Round<'_>) -> Option<Move> {
    let guide = round.guide;
    let mut random = Random::of_move(round.seed, number);
    let allowed = -guide.temperature * (1.0 - random.unit()).ln();
    let draft = propose(state, guide, &mut random)?;
    debug_assert!(draft.is_valid(), "{:?}", draft.edit);
    Some(Move {
        number,
        edit: draft.edit,
        allowed,
        random,
        num_repairs: 0,
        worth_repair: WORTH_REPAIR * guide.price,
    })
}

/// Weigh the moves of a round; [`Error::Interrupted`] as soon as it is late.
fn weigh(
    state: &State<'_>,
    moves: Vec<Move>,
    guide: Guide,
    is_late: impl Fn() -> bool + Sync,
    team: &Team,
    scratches: &mut [Scratch],
) -> Result<Weighed> {
    let groups = in_groups(moves);
    let weighed: Vec<Mutex<Weighed>> = groups.iter().map(|_| Mutex::default()).collect();
    team.for_each(scratches, groups.len(), |scratch, index| {
        if is_late() {
            return Err(Error::Interrupted);
        }
        let mut weighed = lock(&weighed[index]);
        for one in std::mem::take(&mut *lock(&groups[index])) {
            weigh_one(state, one, guide, scratch, &mut weighed);
        }
        Ok(())
    })?;
    let mut all = Weighed::default();
    for weighed in weighed.into_iter().map(into_inner) {
        all.candidates.extend(weighed.candidates);
        all.later.extend(weighed.later);
    }
    Ok(all)
}

/// Moves that one thread weighs after one another: first those that take long, so that no thread begins
/// one when the others have nothing left to do; in the end several that are weighed in a moment.
fn in_groups(mut moves: Vec<Move>) -> Vec<Mutex<Vec<Move>>> {
    moves.sort_by_cached_key(|one| Reverse(one.edit.num_places()));
    let mut groups: Vec<Vec<Move>> = Vec::new();
    let mut room = 0;
    for one in moves {
        let work = one.edit.num_places() + PLACES_OF_A_MOVE;
        match groups.last_mut() {
            Some(group) if work <= room => {
                room -= work;
                group.push(one);
            }
            _ => {
                room = PLACES_OF_A_GROUP.saturating_sub(work);
                groups.push(vec![one]);
            }
        }
    }
    groups.into_iter().map(Mutex::new).collect()
}

/// Weigh a move, with its repairs; one that takes long is left for the next round when it is repaired.
fn weigh_one(
    state: &State<'_>,
    mut one: Move,
    guide: Guide,
    scratch: &mut Scratch,
    weighed: &mut Weighed,
) {
    let mut num_places = 0;
    let Some(mut draft) = Draft::again(&state.list, &one.edit) else {
        return;
    };
    loop {
        num_places += draft.edit.num_places();
        let cost_of_growth = draft.edit.growth() as f64 * guide.price;
        let cost_of = |outcome: &Outcome| outcome.delta as f64 + cost_of_growth;
        let mut outcome = if draft.edit.num_places() > SCREENED {
            state.estimate(&draft, scratch)
        } else {
            state.weigh(&draft, scratch)
        };
        if outcome.is_sampled && cost_of(&outcome) <= one.allowed + guide.price * DOUBT {
            outcome = state.weigh(&draft, scratch);
        }
        let cost = cost_of(&outcome);
        let is_idle = outcome.is_empty() && draft.edit.growth() == 0;
        if !outcome.is_sampled && cost <= one.allowed && !is_idle {
            let reach = state.reach(&draft, scratch);
            one.edit = draft.edit;
            weighed.candidates.push(Candidate {
                its: one,
                outcome,
                reach,
            });
            return;
        }
        if one.num_repairs == MOST_REPAIRS || cost > one.worth_repair {
            return;
        }
        one.num_repairs += 1;
        one.worth_repair = cost * WORTH_MORE_REPAIR;
        let effects = state.effects(&outcome, scratch);
        let Some(repaired) = repair(state, guide, draft, &effects, &mut one.random) else {
            return;
        };
        draft = repaired;
        debug_assert!(draft.is_valid(), "{:?}", draft.edit);
        if num_places + draft.edit.num_places() > PLACES_OF_A_GROUP {
            one.edit = draft.edit;
            weighed.later.push(one);
            return;
        }
    }
}

/// Make the candidates of a round, in the order of their numbers; returns the moves that are to be weighed in
/// the next one.
fn settle(
    state: &mut State<'_>,
    weighed: Weighed,
    steering: &Steering,
    scratch: &mut Scratch,
) -> Vec<Move> {
    let (mut candidates, mut later) = (weighed.candidates, weighed.later);
    candidates.sort_unstable_by_key(|candidate| candidate.its.number);
    let mut made = Made::new(state.corpus.num_words());
    for candidate in candidates {
        later.extend(settle_one(state, candidate, steering, &mut made, scratch));
    }
    later.sort_unstable_by_key(|one| one.number);
    later
}

/// Make a candidate, unless it is no longer good after those that were made since it was weighed; returns it
/// if all threads had better weigh it anew.
fn settle_one(
    state: &mut State<'_>,
    candidate: Candidate,
    steering: &Steering,
    made: &mut Made,
    scratch: &mut Scratch,
) -> Option<Move> {
    let Candidate {
        its,
        outcome,
        reach,
    } = candidate;
    if !made.is_any {
        state.make(&its.edit, &outcome);
        made.add(&its.edit, state.corpus);
        return None;
    }
    let draft = Draft::again(&state.list, &its.edit)?;
    let is_long = draft.edit.num_places() > PLACES_OF_A_GROUP;
    if is_long && made.concerns(&reach, &its.edit, &draft.edit) {
        return Some(its);
    }
    // The current price: at an old one, a round could remove too many and the next add too many.
    let cost_of_growth = draft.edit.growth() as f64 * steering.price(state.list.len());
    let outcome = state.weigh_again(&draft, (&its.edit, &reach, outcome), made, scratch);
    if outcome.delta as f64 + cost_of_growth <= its.allowed {
        let edit = draft.edit;
        state.make(&edit, &outcome);
        made.add(&edit, state.corpus);
    }
    None
}
