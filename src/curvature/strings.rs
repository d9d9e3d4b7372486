//! Which strings an enumeration walks through, how they are divided into units of work, and a string
//! that grows and shrinks letter by letter, with the counts of its pairs.

use super::columns::Columns;

/// The length of the longest strings of an enumeration.
pub const MAX_WALK_LENGTH: usize = 24;
/// The size of the largest alphabet of an enumeration.
pub const MAX_WALK_LETTERS: usize = 8;
/// The largest number of merges of an enumeration.
pub const MAX_WALK_MERGES: usize = 8;

/// More than any count of a pair.
pub(super) const MAX_COUNT: usize = MAX_WALK_LENGTH + 1;
const MAX_PAIRS: usize = MAX_WALK_LETTERS * MAX_WALK_LETTERS;

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
    pub fn units(&self) -> Vec<Vec<u8>> {
        let mut prefixes = vec![vec![]];
        for done in 0..self.length.saturating_sub(6).min(8) {
            let longer = prefixes.iter().flat_map(|prefix: &Vec<u8>| {
                let letters = self.next_letters(done, num_letters_of(prefix));
                letters.map(move |letter| [&prefix[..], &[letter]].concat())
            });
            prefixes = longer.collect();
        }
        prefixes
    }

    /// The number of strings that begin with a prefix.
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
        let is_possible = move |&letter: &usize| {
            let needed = self.num_letters - num_letters.max(letter + 1);
            needed < self.length - length
        };
        let letters = 0..self.num_letters.min(num_letters + 1);
        letters.filter(is_possible).map(|letter| letter as u8)
    }
}

/// The number of letters of a string whose letters are numbered by first occurrence.
pub(super) fn num_letters_of(string: &[u8]) -> usize {
    let letters = string.iter().map(|&letter| usize::from(letter) + 1);
    letters.max().unwrap_or(0)
}

/// What is known of all pairs together.
#[derive(Clone, Copy, Default)]
pub(super) struct Summary {
    /// The length of the run of equal letters at the end.
    run: u8,
    /// The number of times that the most frequent pair can be replaced.
    pub(super) largest: u8,
    /// The number of times that the most frequent pair occurs, overlaps included.
    most_occurrences: u8,
    pub(super) num_letters: u8,
}

/// A string and the counts of its pairs.
pub(super) struct CountedString {
    pub(super) letters: Vec<u8>,
    /// The number of times that each pair can be replaced.
    count: [u8; MAX_PAIRS],
    /// The number of times that each pair occurs, overlaps included.
    occurrences: [u8; MAX_PAIRS],
    /// The number of pairs that occur 0, 1, 2, ... times.
    histogram: [u8; MAX_COUNT],
}

impl Default for CountedString {
    fn default() -> Self {
        Self {
            letters: Vec::new(),
            count: [0; MAX_PAIRS],
            occurrences: [0; MAX_PAIRS],
            histogram: [0; MAX_COUNT],
        }
    }
}

impl CountedString {
    /// Append a letter to a string of which `before` is known.
    pub(super) fn push(&mut self, before: Summary, letter: u8) -> Summary {
        let mut after = before;
        after.num_letters = before.num_letters.max(letter + 1);
        after.run = 1;
        if let Some(&last) = self.letters.last() {
            let key = pair_key(last, letter);
            if last == letter {
                after.run = before.run + 1;
            }
            let old = self.occurrences[key];
            self.occurrences[key] = old + 1;
            // The number of pairs that occur 0 times is never read, and wraps.
            self.histogram[usize::from(old)] = self.histogram[usize::from(old)].wrapping_sub(1);
            self.histogram[usize::from(old) + 1] += 1;
            self.count[key] += u8::from(last != letter || after.run.is_multiple_of(2));
            after.largest = before.largest.max(self.count[key]);
            after.most_occurrences = before.most_occurrences.max(old + 1);
        }
        self.letters.push(letter);
        after
    }

    /// Remove the last letter of a string of which `summary` is known.
    pub(super) fn pop(&mut self, summary: Summary) {
        let letter = self.letters.pop();
        if let (Some(&last), Some(letter)) = (self.letters.last(), letter) {
            let key = pair_key(last, letter);
            let new = usize::from(self.occurrences[key]);
            self.occurrences[key] -= 1;
            self.histogram[new] -= 1;
            self.histogram[new - 1] = self.histogram[new - 1].wrapping_add(1);
            self.count[key] -= u8::from(last != letter || summary.run.is_multiple_of(2));
        }
    }

    /// The sums of the largest 1, 2, ..., `num_sums` numbers of occurrences.
    pub(super) fn bounds(&self, summary: Summary, num_sums: usize) -> [u8; MAX_WALK_MERGES] {
        let mut sums = [0; MAX_WALK_MERGES];
        let (mut sum, mut taken) = (0, 0);
        let mut occurrences = usize::from(summary.most_occurrences);
        while occurrences > 0 && taken < num_sums {
            let number = usize::from(self.histogram[occurrences]).min(num_sums - taken);
            for to in &mut sums[taken..taken + number] {
                sum += occurrences as u8;
                *to = sum;
            }
            taken += number;
            occurrences -= 1;
        }
        for to in &mut sums[taken..] {
            *to = sum;
        }
        sums
    }

    /// The number of times that the pair at `i` can be replaced.
    pub(super) fn count_at(&self, i: usize) -> i32 {
        i32::from(self.count[pair_key(self.letters[i], self.letters[i + 1])])
    }

    /// The places of the pairs that can be replaced once; in aaa it is the first.
    pub(super) fn single_pairs(&self) -> impl Iterator<Item = usize> + '_ {
        let letters = &self.letters;
        let is_second =
            |at: usize| at > 0 && letters[at] == letters[at - 1] && letters[at] == letters[at + 1];
        (0..letters.len() - 1).filter(move |&at| self.count_at(at) == 1 && !is_second(at))
    }
}

fn pair_key(left: u8, right: u8) -> usize {
    usize::from(left) * MAX_WALK_LETTERS + usize::from(right)
}
