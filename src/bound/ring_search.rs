//! Which odd rings cut off what a linear program would choose in part.
//!
//! The strings that count in part are the nodes of a graph. Two are linked if they are at the ends of a
//! chain by which a word gains more than it would by whole numbers. The length of an edge is the shares
//! of its strings - twice the share of the link, which is at most that of both or that of either; and
//! 1 more by either: so a ring is cut off if it is shorter than 1.

// Neither a loss nor the length of an edge is negative.
#![allow(clippy::cast_sign_loss)]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::batch::{Batch, items_of};
use super::chains::{Chains, Crossed, LONGEST_CHAIN, certain};
use super::ring_graph::odd_rings;
use super::rows::Row;
use super::split_prices::{self, Spans, SplitShares};
use super::tolls::{Around, Link, Rings, Strings};
use crate::error::{Error, Result};
use crate::parallel::{Team, lock};
use crate::prices::StringIndex;

/// When rings are looked for last, as a fraction of all steps; the fraction before the first time, and
/// between two, and the number of steps if that takes longer; and behind which part of them shares are noted.
const LAST: f64 = 0.85;
const BETWEEN: f64 = 0.02;
const STEPS_BETWEEN: f64 = 60.0;
const BEFORE_NOTES: f64 = 0.4;

/// A string counts in part if its share is between these.
const OPEN: [f32; 2] = [0.05, 0.95];
/// A span is looked at if it counts by more than this.
const LEAST_MADE: f32 = 0.03;
/// Strings are linked if a word gains by so much more than it would if they were the same ones.
const LEAST_GAIN: f32 = 0.15;
/// They are linked by words of at least this part of what the last merge gains.
const LEAST_WEIGHT: f32 = 0.1;

/// A piece with more chains than this has no say in which strings are linked. All parts of a row of sixty dots
/// cross each other: there are more chains than could be looked at, and rings of them would have so many places
/// that each step took seconds.
const MOST_CHAINS: usize = 1 << 16;

/// The number 1 in lengths of edges. Each is a little longer: of equal rings the shortest is the best.
const ONE: f32 = 1000.0;
const LONGER: u32 = 10;
/// Rings hardly shorter than 1 are not worth their time.
const MOST: u32 = 950;

/// The number of parts in which links are added up.
const PARTS: usize = 32;

/// When rings are looked for.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    /// When rings were looked for last, or it was begun to wait for the first time.
    last: Option<f64>,
    /// The number of steps since then, and how long the search took.
    num_steps: usize,
    duration: Duration,
}

impl Calendar {
    /// Count a step.
    pub(super) fn count(&mut self) {
        self.num_steps += 1;
    }

    /// Whether shares are to be noted for the next search.
    pub(super) fn is_noting(&mut self, progress: f64) -> bool {
        progress < LAST && self.waited(progress) >= BEFORE_NOTES
    }

    /// Whether it is time for a search.
    pub(super) fn is_due(&mut self, progress: f64) -> bool {
        progress < LAST && self.waited(progress) >= 1.0
    }

    /// How long the last search took.
    pub(super) fn duration(&self) -> Duration {
        self.duration
    }

    /// There was a search that began at `began`, and ends now.
    pub(super) fn note_search(&mut self, progress: f64, began: Instant) {
        *self = Self {
            last: Some(progress),
            num_steps: 0,
            duration: began.elapsed(),
        };
    }

    /// Which part of the time between two searches is over.
    fn waited(&mut self, progress: f64) -> f64 {
        let last = *self.last.get_or_insert(progress);
        let by_steps = self.num_steps as f64 / STEPS_BETWEEN;
        by_steps.min((progress - last) / BETWEEN)
    }
}

/// How much strings count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting<'a> {
    /// Where the splits of each string begin, and how much each counts.
    pub(super) begins: &'a [u32],
    pub(super) splits: SplitShares<'a>,
    /// In this step.
    pub(super) now: &'a [f32],
    /// On average.
    pub(super) average: &'a [f32],
    /// The loss from which on a string counts.
    pub(super) threshold: f32,
}

/// The strings of a chain, none for those that it lacks of the longest.
type Chain = [StringIndex; LONGEST_CHAIN];

/// What a batch has of chains by which words gain too much.
#[derive(Default)]
struct Joined {
    chains: FxHashSet<Chain>,
    /// The strings at their ends, with the weight of the words, in parts that threads add up.
    weights: [Weights; PARTS],
}

type Weights = FxHashMap<Link, u64>;

impl Joined {
    /// Add a chain, in a word of this weight.
    fn add(&mut self, chain: Chain, weight: u64) {
        let link = Link::of_chain(strings_of(&chain));
        let part = link.strings[0].at() % PARTS;
        *self.weights[part].entry(link).or_default() += weight;
        self.chains.insert(chain);
    }
}

