//! The words as the search sees them: the frequent ones first, where each string occurs, and a sample
//! of the words for cheap estimates.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::merges::{Alphabet, Id};
use crate::watch::Watch;

/// Words with more symbols are left out of the search; they count again when its result is judged.
const LONGEST_WORD: usize = 250;
/// The weight of a word for each time that it was seen: weights are counted in quarters.
pub(super) const ONCE: u64 = 4;
/// The most that [`Corpus::add_to_weights`] adds.
pub(super) const MOST_EXTRA: u64 = 3 * ONCE / 2;
/// Places are 32 bits wide.
const MOST_SYMBOLS: usize = u32::MAX as usize - 1;
/// All symbols weigh less than this, so that no sum of weights, nor twice one, overflows as a signed
/// number.
const MOST_WEIGHT: u64 = 1 << 62;
/// The number of words or places between two checks for interruption.
const BETWEEN_CHECKS: usize = 1 << 16;
/// The frequent words, which are always sampled, make up this part of the corpus.
const FREQUENT_SHARE: f64 = 0.8;
/// Of the other words, one in this number is sampled.
const SAMPLED_ONE_IN: u32 = 16;
/// The number of blocks in which they lie, spread over frequent and rare words.
const NUM_BLOCKS: u32 = 32;

/// The number of a word; frequent words have small ones.
pub(super) type Word = u32;
/// The place of a symbol among those of all words.
pub(super) type Place = u32;

/// Words of at least two symbols, in the order of their counts, and all their suffixes in order.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    symbols: Vec<Id>,
    /// Where each word begins, and where the last one ends.
    starts: Vec<u32>,
    /// The weight of each word: `ONCE` for each time it was seen, and `extra`.
    weights: Vec<u64>,
    extra: u64,
    /// The word of each symbol.
    word_at: Vec<Word>,
    /// Places, in the order of the symbols from there to the end of the word.
    suffixes: Vec<Place>,
    /// The sums of the weights of the suffixes before each, and of all.
    sums: Vec<u64>,
}

impl Corpus {
    /// The words of `counts` that can be searched; the rarest are left out if there are too many.
    pub(super) fn new(counts: &WordCounts, alphabet: &Alphabet, watch: &Watch) -> Result<Self> {
        let mut corpus = Self::default();
        let mut word = Vec::new();
        corpus.starts.push(0);
        let mut by_count = counts.sorted();
        watch.check()?;
        by_count.sort_by_key(|&(_, count)| Reverse(count));
        let mut total = 0;
        for (index, (bytes, count)) in by_count.into_iter().enumerate() {
            if index.is_multiple_of(BETWEEN_CHECKS) {
                watch.check()?;
            }
            word.clear();
            alphabet.extend_symbols(bytes, &mut word)?;
            let fits = corpus.symbols.len() + word.len() <= MOST_SYMBOLS;
            if (2..=LONGEST_WORD).contains(&word.len()) && fits {
                total += word.len() as u128
                    * (u128::from(count) * u128::from(ONCE) + u128::from(MOST_EXTRA));
                if total > u128::from(MOST_WEIGHT) {
                    return Err(Error::CountsTooLarge);
                }
                let number = corpus.num_words() as Word;
                corpus.symbols.extend_from_slice(&word);
                corpus.word_at.resize(corpus.symbols.len(), number);
                corpus.starts.push(corpus.symbols.len() as Place);
                corpus.weights.push(count * ONCE);
            }
        }
        watch.check()?;
        corpus.suffixes = sorted_suffixes(&corpus, alphabet.len(), watch)?;
        corpus.sum_up(watch)?;
        Ok(corpus)
    }

    fn sum_up(&mut self, watch: &Watch) -> Result<()> {
        let mut sum = 0;
        self.sums.clear();
        self.sums.push(sum);
        for (index, &place) in self.suffixes.iter().enumerate() {
            if index.is_multiple_of(BETWEEN_CHECKS) {
                watch.check()?;
            }
            sum += self.weights[self.word_at[place as usize] as usize];
            self.sums.push(sum);
        }
        Ok(())
    }

    /// Add `extra`, at most [`MOST_EXTRA`], to the weight of each word.
    pub(super) fn add_to_weights(&mut self, extra: u64, watch: &Watch) -> Result<()> {
        for weight in &mut self.weights {
            *weight += extra;
        }
        self.extra += extra;
        self.sum_up(watch)
    }

