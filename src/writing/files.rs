//! The files that are written, as others name them.

use std::path::PathBuf;

use super::Point;
use crate::error::Result;

/// The files of a shard.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The file of ids.
    pub ids: PathBuf,
    /// The file of where documents begin, if asked for.
    pub index: Option<PathBuf>,
}

/// What was written to a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Of which split: 0 for training, 1 for validation.
    pub split: usize,
    /// Which one of the split, from 0.
    pub number: usize,
    /// How many ids it has.
    pub num_ids: u64,
    /// How many documents.
    pub num_documents: u64,
    /// How many lines and documents were left out of it.
    pub num_bad: u64,
    /// Where the next one begins.
    pub end: Point,
}

/// Names the files of shards. Writing is not atomic: give temporary paths out, and rename them when a
/// shard is closed.
pub trait Files: Send {
    /// The files of a new shard.
    fn open(&mut self, split: usize, number: usize) -> Result<Paths>;
    /// A shard is complete.
    fn close(&mut self, shard: Shard) -> Result<()>;
}
