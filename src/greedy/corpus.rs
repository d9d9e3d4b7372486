//! The words of a corpus in one array of cells, and their weights.

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::MergeList;
use crate::pages::prefer_large_pages;
use crate::watch::Watch;

/// The number of tokens that are scanned between two checks for interruption.
const SCAN_STEP: usize = 1 << 20;

/// A token as cells hold it: its id plus one. So the boundary can be tallied like a token, which
/// saves a branch that no processor can predict.
pub(super) type Token = u32;

/// What stands between two words.
pub(super) const BOUNDARY: Token = 0;

/// A cell of the array: a token, perhaps marked, or a mark alone. Small vocabularies fit into 16
/// bits, and then twice as many cells fit into the cache.
pub(super) trait Cell: Copy + Send + Into<u32> {
    /// Marks the last cell of a token that covers more than one.
    const LAST: u32;
    /// The first cell of a token that became the right half of another.
    const DEAD: u32 = Self::LAST | BOUNDARY;
    fn new(bits: u32) -> Self;
}

impl Cell for u16 {
    const LAST: u32 = 1 << 15;

    fn new(bits: u32) -> Self {
        bits as Self
    }
}

impl Cell for u32 {
    const LAST: u32 = 1 << 31;

    fn new(bits: u32) -> Self {
        bits
    }
}

/// Words laid out for training, the most frequent first.
#[derive(Debug)]
pub(super) struct Corpus<C> {
    pub(super) cells: Vec<C>,
    pub(super) weights: Vec<WeightRange>,
    /// The number of cells that the boundary and each token cover.
    pub(super) lengths: Vec<u32>,
    /// The number of symbols of all words, each as often as it was counted. [`WordCounts`] hold
    /// fewer than 2^64 bytes, so neither this nor any sum of counts below overflows.
    pub(super) num_symbols: u64,
    /// Whether the merges of the list are applied already.
    pub(super) is_merged: bool,
}

/// A range of words with the same count, which ends before the cell `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightRange {
    end: u32,
    weight: u64,
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
            lengths: Vec::new(),
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
            let cells = symbols.iter().map(|&id| C::new(id + 1));
            corpus.cells.extend(cells);
            corpus.cells.push(C::new(BOUNDARY));
            let end = u32::try_from(corpus.cells.len()).map_err(|_| Error::CorpusTooLarge)?;
            match corpus.weights.last_mut() {
                Some(range) if range.weight == count => range.end = end,
                _ => corpus.weights.push(WeightRange { end, weight: count }),
            }
        }
        Ok(corpus)
    }

    /// Let each of `num_tokens` tokens, boundary included, cover one cell: only first cells stay,
    /// and only they are not marked.
    pub(super) fn close_up(&mut self, num_tokens: usize) {
        let was_closed_up = self.lengths.iter().all(|&length| length == 1);
        self.lengths.clear();
        self.lengths.resize(num_tokens, 1);
        if was_closed_up {
            return;
        }
        let mut len = 1;
        let mut start = 1;
        for range in &mut self.weights {
            let end = range.end as usize;
            for at in start..end {
                // Without a branch: which cells stay cannot be predicted.
                let cell = self.cells[at];
                self.cells[len] = cell;
                len += usize::from(cell.into() < C::LAST);
            }
            start = end;
            range.end = len as u32;
        }
        self.cells.truncate(len);
    }

    /// Call `visit(left, right, position, weight)` for every token and the one behind it, either
    /// of which may be a boundary. Each token covers one cell.
    pub(super) fn scan(
        &self,
        watch: &Watch,
        mut visit: impl FnMut(Token, Token, u32, u64),
    ) -> Result<()> {
        let mut start = 1;
        for range in &self.weights {
            let end = (range.end as usize).min(self.cells.len() - 1);
            while start < end {
                watch.check()?;
                let step_end = end.min(start + SCAN_STEP);
                let neighbours = self.cells[start..=step_end].windows(2);
                for (position, pair) in (start as u32..).zip(neighbours) {
                    visit(pair[0].into(), pair[1].into(), position, range.weight);
                }
                start = step_end;
            }
        }
        Ok(())
    }
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
