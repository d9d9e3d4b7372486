//! Which strings an enumeration walks through, and how they are divided into units of work.

use super::columns::Columns;

/// The length of the longest strings of an enumeration.
pub const MAX_WALK_LENGTH: usize = 24;
/// The size of the largest alphabet of an enumeration.
pub const MAX_WALK_LETTERS: usize = 8;
/// The largest number of merges of an enumeration.
pub const MAX_WALK_MERGES: usize = 8;

/// The strings of an enumeration, and what is measured of them.
#[derive(Debug, Clone, Copy)]
pub struct WalkOptions {
    /// The length of the strings; at most [`MAX_WALK_LENGTH`].
    pub length: usize,
    /// The exact number of letters of each string; at most [`MAX_WALK_LETTERS`].
    pub num_letters: usize,
    /// Every number of merges up to this is measured; at most [`MAX_WALK_MERGES`].
    pub max_merges: usize,
    /// The columns to measure.
    pub columns: Columns,
    /// Whether strings that cannot exceed the records are left out. If not, all are measured.
    pub is_pruned: bool,
}

impl WalkOptions {
    /// The prefixes that divide the strings into units of work, in order.
    #[must_use]
    pub fn units(&self) -> Vec<Vec<u8>> {
        self.prefixes(self.length.saturating_sub(6).min(8))
    }

    /// The number of strings that begin with a prefix.
    #[must_use]
    pub fn num_strings(&self, prefix: &[u8]) -> u64 {
        self.num_completions(prefix.len(), num_letters_of(prefix))
    }

    /// The number of strings that begin with one prefix of this length and number of letters. The
    /// largest is the Stirling number S(24, 8), below 2^57.
    fn num_completions(&self, length: usize, num_letters: usize) -> u64 {
        if length == self.length {
            return u64::from(num_letters == self.num_letters);
        }
        if self.num_letters > num_letters + self.length - length {
            return 0;
        }
        let old = num_letters as u64 * self.num_completions(length + 1, num_letters);
        old + if num_letters < self.num_letters {
            self.num_completions(length + 1, num_letters + 1)
        } else {
            0
        }
    }

    /// The letters that can follow a prefix of `length` symbols and `num_letters` letters.
    pub(super) fn next_letters(
        self,
        length: usize,
        num_letters: usize,
    ) -> impl Iterator<Item = u8> {
        let letters = 0..self.num_letters.min(num_letters + 1);
        letters
            .filter(move |&letter| {
                let needed = self.num_letters - num_letters.max(letter + 1);
                needed < self.length - length
            })
            .map(|letter| letter as u8)
    }

    /// The prefixes of `length` symbols that some string has, in order.
    fn prefixes(&self, length: usize) -> Vec<Vec<u8>> {
        let mut prefixes = vec![vec![]];
        for done in 0..length {
            let longer = prefixes.iter().flat_map(|prefix: &Vec<u8>| {
                let letters = self.next_letters(done, num_letters_of(prefix));
                letters.map(move |letter| [&prefix[..], &[letter]].concat())
            });
            prefixes = longer.collect();
        }
        prefixes
    }
}

/// The number of letters of a string whose letters are numbered by first occurrence.
pub(super) fn num_letters_of(string: &[u8]) -> usize {
    let letters = string.iter().map(|&letter| usize::from(letter) + 1);
    letters.max().unwrap_or(0)
}
