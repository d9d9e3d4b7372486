//! Which pairs are worth keeping.

use rustc_hash::FxHashSet;

use super::corpus::{BOUNDARY, Token, symbols_of_tokens};
use super::options::TrainOptions;
use super::tallies::{DenseTallies, PairKey, Tally, key};
use crate::merges::{Id, MergeList};

/// The first floor is this part of all symbols: on text, that of the first 100 to 150 merges.
const EARLY: u64 = 1024;

/// The conditions that a pair has to meet.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The number of symbols of the boundary and of each token.
    pub(super) num_symbols: Vec<u32>,
    max_token_length: usize,
    /// Pairs that count less are not kept.
    pub(super) floor: u64,
    /// The expected count of the last merge.
    expected_floor: u64,
    min_frequency: u64,
    /// While merges are replayed, their pairs are kept instead.
    replayed: Option<FxHashSet<PairKey>>,
}

impl Wanted {
    /// The conditions of training on `num_symbols` symbols.
    pub(super) fn new(merges: &MergeList, num_symbols: u64, options: &TrainOptions) -> Self {
        // On text the last of M merges counts between N / 25 M and N / 130 M. A floor that is too
        // high costs another count of all pairs, one that is too low keeps pairs that never merge.
        let num_merges = options.num_merges.max(1) as u64;
        let expected = num_symbols / num_merges.saturating_mul(60);
        let expected_floor = expected.max(options.min_frequency);
        let symbols_of_tokens = symbols_of_tokens(merges);
        // The first merges nearly halve the tokens. Where many more follow, they are made with only
        // the few pairs that they need: for the others, the lists are shorter if they are made
        // afterwards, and the cells are closer together. That needs a count that is cheap.
        let early_floor = num_symbols / EARLY;
        let is_cheap = symbols_of_tokens.len() + 128 <= DenseTallies::MAX_WIDTH;
        let floor = if is_cheap && early_floor / 32 >= expected_floor {
            early_floor
        } else {
            expected_floor
        };
        Self {
            num_symbols: symbols_of_tokens,
            max_token_length: options.max_token_length,
            floor,
            expected_floor,
            min_frequency: options.min_frequency,
            replayed: None,
        }
    }

    /// Want the pairs of these merges alone, until [`Wanted::stop_replay`].
    pub(super) fn replay(&mut self, pairs: &[(Id, Id)]) {
        let keys = pairs.iter();
        let keys = keys.map(|&(left, right)| key(Token::of(left), Token::of(right)));
        self.replayed = Some(keys.collect());
    }

    pub(super) fn stop_replay(&mut self) {
        self.replayed = None;
    }

    /// Lower the floor; false if it cannot be lower.
    pub(super) fn lower_floor(&mut self) -> bool {
        if self.floor == self.min_frequency {
            return false;
        }
        self.floor = if self.floor > self.expected_floor {
            self.expected_floor
        } else {
            (self.floor / 4).max(self.min_frequency)
        };
        true
    }

    /// Add a token that is made of two others.
    pub(super) fn add_token(&mut self, left: Token, right: Token) {
        let [left, right] = [left, right].map(|part| self.num_symbols[part.index()]);
        self.num_symbols.push(left.saturating_add(right));
    }

    /// Whether a pair with this tally is worth keeping.
    #[inline]
    pub(super) fn accepts(&self, (left, right): (Token, Token), tally: Tally) -> bool {
        match &self.replayed {
            Some(replayed) => tally.times > 0 && replayed.contains(&key(left, right)),
            None => tally.weight >= self.floor && self.fits(left, right),
        }
    }

    /// Whether the two may be one token.
    fn fits(&self, left: Token, right: Token) -> bool {
        if left == BOUNDARY || right == BOUNDARY {
            return false;
        }
        let num_symbols = |token: Token| self.num_symbols[token.index()] as usize;
        num_symbols(left) + num_symbols(right) <= self.max_token_length
    }
}
