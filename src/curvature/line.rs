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

    /// What the merge of the symbols at `at` makes of the string; the pair there must occur nowhere
    /// else.
    fn behind(&self, at: usize) -> Behind {
        let mut line = *self;
        line.tokens
            .copy_within(at + 2..usize::from(self.len), at + 1);
        line.tokens[at] = UNNAMED;
        line.len -= 1;
        Behind {
            line,
            left: self.tokens[at],
            right: self.tokens[at + 1],
        }
    }

    /// How often a pair can be replaced.
    fn count(&self, left: u8, right: u8) -> u32 {
        let tokens = self.tokens();
        let (mut number, mut i) = (0, 1);
        while i < tokens.len() {
            let is_pair = tokens[i - 1] == left && tokens[i] == right;
            number += u32::from(is_pair);
            i += 1 + usize::from(is_pair);
        }
        number
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

/// The token of a merge that was not made elsewhere yet, where nobody knows its number.
const UNNAMED: u8 = u8::MAX;

/// A string behind a merge that replaces one pair.
#[derive(Clone, Copy)]
struct Behind {
    line: Line,
    left: u8,
    right: u8,
}

impl Behind {
    /// The next merge; it may be the one that was made already.
    fn merge(&mut self, left: u8, right: u8) {
        let next = self.line.next;
        self.line = if (left, right) == (self.left, self.right) {
            let mut line = self.line;
            let len = usize::from(line.len);
            for token in &mut line.tokens[..len] {
                *token = if *token == UNNAMED { next } else { *token };
            }
            line.next += 1;
            line
        } else {
            self.line.merged(left, right)
        };
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

impl Pair {
    /// Would the pair, which commutes with the merge just made, better have come before it? Of
    /// neighbours that commute, the one that saves more comes first; `made` is the merge's token.
    fn is_late(self, last: Option<Self>, made: u8) -> bool {
        last.is_some_and(|last| {
            self.count > last.count
                && self.left != made
                && self.right != made
                && self.left != last.right
                && self.right != last.left
        })
    }
}

/// The sum of the largest numbers of occurrences, and the least of them.
struct Top {
    sum: u32,
    least: u32,
}

impl Top {
    /// The most that as many merges less one save behind the merge of a pair.
    fn behind(&self, pair: Pair) -> u32 {
        let (count, occurrences) = (u32::from(pair.count), u32::from(pair.occurrences));
        if occurrences > self.least {
            // One of the largest: what it leaves competes with the least of them.
            self.sum - occurrences.min(self.least + count)
        } else {
            self.sum - self.least
        }
    }
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
        self.top(num_merges)
            .sum
            .min(num_merges as u32 * u32::from(self.largest()))
    }

    /// The most that the merge behind this one saves, if of neighbours that commute the one that
    /// saves more comes first: it is made of the new token, or shares a token with the pair.
    fn most_next(&self, pair: Pair) -> u32 {
        let shares = |other: &&Pair| other.left == pair.right || other.right == pair.left;
        let sharing = self.as_slice().iter().filter(shares);
        let most = sharing.map(|other| other.count).max().unwrap_or(0);
        u32::from(most.max(pair.count))
    }

    /// The pairs that can be the first of so many merges which save exactly so much.
    fn promising(
        &self,
        num_merges: usize,
        needed: u32,
        last: Option<Pair>,
        made: u8,
    ) -> impl Iterator<Item = Pair> + '_ {
        let largest = u32::from(self.largest());
        let most_behind = (num_merges as u32).saturating_sub(1) * largest;
        let top = self.top(num_merges);
        let is_promising = move |pair: &Pair| {
            let count = u32::from(pair.count);
            num_merges > 0
                && count <= needed
                && count + most_behind.min(top.behind(*pair)) >= needed
                && !pair.is_late(last, made)
                && (num_merges == 1
                    || count == largest
                    || count + self.most_next(*pair) + most_behind - largest >= needed)
        };
        self.as_slice().iter().copied().filter(is_promising)
    }

    /// The largest so many numbers of occurrences.
    fn top(&self, number: usize) -> Top {
        let mut histogram = [0_u8; MAX_LENGTH];
        let mut most = 0;
        for pair in self.as_slice() {
            histogram[usize::from(pair.occurrences)] += 1;
            most = most.max(pair.occurrences);
        }
        let (mut sum, mut left, mut least) = (0, number as u32, 0);
        let mut occurrences = u32::from(most);
        while occurrences > 0 && left > 0 {
            let taken = u32::from(histogram[occurrences as usize]).min(left);
            sum += taken * occurrences;
            left -= taken;
            least = occurrences;
            occurrences -= 1;
        }
        Top {
            sum,
            least: if left == 0 { least } else { 0 },
        }
    }
}

/// What greedy did: its merges, and what it had saved after each. Where no pair is left, it ends.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) saved: Vec<i32>,
    pub(super) merges: Vec<(u8, u8)>,
}

