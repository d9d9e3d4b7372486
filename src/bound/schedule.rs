//! When a descent takes its steps: by their number, or by the clock.
//!
//! Widths and step sizes shrink from the first step to the last, so that the end must be known from
//! the beginning. With a deadline, a step advances by its part of the time that is left for steps: whatever
//! the deadline, and whatever is done between them, steps advance evenly and the last are small ones.

use std::time::{Duration, Instant};

use super::against::Against;
use super::instance::Instance;
use super::late_spans;
use crate::watch::Watch;

/// How to search for prices.
#[derive(Debug, Clone)]
pub struct DescentOptions {
    /// The number of steps; None: as many as the deadline allows, a few hundred without one.
    pub num_steps: Option<usize>,
    /// When to end, without `num_steps`.
    pub deadline: Option<Instant>,
    /// Prices are integers in units of 1 / 2^bits; 10 is enough, at most 16.
    pub bits: u32,
    /// The number of threads; with `num_steps` the result does not depend on it.
    pub num_threads: usize,
    /// The most cases into which the proof may divide all lists; 1 or less: it does not. Then
    /// `num_steps` are those of each case, and until the deadline there are as many as fit.
    pub num_cases: usize,
}

/// The number of steps without any limit, and the most with a deadline.
const USUAL_STEPS: usize = 300;
const MOST_STEPS: usize = 20_000;
/// With more steps the schedule does not change.
const MANY_STEPS: f64 = 480.0;

/// With so many steps, and not more splits than that, the steps behind this fraction of the way tell the
/// splits of a string apart. It takes many steps to gain by that, and the more the more splits there are.
const STEPS_FOR_SPLITS: f64 = 700.0;
const MOST_SPLITS: usize = 1 << 17;
const BEFORE_SPLITS: f64 = 0.4;
/// With so many steps, those behind this fraction tell the splits apart and look for rings. Each takes as
/// long as so many others.
const STEPS_FOR_RINGS: f64 = 600.0;
const BEFORE_RINGS: f64 = 0.02;
const TIME_OF_RINGS: f64 = 2.0;

/// The part of the way that is left out where a descent begins at the prices of another.
const MIDST: f64 = 0.5;

/// Pieces are long if they have more symbols than this on average.
const LONG: usize = 20;

/// How a step is taken.
pub(super) struct Stride {
    /// The fraction of the way behind it, from 0 to 1.
    pub(super) progress: f64,
    /// How far prices move.
    pub(super) rate: f32,
    /// Over which width corners are smoothed.
    pub(super) width: f32,
    /// Over which fraction of the threshold the share of a string rises from 0 to 1.
    pub(super) softness: f32,
    /// Whether the splits of a string are told apart.
    pub(super) by_split: bool,
    /// Whether it pays to look for rings.
    pub(super) with_rings: bool,
}

/// What steps tell apart: strings, their splits too, and odd rings of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Strings,
    Splits,
    Rings,
}

/// The steps from the first to the last.
pub(super) struct Schedule {
    /// When the last evaluation should be done.
    pub(super) end: Option<Instant>,
    has_long_pieces: bool,
    /// Whether the spans of more pieces will have prices.
    has_more_spans: bool,
    most_detail: Detail,
    detail: Detail,
    /// The part of the way that another descent went.
    behind: f64,
    /// The fraction of the own way that is behind, and how far the last step went.
    progress: f64,
    advance: f64,
    num_steps: usize,
    most_steps: usize,
    /// How long a step takes, and how long an exact evaluation.
    pace: Duration,
    evaluation: Duration,
    /// Whether there was an evaluation, so that only the last is left.
    is_evaluated: bool,
    since: Instant,
}

impl Schedule {
    /// `evaluation` is about how long an exact evaluation takes, before there was one.
    pub(super) fn new(instance: &Instance, options: &DescentOptions, evaluation: Duration) -> Self {
        let end = options.deadline.filter(|_| options.num_steps.is_none());
        let usual = end.map_or(USUAL_STEPS, |_| MOST_STEPS);
        Self {
            end,
            has_more_spans: late_spans::heaviest_light_later(instance).is_some(),
            has_long_pieces: instance.reach.len() > LONG * instance.pieces.ends.len(),
            most_detail: if instance.num_splits() > MOST_SPLITS {
                Detail::Strings
            } else if options.num_cases > 1 || instance.against == Against::Vocabularies {
                Detail::Splits
            } else {
                Detail::Rings
            },
            detail: Detail::Strings,
            behind: 0.0,
            progress: 0.0,
            advance: 0.0,
            num_steps: 0,
            most_steps: options.num_steps.unwrap_or(usual),
            pace: Duration::ZERO,
            evaluation,
            is_evaluated: false,
            since: Instant::now(),
        }
    }

