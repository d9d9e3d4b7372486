//! What was encoded, put into the files of shards.

use crate::error::{Error, Result};

use super::array::Array;
use super::index::Index;
use super::left_out::{MOST_TOLD, Told};
use super::piece::Piece;
use super::shares::Extent;
use super::{Files, Format, Numbers, Options, Point, Shard, Sharding};

/// The files that are written.
pub(super) struct Output<F> {
    files: F,
    format: Format,
    numbers: Numbers,
    sharding: Sharding,
    splits: Vec<Split>,
    /// How many blocks were put.
    pub(super) num_blocks: u64,
    /// What was wrong with the first that was left out.
    told: Vec<Error>,
}

/// A split of the documents: how many shards are complete, and the one that is written.
#[derive(Default)]
struct Split {
    num_done: usize,
    open: Option<Open>,
    /// How much was left out behind the last shard that is complete.
    num_bad: u64,
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
            num_done: match (options.done.get(split), &options.sharding) {
                (Some(done), _) => done.0,
                // What is before the first shard that is made is left out, as the one before it.
                (None, Sharding::Shares(shares)) => shares.made.start.saturating_sub(1) as usize,
                (None, _) => 0,
            },
            ..Split::default()
        };
        Self {
            files,
            format: options.format,
            numbers: options.numbers,
            sharding: options.sharding.clone(),
            splits: (0..num_splits).map(split).collect(),
            num_blocks: 0,
            told: Vec::new(),
        }
    }

    /// Write the ids of the next block.
    pub(super) fn put(&mut self, piece: &Piece) -> Result<()> {
        let block = self.num_blocks;
        let width = self.numbers.width();
        let mut all_told = Vec::new();
        for split in 0..self.splits.len() {
            let part = &piece.parts[split];
            let (mut start, mut ends) = (0, &part.ends[..]);
            let mut left_out = piece.left_out.numbers[split].iter().peekable();
            let told = piece.left_out.told.iter();
            let mut told = told.filter(|told| told.split == split).peekable();
            loop {
                let (num_within, next) = self.fit(split, start, ends, &piece.extent);
                let (within, others) = ends.split_at(num_within);
                if let Some(&(end, _)) = within.last() {
                    if self.is_made(split) {
                        let open = self.open(split)?;
                        open.ids.write(&part.bytes[start..end])?;
                        open.end_documents(start, within)?;
                    }
                    start = end;
                }
                let is_within = |document| next.is_none_or(|next| document < next);
                // What is left out of a shard is counted if it is made here.
                let is_made = self.is_made(split);
                while let Some((_, number)) = left_out.next_if(|one| is_within(one.0)) {
                    self.splits[split].num_bad += u64::from(is_made) * number;
                }
                while let Some(told) = told.next_if(|told| is_within(told.document)) {
                    all_told.extend(is_made.then_some(told));
                }
                let Some(document) = next else {
                    break;
                };
                self.end_shard(split, Point { block, document })?;
                ends = others;
            }
            if start < part.bytes.len() && self.is_made(split) {
                let open = self.open(split)?;
                open.ids.write(&part.bytes[start..])?;
                open.num_begun += ((part.bytes.len() - start) / width) as u64;
            }
        }
        self.tell(all_told);
        self.num_blocks += 1;
        Ok(())
    }

    /// Tell what was left out of a block, whatever the splits, if it is among the first of all.
    fn tell(&mut self, mut told: Vec<&Told>) {
        told.sort_by_key(|told| told.document);
        told.truncate(MOST_TOLD - self.told.len());
        let errors = told.into_iter().map(|told| told.error.clone());
        self.told.extend(errors);
    }

    /// How many documents of a block, which end at `ends` of bytes from `start` on, are still of the
    /// shard, and with which document of the block the next shard begins, if one does.
    fn fit(
        &self,
        split: usize,
        start: usize,
        ends: &[(usize, u64)],
        extent: &Extent,
    ) -> (usize, Option<u64>) {
        let Split { num_done, open, .. } = &self.splits[split];
        // Documents are many, and the one that ends the shard is searched for by halves.
        match &self.sharding {
            Sharding::One => (ends.len(), None),
            Sharding::Ids(most) => {
                let before = open.as_ref().map_or(0, |open| open.ids.len());
                let num_ids = |end| before + ((end - start) / self.numbers.width()) as u64;
                let num_before = ends.partition_point(|&(end, _)| num_ids(end) < *most);
                match ends.get(num_before) {
                    Some(&(_, last)) => (num_before + 1, Some(last + 1)),
                    None => (ends.len(), None),
                }
            }
            Sharding::Shares(shares) => match shares.end(*num_done as u64, extent) {
                Some(next) => {
                    let num_within = ends.partition_point(|&(_, document)| document < next);
                    (num_within, Some(next))
                }
                None => (ends.len(), None),
            },
        }
    }

    /// Whether the shard of the next document is made here.
    fn is_made(&self, split: usize) -> bool {
        match &self.sharding {
            Sharding::Shares(shares) => shares.made.contains(&(self.splits[split].num_done as u64)),
            _ => true,
        }
    }

    /// Whether all shards that are made have been closed.
    pub(super) fn is_complete(&self) -> bool {
        let Sharding::Shares(shares) = &self.sharding else {
            return false;
        };
        let is_complete = |split: &Split| split.num_done as u64 >= shares.made.end;
        self.splits.iter().all(is_complete)
    }

    /// Complete a shard, which may have no documents, if it is made here.
    fn end_shard(&mut self, split: usize, end: Point) -> Result<()> {
        if self.is_made(split) {
            self.open(split)?;
            return self.close(split, end);
        }
        self.splits[split].num_done += 1;
        Ok(())
    }

    /// Complete the last shards. A split without documents has one that is empty. Returns how much was
    /// left out behind all shards, and what was wrong with the first that was left out.
    pub(super) fn finish(mut self) -> Result<(u64, Vec<Error>)> {
        let end = Point {
            block: self.num_blocks,
            document: 0,
        };
        let num_shards = match &self.sharding {
            Sharding::Shares(shares) => shares.made.end as usize,
            _ => 1,
        };
        for split in 0..self.splits.len() {
            while self.splits[split].num_done < num_shards {
                self.end_shard(split, end)?;
            }
            self.close(split, end)?;
        }
        let num_bad = self.splits.iter().map(|split| split.num_bad).sum();
        Ok((num_bad, self.told))
    }

    fn open(&mut self, split: usize) -> Result<&mut Open> {
        let Split { num_done, open, .. } = &mut self.splits[split];
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
        let Split {
            num_done,
            open,
            num_bad,
        } = &mut self.splits[split];
        let Some(open) = open.take() else {
            return Ok(());
        };
        let shard = Shard {
            split,
            number: *num_done,
            num_ids: open.ids.len(),
            num_documents: open.num_documents,
            num_bad: std::mem::take(num_bad),
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
