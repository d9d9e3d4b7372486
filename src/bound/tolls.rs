//! Odd rings of strings, each of which is at one end of a chain of which the next is at the other.
//!
//! Where two spans cross, a word gains by either of their strings; where both cross a third, by both. A
//! linear program chooses half of each string of an odd ring, and so serves all neighbours; whole
//! numbers need more: if 2k + 1 neighbours are linked by either, and m strings are chosen, at most k + m
//! links are served (docs/theory/certificates.md). Tolls are the prices of these conditions, and are
//! found as prices are.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::chains::LinkIndex;
use super::rows::Rows;
use super::schedule::Stride;
use crate::error::Result;
use crate::parallel::Team;
use crate::prices::{Adam, Prices, StringIndex, ramp};

/// How much of a link's credits counts rises from 0 to 1 above its tolls, over this part of what the shares
/// of strings rise over. Measured.
const SLOPE: f32 = 0.05;
/// By how much less than prices tolls move. Measured.
const PACE: f32 = 0.3;

/// The number of links, rings or strings that one thread works on at once.
const AT_ONCE: usize = 1 << 9;

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
    links: Vec<LinkIndex>,
    /// How many links are served whatever strings are made, at most.
    half: usize,
}

/// The rings of a search.
#[derive(Debug, Default)]
pub(super) struct Rings {
    all: Vec<Ring>,
    /// The strings that are in a ring, in ascending order, and the rings of each.
    members: Vec<StringIndex>,
    of_members: Groups,
    links: FxHashMap<Link, LinkIndex>,
    of_links: Groups,
    /// The chains of three strings or more that count.
    pub(super) long_chains: FxHashSet<Strings>,
    /// These and those of two, in both directions.
    pub(super) rows: Rows,
    /// The toll of each ring, in units.
    tolls: Prices,
    unit: f32,
    /// How much of the credits of each link counts.
    pub(super) shares: Vec<f32>,
    /// The sums of the shares, over the steps that were noted.
    noted: Vec<f32>,
    num_noted: usize,
}

/// The rings of several, one after the other.
#[derive(Debug, Default)]
struct Groups {
    /// Where those of each begin, and where the last end.
    begins: Vec<usize>,
    rings: Vec<u32>,
}

impl Groups {
    /// The rings of each of `number`, in ascending order, given whose each is, ring after ring.
    fn new(number: usize, of_rings: &[Vec<usize>]) -> Self {
        let mut begins = vec![0; number + 1];
        for &one in of_rings.iter().flatten() {
            begins[one + 1] += 1;
        }
        for at in 0..number {
            begins[at + 1] += begins[at];
        }
        let mut free = begins.clone();
        let mut rings = vec![0; begins[number]];
        for (ring, of_ring) in (0..).zip(of_rings) {
            for &one in of_ring {
                rings[free[one]] = ring;
                free[one] += 1;
            }
        }
        Self { begins, rings }
    }

    /// The sum of the tolls of one, given those of all rings in units.
    fn sum(&self, one: usize, tolls: &[f32], unit: f32) -> f32 {
        let rings = &self.rings[self.begins[one]..self.begins[one + 1]];
        let tolls = rings.iter().map(|&ring| tolls[ring as usize] * unit);
        tolls.fold(0.0, |sum, toll| sum + toll)
    }
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

