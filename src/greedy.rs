//! Greedy training: repeatedly the most frequent pair, over unique words or over whole texts.
//!
//! The words lie one after another in one array of cells, a boundary between them. A token covers
//! as many cells as it has symbols; its first cell holds its id, its last cell holds its id with a
//! flag. So the next token is `position + length`, and the previous one is named by the cell before:
//! a doubly linked list in 2 or 4 bytes a symbol. The words are sorted by count, so that the weight of a
//! position is found by walking through a short list of ranges.
//!
//! Every pair worth keeping has a list of positions, ascending. A position is checked when it is
//! used and never deleted: the cell of a token that was merged away no longer holds its id. One
//! merge visits the positions of its pair, tallies the neighbours in an array indexed by token, and
//! touches the map of pairs once for each distinct neighbour.
//!
//! Two facts (docs/theory.md, Lemma X) keep the queue short and exact. The count of an old pair never
//! grows, so a stale count is an upper bound: the pair on top is compared with its count of now and
//! goes back if that is smaller. And no new pair counts more than the merge that made it; so a
//! pair below the floor can be dropped for good while the floor stands. The floor starts where the
//! last merge is expected, and if it proves too high, the pairs are counted again with a lower one.
//!
//! Cost: expected O(N + D log D) for N symbols and D pairs above the floor. The formal twin is
//! `formal.greedy`.

mod corpus;
mod tallies;

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::limits::Watch;
use crate::merges::{Id, MergeList};
use corpus::{BOUNDARY, Cell, Corpus, Token, WeightRange, Weights, token_lengths};
use tallies::{DenseTallies, NO_TALLY, PairTallies, Side, Tally, key};

/// How many positions are looked up together.
const CHUNK: usize = 256;
/// How many tokens are scanned between two looks at the watch.
const SCAN_STEP: usize = 1 << 20;

/// Which adjacent pairs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlaps {
    /// As many as can be replaced: `aaa` holds one `aa` (the paper's choice).
    Skip,
    /// Every adjacent pair: `aaa` holds two (Gage, Sennrich, most libraries).
    Count,
}

/// What to train.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many merges to add at the most.
    pub num_merges: usize,
    /// Stop when no pair counts this much; at least 1.
    pub min_frequency: u64,
    /// The longest token in symbols.
    pub max_token_length: usize,
    /// How pairs of a token with itself count.
    pub overlaps: Overlaps,
}

/// Train on `counts`: append up to `options.num_merges` merges to `merges`. How often each counted.
pub fn train(
    counts: &WordCounts,
    merges: &mut MergeList,
    options: &Options,
    watch: &Watch,
) -> Result<Vec<u64>> {
    let most_tokens = merges.num_tokens().saturating_add(options.num_merges);
    if most_tokens < u16::LAST as usize - 1 {
        train_with(
            Corpus::<u16>::new(merges, counts, watch)?,
            merges,
            options,
            watch,
        )
    } else {
        train_with(
            Corpus::<u32>::new(merges, counts, watch)?,
            merges,
            options,
            watch,
        )
    }
}

fn train_with<C: Cell>(
    corpus: Corpus<C>,
    merges: &mut MergeList,
    options: &Options,
    watch: &Watch,
) -> Result<Vec<u64>> {
    let is_merged = corpus.is_merged;
    let mut trainer = Trainer::new(corpus, token_lengths(merges), options);
    if !is_merged && !merges.pairs().is_empty() {
        trainer.replay(merges, watch)?;
    }
    let mut counts = Vec::new();
    trainer.index(watch)?;
    while counts.len() < options.num_merges {
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
        counts.push(count);
        watch.advance(1);
    }
    Ok(counts)
}

/// A pair that counts at least as much as the floor.
#[derive(Debug)]
struct Pair {
    left: Token,
    right: Token,
    /// The number of adjacent occurrences; for `Overlaps::Skip` and a pair of equals, a bound.
    count: u64,
    /// For a pair of equals: how often it can be replaced, and the `count` for which that holds.
    replaceable: Option<(u64, u64)>,
    /// Its part of `Trainer::positions`: where it may stand, ascending, checked when used.
    start: usize,
    len: usize,
}

