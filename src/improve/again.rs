//! Drafts that are weighed again, after others of their round were made.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::corpus::{Place, Word};
use super::draft::{Draft, Edit};
use super::state::{Outcome, Scratch, State};
use crate::merges::Id;

/// What the effect of a draft depends on.
#[derive(Debug)]
pub(super) struct Reach {
    /// The words that it may concern.
    words: Vec<Word>,
    /// The tokens built where its strings occur, or at the ends of these.
    tokens: Vec<Id>,
}

/// What was made since drafts were weighed.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The words that derive otherwise, in ascending order.
    words: Vec<Word>,
    /// The tokens of another shape.
    tokens: FxHashSet<Id>,
    pub(super) is_any: bool,
}

impl Made {
    /// Whether a token that a draft depends on has another shape.
    pub(super) fn concerns(&self, reach: &Reach) -> bool {
        reach.tokens.iter().any(|token| self.tokens.contains(token))
    }

    pub(super) fn add(&mut self, edit: &Edit, outcome: &Outcome) {
        self.is_any = true;
        self.tokens.extend(edit.changed().map(|change| change.id));
        self.words.extend(&outcome.words);
        self.words.sort_unstable();
        self.words.dedup();
    }
}

impl State<'_> {
    /// What a draft that was weighed depends on.
    pub(super) fn reach(&self, draft: &Draft<'_>, scratch: &mut Scratch) -> Reach {
        let all = 0..self.corpus.num_symbols() as Place;
        self.find_words(&draft.edit, std::slice::from_ref(&all), scratch);
        let mut tokens = FxHashSet::default();
        for change in draft.edit.changed() {
            let places = change.places.iter();
            tokens.extend(places.flat_map(|&place| self.derivations.looked_at(change, place)));
        }
        Reach {
            words: std::mem::take(&mut scratch.words),
            tokens: tokens.into_iter().collect(),
        }
    }

    /// The effect of a draft that was weighed before others were made, given its reach then.
    ///
    /// Where no token that it depends on changed its shape, only words that derive otherwise since then
    /// can be concerned that were not; so the words that it may concern are those of its reach and some
    /// of these.
    pub(super) fn weigh_again(
        &self,
        draft: &Draft<'_>,
        reach: &Reach,
        made: &Made,
        scratch: &mut Scratch,
    ) -> Outcome {
        if made.concerns(reach) {
            return self.weigh(draft, scratch);
        }
        let spans: Vec<Range<Place>> = made
            .words
            .iter()
            .map(|&word| self.places_of(word))
            .collect();
        self.find_words(&draft.edit, &spans, scratch);
        let num_found = scratch.words.len();
        for &word in &reach.words {
            scratch.meet(word);
        }
        if num_found > 0 {
            scratch.words.sort_unstable();
        }
        self.outcome(draft, false, scratch)
    }

    /// The places of a word.
    fn places_of(&self, word: Word) -> Range<Place> {
        let range = self.corpus.range(word);
        range.start as Place..range.end as Place
    }
}
