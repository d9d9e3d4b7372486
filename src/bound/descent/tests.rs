use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::bound::claim::Claim;
use crate::bound::verify::verify;
use crate::bound::words::Words;
use crate::greedy::tests::Dice;

const OPTIONS: DescentOptions = DescentOptions {
    num_steps: None,
    deadline: None,
    bits: 10,
    num_threads: 2,
    num_cases: 1,
};

/// Words of several batches, and an instance of them.
fn words_and_instance() -> (Words, Instance) {
    let mut dice = Dice(4);
    let mut words = Words::default();
    for _ in 0..800 {
        let length = 2 + dice.below(12);
        let word: Vec<Id> = (0..length).map(|_| dice.below(5) as Id).collect();
        words.push(&word, 1 + dice.below(20));
    }
    let watch = Watch::default();
    let instance = Instance::new(&words, Against::Merges, 50, 30, 8, 1, &watch);
    (words, instance.expect("nothing stops it"))
}

#[test]
fn a_step_that_is_given_up_leaves_prices_that_prove_a_bound() {
    let (words, instance) = words_and_instance();
    with_team(OPTIONS.num_threads, |team| {
        let all = Decided::default();
        let descent = Descent::new(&instance, &all, &OPTIONS, team, &Watch::default());
        give_steps_up(&words, descent.expect("nothing stops it"));
    });
}

fn give_steps_up(words: &Words, mut descent: Descent) {
    let instance = descent.instance;
    let num_batches = descent.batches.len();
    assert!(num_batches > 3);
    let watch = Watch::default();
    descent
        .set_prices(Start::Tokens(&[]), &watch)
        .expect("nothing stops it");
    let claim = Claim {
        against: Against::Merges,
        num_merges: 50,
        floor: 30,
        longest: instance.longest,
        counted: instance.counted(),
        bits: OPTIONS.bits,
    };
    for time in [1, num_batches + 1, 2 * num_batches - 1] {
        let mut schedule = Schedule::new(instance, &OPTIONS, Duration::ZERO);
        let stride = schedule.next(&watch).expect("a first step");
        let asked = AtomicUsize::new(0);
        let step = descent.step(&stride, || asked.fetch_add(1, Ordering::Relaxed) >= time);
        assert_eq!(step, Err(Error::Interrupted));
        let rounded = descent.evaluate(&watch).expect("nothing stops it");
        let discounts = rounded
            .batches
            .into_iter()
            .flat_map(|batch| batch.discounts);
        let discounts: Vec<u32> = discounts.collect();
        assert_eq!(verify(words, &claim, &discounts), Ok(rounded.total));
    }
}

#[test]
fn an_evaluation_that_the_deadline_cuts_is_given_up() {
    let (_, instance) = words_and_instance();
    let options = DescentOptions {
        deadline: Some(Instant::now()),
        ..OPTIONS
    };
    let (watch, progress) = (Watch::default(), DescentProgress::default());
    let all = Decided::default();
    let start = Start::Tokens(&[]);
    let found = descend_in(&instance, start, &all, &options, &watch, &progress);
    assert_eq!(found.err(), Some(Error::Interrupted));
}

#[test]
fn a_step_leaves_the_time_of_an_evaluation() {
    let (_, instance) = words_and_instance();
    let minute = Duration::from_secs(60);
    let options = DescentOptions {
        deadline: Some(Instant::now() + minute),
        ..OPTIONS
    };
    let watch = Watch::default();
    for (evaluation, is_late) in [(minute / 2, false), (minute, true)] {
        let mut schedule = Schedule::new(&instance, &options, evaluation);
        assert_eq!(schedule.is_late(&watch), is_late);
        assert_eq!(schedule.next(&watch).is_none(), is_late);
    }
}

/// The prices of pieces without spans of a string that overlap, and the credits of their chains.
fn prices_and_credits(descent: &Descent) -> [Vec<f32>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for batch in &descent.batches {
        let batch = parallel::lock(batch);
        for piece in batch
            .pieces
            .iter()
            .filter(|piece| piece.overlaps().is_empty())
        {
            all[0].extend(&batch.prices.values[piece.prices(piece.rows(&batch.rows))]);
            all[1].extend(&batch.chains.credits.values[piece.chains()]);
        }
    }
    all
}

#[test]
fn steps_through_lists_move_what_steps_that_look_at_all_do() {
    let (_, instance) = words_and_instance();
    let options = DescentOptions {
        num_steps: Some(700),
        ..OPTIONS
    };
    let (watch, progress) = (Watch::default(), DescentProgress::default());
    let all = Decided::default();
    // So soft that every split counts.
    let stride = Stride {
        progress: 0.9,
        rate: 0.001,
        width: 0.02,
        softness: 20.0,
        by_split: true,
        with_rings: true,
    };
    let step_twice = |by_lists: bool| {
        with_team(OPTIONS.num_threads, |team| {
            let descent = Descent::new(&instance, &all, &options, team, &watch);
            let mut descent = descent.expect("nothing stops it");
            let tokens = Start::Tokens(&[]);
            descent
                .set_prices(tokens, &watch)
                .expect("nothing stops it");
            let schedule = Schedule::new(&instance, &options, Duration::ZERO);
            let mut best = FoundPrices::default();
            let searched = descent.search(schedule, &mut best, &watch, &progress);
            searched.expect("nothing stops it");
            assert!(!descent.rings.is_empty());
            let second = if by_lists {
                Weighed::Active(1)
            } else {
                Weighed::Splits
            };
            let before = prices_and_credits(&descent);
            for weighed in [Weighed::Splits, second] {
                descent.step(&stride, || false).expect("nothing stops it");
                assert_eq!(descent.weighed, Some(weighed.next()));
                descent.weighed.take_if(|_| !by_lists);
            }
            [before, prices_and_credits(&descent)]
        })
    };
    let [[before, by_lists], [same, by_all]] = [true, false].map(step_twice);
    assert_eq!(before, same);
    for ((before, by_lists), by_all) in before.iter().zip(&by_lists).zip(&by_all) {
        assert_ne!(before, by_lists);
        let differ = |(one, other): &(&f32, &f32)| (*one - *other).abs() > 1e-4;
        let num_different = by_lists.iter().zip(by_all).filter(differ).count();
        assert_eq!(num_different, 0, "of {}", by_lists.len());
    }
}

#[test]
fn splits_that_count_are_in_the_lists() {
    let (_, instance) = words_and_instance();
    let all = Decided::default();
    let watch = Watch::default();
    with_team(OPTIONS.num_threads, |team| {
        let descent = Descent::new(&instance, &all, &OPTIONS, team, &watch);
        let mut descent = descent.expect("nothing stops it");
        let tokens = Start::Tokens(&[]);
        descent
            .set_prices(tokens, &watch)
            .expect("nothing stops it");
        for softness in [0.5, 0.1, 0.02, 0.005] {
            let stride = Stride {
                progress: 0.5,
                rate: 0.01,
                width: 0.02,
                softness,
                by_split: true,
                with_rings: false,
            };
            for _ in 0..15 {
                let makes_lists = descent.weighed.is_none_or(|what| what == Weighed::Splits);
                descent.step(&stride, || false).expect("nothing stops it");
                let sums = &descent.sums;
                let counting = sums.splits.iter().zip(&sums.is_active);
                assert!(counting.clone().any(|(&share, _)| share > 0.0));
                let mut in_lists = counting.map(|(&share, &is_in)| share == 0.0 || is_in);
                assert!(!makes_lists || in_lists.all(|is_in| is_in));
            }
        }
        assert!(descent.sums.is_active.contains(&false));
    });
}
