//! Word counts: how often each word occurs in a corpus, and how it was cut into words.
//!
//! Counts add, so any part of a corpus can be counted anywhere and the sums are the same. Counts
//! carry the settings that cut them; counts of different settings cannot be added.

mod file;

use std::num::NonZeroU64;

use rustc_hash::FxHashSet;

use crate::error::{Error, Result};
use crate::keys::{first_bytes, hash_word};
use crate::parallel::Team;
use crate::pattern::Pattern;
use crate::settings::Settings;
use crate::table::{Adder, Table};
use crate::watch::Watch;

/// A thread sums up the bytes of so many words at once.
const AT_ONCE: usize = 1 << 15;

/// How often each word occurs.
///
/// ```
/// use mergewise::WordCounts;
///
/// let mut counts = WordCounts::of(["ab ab"], Some("whitespace"))?;
/// counts.add(b"ab", 4)?;
/// assert_eq!((counts.num_words(), counts.num_unique()), (6, 2));
/// assert_eq!(counts.sorted(), [(&b" ab"[..], 1), (b"ab", 5)]);
/// assert_eq!(counts.pruned(2)?.dropped(), 3);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    pub(crate) settings: Settings,
    table: Table,
    /// How many bytes the words have: below 2^64, so no sum of counts overflows.
    num_bytes: u64,
    dropped: u64,
}

impl WordCounts {
    /// Counts without words.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The counts of a table, whose words were counted one by one.
    pub(crate) fn from_table(settings: Settings, table: Table, team: &Team) -> Result<Self> {
        table.check()?;
        let num_tasks = table.len().div_ceil(AT_ONCE);
        let sums = team.map(num_tasks, |task| {
            let mut words = table.iter_from(task * AT_ONCE).take(AT_ONCE);
            words.try_fold(0, |sum, (word, count)| plus(sum, count, word.len()))
        })?;
        let num_bytes = sums
            .into_iter()
            .try_fold(0, |sum, part| plus(sum, part, 1))?;
        Ok(Self {
            table,
            num_bytes,
            ..Self::new(settings)
        })
    }

    /// How the words were cut.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many different words there are.
    pub fn num_unique(&self) -> usize {
        self.table.len()
    }

    /// How many words there are.
    pub fn num_words(&self) -> u64 {
        self.table.iter().map(|(_, count)| count).sum()
    }

    /// How many bytes the words have.
    pub fn num_bytes(&self) -> u64 {
        self.num_bytes
    }

    /// How many bytes pruning has left out.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Add `count` occurrences of `word`.
    pub fn add(&mut self, word: &[u8], count: u64) -> Result<()> {
        self.num_bytes = plus(self.num_bytes, count, word.len())?;
        if count > 0 && !word.is_empty() {
            self.table.add(word, count);
        }
        self.table.check()
    }

    /// Add the rows of a table, the first of which has the number `first`: words with their counts, or,
    /// where there is no word, a number of bytes that pruning has left out. After an error the counts
    /// are incomplete and must not be used.
    pub fn add_rows<'r>(
        &mut self,
        first: u64,
        rows: impl Iterator<Item = (Option<&'r [u8]>, Option<i64>)>,
    ) -> Result<()> {
        let mut adder = Adder::new(&mut self.table);
        for (row, (word, found)) in (first..).zip(rows) {
            let count = found.and_then(|count| u64::try_from(count).ok());
            let count = count.filter(|&count| count > 0);
            let count = count.ok_or(Error::InvalidCount { row, found })?;
            match word {
                None => self.dropped = plus(self.dropped, count, 1)?,
                Some([]) => {}
                Some(word) => {
                    self.num_bytes = plus(self.num_bytes, count, word.len())?;
                    adder.add_times(word, count);
                }
            }
        }
        adder.finish();
        self.table.check()
    }

    /// Add the counts of `other`, which must have the same settings.
    pub fn add_all(&mut self, other: &Self) -> Result<()> {
        if self.settings != other.settings {
            return Err(Error::SettingsDiffer {
                ours: Box::new(self.settings.clone()),
                theirs: Box::new(other.settings.clone()),
            });
        }
        let num_bytes = plus(self.num_bytes, other.num_bytes, 1)?;
        self.dropped = plus(self.dropped, other.dropped, 1)?;
        self.num_bytes = num_bytes;
        self.table.add_table(&other.table);
        self.table.check()
    }

