//! Good merge lists, quickly: the greedy one, and a beam of many.

use rustc_hash::FxHashSet;

use super::text::{Pair, PairCount, Text};
use crate::watch::Watch;

/// A path of merges and what it gains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) gain: u64,
    pub(super) path: Vec<Pair>,
}

impl Found {
    /// This path, and then another.
    pub(super) fn and(&self, rest: &Self) -> Self {
        Self {
            gain: self.gain + rest.gain,
            path: [self.path.as_slice(), &rest.path].concat(),
        }
    }
}

/// The most lists that are followed at once, and the most merges that each is tried with.
const WIDEST: usize = 64;
const MOST_PAIRS: usize = 16;

/// How many tokens a beam may look at in all: about a second.
const TOKENS_IN_ALL: usize = 1 << 27;

/// The greedy path from a text; ties go to the pair that occurs first. Also what its last merge
/// gained.
pub(super) fn greedy(text: &Text, num_merges: usize, watch: &Watch) -> (Found, u64) {
    let (mut found, mut last) = (Found::default(), 0);
    let mut text = text.clone();
    while found.path.len() < num_merges && !watch.is_stopped() {
        let pairs = text.pairs();
        let Some(best) = pairs.iter().rev().max_by_key(|pair| pair.gain) else {
            return (found, 0);
        };
        found.path.push(best.pair);
        found.gain += best.gain;
        last = best.gain;
        text = text.merged(best.pair);
    }
    (found, last)
}

/// The best of many paths, followed side by side.
pub(super) fn beam(text: &Text, num_merges: usize, watch: &Watch) -> Found {
    let mut best = Found::default();
    let per_list = text.tokens().len() * num_merges * MOST_PAIRS;
    let width = (TOKENS_IN_ALL / per_list.max(1)).min(WIDEST);
    let mut lists = vec![(Found::default(), text.clone())];
    for left in (0..num_merges).rev() {
        let mut seen = FxHashSet::default();
        let mut longer: Vec<(u64, Found, Text)> = Vec::new();
        for (found, text) in &lists {
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
                let mut path = found.path.clone();
                path.push(pair.pair);
                let gain = found.gain + pair.gain;
                let hoped_for = gain + largest_gains(&merged.pairs(), left);
                longer.push((hoped_for, Found { gain, path }, merged));
            }
        }
        longer.sort_by_key(|&(hoped_for, ref found, _)| std::cmp::Reverse((hoped_for, found.gain)));
        longer.truncate(width);
        lists = longer
            .into_iter()
            .map(|(_, found, text)| (found, text))
            .collect();
        for (found, _) in &lists {
            if found.gain > best.gain {
                best = found.clone();
            }
        }
    }
    best
}

/// What the most frequent pairs would gain if none got into the way of another.
fn largest_gains(pairs: &[PairCount], num_merges: usize) -> u64 {
    let mut gains: Vec<u64> = pairs.iter().map(|pair| pair.gain).collect();
    gains.sort_unstable_by(|a, b| b.cmp(a));
    gains.iter().take(num_merges).sum()
}
