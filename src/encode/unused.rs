//! Tokens that merges make and that no text has: the pieces of SentencePiece of the type unused.
//!
//! Such a token merges like any other, also with its neighbours. At the end it is taken apart into two
//! tokens, and these again if they are unused. The two are not always those that made it: they are the
//! last pair with its string that became neighbours anywhere in the text, merged or not. So a text with
//! such tokens is merged as a whole.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::merges::Id;
use crate::vocabulary::{Number, Vocabulary};

/// A token is taken apart so often, then it stays.
const MOST_TIMES: usize = 100;

/// Tokens that are taken apart again.
#[derive(Debug)]
pub(super) struct Unused {
    /// All that were given.
    pub(super) given: Vec<Id>,
    /// Those that some merge makes.
    pub(super) made: FxHashSet<Number>,
}

/// For each unused token the last pair with its string.
pub(super) type Parts = FxHashMap<Number, (Number, Number)>;

impl Unused {
    pub(super) fn new(given: Vec<Id>, vocabulary: &Vocabulary) -> Self {
        let ids: FxHashSet<Id> = given.iter().copied().collect();
        let products = vocabulary.merges().iter().map(|merge| merge.product);
        let is_unused =
            |number: &Number| vocabulary.id(*number).is_some_and(|id| ids.contains(&id));
        Self {
            given,
            made: products.filter(is_unused).collect(),
        }
    }

    /// Whether some text makes one.
    pub(super) fn are_made(&self) -> bool {
        !self.made.is_empty()
    }
}

/// Append what a token is taken apart into.
pub(super) fn take_apart(token: Number, parts: &Parts, times: usize, tokens: &mut Vec<Number>) {
    match parts.get(&token) {
        Some(&(left, right)) if times <= MOST_TIMES => {
            take_apart(left, parts, times + 1, tokens);
            take_apart(right, parts, times + 1, tokens);
        }
        _ => tokens.push(token),
    }
}
