//! How often tokens stand beside each other.

use rustc_hash::FxHashMap;

use super::corpus::Token;

/// This neighbour has not been seen.
const NONE: u32 = u32::MAX;
/// This neighbour has been seen; no pair is kept for it.
const SEEN: u32 = u32::MAX - 1;

/// A pair as one number.
pub(super) fn key(left: Token, right: Token) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// What one merge does to one neighbour, or what is known of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    pub(super) weight: u64,
    pub(super) times: u32,
    /// NONE, SEEN, or how far behind the first of its side the pair's next position goes.
    pub(super) cursor: u32,
}

pub(super) const NO_TALLY: Tally = Tally {
    weight: 0,
    times: 0,
    cursor: NONE,
};

impl Tally {
    /// Put a position of the pair in its place, if the pair is kept, and otherwise in the first,
    /// which no pair uses: that saves a branch that cannot be predicted. Returns the place.
    #[inline]
    pub(super) fn list(&mut self, position: u32, positions: &mut [u32], from: usize) -> usize {
        let is_kept = self.cursor < SEEN;
        let place = if is_kept {
            from + self.cursor as usize
        } else {
            0
        };
        positions[place] = position;
        self.cursor += u32::from(is_kept);
        place
    }
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

/// Tallies of all pairs.
pub(super) trait PairTallies {
    fn of(&mut self, left: Token, right: Token) -> &mut Tally;
    fn for_each(&mut self, visit: impl FnMut(Token, Token, &mut Tally));
}

/// An array, while there are few tokens.
pub(super) struct DenseTallies {
    width: usize,
    tallies: Vec<Tally>,
}

impl DenseTallies {
    pub(super) const MAX_WIDTH: usize = 512;

    pub(super) fn new(width: usize) -> Self {
        let tallies = vec![NO_TALLY; width * width];
        Self { width, tallies }
    }
}

impl PairTallies for DenseTallies {
    #[inline]
    fn of(&mut self, left: Token, right: Token) -> &mut Tally {
        &mut self.tallies[left as usize * self.width + right as usize]
    }

    fn for_each(&mut self, mut visit: impl FnMut(Token, Token, &mut Tally)) {
        for (index, tally) in self.tallies.iter_mut().enumerate() {
            if tally.times > 0 {
                let (left, right) = (index / self.width, index % self.width);
                visit(left as Token, right as Token, tally);
            }
        }
    }
}

impl PairTallies for FxHashMap<u64, Tally> {
    #[inline]
    fn of(&mut self, left: Token, right: Token) -> &mut Tally {
        self.entry(key(left, right)).or_insert(NO_TALLY)
    }

    fn for_each(&mut self, mut visit: impl FnMut(Token, Token, &mut Tally)) {
        for (&key, tally) in self {
            visit((key >> 32) as Token, key as Token, tally);
        }
    }
}
