//! The best list of M merges for a text: equation 4 of the paper, solved exactly.
//!
//! Three methods with one answer. `BruteForce` tries every sequence of merges that replace something;
//! `Guarded` is Algorithm 3 of the paper with a corrected guard; `BranchAndBound` visits a tiny
//! fraction of them: it leaves out every sequence that cannot gain more than the best one known, by
//! prices (`forest`) and by the types of boundaries (`text`), and every state that was reached
//! before. Limits end the search with the best list so far and a bound that holds.
//!
//! The formal twins are `formal.exact_brute_force` and `formal.exact_guarded`.

mod beam;
mod depth_first;
mod descent;
mod forest;
mod frontier;
mod search;
mod solution;
mod text;

pub use solution::{Limit, Method, SearchOptions, SearchProgress, Solution};
pub use text::{Pair, Text};

use crate::error::Result;
use crate::watch::Watch;

/// The best list of merges for a text.
pub fn solve(
    text: &Text,
    options: &SearchOptions,
    watch: &Watch,
    progress: &SearchProgress,
) -> Result<Solution> {
    match options.method {
        Method::BranchAndBound => search::search(text, options, watch, progress),
        Method::BruteForce | Method::Guarded => {
            Ok(depth_first::depth_first(text, options, watch, progress))
        }
    }
}
