//! The search against [`MergeList::apply`], on random words over small alphabets.

use super::again::Made;
use super::builder::Guide;
use super::draft::Draft;
use super::moves::{propose, repair};
use super::random::Random;
use super::state::Scratch;
use super::*;
use crate::greedy::tests::Dice;
use crate::greedy::{Overlaps, TrainOptions, train};
use crate::merges::Id;

/// Counts, and what greedy makes of others: a list with much to improve.
fn instance(dice: &mut Dice) -> (WordCounts, MergeList) {
    let (counts, others) = (dice.counts(8), dice.counts(8));
    let mut merges = MergeList::new(Alphabet::of_chars('a'..='c'));
    let options = TrainOptions {
        num_merges: 1 + dice.below(8) as usize,
        min_frequency: 1,
        max_token_length: usize::MAX,
        overlaps: Overlaps::Skip,
    };
    train(&others, &mut merges, &options, &Watch::default()).expect("small counts");
    (counts, merges)
}

/// The number of tokens of all words with at least two symbols.
fn num_tokens(counts: &WordCounts, merges: &MergeList) -> u64 {
    let words = counts.iter().filter(|(word, _)| word.len() > 1);
    let tokens = words.map(|(word, count)| {
        let symbols = merges.alphabet().symbols(word).expect("known letters");
        count * merges.apply(symbols).len() as u64
    });
    tokens.sum()
}

fn options(seed: u64, num_threads: usize) -> ImproveOptions {
    ImproveOptions {
        seed,
        num_moves: Some(200),
        deadline: None,
        num_threads,
        max_token_length: 8,
        true_counts: false,
    }
}

fn improved(
    counts: &WordCounts,
    initial: &MergeList,
    is_pinned: &[bool],
    options: &ImproveOptions,
) -> MergeList {
    let (watch, progress) = (Watch::default(), ImproveProgress::default());
    improve(counts, initial, is_pinned, options, &watch, &progress).expect("small counts")
}

#[test]
fn the_result_is_as_long_never_worse_and_keeps_what_is_pinned() {
    let mut dice = Dice(1);
    let mut num_better = 0;
    for seed in 0..25 {
        let (counts, initial) = instance(&mut dice);
        let first = initial.alphabet().len() as u32;
        let is_pinned: Vec<bool> = initial.pairs().iter().map(|_| dice.below(5) == 0).collect();
        let better = improved(&counts, &initial, &is_pinned, &options(seed, 1));
        assert_eq!(better.pairs().len(), initial.pairs().len());
        assert!(better.makes_distinct_strings());
        for (id, _) in (first..)
            .zip(&is_pinned)
            .filter(|(_, is_pinned)| **is_pinned)
        {
            assert!(better.id(initial.token(id)).is_some());
        }
        let (before, after) = (num_tokens(&counts, &initial), num_tokens(&counts, &better));
        assert!(after <= before, "{:?}", counts.sorted());
        num_better += u32::from(after < before);
        let again = improved(&counts, &initial, &is_pinned, &options(seed, 3));
        assert_eq!(again.pairs(), better.pairs());
    }
    assert!(num_better > 10, "only {num_better} lists were improved");
}

#[test]
fn gains_of_moves_are_those_of_a_recount() {
    let mut dice = Dice(2);
    let mut num_made = 0;
    for seed in 0..60 {
        let (counts, initial) = instance(&mut dice);
        let alphabet = initial.alphabet();
        let watch = Watch::default();
        let corpus = Corpus::new(&counts, alphabet, &watch).expect("small counts");
        let merges: Vec<_> = initial.pairs().iter().map(|&pair| (pair, false)).collect();
        let mut state =
            State::new(&corpus, alphabet.len(), &merges, &watch).expect("no interruption");
        let mut scratch = Scratch::default();
        let guide = Guide {
            price: with_team(1, |team| state.price(team, &watch))
                .map_or(1, |price| price.unwrap_or(1)) as f64
                / 2.0,
            max_token_length: 8,
            temperature: 0.0,
        };
        for number in 0..40 {
            refresh(&mut state);
            let mut random = Random::of_move(seed, number);
            let Some(edit) = drafted(&state, guide, &mut random, &mut scratch) else {
                continue;
            };
            let draft = Draft::again(&state.list, &edit).expect("the list has not changed");
            let outcome = state.weigh(&draft, &mut scratch);
            let (before, edit) = (state.cost, draft.edit);
            state.make(&edit, &outcome);
            let pairs = state.list.merges().into_iter().map(|(pair, _)| pair);
            let merges = MergeList::from_pairs(alphabet.clone(), pairs).expect("a valid list");
            let recount = num_tokens(&counts, &merges);
            assert_eq!(state.num_tokens, recount, "{edit:?} {:?}", counts.sorted());
            assert_eq!(
                before.checked_add_signed(outcome.delta),
                Some(recount * ONCE)
            );
            assert_eq!(state.cost, recount * ONCE);
            num_made += 1;
        }
    }
    assert!(num_made > 500, "only {num_made} moves were made");
}

