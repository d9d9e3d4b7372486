//! Files to arrays of ids on disk, in the order of the documents whatever the number of threads.
//!
//! Threads encode blocks as they are read; what each makes is written when its turn comes. No more
//! than a few blocks for each thread are in memory.

mod array;

use std::path::PathBuf;
use std::sync::Mutex;

use crate::encode::{Call, Encoder};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel::{for_each_in_order, lock};
use crate::reading::{Batch, Block, Input, Reading};
use crate::watch::Watch;

use array::Array;

pub use array::Numbers;

/// What is written, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The file of ids.
    pub ids: PathBuf,
    /// Whether it is an array for numpy, not the bare numbers.
    pub is_npy: bool,
    /// The type of an id.
    pub numbers: Numbers,
    /// A .npy file of where each document's ids begin and the last one's end, if asked for.
    pub offsets: Option<PathBuf>,
    /// The ids before those of each document.
    pub before: Vec<Id>,
    /// The ids behind those of each document.
    pub behind: Vec<Id>,
    /// The bytes of text that are read at once.
    pub block_bytes: usize,
}

/// Writes the ids of documents as they come; `finish` completes the files. Not atomic: pass temporary
/// paths.
#[derive(Debug)]
pub struct Writer {
    options: Options,
    output: Mutex<Output>,
}

#[derive(Debug)]
struct Output {
    ids: Array,
    offsets: Option<Array>,
    num_documents: u64,
}

/// The ids of a block as they are written.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    /// Where documents end, in ids from the beginning of the block's.
    ends: Vec<u64>,
    num_read: u64,
}

impl Writer {
    /// Create the files.
    pub fn create(options: Options) -> Result<Self> {
        let ids = Array::create(&options.ids, options.numbers, options.is_npy)?;
        let offsets = options.offsets.as_deref().map(|path| {
            let mut offsets = Array::create(path, Numbers::I64, true)?;
            offsets.write(&0_u64.to_le_bytes())?;
            Ok(offsets)
        });
        let output = Output {
            ids,
            offsets: offsets.transpose()?,
            num_documents: 0,
        };
        Ok(Self {
            options,
            output: Mutex::new(output),
        })
    }

    /// Write the ids of inputs. An error names the file.
    pub fn add_inputs(
        &self,
        inputs: Vec<Input<'_>>,
        encoder: &Encoder,
        call: &Call,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<()> {
        let reading = Reading {
            block_bytes: self.options.block_bytes,
            last_cut: |text: &[u8]| encoder.last_cut(text),
            watch,
        };
        reading.ahead(inputs, num_threads, |blocks| {
            let blocks = Mutex::new(blocks.zip(0..));
            let end = usize::MAX;
            let take = |taken: &mut Option<Block>| {
                let next = watch.check().map(|()| lock(&blocks).next());
                match next {
                    Err(error) => (end, Err(error)),
                    Ok(None) => (end, Ok(false)),
                    Ok(Some((Err(error), number))) => (number, Err(error)),
                    Ok(Some((Ok(block), number))) => {
                        *taken = Some(block);
                        (number, Ok(true))
                    }
                }
            };
            let work = |taken: &mut Option<Block>, _| {
                let Some(block) = taken.take() else {
                    return Ok(Piece::default());
                };
                let num_read = block.num_read;
                let mut piece = self.encode_batch(&block.into_batch()?, encoder, call, watch)?;
                piece.num_read = num_read;
                Ok(piece)
            };
            let mut workers: Vec<_> = (0..num_threads.max(1)).map(|_| None).collect();
            for_each_in_order(&mut workers, take, work, |piece| {
                lock(&self.output).put(&piece)?;
                watch.advance(piece.num_read);
                Ok(())
            })
        })
    }

    /// Write the ids of documents in memory. An error names the document by its index.
    pub fn add_documents(
        &self,
        documents: &[&[u8]],
        encoder: &Encoder,
        call: &Call,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<()> {
        let (ids, offsets) = encoder.encode_batch(documents, call, num_threads, watch)?;
        let piece = self.piece(&ids, &offsets, true, true);
        lock(&self.output).put(&piece)
    }

    /// Complete the files; the numbers of ids and of documents.
    pub fn finish(self) -> Result<(u64, u64)> {
        let Output {
            ids,
            offsets,
            num_documents,
        } = crate::parallel::into_inner(self.output);
        let num_ids = ids.len();
        ids.finish()?;
        offsets.map_or(Ok(()), Array::finish)?;
        Ok((num_ids, num_documents))
    }

    fn encode_batch(
        &self,
        batch: &Batch,
        encoder: &Encoder,
        call: &Call,
        watch: &Watch,
    ) -> Result<Piece> {
        let documents: Vec<&[u8]> = batch.documents().collect();
        let located = |error| match error {
            Error::InDocument { index, error } => batch.located(*error, index),
            other => other,
        };
        let (ids, offsets) = encoder
            .encode_batch(&documents, call, 1, watch)
            .map_err(located)?;
        Ok(self.piece(&ids, &offsets, batch.is_start(), batch.is_end()))
    }

    /// The ids of documents with those around them; the first may have begun before, and the last may
    /// go on.
    fn piece(&self, ids: &[Id], offsets: &[usize], is_start: bool, is_end: bool) -> Piece {
        let Options {
            numbers,
            before,
            behind,
            ..
        } = &self.options;
        let mut piece = Piece::default();
        let num_documents = offsets.len() - 1;
        let num_around = num_documents * (before.len() + behind.len());
        let bytes = &mut piece.bytes;
        bytes.reserve((ids.len() + num_around) * numbers.width());
        let append = |ids: &[Id], bytes: &mut Vec<u8>| {
            numbers.append(ids.iter().map(|&id| u64::from(id)), bytes);
        };
        for (index, range) in offsets.windows(2).enumerate() {
            if index > 0 || is_start {
                append(before, bytes);
            }
            append(&ids[range[0]..range[1]], bytes);
            if index + 1 < num_documents || is_end {
                append(behind, bytes);
                piece.ends.push((bytes.len() / numbers.width()) as u64);
            }
        }
        piece
    }
}

impl Output {
    fn put(&mut self, piece: &Piece) -> Result<()> {
        let before = self.ids.len();
        self.num_documents += piece.ends.len() as u64;
        if let Some(offsets) = &mut self.offsets {
            let mut bytes = Vec::new();
            let ends = piece.ends.iter().map(|end| before + end);
            Numbers::I64.append(ends, &mut bytes);
            offsets.write(&bytes)?;
        }
        self.ids.write(&piece.bytes)
    }
}