struct Trainer<'o, C> {
    cells: Vec<C>,
    weights: Vec<WeightRange>,
    /// How many cells the boundary and each token cover.
    lengths: Vec<u32>,
    options: &'o Options,
    /// Pairs that count less are not kept.
    floor: u64,
    /// While merges are replayed, their pairs are kept instead.
    replayed: Option<FxHashSet<u64>>,
    pairs: Vec<Pair>,
    /// The positions of all pairs, each pair's together.
    positions: Vec<u32>,
    /// Where the positions of the pairs begin that are being kept now.
    listed_from: usize,
    /// From `key(left, right)` to the pair's place in `pairs`.
    slots: FxHashMap<u64, u32>,
    /// `priority(count, left, right)`, with counts that may be too large.
    queue: BinaryHeap<u128>,
    left: Side,
    right: Side,
    replaced: Vec<Replaced>,
}

/// Where a pair was replaced, and its neighbours then.
#[derive(Debug, Clone, Copy)]
struct Replaced {
    position: u32,
    before: Token,
    after: Token,
}

/// Larger counts first, then smaller left ids, then smaller right ids.
fn priority(count: u64, left: Token, right: Token) -> u128 {
    u128::from(count) << 64 | u128::from(!key(left, right))
}

impl<'o, C: Cell> Trainer<'o, C> {
    fn new(corpus: Corpus<C>, lengths: Vec<u32>, options: &'o Options) -> Self {
        // On text the last of M merges counts between N / 25 M and N / 130 M. A floor that is too
        // high costs another count of all pairs, one that is too low keeps pairs that never merge.
        let num_merges = options.num_merges.max(1) as u64;
        let expected = corpus.num_symbols / num_merges.saturating_mul(60);
        Self {
            cells: corpus.cells,
            weights: corpus.weights,
            lengths,
            options,
            floor: expected.max(options.min_frequency),
            replayed: None,
            pairs: Vec::new(),
            positions: Vec::new(),
            listed_from: 0,
            slots: FxHashMap::default(),
            queue: BinaryHeap::new(),
            left: Side::default(),
            right: Side::default(),
            replaced: Vec::new(),
        }
    }

    fn parts(&self, slot: u32) -> (Token, Token) {
        let pair = &self.pairs[slot as usize];
        (pair.left, pair.right)
    }

    /// Apply the merges of a list, each in turn.
    fn replay(&mut self, merges: &MergeList, watch: &Watch) -> Result<()> {
        let as_cells = |&(left, right): &(Id, Id)| key(left + 1, right + 1);
        self.replayed = Some(merges.pairs().iter().map(as_cells).collect());
        self.index(watch)?;
        let first = merges.alphabet().len() as Token + 1;
        for (product, pair) in (first..).zip(merges.pairs()) {
            watch.check()?;
            if let Some(&slot) = self.slots.get(&as_cells(pair)) {
                self.merge(slot, product);
            }
        }
        self.replayed = None;
        Ok(())
    }

    /// Is a pair with this tally worth keeping?
    fn is_wanted(&self, left: Token, right: Token, tally: Tally) -> bool {
        match &self.replayed {
            Some(replayed) => tally.times > 0 && replayed.contains(&key(left, right)),
            None => tally.weight >= self.floor && self.fits(left, right),
        }
    }

    /// May the two be one token?
    fn fits(&self, left: Token, right: Token) -> bool {
        if left == BOUNDARY || right == BOUNDARY {
            return false;
        }
        let length = self.lengths[left as usize] as usize + self.lengths[right as usize] as usize;
        length <= self.options.max_token_length
    }

    /// Count all pairs anew and keep those that are wanted.
    fn index(&mut self, watch: &Watch) -> Result<()> {
        if self.lengths.len() <= DenseTallies::MAX_WIDTH {
            self.index_with(DenseTallies::new(self.lengths.len()), watch)
        } else {
            self.index_with(FxHashMap::default(), watch)
        }
    }

