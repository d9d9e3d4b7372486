//! Bounds against brute force, and against the verifier.

use super::*;
use crate::exact::{self, Method, SearchOptions, SearchProgress, Text};
use crate::greedy::tests::Dice;
use crate::merges::Id;
use crate::watch::Watch;

impl Dice {
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

const NUM_STEPS: usize = 30;

/// A claim with prices in units of 1 / 2^10.
fn claim(against: Against, num_merges: u64, floor: u64, longest: u64) -> Claim {
    Claim {
        against,
        num_merges: num_merges as usize,
        floor,
        longest: longest as usize,
        counted: 0,
        bits: 10,
    }
}

fn best_gain(words: &Words, num_merges: usize) -> u64 {
    let text = Text::new(words.iter().map(|(word, count)| (word.to_vec(), count)), 3);
    let options = SearchOptions {
        num_merges,
        method: Method::BruteForce,
        node_limit: None,
        memory_limit: 1 << 20,
        num_threads: 1,
    };
    let progress = SearchProgress::default();
    let solution = exact::solve(&text, &options, &Watch::default(), &progress);
    solution.expect("no thread fails").utility
}

/// Find prices in a few steps, and check that the verifier finds what they are said to prove.
fn find(words: &Words, claim: &Claim, tokens: &[Vec<Id>], num_threads: usize) -> FoundPrices {
    find_in(NUM_STEPS, 1, words, claim, tokens, num_threads)
}

fn find_in(
    num_steps: usize,
    num_cases: usize,
    words: &Words,
    claim: &Claim,
    tokens: &[Vec<Id>],
    num_threads: usize,
) -> FoundPrices {
    let Claim {
        against,
        num_merges,
        floor,
        longest,
        bits,
        ..
    } = *claim;
    let options = DescentOptions {
        num_steps: Some(num_steps),
        deadline: None,
        bits,
        num_threads,
        num_cases,
    };
    let (watch, progress) = (Watch::default(), DescentProgress::default());
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
    let found = descend(&instance, tokens, &options, &watch, &progress).expect("nothing stops it");
    assert_eq!(progress.read(), (found.num_steps, Some(found.gain)));
    let cases = Case::of_tree(&found.tree).expect("a tree");
    assert!(cases.len() <= num_cases);
    let claim = Claim {
        longest: instance.longest,
        counted: instance.counted(),
        ..*claim
    };
    let verified = if found.rings.is_empty() {
        verify_cases(words, &claim, &cases, &found.discounts)
    } else {
        let numbers = [found.discounts.as_slice(), &found.credits].concat();
        verify_rings(words, &claim, &found.rings, &numbers)
    };
    assert_eq!(verified, Ok(found.total));
    found
}

#[test]
fn no_list_gains_more_than_cases_prove() {
    let mut dice = Dice(7);
    let (mut num_divided, mut num_better) = (0, 0);
    for _ in 0..60 {
        let words = dice.words();
        let claim = claim(
            Against::Merges,
            1 + dice.below(3),
            dice.below(3),
            2 + dice.below(7),
        );
        let whole = find_in(60, 1, &words, &claim, &[], 1);
        let by_cases = find_in(60, 5, &words, &claim, &[], 1);
        assert!(by_cases.total <= whole.total);
        assert!(
            by_cases.gain >= best_gain(&words, claim.num_merges),
            "{words:?} {claim:?}"
        );
        num_divided += u32::from(by_cases.tree.len() > 1);
        num_better += u32::from(by_cases.total < whole.total);
        if by_cases.tree.len() > 1 {
            assert_eq!(by_cases, find_in(60, 5, &words, &claim, &[], 3));
        }
    }
    assert!(num_divided > 5, "only {num_divided}, {num_better} better");
    assert!(num_better > 2, "only {num_better} of {num_divided} better");
}

#[test]
fn no_list_gains_more_than_the_bound_and_the_verifier_agrees() {
    let mut dice = Dice(1);
    for _ in 0..150 {
        let words = dice.words();
        for against in [Against::Merges, Against::Vocabularies] {
            let claim = claim(against, dice.below(4), dice.below(3), 2 + dice.below(7));
            let found = find(&words, &claim, &[], 1);
            assert!(
                found.gain >= best_gain(&words, claim.num_merges),
                "{words:?} {claim:?}"
            );
        }
    }
}

/// With so many steps the splits of a string are told apart.
const MANY_STEPS: usize = 700;

#[test]
fn many_steps_prove_the_optimum_more_often_than_few() {
    let mut dice = Dice(5);
    let (mut few, mut many) = (0, 0);
    for _ in 0..20 {
        let words = dice.words();
        let claim = claim(Against::Merges, 1 + dice.below(3), 0, 9);
        let best = best_gain(&words, claim.num_merges);
        let found = find_in(MANY_STEPS, 1, &words, &claim, &[], 1);
        assert!(found.gain >= best, "{words:?} {claim:?}");
        many += usize::from(found.gain == best);
        few += usize::from(find(&words, &claim, &[], 1).gain == best);
    }
    assert!(many > few, "{many} {few}");
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
            let claim = claim(
                against,
                1 + dice.below(20),
                dice.below(4),
                2 + dice.below(3),
            );
            find(&words, &claim, &[], 1);
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
        let claim = claim(against, 50, 30, 8);
        let alone = find(&words, &claim, &[vec![0, 0]], 1);
        assert_eq!(alone, find(&words, &claim, &[vec![0, 0]], 3));
        assert_eq!(alone.chosen.len(), 50);
    }
    // So many steps that splits are told apart.
    let mut fewer = Words::default();
    for (word, count) in words.iter().take(300) {
        fewer.push(word, count);
    }
    let claim = claim(Against::Merges, 20, 8, 8);
    let alone = find_in(720, 1, &fewer, &claim, &[], 1);
    assert_eq!(alone, find_in(720, 1, &fewer, &claim, &[], 5));
}

