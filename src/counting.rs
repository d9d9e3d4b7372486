//! Texts to word counts: documents in memory, or files read in blocks, by several threads.
//!
//! A thread takes the next block of a file, cut where the pattern cuts any text (or at the end of a
//! line, or of the file), and counts its words into a table of its own; the tables are added at the
//! end. So the counts do not depend on the number of threads, and memory is proportional to the
//! number of different words.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::normalize::normalize;
use crate::parallel::{for_each_of, group_bytes, groups, into_inner, lock};
use crate::pattern::Pattern;
use crate::reading::{
    BLOCK_BYTES, Batch, Column, Input, MOST_RECORD_BYTES, Order, Position, Reading, Rows,
    for_each_block,
};
use crate::settings::{Normalization, Settings};
use crate::specials::{Choice, Finders, Part, Phase, Specials};
use crate::table::{Adder, Table};
use crate::watch::Watch;

/// A thread counts this many bytes in a tenth of a second at most, unless by a regular expression.
const QUICK: usize = 1 << 23;

/// What is done with bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidBytes {
    /// They are kept, each a symbol of its own.
    Keep,
    /// They are an error.
    Refuse,
    /// They become U+FFFD.
    Replace,
}

/// Counts words.
#[derive(Debug)]
pub struct Counter {
    settings: Settings,
    pattern: Pattern,
    invalid_bytes: InvalidBytes,
    specials: Specials,
    finders: Finders,
    /// One for each thread, kept from call to call.
    tables: Vec<Mutex<Table>>,
}

/// Lines of JSON that were left out because they are no records.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// How many.
    pub num_lines: u64,
    /// What is wrong with the first.
    pub first: Option<Error>,
}

/// The same while threads count.
#[derive(Default)]
struct LeavingOut {
    so_far: LeftOut,
    /// The block of the first so far.
    position: Position,
}

impl LeavingOut {
    /// Take note of the lines of a block.
    fn add(&mut self, position: Position, batch: &Batch) {
        let num_lines = batch.bad_places().len();
        self.so_far.num_lines += num_lines as u64;
        if num_lines > 0 && (self.so_far.first.is_none() || position < self.position) {
            self.so_far.first = Some(batch.bad_error(0));
            self.position = position;
        }
    }
}

impl Counter {
    /// A counter without words. It cuts texts at the `special_tokens` and does not count these.
    pub fn new(
        settings: Settings,
        invalid_bytes: InvalidBytes,
        special_tokens: &[String],
        num_threads: usize,
    ) -> Result<Self> {
        let pattern = Pattern::new(settings.pattern.as_deref())?;
        let specials = Specials::of_texts(special_tokens)?;
        Ok(Self {
            settings,
            pattern,
            invalid_bytes,
            finders: specials.finders(&Choice::default())?,
            specials,
            tables: (0..num_threads.max(1)).map(|_| Mutex::default()).collect(),
        })
    }

    /// The sum of all that was counted.
    pub fn finish(self) -> Result<WordCounts> {
        let tables = self.tables.into_iter().map(into_inner).collect();
        Table::with_sum(tables, |sum, team| {
            WordCounts::from_table(self.settings, sum, team)
        })
    }

    /// How many threads count.
    pub fn num_threads(&self) -> usize {
        self.tables.len()
    }

    /// How many bytes of memory the words counted so far take.
    pub fn memory(&self) -> usize {
        self.tables.iter().map(|table| lock(table).memory()).sum()
    }

    /// Whether counting documents takes less than a tenth of a second.
    pub fn is_quick(&self, documents: &[&[u8]]) -> bool {
        let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
        num_bytes <= QUICK && self.pattern.is_linear()
    }

    /// Count documents. An error names the document by its index.
    pub fn add_documents(&self, documents: &[&[u8]], watch: &Watch) -> Result<()> {
        let num_bytes = documents.iter().map(|document| document.len()).sum();
        self.add_coming(documents.iter().copied(), num_bytes, watch)
    }