    fn index_with(&mut self, mut tallies: impl PairTallies, watch: &Watch) -> Result<()> {
        self.pairs.clear();
        self.slots.clear();
        self.queue.clear();
        self.positions = Vec::new();
        self.listed_from = 0;
        self.scan(watch, |left, right, _, weight| {
            let tally = tallies.of(left, right);
            tally.weight += weight;
            tally.times += 1;
        })?;
        let mut num_positions = 0;
        tallies.for_each(|left, right, tally| {
            if self.is_wanted(left, right, *tally) {
                tally.cursor = num_positions as u32;
                self.keep(left, right, *tally, num_positions);
                num_positions += tally.times as usize;
            }
        });
        let mut positions = vec![0; num_positions];
        self.scan(watch, |left, right, position, _| {
            tallies.of(left, right).list(position, &mut positions);
        })?;
        self.positions = positions;
        Ok(())
    }

    /// Call `visit(left, right, position, weight)` for every token and the one behind it, either
    /// of which may be a boundary.
    fn scan(&self, watch: &Watch, mut visit: impl FnMut(Token, Token, u32, u64)) -> Result<()> {
        let mut weights = Weights::new(&self.weights);
        let only_symbols = self.lengths.iter().all(|&length| length == 1);
        let last = self.cells.len() - 1;
        let (mut position, mut next_look) = (1, SCAN_STEP);
        while position < last {
            let token = self.cells[position].bits();
            // Where all lengths are 1, the next step need not wait for this one's token.
            let length = if only_symbols {
                1
            } else {
                self.lengths[token as usize]
            };
            let next = position + length as usize;
            visit(
                token,
                self.cells[next].bits(),
                position as u32,
                weights.at(position as u32),
            );
            position = next;
            if position >= next_look {
                watch.check()?;
                next_look = position + SCAN_STEP;
            }
        }
        Ok(())
    }

    /// Keep a pair whose positions begin at `start`.
    fn keep(&mut self, left: Token, right: Token, tally: Tally, start: usize) {
        self.slots.insert(key(left, right), self.pairs.len() as u32);
        self.queue.push(priority(tally.weight, left, right));
        self.pairs.push(Pair {
            left,
            right,
            count: tally.weight,
            replaceable: None,
            start,
            len: tally.times as usize,
        });
    }

    /// Keep a pair that a merge made, if it is wanted; its tally gets a cursor.
    fn consider(&mut self, left: Token, right: Token, mut tally: Tally) -> Tally {
        if self.is_wanted(left, right, tally) {
            let start = self.positions.len();
            self.positions.resize(start + tally.times as usize, 0);
            self.keep(left, right, tally, start);
            tally.cursor = (start - self.listed_from) as u32;
        }
        tally
    }

    /// The pair to merge next and its count, or None if none counts enough.
    fn best(&mut self, watch: &Watch) -> Result<Option<(u32, u64)>> {
        loop {
            while let Some(mut top) = self.queue.peek_mut() {
                let (queued, parts) = ((*top >> 64) as u64, !(*top as u64));
                let Some(&slot) = self.slots.get(&parts) else {
                    PeekMut::pop(top);
                    continue;
                };
                let pair = &mut self.pairs[slot as usize];
                let is_bound = pair.left == pair.right && self.options.overlaps == Overlaps::Skip;
                let count = if is_bound {
                    let cells = &self.cells;
                    pair.replaceable(cells, &self.lengths, &self.weights, &mut self.positions)
                } else {
                    pair.count
                };
                if count == queued {
                    return Ok(Some((slot, count)));
                }
                if count >= self.floor {
                    *top = priority(count, pair.left, pair.right);
                } else {
                    self.slots.remove(&parts);
                    PeekMut::pop(top);
                }
            }
            if self.floor == self.options.min_frequency {
                return Ok(None);
            }
            self.floor = (self.floor / 4).max(self.options.min_frequency);
            self.index(watch)?;
        }
    }

    /// Replace a pair wherever it stands by `product`, and bring the counts up to date.
    fn merge(&mut self, slot: u32, product: Token) {
        let (left, right) = self.parts(slot);
        if product as usize == self.lengths.len() {
            self.lengths
                .push(self.lengths[left as usize] + self.lengths[right as usize]);
        }
        self.left.tallies.resize(self.lengths.len(), NO_TALLY);
        self.right.tallies.resize(self.lengths.len(), NO_TALLY);
        self.slots.remove(&key(left, right));
        let doubles = self.replace(slot, product);
        self.update_counts(left, right, product, doubles);
        self.left.clear();
        self.right.clear();
    }

