//! What a proof claims, and what may be wrong with it.

use std::fmt;

use super::against::Against;
use crate::merges::Id;

/// What a proof claims to bound, and which strings have prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Against what the bound holds.
    pub against: Against,
    /// The number of merges, or of strings.
    pub num_merges: usize,
    /// Strings that occur at most this often have no prices.
    pub floor: u64,
    /// No longer string has a price; at least 2, so that a pair without one is rare.
    pub longest: usize,
    /// Longer strings up to this length cost as much as their symbols; those beyond are taken to
    /// occur as often as their beginnings.
    pub counted: usize,
    /// Prices are in units of 1 / 2^bits; at most 30.
    pub bits: u32,
}

/// Strings, 2 or more, each the neighbour of the next and the last of the first, an odd number of them by
/// either: see `formal.rings`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ring {
    /// The strings, going around.
    pub strings: Vec<Vec<Id>>,
    /// For each whether it is the neighbour of the next by both.
    pub by_both: Vec<bool>,
    /// What a list pays for each of them that it has, in units of 1 / 2^bits.
    pub toll: u64,
}

/// The rings of a proof, and the chains that link their strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rings {
    /// The rings.
    pub rings: Vec<Ring>,
    /// The strings of each chain of three or four.
    pub chains: Vec<Vec<Vec<Id>>>,
}

impl Rings {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rings.is_empty() && self.chains.is_empty()
    }
}

/// Why the numbers of a proof prove nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// There are too many discounts or too few.
    Number {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// There are too many credits or too few.
    Credits {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// The last number is cut short, or one is too large.
    Damaged,
    /// The claim is unsupported: more bits than 30, a longest length below 2 or, like the number of
    /// merges or of symbols, beyond what 32 bits can number.
    Claim,
    /// The cases are no tree, hold symbols outside the alphabet, or are several against vocabularies.
    Cases,
    /// A ring has fewer than 2 strings, or an even number of them are linked by either; a chain does not
    /// have 3 or 4 strings; one has symbols outside the alphabet; or there are rings against vocabularies
    /// or in several cases.
    Rings,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { found, expected } => {
                write!(f, "found {found} discounts, expected {expected}")
            }
            Self::Credits { found, expected } => {
                write!(f, "found {found} credits, expected {expected}")
            }
            Self::Damaged => write!(f, "a discount is cut short or too large"),
            Self::Rings => write!(
                f,
                "a ring is even, a chain too long, one holds unknown symbols, or is in several cases or against vocabularies"
            ),
            Self::Cases => write!(
                f,
                "its cases are no tree, hold unknown symbols, or are against vocabularies"
            ),
            Self::Claim => write!(f, "its unit, its longest length or its size is unsupported"),
        }
    }
}
