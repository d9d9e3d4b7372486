//! Tokens that merges make and that no text has: the pieces of SentencePiece of the type unused.
//!
//! Such a token merges like any other, also with its neighbours. At the end it is taken apart into two
//! tokens, and these again if they are unused. The two are not always those that made it: they are the
//! last pair with its string that became neighbours anywhere in the text, merged or not. So a text with
//! such tokens is merged as a whole.

use rustc_hash::{FxHashMap, FxHashSet};

use super::words::{Piece, Words, Writer};
use crate::error::Result;
use crate::merges::Id;
use crate::vocabulary::{Number, Vocabulary};
use crate::watch::Watch;

/// A token is taken apart so often, then it stays.
const MOST_TIMES: usize = 100;

/// Tokens that are taken apart again.
#[derive(Debug)]
pub(super) struct Unused {
    /// All that were given.
    pub(super) given: Vec<Id>,
    /// Those that some merge makes.
    made: FxHashSet<Number>,
}

/// For each unused token the last pair with its string.
type Parts = FxHashMap<Number, (Number, Number)>;

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

    fn take_apart(&self, token: Number, parts: &Parts, times: usize, tokens: &mut Vec<Number>) {
        match parts.get(&token) {
            Some(&(left, right)) if times <= MOST_TIMES => {
                self.take_apart(left, parts, times + 1, tokens);
                self.take_apart(right, parts, times + 1, tokens);
            }
            _ => tokens.push(token),
        }
    }
}

impl Words {
    /// The tokens of each of some texts that are merged in one go, though never with one another.
    pub(super) fn encode_together<'t>(
        &self,
        texts: impl Iterator<Item = &'t [u8]>,
        watch: &Watch,
    ) -> Result<Vec<Vec<Piece>>> {
        let vocabulary = &self.vocabulary;
        // No number stands for an unknown character, or for the end of a text.
        let mut numbers = Vec::new();
        let mut strangers = Vec::new();
        for text in texts {
            for symbol in vocabulary.symbols_of(text) {
                numbers.push(symbol.unwrap_or(Number::NONE));
                strangers.extend(symbol.err().map(Some));
            }
            numbers.push(Number::NONE);
            strangers.push(None);
        }
        let mut parts = Parts::default();
        let mut joined = Vec::new();
        let see = |left: Number, right: Number| {
            if left == Number::NONE || right == Number::NONE {
                return;
            }
            joined.clear();
            joined.extend_from_slice(vocabulary.string(left));
            joined.extend_from_slice(vocabulary.string(right));
            let whole = vocabulary.number(&joined);
            if let Some(whole) = whole.filter(|whole| self.unused.made.contains(whole)) {
                parts.insert(whole, (left, right));
            }
        };
        let ranks = vocabulary.ranks();
        let merged = ranks.apply_seeing(numbers, see, |_, _| watch.check())?;
        let mut merged = merged.into_iter();
        let mut strangers = strangers.into_iter();
        let mut tokens_of_texts = Vec::new();
        let mut tokens = Vec::new();
        while merged.len() > 0 {
            let mut pieces = Vec::new();
            let mut writer = Writer::new(self, &mut pieces);
            for number in merged.by_ref() {
                if number != Number::NONE {
                    tokens.clear();
                    self.unused.take_apart(number, &parts, 0, &mut tokens);
                    writer.push_all(&tokens)?;
                } else if let Some(stranger) = strangers.next().flatten() {
                    writer.push_unknown(stranger)?;
                } else {
                    break;
                }
            }
            writer.flush();
            tokens_of_texts.push(pieces);
        }
        Ok(tokens_of_texts)
    }
}