    /// Write `product` over each occurrence of (left, right) and tally what stands on both sides.
    /// They go to `replaced`; the tally of two products side by side is returned.
    fn replace(&mut self, slot: u32, product: Token) -> Tally {
        let Pair {
            left,
            right,
            start,
            len,
            ..
        } = self.pairs[slot as usize];
        let left_length = self.lengths[left as usize] as usize;
        let length = left_length + self.lengths[right as usize] as usize;
        let cells = self.cells.as_mut_slice();
        let mut weights = Weights::new(&self.weights);
        let mut doubles = NO_TALLY;
        self.replaced.clear();
        for chunk in self.positions[start..start + len].chunks(CHUNK) {
            // Without a branch, the loads of many positions run side by side.
            let mut standing = [0; CHUNK];
            let mut num_standing = 0;
            for &position in chunk {
                let at = position as usize;
                let (first, second) = (cells[at].bits(), cells[at + left_length].bits());
                let differs = (first ^ left) | (second ^ right);
                standing[num_standing] = position;
                num_standing += usize::from(differs == 0);
            }
            for &position in &standing[..num_standing] {
                let at = position as usize;
                if left == right && cells[at].bits() != left {
                    continue; // the one before, which overlaps, was replaced
                }
                cells[at] = C::new(product);
                cells[at + left_length] = C::new(C::DEAD);
                cells[at + length - 1] = C::new(product | C::LAST);
                let weight = weights.at(position);
                let before = cells[at - 1].bits() & !C::LAST;
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
                let after = cells[at + length].bits();
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

    /// The old neighbours lost what the new pairs gained; keep the new pairs that are wanted.
    fn update_counts(&mut self, left: Token, right: Token, product: Token, doubles: Tally) {
        self.listed_from = self.positions.len();
        self.lose(right, left, doubles.weight);
        let doubles = self.consider(product, product, doubles);
        for index in 0..self.left.touched.len() {
            let token = self.left.touched[index];
            let tally = self.left.tallies[token as usize];
            self.lose(token, left, tally.weight);
            self.left.tallies[token as usize] = self.consider(token, product, tally);
        }
        for index in 0..self.right.touched.len() {
            let token = self.right.touched[index];
            let tally = self.right.tallies[token as usize];
            self.lose(right, token, tally.weight);
            self.right.tallies[token as usize] = self.consider(product, token, tally);
        }
        if self.positions.len() > self.listed_from {
            self.list_positions(product, doubles);
        }
    }

    fn lose(&mut self, left: Token, right: Token, weight: u64) {
        if let Some(&slot) = self.slots.get(&key(left, right)) {
            self.pairs[slot as usize].count -= weight;
        }
    }

    /// List where the pairs stand that were kept for `product`.
    fn list_positions(&mut self, product: Token, mut doubles: Tally) {
        let positions = &mut self.positions[self.listed_from..];
        for &Replaced {
            position,
            before,
            after,
        } in &self.replaced
        {
            let tally = if before == product {
                &mut doubles
            } else {
                &mut self.left.tallies[before as usize]
            };
            tally.list(position - self.lengths[before as usize], positions);
            self.right.tallies[after as usize].list(position, positions);
        }
    }
}

impl Pair {
    /// How often a pair of equals can be replaced; forgets the positions where it no longer stands.
    fn replaceable<C: Cell>(
        &mut self,
        cells: &[C],
        lengths: &[u32],
        ranges: &[WeightRange],
        positions: &mut [u32],
    ) -> u64 {
        if let Some((replaceable, count)) = self.replaceable
            && count == self.count
        {
            return replaceable;
        }
        let length = lengths[self.left as usize];
        let mut weights = Weights::new(ranges);
        let (mut total, mut free_from, mut kept) = (0, 0, self.start);
        for index in self.start..self.start + self.len {
            let position = positions[index];
            let next = cells[(position + length) as usize].bits();
            if cells[position as usize].bits() != self.left || next != self.right {
                continue;
            }
            positions[kept] = position;
            kept += 1;
            if position >= free_from {
                total += weights.at(position);
                free_from = position + 2 * length;
            }
        }
        self.len = kept - self.start;
        self.replaceable = Some((total, self.count));
        total
    }
}
