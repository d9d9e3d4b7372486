//! Which odd rings cut off what a linear program would choose in part.
//!
//! The strings that count in part are the nodes of a graph. Two are joined if a word gains by both, where
//! they cross. The length of an edge is 1 + the shares of its strings - twice the share of the pair,
//! which is that of either string at most: so a ring is cut off if it is shorter than 1.

// Neither a loss nor the length of an edge is negative.
#![allow(clippy::cast_sign_loss)]

use std::sync::Mutex;

use rustc_hash::{FxHashMap, FxHashSet};

use super::batch::{Batch, items_of};
use super::crossings::{Crossing, Crossings, for_each_crossing};
use super::ring_graph::odd_rings;
use super::split_prices::{self, Spans, Splits};
use super::tolls::{Rings, pair_of};
use crate::error::Result;
use crate::parallel::{Team, lock};
use crate::prices::StringIndex;

/// When rings are looked for first, and last, as fractions of all steps; the fraction between two times;
/// and over which fraction shares are noted before.
const FIRST: f64 = 0.41;
const LAST: f64 = 0.85;
const BETWEEN: f64 = 0.05;
const NOTED: f64 = 0.03;

/// A string counts in part if its share is between these.
const OPEN: [f32; 2] = [0.05, 0.95];
/// A word gains by both of two strings if it gains by so much more than by one.
const LEAST_GAIN: f32 = 0.1;
/// Pairs are joined by words of at least this part of what the last merge gains.
const LEAST_WEIGHT: f32 = 0.1;

/// The number 1 in lengths of edges. Each is a little longer: of equal rings the shortest is the best.
const ONE: f32 = 1000.0;
const LONGER: u32 = 10;
/// Rings hardly shorter than 1 are not worth their time.
const MOST: u32 = 950;

/// When rings are looked for.
#[derive(Debug)]
pub(super) struct Calendar {
    next: f64,
}

impl Calendar {
    pub(super) fn new() -> Self {
        Self { next: FIRST }
    }

    /// Whether shares are to be noted for the next search.
    pub(super) fn is_noting(&self, progress: f64) -> bool {
        self.next < LAST && progress >= self.next - NOTED
    }

    /// Whether it is time for a search: then the next will be later.
    pub(super) fn is_due(&mut self, progress: f64) -> bool {
        let is_due = self.next < LAST && progress >= self.next;
        if is_due {
            self.next = progress + BETWEEN;
        }
        is_due
    }
}

/// How much strings count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting<'a> {
    pub(super) splits: Splits<'a>,
    /// In this step.
    pub(super) now: &'a [f32],
    /// On average.
    pub(super) average: &'a [f32],
    /// The loss from which on a string counts.
    pub(super) threshold: f32,
}

/// By words of which weight two strings are joined.
type Weights = FxHashMap<[StringIndex; 2], u64>;

/// Look for rings, and find where their strings cross.
pub(super) fn renew(
    rings: &mut Rings,
    batches: &[Mutex<Batch>],
    counting: Counting,
    team: &Team,
) -> Result<()> {
    let joined = team.map(batches.len(), |index| {
        Ok(join(&lock(&batches[index]), counting))
    })?;
    let mut weights = Weights::default();
    for (pair, weight) in joined.into_iter().flatten() {
        *weights.entry(pair).or_default() += weight;
    }
    let found = find(&weights, counting, rings, team)?;
    rings.renew(found, counting.threshold);
    let rings = &*rings;
    team.map(batches.len(), |index| {
        cross(&mut lock(&batches[index]), rings);
        Ok(())
    })?;
    Ok(())
}