fn chain_of(strings: impl Iterator<Item = StringIndex>) -> Chain {
    let mut chain = [StringIndex::NONE; LONGEST_CHAIN];
    for (to, string) in chain.iter_mut().zip(strings) {
        *to = string;
    }
    chain
}

/// The strings of a chain.
fn strings_of(chain: &Chain) -> &[StringIndex] {
    let len = chain.iter().position(|&string| string == StringIndex::NONE);
    &chain[..len.unwrap_or(LONGEST_CHAIN)]
}

/// Look for rings, and find the chains of their strings; [`Error::Interrupted`] as soon as it is late, and
/// nothing is changed.
pub(super) fn renew(
    rings: &mut Rings,
    batches: &[Mutex<Batch>],
    counting: Counting,
    is_late: impl Fn() -> bool + Sync,
    team: &Team,
) -> Result<()> {
    let joined = team.map(batches.len(), |index| {
        if is_late() {
            return Err(Error::Interrupted);
        }
        Ok(join(&lock(&batches[index]), counting))
    })?;
    let found = find(&joined, counting, rings, team)?;
    rings.renew(found, counting.threshold);
    let needed = team.map(joined.len(), |index| {
        let chains = joined[index].chains.iter().map(strings_of);
        let needed = chains.filter(|chain| rings.needs(chain));
        Ok(needed
            .map(<[StringIndex]>::to_vec)
            .collect::<Vec<Strings>>())
    })?;
    rings.set_chains(needed.into_iter().flatten(), team)?;
    let rings = &*rings;
    team.map(batches.len(), |index| {
        enchain(&mut lock(&batches[index]), rings);
        Ok(())
    })?;
    Ok(())
}

/// The chains of a batch by which words gain too much.
fn join(batch: &Batch, counting: Counting) -> Joined {
    let average = |string: StringIndex| counting.average[string.at()];
    let is_open = |share: f32| share > OPEN[0] && share < OPEN[1];
    let mut joined = Joined::default();
    let mut crossed = Crossed::default();
    let (mut pulls, mut made, mut nothing) = (Vec::new(), Vec::new(), Vec::new());
    let mut names = Vec::new();
    for piece in batch.pieces.iter().filter(|piece| !piece.by_symbol) {
        let rows = piece.rows(&batch.rows);
        let strings = batch
            .section
            .names(&batch.strings[items_of(rows)], &mut names);
        let prices = piece.prices(rows);
        nothing.resize(strings.len(), 0.0);
        let allowed = batch.chains.allowed(&piece.chains(), prices.clone());
        let spans = Spans {
            rows,
            strings,
            begins: counting.begins,
            prices: &batch.prices.values[prices],
            excess: None,
            allowed: Some(allowed.unwrap_or(&nothing)),
        };
        split_prices::pull(spans, counting.splits, &mut pulls, &mut made);
        for (made, &string) in made.iter_mut().zip(strings) {
            if *made > 0.0 {
                *made *= average(string) / counting.now[string.at()];
            }
        }
        crossed.find(rows, |item| made[item] > LEAST_MADE);
        let (mut num_chains, mut of_piece) = (0, Vec::new());
        crossed.for_each_chain(|chain| {
            num_chains += 1;
            let (one, other) = (strings[chain[0]], strings[chain[chain.len() - 1]]);
            let shares = [average(one), average(other)];
            if !is_open(shares[0]) {
                return false;
            }
            if one < other && is_open(shares[1]) {
                let tokens: f32 = chain.iter().map(|&item| made[item]).sum();
                if tokens > certain(chain.len()) as f32 + served(shares, chain.len()) + LEAST_GAIN {
                    of_piece.push(chain_of(chain.iter().map(|&item| strings[item])));
                }
            }
            // Of two that cross hardly more than one is made: so with two more it gains by the first two.
            let by_first = made[chain[0]] + made[chain[1]];
            num_chains < MOST_CHAINS && (chain.len() < 3 || by_first > shares[0] + LEAST_GAIN / 2.0)
        });
        if num_chains < MOST_CHAINS {
            for chain in of_piece {
                joined.add(chain, piece.weight);
            }
        }
    }
    joined
}

/// How much the link of a chain of so many strings counts at least, of those at its ends.
fn served([one, other]: [f32; 2], num_strings: usize) -> f32 {
    if num_strings.is_multiple_of(2) {
        one.max(other)
    } else {
        (one + other - 1.0).max(0.0)
    }
}

