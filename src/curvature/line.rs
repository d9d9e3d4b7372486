//! Short token sequences of bytes, for greedy and the optimum of millions of strings.
//!
//! A token made by a merge gets the next free number, so a number has a meaning only within one
//! sequence of merges. Cost: O(n) for a count of all pairs, no allocation.

/// The length of the longest string whose curvature can be measured.
pub const MAX_LENGTH: usize = 64;

/// A token sequence; `next` is the first number that no token has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Behind the last token stands one that is in no pair.
    tokens: [u8; MAX_LENGTH + 1],
    len: u8,
    pub(super) next: u8,
}

impl Line {
    /// The string of letters `0..num_letters`.
    pub(super) fn new(letters: &[u8], num_letters: u8) -> Self {
        let mut tokens = [UNNAMED; MAX_LENGTH + 1];
        tokens[..letters.len()].copy_from_slice(letters);
        Self {
            tokens,
            len: letters.len() as u8,
            next: num_letters,
        }
    }

    pub(super) fn tokens(&self) -> &[u8] {
        &self.tokens[..usize::from(self.len)]
    }

    /// The string behind the merge of the symbols at `at`, whose pair must occur nowhere else.
    pub(super) fn behind(&self, at: usize) -> Behind {
        let mut line = *self;
        line.tokens
            .copy_within(at + 2..usize::from(self.len), at + 1);
        line.tokens[at] = UNNAMED;
        line.len -= 1;
        line.tokens[usize::from(line.len)] = UNNAMED;
        Behind {
            line,
            left: self.tokens[at],
            right: self.tokens[at + 1],
        }
    }

    /// The number of times that a pair can be replaced.
    pub(super) fn count(&self, left: u8, right: u8) -> u32 {
        let (mut number, mut i) = (0, 1);
        // Without branches: whether a pair stands here can hardly be predicted.
        while i < usize::from(self.len) {
            let is_pair = (self.tokens[i - 1] == left) & (self.tokens[i] == right);
            number += u32::from(is_pair);
            i += 1 + usize::from(is_pair);
        }
        number
    }

    /// The sequence after merging `left` and `right`.
    pub(super) fn merged(&self, left: u8, right: u8) -> Self {
        let mut new = Self {
            tokens: [UNNAMED; MAX_LENGTH + 1],
            len: 0,
            next: self.next + 1,
        };
        let (mut from, mut to) = (0, 0);
        while from < usize::from(self.len) {
            let is_pair = (self.tokens[from] == left) & (self.tokens[from + 1] == right);
            new.tokens[to] = if is_pair {
                self.next
            } else {
                self.tokens[from]
            };
            from += 1 + usize::from(is_pair);
            to += 1;
        }
        new.len = to as u8;
        new
    }

    /// The tokens, renamed by first occurrence: further merges depend on no more.
    pub(super) fn renamed(&self) -> Box<[u8]> {
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

/// A token of a merge whose number is not known yet.
const UNNAMED: u8 = u8::MAX;

/// A string behind a merge that replaces one pair.
#[derive(Clone, Copy)]
pub(super) struct Behind {
    pub(super) line: Line,
    left: u8,
    right: u8,
}

impl Behind {
    /// Apply the next merge; if it is the one that was made already, its token gets its number.
    pub(super) fn merge(&mut self, left: u8, right: u8) {
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

/// A pair of neighbours: the number of times that it can be replaced, and that it occurs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair {
    pub(super) left: u8,
    pub(super) right: u8,
    pub(super) count: u8,
    pub(super) occurrences: u8,
}

impl Pair {
    /// Whether the pair commutes with the merge `last`, which made the token `made`, and saves more:
    /// of neighbours that commute, the one that saves more comes first.
    pub(super) fn is_late(self, last: Option<Self>, made: u8) -> bool {
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
pub(super) struct Top {
    pub(super) sum: u32,
    least: u32,
}

impl Top {
    /// The most that one merge fewer saves behind the merge of a pair.
    pub(super) fn behind(&self, pair: Pair) -> u32 {
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
pub(super) struct Pairs {
    pub(super) pairs: [Pair; MAX_LENGTH],
    pub(super) len: usize,
}

impl Pairs {
    pub(super) fn as_slice(&self) -> &[Pair] {
        &self.pairs[..self.len]
    }

    pub(super) fn largest(&self) -> u8 {
        let counts = self.as_slice().iter().map(|pair| pair.count);
        counts.max().unwrap_or(0)
    }

    /// The most that the merge behind this one saves, if of neighbours that commute the one that
    /// saves more comes first: it is made of the new token, or shares a token with the pair.
    pub(super) fn most_next(&self, pair: Pair) -> u32 {
        let shares = |other: &&Pair| other.left == pair.right || other.right == pair.left;
        let sharing = self.as_slice().iter().filter(shares);
        let most = sharing.map(|other| other.count).max().unwrap_or(0);
        u32::from(most.max(pair.count))
    }

    /// The pairs that can be the first of `num_merges` merges which save exactly `needed`, behind the
    /// merge `last`, which made the token `made`.
    pub(super) fn promising(
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

    /// The largest `number` numbers of occurrences.
    pub(super) fn top(&self, number: usize) -> Top {
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

/// The merges of greedy, and what it has saved after each. It ends where no pair is left.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) saved: Vec<i32>,
    pub(super) merges: Vec<(u8, u8)>,
}

impl Run {
    /// What the first `num_merges` merges save.
    pub(super) fn after(&self, num_merges: usize) -> i32 {
        match num_merges.min(self.saved.len()) {
            0 => 0,
            done => self.saved[done - 1],
        }
    }
}

/// What `merges` save behind the merge of the symbols at `at`, whose pair occurs once.
pub(super) fn saved_behind(line: &Line, at: usize, merges: &[(u8, u8)]) -> i32 {
    let mut behind = line.behind(at);
    let before = behind.line.len;
    for &(left, right) in merges {
        behind.merge(left, right);
    }
    i32::from(before - behind.line.len)
}
