//! Texts that are merged together, because a token that is taken apart again depends on all of them.

use super::unused::{Parts, take_apart};
use super::words::{Piece, Words, Writer};
use crate::error::Result;
use crate::vocabulary::Number;
use crate::watch::Watch;

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
                    take_apart(number, &parts, 0, &mut tokens);
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
