//! The state of training, from one merge to the next.

use rustc_hash::FxHashMap;

use super::corpus::{Cell, Corpus, Position, Token};
use super::kept::{KeptPairs, count_and_key, priority};
use super::merging::Merging;
use super::options::{Overlaps, TrainOptions};
use super::slots::Slot;
use super::tallies::{DenseTallies, PairTallies, key};
use super::wanted::Wanted;
use crate::error::Result;
use crate::merges::MergeList;
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;
use crate::watch::Watch;

/// The number of positions that fill a line of the cache.
const LINE: usize = 16;

/// A corpus, and the pairs of it that may be merged.
pub(super) struct Trainer<C> {
    corpus: Corpus<C>,
    overlaps: Overlaps,
    wanted: Wanted,
    kept: KeptPairs,
    merging: Merging,
}

impl<C: Cell> Trainer<C> {
    pub(super) fn new(corpus: Corpus<C>, merges: &MergeList, options: &TrainOptions) -> Self {
        Self {
            wanted: Wanted::new(merges, corpus.num_symbols, options),
            corpus,
            overlaps: options.overlaps,
            kept: KeptPairs::default(),
            merging: Merging::default(),
        }
    }

    /// The two tokens of a pair.
    pub(super) fn parts(&self, slot: Slot) -> (Token, Token) {
        let pair = self.kept.pair(slot);
        (pair.left, pair.right)
    }

    /// Apply the merges of a list, each in turn.
    pub(super) fn replay(&mut self, merges: &MergeList, watch: &Watch) -> Result<()> {
        self.wanted.replay(merges.pairs());
        self.index(watch)?;
        let first = Token::of(merges.alphabet().len() as u32);
        for (product, &(left, right)) in (first.0..).map(Token).zip(merges.pairs()) {
            watch.check()?;
            let key = key(Token::of(left), Token::of(right));
            if let Some(slot) = self.kept.slots.get(key) {
                self.merge(slot, product);
            }
        }
        self.wanted.stop_replay();
        Ok(())
    }

    /// Count all pairs again and keep those that are wanted.
    pub(super) fn index(&mut self, watch: &Watch) -> Result<()> {
        let num_tokens = self.wanted.num_symbols.len();
        self.corpus.close_up(num_tokens);
        if num_tokens <= DenseTallies::MAX_WIDTH {
            self.index_with(DenseTallies::new(num_tokens), watch)
        } else {
            // The map of all pairs takes as much memory as the positions.
            self.kept.positions = Vec::new();
            self.index_with(FxHashMap::default(), watch)
        }
    }

    fn index_with(&mut self, mut tallies: impl PairTallies, watch: &Watch) -> Result<()> {
        self.kept.clear();
        self.corpus.scan(watch, |left, right, _, weight| {
            tallies.add(left, right, weight);
        })?;
        let mut num_positions = 1;
        tallies.for_each(|left, right, tally| {
            let pair = (left, right);
            self.kept
                .consider(pair, tally, &self.wanted, 0, &mut num_positions);
        });
        let positions = &mut self.kept.positions;
        positions.clear();
        if positions.capacity() < num_positions {
            // With room for new pairs: to grow, the positions would move to small pages.
            positions.reserve_exact(num_positions + num_positions / 2);
            prefer_large_pages(positions);
        }
        positions.resize(num_positions, Position::default());
        self.corpus.scan(watch, |left, right, position, _| {
            let place = tallies.list((left, right), position, positions);
            // Hundreds of lists grow in turn, too many for the processor to predict where each
            // goes on.
            if let Some(next_line) = positions.get(place + LINE) {
                prefetch(next_line);
            }
        })
    }

    /// The pair to merge next and its count, or None if none counts enough.
    pub(super) fn best(&mut self, watch: &Watch) -> Result<Option<(Slot, u64)>> {
        loop {
            while let Some(top) = self.kept.queue.peek() {
                let (queued, key) = count_and_key(*top);
                let count = self
                    .kept
                    .slots
                    .get(key)
                    .map(|slot| (slot, self.count(slot)));
                match count {
                    Some((slot, count)) if count == queued => return Ok(Some((slot, count))),
                    Some((_, count)) if count >= self.wanted.floor => {
                        if let Some(mut top) = self.kept.queue.peek_mut() {
                            *top = priority(count, key);
                        }
                    }
                    _ => {
                        self.kept.slots.remove(key);
                        self.kept.queue.pop();
                    }
                }
            }
            if !self.wanted.lower_floor() {
                return Ok(None);
            }
            self.index(watch)?;
        }
    }

    /// What a merge of the pair counts, by the current positions.
    fn count(&mut self, slot: Slot) -> u64 {
        let pair = self.kept.pair(slot);
        if pair.left == pair.right && self.overlaps == Overlaps::Skip {
            self.kept.replaceable(slot, &self.corpus)
        } else {
            pair.count
        }
    }

    /// Replace a pair wherever it stands by `product`, and bring the counts up to date.
    pub(super) fn merge(&mut self, slot: Slot, product: Token) {
        let (left, right) = self.parts(slot);
        if product.index() == self.wanted.num_symbols.len() {
            self.wanted.add_token(left, right);
            self.corpus.lengths.push(0);
        }
        let lengths = &mut self.corpus.lengths;
        lengths[product.index()] = lengths[left.index()] + lengths[right.index()];
        let (corpus, kept) = (&mut self.corpus, &mut self.kept);
        self.merging
            .merge(slot, product, corpus, kept, &self.wanted);
    }
}
