//! Words as symbols, each with its count.

use crate::counts::WordCounts;
use crate::error::Result;
use crate::merges::{Alphabet, Id};
use crate::watch::Watch;

/// Words as symbols, one after another, each with its count.
#[derive(Debug, Clone, Default)]
pub struct Words {
    pub(super) symbols: Vec<Id>,
    pub(super) ends: Vec<usize>,
    pub(super) counts: Vec<u64>,
}

impl Words {
    /// The words of `counts` as symbols of an alphabet, in ascending order of their bytes.
    pub fn of(counts: &WordCounts, alphabet: &Alphabet, watch: &Watch) -> Result<Self> {
        let mut words = Self::default();
        watch.check()?;
        for (index, (word, count)) in counts.sorted().into_iter().enumerate() {
            if index % (1 << 16) == 0 {
                watch.check()?;
            }
            alphabet.extend_symbols(word, &mut words.symbols)?;
            words.ends.push(words.symbols.len());
            words.counts.push(count);
        }
        Ok(words)
    }

    /// Append a word.
    pub fn push(&mut self, word: &[Id], count: u64) {
        self.symbols.extend_from_slice(word);
        self.ends.push(self.symbols.len());
        self.counts.push(count);
    }

    /// The words, each with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&[Id], u64)> {
        let mut start = 0;
        self.ends
            .iter()
            .zip(&self.counts)
            .map(move |(&end, &count)| {
                let word = &self.symbols[start..end];
                start = end;
                (word, count)
            })
    }

    /// The same words, equal ones added up, in ascending order of their symbols.
    pub(super) fn united<'a>(words: impl Iterator<Item = (&'a [Id], u64)>) -> Self {
        let mut sorted: Vec<(&[Id], u64)> = words.collect();
        if !sorted.is_sorted() {
            sorted.sort_unstable();
        }
        let mut united = Self::default();
        let mut last: Option<&[Id]> = None;
        for (word, count) in sorted {
            match united.counts.last_mut() {
                Some(total) if last == Some(word) => *total = total.saturating_add(count),
                _ => united.push(word, count),
            }
            last = Some(word);
        }
        united
    }
}
