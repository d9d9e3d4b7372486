//! What a tokenizer makes of a counted corpus. Every token count of this crate is made here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Tokenizer;
use crate::counts::WordCounts;
use crate::encode::Preparation;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel;
use crate::pattern::Pattern;
use crate::watch::Watch;

/// How many words a thread encodes between two looks at the watch.
const WORDS_AT_ONCE: usize = 1 << 12;

impl Tokenizer {
    /// How many tokens a corpus becomes.
    ///
    /// The words are as the tokenizer cuts texts, so they are not cut again; those that its pattern
    /// drops count nothing. Without a pattern a word is a whole text, and has the space before it that
    /// texts get. Special tokens that are found in every text are found in the words too.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let counts = WordCounts::of(["abab", "ab", "b"], None)?;
    /// let tokenizer = Tokenizer::train(&counts, 1)?;
    /// assert_eq!(tokenizer.num_tokens(&counts)?, 4);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn num_tokens(&self, counts: &WordCounts) -> Result<u64> {
        self.num_tokens_watched(counts, 1, &Watch::default())
    }

    /// The same with several threads, until the watch stops it.
    ///
    /// ```
    /// # use mergewise::{ErrorKind, Tokenizer, Watch, WordCounts};
    /// let counts = WordCounts::of(["abab"], None)?;
    /// let (tokenizer, watch) = (Tokenizer::train(&counts, 1)?, Watch::default());
    /// assert_eq!(tokenizer.num_tokens_watched(&counts, 4, &watch)?, 2);
    /// watch.stop();
    /// let error = tokenizer.num_tokens_watched(&counts, 4, &watch).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Interrupted);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn num_tokens_watched(
        &self,
        counts: &WordCounts,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<u64> {
        let sums =
            self.for_each_share(counts, num_threads, watch, |sum: &mut u64, ids, count| {
                let tokens = count.checked_mul(ids.len() as u64);
                let total = tokens.and_then(|tokens| sum.checked_add(tokens));
                *sum = total.ok_or(Error::CountsTooLarge)?;
                Ok(())
            })?;
        let mut sums = sums.into_iter();
        let total = sums.try_fold(0_u64, u64::checked_add);
        total.ok_or(Error::CountsTooLarge)
    }

    /// How often each token occurs in what a corpus becomes, by id; see [`Tokenizer::num_tokens`].
    ///
    /// ```
    /// # use mergewise::{Tokenizer, Watch, WordCounts};
    /// let counts = WordCounts::of(["aba", "aba"], None)?;
    /// let uses = Tokenizer::train(&counts, 1)?.token_counts(&counts, 1, &Watch::default())?;
    /// assert_eq!(uses.into_iter().collect::<Vec<_>>(), [(97, 2), (256, 2)]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn token_counts(
        &self,
        counts: &WordCounts,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<BTreeMap<Id, u64>> {
        type Uses = BTreeMap<Id, u64>;
        let add = |uses: &mut Uses, id, count| {
            let sum = uses.entry(id).or_default();
            *sum = sum.checked_add(count).ok_or(Error::CountsTooLarge)?;
            Ok(())
        };
        let shares =
            self.for_each_share(counts, num_threads, watch, |uses: &mut Uses, ids, count| {
                ids.iter().try_for_each(|&id| add(uses, id, count))
            })?;
        let mut total = Uses::new();
        for (id, count) in shares.into_iter().flatten() {
            add(&mut total, id, count)?;
        }
        Ok(total)
    }

    /// The words that become tokens, as [`encoded_words`] makes them of counted ones.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, Watch, WordCounts};
    /// let counts = WordCounts::of(["a, b"], Some("[a-z]+"))?;
    /// let builder = Tokenizer::builder().pattern(Some("[a-z]+"));
    /// let tokenizer = builder.drops_gaps(true).build()?;
    /// let words = tokenizer.encoded_words(&counts, &Watch::default())?;
    /// assert_eq!(words.sorted(), [(&b"a"[..], 1), (b"b", 1)]);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn encoded_words<'c>(
        &self,
        counts: &'c WordCounts,
        watch: &Watch,
    ) -> Result<Cow<'c, WordCounts>> {
        let encoder = self.encoder();
        encoded_words(counts, encoder.pattern(), encoder.preparation(), watch)
    }

    /// A special token that is found in every text, if a word holds one: merges do not make it.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, Watch, WordCounts};
    /// let tokenizer = Tokenizer::builder().added_token("<s>", 0).build()?;
    /// let counts = WordCounts::of(["a<s>"], None)?;
    /// let found = tokenizer.special_in(&counts, &Watch::default())?;
    /// assert_eq!(found.as_deref(), Some("<s>"));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn special_in(&self, counts: &WordCounts, watch: &Watch) -> Result<Option<String>> {
        let refused = self.specials().map(|(_, _, always)| always).collect();
        let words: Vec<&[u8]> = counts.iter().map(|(word, _)| word).collect();
        match self.encoder().check(&words, refused, watch) {
            Err(Error::DisallowedSpecial { token, .. }) => Ok(Some(token)),
            result => result.map(|()| None),
        }
    }

    /// Encode all words, and call `add` with each word's ids and its count; the shares are in an
    /// order that does not depend on the number of threads.
    fn for_each_share<T: Default + Send>(
        &self,
        counts: &WordCounts,
        num_threads: usize,
        watch: &Watch,
        add: impl Fn(&mut T, &[Id], u64) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        let pattern = self.encoder().pattern();
        let counts = if pattern.drops_gaps() {
            Cow::Owned(counts.cut(pattern, watch)?)
        } else {
            Cow::Borrowed(counts)
        };
        let (words, times): (Vec<&[u8]>, Vec<u64>) = counts.iter().unzip();
        let words: Vec<&[&[u8]]> = words.chunks(WORDS_AT_ONCE).collect();
        parallel::map(num_threads, words.len(), |share| {
            watch.check()?;
            let mut sum = T::default();
            let first = share * WORDS_AT_ONCE;
            self.encoder()
                .for_each_ids(words[share], watch, |index, ids| {
                    add(&mut sum, ids, times[first + index])
                })?;
            watch.advance(words[share].len() as u64);
            Ok(sum)
        })
    }
}

/// The words of a corpus as they are when merges begin: with the space that is put before a text,
/// where a word is one, with spaces for marks, and without what the pattern drops.
pub fn encoded_words<'c>(
    counts: &'c WordCounts,
    pattern: &Pattern,
    preparation: Preparation,
    watch: &Watch,
) -> Result<Cow<'c, WordCounts>> {
    let preparation = match pattern.spec() {
        Some(_) => preparation.without_prefix(),
        None => preparation,
    };
    if !pattern.drops_gaps() && preparation.keeps_words() {
        return Ok(Cow::Borrowed(counts));
    }
    let mut words = WordCounts::new(counts.settings().clone());
    for (word, count) in counts.iter() {
        watch.check()?;
        let prefixed = preparation.with_prefix(word);
        words.add(&preparation.prepare(&prefixed), count)?;
    }
    if pattern.drops_gaps() {
        words = words.cut(pattern, watch)?;
    }
    Ok(Cow::Owned(words))
}
