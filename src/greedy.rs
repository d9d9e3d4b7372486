//! Greedy training: repeatedly the most frequent pair, over unique words or over whole texts.
//!
//! The words lie one after another in one array of cells, a boundary between them. A token covers
//! as many cells as the tokens did that it was made of; its first cell holds its id, its last one with a
//! flag. So the next token is `position + length`, and the previous one is named by the cell before:
//! a doubly linked list in 2 or 4 bytes a symbol. The words are sorted by count, so that the weight of a
//! position is found by walking through a short list of ranges.
//!
//! Every pair worth keeping has a list of positions, ascending. A position is checked when it is
//! used and never deleted: the cell of a token that was merged away no longer holds its id. One
//! merge visits the positions of its pair, tallies the neighbours in an array indexed by token, and
//! touches the map of pairs once for each distinct neighbour. Lists of new pairs take the place of
//! that of the merged pair, as far as there is room.
//!
//! Two facts (docs/theory.md, Lemma X) keep the queue short and exact. The count of an old pair never
//! grows, so a stale count is an upper bound: the pair on top is compared with its count of now and
//! goes back if that is smaller. And no new pair counts more than the merge that made it; so a
//! pair below the floor can be dropped for good while the floor stands. There are two floors: one for
//! the first hundred merges, which shorten the text most, and one where the last merge is expected.
//! If that proves too high, the pairs are counted again with a lower one. Before each count, the
//! cells are closed up: every token then covers one cell, and all positions are new.
//!
//! Cost: expected O(N + D log D) for N symbols and D pairs above the floor. The formal twin is
//! `formal.greedy`.

mod corpus;
mod slots;
mod tallies;

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::{Id, MergeList};
use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;
use crate::watch::Watch;
use corpus::{BOUNDARY, Cell, Corpus, Token, WeightRange, Weights, token_lengths};
use slots::{NOT_KEPT, Slots};
use tallies::{DenseTallies, NO_TALLY, PairTallies, Side, Tally, key};

