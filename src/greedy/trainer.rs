//! The state of training, and one merge: a pair is replaced wherever it stands, and the counts are
//! brought up to date.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::corpus::{BOUNDARY, Cell, Corpus, Token, Weights};
use super::kept::{KeptPairs, Wanted, count_and_key, priority};
use super::tallies::{DenseTallies, NO_TALLY, PairTallies, Side, Tally, key, list};
use super::{Overlaps, TrainOptions};
use crate::error::Result;
use crate::merges::MergeList;
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;
use crate::watch::Watch;

/// The number of positions that fill a line of the cache.
const LINE: usize = 16;
/// The number of positions that are looked up together.
const CHUNK: usize = 64;

/// Where a pair was replaced, and its neighbours at that time.
#[derive(Debug, Clone, Copy)]
struct Replaced {
    position: u32,
    before: Token,
    after: Token,
}

/// A corpus, and the pairs of it that may be merged.
pub(super) struct Trainer<C> {
    corpus: Corpus<C>,
    overlaps: Overlaps,
    wanted: Wanted,
    kept: KeptPairs,
    /// What one merge finds beside its pair; the memory is used again for the next merge.
    left: Side,
    right: Side,
    replaced: Vec<Replaced>,
    /// The slots of the pairs that lose occurrences.
    losers: Vec<u32>,
}

/// The positions of a chunk at which the pair still stands, at the front of an array, and their
/// number. Without a branch, the loads of many positions run side by side.
#[inline]
fn find_standing<C: Cell>(
    cells: &[C],
    chunk: &[u32],
    (left, right): (Token, Token),
    left_length: usize,
) -> ([u32; CHUNK], usize) {
    let mut standing = [0; CHUNK];
    let mut num_standing = 0;
    for &position in chunk {
        let at = position as usize;
        let (first, second): (u32, u32) = (cells[at].into(), cells[at + left_length].into());
        let differs = (first ^ left) | (second ^ right);
        standing[num_standing] = position;
        num_standing += usize::from(differs == 0);
    }
    (standing, num_standing)
}

impl<C: Cell> Trainer<C> {
    pub(super) fn new(corpus: Corpus<C>, merges: &MergeList, options: &TrainOptions) -> Self {
        Self {
            wanted: Wanted::new(merges, corpus.num_symbols, options),
            corpus,
            overlaps: options.overlaps,
            kept: KeptPairs::default(),
            left: Side::default(),
            right: Side::default(),
            replaced: Vec::new(),
            losers: Vec::new(),
        }
    }

    /// The two tokens of a pair.
    pub(super) fn parts(&self, slot: u32) -> (Token, Token) {
        let pair = self.kept.pair(slot);
        (pair.left, pair.right)
    }

    /// Apply the merges of a list, each in turn.
    pub(super) fn replay(&mut self, merges: &MergeList, watch: &Watch) -> Result<()> {
        let keys = merges.pairs().iter();
        let keys = keys.map(|&(left, right)| key(left + 1, right + 1));
        self.wanted.replayed = Some(keys.collect());
        self.index(watch)?;
        let first = merges.alphabet().len() as Token + 1;
        for (product, &(left, right)) in (first..).zip(merges.pairs()) {
            watch.check()?;
            if let Some(slot) = self.kept.slots.get(key(left + 1, right + 1)) {
                self.merge(slot, product);
            }
        }
        self.wanted.replayed = None;
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
        let (kept, wanted) = (&mut self.kept, &self.wanted);
        tallies.for_each(|left, right, tally| {
            kept.consider((left, right), tally, wanted, 0, &mut num_positions);
        });
        let positions = &mut self.kept.positions;
        positions.clear();
        if positions.capacity() < num_positions {
            // With room for new pairs: to grow, the positions would move to small pages.
            positions.reserve_exact(num_positions + num_positions / 2);
            prefer_large_pages(positions);
        }
        positions.resize(num_positions, 0);
        self.corpus.scan(watch, |left, right, position, _| {
            let place = list(tallies.cursor(left, right), position, positions, 0);
            // Hundreds of lists grow in turn, too many for the processor to predict where each
            // goes on.
            if let Some(next_line) = positions.get(place + LINE) {
                prefetch(next_line);
            }
        })
    }

