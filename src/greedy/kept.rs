//! The pairs that may still be merged: which are worth keeping, their counts, their positions and the
//! queue of them all.

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::TrainOptions;
use super::corpus::{BOUNDARY, Cell, Corpus, Token, Weights};
use super::slots::{NOT_KEPT, Slots};
use super::tallies::{DenseTallies, Side, Tally, key};
use crate::merges::{Id, MergeList};

/// The first floor is this part of all symbols: on text, that of the first 100 to 150 merges.
const EARLY: u64 = 1024;

/// The conditions that a pair has to meet.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The number of symbols of the boundary and of each token.
    pub(super) num_symbols: Vec<u32>,
    max_token_length: usize,
    /// Pairs that count less are not kept.
    pub(super) floor: u64,
    /// The expected count of the last merge.
    expected_floor: u64,
    min_frequency: u64,
    /// While merges are replayed, their pairs are kept instead.
    pub(super) replayed: Option<FxHashSet<u64>>,
}

impl Wanted {
    /// The conditions of training on `num_symbols` symbols.
    pub(super) fn new(merges: &MergeList, num_symbols: u64, options: &TrainOptions) -> Self {
        // On text the last of M merges counts between N / 25 M and N / 130 M. A floor that is too
        // high costs another count of all pairs, one that is too low keeps pairs that never merge.
        let num_merges = options.num_merges.max(1) as u64;
        let expected = num_symbols / num_merges.saturating_mul(60);
        let expected_floor = expected.max(options.min_frequency);
        // A longer token is too long for any word that fits into the cells.
        let symbols_of = |id| merges.alphabet().num_symbols(merges.token(id)).try_into();
        let tokens = (0..merges.num_tokens() as Id).map(|id| symbols_of(id).unwrap_or(u32::MAX));
        let symbols_of_tokens: Vec<u32> = std::iter::once(1).chain(tokens).collect();
        // The first merges nearly halve the tokens. Where many more follow, they are made with only
        // the few pairs that they need: for the others, the lists are shorter if they are made
        // afterwards, and the cells are closer together. That needs a count that is cheap.
        let early_floor = num_symbols / EARLY;
        let is_cheap = symbols_of_tokens.len() + 128 <= DenseTallies::MAX_WIDTH;
        let floor = if is_cheap && early_floor / 32 >= expected_floor {
            early_floor
        } else {
            expected_floor
        };
        Self {
            num_symbols: symbols_of_tokens,
            max_token_length: options.max_token_length,
            floor,
            expected_floor,
            min_frequency: options.min_frequency,
            replayed: None,
        }
    }

    /// Lower the floor; false if it cannot be lower.
    pub(super) fn lower_floor(&mut self) -> bool {
        if self.floor == self.min_frequency {
            return false;
        }
        self.floor = if self.floor > self.expected_floor {
            self.expected_floor
        } else {
            (self.floor / 4).max(self.min_frequency)
        };
        true
    }

    /// Whether a pair with this tally is worth keeping.
    #[inline]
    pub(super) fn accepts(&self, (left, right): (Token, Token), tally: Tally) -> bool {
        match &self.replayed {
            Some(replayed) => tally.times > 0 && replayed.contains(&key(left, right)),
            None if tally.weight < self.floor || left == BOUNDARY || right == BOUNDARY => false,
            None => {
                let num_symbols = |token: Token| self.num_symbols[token as usize] as usize;
                num_symbols(left) + num_symbols(right) <= self.max_token_length
            }
        }
    }
}

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
    pub(super) positions: Vec<u32>,
    /// `priority(count, key)`, with counts that may be too large.
    pub(super) queue: BinaryHeap<u128>,
}

/// Larger counts first, then smaller left ids, then smaller right ids.
pub(super) fn priority(count: u64, key: u64) -> u128 {
    u128::from(count) << 64 | u128::from(!key)
}

/// The count and the key of a priority.
pub(super) fn count_and_key(priority: u128) -> (u64, u64) {
    ((priority >> 64) as u64, !(priority as u64))
}

impl KeptPairs {
    /// Forget all pairs, but not the memory of their positions.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.slots.clear();
        self.queue.clear();
    }

    pub(super) fn pair(&self, slot: u32) -> &Pair {
        &self.pairs[slot as usize]
    }

    /// Keep a pair if it is wanted: its tally gets a cursor, and its positions are behind the
    /// `num_listed` ones of other pairs, which begin at `from`.
    pub(super) fn consider(
        &mut self,
        (left, right): (Token, Token),
        tally: &mut Tally,
        wanted: &Wanted,
        from: usize,
        num_listed: &mut usize,
    ) {
        if !wanted.accepts((left, right), *tally) {
            return;
        }
        let key = key(left, right);
        self.slots.insert(key, self.pairs.len() as u32);
        self.queue.push(priority(tally.weight, key));
        self.pairs.push(Pair {
            left,
            right,
            count: tally.weight,
            replaceable: None,
            start: from + *num_listed,
            len: tally.times as usize,
        });
        tally.cursor = *num_listed as u32;
        *num_listed += tally.times as usize;
    }

    /// Take the tally of each neighbour on a side from the pair that `key_of` says it was in, if
    /// that one is kept. `found` is scratch memory.
    pub(super) fn lose_all(
        &mut self,
        side: &Side,
        key_of: impl Fn(Token) -> u64,
        found: &mut Vec<u32>,
    ) {
        let keys = side.touched.iter().map(|&token| key_of(token));
        self.slots.get_all(keys, found);
        for (&slot, &token) in found.iter().zip(&side.touched) {
            if slot != NOT_KEPT {
                self.pairs[slot as usize].count -= side.tallies[token as usize].weight;
            }
        }
    }

    /// How often a pair of equals can be replaced; forgets the positions where it no longer stands.
    pub(super) fn replaceable<C: Cell>(&mut self, slot: u32, corpus: &Corpus<C>) -> u64 {
        let pair = &mut self.pairs[slot as usize];
        if let Some((replaceable, count)) = pair.replaceable
            && count == pair.count
        {
            return replaceable;
        }
        let cells = &corpus.cells;
        let length = corpus.lengths[pair.left as usize];
        let mut weights = Weights::new(&corpus.weights);
        let (mut total, mut free_from, mut kept) = (0, 0, pair.start);
        for index in pair.start..pair.start + pair.len {
            let position = self.positions[index];
            let first: Token = cells[position as usize].into();
            let second: Token = cells[(position + length) as usize].into();
            if first != pair.left || second != pair.right {
                continue;
            }
            self.positions[kept] = position;
            kept += 1;
            if position >= free_from {
                total += weights.at(position);
                free_from = position + 2 * length;
            }
        }
        pair.len = kept - pair.start;
        pair.replaceable = Some((total, pair.count));
        total
    }
}
