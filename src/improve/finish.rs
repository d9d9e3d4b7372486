//! From a list of about the right length to one of exactly that length.

use std::sync::Arc;

use super::draft::Draft;
use super::list::Shape;
use super::state::{Scratch, State};
use crate::error::Result;
use crate::merges::Id;
use crate::parallel::Team;
use crate::watch::Watch;

/// The number of the rarest tokens that are weighed before one is removed.
const WEIGHED: usize = 24;

/// Remove unused tokens, then remove or add tokens until there are `len`; whether that succeeded.
pub(super) fn finish(
    state: &mut State<'_>,
    len: usize,
    max_token_length: usize,
    team: &Team,
) -> Result<bool> {
    let scratch = &mut Scratch::default();
    while drop_unused(state, scratch) {}
    while state.list.len() > len {
        if !remove_cheapest(state, scratch) {
            return Ok(false);
        }
    }
    while state.list.len() < len {
        let missing = len - state.list.len();
        if !add_pairs(state, missing, max_token_length, team, scratch)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The tokens that are part of no other and not pinned, the rarest first.
fn leaves(state: &State<'_>) -> Vec<Id> {
    let token = |id: Id| state.list.token(id);
    let is_leaf = |id: &Id| token(*id).users.is_empty() && !token(*id).is_pinned;
    let mut leaves: Vec<Id> = state.list.ids().filter(is_leaf).collect();
    leaves.sort_unstable_by_key(|&id| (token(id).weight, id));
    leaves
}

fn drop_unused(state: &mut State<'_>, scratch: &mut Scratch) -> bool {
    let is_unused = |&id: &Id| state.list.token(id).weight == 0;
    let unused: Vec<Id> = leaves(state).into_iter().take_while(is_unused).collect();
    for &id in &unused {
        remove(state, id, scratch);
    }
    !unused.is_empty()
}

fn remove(state: &mut State<'_>, id: Id, scratch: &mut Scratch) {
    let mut draft = Draft::new(&state.list);
    draft.set(id, None);
    let outcome = state.weigh(&draft, scratch);
    let edit = draft.edit;
    state.make(&edit, &outcome);
}

fn remove_cheapest(state: &mut State<'_>, scratch: &mut Scratch) -> bool {
    let leaves = leaves(state);
    let costs = leaves.iter().take(WEIGHED).map(|&id| {
        let mut draft = Draft::new(&state.list);
        draft.set(id, None);
        (state.weigh(&draft, scratch).delta, id)
    });
    let Some((_, cheapest)) = costs.min() else {
        return false;
    };
    remove(state, cheapest, scratch);
    true
}

/// Add some of the most frequent pairs, at most `missing`; whether any was added.
fn add_pairs(
    state: &mut State<'_>,
    missing: usize,
    max_token_length: usize,
    team: &Team,
    scratch: &mut Scratch,
) -> Result<bool> {
    let (goal, mut num_added) = (missing.div_ceil(4), 0);
    // The search is over, and so is what its watch was for.
    for ((left, right), count) in state.count_pairs(0.0, team, &Watch::default())? {
        if num_added == goal {
            break;
        }
        let parts = [left, right].map(|part| &*state.list.token(part).string);
        let string = parts.concat();
        if state.list.id(&string).is_some() || string.len() > max_token_length {
            continue;
        }
        let mut draft = Draft::new(&state.list);
        let Some(rank) = draft.rank_after(state.list.last_rank()) else {
            state.list.spread_ranks();
            return Ok(true);
        };
        let places = Arc::from(state.corpus.places(&string));
        draft.add(Arc::from(string), places, Shape { left, right, rank });
        // Earlier additions may have reduced the gain of this one.
        let outcome = state.weigh(&draft, scratch);
        if outcome.delta < 0 && (num_added == 0 || -outcome.delta * 2 > count as i64) {
            let edit = draft.edit;
            state.make(&edit, &outcome);
            num_added += 1;
        }
    }
    Ok(num_added > 0)
}
