//! Greedy training: repeatedly the most frequent pair, over unique words or over whole texts.
//!
//! The words lie one after another in one array of cells, a boundary between them. A token covers
//! as many cells as it has symbols; its first cell holds its id, its last cell holds its id with a
//! flag. So the next token is `position + length`, and the previous one is named by the cell before:
//! a doubly linked list in 4 bytes a symbol. The words are sorted by count, so that the weight of a
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

use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::limits::Watch;
use crate::merges::{Id, MergeList};

/// A token's id plus one, so that the boundary can be tallied like a token: it saves a branch that
/// no processor can predict.
type Cell = u32;

/// The cell between two words.
const BOUNDARY: Cell = 0;
/// Marks the last cell of a token that covers more than one.
const LAST: Cell = 1 << 31;
/// The first cell of a token that became the right half of another.
const DEAD: Cell = LAST | BOUNDARY;
/// This neighbour has not been seen, or no pair is kept for it.
const NONE: u32 = u32::MAX;
/// This neighbour has been seen.
const SEEN: u32 = u32::MAX - 1;
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

/// Words laid out for training, the most frequent first.
#[derive(Debug)]
pub struct Corpus {
    cells: Vec<u32>,
    weights: Vec<WeightRange>,
    num_symbols: u64,
    /// Are the merges of the list applied already?
    is_merged: bool,
}

/// Up to which cell the words have which count.
#[derive(Debug, Clone, Copy)]
struct WeightRange {
    end: u32,
    weight: u64,
}

impl Corpus {
    /// Lay out the words of `counts`.
    ///
    /// Where several merges make one string, the words are laid out as the tokens that `merges`
    /// makes of them, and otherwise as symbols: then training replays the merges, which is faster.
    pub fn new(merges: &MergeList, counts: &WordCounts, watch: &Watch) -> Result<Self> {
        let num_cells: usize = counts.iter().map(|(word, _)| word.len() + 1).sum();
        let mut cells = Vec::with_capacity(num_cells + 1);
        cells.push(BOUNDARY);
        let mut corpus = Self {
            cells,
            weights: Vec::new(),
            num_symbols: 0,
            is_merged: !merges.makes_distinct_strings(),
        };
        let lengths = token_lengths(merges);
        for (index, (word, count)) in counts.by_count().enumerate() {
            if index % 1024 == 0 {
                watch.check()?;
            }
            let start = corpus.cells.len();
            if corpus.is_merged {
                for id in merges.apply(merges.alphabet().symbols(word)?) {
                    corpus.push_token(id + 1, lengths[id as usize + 1]);
                }
            } else {
                merges.alphabet().extend_symbols(word, &mut corpus.cells)?;
                corpus.cells[start..].iter_mut().for_each(|cell| *cell += 1);
            }
            corpus.num_symbols += (corpus.cells.len() - start) as u64 * count;
            corpus.cells.push(BOUNDARY);
            corpus.end_word(count)?;
        }
        Ok(corpus)
    }

    fn push_token(&mut self, token: Cell, length: u32) {
        self.cells.push(token);
        for _ in 2..length {
            self.cells.push(DEAD);
        }
        if length > 1 {
            self.cells.push(token | LAST);
        }
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

/// Finds the weights of ascending positions.
struct Weights<'c> {
    ranges: &'c [WeightRange],
    current: WeightRange,
}

impl<'c> Weights<'c> {
    fn new(ranges: &'c [WeightRange]) -> Self {
        let current = WeightRange { end: 0, weight: 0 };
        Self { ranges, current }
    }

