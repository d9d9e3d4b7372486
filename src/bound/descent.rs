//! Good prices, by gradient descent on the smoothed bound.
//!
//! A step weighs all losses, finds how much each string counts, and then moves the prices of each
//! piece on its own. The losses must be those of the current prices: with those of the step before,
//! prices oscillate. Towards the end the bound is evaluated exactly now and then, and the best is
//! kept.
//!
//! Cost: a step is linear in the number of cuts of all spans with a price. The result depends on the
//! number of steps, not on the number of threads.

use std::sync::Mutex;
use std::time::Instant;

use super::against::Against;
use super::batch::Batch;
use super::instance::Instance;
use super::rounding::{self, RoundedBatch};
use super::schedule::{DescentOptions, Schedule, Stride};
use super::step::{self, Scratch, Step};
use super::{long, start};
use crate::error::Result;
use crate::merges::Id;
use crate::parallel;
use crate::prices::{Adam, Shares, whole_tokens};
use crate::watch::Watch;

/// The first exact evaluation, and the distance to the next, as fractions of all steps.
const FIRST_EVALUATION: f64 = 0.7;
const BETWEEN_EVALUATIONS: f64 = 0.15;

/// The width of corners that are not smoothed.
const SHARP: f32 = 1e-6;

/// Prices and what they prove.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundPrices {
    /// No list of the instance's number of merges, or no vocabulary of that number of strings, saves
    /// more tokens.
    pub gain: u64,
    /// The same before it was rounded down, in units of 1 / 2^bits.
    pub total: i128,
    /// The proof: for each distinct piece in ascending order and each symbol of it, how much it costs
    /// less than 1; against merges followed by how much each span that begins there costs less than
    /// the smaller of 1 and its dearest parts, the shorter spans first.
    pub discounts: Vec<u32>,
    /// The number of steps taken.
    pub num_steps: usize,
    /// The strings with the largest losses, one for each merge: a good vocabulary.
    pub chosen: Vec<Vec<Id>>,
}

/// The progress of a descent, to be read from another thread.
#[derive(Debug, Default)]
pub struct DescentProgress(Mutex<(usize, Option<u64>)>);

impl DescentProgress {
    /// The number of steps taken, and the most that can be gained by the best bound so far; None
    /// before the first.
    pub fn read(&self) -> (usize, Option<u64>) {
        *parallel::lock(&self.0)
    }
}

/// Find good prices, beginning with those that some tokens suggest, a greedy list's for example.
/// Stops early, with the best so far, if the watch says so.
pub fn descend(
    instance: &Instance,
    tokens: &[Vec<Id>],
    options: &DescentOptions,
    watch: &Watch,
    progress: &DescentProgress,
) -> Result<FoundPrices> {
    let mut descent = Descent::new(instance, tokens, options);
    let mut best = FoundPrices {
        total: i128::MAX,
        ..FoundPrices::default()
    };
    let mut schedule = Schedule::new(instance, options);
    let mut next_evaluation = FIRST_EVALUATION;
    while let Some(stride) = schedule.next(watch) {
        descent.step(&stride)?;
        parallel::lock(&progress.0).0 = descent.num_steps;
        if stride.progress >= next_evaluation {
            next_evaluation = stride.progress + BETWEEN_EVALUATIONS;
            let began = Instant::now();
            best.keep(descent.evaluate()?, instance, options, progress);
            schedule.leave_out_evaluation(began);
        }
    }
    best.keep(descent.evaluate()?, instance, options, progress);
    best.num_steps = descent.num_steps;
    best.chosen = descent.chosen();
    Ok(best)
}

impl FoundPrices {
    /// Keep these prices if their bound is the smallest so far.
    fn keep(
        &mut self,
        batches: Vec<RoundedBatch>,
        instance: &Instance,
        options: &DescentOptions,
        progress: &DescentProgress,
    ) {
        let total = rounding::total(instance, &batches, options.bits);
        if total < self.total {
            self.total = total;
            self.gain = whole_tokens(total, options.bits);
            self.discounts = Vec::new();
            self.discounts.reserve_exact(instance.num_prices());
            for batch in batches {
                self.discounts.extend(batch.discounts);
            }
            parallel::lock(&progress.0).1 = Some(self.gain);
        }
    }
}

