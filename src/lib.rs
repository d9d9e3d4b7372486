//! The core of mergewise: byte-pair encoding over bytes, ids and counts.
//!
//! The rooms, from the bottom up; each imports only from those above it in this list:
//!
//! | module | purpose | the paper |
//! |---|---|---|
//! | [`error`] | what can go wrong | |
//! | [`merges`] | merge lists, token strings, `apply` | μ, Υ, YIELD, APPLY, κ (section 2) |
//!
//! Correctness is decided by the Python package `mergewise.formal`, to which every module here is
//! compared on random input.

pub mod error;
pub mod merges;

#[cfg(feature = "python")]
mod python;
