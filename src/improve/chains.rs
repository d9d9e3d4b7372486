//! Short lists are searched for several times, from the beginning.
//!
//! From some thousand moves for each merge on a search hardly gets better by cooling more slowly, but where
//! it ends differs from seed to seed; so the best of several is kept. Those after the first are shorter
//! and cooler if they begin with a list that is good already but for its order.

use std::time::{Duration, Instant};

use super::ImproveOptions;

/// Longer lists are searched for once.
const SHORT: usize = 300;
/// The number of moves of a search, for each merge.
const MOVES_OF_A_MERGE: u64 = 4000;
/// Until a deadline there is another search if this part of the time of the first is left.
const WORTH_ANOTHER: u32 = 8;
/// Of the moves or the time of a search, a shorter one takes one part of so many.
const SHORTER: u32 = 4;
/// The highest temperature of a search, and of a shorter one, in prices of a token.
const HOTTEST: f64 = 1.0;
const COOL: f64 = 0.05;
/// The seeds of two searches differ by a multiple of this.
const BETWEEN_SEEDS: u64 = 0xA076_1D64_78BD_642F;

/// The limits of one search, which cools as the first of them comes near.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    pub(super) seed: u64,
    pub(super) num_moves: Option<u64>,
    pub(super) deadline: Option<Instant>,
    /// The highest temperature, in prices of a token.
    pub(super) hottest: f64,
}

impl Pace {
    /// The part of the search that is done after `num_moves` moves; 1 or more: all of it.
    pub(super) fn part_done(&self, num_moves: u64, started: Instant) -> f64 {
        let by_moves = match self.num_moves {
            Some(all) if num_moves < all => num_moves as f64 / all as f64,
            Some(_) => 1.0,
            None => 0.0,
        };
        let by_time = self.deadline.map_or(0.0, |deadline| {
            let all = deadline.saturating_duration_since(started).as_secs_f64();
            started.elapsed().as_secs_f64() / all.max(1e-9)
        });
        by_moves.max(by_time)
    }

    /// Whether its deadline has passed.
    pub(super) fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The paces of all searches.
#[derive(Debug)]
pub(super) struct Chains {
    /// Of the next; its moves are those of all that are left, if there is a number of moves.
    next: Pace,
    /// How many are left, if there is a number of moves.
    left: Option<u64>,
    /// The number of moves of the first until a deadline; None: there is only one search.
    usual: Option<u64>,
    /// When the first began, and how long it took, or one as long as the next.
    begun: Option<Instant>,
    took: Option<Duration>,
}

impl Chains {
    pub(super) fn new(options: &ImproveOptions, len: usize) -> Self {
        let usual = MOVES_OF_A_MERGE.saturating_mul(len as u64).max(1);
        let is_short = len <= SHORT;
        let in_all = |moves: u64| if is_short { (moves / usual).max(1) } else { 1 };
        Self {
            next: Pace {
                seed: options.seed,
                num_moves: options.num_moves,
                // With a number of moves the result must not depend on the time.
                deadline: options.deadline.filter(|_| options.num_moves.is_none()),
                hottest: HOTTEST,
            },
            left: options.num_moves.map(in_all),
            usual: (is_short && options.deadline.is_some()).then_some(usual),
            begun: None,
            took: None,
        }
    }

    /// Whether there is another search, after the first.
    pub(super) fn are_more(&self) -> bool {
        match self.left {
            Some(left) => left > 0,
            None => self.usual.is_some(),
        }
    }

    /// Make the searches that are left shorter, and the more, and cooler; after the first, which ends now.
    pub(super) fn shorten(&mut self) {
        self.shorten_at(Instant::now());
    }

    fn shorten_at(&mut self, now: Instant) {
        self.left = self.left.map(|left| left * u64::from(SHORTER));
        self.took = self.begun.map(|begun| (now - begun) / SHORTER);
        self.next.hottest = COOL;
    }

