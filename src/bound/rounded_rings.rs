//! Rings with tolls that are integers, as a proof holds them.

// Neither a toll nor a credit is negative.
#![allow(clippy::cast_sign_loss)]

use rustc_hash::FxHashMap;

use super::chains::Chains;
use super::tolls::{Around, Rings, Strings};

/// Rings with their tolls, in units of 1 / 2^`bits`.
#[derive(Debug, Default)]
pub(super) struct RoundedRings {
    pub(super) rings: Vec<(Around, u64)>,
    /// The chains of three strings or more, in ascending order.
    pub(super) chains: Vec<Strings>,
    /// The tolls of each link, and of each string.
    of_links: Vec<i128>,
    of_strings: FxHashMap<usize, i128>,
    /// What a list pays whatever it has.
    always: i128,
    bits: u32,
}

impl RoundedRings {
    pub(super) fn new(rings: &Rings, bits: u32) -> Self {
        let mut rounded = Self {
            chains: rings.long_chains.iter().cloned().collect(),
            of_links: vec![0; rings.num_links()],
            bits,
            ..Self::default()
        };
        rounded.chains.sort_unstable();
        for (around, links, half, toll) in rings.iter() {
            let units = rounded.units(toll);
            let toll = i128::from(units);
            rounded.always += toll * half as i128;
            for link in links {
                rounded.of_links[link.at()] += toll;
            }
            for (string, _) in around {
                *rounded.of_strings.entry(string.at()).or_default() += toll;
            }
            rounded.rings.push((around.clone(), units));
        }
        rounded
    }

    fn units(&self, number: f32) -> u64 {
        (f64::from(number) * f64::from(1 << self.bits)) as u64
    }

    /// The credit of a chain.
    pub(super) fn credit(&self, chains: &Chains, index: usize) -> u32 {
        self.units(chains.credits.values[index]) as u32
    }

    pub(super) fn num_links(&self) -> usize {
        self.of_links.len()
    }

    /// The tolls of a string.
    pub(super) fn of_string(&self, string: usize) -> i128 {
        self.of_strings.get(&string).copied().unwrap_or(0)
    }

    /// What rings add to a bound, given the sums of the credits of each link.
    pub(super) fn added(&self, credits: &[i128]) -> i128 {
        let exceeding = credits.iter().zip(&self.of_links);
        let exceeding = exceeding.map(|(credit, toll)| (credit - toll).max(0));
        self.always + exceeding.sum::<i128>()
    }
}
