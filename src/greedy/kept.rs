//! The pairs that may still be merged: their counts, their positions and the queue of them all.

use std::collections::BinaryHeap;

use super::corpus::{Cell, Corpus, Position, Token, Weights};
use super::slots::{NOT_KEPT, Slot, Slots};
use super::tallies::{PairKey, Side, Tally, key};
use super::wanted::Wanted;

/// A pair that counts at least as much as the floor.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) left: Token,
    pub(super) right: Token,
    /// The number of adjacent occurrences; for `Overlaps::Skip` and a pair of equals, a bound.
    pub(super) count: u64,
    /// For a pair of equals: how often it can be replaced, and the `count` for which that holds.
    replaceable: Option<(u64, u64)>,
    /// Its part of `KeptPairs::positions`: where it may stand, ascending, checked when used.
    pub(super) start: usize,
    pub(super) len: usize,
}

/// All pairs that are kept.
#[derive(Debug, Default)]
pub(super) struct KeptPairs {
    pub(super) pairs: Vec<Pair>,
    pub(super) slots: Slots,
    /// The positions of all pairs, each pair's together. The first belongs to none: positions that
    /// are not kept are written there.
    pub(super) positions: Vec<Position>,
    /// `priority(count, key)`, with counts that may be too large.
    pub(super) queue: BinaryHeap<u128>,
}

/// Larger counts first, then smaller left ids, then smaller right ids.
pub(super) fn priority(count: u64, PairKey(key): PairKey) -> u128 {
    u128::from(count) << 64 | u128::from(!key)
}

/// The count and the key of a priority.
pub(super) fn count_and_key(priority: u128) -> (u64, PairKey) {
    ((priority >> 64) as u64, PairKey(!(priority as u64)))
}

impl KeptPairs {
    /// Forget all pairs, but not the memory of their positions.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.slots.clear();
        self.queue.clear();
    }

    pub(super) fn pair(&self, slot: Slot) -> &Pair {
        &self.pairs[slot.0 as usize]
    }

    /// Keep a pair if it is wanted: its tally gets a cursor, and its positions are behind the
    /// `num_listed` ones of other pairs, which begin at `from`.
    pub(super) fn consider(
        &mut self,
        pair: (Token, Token),
        tally: &mut Tally,
        wanted: &Wanted,
        from: usize,
        num_listed: &mut usize,
    ) {
        if wanted.accepts(pair, *tally) {
            self.keep(pair, *tally, from + *num_listed);
            tally.cursor = *num_listed as u32;
            *num_listed += tally.times as usize;
        }
    }

    /// Keep a pair whose positions begin at `start`.
    fn keep(&mut self, (left, right): (Token, Token), tally: Tally, start: usize) {
        let key = key(left, right);
        self.slots.insert(key, Slot(self.pairs.len() as u32));
        self.queue.push(priority(tally.weight, key));
        self.pairs.push(Pair {
            left,
            right,
            count: tally.weight,
            replaceable: None,
            start,
            len: tally.times as usize,
        });
    }

    /// Take `weight` from the count of a pair, if it is kept.
    pub(super) fn lose(&mut self, key: PairKey, weight: u64) {
        if let Some(slot) = self.slots.get(key) {
            self.pairs[slot.0 as usize].count -= weight;
        }
    }

    /// Take the tally of each neighbour on a side from the pair that `key_of` says it was in, if
    /// that one is kept. `found` is scratch memory.
    pub(super) fn lose_all(
        &mut self,
        side: &Side,
        key_of: impl Fn(Token) -> PairKey,
        found: &mut Vec<Slot>,
    ) {
        let keys = side.touched.iter().map(|&token| key_of(token));
        self.slots.get_all(keys, found);
        for (&slot, token) in found.iter().zip(&side.touched) {
            if slot != NOT_KEPT {
                self.pairs[slot.0 as usize].count -= side.tallies[token.index()].weight;
            }
        }
    }

    /// How often a pair of equals can be replaced; forgets the positions where it no longer stands.
    pub(super) fn replaceable<C: Cell>(&mut self, slot: Slot, corpus: &Corpus<C>) -> u64 {
        let pair = &mut self.pairs[slot.0 as usize];
        if let Some((replaceable, count)) = pair.replaceable
            && count == pair.count
        {
            return replaceable;
        }
        let cells = &corpus.cells;
        let length = corpus.lengths[pair.left.index()];
        let mut weights = Weights::new(&corpus.weights);
        let (mut total, mut free_from, mut kept) = (0, Position::default(), pair.start);
        for index in pair.start..pair.start + pair.len {
            let position = self.positions[index];
            let first = cells[position.index()].token();
            let second = cells[position.after(length).index()].token();
            if first != pair.left || second != pair.right {
                continue;
            }
            self.positions[kept] = position;
            kept += 1;
            if position >= free_from {
                total += weights.at(position);
                free_from = position.after(2 * length);
            }
        }
        pair.len = kept - pair.start;
        pair.replaceable = Some((total, pair.count));
        total
    }
}
