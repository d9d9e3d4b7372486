//! Good prices, by gradient ascent.
//!
//! The bound is convex in the prices, but has corners: a loss begins at 0, only the largest losses
//! count, and only the dearest parts of a span. Each corner is rounded by a width that shrinks as the
//! ascent goes on. A step weighs all losses, finds how much each string counts, and then moves the
//! prices of each piece on its own (Adam). It must be the losses of now: with those of the step
//! before, prices swing. Towards the end the bound is evaluated exactly now and then, and the best
//! is kept.
//!
//! Cost: a step is linear in the number of parts of all priced spans. The result depends on the
//! number of steps, not on the number of threads.

use std::sync::Mutex;
use std::time::Instant;

use super::instance::{Against, Instance};
use super::part::Part;
use super::rounding::{self, Exact, Share};
use super::schedule::{Schedule, Stride};
use super::smooth::{Climb, ramp};
use super::step::{self, Scratch, Step};
use super::{Found, Options, Standing, long, start, threshold};
use crate::error::Result;
use crate::watch::Watch;
use crate::merges::Id;
use crate::parallel;

/// From when on, and how often, the bound is evaluated, as parts of the whole way.
const FIRST_LOOK: f64 = 0.7;
const BETWEEN_LOOKS: f64 = 0.15;

/// A width of corners that are not rounded.
const SHARP: f32 = 1e-6;

/// Find good prices, beginning with those that some tokens suggest, a greedy list's for example.
/// Stops early, with the best so far, if the watch says so.
pub fn ascend(
    instance: &Instance,
    tokens: &[Vec<Id>],
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<Found> {
    let mut ascent = Ascent::new(instance, tokens, options);
    let mut best = Best::default();
    let mut schedule = Schedule::new(instance, options);
    let mut next_look = FIRST_LOOK;
    while let Some(stride) = schedule.next(watch) {
        ascent.step(&stride)?;
        standing.advance();
        if stride.progress >= next_look {
            next_look = stride.progress + BETWEEN_LOOKS;
            let began = Instant::now();
            best.keep(ascent.look()?, instance, options, standing);
            schedule.was_interrupted_by_a_look(began);
        }
    }
    best.keep(ascent.look()?, instance, options, standing);
    Ok(Found {
        gain: gain(best.total, options.bits),
        total: best.total,
        discounts: best.discounts,
        num_steps: ascent.num_steps,
        chosen: ascent.chosen(),
    })
}

/// What an amount in units of 1 / 2^`bits` allows in whole tokens.
fn gain(total: i128, bits: u32) -> u64 {
    u64::try_from(total.max(0) >> bits).unwrap_or(u64::MAX)
}

#[derive(Default)]
struct Best {
    total: i128,
    discounts: Vec<u32>,
    is_known: bool,
}

impl Best {
    fn keep(
        &mut self,
        shares: Vec<Share>,
        instance: &Instance,
        options: &Options,
        standing: &Standing,
    ) {
        let total = rounding::total(instance, &shares, options.bits);
        if !self.is_known || total < self.total {
            self.is_known = true;
            self.total = total;
            self.discounts = Vec::new();
            self.discounts.reserve_exact(instance.num_prices());
            for share in shares {
                self.discounts.extend(share.discounts);
            }
            standing.set(gain(total, options.bits));
        }
    }
}

struct Ascent<'a> {
    instance: &'a Instance,
    parts: Vec<Mutex<Part<'a>>>,
    /// How much each string counts, and what it loses; behind them those that are too long
    /// for a price.
    shares: Vec<f32>,
    losses: Vec<f32>,
    /// The loss from which on a string counts.
    threshold: f32,
    num_steps: usize,
    options: &'a Options,
}

