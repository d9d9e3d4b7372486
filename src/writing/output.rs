//! What was encoded, put into the files of shards.

use crate::error::{Error, Result};

use super::array::Array;
use super::index::Index;
use super::piece::Piece;
use super::{Files, Format, Numbers, Options, Point, Shard, Sharding};

/// How many of the lines that are left out are told.
const MOST_TOLD: usize = 10;

/// The files that are written.
pub(super) struct Output<F> {
    files: F,
    format: Format,
    numbers: Numbers,
    sharding: Sharding,
    splits: Vec<Split>,
    /// How many blocks were put, and how many bytes of files were read for them.
    pub(super) num_blocks: u64,
    num_read: u64,
    num_bad: u64,
    bad: Vec<Error>,
}

/// A split of the documents: how many shards are complete, and the one that is written.
#[derive(Default)]
struct Split {
    num_done: usize,
    open: Option<Open>,
}

struct Open {
    ids: Array,
    index: Option<Index>,
    num_documents: u64,
    /// How many ids are behind the last document that has ended.
    num_begun: u64,
}

impl<F: Files> Output<F> {
    pub(super) fn new(options: &Options, files: F) -> Self {
        let num_splits = 1 + usize::from(options.validation.is_some());
        let split = |split: usize| Split {
            num_done: options.done.get(split).map_or(0, |done| done.0),
            open: None,
        };
        Self {
            files,
            format: options.format,
            numbers: options.numbers,
            sharding: options.sharding,
            splits: (0..num_splits).map(split).collect(),
            num_blocks: 0,
            num_read: 0,
            num_bad: 0,
            bad: Vec::new(),
        }
    }

    /// Write the ids of the next block.
    pub(super) fn put(&mut self, piece: &Piece) -> Result<()> {
        let block = self.num_blocks;
        let width = self.numbers.width();
        for (split, part) in piece.parts.iter().enumerate() {
            let (mut start, mut ends) = (0, &part.ends[..]);
            while !ends.is_empty() {
                let before = self.open(split)?.ids.len();
                // Documents are many, and the shard that they fill is searched for by halves.
                let is_within = |&(end, document): &(usize, u64)| {
                    let num_ids = before + ((end - start) / width) as u64;
                    !self.is_full(split, num_ids, piece, document + 1)
                };
                let num_within = ends.partition_point(is_within);
                let is_full = num_within < ends.len();
                let (written, others) = ends.split_at(num_within + usize::from(is_full));
                let &(end, last) = written.last().expect("one at least");
                let open = self.open(split)?;
                open.ids.write(&part.bytes[start..end])?;
                open.end_documents(start, written)?;
                if is_full {
                    let document = last + 1;
                    self.close(split, Point { block, document })?;
                }
                (start, ends) = (end, others);
            }
            if start < part.bytes.len() {
                let open = self.open(split)?;
                open.ids.write(&part.bytes[start..])?;
                open.num_begun += ((part.bytes.len() - start) / width) as u64;
            }
        }
        self.num_blocks += 1;
        self.num_read += piece.num_read;
        self.num_bad += piece.bad.len() as u64;
        let room = MOST_TOLD - self.bad.len();
        self.bad.extend(piece.bad.iter().take(room).cloned());
        Ok(())
    }

    /// Whether a shard ends with a document of a block, behind which it has so many ids.
    fn is_full(&self, split: usize, num_ids: u64, piece: &Piece, num_documents: u64) -> bool {
        match self.sharding {
            Sharding::One => false,
            Sharding::Ids(most) => num_ids >= most,
            Sharding::Shares {
                num_shards,
                num_bytes,
            } => {
                let number = self.splits[split].num_done as u64 + 1;
                // Where in the files the document ends, if all of the block are equally long.
                let within = u128::from(piece.num_read) * u128::from(num_documents);
                let within = within / u128::from(piece.num_documents);
                let position = u128::from(self.num_read) + within;
                let end = u128::from(num_bytes) * u128::from(number);
                number < num_shards && position * u128::from(num_shards) >= end
            }
        }
    }

    /// Complete the last shards. A split without documents has one that is empty.
    pub(super) fn finish(mut self) -> Result<(u64, Vec<Error>)> {
        let end = Point {
            block: self.num_blocks,
            document: 0,
        };
        for split in 0..self.splits.len() {
            if self.splits[split].num_done == 0 {
                self.open(split)?;
            }
            self.close(split, end)?;
        }
        Ok((self.num_bad, self.bad))
    }

    fn open(&mut self, split: usize) -> Result<&mut Open> {
        let Split { num_done, open } = &mut self.splits[split];
        if open.is_none() {
            let paths = self.files.open(split, *num_done)?;
            let is_npy = self.format == Format::Npy;
            let index = paths.index.as_deref();
            let index = index.map(|path| Index::create(path, self.format, self.numbers));
            *open = Some(Open {
                ids: Array::create(&paths.ids, self.numbers, is_npy)?,
                index: index.transpose()?,
                num_documents: 0,
                num_begun: 0,
            });
        }
        Ok(open.as_mut().expect("just opened"))
    }

    fn close(&mut self, split: usize, end: Point) -> Result<()> {
        let Split { num_done, open } = &mut self.splits[split];
        let Some(open) = open.take() else {
            return Ok(());
        };
        let shard = Shard {
            split,
            number: *num_done,
            num_ids: open.ids.len(),
            num_documents: open.num_documents,
            end,
        };
        open.ids.finish()?;
        open.index.map_or(Ok(()), Index::finish)?;
        *num_done += 1;
        self.files.close(shard)
    }
}

impl Open {
    /// Documents end at these places of bytes that were written from `start` on.
    fn end_documents(&mut self, start: usize, ends: &[(usize, u64)]) -> Result<()> {
        self.num_documents += ends.len() as u64;
        let begun = std::mem::take(&mut self.num_begun);
        let Some(index) = &mut self.index else {
            return Ok(());
        };
        let starts = [start].into_iter().chain(ends.iter().map(|&(end, _)| end));
        let width = self.ids.width();
        let lengths = starts
            .zip(ends)
            .map(|(start, &(end, _))| (end - start) / width);
        let begun = [begun].into_iter().chain(std::iter::repeat(0));
        index.push_all(
            begun
                .zip(lengths)
                .map(|(begun, length)| begun + length as u64),
        )
    }
}

/// A number that depends on the first bytes of a document, the same everywhere and for ever.
pub(super) fn key(document: &[u8], most_bytes: usize) -> u64 {
    crate::reading::key_of(&document[..document.len().min(most_bytes)])
}
