//! From counts to a bound with its proof, and from a proof back to the bound.
//!
//! A proof is a list of discounts, whole numbers of 0 or more, each as a varint (LEB128): for each
//! symbol of each piece by how much its price is below 1, and against merges, behind it, for each span
//! that begins there by how much its price is below that of its dearest parts, or below 1 if those
//! cost more. So every list of the right length proves something.

use super::verify::{Claim, Flaw, verify};
use super::{Against, Instance, LONGEST, Options, Standing, Words, ascend};
use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::greedy::{self, Overlaps};
use crate::merges::{Alphabet, Id, MergeList};
use crate::watch::Watch;

/// Prices are in units of 1 / 2^12: coarser ones lose more of the bound than they spare of the file.
pub const BITS: u32 = 12;

/// With which prices were found, and which strings have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The price 1.
    pub one: u64,
    /// Strings with a price occur more often.
    pub floor: u64,
    /// And are no longer.
    pub longest: usize,
    /// Longer strings up to this length cost as much as their symbols.
    pub counted: usize,
}

/// A bound and its proof.
#[derive(Debug, Clone)]
pub struct Proof {
    /// No list of that many merges, or no vocabulary of that many strings, saves more tokens.
    pub gain: u64,
    /// The list of discounts.
    pub discounts: Vec<u8>,
    /// What to read it with.
    pub setting: Setting,
    /// How many steps of the search were taken.
    pub num_steps: usize,
    /// The strings that the prices would choose as tokens.
    pub chosen: Vec<Vec<u8>>,
}

/// What to bound.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The corpus.
    pub counts: &'a WordCounts,
    /// Its symbols.
    pub alphabet: &'a Alphabet,
    /// Against what the bound holds.
    pub against: Against,
    /// How many merges, or how many strings.
    pub num_merges: usize,
}

/// Search for a good bound. A stop ends it with the best so far, or, if nothing was found yet, with
/// one that is trivial, but holds.
pub fn find(task: &Task, options: &Options, watch: &Watch, standing: &Standing) -> Result<Proof> {
    let words = Words::of(task.counts, task.alphabet)?;
    let prepared = greedy_tokens(task, watch).and_then(|(tokens, last)| {
        let instance = Instance::new(
            &words,
            task.against,
            task.num_merges,
            floor(task.against, last),
            LONGEST,
            options.num_threads,
            watch,
        )?;
        Ok((tokens, instance))
    });
    let (tokens, instance) = match prepared {
        Err(Error::Interrupted) => return Ok(trivial(task, &words)),
        prepared => prepared?,
    };
    let found = ascend(&instance, &tokens, options, watch, standing)?;
    let symbols = MergeList::new(task.alphabet.clone());
    let spell = |string: &Vec<Id>| -> Vec<u8> {
        let symbols = string.iter().map(|&symbol| symbols.token(symbol));
        symbols.collect::<Vec<_>>().concat()
    };
    Ok(Proof {
        gain: found.gain.min(most(task, &words)),
        discounts: written(&found.discounts),
        setting: Setting {
            one: 1 << options.bits,
            floor: instance.floor(),
            longest: instance.longest(),
            counted: instance.counted(),
        },
        num_steps: found.num_steps,
        chosen: found.chosen.iter().map(spell).collect(),
    })
}

/// How often strings with a price occur more than, if the last greedy merge gained so much.
///
/// Rarer strings are hardly worth a merge, but a rare and long one may be worth a token.
fn floor(against: Against, last_gain: u64) -> u64 {
    match against {
        Against::Merges => (last_gain.saturating_mul(9) / 10).max(1),
        Against::Vocabularies => last_gain / 50,
    }
}

/// A proof that needs no search: no string occurs so often that it has a price.
fn trivial(task: &Task, words: &Words) -> Proof {
    let long = words.iter().filter(|(word, _)| word.len() > 1);
    let num_discounts = match task.against {
        Against::Merges => 0,
        Against::Vocabularies => long.map(|(word, _)| word.len()).sum(),
    };
    Proof {
        gain: most(task, words),
        discounts: vec![0; num_discounts],
        setting: Setting {
            one: 1,
            floor: u64::MAX,
            longest: 2,
            counted: 2,
        },
        num_steps: 0,
        chosen: Vec::new(),
    }
}

/// The bound that a proof proves.
pub fn check(task: &Task, setting: &Setting, discounts: &[u8]) -> Result<u64> {
    let flawed = |flaw: Flaw| Error::InvalidProof {
        message: flaw.to_string(),
    };
    let words = Words::of(task.counts, task.alphabet)?;
    let numbers = read(discounts).ok_or_else(|| flawed(Flaw::Damaged))?;
    if !setting.one.is_power_of_two() {
        return Err(flawed(Flaw::Claim));
    }
    let claim = Claim {
        against: task.against,
        num_merges: task.num_merges,
        floor: setting.floor,
        longest: setting.longest,
        counted: setting.counted,
        bits: setting.one.trailing_zeros(),
    };
    let total = verify(&words, &claim, &numbers).map_err(flawed)?;
    let gain = u64::try_from(total >> claim.bits).unwrap_or(u64::MAX);
    Ok(gain.min(most(task, &words)))
}

/// What can be saved at all: no tree has more than 2^M symbols, no word less than one token.
fn most(task: &Task, words: &Words) -> u64 {
    let longest = match task.against {
        Against::Merges if task.num_merges < 63 => 1_u64 << task.num_merges,
        _ => u64::MAX,
    };
    let saved = |(word, count): (&[Id], u64)| {
        let length = word.len() as u64;
        count * (length - length.div_ceil(longest))
    };
    words.iter().map(saved).sum()
}

/// The tokens of the greedy list, and what its last merge gained; 0 if there were fewer merges.
fn greedy_tokens(task: &Task, watch: &Watch) -> Result<(Vec<Vec<Id>>, u64)> {
    let mut merges = MergeList::new(task.alphabet.clone());
    let options = greedy::Options {
        num_merges: task.num_merges,
        min_frequency: 1,
        max_token_length: usize::MAX,
        overlaps: Overlaps::Skip,
    };
    let gains = greedy::train(task.counts, &mut merges, &options, watch)?;
    let first = task.alphabet.len() as Id;
    let tokens = (first..merges.num_tokens() as Id)
        .map(|id| task.alphabet.symbols(merges.token(id)))
        .collect::<Result<_>>()?;
    let is_full = gains.len() == task.num_merges;
    let last = gains.last().copied().filter(|_| is_full);
    Ok((tokens, last.unwrap_or(0)))
}

/// Numbers as varints.
fn written(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

/// The numbers of varints; None if the last is cut short or one needs more than 31 bits.
fn read(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut numbers = Vec::with_capacity(bytes.len());
    let (mut number, mut shift) = (0_u64, 0);
    for &byte in bytes {
        number |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if number >> 31 != 0 || shift > 56 {
            return None;
        }
        if byte < 0x80 {
            numbers.push(number as u32);
            (number, shift) = (0, 0);
        }
    }
    (shift == 0).then_some(numbers)
}
