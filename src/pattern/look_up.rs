//! What blocks of bytes are looked up in.

/// How many symbols there may be: each three of them have a verdict.
pub(super) const MOST_SYMBOLS: usize = 32;

/// A table that processors read whole.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Table<const N: usize>(pub(super) [u8; N]);
