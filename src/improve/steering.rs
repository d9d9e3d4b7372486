//! What a token must save to be worth its place, such that the list stays near its length, and how much worse
//! a move may make the list.

/// Temperatures, in prices of a token: with this number of moves for each token, the search begins
/// at the hottest of its pace; with fewer it begins cooler.
const MOVES_TO_COOL: f64 = 300.0;
const COOLEST: f64 = 0.02;
/// Short lists, whose tokens cost much, never begin hotter than their length over this.
const LEN_OF_HOT: f64 = 500.0;
/// The temperature before the last part of the search.
const COLD: f64 = 0.003;
/// Where the last part begins, which accepts no change for the worse.
const FROZEN: f64 = 0.95;
/// With too many tokens by one part in this, the price is multiplied by e, the largest factor.
const STIFFNESS: f64 = 25.0;
/// In short lists the largest factor takes this number of tokens too many.
const SLACK: f64 = 20.0;
/// The part by which the price follows in a move.
const LEARNING: f64 = 0.001 / 64.0;

/// The price of a token, such that the number of tokens stays near the wanted one.
pub(super) struct Steering {
    /// The price at the wanted number of tokens.
    base: f64,
    len: f64,
    stiffness: f64,
    /// The highest temperature.
    hottest: f64,
}

impl Steering {
    pub(super) fn new(price: f64, len: usize, hottest: f64) -> Self {
        Self {
            base: price.max(1.0),
            len: len as f64,
            stiffness: STIFFNESS.min(len as f64 / SLACK),
            hottest: hottest.min(len as f64 / LEN_OF_HOT),
        }
    }

    /// The logarithm of the factor of the price when there are `len` tokens.
    fn pull(&self, len: usize) -> f64 {
        let excess = (len as f64 - self.len) / self.len;
        (self.stiffness * excess).clamp(-1.0, 1.0)
    }

    /// The price when there are `len` tokens.
    pub(super) fn price(&self, len: usize) -> f64 {
        self.base * self.pull(len).exp()
    }

    /// Follow the number of tokens, `len` after `num_moves` more moves.
    pub(super) fn learn(&mut self, len: usize, num_moves: u64) {
        let part = LEARNING * num_moves as f64;
        self.base = (self.base * (1.0 + part * self.pull(len))).max(1.0);
    }

    /// The temperature, in prices, when a part of the search and `num_moves` moves are done.
    pub(super) fn temperature(&self, part_done: f64, num_moves: u64) -> f64 {
        if part_done >= FROZEN {
            return 0.0;
        }
        let moves_of_token = num_moves as f64 / part_done.max(1e-9) / self.len;
        let hot = moves_of_token / MOVES_TO_COOL;
        let hot = hot.min(self.hottest).max(COOLEST);
        hot * (COLD / hot).powf(part_done / FROZEN)
    }
}