struct Descent<'a> {
    instance: &'a Instance,
    batches: Vec<Mutex<Batch<'a>>>,
    /// The losses of the strings, and behind them those of the repeats, which are too long for a
    /// price.
    shares: Shares,
    num_steps: usize,
    options: &'a DescentOptions,
}

impl<'a> Descent<'a> {
    fn new(instance: &'a Instance, tokens: &[Vec<Id>], options: &'a DescentOptions) -> Self {
        let mut batches = Batch::all(instance);
        let is_token = start::known(instance, tokens);
        for batch in &mut batches {
            start::from_tokens(batch, &is_token);
        }
        Self {
            instance,
            batches: batches.into_iter().map(Mutex::new).collect(),
            shares: Shares::new(instance.num_losses()),
            num_steps: 0,
            options,
        }
    }

    /// Call `work(batch, scratch)` for each batch, in several threads.
    fn for_each_batch<S: Default + Send>(
        &self,
        work: impl Fn(&mut Batch<'a>, &mut S) + Sync,
    ) -> Result<()> {
        let mut scratches: Vec<S> = Vec::new();
        scratches.resize_with(self.options.num_threads.max(1), S::default);
        parallel::for_each(&mut scratches, self.batches.len(), |scratch, index| {
            work(&mut parallel::lock(&self.batches[index]), scratch);
            Ok(())
        })
    }

    fn step(&mut self, stride: &Stride) -> Result<()> {
        let width = stride.width;
        let against = self.instance.against;
        self.for_each_batch(|batch, (sums, scratch): &mut (Vec<f64>, Scratch)| {
            long::weigh(batch, against, width, sums);
            step::weigh(batch, width, scratch);
        })?;
        self.sum_losses();
        let floor = match against {
            Against::Merges => self.instance.least() as f32,
            Against::Vocabularies => 0.0,
        };
        let num_merges = self.instance.num_merges;
        self.shares.update(num_merges, floor, stride.softness);
        let step = Step {
            shares: self.shares.of_spans(width),
            adam: Adam::new(stride.rate, self.num_steps),
            threshold: self.shares.threshold,
        };
        self.for_each_batch(|batch, (changes, scratch): &mut (Vec<f64>, Scratch)| {
            long::press(batch, step.shares, changes);
            step::descend(batch, &step, scratch);
        })?;
        self.num_steps += 1;
        Ok(())
    }

    fn sum_losses(&mut self) {
        let losses = &mut self.shares.losses;
        losses.fill(0.0);
        for batch in &self.batches {
            for (sum, loss) in losses.iter_mut().zip(&parallel::lock(batch).losses) {
                *sum += loss;
            }
        }
    }

    /// Lower prices until no long string counts.
    fn settle(&mut self) -> Result<()> {
        let against = self.instance.against;
        self.for_each_batch(|batch, sums: &mut Vec<f64>| {
            long::weigh(batch, against, SHARP, sums);
        })?;
        self.sum_losses();
        let losses = &self.shares.losses[self.instance.num_strings..];
        let threshold = self.shares.threshold;
        self.for_each_batch(|batch, (): &mut ()| {
            long::settle(batch, against, losses, threshold);
        })
    }

    /// The prices as integers, and what they prove.
    fn evaluate(&mut self) -> Result<Vec<RoundedBatch>> {
        self.settle()?;
        parallel::map(self.options.num_threads, self.batches.len(), |index| {
            let batch = parallel::lock(&self.batches[index]);
            Ok(rounding::round(&batch, self.instance, self.options.bits))
        })
    }

    /// The strings that lose most, one for each merge.
    fn chosen(&self) -> Vec<Vec<Id>> {
        let losses = &self.shares.losses;
        let mut order: Vec<usize> = (0..self.instance.num_strings).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]));
        let strings = start::strings(self.instance);
        let chosen = order.iter().take(self.instance.num_merges);
        chosen.map(|&string| strings[string].to_vec()).collect()
    }
}
