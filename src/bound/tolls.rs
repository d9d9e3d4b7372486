//! Odd rings of strings, each of which is at one end of a chain of which the next is at the other.
//!
//! Where two spans cross, a word gains by either of their strings; where both cross a third, by both. A
//! linear program chooses half of each string of an odd ring, and so serves all neighbours; whole
//! numbers need more: if 2k + 1 neighbours are linked by either, and m strings are chosen, at most k + m
//! links are served (docs/theory/certificates.md). Tolls are the prices of these conditions, and are
//! found as prices are.

use rustc_hash::{FxHashMap, FxHashSet};

use super::chains::LinkIndex;
use super::rows::Rows;
use super::schedule::Stride;
use crate::prices::{Adam, Prices, StringIndex, ramp};

/// How much of a link's credits counts rises from 0 to 1 above its tolls, over this part of what the shares
/// of strings rise over. Measured.
const SLOPE: f32 = 0.05;
/// By how much less than prices tolls move. Measured.
const PACE: f32 = 0.3;

/// Two neighbours in a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Link {
    /// In ascending order.
    pub(super) strings: [StringIndex; 2],
    /// Whether words gain by both, not by either.
    pub(super) by_both: bool,
}

impl Link {
    /// Of the strings at the ends of a chain.
    pub(super) fn of_chain(chain: &[StringIndex]) -> Self {
        let (one, other) = (chain[0], chain[chain.len() - 1]);
        Self {
            strings: [one.min(other), one.max(other)],
            by_both: chain.len() % 2 == 1,
        }
    }
}

/// The strings of a ring, and for each whether it is linked to the next by both.
pub(super) type Around = Vec<(StringIndex, bool)>;

/// The strings of a chain, in the order that begins with the smaller of those at its ends.
pub(super) type Strings = Vec<StringIndex>;

/// A ring.
#[derive(Debug)]
struct Ring {
    around: Around,
    /// Where its strings are among the members.
    members: Vec<u32>,
    links: Vec<LinkIndex>,
    /// How many links are served whatever strings are made, at most.
    half: usize,
}

/// The rings of a search.
#[derive(Debug, Default)]
pub(super) struct Rings {
    all: Vec<Ring>,
    /// The strings that are in a ring, in ascending order.
    members: Vec<StringIndex>,
    links: FxHashMap<Link, LinkIndex>,
    /// The chains of three strings or more that count.
    pub(super) long_chains: FxHashSet<Strings>,
    /// These and those of two, in both directions.
    pub(super) rows: Rows,
    /// The toll of each ring, in units.
    tolls: Prices,
    unit: f32,
    /// The sums of the credits of each link, and how much of them counts.
    pub(super) credits: Vec<f32>,
    pub(super) shares: Vec<f32>,
    /// The sums of the shares, over the steps that were noted.
    noted: Vec<f32>,
    num_noted: usize,
    pulls: Vec<f32>,
}

/// The neighbours of a ring.
fn neighbours(ring: &[(StringIndex, bool)]) -> impl Iterator<Item = Link> {
    let next = ring.iter().cycle().skip(1);
    ring.iter()
        .zip(next)
        .map(|(&(one, by_both), &(other, _))| Link {
            strings: [one.min(other), one.max(other)],
            by_both,
        })
}

impl Rings {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn num_links(&self) -> usize {
        self.links.len()
    }

    /// Forget the rings that cost nothing, and add some, and chains for them. The loss from which on a
    /// string counts is the unit of all tolls, as it is when the first rings are added.
    pub(super) fn renew(
        &mut self,
        rings: Vec<Around>,
        chains: impl Iterator<Item = Strings>,
        threshold: f32,
    ) {
        if self.is_empty() {
            self.unit = threshold;
        }
        let before = std::mem::take(&mut self.all).into_iter();
        let tolls = std::mem::take(&mut self.tolls).values;
        let kept = before.map(|ring| ring.around).zip(tolls);
        let kept = kept.filter(|(_, toll)| *toll > 0.0);
        self.links.clear();
        let mut tolls = Vec::new();
        for (around, toll) in kept.chain(rings.into_iter().map(|ring| (ring, 0.0))) {
            let mut links = Vec::with_capacity(around.len());
            for link in neighbours(&around) {
                let next = LinkIndex(self.links.len() as u32);
                links.push(*self.links.entry(link).or_insert(next));
            }
            self.all.push(Ring {
                half: around.iter().filter(|(_, by_both)| !by_both).count() / 2,
                around,
                members: Vec::new(),
                links,
            });
            tolls.push(toll);
        }
        self.find_members();
        self.find_chains(chains);
        self.tolls = Prices::new(tolls);
        self.credits = vec![0.0; self.links.len()];
        self.shares = vec![0.0; self.links.len()];
        self.noted = vec![0.0; self.links.len()];
        self.num_noted = 0;
    }

