//! The words of a corpus in one array of cells, and their weights.

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::{Id, MergeList};
use crate::pages::prefer_large_pages;
use crate::watch::Watch;

/// A token's id plus one: so the boundary can be tallied like a token, which saves a branch that no
/// processor can predict.
pub(super) type Token = u32;

/// What stands between two words.
pub(super) const BOUNDARY: Token = 0;

/// A cell of the array: a token, perhaps marked, or a mark alone. Few tokens fit into 16 bits, and
/// then twice as many cells fit into the cache.
pub(super) trait Cell: Copy + Send {
    /// Marks the last cell of a token that covers more than one.
    const LAST: u32;
    /// The first cell of a token that became the right half of another.
    const DEAD: u32 = Self::LAST | BOUNDARY;
    fn new(bits: u32) -> Self;
    fn bits(self) -> u32;
}

impl Cell for u16 {
    const LAST: u32 = 1 << 15;

    fn new(bits: u32) -> Self {
        bits as Self
    }

    fn bits(self) -> u32 {
        self.into()
    }
}

impl Cell for u32 {
    const LAST: u32 = 1 << 31;

    fn new(bits: u32) -> Self {
        bits
    }

    fn bits(self) -> u32 {
        self
    }
}

/// Words laid out for training, the most frequent first.
#[derive(Debug)]
pub(super) struct Corpus<C> {
    pub(super) cells: Vec<C>,
    pub(super) weights: Vec<WeightRange>,
    pub(super) num_symbols: u64,
    /// Are the merges of the list applied already?
    pub(super) is_merged: bool,
}

/// Up to which cell the words have which count.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightRange {
    pub(super) end: u32,
    pub(super) weight: u64,
}

impl<C: Cell> Corpus<C> {
    /// Lay out the words of `counts`.
    ///
    /// Where several merges make one string, the words are laid out as the tokens that `merges`
    /// makes of them, and otherwise as symbols: then training replays the merges, which is faster.
    pub(super) fn new(merges: &MergeList, counts: &WordCounts, watch: &Watch) -> Result<Self> {
        let num_cells: usize = counts.iter().map(|(word, _)| word.len() + 1).sum();
        let mut corpus = Self {
            cells: Vec::with_capacity(num_cells + 1),
            weights: Vec::new(),
            num_symbols: 0,
            is_merged: !merges.makes_distinct_strings(),
        };
        prefer_large_pages(&mut corpus.cells);
        corpus.cells.push(C::new(BOUNDARY));
        let mut symbols = Vec::new();
        for (index, (word, count)) in counts.by_count().enumerate() {
            if index % 1024 == 0 {
                watch.check()?;
            }
            symbols.clear();
            merges.alphabet().extend_symbols(word, &mut symbols)?;
            corpus.num_symbols += symbols.len() as u64 * count;
            if corpus.is_merged {
                symbols = merges.apply(symbols);
            }
            corpus
                .cells
                .extend(symbols.iter().map(|&id| C::new(id + 1)));
            corpus.cells.push(C::new(BOUNDARY));
            corpus.end_word(count)?;
        }
        Ok(corpus)
    }

    fn end_word(&mut self, count: u64) -> Result<()> {
        let end = u32::try_from(self.cells.len()).map_err(|_| Error::CorpusTooLarge)?;
        match self.weights.last_mut() {
            Some(range) if range.weight == count => range.end = end,
            _ => self.weights.push(WeightRange { end, weight: count }),
        }
        Ok(())
    }
}

/// How many cells the boundary and each token cover.
pub(super) fn token_lengths(merges: &MergeList) -> Vec<u32> {
    let alphabet = merges.alphabet();
    let of_token = |id| alphabet.num_symbols(merges.token(id)) as u32;
    let tokens = (0..merges.num_tokens() as Id).map(of_token);
    std::iter::once(1).chain(tokens).collect()
}

/// Finds the weights of ascending positions.
pub(super) struct Weights<'c> {
    ranges: &'c [WeightRange],
    current: WeightRange,
}

impl<'c> Weights<'c> {
    pub(super) fn new(ranges: &'c [WeightRange]) -> Self {
        let current = WeightRange { end: 0, weight: 0 };
        Self { ranges, current }
    }

    #[inline]
    pub(super) fn at(&mut self, position: u32) -> u64 {
        if position >= self.current.end {
            let passed = self.ranges.partition_point(|range| range.end <= position);
            self.ranges = &self.ranges[passed..];
            self.current = self.ranges[0];
        }
        self.current.weight
    }
}