/// The pairs of strings that cross in a batch where a word gains by both.
fn join(batch: &Batch, counting: Counting) -> Weights {
    let average = |string: StringIndex| counting.average[string.at()];
    let is_open = |share: f32| share > OPEN[0] && share < OPEN[1];
    let mut weights = Weights::default();
    let (mut pulls, mut made, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    for piece in batch.pieces.iter().filter(|piece| !piece.by_symbol) {
        let rows = piece.rows(&batch.rows);
        let strings = &batch.strings[items_of(rows)];
        let prices = piece.prices(rows);
        nothing.resize(strings.len(), 0.0);
        let allowed = batch.crossings.allowed(&piece.crossings(), prices.clone());
        let spans = Spans {
            rows,
            strings,
            prices: &batch.prices.values[prices],
            excess: None,
            allowed: Some(allowed.unwrap_or(&nothing)),
        };
        split_prices::pull(spans, counting.splits, &mut pulls, &mut made);
        for (made, &string) in made.iter_mut().zip(strings) {
            if *made > 0.0 {
                let average = average(string);
                let scale = if is_open(average) { average } else { 0.0 };
                *made *= scale / counting.now[string.at()];
            }
        }
        for_each_crossing(
            rows,
            |item| made[item] > 0.0,
            |[item, other]| {
                let (one, two) = (strings[item], strings[other]);
                let by_one = average(one).max(average(two));
                if one != two && made[item] + made[other] > by_one + LEAST_GAIN {
                    *weights.entry(pair_of(one, two)).or_default() += piece.weight;
                }
            },
        );
    }
    weights
}

/// Rings that would be cut off, but for those that have a toll.
fn find(
    weights: &Weights,
    counting: Counting,
    rings: &Rings,
    team: &Team,
) -> Result<Vec<Vec<StringIndex>>> {
    let least = (counting.threshold * LEAST_WEIGHT) as u64;
    let heavy = weights.iter().filter(|(_, weight)| **weight >= least);
    let mut pairs: Vec<[StringIndex; 2]> = heavy.map(|(&pair, _)| pair).collect();
    pairs.sort_unstable();
    let mut nodes: Vec<StringIndex> = pairs.iter().flatten().copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    let node = |string: StringIndex| nodes.partition_point(|&node| node < string) as u32;
    let edges: Vec<[u32; 2]> = pairs.iter().map(|pair| pair.map(node)).collect();
    let lengths = pairs.iter().map(|&pair| {
        let [one, other] = pair.map(|string| counting.average[string.at()]);
        let either = (one + other).min(1.0);
        let counted = rings.average_share(pair).unwrap_or(1.0).min(either);
        ((1.0 + one + other - 2.0 * counted) * ONE) as u32 + LONGER
    });
    let found = odd_rings(nodes.len(), &edges, lengths.collect(), MOST, team)?;
    let mut known: FxHashSet<Vec<StringIndex>> = FxHashSet::default();
    for (strings, _, toll) in rings.iter() {
        if toll > 0.0 {
            known.insert(sorted(strings.to_vec()));
        }
    }
    let strings = |ring: Vec<u32>| -> Vec<StringIndex> {
        ring.iter().map(|&node| nodes[node as usize]).collect()
    };
    let is_new = |ring: &Vec<StringIndex>| !known.contains(&sorted(ring.clone()));
    Ok(found.into_iter().map(strings).filter(is_new).collect())
}

fn sorted(mut strings: Vec<StringIndex>) -> Vec<StringIndex> {
    strings.sort_unstable();
    strings
}

/// Find where the strings of rings cross in a batch. Crossings that it had keep their credits.
fn cross(batch: &mut Batch, rings: &Rings) {
    let members: FxHashSet<StringIndex> = rings
        .iter()
        .flat_map(|(strings, ..)| strings.iter().copied())
        .collect();
    let before = std::mem::take(&mut batch.crossings);
    let (mut all, mut credits) = (Vec::new(), Vec::new());
    for piece in &mut batch.pieces {
        let mut old = piece.crossings().peekable();
        piece.first_crossing = all.len() as u32;
        if !piece.by_symbol {
            let rows = piece.rows(&batch.rows);
            let strings = &batch.strings[items_of(rows)];
            let is_member = |item: usize| members.contains(&strings[item]);
            for_each_crossing(rows, is_member, |crossed| {
                let items = crossed.map(|item| item as u32);
                let [one, other] = crossed.map(|item| strings[item]);
                let Some(pair) = rings.pair(pair_of(one, other)) else {
                    return;
                };
                // Both are in the same order.
                while old
                    .next_if(|&index| before.all[index].items < items)
                    .is_some()
                {}
                let known = old.next_if(|&index| before.all[index].items == items);
                credits.push(known.map_or(0.0, |index| before.credits.values[index]));
                all.push(Crossing { items, pair });
            });
        }
        piece.end_of_crossings = all.len() as u32;
    }
    let num_prices = batch.prices.values.len();
    batch.crossings = Crossings::new(all, credits, num_prices, rings.num_pairs());
}
