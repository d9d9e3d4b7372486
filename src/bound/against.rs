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