    /// The words that occur at least `min_count` times.
    pub fn pruned(&self, min_count: u64) -> Result<Self> {
        let mut kept = Self::new(self.settings.clone());
        for (word, count) in self.table.iter().filter(|&(_, count)| count >= min_count) {
            kept.add(word, count)?;
        }
        let left_out = self.num_bytes - kept.num_bytes;
        kept.dropped = plus(self.dropped, left_out, 1)?;
        Ok(kept)
    }

    /// The counts of the words into which another pattern cuts each word, taken as a document.
    pub fn cut(&self, pattern: &Pattern, watch: &Watch) -> Result<Self> {
        let mut counts = Self::new(Settings {
            pattern: pattern.spec().map(str::to_owned),
            normalization: self.settings.normalization,
        });
        for (document, count) in self.iter() {
            watch.check()?;
            let mut added = Ok(());
            pattern.for_each_word(document, watch, |start, end| {
                let word = counts.add(&document[start..end], count);
                added = added.clone().and(word);
            })?;
            added?;
        }
        Ok(counts)
    }

    /// The code points in the words, each once.
    pub fn characters(&self) -> Result<FxHashSet<char>> {
        let mut characters = FxHashSet::default();
        for (word, _) in self.iter() {
            let word = std::str::from_utf8(word).map_err(|_| Error::NotText {
                word: word.to_vec(),
            })?;
            characters.extend(word.chars());
        }
        Ok(characters)
    }

    /// The words with their counts, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter()
    }

    /// The same without the first `first` words.
    pub fn iter_from(&self, first: usize) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter_from(first)
    }

    /// The words with their counts, the most frequent first.
    pub fn by_count(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.by_count()
    }

    /// The words with their counts, in ascending order of their bytes.
    pub fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut words: Vec<_> = self.iter().collect();
        words.sort_by_cached_key(|&(word, _)| (first_bytes(word), word));
        words
    }
}

/// The part, below `num_parts`, that a word belongs to: the same on every machine. The parts of many
/// words are about equally large.
pub fn part_of(word: &[u8], num_parts: NonZeroU64) -> usize {
    // The high bits, as the table of the words of one part uses the low ones.
    let scaled = u128::from(hash_word(word)) * u128::from(num_parts.get());
    (scaled >> 64) as usize
}

/// `sum + count * length`, or an error if that is 2^64 or more.
fn plus(sum: u64, count: u64, length: usize) -> Result<u64> {
    let added = count.checked_mul(length as u64);
    let sum = added.and_then(|added| sum.checked_add(added));
    sum.ok_or(Error::CountsTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_team;

    const HALF: u64 = 1 << 63;

    #[test]
    fn sums_of_two_to_the_64_bytes_or_more_are_refused() {
        let mut counts = WordCounts::default();
        assert_eq!(counts.add(b"ab", HALF), Err(Error::CountsTooLarge));
        assert_eq!(counts.add(b"a", HALF), Ok(()));
        assert_eq!(counts.clone().add_all(&counts), Err(Error::CountsTooLarge));
        assert_eq!(counts.add(b"b", HALF), Err(Error::CountsTooLarge));
        assert_eq!(counts.add(b"b", HALF - 1), Ok(()));
        assert_eq!(counts.num_words(), u64::MAX);
        let row = (Some(&b"c"[..]), Some(1));
        assert_eq!(
            counts.add_rows(0, [row].into_iter()),
            Err(Error::CountsTooLarge)
        );
    }

    #[test]
    fn a_table_whose_bytes_do_not_fit_is_refused() {
        let mut table = Table::default();
        table.add(b"ab", HALF);
        let counts = with_team(1, |team| {
            WordCounts::from_table(Settings::default(), table, team)
        });
        assert_eq!(counts.map(drop), Err(Error::CountsTooLarge));
    }
}
