//! `Writer` for Python.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::arrow_tables::Texts;
use super::choice::PyChoice;
use super::reader::Raised;
use super::sources::{PySource, inputs_of, or_raised};
use super::tokenizer::PyTokenizer;
use super::{choose, threads, watched};
use crate::merges::Id;
use crate::writing::{Numbers, Options, Writer};

const NUMBERS: &[(&str, Numbers)] = &[("uint16", Numbers::U16), ("uint32", Numbers::U32)];

/// Writes the ids of documents to files as they come; `finish` completes the files, once.
#[pyclass(frozen, module = "mergewise._core", name = "Writer")]
pub(super) struct PyWriter {
    tokenizer: Py<PyTokenizer>,
    choice: Py<PyChoice>,
    num_threads: usize,
    writer: Mutex<Option<Writer>>,
}

impl PyWriter {
    fn with<T>(&self, use_it: impl FnOnce(&Writer) -> PyResult<T>) -> PyResult<T> {
        match self.writer.try_lock().as_deref() {
            Ok(Some(writer)) => use_it(writer),
            _ => Err(finished()),
        }
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the writer is finished, or in use in another thread")
}

#[pymethods]
impl PyWriter {
    #[new]
    #[pyo3(signature = (
        tokenizer, choice, /, *, ids, is_npy, dtype, offsets, before, behind, block_bytes, num_threads
    ))]
    fn new(
        tokenizer: Py<PyTokenizer>,
        choice: Py<PyChoice>,
        ids: PathBuf,
        is_npy: bool,
        dtype: &str,
        offsets: Option<PathBuf>,
        before: Vec<Id>,
        behind: Vec<Id>,
        block_bytes: usize,
        num_threads: usize,
    ) -> PyResult<Self> {
        let writer = Writer::create(Options {
            ids,
            is_npy,
            numbers: choose("dtype", dtype, NUMBERS)?,
            offsets,
            before,
            behind,
            block_bytes,
        })?;
        Ok(Self {
            tokenizer,
            choice,
            num_threads: threads(num_threads),
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Write the documents of sources; progress is in bytes of their files.
    #[pyo3(signature = (sources, /, *, documents, field, progress=None))]
    fn add_sources(
        &self,
        py: Python<'_>,
        sources: Vec<PySource>,
        documents: &str,
        field: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let raised = Raised::default();
        let inputs = inputs_of(sources, documents, field, &raised)?;
        let (encoder, call) = (self.tokenizer.get().0.encoder(), &self.choice.get().0);
        self.with(|writer| {
            let added = watched(py, progress, |watch| {
                Ok(writer.add_inputs(inputs, encoder, call, self.num_threads, watch))
            })?;
            or_raised(added, &raised)
        })
    }

    #[pyo3(signature = (documents, /))]
    fn add_documents(&self, py: Python<'_>, documents: Texts) -> PyResult<()> {
        let documents = documents.slices();
        let (encoder, call) = (self.tokenizer.get().0.encoder(), &self.choice.get().0);
        self.with(|writer| {
            watched(py, None, |watch| {
                writer.add_documents(&documents, encoder, call, self.num_threads, watch)
            })
        })
    }

    /// Complete the files; the numbers of ids and of documents.
    fn finish(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let writer = self
            .writer
            .try_lock()
            .ok()
            .and_then(|mut guard| guard.take());
        let writer = writer.ok_or_else(finished)?;
        Ok(py.detach(|| writer.finish())?)
    }
}
