//! The products of pairs of tokens.

use crate::keys::hash_pair;
use crate::pages::in_large_pages;
use crate::prefetch::prefetch;

/// The bits of a token: those of two parts and their product share a slot.
pub(super) const BITS: u32 = 21;
const PAIR: u64 = (1 << (2 * BITS)) - 1;
/// A pair that no two tokens have.
pub(super) const NO_PAIR: u64 = PAIR;
/// What a pair merges into that does not merge.
pub(super) const NO_TOKEN: u32 = u32::MAX;
/// A slot without a pair.
const EMPTY: u64 = 0;

/// Slots that are loaded, and compared, together.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

/// Finds the products of pairs.
#[derive(Debug)]
pub(super) struct Products {
    /// Pairs in the low bits, their products plus 1 above. A pair is in the line of its hash, or in one
    /// behind it if those before are full.
    lines: Vec<Line>,
}

impl Products {
    /// The left tokens, the right tokens and the products.
    pub(super) fn new(merges: impl ExactSizeIterator<Item = [u32; 3]>) -> Self {
        let num_lines = (merges.len() / 4 + 1).next_power_of_two();
        let mut products = Self {
            lines: vec![Line([EMPTY; 8]); num_lines],
        };
        for [left, right, product] in merges {
            products.add(packed(left, right), product);
        }
        products.lines = in_large_pages(&products.lines);
        products
    }

    fn add(&mut self, pair: u64, product: u32) {
        let mut line = self.line(pair);
        loop {
            let mut slots = self.lines[line].0.iter_mut();
            if let Some(slot) = slots.find(|slot| **slot == EMPTY) {
                *slot = u64::from(product + 1) << (2 * BITS) | pair;
                return;
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }

    fn line(&self, pair: u64) -> usize {
        hash_pair(pair) & (self.lines.len() - 1)
    }

    /// The line of a pair that is looked up soon; it is begun to be loaded.
    #[inline(always)]
    pub(super) fn prefetch(&self, pair: u64) -> u32 {
        let line = self.line(pair);
        prefetch(&self.lines[line]);
        line as u32
    }

    /// What a pair merges into, or `NO_TOKEN`. The line is the one that `prefetch` returned.
    #[inline(always)]
    pub(super) fn find(&self, pair: u64, line: u32) -> u32 {
        let mut line = line as usize;
        loop {
            let slots = &self.lines[line].0;
            // All of them, without a branch: where a pair is cannot be predicted.
            let mut found = EMPTY;
            for &slot in slots {
                found |= if slot & PAIR == pair { slot } else { EMPTY };
            }
            if slots[7] == EMPTY || found != EMPTY {
                return ((found >> (2 * BITS)) as u32).wrapping_sub(1);
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }
}

/// A pair as a number.
#[inline(always)]
pub(super) fn packed(left: u32, right: u32) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}
