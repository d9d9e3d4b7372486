//! Files and streams to documents: the one reader of counting and encoding.
//!
//! An [`Input`] is read in blocks, compressed or not: whole documents, or a part of one that is cut
//! where its words or ids do not change. So memory follows the size of a block and not that of a
//! document, unless nothing says where a text can be cut. The thread that works on a block also reads
//! it and makes its documents, which for JSON means to parse it; several inputs are read at once.

mod batch;
mod block;
mod compression;
mod cutter;
mod json;
mod long;
mod nameless;
mod parquet;
mod rows;
mod streams;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::watch::Watch;

pub(crate) use batch::Batch;
pub(crate) use block::Block;
pub use compression::Compression;
pub(crate) use nameless::nameless_file;
pub use parquet::{Column, ReadAt, Table, columns, metadata_of};
pub use rows::{Rows, Strings};
pub(crate) use streams::{Compressible, Order, Part, Position, Taken, for_each_block};

/// The bytes of text that are read at once: a block should fit the cache beside the frequent words.
pub(crate) const BLOCK_BYTES: usize = 1 << 18;

/// The bytes of a line of JSON that is parsed as a whole; of a longer one, the text is read in parts.
pub(crate) const MOST_RECORD_BYTES: usize = 1 << 19;

/// Where a document ends in an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Documents {
    /// At the end of the input.
    File,
    /// At the end of each line, which keeps its newline.
    Lines,
    /// Each line is an object of JSON, whose document is the string in this field; null is none.
    JsonLines(Arc<str>),
}

/// A text to read, with a name for messages.
pub struct Input<'a> {
    /// Its name; a file's path.
    pub path: PathBuf,
    /// Where to read; None: the file at `path`.
    pub reader: Option<Box<dyn Read + Send + 'a>>,
    /// How it is compressed.
    pub compression: Compression,
    /// Where its documents end.
    pub documents: Documents,
}

impl Input<'_> {
    /// The file at a path, without compression.
    pub fn file(path: impl Into<PathBuf>, documents: Documents) -> Self {
        Self {
            path: path.into(),
            reader: None,
            compression: Compression::None,
            documents,
        }
    }
}

/// How inputs are read.
#[derive(Clone)]
pub(crate) struct Reading<'a, C> {
    /// The bytes of text that are read at once.
    pub(crate) block_bytes: usize,
    /// The text of a line of JSON that is longer is read in parts.
    pub(crate) most_record_bytes: usize,
    /// A folder for temporary files.
    pub(crate) scratch: PathBuf,
    /// Where a text can be cut whatever follows it.
    pub(crate) last_cut: C,
    pub(crate) watch: &'a Watch,
}

impl<'a, C: Fn(&[u8]) -> Option<usize> + Clone + Send> Reading<'a, C> {
    /// The blocks of an input, which is opened with the first of them.
    pub(crate) fn blocks(
        &self,
        input: Input<'a>,
    ) -> impl Iterator<Item = Result<Block>> + Send + use<'a, C> {
        let reading = self.clone();
        let mut opening = Some(input);
        let mut opened = None;
        std::iter::from_fn(move || {
            if let Some(input) = opening.take() {
                match block::Blocks::open(input, &reading) {
                    Ok(blocks) => opened = Some(blocks),
                    Err(error) => return Some(Err(error)),
                }
            }
            let next = opened.as_mut()?.next(&reading.last_cut);
            if next.is_err() {
                opened = None;
            }
            next.transpose()
        })
    }

    /// The blocks of several inputs, and whether these are compressed.
    pub(crate) fn streams(
        &self,
        inputs: Vec<Input<'a>>,
    ) -> impl Iterator<Item = Compressible<impl Iterator<Item = Result<Block>> + Send>> + Send {
        let reading = self.clone();
        inputs.into_iter().map(move |input| {
            let is_compressed = input.compression != Compression::None;
            (is_compressed, reading.blocks(input))
        })
    }
}

/// A number that depends on the bytes of a text alone, the same everywhere and for ever.
pub(crate) fn key_of(text: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |key: u64, word: u64| {
        let mixed = (key ^ word).wrapping_mul(ODD);
        mixed ^ (mixed >> 32)
    };
    let (words, rest) = text.as_chunks::<8>();
    let key = words.iter().map(|word| u64::from_le_bytes(*word));
    let key = key.fold(text.len() as u64, mix);
    let key = rest.iter().fold(key, |key, &byte| mix(key, byte.into()));
    mix(mix(key, ODD), ODD)
}

/// Why a file could not be read or written.
pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        kind: error.kind(),
        code: error.raw_os_error(),
    }
}