#[test]
fn what_proves_nothing_is_refused() {
    let mut words = Words::default();
    words.push(&[0, 0, 0], 2);
    let claim = Claim {
        bits: 4,
        ..claim(Against::Merges, 1, 1, 4)
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
    let cases = Case::of_tree(&[Some(vec![0, 0]), None, None]).expect("a tree");
    // The one merge of those that have aa is aa, which loses nothing at these prices; those that lack it
    // can still have aaa.
    assert_eq!(
        verify_cases(
            &words,
            &claim,
            &cases,
            &[8, 0, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0]
        ),
        Ok(2 * 24)
    );
    assert_eq!(
        verify_cases(&words, &claim, &cases[1..], &[0; 6]),
        Ok(2 * 16)
    );
    let of_tokens = Claim {
        against: Against::Vocabularies,
        ..claim
    };
    assert_eq!(
        verify_cases(&words, &of_tokens, &cases, &[8; 6]),
        Err(Flaw::Cases)
    );
    assert_eq!(verify_cases(&words, &claim, &[], &[]), Err(Flaw::Cases));
    let too_fine = Claim { bits: 31, ..claim };
    assert_eq!(verify(&words, &too_fine, &[8; 6]), Err(Flaw::Claim));
    assert_eq!(verify(&Words::default(), &claim, &[]), Ok(16));
}

#[test]
fn a_ring_proves_more_than_prices() {
    // Each two of the three pairs cross in one of the words.
    let mut words = Words::default();
    for word in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        words.push(&word, 2);
    }
    let claim = Claim {
        bits: 2,
        ..claim(Against::Merges, 2, 2, 2)
    };
    let pairs = vec![vec![0, 1], vec![1, 2], vec![2, 0]];
    let ring = |strings: &[Vec<Id>], toll| Ring {
        strings: strings.to_vec(),
        by_both: vec![false; strings.len()],
        toll,
    };
    // By prices alone: each pair loses 1 in two words, or half of it where the middle costs half.
    assert_eq!(verify(&words, &claim, &[0; 15]), Ok(2 * 16));
    let halves = [0, 0, 2, 0, 0].repeat(3);
    assert_eq!(verify(&words, &claim, &halves), Ok(12 + 2 * 8));
    // The credits take all losses: what is left are the tolls, one for the ring and two for pairs.
    let numbers = [vec![0; 15], vec![4; 3]].concat();
    let alone = |rings: &[Ring]| Rings {
        rings: rings.to_vec(),
        chains: Vec::new(),
    };
    let by_ring =
        |rings: &[Ring], numbers: &[u32]| verify_rings(&words, &claim, &alone(rings), numbers);
    assert_eq!(by_ring(&[ring(&pairs, 8)], &numbers), Ok(3 * 8));
    // Credits beyond the tolls count, and so do tolls beyond the credits.
    assert_eq!(by_ring(&[ring(&pairs, 4)], &numbers), Ok(4 + 3 * 4 + 2 * 8));
    assert_eq!(by_ring(&[ring(&pairs, 9)], &numbers), Ok(3 * 9));
    assert_eq!(
        by_ring(&[ring(&pairs, 8)], &numbers[1..]),
        Err(Flaw::Credits {
            found: 2,
            expected: 3
        })
    );
    assert_eq!(
        by_ring(&[ring(&pairs, 8)], &numbers[..9]),
        Err(Flaw::Number {
            found: 9,
            expected: 15
        })
    );
    assert_eq!(by_ring(&[ring(&pairs[1..], 8)], &numbers), Err(Flaw::Rings));
    assert_eq!(by_ring(&[ring(&pairs[..1], 8)], &numbers), Err(Flaw::Rings));
    let of_tokens = Claim {
        against: Against::Vocabularies,
        ..claim
    };
    let rings = alone(&[ring(&pairs, 8)]);
    assert_eq!(
        verify_rings(&words, &of_tokens, &rings, &[0; 9]),
        Err(Flaw::Rings)
    );
}

