//! Byte-pair encoding: count, train, encode, improve, solve and certify.
//!
//! Most programs need two types. [`WordCounts`] is how often each word of a corpus occurs: all that
//! training, solving and certifying know of it. [`Tokenizer`] encodes texts and decodes ids.
//!
//! ```
//! use mergewise::{Tokenizer, WordCounts};
//!
//! let counts = WordCounts::of(["low lower lowest", "low low"], Some("cl100k"))?;
//! let tokenizer = Tokenizer::train(&counts, 10)?;
//! let ids = tokenizer.encode("lower low")?;
//! assert_eq!(tokenizer.decode(&ids)?, b"lower low");
//! # Ok::<(), mergewise::Error>(())
//! ```
//!
//! A tokenizer can also be built of the tokens and merges of any vocabulary, with every step before
//! and after: [`Tokenizer::builder`]. Merges over ids, without texts around them, are a [`MergeList`].
//! Every failure is an [`Error`] that says what is wrong, where, and what may help, as data. Long
//! work takes a [`Watch`], through which another thread sees its progress and stops it.
//!
//! The folder `examples` has short programs that count, train, encode and certify.
//!
//! # Rooms
//!
//! What follows is for those who want a part alone, or more control. From the bottom up; each room uses
//! only those above it:
//!
//! | module | purpose | the paper |
//! |---|---|---|
//! | [`settings`], [`error`] | how texts are cut; errors | |
//! | [`merges`] | merge lists, token strings, `apply` | μ, Υ, YIELD, APPLY, κ (section 2) |
//! | [`watch`], `parallel`, `prefetch`, `pages` | progress and cancellation; the parallel loop; hints to the processor and the system | |
//! | `pool` | values that threads keep for one another | |
//! | `keys`, `varint`, `spelling` | short keys and hashes; whole numbers as bytes; characters as theirs | |
//! | [`pattern`], [`normalize`] | texts to words; normal forms | appendix B.1 |
//! | `framing`, `specials` | what is around a text's ids; special tokens in texts | |
//! | [`pipeline`] | all other steps before merging, as tokenizers' files have them | |
//! | [`ranks`], [`tokenizer_json`] | tiktoken's files, and most of tokenizers' | |
//! | [`counts`], `table` | how often each word occurs | appendix B.1 |
//! | [`reading`], [`counting`] | files to documents, read ahead in blocks; texts and files to counts, in parallel | |
//! | `arrow` | Arrow arrays, checked and copied | |
//! | [`vocabulary`] | tokens with ids of any kind, and the merges that matter | |
//! | [`encode`], `decode` | texts to ids and back | |
//! | [`writing`] | files to arrays of ids on disk | |
//! | [`greedy`] | training | PAIRFREQ, μ†, Algorithms 1 and 2 (sections 3, 4) |
//! | [`tokenizer`] | the front: all of the above as one value | |
//! | [`session`] | texts that grow, and their ids at every moment | |
//! | [`curvature`] | how far greedy can be from the optimum, for one string and for all | σ, σ' (section 3) |
//! | [`improve`] | merges better than greedy's | |
//! | [`segment`] | the fewest tokens of any vocabulary | |
//! | `prices` | prices of symbols and spans, and the bound on merges that they prove | |
//! | [`exact`] | the best merges of all | μ*, equation 4, Algorithm 3 (section 5) |
//! | [`bound`] | how close merges are to the best | |
//!
//! Correctness is decided by the Python package `mergewise.formal`, to which every module here is
//! compared on random input, and by the cases in `tests/cases`, which `cargo test` runs.

#[cfg(any(test, feature = "python"))]
mod arrow;
pub mod bound;
pub mod counting;
pub mod counts;
pub mod curvature;
mod decode;
pub mod encode;
pub mod error;
pub mod exact;
mod framing;
pub mod greedy;
pub mod improve;
mod keys;
pub mod merges;
pub mod normalize;
mod pages;
mod parallel;
pub mod pattern;
pub mod pipeline;
mod pool;
mod prefetch;
mod prices;
pub mod ranks;
pub mod reading;
pub mod segment;
pub mod session;
pub mod settings;
mod specials;
mod spelling;
mod table;
pub mod tokenizer;
pub mod tokenizer_json;
mod trie;
mod varint;
pub mod vocabulary;
pub mod watch;
pub mod writing;

#[cfg(feature = "python")]
mod python;

pub use counts::WordCounts;
pub use encode::Choice;
pub use error::{Error, ErrorKind, Hint, Result};
pub use merges::{Alphabet, Id, MergeList};
pub use session::Session;
pub use tokenizer::{Tokenizer, TokenizerBuilder};
pub use watch::Watch;
