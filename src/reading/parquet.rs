//! Parquet files: the texts of a column, by row groups.
//!
//! A row group is read by itself, page by page, and a row group by one thread at a time: whoever works on
//! rows decodes them, as with blocks of other inputs. So memory follows the pages, not the row groups.

mod caught;
mod chunks;
mod decoded;
mod footer;
mod pages;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::ByteArrayType;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{KeyValue, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::Length;
use parquet::file::serialized_reader::SerializedPageReader;

use super::io_error;
use super::rows::{Rows, Strings};
use crate::error::{Error, Result};

use caught::caught;
use chunks::Chunks;
use decoded::Decoded;
use pages::Pages;

pub use chunks::ReadAt;

/// How much text the rows that are read at once have on average, and how many they are at most. What is
/// made of them takes several times their memory.
const BATCH_BYTES: u64 = 500_000;
const BATCH_ROWS: u64 = 4096;
/// Rows of more text than this are split: a dictionary may hold long texts that many rows repeat.
const MOST_BYTES: usize = 1 << 25;

/// A Parquet file with a column of texts.
pub struct Table {
    /// Its name.
    pub path: PathBuf,
    /// Where to read; None: the file at `path`.
    pub source: Option<Arc<dyn ReadAt>>,
    /// The name of the column.
    pub field: Arc<str>,
    /// How many bytes of all inputs are before it.
    pub position: u64,
}

/// A table whose footer was read.
struct Opened {
    path: PathBuf,
    chunks: Chunks,
    position: u64,
    metadata: ParquetMetaData,
    /// Which column holds the texts.
    leaf: usize,
}

/// The texts of a row group.
pub struct Column {
    number: usize,
    state: State,
}

enum State {
    /// Nothing was read, and the rows before it in the file are so many.
    Closed(Arc<Opened>, u64),
    Open(Box<Texts>),
    Failed(Error),
    Over,
}

/// A row group that is being read.
struct Texts {
    file: Arc<Opened>,
    reader: ColumnReaderImpl<ByteArrayType>,
    /// The next row of the file, and the first behind the row group.
    row: u64,
    end_row: u64,
    /// How many rows are read at once.
    batch_rows: u64,
    decoded: Decoded,
}

/// What the file at a path says of itself beside its columns: names and values.
pub fn metadata_of(path: &Path) -> Result<Vec<(String, String)>> {
    let chunks = chunks_of(chunks::open(path)?, path)?;
    let metadata = footer_of(&chunks, path).map_err(|error| in_file(error, path))?;
    let pairs = metadata.file_metadata().key_value_metadata();
    let pairs = pairs.into_iter().flatten().cloned();
    let pair = |pair: KeyValue| (pair.key, pair.value.unwrap_or_default());
    Ok(pairs.map(pair).collect())
}

/// The columns of tables, by row groups; a table is opened when its first is asked for. Those that end
/// before the byte `start` of all inputs, if all rows of a table are equally long, are left out.
pub fn columns(
    tables: impl IntoIterator<Item = Table>,
    start: u64,
) -> impl Iterator<Item = Column> {
    tables.into_iter().flat_map(move |table| {
        let path = table.path.clone();
        match table.open() {
            Ok(opened) => opened.map_or_else(Vec::new, |opened| opened.columns(start)),
            Err(error) => vec![Column {
                number: 0,
                state: State::Failed(in_file(error, &path)),
            }],
        }
    })
}

impl Table {
    /// None if its column is one without values.
    fn open(self) -> Result<Option<Opened>> {
        let source = match self.source {
            Some(source) => source,
            None => chunks::open(&self.path)?,
        };
        let chunks = chunks_of(source, &self.path)?;
        let metadata = footer_of(&chunks, &self.path)?;
        let columns = metadata.file_metadata().schema_descr();
        let leaf = schema::text_column(columns, &self.field)?;
        Ok(leaf.map(|leaf| Opened {
            path: self.path,
            chunks,
            position: self.position,
            metadata,
            leaf,
        }))
    }
}

impl Opened {
    fn columns(self, start: u64) -> Vec<Column> {
        let file = Arc::new(self);
        let mut columns = Vec::new();
        let mut first_row: u64 = 0;
        for (number, row_group) in file.metadata.row_groups().iter().enumerate() {
            let end_row = first_row.saturating_add(num_rows(row_group));
            if file.byte_of_row(end_row) >= start {
                let state = State::Closed(Arc::clone(&file), first_row);
                columns.push(Column { number, state });
            }
            first_row = end_row;
        }
        columns
    }

    /// Where a row begins, if all are equally long.
    fn byte_of_row(&self, row: u64) -> u64 {
        let num_rows = self.metadata.file_metadata().num_rows().max(1);
        let num_rows = u128::from(num_rows.cast_unsigned());
        let before = u128::from(self.chunks.len()) * u128::from(row) / num_rows;
        self.position
            .saturating_add(u64::try_from(before).unwrap_or(u64::MAX))
    }

