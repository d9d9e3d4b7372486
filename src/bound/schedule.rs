//! When an ascent takes its steps: by their number, or by the clock.
//!
//! Widths and step sizes shrink along the way, so that the way must be known from the beginning. With
//! a deadline, progress is the part of the time that is over: whatever the limit, the whole way is
//! gone.

use std::time::{Duration, Instant};

use super::Options;
use crate::limits::Watch;

/// The steps of an ascent without any limit, and the most that a time limit is used for.
const USUAL_STEPS: usize = 300;
const MOST_STEPS: usize = 20_000;

/// How far along the way each step is taken.
pub(super) struct Schedule {
    begin: Instant,
    /// When the last step should be taken.
    end: Option<Instant>,
    num_steps: usize,
    most_steps: usize,
    /// How long a step takes, and how long a look.
    pace: Duration,
    look: Duration,
    since: Instant,
}

impl Schedule {
    pub(super) fn new(options: &Options) -> Self {
        let begin = Instant::now();
        let end = match options.num_steps {
            Some(_) => None,
            None => options.deadline,
        };
        let most_steps = match (options.num_steps, end) {
            (Some(num_steps), _) => num_steps,
            (None, None) => USUAL_STEPS,
            (None, Some(_)) => MOST_STEPS,
        };
        Self {
            begin,
            end,
            num_steps: 0,
            most_steps,
            pace: Duration::ZERO,
            look: Duration::ZERO,
            since: begin,
        }
    }

    /// The part of the way at which to take the next step, or None after the last.
    pub(super) fn next(&mut self, watch: &Watch) -> Option<f64> {
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
        let progress = match self.end {
            None => by_steps,
            Some(end) => {
                // After the last step comes the last look.
                let whole = end
                    .saturating_duration_since(self.begin)
                    .saturating_sub(self.pace + self.look.max(self.pace));
                let by_time = (now - self.begin).as_secs_f64() / whole.as_secs_f64().max(1e-9);
                by_time.max(by_steps)
            }
        };
        if progress >= 1.0 || self.num_steps >= self.most_steps || watch.is_stopped() {
            return None;
        }
        self.num_steps += 1;
        Some(progress)
    }

    /// A look is no part of the pace.
    pub(super) fn was_interrupted_by_a_look(&mut self, began: Instant) {
        let now = Instant::now();
        self.look = now - began;
        self.since = now + self.pace;
    }

    /// The size of the last steps: the more there are, the smaller.
    pub(super) fn last_rate(&self) -> f64 {
        let expected = match self.end {
            Some(end) if !self.pace.is_zero() => {
                let whole = end.saturating_duration_since(self.begin);
                (whole.as_secs_f64() / self.pace.as_secs_f64()).min(self.most_steps as f64)
            }
            Some(_) => USUAL_STEPS as f64,
            None => self.most_steps as f64,
        };
        (0.4 / expected.max(1.0)).clamp(0.0007, 0.005)
    }
}
