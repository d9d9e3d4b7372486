//! Texts to ids.
//!
//! [`Encoder`] is the engine of a [`Tokenizer`](crate::Tokenizer); it encodes bytes, and asks a
//! [`Watch`](crate::watch::Watch) whether to go on.

// What is always inlined is compiled for the processor of its caller.
#![allow(clippy::inline_always)]

mod batches;
mod cache;
mod characters;
mod context;
mod cut_out;
mod cutting;
mod desks;
mod encoder;
mod ends;
mod gathered;
mod joins;
mod long;
mod offsets;
mod prepare;
mod products;
mod run;
mod search;
mod short;
mod sink;
mod stretches;
#[cfg(test)]
mod tests;
mod unfinished;
mod unused;
mod whole;
mod words;

pub use crate::framing::{Frame, Padding, Side};
pub use crate::pipeline::Place;
pub use crate::specials::{Call, Choice, Search, Special};
pub use batches::{Encoded, Extent};
pub(crate) use context::Context;
pub use encoder::Encoder;
pub(crate) use encoder::Steps;
pub use offsets::Unit;
pub use prepare::{PrefixSpace, Preparation};
pub(crate) use search::Ways;
pub use words::Unknown;
