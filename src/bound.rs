//! How close a merge list is to the best one: a bound that prices prove.
//!
//! Two bounds (docs/theory/certificates.md). Against merges, the one that `prices` defines: every
//! symbol of a word and every span that could be a token has a price. Against vocabularies only
//! symbols have prices, and the loss of a span is what its symbols cost more than 1; then no vocabulary of M
//! strings saves more, however words are cut into its tokens.
//!
//! Spans that are too long for a price of their own cost as much as their symbols, at most 1. Each
//! merge counts as much as the largest loss of such a string at least.
//!
//! Against merges a proof may also count on odd rings of strings that cross each other: of spans that
//! cross, at most one is a token ([`Ring`]).
//!
//! Any prices give a valid bound. [`descend`] finds good ones in floating point; [`verify`] computes
//! the bound from the words and the prices, in integers, and shares nothing with the search. The
//! formal twin is `formal.bound`.

// Prices found in floating point are only a proposal: the bound is computed in integers.
#![allow(clippy::cast_precision_loss)]

mod active;
mod against;
mod batch;
mod branching;
mod cases;
mod chains;
mod claim;
mod decided;
mod descent;
mod found;
mod frequent;
mod instance;
mod items;
mod late_spans;
mod light;
mod lists;
mod long;
mod occurrences;
mod overlaps;
pub mod proof;
mod repeats;
mod ring_graph;
mod ring_search;
mod rings;
mod rounded_rings;
mod rounding;
mod rows;
mod schedule;
mod sections;
mod span_prices;
mod split_prices;
mod start;
mod step;
mod suggestion;
mod sums;
mod symbol_prices;
#[cfg(test)]
mod tests;
mod tolls;
mod verify;
mod weighing;
mod words;

pub use against::Against;
pub use branching::descend;
pub use cases::Case;
pub use claim::{Claim, Flaw, Ring, Rings};
pub use found::{DescentProgress, FoundPrices};
pub use instance::{Instance, LONGEST};
pub use schedule::DescentOptions;
pub use suggestion::suggest;
pub use verify::{verify, verify_cases, verify_rings};
pub use words::Words;