    /// Forget the rings that cost nothing, and add some, whose chains are to be set. The loss from which on
    /// a string counts is the unit of all tolls, as it is when the first rings are added.
    pub(super) fn renew(&mut self, rings: Vec<Around>, threshold: f32) {
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
                links,
            });
            tolls.push(toll);
        }
        self.find_members();
        self.tolls = Prices::new(tolls);
        self.shares = vec![0.0; self.links.len()];
        self.noted = vec![0.0; self.links.len()];
        self.num_noted = 0;
    }

    /// Whether a link needs this chain.
    pub(super) fn needs(&self, chain: &[StringIndex]) -> bool {
        self.links.contains_key(&Link::of_chain(chain))
    }

    /// Forget the chains that no link needs, and take `more`, which are needed.
    pub(super) fn set_chains(
        &mut self,
        more: impl Iterator<Item = Strings>,
        team: &Team,
    ) -> Result<()> {
        let links = &self.links;
        self.long_chains
            .retain(|chain| links.contains_key(&Link::of_chain(chain)));
        self.long_chains
            .extend(more.filter(|chain| chain.len() > 2));
        let pairs = links.keys().filter(|link| !link.by_both);
        let pairs = pairs.map(|link| link.strings.as_slice());
        let long = self.long_chains.iter().map(Vec::as_slice);
        let chains: Vec<&[StringIndex]> = pairs.chain(long).collect();
        self.rows = Rows::new(&chains, |chain| links[&Link::of_chain(chain)], team)?;
        Ok(())
    }

    fn find_members(&mut self) {
        let strings = self.all.iter().flat_map(|ring| &ring.around);
        self.members = strings.map(|&(string, _)| string).collect();
        self.members.sort_unstable();
        self.members.dedup();
        let member = |string: StringIndex| self.members.partition_point(|&at| at < string);
        let members = |ring: &Ring| ring.around.iter().map(|&(at, _)| member(at)).collect();
        let members: Vec<Vec<usize>> = self.all.iter().map(members).collect();
        self.of_members = Groups::new(self.members.len(), &members);
        let links = |ring: &Ring| ring.links.iter().map(|link| link.at()).collect();
        let links: Vec<Vec<usize>> = self.all.iter().map(links).collect();
        self.of_links = Groups::new(self.links.len(), &links);
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
    pub(super) fn tolls_of_strings(&self, team: &Team) -> Result<Vec<(usize, f32)>> {
        let toll = |member| {
            let toll = self.of_members.sum(member, &self.tolls.values, self.unit);
            (self.members[member].at(), toll)
        };
        in_parts(self.members.len(), team, |members| {
            members.map(toll).collect()
        })
    }

    /// Find how much of each link's credits counts, and move the tolls, given the credits of each link in
    /// each batch, how much each string counts and the loss from which on it does.
    pub(super) fn step(
        &mut self,
        credits: &[&[f32]],
        strings: &[f32],
        threshold: f32,
        stride: &Stride,
        num_steps: usize,
        team: &Team,
    ) -> Result<()> {
        let slope = SLOPE * stride.softness * threshold.max(1.0);
        self.shares = in_parts(self.links.len(), team, |links| {
            let mut shares = vec![0.0; links.len()];
            for batch in credits {
                for (sum, credit) in shares.iter_mut().zip(&batch[links.clone()]) {
                    *sum += credit;
                }
            }
            for (share, link) in shares.iter_mut().zip(links) {
                let toll = self.of_links.sum(link, &self.tolls.values, self.unit);
                *share = ramp((*share - toll) / slope);
            }
            shares
        })?;
        let pull = |ring: &Ring| {
            let made: f32 = ring.around.iter().map(|(at, _)| strings[at.at()]).sum();
            let counted: f32 = ring.links.iter().map(|link| self.shares[link.at()]).sum();
            counted - made - ring.half as f32
        };
        let pulls = in_parts(self.all.len(), team, |rings| {
            self.all[rings].iter().map(pull).collect()
        })?;
        let adam = Adam::new(PACE * stride.rate, num_steps);
        self.tolls
            .follow_within(0..pulls.len(), &pulls, adam, 0.0, f32::INFINITY);
        Ok(())
    }
}

/// What `find` finds for some after others of `number`, by the threads of a team.
fn in_parts<T: Clone + Send>(
    number: usize,
    team: &Team,
    find: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Result<Vec<T>> {
    let parts = team.map(number.div_ceil(AT_ONCE), |part| {
        let start = part * AT_ONCE;
        Ok(find(start..number.min(start + AT_ONCE)))
    })?;
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolls_of_one_are_those_of_all_rings_that_it_is_in() {
        let groups = Groups::new(4, &[vec![0, 2], vec![2, 3], vec![2, 0, 2]]);
        // The last ring has 2 twice.
        for (one, expected) in [202.0, 0.0, 422.0, 20.0].into_iter().enumerate() {
            let sum = groups.sum(one, &[1.0, 10.0, 100.0], 2.0);
            assert!((sum - expected).abs() < 1e-3);
        }
    }
}
