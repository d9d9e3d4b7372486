//! Short token sequences of bytes: greedy and the optimum of millions of strings.
//!
//! A token made by the i-th merge gets the next free number, so the numbers mean nothing beyond one
//! sequence of merges. Cost: O(n) for a count of all pairs, no allocation.

use rustc_hash::FxHashMap;

/// The longest string of which a curvature is asked.
pub const MAX_LENGTH: usize = 64;

/// A token sequence; `next` is the first number that no token has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    tokens: [u8; MAX_LENGTH],
    len: u8,
    next: u8,
}

impl Line {
    /// The string of letters `0..num_letters`.
    pub(super) fn new(letters: &[u8], num_letters: u8) -> Self {
        let mut tokens = [0; MAX_LENGTH];
        tokens[..letters.len()].copy_from_slice(letters);
        Self {
            tokens,
            len: letters.len() as u8,
            next: num_letters,
        }
    }

    fn tokens(&self) -> &[u8] {
        &self.tokens[..usize::from(self.len)]
    }

    /// The sequence after merging `left` and `right`.
    fn merged(&self, left: u8, right: u8) -> Self {
        let old = self.tokens();
        let mut new = Self {
            tokens: [0; MAX_LENGTH],
            len: 0,
            next: self.next + 1,
        };
        let (mut from, mut to) = (0, 0);
        while from < old.len() {
            let is_pair = old[from] == left && from + 1 < old.len() && old[from + 1] == right;
            new.tokens[to] = if is_pair { self.next } else { old[from] };
            from += 1 + usize::from(is_pair);
            to += 1;
        }
        new.len = to as u8;
        new
    }

    /// The tokens by first occurrence: the future of a sequence depends on no more.
    fn renamed(&self) -> Box<[u8]> {
        let mut names = [u8::MAX; 256];
        let mut used = 0;
        let rename = |&token: &u8| {
            let name = &mut names[usize::from(token)];
            if *name == u8::MAX {
                *name = used;
                used += 1;
            }
            *name
        };
        self.tokens().iter().map(rename).collect()
    }
}

/// A pair of neighbours: how often it can be replaced, and how often it occurs.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    left: u8,
    right: u8,
    count: u8,
    occurrences: u8,
}

/// The distinct pairs of a sequence, in the order of first occurrence.
struct Pairs {
    pairs: [Pair; MAX_LENGTH],
    len: usize,
}

impl Pairs {
    fn as_slice(&self) -> &[Pair] {
        &self.pairs[..self.len]
    }

    fn largest(&self) -> u8 {
        self.as_slice()
            .iter()
            .map(|pair| pair.count)
            .max()
            .unwrap_or(0)
    }

    /// The bigram bound: each further merge removes boundaries of one pair of neighbours, and no
    /// more than the most frequent pair counts.
    fn bound(&self, num_merges: usize) -> u32 {
        let mut occurrences = [0; MAX_LENGTH];
        for (to, pair) in occurrences.iter_mut().zip(self.as_slice()) {
            *to = pair.occurrences;
        }
        let occurrences = &mut occurrences[..self.len];
        occurrences.sort_unstable_by(|one, other| other.cmp(one));
        let sum: u32 = occurrences
            .iter()
            .take(num_merges)
            .copied()
            .map(u32::from)
            .sum();
        sum.min(num_merges as u32 * u32::from(self.largest()))
    }
}

/// Counts pairs and searches; its tables are used again and again.
pub(super) struct Searcher {
    /// Where a pair stands among the pairs of the sequence, plus 1.
    slots: Vec<u8>,
    stride: usize,
    /// Sequences that were searched, and with how many merges left; not for short strings.
    seen: Option<FxHashMap<Box<[u8]>, u8>>,
}

impl Searcher {
    /// For sequences of up to `num_tokens` distinct numbers.
    pub(super) fn new(num_tokens: usize, is_remembering: bool) -> Self {
        let stride = num_tokens.next_power_of_two();
        Self {
            slots: vec![0; stride * stride],
            stride,
            seen: is_remembering.then(FxHashMap::default),
        }
    }

    fn pairs(&mut self, line: &Line) -> Pairs {
        let mut found = Pairs {
            pairs: [Pair::default(); MAX_LENGTH],
            len: 0,
        };
        let tokens = line.tokens();
        let mut last_counted = usize::MAX;
        for window in tokens.windows(2) {
            let (left, right) = (window[0], window[1]);
            let key = usize::from(left) * self.stride + usize::from(right);
            if self.slots[key] == 0 {
                found.pairs[found.len] = Pair {
                    left,
                    right,
                    count: 0,
                    occurrences: 0,
                };
                found.len += 1;
                self.slots[key] = found.len as u8;
            }
            let pair = &mut found.pairs[usize::from(self.slots[key]) - 1];
            pair.occurrences += 1;
            if key == last_counted {
                last_counted = usize::MAX; // the middle of aaa
            } else {
                pair.count += 1;
                last_counted = key;
            }
        }
        for pair in found.as_slice() {
            self.slots[usize::from(pair.left) * self.stride + usize::from(pair.right)] = 0;
        }
        found
    }

    /// What greedy has saved after each merge, ties by first occurrence; where no pair is left the
    /// list ends early.
    pub(super) fn greedy(&mut self, line: &Line, num_merges: usize, saved: &mut Vec<i32>) {
        saved.clear();
        let mut line = *line;
        let mut sum = 0;
        while saved.len() < num_merges {
            let pairs = self.pairs(&line);
            let largest = pairs.largest();
            let Some(best) = pairs.as_slice().iter().find(|pair| pair.count == largest) else {
                return;
            };
            sum += i32::from(largest);
            saved.push(sum);
            if saved.len() < num_merges {
                line = line.merged(best.left, best.right);
            }
        }
    }

    /// κ(μ*), given that `known` is attained and that nothing exceeds `most`.
    pub(super) fn optimum(&mut self, line: &Line, num_merges: usize, known: i32, most: i32) -> i32 {
        if let Some(seen) = &mut self.seen {
            seen.clear();
        }
        let mut best = known as u32;
        self.search(line, num_merges, 0, &mut best, most as u32);
        best as i32
    }

    fn search(&mut self, line: &Line, left: usize, saved: u32, best: &mut u32, most: u32) {
        let mut pairs = self.pairs(line);
        let largest = u32::from(pairs.largest());
        if left <= 1 || largest == 0 {
            *best = (*best).max(saved + largest * left as u32);
            return;
        }
        if saved + pairs.bound(left) <= *best || self.was_seen(line, left) {
            return;
        }
        let len = pairs.len;
        pairs.pairs[..len].sort_by_key(|pair| std::cmp::Reverse(pair.count));
        for pair in &pairs.pairs[..len] {
            let count = u32::from(pair.count);
            if *best >= most || saved + count + (left as u32 - 1) * largest <= *best {
                return;
            }
            let line = line.merged(pair.left, pair.right);
            self.search(&line, left - 1, saved + count, best, most);
        }
    }

    fn was_seen(&mut self, line: &Line, left: usize) -> bool {
        let Some(seen) = &mut self.seen else {
            return false;
        };
        let before = seen.entry(line.renamed()).or_insert(0);
        let was = usize::from(*before) >= left;
        *before = (*before).max(left as u8);
        was
    }

    /// What the first greedy merges save at least, and any merges at most: the largest count, and
    /// the bigram bound.
    pub(super) fn first_bounds(&mut self, line: &Line, num_merges: usize) -> (i32, i32) {
        let pairs = self.pairs(line);
        (i32::from(pairs.largest()), pairs.bound(num_merges) as i32)
    }
}
