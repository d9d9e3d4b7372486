//! The words as the search sees them: the frequent ones first, and where each string occurs.

use std::cmp::{Ordering, Reverse};

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

/// The number of a word; frequent words have small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word(pub(super) u32);

impl Word {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The place of a symbol among those of all words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub(super) u32);

impl Place {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

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
        for (bytes, count) in by_count {
            word.clear();
            alphabet.extend_symbols(bytes, &mut word)?;
            let fits = corpus.symbols.len() + word.len() <= MOST_SYMBOLS;
            if (2..=LONGEST_WORD).contains(&word.len()) && fits {
                total += word.len() as u128
                    * (u128::from(count) * u128::from(ONCE) + u128::from(MOST_EXTRA));
                if total > u128::from(MOST_WEIGHT) {
                    return Err(Error::CountsTooLarge);
                }
                corpus.push(&word, count);
            }
        }
        watch.check()?;
        corpus.suffixes = sorted_suffixes(&corpus, alphabet.len(), watch)?;
        corpus.sum_up();
        Ok(corpus)
    }

    fn sum_up(&mut self) {
        let mut sum = 0;
        self.sums.clear();
        self.sums.push(sum);
        for &place in &self.suffixes {
            sum += self.weights[self.word_at[place.index()].index()];
            self.sums.push(sum);
        }
    }

    /// Add `extra`, at most [`MOST_EXTRA`], to the weight of each word.
    pub(super) fn add_to_weights(&mut self, extra: u64) {
        for weight in &mut self.weights {
            *weight += extra;
        }
        self.extra += extra;
        self.sum_up();
    }

    fn push(&mut self, word: &[Id], count: u64) {
        let number = Word(self.weights.len() as u32);
        self.symbols.extend_from_slice(word);
        self.word_at.resize(self.symbols.len(), number);
        self.starts.push(self.symbols.len() as u32);
        self.weights.push(count * ONCE);
    }

    pub(super) fn num_words(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn num_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// The numbers of all words.
    pub(super) fn words(&self) -> impl Iterator<Item = Word> + use<> {
        (0..self.num_words() as u32).map(Word)
    }

    /// The places of the symbols of a word.
    pub(super) fn range(&self, word: Word) -> std::ops::Range<usize> {
        self.starts[word.index()] as usize..self.starts[word.index() + 1] as usize
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
        self.weights[word.index()]
    }

    pub(super) fn word_at(&self, place: Place) -> Word {
        self.word_at[place.index()]
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
    fn suffixes_with(&self, string: &[Id]) -> std::ops::Range<usize> {
        let begins_below = |order: Ordering| {
            move |&place: &Place| self.beginning(place, string.len()).cmp(string) < order
        };
        let from = self.suffixes.partition_point(begins_below(Ordering::Equal));
        let len = self.suffixes[from..].partition_point(begins_below(Ordering::Greater));
        from..from + len
    }

    /// At most `len` symbols from a place on, to the end of the word.
    fn beginning(&self, place: Place, len: usize) -> &[Id] {
        let end = self.starts[self.word_at(place).index() + 1] as usize;
        let start = place.index();
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
    for (place, &symbol) in (0..).map(Place).zip(&corpus.symbols) {
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