    #[inline]
    fn at(&mut self, position: u32) -> u64 {
        if position >= self.current.end {
            let passed = self.ranges.partition_point(|range| range.end <= position);
            self.ranges = &self.ranges[passed..];
            self.current = self.ranges[0];
        }
        self.current.weight
    }
}

/// A pair that counts at least as much as the floor.
#[derive(Debug)]
struct Pair {
    left: Cell,
    right: Cell,
    /// The number of adjacent occurrences; for `Overlaps::Skip` and a pair of equals, a bound.
    count: u64,
    /// For a pair of equals: how often it can be replaced, and the `count` for which that holds.
    replaceable: Option<(u64, u64)>,
    /// Its part of `Trainer::positions`: where it may stand, ascending, checked when used.
    start: usize,
    len: usize,
}

/// What one merge does to one neighbour, or what is known of a pair.
#[derive(Debug, Clone, Copy)]
struct Tally {
    weight: u64,
    times: u32,
    /// NONE, SEEN, or how far behind `Trainer::listed_from` the pair's next position goes.
    cursor: u32,
}

const NO_TALLY: Tally = Tally {
    weight: 0,
    times: 0,
    cursor: NONE,
};

impl Tally {
    /// Put a position of the pair in its place, if the pair is kept.
    #[inline]
    fn list(&mut self, position: u32, positions: &mut [u32]) {
        if self.cursor < SEEN {
            positions[self.cursor as usize] = position;
            self.cursor += 1;
        }
    }
}

/// The neighbours of a new token on one side, tallied by token.
#[derive(Debug, Default)]
struct Side {
    tallies: Vec<Tally>,
    touched: Vec<Cell>,
}

impl Side {
    #[inline]
    fn add(&mut self, token: Cell, weight: u64) {
        let tally = &mut self.tallies[token as usize];
        if tally.cursor == NONE {
            tally.cursor = SEEN;
            self.touched.push(token);
        }
        tally.weight += weight;
        tally.times += 1;
    }

    fn take_back(&mut self, token: Cell, weight: u64) {
        let tally = &mut self.tallies[token as usize];
        tally.weight -= weight;
        tally.times -= 1;
    }

    fn clear(&mut self) {
        for token in self.touched.drain(..) {
            self.tallies[token as usize] = NO_TALLY;
        }
    }
}

/// Train on `corpus`: append up to `options.num_merges` merges to `merges`. How often each counted.
pub fn train(
    corpus: Corpus,
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
        if product >= LAST {
            return Err(Error::TooManyTokens);
        }
        trainer.merge(slot, product);
        counts.push(count);
        watch.advance(1);
    }
    Ok(counts)
}

/// How many cells the boundary and each token cover.
fn token_lengths(merges: &MergeList) -> Vec<u32> {
    let alphabet = merges.alphabet();
    let of_token = |id| alphabet.num_symbols(merges.token(id)) as u32;
    let tokens = (0..merges.num_tokens() as Id).map(of_token);
    std::iter::once(1).chain(tokens).collect()
}

struct Trainer<'o> {
    cells: Vec<u32>,
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
    before: Cell,
    after: Cell,
}

fn key(left: Cell, right: Cell) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Larger counts first, then smaller left ids, then smaller right ids.
fn priority(count: u64, left: Cell, right: Cell) -> u128 {
    u128::from(count) << 64 | u128::from(!key(left, right))
}