    /// The pair to merge next and its count, or None if none counts enough.
    pub(super) fn best(&mut self, watch: &Watch) -> Result<Option<(u32, u64)>> {
        loop {
            while let Some(top) = self.kept.queue.peek() {
                let (queued, key) = count_and_key(*top);
                let slot = self.kept.slots.get(key);
                match slot.map(|slot| (slot, self.count(slot))) {
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
    fn count(&mut self, slot: u32) -> u64 {
        let pair = self.kept.pair(slot);
        if pair.left == pair.right && self.overlaps == Overlaps::Skip {
            self.kept.replaceable(slot, &self.corpus)
        } else {
            pair.count
        }
    }

    /// Replace a pair wherever it stands by `product`, and bring the counts up to date.
    pub(super) fn merge(&mut self, slot: u32, product: Token) {
        let pair = self.kept.pair(slot);
        let (left, right, freed) = (pair.left, pair.right, pair.start..pair.start + pair.len);
        let num_symbols = &mut self.wanted.num_symbols;
        if product as usize == num_symbols.len() {
            let [left, right] = [left, right].map(|part| num_symbols[part as usize]);
            num_symbols.push(left.saturating_add(right));
            self.corpus.lengths.push(0);
        }
        let lengths = &mut self.corpus.lengths;
        lengths[product as usize] = lengths[left as usize] + lengths[right as usize];
        self.left.tallies.resize(lengths.len(), NO_TALLY);
        self.right.tallies.resize(lengths.len(), NO_TALLY);
        let doubles = self.replace((left, right), product, freed.clone());
        let kept = &mut self.kept;
        kept.slots.remove(key(left, right));
        if let Some(slot) = kept.slots.get(key(right, left)) {
            kept.pairs[slot as usize].count -= doubles.weight;
        }
        kept.lose_all(&self.left, |token| key(token, left), &mut self.losers);
        kept.lose_all(&self.right, |token| key(right, token), &mut self.losers);
        self.keep_new_pairs(product, doubles, freed);
        self.left.clear();
        self.right.clear();
    }

    /// Write `product` over each occurrence of the pair with these positions and tally the tokens on
    /// both sides. The occurrences go to `replaced`; the tally of two products side by side is
    /// returned.
    fn replace(
        &mut self,
        (left, right): (Token, Token),
        product: Token,
        positions: Range<usize>,
    ) -> Tally {
        let left_length = self.corpus.lengths[left as usize] as usize;
        let length = self.corpus.lengths[product as usize] as usize;
        let cells = self.corpus.cells.as_mut_slice();
        let mut weights = Weights::new(&self.corpus.weights);
        let mut doubles = NO_TALLY;
        self.replaced.clear();
        let mut rest = &self.kept.positions[positions];
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
            rest = behind;
            let (standing, num_standing) = find_standing(cells, chunk, (left, right), left_length);
            for (index, &position) in standing[..num_standing].iter().enumerate() {
                if let Some(&soon) = rest.get(index) {
                    prefetch(&cells[soon as usize]);
                }
                let at = position as usize;
                if left == right && cells[at].into() != left {
                    continue; // the occurrence before, which overlaps, was replaced
                }
                cells[at] = C::new(product);
                cells[at + left_length] = C::new(C::DEAD);
                cells[at + length - 1] = C::new(product | C::LAST);
                let weight = weights.at(position);
                let before = cells[at - 1].into() & !C::LAST;
                if before == product {
                    doubles.weight += weight;
                    doubles.times += 1;
                    // When the one before was tallied, this one was still its two parts.
                    self.right.take_back(left, weight);
                    if let Some(one_before) = self.replaced.last_mut() {
                        one_before.after = BOUNDARY;
                    }
                } else {
                    self.left.add(before, weight);
                }
                let after = cells[at + length].into();
                self.right.add(after, weight);
                self.replaced.push(Replaced {
                    position,
                    before,
                    after,
                });
            }
        }
        doubles
    }

    /// Keep the pairs with `product` that are wanted; the positions `freed` were those of the merged
    /// pair.
    fn keep_new_pairs(&mut self, product: Token, mut doubles: Tally, freed: Range<usize>) {
        let (kept, wanted) = (&mut self.kept, &self.wanted);
        let left_from = freed.start;
        // The pairs that end with the product stand at most as often as the pair did that it
        // replaces: they get its place among the positions. The others do so if there is room.
        let (mut num_left, mut num_right) = (0, 0);
        let pair = (product, product);
        kept.consider(pair, &mut doubles, wanted, left_from, &mut num_left);
        for &token in &self.left.touched {
            let tally = &mut self.left.tallies[token as usize];
            kept.consider((token, product), tally, wanted, left_from, &mut num_left);
        }
        let first_right = kept.pairs.len();
        for &token in &self.right.touched {
            let tally = &mut self.right.tallies[token as usize];
            kept.consider((product, token), tally, wanted, 0, &mut num_right);
        }
        let right_from = if num_left + num_right <= freed.len() {
            left_from + num_left
        } else {
            let end = kept.positions.len();
            kept.positions.resize(end + num_right, 0);
            end
        };
        for pair in &mut kept.pairs[first_right..] {
            pair.start += right_from;
        }
        if num_left + num_right == 0 {
            return;
        }
        // List the positions of the pairs that were kept.
        let positions = kept.positions.as_mut_slice();
        for replaced in &self.replaced {
            let (position, before) = (replaced.position, replaced.before as usize);
            let left = if replaced.before == product {
                &mut doubles
            } else {
                &mut self.left.tallies[before]
            };
            let right = &mut self.right.tallies[replaced.after as usize];
            let start = position - self.corpus.lengths[before];
            list(&mut left.cursor, start, positions, left_from);
            list(&mut right.cursor, position, positions, right_from);
        }
    }
}
