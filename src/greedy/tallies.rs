//! Counts of neighbours and of pairs, with the next position of each pair that is kept.

use rustc_hash::FxHashMap;

use super::corpus::Token;

/// This neighbour has not been seen.
const NONE: u32 = u32::MAX;
/// This neighbour has been seen; no pair is kept for it.
const SEEN: u32 = u32::MAX - 1;

/// A pair as one number, ordered by the left token and then by the right one.
pub(super) fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// How often a neighbour of a merge, or a pair, occurs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// Occurrences in the corpus: each position counts as often as its word.
    pub(super) weight: u64,
    /// Positions.
    pub(super) times: u32,
    /// `NONE`, `SEEN`, or the distance of the pair's next position from the first of its side.
    pub(super) cursor: u32,
}

pub(super) const NO_TALLY: Tally = Tally {
    weight: 0,
    times: 0,
    cursor: NONE,
};

/// Put a position in the place of a kept pair's cursor, and otherwise in the first, which no pair
/// uses: that saves a branch that cannot be predicted. Returns the place.
#[inline]
pub(super) fn list(cursor: &mut u32, position: u32, positions: &mut [u32], from: usize) -> usize {
    let is_kept = *cursor < SEEN;
    let place = if is_kept { from + *cursor as usize } else { 0 };
    positions[place] = position;
    *cursor += u32::from(is_kept);
    place
}

/// The neighbours of a new token on one side, tallied by token.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) tallies: Vec<Tally>,
    pub(super) touched: Vec<Token>,
}

impl Side {
    #[inline]
    pub(super) fn add(&mut self, token: Token, weight: u64) {
        let tally = &mut self.tallies[token as usize];
        if tally.cursor == NONE {
            tally.cursor = SEEN;
            self.touched.push(token);
        }
        tally.weight += weight;
        tally.times += 1;
    }

    pub(super) fn take_back(&mut self, token: Token, weight: u64) {
        let tally = &mut self.tallies[token as usize];
        tally.weight -= weight;
        tally.times -= 1;
    }

    pub(super) fn clear(&mut self) {
        for token in self.touched.drain(..) {
            self.tallies[token as usize] = NO_TALLY;
        }
    }
}

/// Tallies of all pairs: first every occurrence is added, then those of the pairs kept are listed.
pub(super) trait PairTallies {
    fn add(&mut self, left: Token, right: Token, weight: u64);
    /// Call `visit` with every pair that occurs; it may set the cursor.
    fn for_each(&mut self, visit: impl FnMut(Token, Token, &mut Tally));
    /// The cursor of a pair; see [`list`].
    fn cursor(&mut self, left: Token, right: Token) -> &mut u32;
}

/// Arrays, for small vocabularies.
pub(super) struct DenseTallies {
    width: usize,
    /// The positions of each pair, and after `for_each` its cursor: one small array for each scan.
    times: Vec<u32>,
    /// The weight less `times`: most words of a large corpus occur once.
    surplus: Vec<u64>,
}

impl DenseTallies {
    pub(super) const MAX_WIDTH: usize = 512;

    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            times: vec![0; width * width],
            surplus: vec![0; width * width],
        }
    }

    fn index(&self, left: Token, right: Token) -> usize {
        left as usize * self.width + right as usize
    }
}

impl PairTallies for DenseTallies {
    #[inline]
    fn add(&mut self, left: Token, right: Token, weight: u64) {
        let index = self.index(left, right);
        self.times[index] += 1;
        if weight > 1 {
            self.surplus[index] += weight - 1;
        }
    }

    fn for_each(&mut self, mut visit: impl FnMut(Token, Token, &mut Tally)) {
        for (index, times) in self.times.iter_mut().enumerate() {
            if *times > 0 {
                let (left, right) = (index / self.width, index % self.width);
                let mut tally = Tally {
                    weight: u64::from(*times) + self.surplus[index],
                    times: *times,
                    cursor: NONE,
                };
                visit(left as Token, right as Token, &mut tally);
                *times = tally.cursor;
            }
        }
    }

    #[inline]
    fn cursor(&mut self, left: Token, right: Token) -> &mut u32 {
        let index = self.index(left, right);
        &mut self.times[index]
    }
}

impl PairTallies for FxHashMap<u64, Tally> {
    #[inline]
    fn add(&mut self, left: Token, right: Token, weight: u64) {
        let tally = self.entry(key(left, right)).or_insert(NO_TALLY);
        tally.weight += weight;
        tally.times += 1;
    }

    fn for_each(&mut self, mut visit: impl FnMut(Token, Token, &mut Tally)) {
        for (key, tally) in self {
            visit((key >> 32) as Token, *key as Token, tally);
        }
    }

    #[inline]
    fn cursor(&mut self, left: Token, right: Token) -> &mut u32 {
        &mut self.entry(key(left, right)).or_insert(NO_TALLY).cursor
    }
}