    /// Begin with small steps, from where another descent ended.
    pub(super) fn begin_in_the_midst(&mut self) {
        self.behind = MIDST;
        self.detail = Detail::Splits.min(self.most_detail);
    }

    /// The next step, or None after the last.
    pub(super) fn next(&mut self, watch: &Watch) -> Option<Stride> {
        let now = Instant::now();
        if self.num_steps > 0 && now > self.since {
            self.pace = if self.num_steps == 1 {
                now - self.since
            } else {
                (self.pace * 3 + (now - self.since)) / 4
            };
        }
        self.since = now;
        let by_steps = self.num_steps as f64 / self.most_steps.max(1) as f64;
        self.progress = match self.end {
            None => by_steps,
            Some(end) => {
                let left = self.left_for_steps(end.saturating_duration_since(now));
                self.advance = self.advance_in(left);
                let by_time = self.progress + self.advance;
                if left.is_zero() {
                    1.0
                } else {
                    by_time.max(by_steps)
                }
            }
        };
        let is_done = self.progress >= 1.0 || self.num_steps >= self.most_steps;
        if is_done || watch.is_stopped() {
            return None;
        }
        self.num_steps += 1;
        let progress = self.behind + (1.0 - self.behind) * self.progress;
        // Once begun, it goes on.
        self.detail = self.detail.max(self.worth_its_time(progress));
        Some(self.stride(progress))
    }

    /// How far the next step goes, if so much time is left for those behind it, and all go as far.
    fn advance_in(&self, left: Duration) -> f64 {
        // The rest of the way, by the time that a step takes now.
        let mut rest = 1.0 - self.progress;
        let later = (late_spans::LATER - self.behind) / (1.0 - self.behind);
        if self.has_more_spans && self.progress < later {
            rest += (late_spans::TIME - 1.0) * (1.0 - later);
        }
        rest * self.pace.as_secs_f64() / (self.pace + left).as_secs_f64().max(1e-9)
    }

    /// What is left of some time without the next step and the evaluations. There is time for steps even if
    /// there is none for the first evaluation.
    fn left_for_steps(&self, left: Duration) -> Duration {
        let without_last = left.saturating_sub(self.pace + self.evaluation.max(self.pace));
        if self.is_evaluated {
            return without_last;
        }
        let without_first = without_last.saturating_sub(self.evaluation);
        without_first.max(without_last / 2)
    }

    /// What is told apart from this part of the way on.
    fn worth_its_time(&self, progress: f64) -> Detail {
        let num_steps = self.expected_steps();
        let for_rings = STEPS_FOR_RINGS * self.end.map_or(1.0, |_| TIME_OF_RINGS);
        let detail = if num_steps >= for_rings && progress >= BEFORE_RINGS {
            Detail::Rings
        } else if num_steps >= STEPS_FOR_SPLITS && progress >= BEFORE_SPLITS {
            Detail::Splits
        } else {
            Detail::Strings
        };
        detail.min(self.most_detail)
    }

    /// Whether all time that is left is that of the last evaluation, or `watch` was stopped.
    pub(super) fn is_late(&self, watch: &Watch) -> bool {
        let is_near = |end: Instant| Instant::now() + self.evaluation >= end;
        watch.is_stopped() || self.end.is_some_and(is_near)
    }

    /// Whether something may be done between steps that takes about so long: then there is time for steps
    /// and the last evaluation behind it.
    pub(super) fn leaves_time_for(&self, work: Duration) -> bool {
        let is_early = |end: Instant| Instant::now() + self.evaluation + 3 * work < end;
        self.end.is_none_or(is_early)
    }

    /// Leave the exact evaluation that began at `began`, and ends now, out of the pace.
    pub(super) fn leave_out_evaluation(&mut self, began: Instant) {
        self.evaluation = began.elapsed();
        self.is_evaluated = true;
        self.leave_out();
    }

    /// Leave what was done since the last step out of the pace.
    pub(super) fn leave_out(&mut self) {
        self.since = Instant::now() + self.pace;
    }

