//! From counts to a bound with its proof, and from a proof back to the bound.
//!
//! A proof is a list of discounts, whole numbers of 0 or more, each as a varint (LEB128): for each
//! symbol of each piece by how much its price is below 1, and against merges, behind it, for each span
//! that begins there by how much its price is below that of its dearest parts, or below 1 if those
//! cost more. So every list of the right length proves a bound. Where there are rings, their credits
//! follow.

use super::against::Against;
use super::branching::descend;
use super::cases::Case;
use super::claim::{Claim, Flaw, Ring, Rings};
use super::found::DescentProgress;
use super::instance::{Instance, LONGEST};
use super::schedule::DescentOptions;
use super::verify::{verify_cases, verify_rings};
use super::words::Words;
use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::greedy::{self, Overlaps};
use crate::merges::{Alphabet, Id, MergeList};
use crate::varint;
use crate::watch::Watch;

/// Prices are in units of 1 / 2^14: coarser units weaken the bound more than they shrink the file.
pub const BITS: u32 = 14;

/// The unit of prices, and which strings have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceSetting {
    /// The price 1, a power of two.
    pub one: u64,
    /// Strings that occur at most this often have no price.
    pub floor: u64,
    /// No longer string has a price.
    pub longest: usize,
    /// Longer strings up to this length cost as much as their symbols.
    pub counted: usize,
}

/// The strings of a ring, spelled, its toll, and which of the strings, from 0, are linked to the next by
/// both: see [`Ring`].
pub type SpelledRing = (Vec<Vec<u8>>, u64, Vec<usize>);

/// The strings of a chain of three or four, spelled.
pub type SpelledChain = Vec<Vec<u8>>;

/// Rings, and the chains that link their strings.
pub type SpelledRings = (Vec<SpelledRing>, Vec<SpelledChain>);

/// A bound and its proof.
#[derive(Debug, Clone)]
pub struct Proof {
    /// No list of `num_merges` merges, or no vocabulary of that number of strings, saves more tokens.
    pub gain: u64,
    /// The list of discounts, then the credits of the rings.
    pub discounts: Vec<u8>,
    /// What to read it with.
    pub setting: PriceSetting,
    /// The tree of the cases whose discounts follow each other: see [`Case`].
    pub tree: Vec<Option<Vec<u8>>>,
    /// The rings of a proof by one case.
    pub rings: SpelledRings,
    /// The number of steps that the search took.
    pub num_steps: usize,
    /// The strings with the largest losses: a good vocabulary.
    pub chosen: Vec<Vec<u8>>,
}

/// What to bound.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The corpus.
    pub counts: &'a WordCounts,
    /// Its symbols.
    pub alphabet: &'a Alphabet,
    /// Against what the bound holds.
    pub against: Against,
    /// The number of merges, or of strings.
    pub num_merges: usize,
}

impl Problem<'_> {
    /// The number of symbols of each word, in no particular order, and its count.
    fn lengths(&self) -> impl Iterator<Item = (u64, u64)> {
        let words = self.counts.iter();
        words.map(|(word, count)| (self.alphabet.num_symbols(word) as u64, count))
    }
}

/// Search for a good bound. If the watch stops it, the best so far is returned, or, before there is
/// one, a trivial bound.
pub fn find(
    problem: &Problem,
    options: &DescentOptions,
    watch: &Watch,
    progress: &DescentProgress,
) -> Result<Proof> {
    let searched = greedy_tokens(problem, watch).and_then(|(tokens, last)| {
        let instance = Instance::new(
            &Words::of(problem.counts, problem.alphabet, watch)?,
            problem.against,
            problem.num_merges,
            floor(problem.against, last),
            LONGEST,
            options.num_threads,
            watch,
        )?;
        let found = descend(&instance, &tokens, options, watch, progress)?;
        Ok((instance, found))
    });
    let (instance, found) = match searched {
        Err(Error::Interrupted) => return Ok(trivial(problem)),
        searched => searched?,
    };
    let symbols = MergeList::new(problem.alphabet.clone());
    let spell = |string: &Vec<Id>| -> Vec<u8> {
        let symbols = string.iter().map(|&symbol| symbols.token(symbol));
        symbols.collect::<Vec<_>>().concat()
    };
    Ok(Proof {
        gain: found.gain.min(most(problem)),
        discounts: written(found.discounts.iter().chain(&found.credits)),
        setting: PriceSetting {
            one: 1 << options.bits,
            floor: instance.floor,
            longest: instance.longest,
            counted: instance.counted(),
        },
        tree: found
            .tree
            .iter()
            .map(|node| node.as_ref().map(spell))
            .collect(),
        rings: spelled(&found.rings, spell),
        num_steps: found.num_steps,
        chosen: found.chosen.iter().map(spell).collect(),
    })
}

/// Strings that occur at most this often have no price, given what the last greedy merge gained.
///
/// They are hardly worth a merge, but a rare and long string may be worth a token.
fn floor(against: Against, last_gain: u64) -> u64 {
    match against {
        Against::Merges => (last_gain.saturating_mul(9) / 10).max(1),
        Against::Vocabularies => last_gain / 50,
    }
}

/// A proof that needs no search: no string has a price.
fn trivial(problem: &Problem) -> Proof {
    let lengths = problem.lengths().map(|(length, _)| length as usize);
    let num_discounts = match problem.against {
        Against::Merges => 0,
        Against::Vocabularies => lengths.filter(|&length| length > 1).sum(),
    };
    Proof {
        gain: most(problem),
        discounts: vec![0; num_discounts],
        setting: PriceSetting {
            one: 1,
            floor: u64::MAX,
            longest: 2,
            counted: 2,
        },
        tree: vec![None],
        rings: SpelledRings::default(),
        num_steps: 0,
        chosen: Vec::new(),
    }
}