impl<'o> Trainer<'o> {
    fn new(corpus: Corpus, lengths: Vec<u32>, options: &'o Options) -> Self {
        // On text the last of M merges counts about N / 12 M; a floor at a third of that is rarely
        // too high, and a few times as many pairs are kept as are merged.
        let expected = corpus.num_symbols / (options.num_merges.max(1) as u64 * 60);
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

    fn parts(&self, slot: u32) -> (Cell, Cell) {
        let pair = &self.pairs[slot as usize];
        (pair.left, pair.right)
    }

    /// Apply the merges of a list, each in turn.
    fn replay(&mut self, merges: &MergeList, watch: &Watch) -> Result<()> {
        let as_cells = |&(left, right): &(Id, Id)| key(left + 1, right + 1);
        self.replayed = Some(merges.pairs().iter().map(as_cells).collect());
        self.index(watch)?;
        let first = merges.alphabet().len() as Cell + 1;
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
    fn is_wanted(&self, left: Cell, right: Cell, tally: Tally) -> bool {
        match &self.replayed {
            Some(replayed) => tally.times > 0 && replayed.contains(&key(left, right)),
            None => tally.weight >= self.floor && self.fits(left, right),
        }
    }

    /// May the two be one token?
    fn fits(&self, left: Cell, right: Cell) -> bool {
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
    fn scan(&self, watch: &Watch, mut visit: impl FnMut(Cell, Cell, u32, u64)) -> Result<()> {
        let mut weights = Weights::new(&self.weights);
        let only_symbols = self.lengths.iter().all(|&length| length == 1);
        let last = self.cells.len() - 1;
        let (mut position, mut next_look) = (1, SCAN_STEP);
        while position < last {
            let token = self.cells[position];
            // Where all lengths are 1, the next step need not wait for this one's token.
            let length = if only_symbols {
                1
            } else {
                self.lengths[token as usize]
            };
            let next = position + length as usize;
            visit(
                token,
                self.cells[next],
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
    fn keep(&mut self, left: Cell, right: Cell, tally: Tally, start: usize) {
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
    fn consider(&mut self, left: Cell, right: Cell, mut tally: Tally) -> Tally {
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
                    std::collections::binary_heap::PeekMut::pop(top);
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
                    std::collections::binary_heap::PeekMut::pop(top);
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
    fn merge(&mut self, slot: u32, product: Cell) {
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
    fn replace(&mut self, slot: u32, product: Cell) -> Tally {
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
                let differs = (cells[at] ^ left) | (cells[at + left_length] ^ right);
                standing[num_standing] = position;
                num_standing += usize::from(differs == 0);
            }
            for &position in &standing[..num_standing] {
                let at = position as usize;
                if left == right && cells[at] != left {
                    continue; // the one before, which overlaps, was replaced
                }
                cells[at] = product;
                cells[at + left_length] = DEAD;
                cells[at + length - 1] = product | LAST;
                let weight = weights.at(position);
                let before = cells[at - 1] & !LAST;
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
                let after = cells[at + length];
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
    fn update_counts(&mut self, left: Cell, right: Cell, product: Cell, doubles: Tally) {
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

    fn lose(&mut self, left: Cell, right: Cell, weight: u64) {
        if let Some(&slot) = self.slots.get(&key(left, right)) {
            self.pairs[slot as usize].count -= weight;
        }
    }

    /// List where the pairs stand that were kept for `product`.
    fn list_positions(&mut self, product: Cell, mut doubles: Tally) {
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
    fn replaceable(
        &mut self,
        cells: &[Cell],
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
            let next = cells[(position + length) as usize];
            if cells[position as usize] != self.left || next != self.right {
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

/// Tallies of all pairs.
trait PairTallies {
    fn of(&mut self, left: Cell, right: Cell) -> &mut Tally;
    fn for_each(&mut self, visit: impl FnMut(Cell, Cell, &mut Tally));
}

/// An array, while there are few tokens.
struct DenseTallies {
    width: usize,
    tallies: Vec<Tally>,
}

impl DenseTallies {
    const MAX_WIDTH: usize = 512;

    fn new(width: usize) -> Self {
        let tallies = vec![NO_TALLY; width * width];
        Self { width, tallies }
    }
}

impl PairTallies for DenseTallies {
    #[inline]
    fn of(&mut self, left: Cell, right: Cell) -> &mut Tally {
        &mut self.tallies[left as usize * self.width + right as usize]
    }

    fn for_each(&mut self, mut visit: impl FnMut(Cell, Cell, &mut Tally)) {
        for (index, tally) in self.tallies.iter_mut().enumerate() {
            if tally.times > 0 {
                let (left, right) = (index / self.width, index % self.width);
                visit(left as Cell, right as Cell, tally);
            }
        }
    }
}

impl PairTallies for FxHashMap<u64, Tally> {
    #[inline]
    fn of(&mut self, left: Cell, right: Cell) -> &mut Tally {
        self.entry(key(left, right)).or_insert(NO_TALLY)
    }

    fn for_each(&mut self, mut visit: impl FnMut(Cell, Cell, &mut Tally)) {
        for (&key, tally) in self {
            visit((key >> 32) as Cell, key as Cell, tally);
        }
    }
}
