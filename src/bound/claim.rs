//! What a proof claims, and what may be wrong with it.

use std::fmt;

use super::against::Against;

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

/// Why discounts prove nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// There are too many or too few.
    Number {
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// The last is cut short, or one is too large.
    Damaged,
    /// The claim is unsupported: more bits than 30, a longest length below 2 or, like the number of
    /// merges or of symbols, beyond what 32 bits can number.
    Claim,
    /// The cases are no tree, hold symbols outside the alphabet, or are several against vocabularies.
    Cases,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { found, expected } => {
                write!(f, "found {found} discounts, expected {expected}")
            }
            Self::Damaged => write!(f, "a discount is cut short or too large"),
            Self::Cases => write!(
                f,
                "its cases are no tree, hold unknown symbols, or are against vocabularies"
            ),
            Self::Claim => write!(f, "its unit, its longest length or its size is unsupported"),
        }
    }
}
