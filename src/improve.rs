//! Merge lists better than greedy's, of the same length: local search.
//!
//! Greedy takes the pair that saves most and never revises it. What it misses is mostly the order
//! of the merges and how tokens are split (docs/theory/improving.md): a token that takes a
//! letter from a better one, or cannot be built because another merge came first. So a move here
//! changes ranks, splits and tokens together, and mends the tokens that it leaves underivable. Its
//! gain is exact: only words on whose derivation some change acts are derived again.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]

mod again;
mod builder;
mod chains;
mod corpus;
mod derivation;
mod draft;
mod finish;
mod list;
mod moves;
mod outcome;
mod pairs;
mod random;
mod round;
mod search;
mod state;
mod steering;
mod suggested;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use self::chains::{Chains, Pace};
use self::corpus::{Corpus, MOST_EXTRA, ONCE};
use self::finish::finish;
use self::list::PinnedMerge;
use self::search::{Goal, search};
use self::state::State;
use self::suggested::suggested;
use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::{Alphabet, MergeList};
use crate::parallel::{Team, with_team};
use crate::watch::Watch;

/// From this number of words on, where tokens are rare, words weigh more than they were seen: some of
/// them will be met again, with others that were not seen, and a token that many words share serves
/// more of those than one that few words have. Where tokens are frequent, counts are reliable.
const MANY_WORDS: usize = 1000;
/// The product of a token's weight and the extra weight of a word.
const RARE: u64 = 15 * ONCE * ONCE;

/// The limits of a search.
#[derive(Debug, Clone)]
pub struct ImproveOptions {
    /// The seed of the random numbers.
    pub seed: u64,
    /// The number of moves to try; None: as many as the deadline allows.
    pub num_moves: Option<u64>,
    /// When to end the search.
    pub deadline: Option<Instant>,
    /// The number of threads; it does not change the result of a given number of moves.
    pub num_threads: usize,
    /// The length of the longest new token, in symbols.
    pub max_token_length: usize,
    /// Whether each word weighs as often as it was seen, also where tokens are rare.
    pub true_counts: bool,
}

/// The progress of a search, to be read from another thread.
#[derive(Debug, Default)]
pub struct ImproveProgress {
    before: u64,
    /// The number of tokens of the words that are searched, at first.
    first: OnceLock<u64>,
    saved: AtomicI64,
}

impl ImproveProgress {
    /// The progress of a search over words that have `num_tokens` tokens before it.
    pub fn from(num_tokens: u64) -> Self {
        Self {
            before: num_tokens,
            ..Self::default()
        }
    }

    /// The number of tokens that the words currently have. Those left out of the search are taken to
    /// stay as they were.
    pub fn num_tokens(&self) -> u64 {
        let saved = self.saved.load(Ordering::Relaxed);
        self.before.saturating_add_signed(-saved)
    }

    /// Note the number of tokens of the words that are searched; the first time, before the first move.
    fn set(&self, num_tokens: u64) {
        let first = *self.first.get_or_init(|| num_tokens);
        let saved = first as i64 - num_tokens as i64;
        self.saved.store(saved, Ordering::Relaxed);
    }
}

/// A list as long as `initial`, found by a search that begins there; `initial` itself if no list of
/// that length was found, or the search was stopped before it began.
///
/// The merges of `initial` make distinct strings; those for which `is_pinned` is true stay tokens.
/// The caller has to compare the result with `initial`: words too long for the search are left out
/// of it, so with many of them the result may be no better.
///
/// # Example
///
/// ```
/// use mergewise::counts::WordCounts;
/// use mergewise::improve::{ImproveOptions, ImproveProgress, improve};
/// use mergewise::watch::Watch;
/// use mergewise::merges::{Alphabet, MergeList};
///
/// let mut counts = WordCounts::default();
/// counts.add(b"abcabc", 3)?;
/// // The second merge acts nowhere.
/// let initial = MergeList::from_pairs(Alphabet::of_chars("abc".chars()), [(0, 1), (1, 0)])?;
/// let options = ImproveOptions {
///     seed: 0,
///     num_moves: Some(200),
///     deadline: None,
///     num_threads: 1,
///     max_token_length: usize::MAX,
///     true_counts: false,
/// };
/// let (watch, progress) = (Watch::default(), ImproveProgress::default());
/// let better = improve(&counts, &initial, &[false; 2], &options, &watch, &progress)?;
/// assert_eq!(better.utility(b"abcabc")?, 4);
/// # Ok::<(), mergewise::error::Error>(())
/// ```
pub fn improve(
    counts: &WordCounts,
    initial: &MergeList,
    is_pinned: &[bool],
    options: &ImproveOptions,
    watch: &Watch,
    progress: &ImproveProgress,
) -> Result<MergeList> {
    if initial.pairs().is_empty() {
        return Ok(initial.clone());
    }
    let found = with_team(options.num_threads, |team| {
        search_from(counts, initial, is_pinned, options, team, watch, progress)
    });
    match found {
        Ok(Some(list)) => Ok(list),
        Ok(None) | Err(Error::Interrupted) => Ok(initial.clone()),
        Err(error) => Err(error),
    }
}

