//! `Counter` for Python.

use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::reader::Raised;
use super::sources::{PySource, inputs_of, or_raised, tables_of};
use super::texts::Texts;
use super::waiting::fed;
use super::{PyWordCounts, choose, settings, threads, watched};
use crate::counting::{Counter, InvalidBytes};
use crate::reading::columns;
use crate::watch::Watch;

const INVALID_BYTES: &[(&str, InvalidBytes)] = &[
    ("keep", InvalidBytes::Keep),
    ("strict", InvalidBytes::Refuse),
    ("replace", InvalidBytes::Replace),
];

/// Counts words as documents and files come; `finish` hands the counts out, once.
#[pyclass(frozen, module = "mergewise._core", name = "Counter")]
pub(super) struct PyCounter(Mutex<Option<Counter>>);

impl PyCounter {
    fn with<T>(&self, use_it: impl FnOnce(&Counter) -> PyResult<T>) -> PyResult<T> {
        let guard = self.0.try_lock();
        match guard.as_deref() {
            Ok(Some(counter)) => use_it(counter),
            Ok(None) => Err(PyValueError::new_err("the counter is finished")),
            Err(_) => Err(PyRuntimeError::new_err(
                "the counter is in use in another thread",
            )),
        }
    }
}

#[pymethods]
impl PyCounter {
    #[new]
    #[pyo3(signature = (*, pattern, normalize, errors, special_tokens, num_threads))]
    fn new(
        pattern: Option<String>,
        normalize: Option<&str>,
        errors: &str,
        special_tokens: Vec<String>,
        num_threads: usize,
    ) -> PyResult<Self> {
        let counter = Counter::new(
            settings(pattern, normalize)?,
            choose("errors", errors, INVALID_BYTES)?,
            &special_tokens,
            threads(num_threads),
        )?;
        Ok(Self(Mutex::new(Some(counter))))
    }

    /// How many bytes of memory the words counted so far take.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        self.with(|counter| Ok(counter.memory()))
    }

    #[pyo3(signature = (documents, /))]
    fn add_documents(&self, py: Python<'_>, documents: Texts<'_>) -> PyResult<()> {
        let num_threads = self.with(|counter| Ok(counter.num_threads()))?;
        let mut lots = documents.lots(num_threads == 1);
        let first = lots.next().unwrap_or_else(|| Ok(Vec::new()))?;
        self.with(|counter| {
            if !lots.is_over() {
                let num_bytes = documents.extent(&first).num_bytes;
                return fed(py, first, lots, |documents, watch| {
                    counter.add_coming(documents, num_bytes, watch)
                });
            }
            // Engines hand over small arrays by the thousand: no thread for each of them.
            if counter.is_quick(&first) {
                py.detach(|| counter.add_documents(&first, &Watch::default()))?;
                return py.check_signals();
            }
            watched(py, None, |watch| counter.add_documents(&first, watch))
        })
    }

    /// Count the documents of sources; progress is in bytes of their files. Returns how many lines that are
    /// no records were left out, and what is wrong with the first.
    #[pyo3(signature = (sources, /, *, documents, field, skip_bad, progress))]
    fn add_sources(
        &self,
        py: Python<'_>,
        sources: Vec<PySource>,
        documents: &str,
        field: &str,
        skip_bad: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(u64, Option<String>)> {
        let raised = Raised::default();
        let inputs = inputs_of(sources, documents, field, &raised)?;
        self.with(|counter| {
            let added = watched(py, progress, |watch| {
                Ok(counter.add_inputs(inputs, skip_bad, watch))
            })?;
            let left_out = or_raised(added, &raised)?;
            Ok((left_out.num_lines, left_out.first.map(|e| e.to_string())))
        })
    }

    /// Count a column of sources of Parquet; progress is in bytes of their files.
    #[pyo3(signature = (sources, /, *, field, progress=None))]
    fn add_tables(
        &self,
        py: Python<'_>,
        sources: Vec<PySource>,
        field: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let raised = Raised::default();
        let starts = vec![0; sources.len()];
        let tables = tables_of(sources, &starts, field, &raised);
        self.with(|counter| {
            let added = watched(py, progress, |watch| {
                Ok(counter.add_columns(columns(tables, 0), watch))
            })?;
            or_raised(added, &raised)
        })
    }

    fn finish(&self, py: Python<'_>) -> PyResult<PyWordCounts> {
        self.with(|_| Ok(()))?;
        let counter = self.0.try_lock().ok().and_then(|mut guard| guard.take());
        let counter = counter.ok_or_else(|| PyValueError::new_err("the counter is finished"))?;
        Ok(PyWordCounts(py.detach(|| counter.finish())?))
    }
}
