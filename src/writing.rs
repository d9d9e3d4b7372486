//! Files to arrays of ids on disk, in the order of the documents whatever the number of threads.
//!
//! Each thread reads blocks and encodes them; what it makes is written when its turn comes. Where several
//! inputs are decompressed at once, what belongs behind the first of them waits in temporary files.
//!
//! The documents may be split in two, for training and validation, by a hash of their texts, and each
//! split may be written in shards of about equal size. A shard that is complete knows the [`Point`] in
//! the inputs where it ends, so that a run can go on where another one stopped.

mod array;
mod early;
mod files;
mod index;
mod left_out;
mod options;
mod output;
mod piece;
mod shares;
mod turns;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::encode::{Call, Encoder};
use crate::error::{Error, Result};
use crate::parallel::{into_inner, lock};
use crate::reading::{
    Batch, Block, Column, Compressible, Input, MOST_RECORD_BYTES, Order, Part, Reading, Rows,
    Taken, for_each_block,
};
use crate::watch::Watch;

use left_out::LeftOut;
use output::Output;
use piece::Piece;
use shares::Extent;
use turns::Turns;

pub use array::Numbers;
pub use files::{Files, Paths, Shard};
pub use options::{Format, Options, Point, Sharding};
pub use shares::Shares;

/// The bytes of ids that wait in memory for their turn.
const MOST_WAITING: usize = 1 << 24;

/// To encode rows takes so many times as long as to decode them: so many threads share a column, and what
/// they make of the next ones does not wait for long.
const THREADS_OF_COLUMN: usize = 3;

/// Rows that are so many times a block are encoded by all threads.
const LONG_IN_BLOCKS: usize = 16;

/// What encodes documents.
#[derive(Clone, Copy)]
pub struct Encoding<'a> {
    /// The engine.
    pub encoder: &'a Encoder,
    /// Which special tokens are found and refused.
    pub call: &'a Call,
    /// How many threads encode.
    pub num_threads: usize,
}

/// Writes the ids of documents as they come; `finish` completes the last files.
pub struct Writer<F> {
    options: Options,
    output: Mutex<Output<F>>,
    num_ids: Arc<AtomicU64>,
    is_complete: AtomicBool,
}

impl<F: Files> Writer<F> {
    /// A writer without documents.
    pub fn new(options: Options, files: F) -> Self {
        let output = Output::new(&options, files);
        Self {
            options,
            output: Mutex::new(output),
            num_ids: Arc::default(),
            is_complete: AtomicBool::new(false),
        }
    }

