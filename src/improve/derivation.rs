//! How each word becomes tokens: for each boundary between symbols, the token that erased it.
//!
//! That is the whole tree of merges: a token stands at a span if the boundaries inside it were
//! erased before the two at its ends.

use super::corpus::{Corpus, Place, Word};
use super::draft::{Change, Draft};
use super::list::{List, Merge, NO_MERGE, Rank, SYMBOL_RANK, Shape};
use crate::merges::Id;

/// Nothing erased this boundary.
pub(super) const NOBODY: Id = Id::MAX;

/// The derivations of all words.
#[derive(Debug)]
pub(super) struct Derivations {
    /// For each place, the token that erased the boundary before it; `NOBODY` at the beginnings of
    /// words, and once more at the end.
    erasers: Vec<Id>,
    num_tokens: Vec<u32>,
}

impl Derivations {
    pub(super) fn new(corpus: &Corpus) -> Self {
        let len = |word: Word| corpus.range(word).len() as u32;
        Self {
            erasers: vec![NOBODY; corpus.num_symbols() + 1],
            num_tokens: corpus.words().map(len).collect(),
        }
    }

    /// The tokens that erased the boundaries of a word; the first entry is its beginning.
    pub(super) fn of(&self, corpus: &Corpus, word: Word) -> &[Id] {
        &self.erasers[corpus.range(word)]
    }

    pub(super) fn num_tokens(&self, word: Word) -> u32 {
        self.num_tokens[word as usize]
    }

    /// Note what erased the boundaries of a word.
    pub(super) fn set(&mut self, corpus: &Corpus, word: Word, erasers: &[Id]) {
        self.erasers[corpus.range(word)].copy_from_slice(erasers);
        let are_left = erasers.iter().filter(|&&eraser| eraser == NOBODY);
        self.num_tokens[word as usize] = are_left.count() as u32;
    }

    /// The tokens that [`concerns`](Self::concerns) looks at; some may be `NOBODY`.
    pub(super) fn looked_at(&self, change: &Change, place: Place) -> &[Id] {
        &self.erasers[place as usize..=place as usize + change.string.len()]
    }

    /// Whether a change may act on the derivation of the word in which its token's string occurs at
    /// `place`.
    ///
    /// A derivation changes only if some change acts on its first step that differs. So the words
    /// for which this is false for every change of a draft keep their derivations. Tokens that only
    /// come `sooner` leave a derivation as it is, but others may then be built of them.
    pub(super) fn concerns(
        &self,
        list: &List,
        change: &Change,
        sooner: &[(Id, Rank)],
        place: Place,
    ) -> bool {
        let start = place as usize;
        let end = start + change.string.len();
        let old_split = |shape: Shape| start + list.token(shape.left).string.len();
        let is_built = |shape: Shape| self.erasers[old_split(shape)] == change.id;
        let split = start + change.left_len;
        // Whether the two parts stand side by side at this rank.
        let can_build = |rank: Rank| {
            let went_before = |position: usize| {
                let eraser = self.erasers[position];
                let is_soon = |&(id, new_rank): &(Id, Rank)| id == eraser && new_rank < rank;
                eraser != NOBODY && (list.rank(eraser) < rank || sooner.iter().any(is_soon))
            };
            !went_before(split)
                && !went_before(start)
                && !went_before(end)
                && (start + 1..end).all(|position| position == split || went_before(position))
        };
        match (change.before, change.after) {
            (None, None) => false,
            (Some(before), None) => is_built(before),
            (None, Some(after)) => can_build(after.rank),
            (Some(before), Some(after)) => {
                let (is_built, is_same) = (is_built(before), old_split(before) == split);
                if is_same && after.rank >= before.rank {
                    // Where it is not built, its parts never meet.
                    is_built && after.rank > before.rank
                } else if is_same && is_built {
                    // It only comes sooner.
                    false
                } else {
                    is_built || can_build(after.rank)
                }
            }
        }
    }
}

/// The derivation of one word, and the memory for it.
#[derive(Debug, Default, Clone)]
pub(super) struct Derived {
    pub(super) tokens: Vec<Id>,
    pub(super) erasers: Vec<Id>,
    starts: Vec<u32>,
    merges: Vec<Merge>,
}

impl Derived {
    /// Merge the symbols of a word while a pair has a rank, the lowest and leftmost first, given the
    /// derivation of the word by the list without the draft, which changes nothing before `first_rank`.
    pub(super) fn derive(
        &mut self,
        draft: &Draft<'_>,
        word: &[Id],
        erasers: &[Id],
        first_rank: Rank,
    ) {
        self.begin(draft.list, word, erasers, first_rank);
        let (tokens, merges) = (&mut self.tokens, &mut self.merges);
        merges.clear();
        let pairs = tokens.windows(2);
        merges.extend(pairs.map(|pair| draft.merge_of(pair[0], pair[1])));
        // The leftmost of the lowest merges.
        while let Some((index, &merge)) = merges.iter().enumerate().min_by_key(|entry| entry.1)
            && merge != NO_MERGE
        {
            let made = merge as Id;
            self.erasers[self.starts.remove(index + 1) as usize] = made;
            tokens[index] = made;
            tokens.remove(index + 1);
            merges.remove(index);
            if index > 0 {
                merges[index - 1] = draft.merge_of(tokens[index - 1], made);
            }
            if index < merges.len() {
                merges[index] = draft.merge_of(made, tokens[index + 1]);
            }
        }
    }

    /// The tokens of a word after the merges before `end`, given its derivation.
    pub(super) fn begin(&mut self, list: &List, word: &[Id], erasers: &[Id], end: Rank) {
        self.tokens.clear();
        self.starts.clear();
        self.erasers.clear();
        let mut last_rank = SYMBOL_RANK;
        for (start, (&symbol, &eraser)) in (0..).zip(word.iter().zip(erasers)) {
            if eraser == NOBODY || list.rank(eraser) >= end {
                self.tokens.push(symbol);
                self.starts.push(start);
                self.erasers.push(NOBODY);
                last_rank = SYMBOL_RANK;
                continue;
            }
            self.erasers.push(eraser);
            // Of those that erased the boundaries inside a token, the last is the token.
            let rank = list.rank(eraser);
            if rank >= last_rank
                && let Some(token) = self.tokens.last_mut()
            {
                *token = eraser;
                last_rank = rank;
            }
        }
    }
}
