//! What strings lose in all batches, and how much each counts: in parts, for threads.

use std::sync::{Mutex, MutexGuard};

use super::batch::Batch;
use super::decided::Decided;
use super::instance::Instance;
use super::schedule::Stride;
use super::sections::STRINGS_OF_A_PART;
use crate::error::Result;
use crate::parallel::{Team, lock};
use crate::prices::{CERTAIN, NEVER, Part, Shares, share_out};

/// A split may count in the next steps if what it lacks of counting now is at most this part of the loss
/// from which on strings count, or of what its string loses if that is more.
const NEARLY: f32 = 0.1;

/// The losses of strings and splits, and how much each counts.
#[derive(Debug)]
pub(super) struct Sums {
    /// The losses of the strings, and behind them those of the repeats, which are too long for a
    /// price.
    pub(super) shares: Shares,
    /// The losses of the splits, then how much each counts, while they are told apart.
    pub(super) splits: Vec<f32>,
    /// Which splits may count in the next steps: see `active`.
    pub(super) is_active: Vec<bool>,
    /// The strings that count for certain, or not at all, in ascending order, and what is put in the
    /// place of their losses.
    decided: Vec<(usize, f32)>,
    /// What is added to the losses of some strings, in ascending order: the tolls of their rings.
    pub(super) tolls: Vec<(usize, f32)>,
    /// The sums of the shares, over the steps that were noted.
    noted: Vec<f32>,
    num_noted: usize,
}

/// Some strings, and their splits.
struct WithSplits<'a> {
    /// The number of the first string, and of the first split.
    first: usize,
    first_split: usize,
    strings: Part<'a>,
    /// Where the splits of each begin, and where the last end; empty if they have none.
    begins: &'a [u32],
    splits: &'a mut [f32],
    is_active: &'a mut [bool],
}

impl Sums {
    pub(super) fn new(num_losses: usize, decided: &Decided) -> Self {
        let has = decided.has.iter().map(|&string| (string, CERTAIN));
        let lacks = decided.lacks.iter().map(|&string| (string, NEVER));
        let mut decided: Vec<(usize, f32)> = has.chain(lacks).collect();
        decided.sort_unstable_by_key(|entry| entry.0);
        Self {
            shares: Shares::new(num_losses),
            splits: Vec::new(),
            is_active: Vec::new(),
            decided,
            tolls: Vec::new(),
            noted: Vec::new(),
            num_noted: 0,
        }
    }

    /// Note how much each string counts in this step.
    pub(super) fn note(&mut self, num_strings: usize) {
        self.noted.resize(num_strings, 0.0);
        let shares = self.shares.of_spans(1.0).strings;
        for (sum, share) in self.noted.iter_mut().zip(shares) {
            *sum += share;
        }
        self.num_noted += 1;
    }

    /// Forget what was noted.
    pub(super) fn forget(&mut self) {
        self.noted.clear();
        self.num_noted = 0;
    }

    /// How much each string counted in the steps that were noted, on average.
    pub(super) fn average_shares(&self) -> impl Iterator<Item = f32> {
        let num_noted = self.num_noted.max(1) as f32;
        self.noted.iter().map(move |sum| sum / num_noted)
    }

    /// Add up the losses of the batches: a string loses what it does in pieces without prices of spans,
    /// and as much as its largest split.
    pub(super) fn add_up(
        &mut self,
        instance: &Instance,
        batches: &[Mutex<Batch>],
        team: &Team,
    ) -> Result<()> {
        self.add_up_with(instance, batches, |_| (), team)?;
        Ok(())
    }

