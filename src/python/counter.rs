//! `Counter` for Python.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use super::arrow_tables::Texts;
use super::reader::PyReader;
use super::{PyWordCounts, choose, settings, threads, watched};
use crate::counting::{Counter, Documents, Input, InvalidBytes};
use crate::error::Error;
use crate::parallel::{into_inner, lock};
use crate::watch::Watch;

const INVALID_BYTES: &[(&str, InvalidBytes)] = &[
    ("keep", InvalidBytes::Keep),
    ("strict", InvalidBytes::Refuse),
    ("replace", InvalidBytes::Replace),
];
const DOCUMENTS: &[(&str, Documents)] = &[("file", Documents::File), ("lines", Documents::Lines)];

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
    fn add_documents(&self, py: Python<'_>, documents: Texts) -> PyResult<()> {
        let documents = documents.slices();
        self.with(|counter| {
            // Engines hand over small arrays by the thousand: no thread for each of them.
            if counter.is_quick(&documents) {
                py.detach(|| counter.add_documents(&documents, &Watch::default()))?;
                return py.check_signals();
            }
            watched(py, None, |watch| counter.add_documents(&documents, watch))
        })
    }

    /// Count the texts of files, given as `(path, None)`, and of objects with a `read` method,
    /// given as `(name, object)`.
    #[pyo3(signature = (inputs, /, *, documents, progress=None))]
    fn add_inputs(
        &self,
        py: Python<'_>,
        inputs: Vec<(PathBuf, Option<Py<PyAny>>)>,
        documents: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let documents = choose("documents", documents, DOCUMENTS)?;
        let raised = Mutex::new(None);
        let result = self.with(|counter| {
            watched(py, progress, |watch| {
                let inputs = inputs.iter().map(|(path, object)| Input {
                    path: path.clone(),
                    reader: object.as_ref().map(|object| -> Box<dyn Read + Send> {
                        Box::new(PyReader {
                            object,
                            raised: &raised,
                            watch,
                        })
                    }),
                });
                let inputs = inputs.collect();
                let added = counter.add_inputs(inputs, documents, watch);
                if !matches!(added, Err(Error::Io { .. })) {
                    // What was raised, if anything, was raised behind what failed.
                    lock(&raised).take();
                }
                added
            })
        });
        into_inner(raised).map_or(result, Err)
    }

    fn finish(&self, py: Python<'_>) -> PyResult<PyWordCounts> {
        self.with(|_| Ok(()))?;
        let counter = self.0.try_lock().ok().and_then(|mut guard| guard.take());
        let counter = counter.ok_or_else(|| PyValueError::new_err("the counter is finished"))?;
        Ok(PyWordCounts(py.detach(|| counter.finish())?))
    }
}
