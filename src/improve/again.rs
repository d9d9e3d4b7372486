//! Drafts that are weighed again, after others of their round were made.

use rustc_hash::FxHashSet;

use super::corpus::{Corpus, Place, Word};
use super::draft::{Draft, Edit};
use super::outcome::Outcome;
use super::state::{Scratch, State};
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
#[derive(Debug)]
pub(super) struct Made {
    /// A bit for each word, set if it has the string of such a token: only these derive otherwise, or would
    /// after a further change.
    words: Vec<u64>,
    /// The tokens of another shape.
    tokens: FxHashSet<Id>,
    pub(super) is_any: bool,
}

impl Made {
    /// Nothing yet, with a corpus of so many words.
    pub(super) fn new(num_words: usize) -> Self {
        Self {
            words: vec![0; num_words.div_ceil(u64::BITS as usize)],
            tokens: FxHashSet::default(),
            is_any: false,
        }
    }

    /// Whether a token that a draft depends on has another shape, or the draft as it is `now` has other ranks
    /// than `then`: between these there may be any token.
    pub(super) fn concerns(&self, reach: &Reach, then: &Edit, now: &Edit) -> bool {
        !now.has_ranks_of(then) || reach.tokens.iter().any(|token| self.tokens.contains(token))
    }

    pub(super) fn add(&mut self, edit: &Edit, corpus: &Corpus) {
        self.is_any = true;
        for change in edit.changed() {
            self.tokens.insert(change.id);
            for &place in &*change.places {
                let word = corpus.word_at(place);
                self.words[(word / u64::BITS) as usize] |= 1 << (word % u64::BITS);
            }
        }
    }

    /// Whether a word has the string of a token of another shape.
    fn has(&self, word: Word) -> bool {
        self.words[(word / u64::BITS) as usize] >> (word % u64::BITS) & 1 == 1
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

    /// The effect of a draft that was weighed before others were made, given what it was then, with its reach
    /// and its effect.
    ///
    /// Where no token that it depends on changed its shape, only words that derive otherwise since then
    /// can be concerned that were not. And where no string of a token occurs whose shape changed, a word
    /// derives as it did, with the draft and without. So there it has the effect that it had.
    pub(super) fn weigh_again(
        &self,
        draft: &Draft<'_>,
        then: (&Edit, &Reach, Outcome),
        made: &Made,
        scratch: &mut Scratch,
    ) -> Outcome {
        let (edit, reach, outcome) = then;
        if made.concerns(reach, edit, &draft.edit) {
            return self.weigh(draft, scratch);
        }
        self.find_made(draft, reach, made, scratch);
        let anew = self.outcome(draft, false, scratch);
        let outcome = outcome.rebased(edit.base, draft.edit.base);
        outcome.but_for(|word| made.has(word), &anew)
    }

    /// Leave the words that may derive otherwise and that a draft may concern in `scratch`, in ascending order.
    fn find_made(&self, draft: &Draft<'_>, reach: &Reach, made: &Made, scratch: &mut Scratch) {
        scratch.begin_draft(self.corpus.num_words());
        for &word in reach.words.iter().filter(|&&word| made.has(word)) {
            scratch.meet(word);
        }
        let sooner = draft.edit.sooner();
        for change in draft.edit.changed() {
            for &place in &*change.places {
                let word = self.corpus.word_at(place);
                if made.has(word)
                    && self
                        .derivations
                        .concerns(&self.list, change, &sooner, place)
                {
                    scratch.meet(word);
                }
            }
        }
        scratch.words.sort_unstable();
    }
}