    /// How many ids were encoded so far, for others to look at meanwhile.
    pub fn num_ids(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.num_ids)
    }

    /// Whether all shards that are made are complete: what comes is left out.
    pub fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Relaxed)
    }

    /// How many blocks were written.
    pub fn num_blocks(&self) -> u64 {
        lock(&self.output).num_blocks
    }

    /// Write the ids of inputs; `starts` are the bytes of all inputs before each. An error names the
    /// file.
    pub fn add_inputs(
        &self,
        inputs: Vec<Input<'_>>,
        starts: &[u64],
        encoding: Encoding<'_>,
        watch: &Watch,
    ) -> Result<()> {
        let reading = Reading {
            block_bytes: self.options.block_bytes,
            most_record_bytes: MOST_RECORD_BYTES,
            scratch: self.options.scratch.clone(),
            last_cut: |text: &[u8]| encoding.encoder.last_cut(text),
            watch,
        };
        let encode = |(number, input), block| {
            self.encode_block(block, (number, starts[input]), encoding, watch)
        };
        let streams = reading.streams(inputs);
        let _shared = encoding
            .encoder
            .desks
            .sharing(encoding.num_threads, encoding.num_threads);
        self.add_blocks(streams, usize::MAX, encoding.num_threads, watch, encode)?;
        Ok(())
    }

    /// Write the ids of columns; returns how many blocks of each were written. An error names the place of
    /// the rows.
    pub fn add_columns(
        &self,
        columns: impl Iterator<Item = Column> + Send,
        encoding: Encoding<'_>,
        watch: &Watch,
    ) -> Result<Vec<u64>> {
        let encode = |(number, _), rows: Rows| self.encode_rows(&rows, number, encoding, watch);
        let num_threads = encoding.num_threads;
        let _shared = encoding.encoder.desks.sharing(num_threads, num_threads);
        let columns = columns.map(|rows| (true, rows));
        let most = num_threads.div_ceil(THREADS_OF_COLUMN);
        self.add_blocks(columns, most, num_threads, watch, encode)
    }

    /// Write what `encode` makes of the blocks of inputs, of which `most_begun` are read at once. It is
    /// called with how many blocks are before a block, or more than were done before, and the input.
    /// Returns how many blocks of each input were written.
    fn add_blocks<B: Part, I: Iterator<Item = Result<B>> + Send>(
        &self,
        streams: impl Iterator<Item = Compressible<I>> + Send,
        most_begun: usize,
        num_threads: usize,
        watch: &Watch,
        encode: impl Fn((u64, usize), B) -> Result<Piece> + Sync,
    ) -> Result<Vec<u64>> {
        let first = self.num_blocks();
        // What is there already ends at a number of blocks.
        let ends = self.options.done.iter().map(|(_, end)| end.block);
        let num_strict = ends
            .max()
            .map_or(0, |last| (last + 1).saturating_sub(first));
        let mut num_blocks = Vec::new();
        let put = |input, piece: &Piece| {
            self.put(&mut lock(&self.output), piece)?;
            num_blocks.resize(num_blocks.len().max(input + 1), 0);
            num_blocks[input] += 1;
            watch.advance(piece.extent.num_read);
            Ok(())
        };
        let turns = Turns::new(put, &self.options.scratch, MOST_WAITING);
        let mut workers = vec![(); num_threads.max(1)];
        let order = Order::Kept { num_strict };
        let read = for_each_block(
            streams,
            order,
            most_begun,
            &mut workers,
            watch,
            |(), taken| {
                let Taken {
                    position,
                    number,
                    block,
                } = taken;
                let number = number.map_or(u64::MAX, |number| first + number);
                let is_last = block.is_last();
                let piece = encode((number, position.input), block)?;
                let num_ids = piece.num_ids(self.options.numbers.width());
                self.num_ids.fetch_add(num_ids, Ordering::Relaxed);
                turns.add(position, piece, is_last)?;
                if self.is_complete() {
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            },
        );
        drop(turns);
        // Pieces are put in order, so what failed is behind all shards that are made.
        if !self.is_complete() {
            read?;
        }
        Ok(num_blocks)
    }

    /// Encode rows before which there are `number` blocks, or more than were done before.
    fn encode_rows(
        &self,
        rows: &Rows,
        number: u64,
        encoding: Encoding<'_>,
        watch: &Watch,
    ) -> Result<Piece> {
        let documents = &rows.documents()[..];
        let extent = Extent {
            position: rows.position,
            num_read: rows.num_read,
            num_documents: documents.len() as u64,
            num_ended: documents.len() as u64,
        };
        let num_bytes: usize = documents.iter().map(|text| text.len()).sum();
        // Rows are encoded at once, so that they need one thread, unless they are long.
        let num_threads = match num_bytes / self.options.block_bytes {
            0..LONG_IN_BLOCKS => 1,
            _ => encoding.num_threads,
        };
        let encoding = Encoding {
            num_threads,
            ..encoding
        };
        let chosen = self.chosen(documents, None, number, &extent);
        let (ends, locate) = ((true, true), |error| rows.located(error));
        let mut piece = self.encode_chosen(documents, chosen, ends, encoding, watch, locate)?;
        piece.extent = extent;
        Ok(piece)
    }

    fn put(&self, output: &mut Output<F>, piece: &Piece) -> Result<()> {
        output.put(piece)?;
        let is_complete = output.is_complete();
        self.is_complete.store(is_complete, Ordering::Relaxed);
        Ok(())
    }

    /// Complete the files; how much was left out behind the last shards, and what was wrong with the
    /// first of all that was left out.
    pub fn finish(self) -> Result<(u64, Vec<Error>)> {
        into_inner(self.output).finish()
    }

    /// Encode a block of an input that has `start` bytes of the inputs before it. Before the block there
    /// are `number` blocks, or more than were done before.
    fn encode_block(
        &self,
        block: Block,
        (number, start): (u64, u64),
        encoding: Encoding<'_>,
        watch: &Watch,
    ) -> Result<Piece> {
        let mut extent = Extent {
            position: start + block.file_offset,
            num_read: block.num_read,
            ..Extent::default()
        };
        if self.leaves_out(number, &extent) {
            return Ok(Piece {
                extent,
                ..Piece::default()
            });
        }
        let batch = block.into_batch(self.options.skips_bad)?;
        let documents: Vec<&[u8]> = batch.documents().collect();
        extent.num_documents = documents.len() as u64;
        let is_begun = !documents.is_empty() && !batch.is_end();
        extent.num_ended = extent.num_documents - u64::from(is_begun);
        let chosen = self.chosen(&documents, batch.key(), number, &extent);
        let one_thread = Encoding {
            num_threads: 1,
            ..encoding
        };
        let ends = (batch.is_start(), batch.is_end());
        let locate = |error| located(error, &batch);
        let mut piece = self.encode_chosen(&documents, chosen, ends, one_thread, watch, locate)?;
        piece.extent = extent;
        let lines = batch.bad_places().map(|before| before as u64).enumerate();
        let lines = lines.filter(|&(_, document)| self.is_left(0, number, document));
        let first = self.num_before(&extent);
        piece
            .left_out
            .add_lines(lines, first, |index| batch.bad_error(index));
        Ok(piece)
    }

    /// Encode the chosen documents; those that cannot be encoded are errors, or are left out. A document
    /// begins with the first and ends with the last of all, or not. `locate` gives an error of a document
    /// its place.
    fn encode_chosen(
        &self,
        documents: &[&[u8]],
        mut chosen: Vec<(usize, usize)>,
        ends: (bool, bool),
        encoding: Encoding<'_>,
        watch: &Watch,
        locate: impl Fn(Error) -> Error,
    ) -> Result<Piece> {
        let piece = self.encode(documents, &chosen, ends, encoding, watch);
        let is_wrong = piece.as_ref().err().is_some_and(is_of_text);
        if !(self.options.skips_bad && is_wrong) {
            return piece.map_err(locate);
        }
        // A document of which a part was written cannot be left out.
        let is_whole = |index| (index > 0 || ends.0) && (index + 1 < documents.len() || ends.1);
        let mut left_out = LeftOut::default();
        chosen.retain(|&(index, split)| {
            let encoded = encoding
                .encoder
                .encode(documents[index], encoding.call, watch);
            let wrong = encoded.err().map(|error| error.in_document(index));
            let wrong = wrong.filter(|error| is_whole(index) && is_of_text(error));
            let is_right = wrong.is_none();
            if let Some(error) = wrong {
                left_out.add_document(split, index as u64, || locate(error));
            }
            is_right
        });
        let piece = self.encode(documents, &chosen, ends, encoding, watch);
        let mut piece = piece.map_err(|error| {
            let is_begun = is_of_text(&error);
            let error = locate(error);
            if is_begun { error.in_begun() } else { error }
        })?;
        piece.left_out = left_out;
        Ok(piece)
    }

    /// Whether nothing of a block is written: it was done before, or is before all shards that are made.
    fn leaves_out(&self, number: u64, extent: &Extent) -> bool {
        let Options { done, sharding, .. } = &self.options;
        let is_done = |done: &(usize, Point)| number < done.1.block;
        let is_done = !done.is_empty() && done.iter().all(is_done);
        is_done || matches!(sharding, Sharding::Shares(shares) if shares.is_before(extent))
    }

    /// The documents of a block that are still to be written: which, and of which split. The first has
    /// the `key`, if it is known; it may be a part.
    fn chosen(
        &self,
        documents: &[&[u8]],
        key: Option<u64>,
        block: u64,
        extent: &Extent,
    ) -> Vec<(usize, usize)> {
        let Options {
            validation,
            block_bytes,
            ..
        } = &self.options;
        let split_of = |index: usize| {
            let Some(part) = validation else {
                return 0;
            };
            let key = key.filter(|_| index == 0);
            let key = key.unwrap_or_else(|| output::key(documents[index], *block_bytes));
            usize::from(f64::from((key >> 32) as u32) < part * f64::from(u32::MAX))
        };
        let left = self.num_before(extent) as usize..documents.len();
        let chosen = left.map(|index| (index, split_of(index)));
        let is_left = |&(index, split): &(usize, usize)| self.is_left(split, block, index as u64);
        chosen.filter(is_left).collect()
    }

    /// How many documents of a block are before all shards that are made.
    fn num_before(&self, extent: &Extent) -> u64 {
        match &self.options.sharding {
            Sharding::Shares(shares) => shares.num_skipped(extent),
            _ => 0,
        }
    }

    /// Whether a document of a split, or what is left out before it, is behind all shards done before.
    fn is_left(&self, split: usize, block: u64, document: u64) -> bool {
        let point = Point { block, document };
        let done = self.options.done.get(split);
        done.is_none_or(|(_, end)| point >= *end)
    }
}

/// Whether it is the text of a document that cannot be encoded.
fn is_of_text(error: &Error) -> bool {
    let Error::InDocument { error, .. } = error else {
        return false;
    };
    matches!(
        **error,
        Error::InvalidUtf8 { .. }
            | Error::UnknownCharacter { .. }
            | Error::PatternFailed {
                is_of_steps: true,
                ..
            }
            | Error::DisallowedSpecial { .. }
    )
}

fn located(error: Error, batch: &Batch) -> Error {
    match error {
        Error::InDocument { index, error } => batch.located(*error, index),
        other => other,
    }
}
