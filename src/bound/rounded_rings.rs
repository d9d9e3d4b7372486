//! Rings with tolls that are integers, as a proof holds them.

// Neither a toll nor a credit is negative.
#![allow(clippy::cast_sign_loss)]

use rustc_hash::FxHashMap;

use super::crossings::Crossings;
use super::tolls::Rings;
use crate::prices::StringIndex;

/// Rings with their tolls, in units of 1 / 2^`bits`.
#[derive(Debug, Default)]
pub(super) struct RoundedRings {
    pub(super) rings: Vec<(Vec<StringIndex>, u64)>,
    /// The tolls of each pair, and of each string.
    of_pairs: Vec<i128>,
    of_strings: FxHashMap<usize, i128>,
    /// What a list pays whatever it has.
    always: i128,
    bits: u32,
}

impl RoundedRings {
    pub(super) fn new(rings: &Rings, bits: u32) -> Self {
        let mut rounded = Self {
            of_pairs: vec![0; rings.num_pairs()],
            bits,
            ..Self::default()
        };
        for (strings, pairs, toll) in rings.iter() {
            let units = rounded.units(toll);
            let toll = i128::from(units);
            rounded.always += toll * (strings.len() / 2) as i128;
            for pair in pairs {
                rounded.of_pairs[pair.at()] += toll;
            }
            for string in strings {
                *rounded.of_strings.entry(string.at()).or_default() += toll;
            }
            rounded.rings.push((strings.to_vec(), units));
        }
        rounded
    }

    fn units(&self, number: f32) -> u64 {
        (f64::from(number) * f64::from(1 << self.bits)) as u64
    }

    /// The credit of a crossing.
    pub(super) fn credit(&self, crossings: &Crossings, index: usize) -> u32 {
        self.units(crossings.credits.values[index]) as u32
    }

    pub(super) fn num_pairs(&self) -> usize {
        self.of_pairs.len()
    }

    /// The tolls of a string.
    pub(super) fn of_string(&self, string: usize) -> i128 {
        self.of_strings.get(&string).copied().unwrap_or(0)
    }

    /// What rings add to a bound, given the sums of the credits of each pair.
    pub(super) fn added(&self, credits: &[i128]) -> i128 {
        let exceeding = credits.iter().zip(&self.of_pairs);
        let exceeding = exceeding.map(|(credit, toll)| (credit - toll).max(0));
        self.always + exceeding.sum::<i128>()
    }
}
