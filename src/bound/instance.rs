//! What prices are given to: pieces of words, and the strings in them.
//!
//! A string of two symbols or more is priced if it occurs often enough and is not too long; then so
//! is every string in it. Against merges, words are cut where two neighbours are no priced pair, and
//! equal pieces are taken together; against vocabularies a piece is a whole word. At each symbol the
//! priced strings that begin there have the lengths 2, 3, ..., so that all that is known of them lies
//! in one row: the symbol itself first, then its strings.

use super::naming::{self, Level, NONE};
use super::repeats::{self, Repeats};
use super::words::Words;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::watch::Watch;

/// Against what a bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Every list of as many merges: the forest bound.
    Merges,
    /// Every vocabulary of as many strings, segmented as well as possible: the price bound.
    Vocabularies,
}

/// The longest string that may be priced.
pub const LONGEST: usize = 255;

/// As many parts of spans are worth their time: for each symbol, and for small texts. Where more
/// would be needed, the longest strings are not priced.
const CUTS_OF_A_SYMBOL: usize = 40;
const ROOM_FOR_CUTS: usize = 20_000_000;

/// Pieces, and the priced strings in them.
#[derive(Debug)]
pub struct Instance {
    pub(super) against: Against,
    pub(super) num_merges: usize,
    /// Strings that occur at most this often are not priced.
    pub(super) floor: u64,
    /// No longer string is priced.
    pub(super) longest: usize,
    /// Distinct pieces in ascending order.
    pub(super) pieces: Words,
    /// How long each symbol's row is: the length of the longest priced string that begins there.
    pub(super) reach: Vec<u8>,
    /// The rows, one after another: the names of the strings, `NONE` for the symbols.
    pub(super) names: Vec<u32>,
    pub(super) num_strings: usize,
    /// Frequent strings that are longer.
    pub(super) repeats: Repeats,
}

impl Instance {
    /// The strings of `words` that occur more than `floor` times and have at most `longest` symbols.
    pub fn new(
        words: &Words,
        against: Against,
        num_merges: usize,
        floor: u64,
        longest: usize,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Self> {
        let longest = longest.clamp(2, LONGEST);
        let mut instance = Self {
            against,
            num_merges,
            floor,
            longest,
            pieces: Words::default(),
            reach: Vec::new(),
            names: Vec::new(),
            num_strings: 0,
            repeats: Repeats::default(),
        };
        watch.check()?;
        let words = Words::united(
            words
                .iter()
                .filter(|(word, count)| word.len() > 1 && *count > 0),
        );
        instance.pieces = match against {
            Against::Vocabularies => words,
            Against::Merges => cut(&words, floor, num_threads)?,
        };
        if instance.pieces.symbols().len() >= NONE as usize {
            return Err(Error::CorpusTooLarge);
        }
        instance.find_strings(num_threads, watch)?;
        Ok(instance)
    }

    fn find_strings(&mut self, num_threads: usize, watch: &Watch) -> Result<()> {
        let num_symbols = self.pieces.symbols().len();
        self.reach = vec![1; num_symbols];
        // For each length the names of its strings, without gaps.
        let mut lengths: Vec<Vec<u32>> = Vec::new();
        let mut level = naming::symbols(&self.pieces);
        let mut room = CUTS_OF_A_SYMBOL * num_symbols + ROOM_FOR_CUTS;
        for length in 2..=self.longest + 1 {
            watch.check()?;
            level = naming::longer(&self.pieces, &level, self.floor, num_threads)?;
            if level.num_names == 0 {
                break;
            }
            let num_places = level.places.len();
            if length > self.longest || num_places * (length - 1) > room {
                self.longest = length - 1;
                self.repeats = repeats::find(&self.pieces, level, length, self.floor, watch)?;
                break;
            }
            room -= num_places * (length - 1);
            self.add_level(&level, length)?;
            let first = (self.num_strings - level.num_names) as u32;
            lengths.push(level.names.iter().map(|name| first + name).collect());
        }
        self.fill_rows(&lengths);
        Ok(())
    }

    fn add_level(&mut self, level: &Level, length: usize) -> Result<()> {
        self.num_strings += level.num_names;
        if self.num_strings >= NONE as usize {
            return Err(Error::CorpusTooLarge);
        }
        for &place in &level.places {
            self.reach[place as usize] = length as u8;
        }
        Ok(())
    }

    fn fill_rows(&mut self, lengths: &[Vec<u32>]) {
        let num_items = self.reach.iter().map(|&reach| reach as usize).sum();
        self.names = vec![NONE; num_items];
        let mut cursors: Vec<_> = lengths.iter().map(|names| names.iter()).collect();
        let mut start = 0;
        for &reach in &self.reach {
            let reach = reach as usize;
            for (slot, cursor) in self.names[start + 1..start + reach]
                .iter_mut()
                .zip(&mut cursors)
            {
                *slot = cursor.next().copied().unwrap_or(NONE);
            }
            start += reach;
        }
    }

    /// How many prices a certificate has.
    #[must_use]
    pub fn num_prices(&self) -> usize {
        match self.against {
            Against::Merges => self.names.len(),
            Against::Vocabularies => self.reach.len(),
        }
    }

    /// The longest string that is priced has this length at most: what was asked for, or less if
    /// the text has too many long strings.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Longer strings than that, up to this length, cost as much as their symbols.
    #[must_use]
    pub fn counted(&self) -> usize {
        self.repeats.counted.max(self.longest)
    }

    /// Strings that occur more often are priced.
    #[must_use]
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Against merges, what each merge counts as at least: the floor, or how often a string occurs
    /// that is too long to be priced.
    #[must_use]
    pub fn least(&self) -> u64 {
        self.floor.max(self.repeats.too_long)
    }

    /// How many strings are priced.
    #[must_use]
    pub fn num_strings(&self) -> usize {
        self.num_strings
    }

    /// How many merges or strings the bound is for.
    #[must_use]
    pub fn num_merges(&self) -> usize {
        self.num_merges
    }
}

/// The words cut at every pair that is not frequent; pieces of one symbol are left out.
fn cut(words: &Words, floor: u64, num_threads: usize) -> Result<Words> {
    let pairs = naming::longer(words, &naming::symbols(words), floor, num_threads)?;
    let mut is_joined = vec![false; words.symbols().len()];
    for &place in &pairs.places {
        is_joined[place as usize] = true;
    }
    let mut pieces: Vec<(&[Id], u64)> = Vec::new();
    let mut place = 0;
    for (word, count) in words.iter() {
        let mut start = 0;
        for end in 1..=word.len() {
            if !is_joined[place + end - 1] {
                if end - start > 1 {
                    pieces.push((&word[start..end], count));
                }
                start = end;
            }
        }
        place += word.len();
    }
    Ok(Words::united(pieces.into_iter()))
}
