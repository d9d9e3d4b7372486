//! A tokenizer's parts, as its builder has them: to change some, and to compare.

use super::{Tokenizer, TokenizerBuilder};
use crate::vocabulary::Merging;

impl Tokenizer {
    /// A builder of the same tokenizer, of which parts can be changed.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// let with_end = tokenizer.to_builder().added_token("<end>", 300).build()?;
    /// assert_eq!(with_end.encode("ab<end>")?, [256, 300]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn to_builder(&self) -> TokenizerBuilder<'_> {
        let (vocabulary, pattern) = (self.vocabulary(), self.encoder().pattern());
        TokenizerBuilder {
            tokens: self.tokens().collect(),
            merging: Some(Merging::Pairs(self.merges().collect())),
            source: Some(self.source()),
            symbols: vocabulary.symbols(),
            start_of_word: vocabulary.start_of_word(),
            end_of_word: vocabulary.end_of_word(),
            unknown: self.encoder().unknown().clone(),
            whole_words: self.whole_words(),
            unused: self.encoder().unused().to_vec(),
            pattern: pattern.spec(),
            drops_gaps: pattern.drops_gaps(),
            preparation: self.encoder().preparation(),
            steps: self.encoder().steps(),
            specials: self.encoder().specials().to_vec(),
            decoder: self.decoder().steps(),
            written: self.decoder().given_names().to_vec(),
        }
    }
}

impl PartialEq for Tokenizer {
    /// Whether both encode and decode everything alike: ids, merges, steps and special tokens are the
    /// same, whatever the order in which they were given.
    fn eq(&self, other: &Self) -> bool {
        fn parts(tokenizer: &Tokenizer) -> TokenizerBuilder<'_> {
            let mut parts = tokenizer.to_builder();
            parts.tokens.sort_unstable();
            parts.specials.sort_unstable();
            parts.written.sort_unstable();
            parts.source = None;
            parts.whole_words = tokenizer.encoder().looks_up_whole_words();
            parts
        }
        parts(self) == parts(other)
    }
}
