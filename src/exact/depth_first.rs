//! The paper's search, for comparison: depth first through the sequences of merges.

use super::beam::MergePath;
use super::solution::{Limit, Method, SearchOptions, SearchProgress, Solution};
use super::text::{Pair, PairCount, Text, boundary_bound};
use crate::merges::Id;
use crate::watch::Watch;

/// The best list of merges, by trying every sequence, or, with `Method::Guarded`, only one order of
/// two neighbours that commute: Algorithm 3 with a corrected guard.
pub(super) fn depth_first(
    root: &Text,
    options: &SearchOptions,
    watch: &Watch,
    progress: &SearchProgress,
) -> Solution {
    let bound = root
        .most()
        .min(boundary_bound(&root.pairs(), options.num_merges));
    progress.set(0, bound);
    let mut search = DepthFirst {
        options,
        is_guarded: options.method == Method::Guarded,
        watch,
        path: Vec::new(),
        strings: Strings {
            num_symbols: root.next_id(),
            merged: Vec::new(),
        },
        best: MergePath::default(),
        nodes: 0,
    };
    let limit = search.run(root, |best| progress.set(best, bound.max(best)));
    Solution {
        utility: search.best.gain,
        bound: match limit {
            None => search.best.gain,
            Some(_) => bound.max(search.best.gain),
        },
        merges: search.best.merges,
        nodes: search.nodes,
        limit,
    }
}

struct DepthFirst<'a> {
    options: &'a SearchOptions,
    is_guarded: bool,
    watch: &'a Watch,
    path: Vec<Pair>,
    strings: Strings,
    best: MergePath,
    nodes: u64,
}

/// A sequence of merges, by what it makes of the text, and the merges that are still to be tried
/// after it.
struct Frame {
    text: Text,
    gain: u64,
    untried: std::vec::IntoIter<PairCount>,
}

impl DepthFirst<'_> {
    /// Go through all sequences; the limit that ended it early, if one did.
    fn run(&mut self, root: &Text, report: impl Fn(u64)) -> Option<Limit> {
        let mut frames = vec![self.visit(root.clone(), 0, &report)];
        while let Some(frame) = frames.last_mut() {
            let Some(pair) = frame.untried.next() else {
                frames.pop();
                self.path.pop();
                self.strings.merged.pop();
                continue;
            };
            if self.is_guarded && self.is_out_of_order(pair.pair, frame.text.next_id()) {
                continue;
            }
            let limit = self.options.node_limit;
            if limit.is_some_and(|most| self.nodes >= most) {
                return Some(Limit::Nodes);
            }
            if self.watch.is_stopped() {
                return Some(Limit::of(self.watch));
            }
            let (text, gain) = (frame.text.merged(pair.pair), frame.gain + pair.gain);
            self.path.push(pair.pair);
            let (_, string) = self.strings.of_pair(pair.pair);
            self.strings.merged.push(string);
            let next = self.visit(text, gain, &report);
            frames.push(next);
        }
        None
    }

    fn visit(&mut self, text: Text, gain: u64, report: &impl Fn(u64)) -> Frame {
        self.nodes += 1;
        self.watch.advance(1);
        if gain > self.best.gain {
            self.best = MergePath {
                gain,
                merges: self.path.clone(),
            };
            report(gain);
        }
        let is_full = self.path.len() == self.options.num_merges;
        let untried = if is_full { Vec::new() } else { text.pairs() };
        Frame {
            text,
            gain,
            untried: untried.into_iter(),
        }
    }

    /// Whether this merge commutes with the last and comes before it in the order of strings.
    fn is_out_of_order(&self, merge: Pair, product: Id) -> bool {
        let Some(&last) = self.path.last() else {
            return false;
        };
        let last_product = product - 1;
        let is_part = merge.0 == last_product || merge.1 == last_product;
        let commutes = !is_part && last.1 != merge.0 && last.0 != merge.1;
        commutes && self.strings.of_pair(merge) < self.strings.of(last_product)
    }
}

/// The strings of tokens, as symbols.
struct Strings {
    num_symbols: Id,
    merged: Vec<Vec<Id>>,
}

impl Strings {
    /// The key of a token in a total order: its length, then its string.
    fn of(&self, token: Id) -> (usize, Vec<Id>) {
        let string = match token.checked_sub(self.num_symbols) {
            Some(merge) => self.merged[merge as usize].clone(),
            None => vec![token],
        };
        (string.len(), string)
    }

    fn of_pair(&self, (left, right): Pair) -> (usize, Vec<Id>) {
        let string = [self.of(left).1, self.of(right).1].concat();
        (string.len(), string)
    }
}
