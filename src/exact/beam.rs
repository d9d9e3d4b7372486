//! Good merge lists, quickly: the greedy one, and a beam of many.

use rustc_hash::FxHashSet;

use super::text::{Pair, PairCount, Text, sum_of_largest};
use crate::watch::Watch;

/// Merges one after another, and what they gain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MergePath {
    pub(super) gain: u64,
    pub(super) merges: Vec<Pair>,
}

impl MergePath {
    /// This path, and then another.
    pub(super) fn and(&self, rest: &Self) -> Self {
        Self {
            gain: self.gain + rest.gain,
            merges: [self.merges.as_slice(), &rest.merges].concat(),
        }
    }

    /// This path, and then the merge of a pair.
    pub(super) fn then(&self, &PairCount { pair, gain, .. }: &PairCount) -> Self {
        let merges = vec![pair];
        self.and(&Self { gain, merges })
    }
}

/// The most paths that are followed at once, and the most merges that each is tried with.
const WIDEST: usize = 64;
const MOST_PAIRS: usize = 16;

/// The most tokens that a beam looks at in all: about a second.
const TOKENS_IN_ALL: usize = 1 << 27;

/// The greedy path from a text, and what its last merge gained, 0 if there are fewer merges. Ties go
/// to the pair that occurs first.
pub(super) fn greedy(text: &Text, num_merges: usize, watch: &Watch) -> (MergePath, u64) {
    let (mut path, mut last) = (MergePath::default(), 0);
    let mut text = text.clone();
    while path.merges.len() < num_merges && !watch.is_stopped() {
        let pairs = text.pairs();
        let Some(best) = pairs.iter().rev().max_by_key(|pair| pair.gain) else {
            return (path, 0);
        };
        path.merges.push(best.pair);
        path.gain += best.gain;
        last = best.gain;
        text = text.merged(best.pair);
    }
    (path, last)
}

/// The best of many paths, followed side by side.
pub(super) fn beam(text: &Text, num_merges: usize, watch: &Watch) -> MergePath {
    let mut best = MergePath::default();
    let per_path = text.tokens().len() * num_merges * MOST_PAIRS;
    let width = (TOKENS_IN_ALL / per_path.max(1)).min(WIDEST);
    let mut paths = vec![(MergePath::default(), text.clone())];
    for left in (0..num_merges).rev() {
        let mut seen = FxHashSet::default();
        let mut longer: Vec<(u64, MergePath, Text)> = Vec::new();
        for (path, text) in &paths {
            let mut pairs = text.pairs();
            pairs.sort_by_key(|pair| std::cmp::Reverse(pair.gain));
            for pair in pairs.iter().take(MOST_PAIRS) {
                if watch.is_stopped() {
                    return best;
                }
                let merged = text.merged(pair.pair);
                if !seen.insert(merged.shape()) {
                    continue;
                }
                let path = path.then(pair);
                // What the most frequent pairs would gain if their merges did not conflict.
                let gains = merged.pairs().into_iter().map(|pair| pair.gain);
                let estimate = path.gain + sum_of_largest(gains.collect(), left);
                longer.push((estimate, path, merged));
            }
        }
        longer.sort_by_key(|&(estimate, ref path, _)| std::cmp::Reverse((estimate, path.gain)));
        longer.truncate(width);
        paths = longer
            .into_iter()
            .map(|(_, path, text)| (path, text))
            .collect();
        for (path, _) in &paths {
            if path.gain > best.gain {
                best = path.clone();
            }
        }
    }
    best
}