/// How many positions are looked up together.
const CHUNK: usize = 64;
/// How many positions fill a line of the cache.
const LINE: usize = 16;
/// How many tokens are scanned between two looks at the watch.
const SCAN_STEP: usize = 1 << 20;
/// The first floor is this part of all symbols: on text, that of the first 100 to 150 merges.
const EARLY: u64 = 1024;

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
    let mut trainer = Trainer::new(corpus, merges, options);
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
    /// How many symbols the boundary and each token have.
    num_symbols: Vec<u32>,
    options: &'o Options,
    /// Pairs that count less are not kept.
    floor: u64,
    /// What the last merge is expected to count.
    expected_floor: u64,
    /// While merges are replayed, their pairs are kept instead.
    replayed: Option<FxHashSet<u64>>,
    pairs: Vec<Pair>,
    /// The positions of all pairs, each pair's together. The first belongs to none: what is not
    /// kept goes there.
    positions: Vec<u32>,
    /// From `key(left, right)` to the pair's place in `pairs`.
    slots: Slots,
    /// `priority(count, left, right)`, with counts that may be too large.
    queue: BinaryHeap<u128>,
    left: Side,
    right: Side,
    replaced: Vec<Replaced>,
    /// The slots of the pairs that lose.
    losers: Vec<u32>,
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
    fn new(corpus: Corpus<C>, merges: &MergeList, options: &'o Options) -> Self {
        // On text the last of M merges counts between N / 25 M and N / 130 M. A floor that is too
        // high costs another count of all pairs, one that is too low keeps pairs that never merge.
        let num_merges = options.num_merges.max(1) as u64;
        let expected = corpus.num_symbols / num_merges.saturating_mul(60);
        let expected_floor = expected.max(options.min_frequency);
        let num_symbols = token_lengths(merges);
        // The first merges nearly halve the tokens. Where many more follow, they are made with only
        // the few pairs that they need: for the others, the lists are shorter if they are made
        // afterwards, and the cells are closer together. That needs a count that is cheap.
        let early_floor = corpus.num_symbols / EARLY;
        let is_cheap = num_symbols.len() + 128 <= DenseTallies::MAX_WIDTH;
        let floor = if is_cheap && early_floor / 32 >= expected_floor {
            early_floor
        } else {
            expected_floor
        };
        Self {
            cells: corpus.cells,
            weights: corpus.weights,
            lengths: Vec::new(),
            num_symbols,
            options,
            floor,
            expected_floor,
            replayed: None,
            pairs: Vec::new(),
            positions: Vec::new(),
            slots: Slots::default(),
            queue: BinaryHeap::new(),
            left: Side::default(),
            right: Side::default(),
            replaced: Vec::new(),
            losers: Vec::new(),
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
            if let Some(slot) = self.slots.get(as_cells(pair)) {
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
        let num_symbols = |token| self.num_symbols[token as usize] as usize;
        num_symbols(left) + num_symbols(right) <= self.options.max_token_length
    }

    /// Count all pairs anew and keep those that are wanted.
    fn index(&mut self, watch: &Watch) -> Result<()> {
        self.close_up();
        if self.lengths.len() <= DenseTallies::MAX_WIDTH {
            self.index_with(DenseTallies::new(self.lengths.len()), watch)
        } else {
            // The map of all pairs takes as much memory as the positions.
            self.positions = Vec::new();
            self.index_with(FxHashMap::default(), watch)
        }
    }

    /// Let each token cover one cell: only first cells stay, and only they are not marked.
    fn close_up(&mut self) {
        let was_closed_up = self.lengths.iter().all(|&length| length == 1);
        self.lengths.clear();
        self.lengths.resize(self.num_symbols.len(), 1);
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
                len += usize::from(cell.bits() < C::LAST);
            }
            start = end;
            range.end = len as u32;
        }
        self.cells.truncate(len);
    }

    fn index_with(&mut self, mut tallies: impl PairTallies, watch: &Watch) -> Result<()> {
        self.pairs.clear();
        self.slots.clear();
        self.queue.clear();
        self.scan(watch, |left, right, _, weight| {
            tallies.add(left, right, weight);
        })?;
        let mut num_positions = 1;
        tallies.for_each(|left, right, tally| {
            if self.is_wanted(left, right, *tally) {
                tally.cursor = num_positions as u32;
                self.keep(left, right, *tally, num_positions);
                num_positions += tally.times as usize;
            }
        });
        let mut positions = std::mem::take(&mut self.positions);
        positions.clear();
        if positions.capacity() < num_positions {
            // With room for new pairs: to grow, the positions would move to small pages.
            positions.reserve_exact(num_positions + num_positions / 2);
            prefer_large_pages(&mut positions);
        }
        positions.resize(num_positions, 0);
        self.scan(watch, |left, right, position, _| {
            let place = tallies.list(left, right, position, &mut positions);
            // Hundreds of lists grow in turn, too many for the processor to see where each goes on.
            if let Some(next_line) = positions.get(place + LINE) {
                prefetch(next_line);
            }
        })?;
        self.positions = positions;
        Ok(())
    }

    /// Call `visit(left, right, position, weight)` for every token and the one behind it, either
    /// of which may be a boundary. Each token covers one cell.
    fn scan(&self, watch: &Watch, mut visit: impl FnMut(Token, Token, u32, u64)) -> Result<()> {
        let mut start = 1;
        for range in &self.weights {
            let end = (range.end as usize).min(self.cells.len() - 1);
            while start < end {
                watch.check()?;
                let step_end = end.min(start + SCAN_STEP);
                let neighbours = self.cells[start..=step_end].windows(2);
                for (position, pair) in (start as u32..).zip(neighbours) {
                    visit(pair[0].bits(), pair[1].bits(), position, range.weight);
                }
                start = step_end;
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

    /// Keep a pair that a merge made, if it is wanted: then its tally gets a cursor, its positions
    /// are behind the `num_listed` ones of other pairs, and these begin at `from`.
    fn consider(
        &mut self,
        (left, right): (Token, Token),
        tally: &mut Tally,
        from: usize,
        num_listed: &mut usize,
    ) {
        if self.is_wanted(left, right, *tally) {
            self.keep(left, right, *tally, from + *num_listed);
            tally.cursor = *num_listed as u32;
            *num_listed += tally.times as usize;
        }
    }

    /// The pair to merge next and its count, or None if none counts enough.
    fn best(&mut self, watch: &Watch) -> Result<Option<(u32, u64)>> {
        loop {
            while let Some(mut top) = self.queue.peek_mut() {
                let (queued, parts) = ((*top >> 64) as u64, !(*top as u64));
                let Some(slot) = self.slots.get(parts) else {
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
                    self.slots.remove(parts);
                    PeekMut::pop(top);
                }
            }
            if self.floor == self.options.min_frequency {
                return Ok(None);
            }
            self.floor = if self.floor > self.expected_floor {
                self.expected_floor
            } else {
                (self.floor / 4).max(self.options.min_frequency)
            };
            self.index(watch)?;
        }
    }

    /// Replace a pair wherever it stands by `product`, and bring the counts up to date.
    fn merge(&mut self, slot: u32, product: Token) {
        let (left, right) = self.parts(slot);
        let sum = |of: &[u32]| of[left as usize] + of[right as usize];
        if product as usize == self.num_symbols.len() {
            self.num_symbols.push(sum(&self.num_symbols));
            self.lengths.push(0);
        }
        self.lengths[product as usize] = sum(&self.lengths);
        self.left.tallies.resize(self.lengths.len(), NO_TALLY);
        self.right.tallies.resize(self.lengths.len(), NO_TALLY);
        self.slots.remove(key(left, right));
        let doubles = self.replace(slot, product);
        self.update_counts(slot, product, doubles);
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
        let mut rest = &self.positions[start..start + len];
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
            rest = behind;
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
            for (index, &position) in standing[..num_standing].iter().enumerate() {
                if let Some(&soon) = rest.get(index) {
                    prefetch(&cells[soon as usize]);
                }
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
    fn update_counts(&mut self, slot: u32, product: Token, mut doubles: Tally) {
        let Pair {
            left,
            right,
            start: left_from,
            len: num_free,
            ..
        } = self.pairs[slot as usize];
        // The pairs that end with the product stand at most as often as the pair did that it
        // replaces: they get its place among the positions. The others do so if there is room.
        let (mut num_left, mut num_right) = (0, 0);
        self.lose(left, right, doubles);
        self.consider((product, product), &mut doubles, left_from, &mut num_left);
        for index in 0..self.left.touched.len() {
            let token = self.left.touched[index];
            let mut tally = self.left.tallies[token as usize];
            self.consider((token, product), &mut tally, left_from, &mut num_left);
            self.left.tallies[token as usize] = tally;
        }
        let first_right = self.pairs.len();
        for index in 0..self.right.touched.len() {
            let token = self.right.touched[index];
            let mut tally = self.right.tallies[token as usize];
            self.consider((product, token), &mut tally, 0, &mut num_right);
            self.right.tallies[token as usize] = tally;
        }
        let right_from = if num_left + num_right <= num_free {
            left_from + num_left
        } else {
            let end = self.positions.len();
            self.positions.resize(end + num_right, 0);
            end
        };
        for pair in &mut self.pairs[first_right..] {
            pair.start += right_from;
        }
        if num_left + num_right > 0 {
            self.list_positions(product, doubles, left_from, right_from);
        }
    }

    /// Take from the old neighbours of `left` and `right` what they lost.
    fn lose(&mut self, left: Token, right: Token, doubles: Tally) {
        if let Some(slot) = self.slots.get(key(right, left)) {
            self.pairs[slot as usize].count -= doubles.weight;
        }
        let losers = &mut self.losers;
        let keys = self.left.touched.iter().map(|&token| key(token, left));
        self.slots.get_all(keys, losers);
        self.left.take_from(losers, &mut self.pairs);
        let keys = self.right.touched.iter().map(|&token| key(right, token));
        self.slots.get_all(keys, losers);
        self.right.take_from(losers, &mut self.pairs);
    }

    /// List where the pairs stand that were kept for `product`.
    fn list_positions(
        &mut self,
        product: Token,
        mut doubles: Tally,
        left_from: usize,
        right_from: usize,
    ) {
        let positions = self.positions.as_mut_slice();
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
            let start = position - self.lengths[before as usize];
            tally.list(start, positions, left_from);
            self.right.tallies[after as usize].list(position, positions, right_from);
        }
    }
}

impl Side {
    /// Take the tally of each neighbour from the pair that it was in, if that one is kept.
    fn take_from(&self, losers: &[u32], pairs: &mut [Pair]) {
        for (&slot, &token) in losers.iter().zip(&self.touched) {
            if slot != NOT_KEPT {
                pairs[slot as usize].count -= self.tallies[token as usize].weight;
            }
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