/// The bound that a proof proves, by the cases of a tree or by rings.
pub fn check(
    problem: &Problem,
    setting: &PriceSetting,
    tree: &[Option<Vec<u8>>],
    rings: &SpelledRings,
    discounts: &[u8],
    watch: &Watch,
) -> Result<u64> {
    let flawed = |flaw: Flaw| Error::InvalidProof {
        message: flaw.to_string(),
    };
    let words = Words::of(problem.counts, problem.alphabet, watch)?;
    let numbers = read(discounts).ok_or_else(|| flawed(Flaw::Damaged))?;
    if !setting.one.is_power_of_two() {
        return Err(flawed(Flaw::Claim));
    }
    let claim = Claim {
        against: problem.against,
        num_merges: problem.num_merges,
        floor: setting.floor,
        longest: setting.longest,
        counted: setting.counted,
        bits: setting.one.trailing_zeros(),
    };
    let in_symbols = |node: &Option<Vec<u8>>| {
        let string = node.as_ref().map(|string| problem.alphabet.symbols(string));
        string.transpose().map_err(|_| flawed(Flaw::Cases))
    };
    let tree = tree.iter().map(in_symbols).collect::<Result<Vec<_>>>()?;
    let cases = Case::of_tree(&tree).ok_or_else(|| flawed(Flaw::Cases))?;
    let rings = in_symbols_of(rings, problem.alphabet);
    let rings = rings.ok_or_else(|| flawed(Flaw::Rings))?;
    let total = match (rings.is_empty(), cases.len()) {
        (true, _) => verify_cases(&words, &claim, &cases, &numbers),
        (false, 1) => verify_rings(&words, &claim, &rings, &numbers),
        _ => Err(Flaw::Rings),
    };
    let total = total.map_err(flawed)?;
    let gain = u64::try_from(total >> claim.bits).unwrap_or(u64::MAX);
    Ok(gain.min(most(problem)))
}

/// Rings with their strings as bytes.
fn spelled(rings: &Rings, spell: impl Fn(&Vec<Id>) -> Vec<u8>) -> SpelledRings {
    let ring = |ring: &Ring| {
        let strings = ring.strings.iter().map(&spell).collect();
        let by_both = (0..ring.by_both.len()).filter(|&index| ring.by_both[index]);
        (strings, ring.toll, by_both.collect())
    };
    let chain = |chain: &Vec<Vec<Id>>| chain.iter().map(&spell).collect();
    let rings = (rings.rings.iter().map(ring), rings.chains.iter().map(chain));
    (rings.0.collect(), rings.1.collect())
}

/// Rings as symbols of an alphabet; None if they have others.
fn in_symbols_of((rings, chains): &SpelledRings, alphabet: &Alphabet) -> Option<Rings> {
    let strings = |spelled: &[Vec<u8>]| -> Option<Vec<Vec<Id>>> {
        let strings = spelled.iter().map(|string| alphabet.symbols(string).ok());
        strings.collect()
    };
    let ring = |(spelled, toll, linked): &SpelledRing| {
        let mut by_both = vec![false; spelled.len()];
        for &index in linked {
            *by_both.get_mut(index)? = true;
        }
        Some(Ring {
            strings: strings(spelled)?,
            by_both,
            toll: *toll,
        })
    };
    Some(Rings {
        rings: rings.iter().map(ring).collect::<Option<_>>()?,
        chains: chains
            .iter()
            .map(|chain| strings(chain))
            .collect::<Option<_>>()?,
    })
}

/// The most that can be saved by any prices: a tree of M merges has at most 2^M symbols, and a word
/// at least one token.
fn most(problem: &Problem) -> u64 {
    let longest = match problem.against {
        Against::Merges if problem.num_merges < 63 => 1_u64 << problem.num_merges,
        _ => u64::MAX,
    };
    let saved = |(length, count): (u64, u64)| count * (length - length.div_ceil(longest));
    problem.lengths().map(saved).sum()
}

/// The tokens of the greedy list, and what its last merge gained: 0 if it has fewer than
/// `num_merges` merges.
fn greedy_tokens(problem: &Problem, watch: &Watch) -> Result<(Vec<Vec<Id>>, u64)> {
    let mut merges = MergeList::new(problem.alphabet.clone());
    let options = greedy::TrainOptions {
        num_merges: problem.num_merges,
        min_frequency: 1,
        max_token_length: usize::MAX,
        overlaps: Overlaps::Skip,
    };
    let gains = greedy::train(problem.counts, &mut merges, &options, watch)?;
    let first = problem.alphabet.len() as Id;
    let tokens = (first..merges.num_tokens() as Id)
        .map(|id| problem.alphabet.symbols(merges.token(id)))
        .collect::<Result<_>>()?;
    let is_full = gains.len() == problem.num_merges;
    let last = gains.last().copied().filter(|_| is_full);
    Ok((tokens, last.unwrap_or(0)))
}

/// Numbers as varints.
fn written<'a>(numbers: impl Iterator<Item = &'a u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.size_hint().0);
    for &number in numbers {
        varint::push(&mut bytes, number.into());
    }
    bytes
}

/// The numbers of varints; None if the last is cut short or one needs more than 31 bits.
fn read(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut numbers = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while !bytes.as_slice().is_empty() {
        let number = varint::read(|| bytes.next().copied().ok_or(())).ok()??;
        numbers.push(i32::try_from(number).ok()?.cast_unsigned());
    }
    Some(numbers)
}
