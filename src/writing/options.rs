//! What is written, and where shards end.

use std::path::PathBuf;

use super::{Numbers, Shares};
use crate::merges::Id;

/// How ids are written.
#[derive(Debug, Clone)]
pub struct Options {
    /// The format of the files.
    pub format: Format,
    /// The type of an id.
    pub numbers: Numbers,
    /// The ids before those of each document.
    pub before: Vec<Id>,
    /// The ids behind those of each document.
    pub behind: Vec<Id>,
    /// The bytes of text that are read at once.
    pub block_bytes: usize,
    /// Where shards end.
    pub sharding: Sharding,
    /// The part of the documents that is for validation, from 0 to 1, if they are split.
    pub validation: Option<f64>,
    /// Whether lines that are no records, and documents that cannot be encoded, are left out; else they are
    /// errors.
    pub skips_bad: bool,
    /// For each split, how many shards are there already, and where the last one ends.
    pub done: Vec<(usize, Point)>,
    /// A folder for temporary files, best on the disk of the output.
    pub scratch: PathBuf,
}

/// Where a shard ends: always with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sharding {
    /// With the last document.
    One,
    /// With the document that makes it this many ids long.
    Ids(u64),
    /// With the document that completes its share of the bytes of all inputs.
    Shares(Shares),
}

/// The format of files of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An array of numpy, and one of where each document's ids begin and the last one's end.
    Npy,
    /// The bare numbers, and an array of where each document's begin and the last one's end.
    Bare,
    /// The two files of Megatron's `IndexedDataset`.
    Megatron,
}

/// A place between documents: a block of the inputs, and a document of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Point {
    /// Which block, from 0.
    pub block: u64,
    /// Which document of the block, from 0.
    pub document: u64,
}
