//! Against what a bound holds.

/// Against what a bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Against {
    /// Every list of the same number of merges: the forest bound.
    Merges,
    /// Every vocabulary of the same number of strings, segmented as well as possible: the price
    /// bound.
    Vocabularies,
}

impl Against {
    /// The most that a span can lose that costs what its symbols do, but at most 1.
    pub(super) fn most_lost(self) -> f32 {
        match self {
            Self::Merges => 1.0,
            Self::Vocabularies => f32::INFINITY,
        }
    }
}
