//! The effect of a draft: by how much the cost changes, and how words then derive.

use super::corpus::Word;
use super::derivation::NOBODY;
use super::draft::rebased;
use crate::merges::Id;

/// The effect of a draft.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The change of the cost.
    pub(super) delta: i64,
    /// Whether the effect was estimated on a sample of the words.
    pub(super) is_sampled: bool,
    /// For each word whose derivation changes, in ascending order: the change of the cost, and where its
    /// erasers end.
    words: Vec<(Word, i64, usize)>,
    /// The tokens that then erase their boundaries, word after word.
    erasers: Vec<Id>,
}

/// The effect on one word: the change of the cost, and the tokens that then erase its boundaries.
pub(super) type OfWord<'a> = (Word, i64, &'a [Id]);

impl Outcome {
    /// No effect yet.
    pub(super) fn new(is_sampled: bool) -> Self {
        Self {
            is_sampled,
            ..Self::default()
        }
    }

    /// Add the effect on the next word.
    pub(super) fn push(&mut self, (word, delta, erasers): OfWord<'_>) {
        // Only sums over a sample can be so large.
        self.delta = self.delta.saturating_add(delta);
        self.erasers.extend_from_slice(erasers);
        self.words.push((word, delta, self.erasers.len()));
    }

    /// The effects on the words whose derivation changes, in ascending order.
    pub(super) fn of_words(&self) -> impl Iterator<Item = OfWord<'_>> {
        let mut start = 0;
        self.words.iter().map(move |&(word, delta, end)| {
            let erasers = &self.erasers[start..end];
            start = end;
            (word, delta, erasers)
        })
    }

    /// The words whose derivation changes, in ascending order.
    pub(super) fn words(&self) -> impl Iterator<Item = Word> {
        self.words.iter().map(|&(word, _, _)| word)
    }

    /// Whether no word derives otherwise.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The same effect, of a draft whose base was `old` and is now `new`.
    pub(super) fn rebased(mut self, old: Id, new: Id) -> Self {
        for eraser in self.erasers.iter_mut().filter(|eraser| **eraser != NOBODY) {
            *eraser = rebased(*eraser, old, new);
        }
        self
    }

    /// This effect, but for some words, on which the effect is `anew`.
    pub(super) fn but_for(self, is_anew: impl Fn(Word) -> bool, anew: &Self) -> Self {
        if anew.is_empty() && !self.words().any(&is_anew) {
            return self;
        }
        let mut both = Self::default();
        let mut anew = anew.of_words().peekable();
        for old in self.of_words() {
            while let Some(new) = anew.next_if(|new| new.0 <= old.0) {
                both.push(new);
            }
            if !is_anew(old.0) {
                both.push(old);
            }
        }
        anew.for_each(|new| both.push(new));
        both
    }
}