    pub(super) fn num_words(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The numbers of all words.
    pub(super) fn words(&self) -> Range<Word> {
        0..self.num_words() as Word
    }

    /// The places of the symbols of a word.
    pub(super) fn range(&self, word: Word) -> Range<usize> {
        self.starts[word as usize] as usize..self.starts[word as usize + 1] as usize
    }

    /// The symbols of a word.
    pub(super) fn word(&self, word: Word) -> &[Id] {
        &self.symbols[self.range(word)]
    }

    /// The number of times a word was seen.
    pub(super) fn count(&self, word: Word) -> u64 {
        (self.weight_of(word) - self.extra) / ONCE
    }

    pub(super) fn weight_of(&self, word: Word) -> u64 {
        self.weights[word as usize]
    }

    pub(super) fn word_at(&self, place: Place) -> Word {
        self.word_at[place as usize]
    }

    /// The places where a string occurs, in ascending order: in the frequent words first.
    pub(super) fn places(&self, string: &[Id]) -> Vec<Place> {
        let mut places = self.suffixes[self.suffixes_with(string)].to_vec();
        places.sort_unstable();
        places
    }

    /// The sum of the weights of the places where a string occurs, overlaps included.
    pub(super) fn weight(&self, string: &[Id]) -> u64 {
        let suffixes = self.suffixes_with(string);
        self.sums[suffixes.end] - self.sums[suffixes.start]
    }

    /// The suffixes that begin with a string.
    fn suffixes_with(&self, string: &[Id]) -> Range<usize> {
        let begins_below = |order: Ordering| {
            move |&place: &Place| self.beginning(place, string.len()).cmp(string) < order
        };
        let from = self.suffixes.partition_point(begins_below(Ordering::Equal));
        let len = self.suffixes[from..].partition_point(begins_below(Ordering::Greater));
        from..from + len
    }

    /// At most `len` symbols from a place on, to the end of the word.
    fn beginning(&self, place: Place, len: usize) -> &[Id] {
        let end = self.starts[self.word_at(place) as usize + 1] as usize;
        let start = place as usize;
        &self.symbols[start..end.min(start.saturating_add(len))]
    }
}

/// All places, sorted by the suffixes of words that begin there.
fn sorted_suffixes(corpus: &Corpus, num_symbols: usize, watch: &Watch) -> Result<Vec<Place>> {
    let bits = (num_symbols + 1).ilog2() + 1;
    let packed = (u64::BITS / bits) as usize;
    // The first symbols in one number, 0 for the end of the word, decide nearly all comparisons.
    let key = |place: Place| {
        let beginning = corpus.beginning(place, packed);
        let ends = std::iter::repeat_n(0, packed - beginning.len());
        let symbols = beginning.iter().map(|&symbol| u64::from(symbol) + 1);
        let numbers = symbols.chain(ends);
        numbers.fold(0, |key, symbol| key << bits | symbol)
    };
    let mut with_first: Vec<Vec<(u64, Place)>> = vec![Vec::new(); num_symbols];
    for (place, &symbol) in (0..).zip(&corpus.symbols) {
        if (place as usize).is_multiple_of(BETWEEN_CHECKS) {
            watch.check()?;
        }
        with_first[symbol as usize].push((key(place), place));
    }
    let mut suffixes = Vec::with_capacity(corpus.num_symbols());
    for mut keyed in with_first {
        watch.check()?;
        keyed.sort_unstable();
        for equal in keyed.chunk_by_mut(|a, b| a.0 == b.0) {
            if equal.len() > 1 && equal[0].0 & ((1 << bits) - 1) != 0 {
                let whole = |place: Place| corpus.beginning(place, usize::MAX);
                equal.sort_unstable_by(|a, b| whole(a.1).cmp(whole(b.1)));
            }
        }
        suffixes.extend(keyed.into_iter().map(|(_, place)| place));
    }
    Ok(suffixes)
}

/// The most frequent words and some blocks of others.
#[derive(Debug)]
pub(super) struct Sample {
    num_frequent: u32,
    /// The places of its words.
    pub(super) spans: Vec<Range<Place>>,
    /// The number of words that each sampled word which is not frequent stands for.
    others_per_sampled: u64,
}

impl Sample {
    pub(super) fn new(corpus: &Corpus) -> Self {
        let num_words = corpus.num_words() as u32;
        let all: u64 = corpus.words().map(|word| corpus.count(word)).sum();
        let mut sum = 0;
        let is_frequent = |&word: &Word| {
            sum += corpus.count(word);
            sum as f64 <= all as f64 * FREQUENT_SHARE
        };
        let num_frequent = corpus.words().take_while(is_frequent).count() as u32;
        let places = |words: Range<Word>| {
            corpus.starts[words.start as usize]..corpus.starts[words.end as usize]
        };
        let others = num_words - num_frequent;
        let block = (others / (NUM_BLOCKS * SAMPLED_ONE_IN)).max(1);
        let starts = (num_frequent..num_words).step_by((block * SAMPLED_ONE_IN) as usize);
        let blocks = starts.map(|start| {
            let middle = start + block * (SAMPLED_ONE_IN / 2);
            middle.min(num_words)..(middle + block).min(num_words)
        });
        let blocks: Vec<Range<Word>> = blocks.filter(|block| !block.is_empty()).collect();
        let sampled: u32 = blocks.iter().map(|block| block.end - block.start).sum();
        let mut spans = Vec::new();
        if num_frequent > 0 {
            spans.push(places(0..num_frequent));
        }
        spans.extend(blocks.into_iter().map(places));
        Self {
            num_frequent,
            spans,
            others_per_sampled: u64::from(others.div_ceil(sampled.max(1))),
        }
    }

    /// The number of words that a sampled word stands for.
    pub(super) fn weight(&self, word: Word) -> u64 {
        if word < self.num_frequent {
            1
        } else {
            self.others_per_sampled
        }
    }
}