    /// The same for documents that may be still to come, of about `num_bytes`: each is counted soon after it
    /// is there.
    pub fn add_coming<'t>(
        &self,
        documents: impl Iterator<Item = &'t [u8]> + Send,
        num_bytes: usize,
        watch: &Watch,
    ) -> Result<()> {
        let most_bytes = group_bytes(num_bytes, self.tables.len()).unwrap_or(usize::MAX);
        let groups = groups(documents, most_bytes, |text: &[u8]| self.last_cut(text));
        self.with_adders(num_bytes.div_ceil(most_bytes), |adders| {
            for_each_of(adders, groups, |adder, _, group| {
                let mut num_bytes = 0;
                for piece in group {
                    watch.check()?;
                    self.add_text(piece.text, adder, watch)
                        .map_err(|error| error.moved(piece.start, 0))
                        .map_err(|error| {
                            located(error, |error| error.in_document(piece.document))
                        })?;
                    num_bytes += piece.text.len() as u64;
                }
                watch.advance(num_bytes);
                Ok(())
            })
        })
    }

    /// Count inputs: files, or other texts that are read. An error names the file. Lines that are no
    /// records are errors, or are left out.
    pub fn add_inputs(
        &self,
        inputs: Vec<Input<'_>>,
        skips_bad: bool,
        watch: &Watch,
    ) -> Result<LeftOut> {
        let left_out = Mutex::new(LeavingOut::default());
        let reading = Reading {
            block_bytes: BLOCK_BYTES,
            most_record_bytes: MOST_RECORD_BYTES,
            scratch: std::env::temp_dir(),
            last_cut: |text: &[u8]| self.last_cut(text),
            watch,
        };
        self.with_adders(usize::MAX, |adders| {
            let streams = reading.streams(inputs);
            for_each_block(
                streams,
                Order::Free,
                usize::MAX,
                adders,
                watch,
                |adder, taken| {
                    let num_read = taken.block.num_read;
                    let batch = taken.block.into_batch(skips_bad)?;
                    if skips_bad {
                        lock(&left_out).add(taken.position, &batch);
                    }
                    self.add_batch(&batch, adder, watch)?;
                    watch.advance(num_read);
                    Ok(ControlFlow::Continue(()))
                },
            )
        })?;
        Ok(into_inner(left_out).so_far)
    }

    /// Count columns. An error names the place of the rows.
    pub fn add_columns(
        &self,
        columns: impl Iterator<Item = Column> + Send,
        watch: &Watch,
    ) -> Result<()> {
        let add = |adder: &mut Adder, rows: &Rows| {
            for (index, document) in rows.documents().into_iter().enumerate() {
                let added = self.add_text(document, adder, watch);
                let locate = |error: Error| rows.located(error.in_document(index));
                added.map_err(|error| located(error, locate))?;
            }
            watch.advance(rows.num_read);
            Ok(ControlFlow::Continue(()))
        };
        self.with_adders(usize::MAX, |adders| {
            let columns = columns.map(|rows| (true, rows));
            for_each_block(
                columns,
                Order::Free,
                usize::MAX,
                adders,
                watch,
                |adder, taken| add(adder, &taken.block),
            )
        })
    }

    /// Call `add` with an adder for each thread, at most one for each task.
    fn with_adders(
        &self,
        num_tasks: usize,
        add: impl FnOnce(&mut [Adder]) -> Result<()>,
    ) -> Result<()> {
        let num_threads = self.tables.len().min(num_tasks).max(1);
        let mut tables: Vec<_> = self.tables[..num_threads].iter().map(lock).collect();
        let mut adders: Vec<_> = tables.iter_mut().map(|table| Adder::new(table)).collect();
        add(&mut adders)?;
        adders.into_iter().for_each(Adder::finish);
        Ok(())
    }

    fn add_batch(&self, batch: &Batch, adder: &mut Adder, watch: &Watch) -> Result<()> {
        for (index, document) in batch.documents().enumerate() {
            self.add_text(document, adder, watch)
                .map_err(|error| located(error, |error| batch.located(error, index)))?;
        }
        Ok(())
    }

    /// Count the words of a document, or of a part that the pattern cuts off.
    fn add_text(&self, text: &[u8], adder: &mut Adder, watch: &Watch) -> Result<()> {
        self.specials
            .for_each_part(Phase::Given, text, &self.finders, |part| match part {
                Part::Ordinary(start, text) => self
                    .add_ordinary(text, adder, watch)
                    .map_err(|error| error.moved(start, 0)),
                Part::Special(..) => Ok(()),
            })
    }

    fn add_ordinary(&self, text: &[u8], adder: &mut Adder, watch: &Watch) -> Result<()> {
        let text = self.prepare(text)?;
        self.pattern
            .for_each_word(&text, watch, |start, end| adder.add(&text, start, end))
    }

    /// The last place where `text` can be cut whatever follows it.
    fn last_cut(&self, text: &[u8]) -> Option<usize> {
        self.specials
            .last_cut(text, |text| self.last_ordinary_cut(text))
    }

    fn last_ordinary_cut(&self, text: &[u8]) -> Option<usize> {
        let cut = self.pattern.last_safe_cut(text)?;
        if self.settings.normalization == Normalization::None {
            return Some(cut);
        }
        // Normalisation may join characters across a cut, or change what they are: only these
        // neighbours stay what they are, and every named pattern cuts between them.
        let is_cut = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && b" \n".contains(&pair[1]);
        text.windows(2).rposition(is_cut).map(|at| at + 1)
    }

    fn prepare<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>> {
        let text = match self.invalid_bytes {
            InvalidBytes::Keep => Cow::Borrowed(text),
            InvalidBytes::Refuse => {
                std::str::from_utf8(text).map_err(|error| Error::InvalidUtf8 {
                    offset: error.valid_up_to(),
                })?;
                Cow::Borrowed(text)
            }
            InvalidBytes::Replace => match String::from_utf8_lossy(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        };
        Ok(match text {
            Cow::Borrowed(text) => normalize(text, self.settings.normalization),
            Cow::Owned(text) => Cow::Owned(normalize(&text, self.settings.normalization).into()),
        })
    }
}

impl WordCounts {
    /// How often each word occurs in `documents`, cut by a pattern: a name or a regular expression;
    /// `None`: each document is one word.
    ///
    /// ```
    /// use mergewise::WordCounts;
    ///
    /// let counts = WordCounts::of(["a rose is a rose"], Some("whitespace"))?;
    /// assert_eq!(counts.by_count().next(), Some((&b" rose"[..], 2)));
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn of<D: AsRef<[u8]>>(
        documents: impl IntoIterator<Item = D>,
        pattern: Option<&str>,
    ) -> Result<Self> {
        let settings = Settings {
            pattern: pattern.map(str::to_owned),
            normalization: Normalization::None,
        };
        let counter = Counter::new(settings, InvalidBytes::Keep, &[], 1)?;
        for document in documents {
            counter.add_documents(&[document.as_ref()], &Watch::default())?;
        }
        counter.finish()
    }
}

/// An error of a text with its place; other errors are of no text.
fn located(error: Error, locate: impl FnOnce(Error) -> Error) -> Error {
    match error {
        Error::InvalidUtf8 { .. } | Error::PatternFailed { .. } => locate(error),
        other => other,
    }
}