#[test]
fn a_chain_links_strings_that_do_not_cross() {
    // 0110, 010 and 11: the pairs 01 and 10 both cross 11 in the first, and each other in the second.
    let mut words = Words::default();
    for (word, count) in [(vec![0, 1, 1, 0], 2), (vec![0, 1, 0], 2), (vec![1, 1], 6)] {
        words.push(&word, count);
    }
    let claim = Claim {
        bits: 0,
        ..claim(Against::Merges, 2, 2, 2)
    };
    let pairs = [vec![0, 1], vec![1, 1], vec![1, 0]];
    let verified = |chain: &[Vec<Id>], by_both: Vec<bool>, numbers: &[u32]| {
        let rings = Rings {
            rings: vec![Ring {
                strings: vec![vec![0, 1], vec![1, 0]],
                by_both,
                toll: 2,
            }],
            chains: vec![chain.to_vec()],
        };
        verify_rings(&words, &claim, &rings, numbers)
    };
    let numbers = [vec![0; 15], vec![1; 2]].concat();
    // A credit for certain, the pair 11 elsewhere, and a toll.
    assert_eq!(verified(&pairs, vec![false, true], &numbers), Ok(2 + 6 + 2));
    assert_eq!(verified(&pairs, vec![true, false], &numbers), Ok(2 + 6 + 2));
    assert_eq!(best_gain(&words, 2), 10);
    for by_both in [vec![false, false], vec![true, true], vec![true]] {
        assert_eq!(verified(&pairs, by_both, &numbers), Err(Flaw::Rings));
    }
    let longer = [pairs.to_vec(), pairs[1..].to_vec()].concat();
    for chain in [&pairs[..2], &longer] {
        let flaw = verified(chain, vec![false, true], &numbers);
        assert_eq!(flaw, Err(Flaw::Rings));
    }
}

#[test]
fn rings_are_found() {
    // Three pairs that cross each other, alone and among random words.
    let mut num_rings = 0;
    for seed in 0..6 {
        let mut words = match seed {
            0 => Words::default(),
            _ => Dice(seed).words(),
        };
        for word in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
            words.push(&word, 2);
        }
        let claim = claim(Against::Merges, 2, 2, 9);
        let find = |num_threads| find_in(2000, 1, &words, &claim, &[], num_threads);
        let found = find(1);
        assert!(best_gain(&words, 2) <= found.gain);
        assert_eq!(find(3), found);
        num_rings += found.rings.rings.len();
        if seed == 0 {
            // No prices alone prove less than 7.
            assert_eq!(found.gain, 6, "{found:?}");
        }
    }
    assert!(num_rings > 1);
}