fn refresh(state: &mut State<'_>) {
    let watch = Watch::default();
    with_team(1, |team| state.refresh(0.0, team, &watch)).expect("nothing stops it");
}

#[test]
fn pairs_are_counted_alike_by_any_number_of_threads() {
    let mut dice = Dice(6);
    for _ in 0..20 {
        let (counts, initial) = instance(&mut dice);
        let (alphabet, watch) = (initial.alphabet(), Watch::default());
        let corpus = Corpus::new(&counts, alphabet, &watch).expect("small counts");
        let merges: Vec<_> = initial.pairs().iter().map(|&pair| (pair, false)).collect();
        let state = State::new(&corpus, alphabet.len(), &merges, &watch).expect("no interruption");
        let mut expected: Vec<((u32, u32), u64)> = Vec::new();
        for word in corpus.words() {
            let tokens = initial.apply(corpus.word(word).to_vec());
            for pair in tokens.windows(2).map(|pair| (pair[0], pair[1])) {
                let weight = corpus.weight_of(word);
                match expected.iter_mut().find(|entry| entry.0 == pair) {
                    Some(entry) => entry.1 += weight,
                    None => expected.push((pair, weight)),
                }
            }
        }
        expected.sort_unstable_by_key(|&(pair, weight)| (std::cmp::Reverse(weight), pair));
        expected.retain(|&(_, weight)| weight >= 8);
        for num_threads in [1, 2, 5] {
            let pairs = with_team(num_threads, |team| state.count_pairs(8.0, team, &watch));
            assert_eq!(pairs.as_ref(), Ok(&expected));
        }
    }
}

#[test]
fn drafts_weighed_again_are_weighed_as_if_anew() {
    let mut dice = Dice(5);
    let (mut num_fast, mut num_weighed) = (0, 0);
    for seed in 0..60 {
        let (counts, initial) = instance(&mut dice);
        let (alphabet, watch) = (initial.alphabet(), Watch::default());
        let corpus = Corpus::new(&counts, alphabet, &watch).expect("small counts");
        let merges: Vec<_> = initial.pairs().iter().map(|&pair| (pair, false)).collect();
        let mut state =
            State::new(&corpus, alphabet.len(), &merges, &watch).expect("no interruption");
        let mut scratch = Scratch::default();
        let guide = Guide {
            price: 2.0,
            max_token_length: 8,
            temperature: 0.0,
        };
        for round in 0..8 {
            refresh(&mut state);
            let mut drafts = Vec::new();
            for number in 0..12 {
                let mut random = Random::of_move(seed, 100 * round + number);
                if let Some(edit) = drafted(&state, guide, &mut random, &mut scratch) {
                    let draft = Draft::again(&state.list, &edit).expect("the list has not changed");
                    let reach = state.reach(&draft, &mut scratch);
                    let outcome = state.weigh(&draft, &mut scratch);
                    drafts.push((draft.edit, reach, outcome));
                }
            }
            let mut made = Made::new(corpus.num_words());
            for (edit, reach, outcome) in drafts {
                let Some(draft) = Draft::again(&state.list, &edit) else {
                    continue;
                };
                let outcome =
                    state.weigh_again(&draft, (&edit, &reach, outcome), &made, &mut scratch);
                assert_eq!(outcome, state.weigh(&draft, &mut scratch));
                num_weighed += 1;
                num_fast += u32::from(made.is_any && !made.concerns(&reach, &edit, &draft.edit));
                // Others stay for which the next are weighed again.
                if dice.below(3) > 0 {
                    let edit = draft.edit;
                    state.make(&edit, &outcome);
                    made.add(&edit, &corpus);
                }
            }
        }
    }
    assert!(num_fast > 100, "only {num_fast} of {num_weighed}");
}