impl<'a> Ascent<'a> {
    fn new(instance: &'a Instance, tokens: &[Vec<Id>], options: &'a Options) -> Self {
        let mut parts = Part::all(instance);
        let is_token = start::known(instance, tokens);
        for part in &mut parts {
            start::from_tokens(part, &is_token);
        }
        let num_losses = instance.num_strings + instance.repeats.number;
        Self {
            instance,
            parts: parts.into_iter().map(Mutex::new).collect(),
            shares: vec![0.0; num_losses],
            losses: vec![0.0; num_losses],
            threshold: 0.0,
            num_steps: 0,
            options,
        }
    }

    /// Call `work(part, scratch)` for each part, in several threads.
    fn for_each_part<S: Default + Send>(
        &self,
        work: impl Fn(&mut Part<'a>, &mut S) + Sync,
    ) -> Result<()> {
        let mut workers: Vec<S> = Vec::new();
        workers.resize_with(self.options.num_threads.max(1), S::default);
        parallel::for_each(&mut workers, self.parts.len(), |scratch, index| {
            work(&mut parallel::lock(&self.parts[index]), scratch);
            Ok(())
        })
    }

    fn step(&mut self, stride: &Stride) -> Result<()> {
        let width = stride.width;
        let against = self.instance.against;
        self.for_each_part(|part, (sums, scratch): &mut (Vec<f64>, Scratch)| {
            long::weigh(part, against, width, sums);
            step::weigh(part, width, scratch);
        })?;
        self.count_shares(stride.softness);
        let step = Step {
            shares: &self.shares,
            width,
            climb: Climb::new(stride.rate, self.num_steps),
            threshold: self.threshold,
        };
        self.for_each_part(|part, (changes, scratch): &mut (Vec<f64>, Scratch)| {
            long::press(part, &step, changes);
            step::climb(part, &step, scratch);
        })?;
        self.num_steps += 1;
        Ok(())
    }

    /// Sum up the losses and find how much each string counts; `softness` is the part of the
    /// threshold over which that rises.
    fn count_shares(&mut self, softness: f32) {
        self.sum_losses();
        let floor = match self.instance.against {
            Against::Merges => self.instance.least() as f32,
            Against::Vocabularies => 0.0,
        };
        let slope = softness * self.threshold.max(floor).max(1.0);
        self.threshold = threshold::find(&self.losses, self.instance.num_merges, slope, floor);
        for (share, &loss) in self.shares.iter_mut().zip(&self.losses) {
            *share = ramp((loss - self.threshold) / slope);
        }
    }

    fn sum_losses(&mut self) {
        self.losses.fill(0.0);
        for part in &self.parts {
            for (sum, loss) in self.losses.iter_mut().zip(&parallel::lock(part).losses) {
                *sum += loss;
            }
        }
    }

    /// Lower prices until no long string counts.
    fn settle(&mut self) -> Result<()> {
        let against = self.instance.against;
        self.for_each_part(|part, sums: &mut Vec<f64>| {
            long::weigh(part, against, SHARP, sums);
        })?;
        self.sum_losses();
        let losses = &self.losses[self.instance.num_strings..];
        self.for_each_part(|part, (): &mut ()| {
            long::settle(part, against, losses, self.threshold);
        })
    }

    /// The prices as integers, and what they prove.
    fn look(&mut self) -> Result<Vec<Share>> {
        self.settle()?;
        parallel::map(self.options.num_threads, self.parts.len(), |index| {
            let part = parallel::lock(&self.parts[index]);
            let mut scratch = Exact::default();
            Ok(rounding::round(
                &part,
                self.instance,
                self.options.bits,
                &mut scratch,
            ))
        })
    }

    /// The strings that lose most, as many as there are merges.
    fn chosen(&self) -> Vec<Vec<Id>> {
        let mut names: Vec<usize> = (0..self.instance.num_strings).collect();
        names.sort_by(|&a, &b| self.losses[b].total_cmp(&self.losses[a]));
        let strings = start::strings(self.instance);
        let chosen = names.iter().take(self.instance.num_merges);
        chosen.map(|&name| strings[name].to_vec()).collect()
    }
}