    /// Forget the long chains that no link needs, and take those of `more` that one does.
    fn find_chains(&mut self, more: impl Iterator<Item = Strings>) {
        let links = &self.links;
        self.long_chains
            .extend(more.filter(|chain| chain.len() > 2));
        self.long_chains
            .retain(|chain| links.contains_key(&Link::of_chain(chain)));
        self.rows = Rows::default();
        let pairs = links.keys().filter(|link| !link.by_both);
        let pairs = pairs.map(|link| link.strings.as_slice());
        for chain in pairs.chain(self.long_chains.iter().map(Vec::as_slice)) {
            let link = links[&Link::of_chain(chain)];
            let back: Strings = chain.iter().rev().copied().collect();
            self.rows.add(chain, link);
            self.rows.add(&back, link);
        }
    }

    fn find_members(&mut self) {
        let strings = self.all.iter().flat_map(|ring| &ring.around);
        self.members = strings.map(|&(string, _)| string).collect();
        self.members.sort_unstable();
        self.members.dedup();
        for ring in &mut self.all {
            let member = |string: StringIndex| self.members.partition_point(|&at| at < string);
            let members = ring.around.iter().map(|&(at, _)| member(at) as u32);
            ring.members = members.collect();
        }
    }

    /// Each ring with its links, how many of these are served in any case, and its toll.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Around, &[LinkIndex], usize, f32)> {
        let tolls = self.tolls.values.iter().map(|toll| toll * self.unit);
        let rings = self.all.iter().zip(tolls);
        rings.map(|(ring, toll)| (&ring.around, ring.links.as_slice(), ring.half, toll))
    }

    /// Note how much of each link's credits counts in this step.
    pub(super) fn note(&mut self) {
        for (sum, share) in self.noted.iter_mut().zip(&self.shares) {
            *sum += share;
        }
        self.num_noted += 1;
    }

    /// The average of what was noted for a link; None if it is in no ring.
    pub(super) fn average_share(&self, link: Link) -> Option<f32> {
        let sum = self.noted[self.links.get(&link)?.at()];
        Some(sum / self.num_noted.max(1) as f32)
    }

    /// The tolls of each string that is in a ring, in ascending order.
    pub(super) fn tolls_of_strings(&self) -> Vec<(usize, f32)> {
        let mut sums: Vec<(usize, f32)> = self.members.iter().map(|at| (at.at(), 0.0)).collect();
        for (ring, toll) in self.all.iter().zip(&self.tolls.values) {
            for &member in &ring.members {
                sums[member as usize].1 += toll * self.unit;
            }
        }
        sums
    }

    /// Find how much of each link's credits counts, and move the tolls, given how much each string counts
    /// and the loss from which on it does.
    pub(super) fn step(
        &mut self,
        strings: &[f32],
        threshold: f32,
        stride: &Stride,
        num_steps: usize,
    ) {
        let mut tolls = vec![0.0; self.links.len()];
        for (_, links, _, toll) in self.iter() {
            for link in links {
                tolls[link.at()] += toll;
            }
        }
        let slope = SLOPE * stride.softness * threshold.max(1.0);
        for ((share, credit), toll) in self.shares.iter_mut().zip(&self.credits).zip(tolls) {
            *share = ramp((credit - toll) / slope);
        }
        self.pulls.clear();
        for ring in &self.all {
            let made: f32 = ring.around.iter().map(|(at, _)| strings[at.at()]).sum();
            let counted: f32 = ring.links.iter().map(|link| self.shares[link.at()]).sum();
            self.pulls.push(counted - made - ring.half as f32);
        }
        let adam = Adam::new(PACE * stride.rate, num_steps);
        let all = 0..self.all.len();
        self.tolls
            .follow_within(all, &self.pulls, adam, 0.0, f32::INFINITY);
    }
}
