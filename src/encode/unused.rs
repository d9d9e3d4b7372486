//! Tokens that merges make and that no text has: the pieces of SentencePiece of the type unused.
//!
//! Such a token merges like any other, also with its neighbours. At the end it is taken apart into two
//! tokens, and these again if they are unused; one that is a single symbol is unknown. SentencePiece takes the last two neighbours of the text
//! with its string, merged or not. Those are always the two of its own merge: no merge has crossed the
//! ends of two neighbours, so the merges inside them are those of their string alone, all but the last.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::merges::Id;
use crate::vocabulary::{Number, Vocabulary};

/// A token is taken apart so often, then it stays.
const MOST_TIMES: usize = 100;

/// Tokens that are taken apart again.
#[derive(Debug)]
pub(super) struct Unused {
    /// All that were given.
    pub(super) given: Vec<Id>,
    /// The two parts of those that merges make.
    parts: FxHashMap<Number, [Number; 2]>,
    /// Those that no merge makes: single symbols.
    symbols: FxHashSet<Number>,
}

impl Unused {
    pub(super) fn new(given: Vec<Id>, vocabulary: &Vocabulary) -> Self {
        let ids: FxHashSet<Id> = given.iter().copied().collect();
        let is_unused = |number: Number| vocabulary.id(number).is_some_and(|id| ids.contains(&id));
        let merges = vocabulary.merges().iter();
        let merges = merges.filter(|merge| is_unused(merge.product));
        let symbols = vocabulary.numbers();
        let symbols = symbols.filter(|&n| vocabulary.is_symbol(n) && is_unused(n));
        Self {
            given,
            parts: merges
                .map(|merge| (merge.product, [merge.left, merge.right]))
                .collect(),
            symbols: symbols.collect(),
        }
    }

    /// Whether no text makes one.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.symbols.is_empty()
    }

    /// Whether a token is one that cannot be taken apart, so that its text is unknown.
    pub(super) fn is_unknown(&self, token: Number) -> bool {
        self.symbols.contains(&token)
    }

    /// Call `use_token` with what a token becomes: with itself, unless it is one.
    pub(super) fn take_apart(
        &self,
        token: Number,
        use_token: &mut impl FnMut(Number) -> Result<()>,
    ) -> Result<()> {
        self.take_apart_again(token, 0, use_token)
    }

    fn take_apart_again(
        &self,
        token: Number,
        times: usize,
        use_token: &mut impl FnMut(Number) -> Result<()>,
    ) -> Result<()> {
        match self.parts.get(&token) {
            Some(parts) if times <= MOST_TIMES => parts
                .iter()
                .try_for_each(|&part| self.take_apart_again(part, times + 1, use_token)),
            _ => use_token(token),
        }
    }
}