    fn texts(self: Arc<Self>, number: usize, first_row: u64) -> ParquetResult<Texts> {
        let row_group = self.metadata.row_group(number);
        let chunk = row_group.column(self.leaf);
        let (start, num_bytes) = chunk.byte_range();
        let chunks = Arc::new(self.chunks.fetched(start, num_bytes)?);
        let num_rows = num_rows(row_group);
        let pages = SerializedPageReader::new(chunks, chunk, num_rows as usize, None)?;
        let pages: Box<dyn PageReader> = Box::new(Pages(pages));
        let described = chunk.column_descr_ptr();
        Ok(Texts {
            decoded: Decoded::new(described.max_def_level()),
            reader: ColumnReaderImpl::new(described, pages),
            row: first_row,
            end_row: first_row.saturating_add(num_rows),
            batch_rows: rows_in_a_batch(row_group),
            file: self,
        })
    }
}

impl Column {
    /// Which row group of its file it is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The next rows.
    fn read(&mut self) -> Result<Rows> {
        if let State::Closed(file, first_row) = &self.state {
            let texts = Arc::clone(file).texts(self.number, *first_row);
            let texts = texts.map_err(|error| error_of(&error, &file.path))?;
            self.state = State::Open(Box::new(texts));
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Open(mut texts) => {
                let rows = texts.next()?;
                if !rows.is_last {
                    self.state = State::Open(texts);
                }
                Ok(rows)
            }
            State::Failed(error) => Err(error),
            State::Closed(..) | State::Over => unreachable!("it was opened, or is not read"),
        }
    }
}

impl Iterator for Column {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        let path = match &self.state {
            State::Over => return None,
            State::Failed(_) => PathBuf::new(),
            State::Closed(file, _) => file.path.clone(),
            State::Open(texts) => texts.file.path.clone(),
        };
        let rows = caught(|| self.read()).unwrap_or_else(|| Err(damaged("found damaged pages")));
        if rows.is_err() {
            self.state = State::Over;
        }
        Some(rows.map_err(|error| in_file(error, &path)))
    }
}

impl Texts {
    fn next(&mut self) -> Result<Rows> {
        let num_left = self.end_row - self.row;
        let texts = self.decode(num_left.min(self.batch_rows) as usize);
        let texts = texts.map_err(|error| error_of(&error, &self.file.path))?;
        let first = self.row;
        self.row += texts.ends.len() as u64;
        if self.row == self.end_row {
            self.end()
                .map_err(|error| error_of(&error, &self.file.path))?;
        }
        let position = self.file.byte_of_row(first);
        Ok(Rows {
            place: format!(
                "{}: row {} and on",
                self.file.path.display(),
                grouped(first)
            )
            .into(),
            texts,
            position,
            num_read: self.file.byte_of_row(self.row).saturating_sub(position),
            is_last: self.row == self.end_row,
        })
    }

    /// Behind the last row there is none that the file does not know of.
    fn end(&mut self) -> ParquetResult<()> {
        self.decoded.read(&mut self.reader, 1)?;
        if self.decoded.is_empty() {
            return Ok(());
        }
        let message = format!("found more rows, expected {}", self.end_row);
        Err(ParquetError::General(message))
    }

    /// At most so many texts: fewer if they are long.
    fn decode(&mut self, num_rows: usize) -> ParquetResult<Strings> {
        let mut texts = Strings::default();
        while texts.ends.len() < num_rows && texts.bytes.len() < MOST_BYTES {
            if self.decoded.is_empty() {
                let num_left = num_rows - texts.ends.len();
                self.decoded.read(&mut self.reader, num_left)?;
                texts
                    .bytes
                    .reserve(self.decoded.num_bytes().min(MOST_BYTES));
            }
            if self.decoded.is_empty() {
                let found = self.row + texts.ends.len() as u64;
                let message = format!("found {found} rows, expected {}", self.end_row);
                return Err(ParquetError::EOF(message));
            }
            let text = self.decoded.next()?;
            texts.bytes.extend_from_slice(text.unwrap_or_default());
            texts.ends.push((texts.bytes.len(), text.is_some()));
        }
        Ok(texts)
    }
}

fn chunks_of(source: Arc<dyn ReadAt>, path: &Path) -> Result<Chunks> {
    let num_bytes = source.num_bytes();
    let num_bytes = num_bytes.map_err(|error| io_error(path, &error))?;
    Ok(Chunks::new(source, num_bytes))
}

fn footer_of(chunks: &Chunks, path: &Path) -> Result<ParquetMetaData> {
    match caught(|| footer::read(chunks)) {
        Some(metadata) => metadata.map_err(|error| error_of(&error, path)),
        None => Err(damaged("found a damaged footer")),
    }
}

fn num_rows(row_group: &RowGroupMetaData) -> u64 {
    row_group.num_rows().max(0).cast_unsigned()
}

/// How many rows have `BATCH_BYTES` in all columns, on average.
fn rows_in_a_batch(row_group: &RowGroupMetaData) -> u64 {
    let num_bytes = row_group.total_byte_size().max(1).cast_unsigned();
    let num_rows =
        u128::from(BATCH_BYTES) * u128::from(num_rows(row_group)) / u128::from(num_bytes);
    num_rows.clamp(1, BATCH_ROWS.into()) as u64
}

/// A number with commas, as people write it.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

fn damaged(message: &str) -> Error {
    Error::InvalidTable {
        message: message.to_owned(),
        is_column_missing: false,
    }
}

/// An error of the library: one of the system, or damage.
fn error_of(error: &ParquetError, path: &Path) -> Error {
    let unread = chunks::unread(error).map(|error| io_error(path, error));
    unread.unwrap_or_else(|| damaged(&error.to_string()))
}

/// The error with the file, unless it names one.
fn in_file(error: Error, path: &Path) -> Error {
    match error {
        Error::InvalidTable { .. } => error.in_file(path),
        other => other,
    }
}
