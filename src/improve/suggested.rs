//! A list to begin with that greedy would not find: of tokens that the linear program chooses.
//!
//! On a small text that takes less than a second. The list itself makes more tokens than greedy's, for
//! want of a good order, but from there a short and cool search often ends below what long ones reach from
//! greedy's.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::corpus::Corpus;
use super::draft::Draft;
use super::finish::finish;
use super::list::{PinnedMerge, Shape};
use super::state::{Scratch, State};
use crate::bound::{Words, suggest};
use crate::error::Result;
use crate::merges::Id;
use crate::parallel::Team;
use crate::watch::Watch;

/// The merges of such a list, as long as `state`'s, whose tokens a search for them begins with. None if
/// the corpus is too large, or some tokens are pinned.
pub(super) fn suggested(
    state: &State<'_>,
    max_token_length: usize,
    team: &Team,
    watch: &Watch,
) -> Result<Option<Vec<PinnedMerge>>> {
    let (corpus, list) = (state.corpus, &state.list);
    let Some(price) = state.price(team, watch)? else {
        return Ok(None);
    };
    if list.ids().any(|id| list.token(id).is_pinned) {
        return Ok(None);
    }
    let tokens: Vec<Vec<Id>> = list
        .ids()
        .map(|id| list.token(id).string.to_vec())
        .collect();
    // The last of the tokens saves hardly less than one more would.
    let floor = price.saturating_mul(9) / 10;
    let Some(chosen) = suggest(&words_of(corpus), tokens.len(), floor, &tokens, watch)? else {
        return Ok(None);
    };
    let is_allowed = |string: &Vec<Id>| string.len() <= max_token_length;
    let chosen: FxHashSet<Vec<Id>> = chosen.into_iter().filter(is_allowed).collect();
    let mut made = State::new(corpus, list.num_symbols(), &[], watch)?;
    while made.list.len() < tokens.len() && join_first(&mut made, &chosen, team, watch)? {}
    let is_whole = finish(&mut made, tokens.len(), max_token_length, team)?;
    Ok(is_whole.then(|| made.list.merges()))
}

fn words_of(corpus: &Corpus) -> Words {
    let mut words = Words::default();
    for word in corpus.words() {
        words.push(corpus.word(word), corpus.weight_of(word));
    }
    words
}

/// Join the most frequent pair that makes one of the strings; false if there is none.
fn join_first(
    state: &mut State<'_>,
    strings: &FxHashSet<Vec<Id>>,
    team: &Team,
    watch: &Watch,
) -> Result<bool> {
    for ((left, right), _) in state.count_pairs(0.0, team, watch)? {
        let list = &state.list;
        let string = [left, right].map(|part| &*list.token(part).string).concat();
        if list.id(&string).is_some() || !strings.contains(&string) {
            continue;
        }
        let mut draft = Draft::new(list);
        let Some(rank) = draft.rank_after(list.last_rank()) else {
            return Ok(false);
        };
        let places = Arc::from(state.corpus.places(&string));
        draft.add(Arc::from(string), places, Shape { left, right, rank });
        let outcome = state.weigh(&draft, &mut Scratch::default());
        let edit = draft.edit;
        state.make(&edit, &outcome);
        return Ok(true);
    }
    Ok(false)
}
