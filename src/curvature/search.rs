//! The optimum of a short string, and whether some sequence that attains it suffers from a prefix.
//!
//! Branch and bound: the bigram bound, and of neighbours that commute the one that saves more comes
//! first. For long strings the states that were searched are remembered instead, by their renamed
//! tokens. Cost: a few µs for a string of 15 symbols and 4 merges.

use rustc_hash::FxHashMap;

use super::line::{Behind, Line, MAX_LENGTH, Pair, Pairs, Run};
use crate::watch::Watch;

/// Counts pairs and searches; its tables are used again and again.
pub(super) struct Searcher<'a> {
    /// A search that is stopped ends with the best so far.
    watch: &'a Watch,
    /// For each pair its index among the pairs of the sequence plus 1, or 0.
    slots: Vec<u8>,
    stride: usize,
    /// The sequences that were searched and the number of merges left; None for short strings.
    seen: Option<FxHashMap<Box<[u8]>, u8>>,
    path: Vec<(u8, u8)>,
    /// The merges that attain the optimum, if the last search found more than was known.
    pub(super) found: Vec<(u8, u8)>,
}

impl<'a> Searcher<'a> {
    /// For sequences of up to `num_tokens` distinct numbers.
    pub(super) fn new(num_tokens: usize, is_remembering: bool, watch: &'a Watch) -> Self {
        let stride = num_tokens.next_power_of_two();
        Self {
            watch,
            slots: vec![0; stride * stride],
            stride,
            seen: is_remembering.then(FxHashMap::default),
            path: Vec::new(),
            found: Vec::new(),
        }
    }

    fn pairs(&mut self, line: &Line) -> Pairs {
        let mut found = Pairs {
            pairs: [Pair::default(); MAX_LENGTH],
            len: 0,
        };
        let mut last_counted = usize::MAX;
        for window in line.tokens().windows(2) {
            let (left, right) = (window[0], window[1]);
            let key = usize::from(left) * self.stride + usize::from(right);
            let slot = self.slots[key];
            let is_new = slot == 0;
            found.len += usize::from(is_new);
            let slot = if is_new { found.len as u8 } else { slot };
            self.slots[key] = slot;
            let pair = &mut found.pairs[usize::from(slot - 1) % MAX_LENGTH];
            (pair.left, pair.right) = (left, right);
            pair.occurrences += 1;
            // The middle of aaa is no pair of its own.
            let is_counted = key != last_counted;
            pair.count += u8::from(is_counted);
            last_counted = if is_counted { key } else { usize::MAX };
        }
        for pair in found.as_slice() {
            self.slots[usize::from(pair.left) * self.stride + usize::from(pair.right)] = 0;
        }
        found
    }

    /// Run greedy, ties by first occurrence.
    pub(super) fn greedy(&mut self, line: &Line, num_merges: usize, run: &mut Run) {
        run.saved.clear();
        run.merges.clear();
        let mut line = *line;
        let mut sum = 0;
        while run.saved.len() < num_merges {
            let pairs = self.pairs(&line);
            let largest = pairs.largest();
            let Some(best) = pairs.as_slice().iter().find(|pair| pair.count == largest) else {
                return;
            };
            sum += i32::from(largest);
            run.saved.push(sum);
            run.merges.push((best.left, best.right));
            if run.saved.len() < num_merges {
                line = line.merged(best.left, best.right);
            }
        }
    }

    /// κ(μ*) if it exceeds `known`, else `known`. No merges save more than `most`.
    pub(super) fn optimum(&mut self, line: &Line, num_merges: usize, known: i32, most: i32) -> i32 {
        if let Some(seen) = &mut self.seen {
            seen.clear();
        }
        self.found.clear();
        let mut best = known as u32;
        self.search(line, num_merges, 0, None, &mut best, most as u32);
        best as i32
    }

