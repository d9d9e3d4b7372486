//! `Writer` for Python.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::choice::PyChoice;
use super::reader::{Raised, raised_error};
use super::sources::{PySource, inputs_of, or_raised, tables_of};
use super::tokenizer::PyTokenizer;
use super::{choose, threads, watched};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel::{into_inner, lock};
use crate::reading::{Column, columns};
use crate::writing::{
    Encoding, Files, Format, Numbers, Options, Paths, Point, Shard, Sharding, Shares, Writer,
};

const NUMBERS: &[(&str, Numbers)] = &[("uint16", Numbers::U16), ("uint32", Numbers::U32)];
const FORMATS: &[(&str, Format)] = &[
    ("npy", Format::Npy),
    ("bare", Format::Bare),
    ("megatron", Format::Megatron),
];

/// An object whose `open` names the files of a shard, and whose `close` is told that it is complete.
struct PyFiles {
    object: Py<PyAny>,
    raised: Raised,
}

impl PyFiles {
    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| call(self.object.bind(py))).map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            raised_error()
        })
    }
}

impl Files for PyFiles {
    fn open(&mut self, split: usize, number: usize) -> Result<Paths> {
        let (ids, index) =
            self.call(|files| files.call_method1("open", (split, number))?.extract())?;
        Ok(Paths { ids, index })
    }

    fn close(&mut self, shard: Shard) -> Result<()> {
        let Shard {
            split,
            number,
            num_ids,
            num_documents,
            num_bad,
            end,
        } = shard;
        let end = (end.block, end.document);
        let told = (split, number, num_ids, num_documents, num_bad, end);
        self.call(|files| files.call_method1("close", told).map(drop))
    }
}

/// Writes the ids of documents to files as they come; `finish` completes the files, once.
#[pyclass(frozen, module = "mergewise._core", name = "Writer")]
pub(super) struct PyWriter {
    tokenizer: Py<PyTokenizer>,
    choice: Py<PyChoice>,
    num_threads: usize,
    writer: RwLock<Option<Writer<PyFiles>>>,
    num_ids: Arc<AtomicU64>,
    raised: Raised,
}

impl PyWriter {
    fn with<T>(
        &self,
        use_it: impl FnOnce(&Writer<PyFiles>, Encoding<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let encoding = Encoding {
            encoder: self.tokenizer.get().0.encoder(),
            call: &self.choice.get().0,
            num_threads: self.num_threads,
        };
        match self.writer.try_read().as_deref() {
            Ok(Some(writer)) => use_it(writer, encoding),
            _ => Err(finished()),
        }
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the writer is finished, or in use in another thread")
}

#[pymethods]
impl PyWriter {
    /// `files` has methods `open(split, number)`, which returns the paths of the ids and of the index,
    /// and `close(split, number, num_ids, num_documents, num_bad, end)`; `done` says how many shards of
    /// each split there are, and the `end` of the last.
    #[new]
    #[pyo3(signature = (
        tokenizer, choice, files, /, *, format, dtype, before, behind, block_bytes, shard_tokens,
        shares, validation, skip_bad, done, num_threads, scratch
    ))]
    fn new(
        tokenizer: Py<PyTokenizer>,
        choice: Py<PyChoice>,
        files: Py<PyAny>,
        format: &str,
        dtype: &str,
        before: Vec<Id>,
        behind: Vec<Id>,
        block_bytes: usize,
        shard_tokens: Option<u64>,
        shares: Option<(u64, u64, (u64, u64))>,
        validation: Option<f64>,
        skip_bad: bool,
        done: Vec<(usize, (u64, u64))>,
        num_threads: usize,
        scratch: PathBuf,
    ) -> PyResult<Self> {
        let raised = Raised::default();
        let files = PyFiles {
            object: files,
            raised: Arc::clone(&raised),
        };
        let done = done.into_iter();
        let done = done.map(|(number, (block, document))| (number, Point { block, document }));
        let options = Options {
            format: choose("format", format, FORMATS)?,
            numbers: choose("dtype", dtype, NUMBERS)?,
            before,
            behind,
            block_bytes,
            sharding: match (shard_tokens, shares) {
                (Some(num_ids), _) => Sharding::Ids(num_ids),
                (None, Some((num_shards, num_bytes, (first, end)))) => Sharding::Shares(Shares {
                    num_shards,
                    num_bytes,
                    made: first..end,
                }),
                (None, None) => Sharding::One,
            },
            validation,
            skips_bad: skip_bad,
            done: done.collect(),
            scratch,
        };
        let writer = Writer::new(options, files);
        Ok(Self {
            tokenizer,
            choice,
            num_threads: threads(num_threads),
            num_ids: writer.num_ids(),
            writer: RwLock::new(Some(writer)),
            raised,
        })
    }

    /// How many ids were encoded so far.
    #[getter]
    fn num_ids(&self) -> u64 {
        self.num_ids.load(Ordering::Relaxed)
    }

    /// Whether all shards that are made are complete.
    #[getter]
    fn is_complete(&self) -> PyResult<bool> {
        self.with(|writer, _| Ok(writer.is_complete()))
    }

    /// How many blocks were written.
    #[getter]
    fn num_blocks(&self) -> PyResult<u64> {
        self.with(|writer, _| Ok(writer.num_blocks()))
    }

    /// Write the documents of sources, `starts` are the bytes of all inputs before each; progress is in bytes
    /// of their files.
    #[pyo3(signature = (sources, starts, /, *, documents, field, progress))]
    fn add_sources(
        &self,
        py: Python<'_>,
        sources: Vec<PySource>,
        starts: Vec<u64>,
        documents: &str,
        field: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let inputs = inputs_of(sources, documents, field, &self.raised)?;
        self.with(|writer, encoding| {
            let added = watched(py, progress, |watch| {
                Ok(writer.add_inputs(inputs, &starts, encoding, watch))
            })?;
            or_raised(added, &self.raised)
        })
    }

    /// The same for a column of sources of Parquet, but for row groups that end before the byte `first` of
    /// all inputs; returns the number of each row group in its file, and how many blocks were written.
    #[pyo3(signature = (sources, starts, /, *, field, first, progress))]
    fn add_tables(
        &self,
        py: Python<'_>,
        sources: Vec<PySource>,
        starts: Vec<u64>,
        field: &str,
        first: u64,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<(usize, u64)>> {
        let tables = tables_of(sources, &starts, field, &self.raised);
        let numbers = Mutex::new(Vec::new());
        let columns = columns(tables, first);
        let columns = columns.inspect(|column: &Column| lock(&numbers).push(column.number()));
        let blocks = self.with(|writer, encoding| {
            let added = watched(py, progress, |watch| {
                Ok(writer.add_columns(columns, encoding, watch))
            })?;
            or_raised(added, &self.raised)
        })?;
        Ok(into_inner(numbers).into_iter().zip(blocks).collect())
    }

    /// Complete the files; how much was left out behind the last shards, and what was wrong with the
    /// first of all that was left out.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, Vec<String>)> {
        let writer = self
            .writer
            .try_write()
            .ok()
            .and_then(|mut guard| guard.take());
        let writer = writer.ok_or_else(finished)?;
        let (num_bad, bad) = or_raised(py.detach(|| writer.finish()), &self.raised)?;
        Ok((num_bad, bad.iter().map(Error::to_string).collect()))
    }
}