/// Rings that would be cut off, but for those that have a toll.
fn find(joined: &[Joined], counting: Counting, rings: &Rings, team: &Team) -> Result<Vec<Around>> {
    let least = (counting.threshold * LEAST_WEIGHT) as u64;
    let heavy = team.map(PARTS, |part| {
        let mut sums = Weights::default();
        for (&link, weight) in joined.iter().flat_map(|joined| &joined.weights[part]) {
            *sums.entry(link).or_default() += weight;
        }
        sums.retain(|_, weight| *weight >= least);
        Ok(sums.into_keys().collect::<Vec<Link>>())
    })?;
    let mut links = heavy.concat();
    links.sort_unstable();
    let mut nodes: Vec<StringIndex> = links.iter().flat_map(|link| link.strings).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let node = |string: StringIndex| nodes.partition_point(|&node| node < string) as u32;
    let edges: Vec<([u32; 2], bool)> = links
        .iter()
        .map(|link| (link.strings.map(node), !link.by_both))
        .collect();
    let lengths = links.iter().map(|&link| {
        let [one, other] = link.strings.map(|string| counting.average[string.at()]);
        let (most, longer) = if link.by_both {
            (one.min(other), 0.0)
        } else {
            ((one + other).min(1.0), 1.0)
        };
        let counted = rings.average_share(link).unwrap_or(1.0).min(most);
        ((longer + one + other - 2.0 * counted) * ONE) as u32 + LONGER
    });
    let found = odd_rings(nodes.len(), &edges, lengths.collect(), MOST, team)?;
    let mut known: FxHashSet<Around> = FxHashSet::default();
    for (around, _, _, toll) in rings.iter() {
        if toll > 0.0 {
            known.insert(sorted(around.clone()));
        }
    }
    let around = |ring: Vec<(u32, u32)>| -> Around {
        ring.iter()
            .map(|&(node, edge)| (nodes[node as usize], links[edge as usize].by_both))
            .collect()
    };
    let is_new = |ring: &Around| !known.contains(&sorted(ring.clone()));
    Ok(found.into_iter().map(around).filter(is_new).collect())
}

fn sorted(mut around: Around) -> Around {
    around.sort_unstable();
    around
}

/// Find the chains of a batch. Those that it had keep their credits.
fn enchain(batch: &mut Batch, rings: &Rings) {
    let before = std::mem::take(&mut batch.chains);
    let mut chains = Chains::new(batch.prices.values.len(), rings.num_links());
    let mut crossed = Crossed::default();
    // The rows of the first strings of a chain, by their number.
    let mut begun = [Row::EMPTY; LONGEST_CHAIN + 1];
    let mut names = Vec::new();
    for piece in &mut batch.pieces {
        let mut old = piece.chains().peekable();
        piece.first_chain = chains.all.len() as u32;
        if !piece.by_symbol {
            let rows = piece.rows(&batch.rows);
            let strings = batch
                .section
                .names(&batch.strings[items_of(rows)], &mut names);
            let longer = |row, item: usize| rings.rows.longer(row, strings[item]);
            crossed.find(rows, |item| rings.rows.is_in_a_chain(strings[item]));
            crossed.for_each_chain(|chain| {
                let (last, first) = (chain.len() - 1, chain[0]);
                if last == 1 {
                    begun[1] = longer(Row::EMPTY, first).unwrap_or(Row::EMPTY);
                }
                // No chain begins with the strings of a row without a first one.
                let found = longer(begun[last], chain[last]).filter(|_| begun[1] != Row::EMPTY);
                begun[last + 1] = found.unwrap_or(Row::EMPTY);
                let link = found.and_then(|row| rings.rows.link(row));
                if let Some(link) = link.filter(|_| first < chain[last]) {
                    chains.push(chain, link, &before, &mut old);
                }
                found.is_some()
            });
        }
        piece.end_of_chains = chains.all.len() as u32;
    }
    chains.finish();
    batch.chains = chains;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps, of so many in all, in which rings are looked for.
    fn searches(num_steps: u32) -> Vec<u32> {
        let mut calendar = Calendar::default();
        let mut searches = Vec::new();
        let mut is_noted = false;
        for step in 0..num_steps {
            let progress = f64::from(step) / f64::from(num_steps);
            calendar.count();
            is_noted |= calendar.is_noting(progress);
            if calendar.is_due(progress) {
                assert!(is_noted);
                is_noted = false;
                searches.push(step);
                calendar.note_search(progress, Instant::now());
            }
        }
        searches
    }

    #[test]
    fn between_searches_are_steps_enough_and_enough_of_the_way() {
        for (num_steps, between) in [(100, 60), (1000, 60), (10_000, 200)] {
            let found = searches(num_steps);
            assert!(!found.is_empty());
            for two in found.windows(2) {
                assert!((between..=between + 1).contains(&(two[1] - two[0])));
            }
            let last = f64::from(found[found.len() - 1]) / f64::from(num_steps);
            assert!(last < LAST);
        }
    }
}
