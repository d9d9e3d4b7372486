//! One merge: a pair is replaced wherever it stands, and the counts are brought up to date.

use std::ops::Range;

use super::corpus::{BOUNDARY, Cell, Corpus, Position, Token, Weights};
use super::kept::{KeptPairs, Pair};
use super::slots::Slot;
use super::tallies::{NO_TALLY, Side, Tally, key};
use super::wanted::Wanted;
use crate::prefetch::prefetch;

/// The number of positions that are looked up together.
const CHUNK: usize = 64;

/// Where a pair was replaced, and its neighbours at that time.
#[derive(Debug, Clone, Copy)]
struct Replaced {
    position: Position,
    before: Token,
    after: Token,
}

/// What one merge finds beside its pair; the memory is used again for the next merge.
#[derive(Debug, Default)]
pub(super) struct Merging {
    left: Side,
    right: Side,
    replaced: Vec<Replaced>,
    /// The slots of the pairs that lose occurrences.
    losers: Vec<Slot>,
}

/// The positions of a chunk at which the pair still stands, at the front of an array, and their
/// number. Without a branch, the loads of many positions run side by side.
#[inline]
fn find_standing<C: Cell>(
    cells: &[C],
    chunk: &[Position],
    (left, right): (Token, Token),
    left_length: usize,
) -> ([Position; CHUNK], usize) {
    let mut standing = [Position::default(); CHUNK];
    let mut num_standing = 0;
    for &position in chunk {
        let at = position.index();
        let (first, second) = (cells[at].bits(), cells[at + left_length].bits());
        let differs = (first ^ left.0) | (second ^ right.0);
        standing[num_standing] = position;
        num_standing += usize::from(differs == 0);
    }
    (standing, num_standing)
}

impl Merging {
    /// Replace a pair by `product`, whose length the corpus knows, wherever it stands.
    pub(super) fn merge<C: Cell>(
        &mut self,
        slot: Slot,
        product: Token,
        corpus: &mut Corpus<C>,
        kept: &mut KeptPairs,
        wanted: &Wanted,
    ) {
        let num_tokens = corpus.lengths.len();
        self.left.tallies.resize(num_tokens, NO_TALLY);
        self.right.tallies.resize(num_tokens, NO_TALLY);
        let pair = kept.pair(slot);
        let (left, right, freed) = (pair.left, pair.right, pair.start..pair.start + pair.len);
        let doubles = self.replace(pair, product, corpus, &kept.positions);
        kept.slots.remove(key(left, right));
        kept.lose(key(right, left), doubles.weight);
        kept.lose_all(&self.left, |token| key(token, left), &mut self.losers);
        kept.lose_all(&self.right, |token| key(right, token), &mut self.losers);
        self.keep_new_pairs(product, doubles, freed, &corpus.lengths, kept, wanted);
        self.left.clear();
        self.right.clear();
    }

    /// Write `product` over each occurrence of the pair and tally the tokens on both sides. The
    /// occurrences go to `replaced`; the tally of two products side by side is returned.
    fn replace<C: Cell>(
        &mut self,
        pair: &Pair,
        product: Token,
        corpus: &mut Corpus<C>,
        positions: &[Position],
    ) -> Tally {
        let (left, right) = (pair.left, pair.right);
        let left_length = corpus.lengths[left.index()] as usize;
        let length = left_length + corpus.lengths[right.index()] as usize;
        let cells = corpus.cells.as_mut_slice();
        let mut weights = Weights::new(&corpus.weights);
        let mut doubles = NO_TALLY;
        self.replaced.clear();
        let mut rest = &positions[pair.start..pair.start + pair.len];
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
            rest = behind;
            let (standing, num_standing) = find_standing(cells, chunk, (left, right), left_length);
            for (index, &position) in standing[..num_standing].iter().enumerate() {
                if let Some(&soon) = rest.get(index) {
                    prefetch(&cells[soon.index()]);
                }
                let at = position.index();
                if left == right && cells[at].token() != left {
                    continue; // the occurrence before, which overlaps, was replaced
                }
                cells[at] = C::new(product.0);
                cells[at + left_length] = C::new(C::DEAD);
                cells[at + length - 1] = C::new(product.0 | C::LAST);
                let weight = weights.at(position);
                let before = Token(cells[at - 1].bits() & !C::LAST);
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
                let after = cells[at + length].token();
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
    fn keep_new_pairs(
        &mut self,
        product: Token,
        mut doubles: Tally,
        freed: Range<usize>,
        lengths: &[u32],
        kept: &mut KeptPairs,
        wanted: &Wanted,
    ) {
        let left_from = freed.start;
        // The pairs that end with the product stand at most as often as the pair did that it
        // replaces: they get its place among the positions. The others do so if there is room.
        let (mut num_left, mut num_right) = (0, 0);
        let pair = (product, product);
        kept.consider(pair, &mut doubles, wanted, left_from, &mut num_left);
        for &token in &self.left.touched {
            let tally = &mut self.left.tallies[token.index()];
            kept.consider((token, product), tally, wanted, left_from, &mut num_left);
        }
        let first_right = kept.pairs.len();
        for &token in &self.right.touched {
            let tally = &mut self.right.tallies[token.index()];
            kept.consider((product, token), tally, wanted, 0, &mut num_right);
        }
        let right_from = if num_left + num_right <= freed.len() {
            left_from + num_left
        } else {
            let end = kept.positions.len();
            kept.positions.resize(end + num_right, Position::default());
            end
        };
        for pair in &mut kept.pairs[first_right..] {
            pair.start += right_from;
        }
        if num_left + num_right > 0 {
            let positions = kept.positions.as_mut_slice();
            let froms = (left_from, right_from);
            self.list_positions(product, doubles, froms, lengths, positions);
        }
    }

    /// List the positions of the pairs that were kept for `product`: of those that end with it from
    /// the first of `froms` on, of those that begin with it from the second on.
    fn list_positions(
        &mut self,
        product: Token,
        mut doubles: Tally,
        (left_from, right_from): (usize, usize),
        lengths: &[u32],
        positions: &mut [Position],
    ) {
        for &Replaced {
            position,
            before,
            after,
        } in &self.replaced
        {
            let tally = if before == product {
                &mut doubles
            } else {
                &mut self.left.tallies[before.index()]
            };
            let start = position.before(lengths[before.index()]);
            tally.list(start, positions, left_from);
            self.right.tallies[after.index()].list(position, positions, right_from);
        }
    }
}
