//! Good prices, by gradient descent on the smoothed bound.
//!
//! A step weighs all losses, finds how much each string counts, and then moves the prices of each
//! piece on its own. The losses must be those of the current prices: with those of the step before,
//! prices oscillate. A batch whose prices moved is weighed for the next step at once, by the same
//! thread: its data is at hand, and threads wait for one another less often. Towards the end and
//! behind the last step the bound is evaluated exactly, and the better is kept. With a deadline no step
//! takes the time of the last evaluation, and an evaluation that is not done by then is given up.
//!
//! Against merges, if there are steps enough, odd rings of strings are looked for now and then, and
//! their tolls and credits move as prices do.
//!
//! Cost: a step is linear in the number of cuts of all spans with a price. The result depends on the
//! number of steps, not on the number of threads.

use std::sync::Mutex;
use std::time::Instant;

use super::against::Against;
use super::batch::Batch;
use super::decided::Decided;
use super::found::{DescentProgress, FoundPrices, Rounded};
use super::instance::Instance;
use super::light::LightPart;
use super::ring_search::{self, Calendar, Counting};
use super::rounded_rings::RoundedRings;
use super::rounding::{self, RoundedBatch};
use super::schedule::{DescentOptions, Schedule, Stride};
use super::split_prices::SplitShares;
use super::step::Step;
use super::sums::Sums;
use super::tolls::Rings;
use super::weighing::{Memory, Weighed, descend, weigh};
use super::{late_spans, long, start};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel::{self, Team, with_team};
use crate::prices::Adam;
use crate::watch::Watch;

/// The fraction of the steps behind which the bound is evaluated for the first time: so there is one
/// if the search is stopped, and it is known how long the last takes.
const FIRST_EVALUATION: f64 = 0.7;

/// The width of corners that are not smoothed.
const SHARP: f32 = 1e-6;

/// How many losses one thread adds up at once.
const SUMMED_AT_ONCE: usize = 1 << 12;