/// The list that a search finds; None if no two tokens are adjacent, or no list of the length is
/// found.
fn search_from(
    counts: &WordCounts,
    initial: &MergeList,
    is_pinned: &[bool],
    options: &ImproveOptions,
    team: &Team,
    watch: &Watch,
    progress: &ImproveProgress,
) -> Result<Option<MergeList>> {
    let (alphabet, pairs) = (initial.alphabet(), initial.pairs().iter().copied());
    let merges: Vec<_> = pairs.zip(is_pinned.iter().copied()).collect();
    let corpus = weighed(counts, alphabet, &merges, options, team, watch)?;
    let mut chains = Chains::new(options, merges.len());
    let mut first = Cow::Borrowed(&merges);
    let mut best: Option<(u64, MergeList)> = None;
    while let Some(pace) = chains.next() {
        let state = State::new(&corpus, alphabet.len(), &first, watch);
        let found = state.and_then(|state| chain(state, options, &pace, team, watch, progress));
        match found {
            Ok(Some((cost, list))) if best.as_ref().is_none_or(|best| cost < best.0) => {
                let pairs = list.into_iter().map(|(pair, _)| pair);
                best = Some((cost, MergeList::from_pairs(alphabet.clone(), pairs)?));
            }
            Ok(_) => {}
            Err(Error::Interrupted) if best.is_some() => break,
            Err(error) => return Err(error),
        }
        if watch.is_stopped() {
            break;
        }
        if matches!(first, Cow::Borrowed(_)) && chains.are_more() {
            let state = State::new(&corpus, alphabet.len(), &merges, watch);
            let other =
                state.and_then(|state| suggested(&state, options.max_token_length, team, watch));
            if let Ok(Some(other)) = other {
                first = Cow::Owned(other);
                chains.shorten();
            }
        }
    }
    Ok(best.map(|(_, list)| list))
}

/// The words, which weigh more than they were seen where tokens are rare.
fn weighed(
    counts: &WordCounts,
    alphabet: &Alphabet,
    merges: &[PinnedMerge],
    options: &ImproveOptions,
    team: &Team,
    watch: &Watch,
) -> Result<Corpus> {
    let mut corpus = Corpus::new(counts, alphabet, watch)?;
    if corpus.num_words() >= MANY_WORDS && !options.true_counts {
        let state = State::new(&corpus, alphabet.len(), merges, watch)?;
        let extra = state
            .price(team, watch)?
            .map_or(0, |price| RARE / price.max(1));
        corpus.add_to_weights(extra.min(MOST_EXTRA), watch)?;
    }
    Ok(corpus)
}

/// One search from the beginning to the end: the cost of the list that it finds, and the list; None if no
/// two tokens are adjacent, or no list of the length is found.
fn chain(
    mut state: State<'_>,
    options: &ImproveOptions,
    pace: &Pace,
    team: &Team,
    watch: &Watch,
    progress: &ImproveProgress,
) -> Result<Option<(u64, Vec<PinnedMerge>)>> {
    let Some(price) = state.price(team, watch)? else {
        return Ok(None);
    };
    let (corpus, len, longest) = (state.corpus, state.list.len(), options.max_token_length);
    let num_symbols = state.list.num_symbols();
    let goal = Goal {
        price: price as f64,
        len,
        max_token_length: longest,
    };
    let (cost, best) = search(&mut state, goal, pace, team, watch, progress)?;
    let mut is_whole = finish(&mut state, len, longest, team)?;
    if !is_whole || cost < state.cost {
        // Nor does the watch stop this.
        state = State::new(corpus, num_symbols, &best, &Watch::default())?;
        is_whole = finish(&mut state, len, longest, team)?;
    }
    Ok(is_whole.then(|| (state.cost, state.list.merges())))
}
