//! Which strings merge lists have, and which they lack, in the search for prices.

use super::instance::Instance;
use crate::prices::StringIndex;

/// A string that counts less than this, or more than the rest, is taken as chosen or not.
const LEAST_SHARE: f32 = 0.1;

/// The strings that some lists have, and those that they lack, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Decided {
    pub(super) has: Vec<usize>,
    pub(super) lacks: Vec<usize>,
}

impl Decided {
    /// The lists that have a string, and those that lack it.
    pub(super) fn divided_by(&self, string: usize) -> [Self; 2] {
        let (mut with, mut without) = (self.clone(), self.clone());
        with.has.push(string);
        without.lacks.push(string);
        [with, without]
    }

    /// The string to decide next, given how much each counts: a frequent one that is chosen by half.
    pub(super) fn next(
        &self,
        instance: &Instance,
        shares: impl Iterator<Item = f32>,
    ) -> Option<usize> {
        let counts = occurrences(instance);
        let halves = shares.enumerate().filter_map(|(string, share)| {
            let half = share.min(1.0 - share);
            let is_open = !self.has.contains(&string) && !self.lacks.contains(&string);
            (half > LEAST_SHARE && is_open).then(|| (counts[string] as f32 * half, string))
        });
        let best = halves.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        best.map(|(_, string)| string)
    }
}

/// How often each string occurs.
fn occurrences(instance: &Instance) -> Vec<u64> {
    let mut counts = vec![0_u64; instance.num_strings];
    let mut reaches = instance.reach.iter();
    let mut items = instance.strings.iter();
    for (piece, count) in instance.pieces.iter() {
        let num_items: usize = reaches
            .by_ref()
            .take(piece.len())
            .map(|&r| r as usize)
            .sum();
        for string in items.by_ref().take(num_items) {
            if *string != StringIndex::NONE {
                let sum = &mut counts[string.at()];
                *sum = sum.saturating_add(count);
            }
        }
    }
    counts
}
