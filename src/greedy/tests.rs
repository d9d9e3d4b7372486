//! Training against a naive trainer, which counts all pairs before each merge.

use std::collections::BTreeMap;

use super::*;
use crate::merges::{Alphabet, Id};

/// A small pseudo-random number generator.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Counts of up to `num_words` words of the first letters, some of them frequent.
    pub(crate) fn counts(&mut self, num_words: u64) -> WordCounts {
        let mut counts = WordCounts::default();
        let num_letters = 1 + self.below(3);
        for _ in 0..=self.below(num_words) {
            let word: Vec<u8> = (0..self.below(13))
                .map(|_| b'a' + self.below(num_letters) as u8)
                .collect();
            let most = 1 << self.below(24);
            counts.add(&word, 1 + self.below(most)).expect("few words");
        }
        counts
    }
}

type Words = Vec<(Vec<Id>, u64)>;

fn pair_counts(words: &Words, overlaps: Overlaps) -> BTreeMap<(Id, Id), u64> {
    let mut counts = BTreeMap::new();
    for (word, count) in words {
        let mut at = 0;
        while at + 1 < word.len() {
            let pair = (word[at], word[at + 1]);
            *counts.entry(pair).or_insert(0) += count;
            // In aaa, the second aa overlaps the first.
            let overlaps_next = pair.0 == pair.1 && word.get(at + 2) == Some(&pair.0);
            at += if overlaps_next && overlaps == Overlaps::Skip {
                2
            } else {
                1
            };
        }
    }
    counts
}

fn replace(word: &mut Vec<Id>, pair: (Id, Id), product: Id) {
    let mut at = 0;
    while at + 1 < word.len() {
        if (word[at], word[at + 1]) == pair {
            word[at] = product;
            word.remove(at + 1);
        }
        at += 1;
    }
}

fn train_naively(counts: &WordCounts, merges: &mut MergeList, options: &TrainOptions) -> Vec<u64> {
    let symbols = |word| merges.alphabet().symbols(word).expect("known letters");
    let mut words: Words = counts
        .iter()
        .map(|(word, count)| (merges.apply(symbols(word)), count))
        .collect();
    let mut found = Vec::new();
    while found.len() < options.num_merges {
        let fits = |&(left, right): &(Id, Id)| {
            let length = |id| merges.alphabet().num_symbols(merges.token(id));
            length(left) + length(right) <= options.max_token_length
        };
        let mut best: Option<((Id, Id), u64)> = None;
        // In ascending order of pairs, so that the first of the most frequent is the smallest.
        for (pair, count) in pair_counts(&words, options.overlaps) {
            let is_enough = count >= options.min_frequency && fits(&pair);
            if is_enough && best.is_none_or(|(_, most)| count > most) {
                best = Some((pair, count));
            }
        }
        let Some((pair, count)) = best else {
            break;
        };
        let product = merges.push(pair.0, pair.1).expect("known parts");
        for (word, _) in &mut words {
            replace(word, pair, product);
        }
        found.push(count);
    }
    found
}

fn check(counts: &WordCounts, initial: &MergeList, options: &TrainOptions) {
    let (mut ours, mut naive) = (initial.clone(), initial.clone());
    let found = train(counts, &mut ours, options, &Watch::default());
    let expected = train_naively(counts, &mut naive, options);
    assert_eq!(
        ours.pairs(),
        naive.pairs(),
        "{:?} {options:?}",
        counts.sorted()
    );
    assert_eq!(found, Ok(expected));
}

fn random_options(dice: &mut Dice) -> TrainOptions {
    TrainOptions {
        // The first floor depends on the number of merges.
        num_merges: [3, 20, 1000][dice.below(3) as usize],
        min_frequency: 1 + dice.below(3),
        max_token_length: [3, usize::MAX][dice.below(2) as usize],
        overlaps: [Overlaps::Skip, Overlaps::Count][dice.below(2) as usize],
    }
}

#[test]
fn the_same_merges_as_a_recount_of_all_pairs() {
    let mut dice = Dice(1);
    for _ in 0..150 {
        let counts = dice.counts(8);
        let options = random_options(&mut dice);
        let alphabets = [Alphabet::Bytes, Alphabet::of_chars('a'..='c')];
        for alphabet in alphabets {
            check(&counts, &MergeList::new(alphabet), &options);
        }
    }
}

#[test]
fn training_goes_on_from_merges() {
    // The second list makes abc twice, so its merges cannot be replayed one after another.
    let lists: [&[(Id, Id)]; 3] = [
        &[(0, 1), (3, 0)],
        &[(0, 1), (1, 2), (3, 2), (0, 4)],
        &[(0, 0), (3, 3), (4, 4)],
    ];
    let mut dice = Dice(2);
    for pairs in lists {
        let alphabet = Alphabet::of_chars('a'..='c');
        let initial = MergeList::from_pairs(alphabet, pairs.iter().copied()).expect("a valid list");
        for _ in 0..60 {
            check(&dice.counts(8), &initial, &random_options(&mut dice));
        }
    }
}

#[test]
fn many_tokens_take_cells_of_32_bits() {
    let mut counts = WordCounts::default();
    counts.add("aābābā".as_bytes(), 3).expect("few words");
    let alphabet = Alphabet::of_chars((0..0x9000).filter_map(char::from_u32));
    let options = TrainOptions {
        num_merges: 9,
        ..random_options(&mut Dice(3))
    };
    check(&counts, &MergeList::new(alphabet), &options);
}

#[test]
fn counts_may_fill_64_bits() {
    let mut counts = WordCounts::default();
    counts.add(b"abaa", u64::MAX / 8).expect("half of all");
    counts.add(b"aaaaaaa", u64::MAX / 16).expect("nearly all");
    for overlaps in [Overlaps::Skip, Overlaps::Count] {
        let options = TrainOptions {
            num_merges: 1000,
            min_frequency: 1,
            max_token_length: usize::MAX,
            overlaps,
        };
        check(&counts, &MergeList::new(Alphabet::Bytes), &options);
    }
}