    /// The same, and then find how much each string and each split counts; strings at least `floor`. Also,
    /// if wanted, which splits may count in the next steps.
    pub(super) fn share_out(
        &mut self,
        instance: &Instance,
        batches: &[Mutex<Batch>],
        floor: f32,
        stride: &Stride,
        finds_active: bool,
        team: &Team,
    ) -> Result<()> {
        let outlook = self.shares.outlook(floor, stride.softness);
        let near = self.add_up_with(instance, batches, |losses| outlook.near(losses), team)?;
        let shares = &mut self.shares;
        shares.find_threshold(&near, instance.num_merges, outlook);
        let threshold = shares.threshold;
        let parts = self.parts(instance);
        team.map(parts.len(), |index| {
            let part = &mut *lock(&parts[index]);
            part.strings.update(threshold, outlook);
            if finds_active {
                part.find_active(threshold, stride.softness);
            }
            for (share, splits) in part.strings.shares.iter().zip(part.begins.windows(2)) {
                let [start, end] = [splits[0], splits[1]].map(|at| at as usize - part.first_split);
                share_out(
                    *share,
                    &mut part.splits[start..end],
                    threshold,
                    stride.softness,
                );
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Add up the losses; returns what `see` finds in them, part after part.
    fn add_up_with<T: Send>(
        &mut self,
        instance: &Instance,
        batches: &[Mutex<Batch>],
        see: impl Fn(&[f32]) -> T + Sync,
        team: &Team,
    ) -> Result<Vec<T>> {
        let batches: Vec<_> = batches.iter().map(lock).collect();
        let has_splits = batches.iter().any(|batch| !batch.split_losses.is_empty());
        let num_splits = if has_splits { instance.num_splits() } else { 0 };
        self.splits.resize(num_splits, 0.0);
        self.is_active.resize(num_splits, true);
        let decided = std::mem::take(&mut self.decided);
        let tolls = std::mem::take(&mut self.tolls);
        let parts = self.parts(instance);
        let seen = team.map(parts.len(), |index| {
            let part = &mut *lock(&parts[index]);
            part.add_up(index, &batches);
            for (loss, splits) in part.strings.losses.iter_mut().zip(part.begins.windows(2)) {
                let [start, end] = [splits[0], splits[1]].map(|at| at as usize - part.first_split);
                *loss += part.splits[start..end].iter().copied().fold(0.0, f32::max);
            }
            amend(&tolls, part, |loss, toll| *loss += toll);
            amend(&decided, part, |loss, instead| *loss = instead);
            Ok(see(part.strings.losses))
        });
        drop(parts);
        self.decided = decided;
        self.tolls = tolls;
        seen
    }

    /// The strings and splits in parts.
    fn parts<'a>(&'a mut self, instance: &'a Instance) -> Vec<Mutex<WithSplits<'a>>> {
        let mut parts = Vec::new();
        let mut rest = self.splits.as_mut_slice();
        let mut rest_active = self.is_active.as_mut_slice();
        let (mut first, mut first_split) = (0, 0);
        for strings in self.shares.parts(STRINGS_OF_A_PART) {
            let end = (first + strings.losses.len()).min(instance.num_strings);
            let begins = if rest.is_empty() || first >= end {
                &[]
            } else {
                &instance.splits[first..=end]
            };
            let num_splits = begins.last().map_or(0, |&end| end as usize - first_split);
            let (splits, is_active);
            (splits, rest) = rest.split_at_mut(num_splits);
            (is_active, rest_active) = rest_active.split_at_mut(num_splits);
            let next = first + strings.losses.len();
            parts.push(Mutex::new(WithSplits {
                first,
                first_split,
                strings,
                begins,
                splits,
                is_active,
            }));
            (first, first_split) = (next, first_split + num_splits);
        }
        parts
    }
}

impl WithSplits<'_> {
    /// Add up what the batches have of the part at `index`, always in the same order.
    fn add_up(&mut self, index: usize, batches: &[MutexGuard<Batch>]) {
        self.strings.losses.fill(0.0);
        self.splits.fill(0.0);
        for batch in batches {
            let section = batch.section;
            section.add_up(index, &batch.losses, self.strings.losses);
            if !self.splits.is_empty() {
                section.add_up_splits(index, self.begins, &batch.split_losses, self.splits);
            }
        }
    }

    /// Find which splits may count in the next steps, given what each loses.
    fn find_active(&mut self, threshold: f32, softness: f32) {
        let reach = (softness + NEARLY) * threshold.max(1.0);
        for (loss, splits) in self.strings.losses.iter().zip(self.begins.windows(2)) {
            let [start, end] = [splits[0], splits[1]].map(|at| at as usize - self.first_split);
            let splits = &self.splits[start..end];
            let largest = splits.iter().copied().fold(0.0, f32::max);
            let bottom = largest - (softness + NEARLY) * threshold.max(largest).max(1.0);
            for (is_active, split) in self.is_active[start..end].iter_mut().zip(splits) {
                *is_active = *loss > threshold - reach && *split > bottom;
            }
        }
    }
}

/// Change the losses of those strings of a part that are in a list in ascending order.
fn amend(strings: &[(usize, f32)], part: &mut WithSplits, change: impl Fn(&mut f32, f32)) {
    let from = strings.partition_point(|&(string, _)| string < part.first);
    for &(string, number) in &strings[from..] {
        match part.strings.losses.get_mut(string - part.first) {
            Some(loss) => change(loss, number),
            None => break,
        }
    }
}
