//! Odd rings of strings, each of which crosses the next in some words, and their tolls.
//!
//! Where two spans cross, a word gains by one of their strings or by the other. A linear program chooses
//! half of each string of an odd ring, and so serves all neighbours; whole numbers need more: of the
//! 2k + 1 pairs of neighbours at most k + m have one of their strings chosen, if m strings are
//! (docs/theory/certificates.md). Tolls are the prices of these conditions, and are found as prices are.

use rustc_hash::FxHashMap;

use super::crossings::PairIndex;
use super::schedule::Stride;
use crate::prices::{Adam, Prices, StringIndex, ramp};

/// How much of a pair's credits counts rises from 0 to 1 around its tolls, over this part of what the
/// shares of strings rise over; and how far below the tolls that begins. Measured.
const SLOPE: f32 = 0.1;
const BELOW: f32 = 0.3;

/// A ring.
#[derive(Debug)]
struct Ring {
    strings: Vec<StringIndex>,
    /// Where its strings are among the members.
    members: Vec<u32>,
    /// Its neighbours.
    pairs: Vec<PairIndex>,
}

/// The rings of a search.
#[derive(Debug, Default)]
pub(super) struct Rings {
    all: Vec<Ring>,
    /// The strings that are in a ring, in ascending order.
    members: Vec<StringIndex>,
    pairs: FxHashMap<[StringIndex; 2], PairIndex>,
    /// The toll of each ring, in units.
    tolls: Prices,
    unit: f32,
    /// The sums of the credits of each pair, and how much of them counts.
    pub(super) credits: Vec<f32>,
    pub(super) shares: Vec<f32>,
    /// The sums of the shares, over the steps that were noted.
    noted: Vec<f32>,
    num_noted: usize,
    pulls: Vec<f32>,
}

/// Two strings, the same in either order.
pub(super) fn pair_of(one: StringIndex, other: StringIndex) -> [StringIndex; 2] {
    [one.min(other), one.max(other)]
}

/// The neighbours of a ring.
fn neighbours(ring: &[StringIndex]) -> impl Iterator<Item = [StringIndex; 2]> {
    let next = ring.iter().cycle().skip(1);
    ring.iter()
        .zip(next)
        .map(|(&one, &next)| pair_of(one, next))
}

impl Rings {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn num_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The number of a pair, if it is in a ring.
    pub(super) fn pair(&self, strings: [StringIndex; 2]) -> Option<PairIndex> {
        self.pairs.get(&strings).copied()
    }

    /// Forget the rings that cost nothing, and add some. The loss from which on a string counts is the unit
    /// of all tolls, as it is when the first rings are added.
    pub(super) fn renew(&mut self, rings: Vec<Vec<StringIndex>>, threshold: f32) {
        if self.is_empty() {
            self.unit = threshold;
        }
        let before = std::mem::take(&mut self.all).into_iter();
        let tolls = std::mem::take(&mut self.tolls).values;
        let kept = before.map(|ring| ring.strings).zip(tolls);
        let kept = kept.filter(|(_, toll)| *toll > 0.0);
        self.pairs.clear();
        let mut tolls = Vec::new();
        for (strings, toll) in kept.chain(rings.into_iter().map(|ring| (ring, 0.0))) {
            let mut pairs = Vec::with_capacity(strings.len());
            for pair in neighbours(&strings) {
                let next = PairIndex(self.pairs.len() as u32);
                pairs.push(*self.pairs.entry(pair).or_insert(next));
            }
            self.all.push(Ring {
                strings,
                members: Vec::new(),
                pairs,
            });
            tolls.push(toll);
        }
        self.find_members();
        self.tolls = Prices::new(tolls);
        self.credits = vec![0.0; self.pairs.len()];
        self.shares = vec![0.0; self.pairs.len()];
        self.noted = vec![0.0; self.pairs.len()];
        self.num_noted = 0;
    }

    fn find_members(&mut self) {
        let strings = self.all.iter().flat_map(|ring| &ring.strings);
        self.members = strings.copied().collect();
        self.members.sort_unstable();
        self.members.dedup();
        for ring in &mut self.all {
            let member = |string: &StringIndex| self.members.partition_point(|at| at < string);
            ring.members = ring.strings.iter().map(|at| member(at) as u32).collect();
        }
    }

    /// The strings and pairs of each ring, and its toll.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[StringIndex], &[PairIndex], f32)> {
        let tolls = self.tolls.values.iter().map(|toll| toll * self.unit);
        let rings = self.all.iter().zip(tolls);
        rings.map(|(ring, toll)| (ring.strings.as_slice(), ring.pairs.as_slice(), toll))
    }

    /// Note how much of each pair's credits counts in this step.
    pub(super) fn note(&mut self) {
        for (sum, share) in self.noted.iter_mut().zip(&self.shares) {
            *sum += share;
        }
        self.num_noted += 1;
    }

    /// The average of what was noted for a pair; None if it is in no ring.
    pub(super) fn average_share(&self, pair: [StringIndex; 2]) -> Option<f32> {
        let sum = self.noted[self.pair(pair)?.at()];
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

    /// Find how much of each pair's credits counts, and move the tolls, given how much each string counts
    /// and the loss from which on it does.
    pub(super) fn step(&mut self, strings: &[f32], threshold: f32, stride: &Stride, adam: Adam) {
        let mut tolls = vec![0.0; self.pairs.len()];
        for (_, pairs, toll) in self.iter() {
            for pair in pairs {
                tolls[pair.at()] += toll;
            }
        }
        let slope = SLOPE * stride.softness * threshold.max(1.0);
        for ((share, credit), toll) in self.shares.iter_mut().zip(&self.credits).zip(tolls) {
            *share = ramp((credit - toll) / slope + BELOW);
        }
        self.pulls.clear();
        for ring in &self.all {
            let made: f32 = ring.strings.iter().map(|string| strings[string.at()]).sum();
            let counted: f32 = ring.pairs.iter().map(|pair| self.shares[pair.at()]).sum();
            let half = (ring.strings.len() / 2) as f32;
            self.pulls.push(counted - made - half);
        }
        let all = 0..self.all.len();
        self.tolls
            .follow_within(all, &self.pulls, adam, 0.0, f32::INFINITY);
    }
}
