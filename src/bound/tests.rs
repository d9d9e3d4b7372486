use super::*;
use crate::exact::{self, Method, Text};
use crate::watch::Watch;

/// A small pseudo-random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn words(&mut self) -> Words {
        let num_letters = 1 + self.below(3);
        let mut words = Words::default();
        for _ in 0..=self.below(3) {
            let word: Vec<Id> = (0..self.below(9))
                .map(|_| self.below(num_letters) as Id)
                .collect();
            words.push(&word, 1 + self.below(3));
        }
        words
    }
}

fn options(num_threads: usize) -> Options {
    Options {
        num_steps: Some(30),
        deadline: None,
        bits: 10,
        num_threads,
    }
}

fn best_gain(words: &Words, num_merges: usize) -> u64 {
    let text = Text::new(words.iter().map(|(word, count)| (word.to_vec(), count)), 3);
    let options = exact::Options {
        num_merges,
        method: Method::BruteForce,
        node_limit: None,
        memory_limit: 1 << 20,
        num_threads: 1,
    };
    exact::solve(
        &text,
        &options,
        &Watch::default(),
        &exact::Standing::default(),
    )
    .expect("no thread fails")
    .utility
}

fn find(words: &Words, claim: &Claim, tokens: &[Vec<Id>], num_threads: usize) -> (Instance, Found) {
    let Claim {
        against,
        num_merges,
        floor,
        longest,
        ..
    } = *claim;
    let watch = Watch::default();
    let instance = Instance::new(
        words,
        against,
        num_merges,
        floor,
        longest,
        num_threads,
        &watch,
    )
    .expect("nothing stops it");
    let standing = Standing::default();
    let found = ascend(&instance, tokens, &options(num_threads), &watch, &standing)
        .expect("nothing stops it");
    assert_eq!(standing.read(), (30, found.gain));
    (instance, found)
}

#[test]
fn no_list_gains_more_than_the_bound_and_the_verifier_agrees() {
    let mut dice = Dice(1);
    for _ in 0..150 {
        let words = dice.words();
        for against in [Against::Merges, Against::Vocabularies] {
            let claim = Claim {
                against,
                num_merges: dice.below(4) as usize,
                floor: dice.below(3),
                longest: 2 + dice.below(7) as usize,
                counted: 0,
                bits: 10,
            };
            let (instance, found) = find(&words, &claim, &[], 1);
            let claim = Claim {
                longest: instance.longest(),
                counted: instance.counted(),
                ..claim
            };
            assert_eq!(verify(&words, &claim, &found.discounts), Ok(found.total));
            assert!(
                found.gain >= best_gain(&words, claim.num_merges),
                "{words:?} {claim:?}"
            );
        }
    }
}

#[test]
fn long_repeats_are_found_as_the_verifier_finds_them() {
    let mut dice = Dice(3);
    for _ in 0..300 {
        let chunks: Vec<Vec<Id>> = (0..3)
            .map(|_| (0..dice.below(20)).map(|_| dice.below(3) as Id).collect())
            .collect();
        let mut words = Words::default();
        for _ in 0..=dice.below(3) {
            let chosen = (0..dice.below(8)).map(|_| chunks[dice.below(3) as usize].clone());
            let word = chosen.collect::<Vec<_>>().concat();
            words.push(&word, 1 + dice.below(3));
        }
        for against in [Against::Merges, Against::Vocabularies] {
            let claim = Claim {
                against,
                num_merges: 1 + dice.below(20) as usize,
                floor: dice.below(4),
                longest: 2 + dice.below(3) as usize,
                counted: 0,
                bits: 10,
            };
            let (instance, found) = find(&words, &claim, &[], 1);
            let claim = Claim {
                counted: instance.counted(),
                ..claim
            };
            assert_eq!(verify(&words, &claim, &found.discounts), Ok(found.total));
        }
    }
}

#[test]
fn threads_change_nothing() {
    let mut dice = Dice(2);
    let mut words = Words::default();
    for _ in 0..3000 {
        let word: Vec<Id> = (0..2 + dice.below(12))
            .map(|_| (dice.below(5) * dice.below(5)) as Id)
            .collect();
        words.push(&word, 1 + dice.below(20));
    }
    for against in [Against::Merges, Against::Vocabularies] {
        let claim = Claim {
            against,
            num_merges: 50,
            floor: 30,
            longest: 8,
            counted: 0,
            bits: 10,
        };
        let (_, alone) = find(&words, &claim, &[vec![0, 0]], 1);
        let (_, together) = find(&words, &claim, &[vec![0, 0]], 3);
        assert_eq!(alone, together);
        assert_eq!(alone.chosen.len(), 50);
    }
}

#[test]
fn what_proves_nothing_is_refused() {
    let mut words = Words::default();
    words.push(&[0, 0, 0], 2);
    let claim = Claim {
        against: Against::Merges,
        num_merges: 1,
        floor: 1,
        longest: 4,
        counted: 0,
        bits: 4,
    };
    // Rows of 3, 2 and 1 spans.
    assert_eq!(
        verify(&words, &claim, &[8, 0, 0, 8, 0, 8]),
        Ok(2 * 24 + 2 * 8)
    );
    assert_eq!(
        verify(&words, &claim, &[8; 5]),
        Err(Flaw::Number {
            found: 5,
            expected: 6
        })
    );
    let too_fine = Claim { bits: 31, ..claim };
    assert_eq!(verify(&words, &too_fine, &[8; 6]), Err(Flaw::Claim));
    assert_eq!(verify(&Words::default(), &claim, &[]), Ok(16));
}