    /// The number of steps in all, estimated if there is a deadline.
    fn expected_steps(&self) -> f64 {
        match self.end {
            Some(_) if self.pace.is_zero() => 1.0,
            Some(_) => {
                let to_come = (1.0 - self.progress) / self.advance.max(1e-9);
                (self.num_steps as f64 + to_come).min(self.most_steps as f64)
            }
            None => self.most_steps as f64,
        }
        .max(1.0)
            / (1.0 - self.behind)
    }

    /// Few steps are small ones from where they begin; many begin with large ones, and shrink slowly.
    /// In long pieces, where all prices depend on each other, that does not pay; nor with rings, whose
    /// tolls and credits large steps would lead astray.
    fn stride(&self, progress: f64) -> Stride {
        let between = |first: f64, last: f64| (first * (last / first).powf(progress)) as f32;
        if self.detail == Detail::Rings {
            return Stride {
                progress,
                rate: between(0.01, 0.0005),
                width: between(0.05, 0.003),
                softness: between(0.5, 0.005),
                by_split: true,
                with_rings: true,
            };
        }
        let expected = self.expected_steps();
        let leisure = (expected / MANY_STEPS).clamp(0.25, 1.0);
        let first_rate = if self.has_long_pieces {
            0.05
        } else {
            0.2 * leisure
        };
        let last_rate = 0.0003 / (leisure * leisure);
        Stride {
            progress,
            rate: between(first_rate, last_rate),
            width: between(0.05 / leisure, last_rate),
            softness: between(0.5 / leisure, 0.015 / leisure),
            by_split: self.detail == Detail::Splits,
            with_rings: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::words::Words;

    /// That of one word, given how long an evaluation takes.
    fn schedule(deadline: Option<Instant>, evaluation: Duration) -> Schedule {
        let mut words = Words::default();
        words.push(&[0, 1, 0, 1], 3);
        let watch = Watch::default();
        let instance = Instance::new(&words, Against::Merges, 1, 1, 4, 1, &watch);
        let instance = instance.expect("nothing stops it");
        let options = DescentOptions {
            num_steps: None,
            deadline,
            bits: 10,
            num_threads: 1,
            num_cases: 1,
        };
        Schedule::new(&instance, &options, evaluation)
    }

    #[test]
    fn evaluations_are_no_time_for_steps() {
        let seconds = Duration::from_secs;
        let mut schedule = schedule(None, seconds(2));
        schedule.pace = seconds(1);
        // Two evaluations and one step to come; if there is no time for the first, half of it is for steps.
        assert_eq!(schedule.left_for_steps(seconds(10)), seconds(5));
        assert_eq!(schedule.left_for_steps(seconds(5)), seconds(1));
        assert_eq!(schedule.left_for_steps(seconds(2)), seconds(0));
        schedule.is_evaluated = true;
        assert_eq!(schedule.left_for_steps(seconds(10)), seconds(7));
    }

    #[test]
    fn steps_go_as_far_as_one_another_though_the_last_take_longer() {
        let mut schedule = schedule(Some(Instant::now()), Duration::ZERO);
        schedule.has_more_spans = true;
        let mut left = Duration::from_secs(1120);
        let mut num_steps = 0;
        while schedule.progress < 1.0 {
            let is_late = schedule.progress >= late_spans::LATER;
            schedule.pace = Duration::from_secs_f64(if is_late { late_spans::TIME } else { 1.0 });
            left = left.saturating_sub(schedule.pace);
            schedule.advance = schedule.advance_in(left);
            schedule.num_steps = num_steps;
            assert!((0.000_99..0.001_01).contains(&schedule.advance));
            assert!((990.0..1010.0).contains(&schedule.expected_steps()));
            schedule.progress += schedule.advance;
            num_steps += 1;
        }
        assert_eq!(left, Duration::ZERO);
    }

    #[test]
    fn nothing_is_begun_that_takes_the_time_of_the_last_evaluation() {
        let seconds = Duration::from_secs;
        let with = |deadline| schedule(deadline, seconds(1000));
        let schedule = with(Some(Instant::now() + seconds(10_000)));
        assert!(schedule.leaves_time_for(seconds(2000)));
        assert!(!schedule.leaves_time_for(seconds(3000)));
        assert!(with(None).leaves_time_for(seconds(3000)));
    }
}
