//! The core of mergewise: byte-pair encoding over bytes, ids and counts.
//!
//! The rooms, from the bottom up; each imports only from those above it in this list:
//!
//! | module | purpose | the paper |
//! |---|---|---|
//! | [`settings`], [`error`] | how texts are cut; what can go wrong | |
//! | [`merges`] | merge lists, token strings, `apply` | μ, Υ, YIELD, APPLY, κ (section 2) |
//! | [`watch`], `parallel`, [`normalize`], `prefetch`, `pages` | progress and cancellation; the parallel loop; normal forms; hints to the processor and the system | |
//! | `specials`, `blocks` | special tokens: found, or refused; texts read in blocks | |
//! | [`pattern`] | text to words | appendix B.1 |
//! | [`ranks`] | the lines of tiktoken's files | |
//! | [`counts`], `table` | how often each word occurs | appendix B.1 |
//! | [`counting`] | texts and files to counts, in parallel | |
//! | `arrow` | Arrow arrays, read in place | |
//! | [`vocabulary`] | tokens with ids of any kind, and the merges that matter | |
//! | [`encode`] | texts to ids and back | |
//! | [`curvature`] | how far greedy can be from the optimum, for one string and for all | σ, σ' (section 3) |
//! | [`greedy`] | training | PAIRFREQ, μ†, Algorithms 1 and 2 (sections 3, 4) |
//! | [`improve`] | merges better than greedy's | |
//! | [`segment`] | the fewest tokens of any vocabulary | |
//! | [`exact`] | the best merges of all | μ*, equation 3, Algorithm 3 (section 5) |
//! | [`bound`] | how close merges are to the best | |
//!
//! Correctness is decided by the Python package `mergewise.formal`, to which every module here is
//! compared on random input.

#[cfg(feature = "python")]
mod arrow;
mod blocks;
pub mod bound;
pub mod counting;
pub mod counts;
pub mod curvature;
pub mod encode;
pub mod error;
pub mod exact;
pub mod greedy;
pub mod improve;
pub mod merges;
pub mod normalize;
mod pages;
mod parallel;
pub mod pattern;
mod prefetch;
pub mod ranks;
pub mod segment;
pub mod settings;
mod specials;
mod table;
pub mod vocabulary;
pub mod watch;

#[cfg(feature = "python")]
mod python;