    fn search(
        &mut self,
        line: &Line,
        left: usize,
        saved: u32,
        last: Option<Pair>,
        best: &mut u32,
        most: u32,
    ) {
        let mut pairs = self.pairs(line);
        let largest = u32::from(pairs.largest());
        if left <= 1 || largest == 0 {
            let saved = saved + largest * left as u32;
            if saved > *best {
                *best = saved;
                let is_last = |pair: &&Pair| left > 0 && u32::from(pair.count) == largest;
                let last = pairs.as_slice().iter().find(is_last);
                let last = last.map(|pair| (pair.left, pair.right));
                self.found.clear();
                self.found.extend(self.path.iter().copied().chain(last));
            }
            return;
        }
        let top = pairs.top(left);
        if saved + top.sum.min(largest * left as u32) <= *best || self.was_seen(line, left) {
            return;
        }
        let len = pairs.len;
        pairs.pairs[..len].sort_by_key(|pair| std::cmp::Reverse(pair.count));
        for pair in &pairs.pairs[..len] {
            let count = u32::from(pair.count);
            let is_done = *best >= most || self.watch.is_stopped();
            if is_done || saved + count + (left as u32 - 1) * largest <= *best {
                return;
            }
            if saved + count + top.behind(*pair) <= *best || pair.is_late(last, line.next - 1) {
                continue;
            }
            if self.seen.is_none() && count < largest {
                let behind = pairs.most_next(*pair) + (left as u32 - 2) * largest;
                if saved + count + behind <= *best {
                    continue;
                }
            }
            let line = line.merged(pair.left, pair.right);
            self.path.push((pair.left, pair.right));
            // A remembered state must not depend on the merges that led to it.
            let last = Some(*pair).filter(|_| self.seen.is_none());
            self.search(&line, left - 1, saved + count, last, best, most);
            self.path.pop();
        }
    }

    /// Whether a sequence was searched with at least `left` merges before; remembers it.
    fn was_seen(&mut self, line: &Line, left: usize) -> bool {
        let Some(seen) = &mut self.seen else {
            return false;
        };
        let before = seen.entry(line.renamed()).or_insert(0);
        let was = usize::from(*before) >= left;
        *before = (*before).max(left as u8);
        was
    }

    /// Whether some sequence saves `optimum`, but at most `allowed` behind the merge of the symbols
    /// at one of these places, whose pair occurs once.
    pub(super) fn suffers_from(
        &mut self,
        line: &Line,
        places: &[usize],
        num_merges: usize,
        optimum: i32,
        allowed: i32,
    ) -> bool {
        let Ok(allowed) = u32::try_from(allowed) else {
            return false;
        };
        let tokens = line.tokens();
        let (pairs, needed) = (self.pairs(line), optimum as u32);
        pairs.promising(num_merges, needed, None, 0).any(|pair| {
            // A pair loses at most the places where it overlaps the merged symbols.
            let is_here = |i: usize| tokens.get(i..i + 2) == Some(&[pair.left, pair.right]);
            let overlaps =
                |at: usize| u32::from(at > 0 && is_here(at - 1)) + u32::from(is_here(at + 1));
            let count = u32::from(pair.count);
            let places = places.iter().filter(|&&at| count <= allowed + overlaps(at));
            let behind: Vec<_> = places.map(|&at| (line.behind(at), allowed)).collect();
            self.suffers_first(pair, line, &behind, num_merges, needed)
        })
    }

    /// The same for the sequences that begin with a pair.
    fn suffers_first(
        &mut self,
        pair: Pair,
        line: &Line,
        behind: &[(Behind, u32)],
        left: usize,
        needed: u32,
    ) -> bool {
        let still_allowed = |(behind, allowed): &(Behind, u32)| {
            let saved = behind.line.count(pair.left, pair.right);
            allowed.checked_sub(saved).map(|allowed| (*behind, allowed))
        };
        let mut behind: Vec<_> = behind.iter().filter_map(still_allowed).collect();
        let needed = needed - u32::from(pair.count);
        if behind.is_empty() || needed == 0 {
            return !behind.is_empty();
        }
        for (behind, _) in &mut behind {
            behind.merge(pair.left, pair.right);
        }
        let line = line.merged(pair.left, pair.right);
        let pairs = self.pairs(&line);
        pairs
            .promising(left - 1, needed, Some(pair), line.next - 1)
            .any(|pair| self.suffers_first(pair, &line, &behind, left - 1, needed))
    }

    /// The largest count of a pair, and the bigram bound of what `num_merges` merges save: each removes
    /// boundaries of one pair of neighbours, and no more than the most frequent pair counts.
    pub(super) fn first_bounds(&mut self, line: &Line, num_merges: usize) -> (i32, i32) {
        let pairs = self.pairs(line);
        let (largest, sum) = (i32::from(pairs.largest()), pairs.top(num_merges).sum);
        (largest, (sum as i32).min(num_merges as i32 * largest))
    }
}
