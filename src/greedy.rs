//! Greedy training: repeatedly the most frequent pair, over unique words or over whole texts.
//!
//! The words lie one after another in one array of cells, a boundary between them. A token covers
//! as many cells as the tokens did that it was made of; its first cell holds its id, its last one
//! the id with a flag. So the next token is at `position + length`, and the cell before holds the
//! previous one: a doubly linked list in 2 or 4 bytes a symbol. The words are sorted by count, so
//! that the weight of a position is found by walking through a short list of ranges.
//!
//! Every pair worth keeping has a list of positions, ascending. A position is checked when it is
//! used and never deleted: the cell of a token that was merged away no longer holds its id. One
//! merge visits the positions of its pair, tallies the neighbours in an array indexed by token, and
//! touches the map of pairs once for each distinct neighbour. Lists of new pairs replace that of
//! the merged pair, as far as there is room.
//!
//! Two facts (docs/theory/lemmas.md, Lemma X) keep the queue short and exact. The count of an old
//! pair never grows, so a stale count is an upper bound: the pair on top is compared with its
//! current count and goes back if that is smaller. And no new pair counts more than the merge that made it,
//! so a pair below the floor can be dropped for good as long as the floor stays. There are two
//! floors: one for the first hundred merges, which shorten the text most, and one at the expected
//! count of the last merge. If that proves too high, the pairs are counted again with a lower one.
//! Before each count, the cells are closed up: every token then covers one cell, and all positions
//! are new.
//!
//! Cost: expected O(N + D log D) for N symbols and D pairs above the floor. The formal twin is
//! `formal.greedy`.

mod corpus;
mod kept;
mod slots;
mod tallies;
#[cfg(test)]
pub(crate) mod tests;
mod trainer;

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::MergeList;
use crate::watch::Watch;
use corpus::{Cell, Corpus};
use trainer::Trainer;

/// Which adjacent pairs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlaps {
    /// As many as can be replaced: `aaa` holds one `aa` (the paper's choice).
    Skip,
    /// Every adjacent pair: `aaa` holds two (Gage, Sennrich, most libraries).
    Count,
}

/// The limits of training and how it counts.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// The largest number of merges to add.
    pub num_merges: usize,
    /// Stop when no pair counts this much; at least 1.
    pub min_frequency: u64,
    /// The length of the longest token, in symbols.
    pub max_token_length: usize,
    /// How pairs of a token with itself count.
    pub overlaps: Overlaps,
}

/// Train on `counts`: append up to `options.num_merges` merges to `merges`, and return the count of
/// each. Of pairs that count the same, the one with the smaller left id is merged first, then the
/// one with the smaller right id.
///
/// # Example
///
/// ```
/// use mergewise::counts::WordCounts;
/// use mergewise::greedy::{Overlaps, TrainOptions, train};
/// use mergewise::watch::Watch;
/// use mergewise::merges::{Alphabet, MergeList};
///
/// let mut counts = WordCounts::default();
/// counts.add(b"low", 5)?;
/// counts.add(b"lower", 2)?;
/// let mut merges = MergeList::new(Alphabet::Bytes);
/// let options = TrainOptions {
///     num_merges: 2,
///     min_frequency: 1,
///     max_token_length: usize::MAX,
///     overlaps: Overlaps::Skip,
/// };
/// let gains = train(&counts, &mut merges, &options, &Watch::default())?;
/// assert_eq!(gains, [7, 7]);
/// assert_eq!(merges.token(256), b"lo");
/// assert_eq!(merges.token(257), b"low");
/// # Ok::<(), mergewise::error::Error>(())
/// ```
pub fn train(
    counts: &WordCounts,
    merges: &mut MergeList,
    options: &TrainOptions,
    watch: &Watch,
) -> Result<Vec<u64>> {
    let most_tokens = merges.num_tokens().saturating_add(options.num_merges);
    if most_tokens < u16::LAST as usize - 1 {
        train_with::<u16>(counts, merges, options, watch)
    } else {
        train_with::<u32>(counts, merges, options, watch)
    }
}

fn train_with<C: Cell>(
    counts: &WordCounts,
    merges: &mut MergeList,
    options: &TrainOptions,
    watch: &Watch,
) -> Result<Vec<u64>> {
    let corpus = Corpus::<C>::new(merges, counts, watch)?;
    let is_merged = corpus.is_merged;
    let mut trainer = Trainer::new(corpus, merges, options);
    if !is_merged && !merges.pairs().is_empty() {
        trainer.replay(merges, watch)?;
    }
    let mut gains = Vec::new();
    trainer.index(watch)?;
    while gains.len() < options.num_merges {
        watch.check()?;
        let Some((slot, count)) = trainer.best(watch)? else {
            break;
        };
        let (left, right) = trainer.parts(slot);
        let product = merges.push(left - 1, right - 1)? + 1;
        if product >= C::LAST {
            return Err(Error::TooManyTokens);
        }
        trainer.merge(slot, product);
        gains.push(count);
        watch.advance(1);
    }
    Ok(gains)
}