    /// The pace of a search that begins now.
    fn next_at(&mut self, now: Instant) -> Option<Pace> {
        let mut pace = self.next.clone();
        match (self.left, self.begun) {
            (Some(left), _) => {
                let rest = self.next.num_moves.unwrap_or(0);
                let part = rest.checked_div(left)?;
                self.left = Some(left - 1);
                pace.num_moves = Some(part);
                self.next.num_moves = Some(rest - part);
            }
            (None, None) => pace.num_moves = self.usual,
            (None, Some(begun)) => {
                self.usual?;
                let took = *self.took.get_or_insert(now - begun);
                let rest = self.next.deadline?.saturating_duration_since(now);
                if rest <= took / WORTH_ANOTHER {
                    return None;
                }
                // Those that are left share the time that is left, and each takes about as long.
                let num_left = rest.as_secs_f64() / took.as_secs_f64().max(1e-9);
                pace.deadline = Some(now + rest.div_f64(num_left.round().max(1.0)));
            }
        }
        self.next.seed = self.next.seed.wrapping_add(BETWEEN_SEEDS);
        self.begun.get_or_insert(now);
        Some(pace)
    }
}

impl Iterator for Chains {
    type Item = Pace;

    fn next(&mut self) -> Option<Pace> {
        self.next_at(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn options(num_moves: Option<u64>, seconds: Option<u64>) -> ImproveOptions {
        ImproveOptions {
            seed: 5,
            num_moves,
            deadline: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
            num_threads: 1,
            max_token_length: 8,
            true_counts: false,
        }
    }

    #[test]
    fn all_moves_are_made_once() {
        for (len, all, expected) in [
            (10, 0, vec![0]),
            (10, 79_999, vec![79_999]),
            (10, 140_000, vec![46_666, 46_667, 46_667]),
            (SHORT + 1, 9_000_000, vec![9_000_000]),
        ] {
            let chains: Vec<Pace> = Chains::new(&options(Some(all), None), len).collect();
            let moves: Vec<u64> = chains.iter().filter_map(|chain| chain.num_moves).collect();
            assert_eq!(moves, expected);
            let mut seeds: Vec<u64> = chains.iter().map(|chain| chain.seed).collect();
            assert_eq!(seeds[0], 5);
            seeds.dedup();
            assert_eq!(seeds.len(), chains.len());
        }
    }

    /// Searches for ten merges until a deadline.
    fn chains_until(deadline: Instant) -> Chains {
        let until = ImproveOptions {
            deadline: Some(deadline),
            ..options(None, None)
        };
        Chains::new(&until, 10)
    }

    #[test]
    fn those_after_the_first_may_be_shorter_and_cooler() {
        let mut chains = Chains::new(&options(Some(140_000), None), 10);
        assert_eq!(chains.next().and_then(|pace| pace.num_moves), Some(46_666));
        assert!(chains.are_more());
        chains.shorten();
        let others: Vec<Pace> = chains.by_ref().collect();
        let moves: Vec<u64> = others.iter().filter_map(|pace| pace.num_moves).collect();
        assert_eq!((moves.len(), moves.iter().sum()), (8, 140_000_u64 - 46_666));
        assert!(others.iter().all(|pace| pace.hottest < HOTTEST));
        assert!(!chains.are_more());

        let begin = Instant::now();
        let at = |second: u64| begin + Duration::from_secs(second);
        let mut chains = chains_until(at(1000));
        assert!(chains.next_at(at(0)).is_some());
        // The first takes 280 s, a shorter one 70: ten fit.
        chains.shorten_at(at(280));
        let second = chains.next_at(at(300)).expect("there is time");
        assert_eq!(second.deadline, Some(at(370)));
        let last = chains.next_at(at(930)).expect("there is time");
        assert_eq!(last.deadline, Some(at(1000)));
        assert!(chains.next_at(at(995)).is_none());
    }

    #[test]
    fn until_a_deadline_there_are_more_while_there_is_time() {
        let begin = Instant::now();
        let at = |second: u64| begin + Duration::from_secs(second);
        let mut chains = chains_until(at(1000));
        // The first takes 300 s: then there is time for two more, a little longer.
        for (second, num_moves, deadline) in
            [(0, Some(40_000), 1000), (300, None, 650), (650, None, 1000)]
        {
            let pace = chains.next_at(at(second)).expect("there is time");
            assert_eq!(pace.num_moves, num_moves);
            assert_eq!(pace.deadline, Some(at(deadline)));
        }
        assert!(chains.next_at(at(1000)).is_none());
        assert!(chains.next_at(at(965)).is_none());
        let mut late = Chains::new(&options(None, Some(0)), 10);
        assert!(late.next().is_some());
        let mut one = Chains::new(&options(None, Some(1000)), SHORT + 1);
        assert_eq!(one.next().map(|chain| chain.num_moves), Some(None));
        assert!(one.next().is_none());
        let mut endless = Chains::new(&options(None, None), 10);
        assert_eq!(endless.next().map(|chain| chain.num_moves), Some(None));
        assert!(endless.next().is_none());
    }
}