/// A random move, repaired once if it can be.
fn drafted(
    state: &State<'_>,
    guide: Guide,
    random: &mut Random,
    scratch: &mut Scratch,
) -> Option<draft::Edit> {
    let draft = propose(state, guide, random)?;
    let outcome = state.weigh(&draft, scratch);
    let effects = state.effects(&outcome, scratch);
    let edit = draft.edit.clone();
    let repaired = repair(state, guide, draft, &effects, random);
    Some(repaired.map_or(edit, |draft| draft.edit))
}

#[test]
fn counts_too_large_to_be_weighed_are_an_error() {
    let mut counts = WordCounts::default();
    counts.add(b"abab", u64::MAX / 4).expect("64 bits");
    let alphabet = Alphabet::of_chars('a'..='b');
    let initial = MergeList::from_pairs(alphabet, [(0, 1)]).expect("a valid list");
    let (watch, progress) = (Watch::default(), ImproveProgress::default());
    let result = improve(
        &counts,
        &initial,
        &[false],
        &options(0, 1),
        &watch,
        &progress,
    );
    assert_eq!(
        result.map(|list| list.pairs().to_vec()),
        Err(Error::CountsTooLarge)
    );
    let mut fewer = WordCounts::default();
    fewer.add(b"abab", u64::MAX / 128).expect("64 bits");
    assert_eq!(
        improved(&fewer, &initial, &[false], &options(0, 1))
            .pairs()
            .len(),
        1
    );
}

#[test]
fn a_stop_before_the_first_move_ends_the_search_at_once() {
    let (counts, initial) = instance(&mut Dice(3));
    let (alphabet, watch) = (initial.alphabet(), Watch::default());
    let mut corpus = Corpus::new(&counts, alphabet, &watch).expect("small counts");
    let merges: Vec<_> = initial.pairs().iter().map(|&pair| (pair, false)).collect();
    let stopped = Watch::default();
    stopped.stop();
    assert_eq!(corpus.add_to_weights(1, &stopped), Err(Error::Interrupted));
    corpus.add_to_weights(1, &watch).expect("no interruption");
    let mut state = State::new(&corpus, alphabet.len(), &merges, &watch).expect("no interruption");
    watch.stop();
    let (options, progress) = (options(0, 1), ImproveProgress::default());
    let pace = Chains::new(&options, merges.len())
        .next()
        .expect("one search");
    let goal = Goal {
        price: 1.0,
        len: merges.len(),
        max_token_length: 8,
    };
    with_team(1, |team| {
        assert_eq!(state.price(team, &watch), Err(Error::Interrupted));
        assert_eq!(state.refresh(0.0, team, &watch), Err(Error::Interrupted));
        let found = search(&mut state, goal, &pace, team, &watch, &progress);
        assert_eq!(found, Err(Error::Interrupted));
    });
}

#[test]
fn a_list_of_suggested_tokens_is_as_long_and_derives_them() {
    let mut dice = Dice(11);
    let mut num_made = 0;
    for _ in 0..40 {
        let (counts, initial) = instance(&mut dice);
        if initial.pairs().is_empty() {
            continue;
        }
        let alphabet = initial.alphabet();
        let watch = Watch::default();
        let corpus = Corpus::new(&counts, alphabet, &watch).expect("small counts");
        for is_pinned in [false, true] {
            let pinned = initial.pairs().iter().map(|&pair| (pair, is_pinned));
            let merges: Vec<_> = pinned.collect();
            let state =
                State::new(&corpus, alphabet.len(), &merges, &watch).expect("no interruption");
            let other = with_team(2, |team| suggested(&state, 4, team, &watch));
            let Some(other) = other.expect("no interruption") else {
                continue;
            };
            assert!(!is_pinned);
            assert_eq!(other.len(), merges.len());
            let pairs = other.into_iter().map(|(pair, _)| pair);
            let list = MergeList::from_pairs(alphabet.clone(), pairs).expect("a valid list");
            let ids = alphabet.len()..list.num_tokens();
            for string in ids.map(|id| list.token(id as Id)) {
                assert!(string.len() <= 4);
                let symbols = alphabet.symbols(string).expect("known letters");
                assert_eq!(list.apply(symbols).len(), 1);
            }
            num_made += 1;
        }
    }
    assert!(num_made > 10, "only {num_made} lists were made");
}