impl Run {
    /// What was saved by the first so many merges.
    pub(super) fn after(&self, num_merges: usize) -> i32 {
        match num_merges.min(self.saved.len()) {
            0 => 0,
            done => self.saved[done - 1],
        }
    }
}

/// What merges save behind the merge of the symbols at `at`, whose pair occurs once.
pub(super) fn saved_behind(line: &Line, at: usize, merges: &[(u8, u8)]) -> i32 {
    let mut behind = line.behind(at);
    let before = behind.line.len;
    for &(left, right) in merges {
        behind.merge(left, right);
    }
    i32::from(before - behind.line.len)
}

/// Counts pairs and searches; its tables are used again and again.
pub(super) struct Searcher {
    /// Where a pair stands among the pairs of the sequence, plus 1.
    slots: Vec<u8>,
    stride: usize,
    /// Sequences that were searched, and with how many merges left; not for short strings.
    seen: Option<FxHashMap<Box<[u8]>, u8>>,
    path: Vec<(u8, u8)>,
    /// The merges that attain the optimum, if the last search found more than was known.
    pub(super) found: Vec<(u8, u8)>,
}

impl Searcher {
    /// For sequences of up to `num_tokens` distinct numbers.
    pub(super) fn new(num_tokens: usize, is_remembering: bool) -> Self {
        let stride = num_tokens.next_power_of_two();
        Self {
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

    /// κ(μ*) if it exceeds `known`, else `known`; nothing exceeds `most`.
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
                let last = pairs
                    .as_slice()
                    .iter()
                    .find(|pair| u32::from(pair.count) == largest);
                let last = last
                    .filter(|_| left > 0)
                    .map(|pair| (pair.left, pair.right));
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
            if *best >= most || saved + count + (left as u32 - 1) * largest <= *best {
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
            // What was searched is remembered for all that led to it.
            let last = Some(*pair).filter(|_| self.seen.is_none());
            self.search(&line, left - 1, saved + count, last, best, most);
            self.path.pop();
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

    /// Is there a sequence that saves `optimum`, but at most `allowed` behind the merge of the
    /// symbols at one of these places, whose pair occurs once?
    pub(super) fn suffers_from(
        &mut self,
        line: &Line,
        places: impl Iterator<Item = usize>,
        num_merges: usize,
        optimum: i32,
        allowed: i32,
    ) -> bool {
        let Ok(allowed) = u32::try_from(allowed) else {
            return false;
        };
        let places: Vec<usize> = places.collect();
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

    /// The same, if the first merge is this one.
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

    /// What the first greedy merges save at least, and any merges at most: the largest count, and
    /// the bigram bound.
    pub(super) fn first_bounds(&mut self, line: &Line, num_merges: usize) -> (i32, i32) {
        let pairs = self.pairs(line);
        (i32::from(pairs.largest()), pairs.bound(num_merges) as i32)
    }
}