/// Where a descent begins.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start<'a> {
    /// With the prices that some tokens suggest, a greedy list's for example.
    Tokens(&'a [Vec<Id>]),
    /// With the prices of each batch where another ended.
    Prices(&'a [Vec<f32>]),
}

/// Where a descent ended.
#[derive(Debug)]
pub(super) struct Descended {
    pub(super) found: FoundPrices,
    /// The last prices of each batch, if there may be several cases.
    pub(super) prices: Vec<Vec<f32>>,
    /// How much each string counted towards the end, on average, if there may be several cases.
    pub(super) shares: Vec<f32>,
    /// Strings by which the case may be divided.
    pub(super) open: Vec<usize>,
}

/// Find good prices for the lists for which some strings are decided. Stops early, with the best so far,
/// if the watch says so; [`Error::Interrupted`] before the first.
pub(super) fn descend_in(
    instance: &Instance,
    start: Start,
    decided: &Decided,
    options: &DescentOptions,
    watch: &Watch,
    progress: &DescentProgress,
) -> Result<Descended> {
    with_team(options.num_threads, |team| {
        let began = Instant::now();
        let mut descent = Descent::new(instance, decided, options, team, watch)?;
        descent.set_prices(start, watch)?;
        let mut schedule = Schedule::new(instance, options, began.elapsed());
        if matches!(start, Start::Prices(_)) {
            schedule.begin_in_the_midst();
        }
        let mut found = FoundPrices {
            total: i128::MAX,
            tree: vec![None],
            ..FoundPrices::default()
        };
        let outcome = descent.search(schedule, &mut found, watch, progress);
        if outcome != Err(Error::Interrupted) || found.total == i128::MAX {
            outcome?;
        }
        found.num_steps = descent.num_steps;
        found.chosen = descent.chosen();
        let shares: Vec<f32> = descent.sums.average_shares().collect();
        let open = decided.open(instance, shares.iter().copied());
        let batches = descent.batches.into_iter().map(parallel::into_inner);
        let prices = batches.filter(|_| options.num_cases > 1);
        Ok(Descended {
            found,
            prices: prices.map(|batch| batch.prices.values).collect(),
            shares,
            open,
        })
    })
}

/// Call `work(memory, batch)` for each batch, in several threads; [`Error::Interrupted`] as soon as it is
/// late.
fn for_each_batch<'a, M: Send>(
    team: &Team,
    batches: &[Mutex<Batch<'a>>],
    memories: &mut [M],
    is_late: impl Fn() -> bool + Sync,
    work: impl Fn(&mut M, &mut Batch<'a>) + Sync,
) -> Result<()> {
    team.for_each_at_home(memories, batches.len(), |memory, index| {
        if is_late() {
            return Err(Error::Interrupted);
        }
        work(memory, &mut parallel::lock(&batches[index]));
        Ok(())
    })
}

struct Descent<'a> {
    instance: &'a Instance,
    batches: Vec<Mutex<Batch<'a>>>,
    decided: &'a Decided,
    sums: Sums,
    rings: Rings,
    num_steps: usize,
    /// What was weighed since prices moved, if anything was.
    weighed: Option<Weighed>,
    options: &'a DescentOptions,
    team: &'a Team<'a>,
    /// That of each thread of the team.
    memories: Vec<Memory>,
}

impl<'a> Descent<'a> {
    fn new(
        instance: &'a Instance,
        decided: &'a Decided,
        options: &'a DescentOptions,
        team: &'a Team,
        watch: &Watch,
    ) -> Result<Self> {
        let heaviest_light = instance.heaviest_light(LightPart::FIRST);
        let batches = team.map(instance.sections.len(), |index| {
            watch.check()?;
            let section = &instance.sections[index];
            Ok(Mutex::new(Batch::new(instance, section, heaviest_light)))
        })?;
        Ok(Self {
            instance,
            batches,
            decided,
            sums: Sums::new(instance.num_losses(), decided),
            rings: Rings::default(),
            num_steps: 0,
            weighed: None,
            options,
            team,
            memories: (0..team.num_threads()).map(|_| Memory::default()).collect(),
        })
    }

    /// Set the first prices.
    fn set_prices(&self, start: Start, watch: &Watch) -> Result<()> {
        let is_token = match start {
            Start::Tokens(tokens) => start::known(self.instance, tokens),
            Start::Prices(_) => Vec::new(),
        };
        let is_late = || watch.is_stopped();
        self.change_batches(is_late, |batch| start::from_tokens(batch, &is_token))?;
        if let Start::Prices(prices) = start {
            for (batch, prices) in self.batches.iter().zip(prices) {
                parallel::lock(batch).prices.values.copy_from_slice(prices);
            }
        }
        Ok(())
    }

    /// Take the steps of the schedule, and keep the best prices; [`Error::Interrupted`] if there was
    /// no time for an evaluation.
    fn search(
        &mut self,
        mut schedule: Schedule,
        best: &mut FoundPrices,
        watch: &Watch,
        progress: &DescentProgress,
    ) -> Result<()> {
        let (instance, options) = (self.instance, self.options);
        // Whoever asks for a stop waits for what the steps were worth; at the deadline nobody does.
        let limit = Watch::until(schedule.end);
        let (mut is_evaluated, mut has_more_spans) = (false, false);
        let mut calendar = Calendar::default();
        while let Some(stride) = schedule.next(watch) {
            let step = self.step(&stride, || schedule.is_late(watch));
            if step == Err(Error::Interrupted) {
                // The prices of some batches moved: any prices prove a bound.
                break;
            }
            step?;
            progress.set_steps(self.num_steps);
            if !has_more_spans && late_spans::is_due(stride.progress, stride.by_split) {
                has_more_spans = true;
                self.price_more_spans()?;
                schedule.leave_out();
            }
            if stride.with_rings && schedule.leaves_time_for(calendar.duration()) {
                let began = Instant::now();
                let is_late = || schedule.is_late(watch);
                let looked = self.look_for_rings(&mut calendar, &stride, is_late);
                if looked == Err(Error::Interrupted) {
                    break;
                }
                if looked? {
                    calendar.note_search(stride.progress, began);
                    schedule.leave_out();
                }
            }
            if stride.progress >= FIRST_EVALUATION && self.options.num_cases > 1 {
                self.sums.note(instance.num_strings);
            }
            if stride.progress >= FIRST_EVALUATION && !is_evaluated {
                is_evaluated = true;
                let began = Instant::now();
                best.keep(self.evaluate(&limit)?, instance, options, progress);
                schedule.leave_out_evaluation(began);
            }
        }
        best.keep(self.evaluate(&limit)?, instance, options, progress);
        Ok(())
    }

    /// Call `work` for each batch; see [`for_each_batch`].
    fn change_batches(
        &self,
        is_late: impl Fn() -> bool + Sync,
        work: impl Fn(&mut Batch<'a>) + Sync,
    ) -> Result<()> {
        let mut nothing = vec![(); self.team.num_threads()];
        for_each_batch(
            self.team,
            &self.batches,
            &mut nothing,
            is_late,
            |(), batch| work(batch),
        )
    }

    fn step(&mut self, stride: &Stride, is_late: impl Fn() -> bool + Sync) -> Result<()> {
        let (instance, width) = (self.instance, stride.width);
        let against = instance.against;
        let by_split = stride.by_split && against == Against::Merges;
        let weighed = match self.weighed.take() {
            Some(weighed) if weighed.by_split() == by_split => weighed,
            _ => {
                let all = Weighed::all(by_split);
                let (team, batches, memories) = (self.team, &self.batches, &mut self.memories);
                for_each_batch(team, batches, memories, &is_late, |memory, batch| {
                    weigh(batch, all, instance, width, memory);
                })?;
                all
            }
        };
        let floor = match against {
            Against::Merges => instance.least() as f32,
            Against::Vocabularies => 0.0,
        };
        let finds_active = weighed == Weighed::Splits;
        let (sums, batches) = (&mut self.sums, &self.batches);
        sums.share_out(instance, batches, floor, stride, finds_active, self.team)?;
        let adam = Adam::new(stride.rate, self.num_steps);
        self.move_tolls(stride)?;
        let Sums {
            shares,
            splits,
            is_active,
            ..
        } = &self.sums;
        let step = Step {
            shares: shares.of_spans(width),
            splits: by_split.then_some(SplitShares { splits, width }),
            adam,
            most: against.most_lost(),
            threshold: shares.threshold,
            links: &self.rings.shares,
        };
        let next = weighed.next();
        let (team, batches, memories) = (self.team, &self.batches, &mut self.memories);
        for_each_batch(team, batches, memories, &is_late, |memory, batch| {
            descend(batch, weighed, instance, &step, is_active, memory);
            // The corners of the next step are hardly sharper.
            weigh(batch, next, instance, width, memory);
        })?;
        self.weighed = Some(next);
        self.num_steps += 1;
        Ok(())
    }

    /// Find how much of the credits of each link counts, and move the tolls of the rings.
    fn move_tolls(&mut self, stride: &Stride) -> Result<()> {
        if self.rings.is_empty() {
            return Ok(());
        }
        let batches: Vec<_> = self.batches.iter().map(parallel::lock).collect();
        let of_links = batches.iter().map(|batch| batch.chains.of_links.as_slice());
        let of_links: Vec<&[f32]> = of_links.collect();
        let (shares, num_steps, team) = (&self.sums.shares, self.num_steps, self.team);
        let strings = shares.of_spans(stride.width).strings;
        let threshold = shares.threshold;
        self.rings
            .step(&of_links, strings, threshold, stride, num_steps, team)?;
        self.sums.tolls = self.rings.tolls_of_strings(team)?;
        Ok(())
    }

    /// Give the spans of more pieces prices.
    fn price_more_spans(&mut self) -> Result<()> {
        let more = late_spans::price_more(&self.batches, self.instance, self.team)?;
        if let Some(batches) = more {
            self.batches = batches;
            self.weighed = None;
        }
        Ok(())
    }

    /// Look for rings if it is time to; whether it was. [`Error::Interrupted`] if it is too late.
    fn look_for_rings(
        &mut self,
        calendar: &mut Calendar,
        stride: &Stride,
        is_late: impl Fn() -> bool + Sync,
    ) -> Result<bool> {
        calendar.count();
        if calendar.is_noting(stride.progress) {
            self.sums.note(self.instance.num_strings);
            self.rings.note();
        }
        let is_due = calendar.is_due(stride.progress);
        if is_due {
            let average: Vec<f32> = self.sums.average_shares().collect();
            self.sums.forget();
            let shares = &self.sums.shares;
            let counting = Counting {
                begins: &self.instance.splits,
                splits: SplitShares {
                    splits: &self.sums.splits,
                    width: stride.width,
                },
                now: shares.of_spans(stride.width).strings,
                average: &average,
                threshold: shares.threshold,
            };
            ring_search::renew(&mut self.rings, &self.batches, counting, is_late, self.team)?;
            self.weighed = None;
        }
        Ok(is_due)
    }

    /// Lower prices until no long string counts.
    fn settle(&mut self, limit: &Watch) -> Result<()> {
        let against = self.instance.against;
        let is_late = || limit.is_stopped();
        self.change_batches(is_late, |batch| {
            long::weigh(batch, against, SHARP, &mut Vec::new());
        })?;
        self.sums.add_up(self.instance, &self.batches, self.team)?;
        let losses = &self.sums.shares.losses[self.instance.num_strings..];
        let threshold = self.sums.shares.threshold;
        self.change_batches(is_late, |batch| {
            long::settle(batch, against, losses, threshold);
        })
    }

    /// The prices as integers, and what they prove.
    fn evaluate(&mut self, limit: &Watch) -> Result<Rounded> {
        self.weighed = None;
        self.settle(limit)?;
        let (instance, bits) = (self.instance, self.options.bits);
        let rings = RoundedRings::new(&self.rings, bits);
        let rounded: Vec<Mutex<RoundedBatch>> =
            self.batches.iter().map(|_| Mutex::default()).collect();
        // Sums of integers do not depend on which thread adds what.
        let mut losses: Vec<Vec<i128>> = Vec::new();
        losses.resize_with(self.team.num_threads(), Vec::new);
        let batches = &self.batches;
        self.team
            .for_each(&mut losses, batches.len(), |losses, index| {
                limit.check()?;
                let batch = parallel::lock(&batches[index]);
                *parallel::lock(&rounded[index]) =
                    rounding::round(&batch, instance, &rings, bits, losses);
                Ok(())
            })?;
        let num_losses = instance.num_splits() + instance.repeats.num_strings;
        let num_chunks = num_losses.div_ceil(SUMMED_AT_ONCE);
        let sums = self.team.map(num_chunks, |index| {
            let start = index * SUMMED_AT_ONCE;
            let mut sums = vec![0; SUMMED_AT_ONCE.min(num_losses - start)];
            for losses in losses.iter().filter(|losses| !losses.is_empty()) {
                for (sum, loss) in sums.iter_mut().zip(&losses[start..]) {
                    *sum += loss;
                }
            }
            Ok(sums)
        })?;
        let batches: Vec<RoundedBatch> = rounded.into_iter().map(parallel::into_inner).collect();
        let losses = sums.concat();
        let total = rounding::total(instance, &batches, &losses, self.decided, &rings, bits);
        Ok(Rounded {
            batches,
            rings,
            total,
        })
    }

    /// The strings that lose most, one for each merge.
    fn chosen(&self) -> Vec<Vec<Id>> {
        let losses = &self.sums.shares.losses;
        let mut order: Vec<usize> = (0..self.instance.num_strings).collect();
        order.sort_by(|&a, &b| losses[b].total_cmp(&losses[a]));
        let chosen = order.iter().take(self.instance.num_merges);
        chosen
            .map(|&string| self.instance.symbols_of(string).to_vec())
            .collect()
    }
}

#[cfg(test)]
mod tests;
