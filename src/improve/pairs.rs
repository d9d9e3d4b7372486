//! Counting the pairs of adjacent tokens in all words.
//!
//! Each thread counts those of some of the words, in one table for each thread; then each adds up some of
//! the tables. Sums do not depend on which thread adds what.

use std::ops::Range;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::corpus::Word;
use super::derivation::Derived;
use super::list::{NEVER, pair_key};
use super::state::{State, largest_first};
use crate::error::Result;
use crate::keys::hash_pair;
use crate::merges::Id;
use crate::parallel::{Team, lock};
use crate::watch::Watch;

/// The number of words between two checks for interruption.
const WORDS_BETWEEN_CHECKS: usize = 4096;

type Pairs = FxHashMap<(Id, Id), u64>;

impl State<'_> {
    /// The pairs of adjacent tokens that weigh at least `least` with the sums of their weights, the
    /// largest first.
    pub(super) fn count_pairs(
        &self,
        least: f64,
        team: &Team,
        watch: &Watch,
    ) -> Result<Vec<((Id, Id), u64)>> {
        let num_threads = team.num_threads();
        let share = self.corpus.num_words().div_ceil(num_threads) as Word;
        let tables = team.map(num_threads, |index| {
            let words = self.corpus.words();
            let start = words.end.min(share * index as Word);
            let end = words.end.min(start + share);
            let tables = self.count_pairs_of(start..end, num_threads, watch)?;
            Ok(tables.into_iter().map(Mutex::new).collect::<Vec<_>>())
        })?;
        let pairs = team.map(num_threads, |index| {
            let mut of_others = tables
                .iter()
                .map(|tables| std::mem::take(&mut *lock(&tables[index])));
            let mut sums = of_others.next().unwrap_or_default();
            for (pair, weight) in of_others.flatten() {
                *sums.entry(pair).or_default() += weight;
            }
            sums.retain(|_, weight| *weight as f64 >= least);
            Ok(sums)
        })?;
        Ok(largest_first(pairs.into_iter().flatten()))
    }

    /// The pairs in some words, in `num_tables` tables by their hashes.
    fn count_pairs_of(
        &self,
        words: Range<Word>,
        num_tables: usize,
        watch: &Watch,
    ) -> Result<Vec<Pairs>> {
        let mut tables = vec![Pairs::default(); num_tables];
        let mut derived = Derived::default();
        for (number, word) in words.enumerate() {
            if number.is_multiple_of(WORDS_BETWEEN_CHECKS) {
                watch.check()?;
            }
            let erasers = self.derivations.of(self.corpus, word);
            derived.begin(&self.list, self.corpus.word(word), erasers, NEVER);
            for pair in derived.tokens.windows(2) {
                let table = hash_pair(pair_key(pair[0], pair[1])) % num_tables;
                let sum = tables[table].entry((pair[0], pair[1])).or_default();
                *sum += self.corpus.weight_of(word);
            }
        }
        Ok(tables)
    }

    /// What one more token would save; None if no two tokens are adjacent.
    pub(super) fn price(&self, team: &Team, watch: &Watch) -> Result<Option<u64>> {
        let pairs = self.count_pairs(0.0, team, watch)?;
        Ok(pairs.first().map(|&(_, weight)| weight))
    }
}
