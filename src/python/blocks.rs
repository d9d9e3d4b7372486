//! `Blocks` for Python.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::reader::PyReader;
use super::tokenizer::PyTokenizer;
use crate::blocks::Cutter;
use crate::parallel::into_inner;
use crate::watch::Watch;

/// One document that is read, in parts: their ids, one after the other, are those of the whole.
#[pyclass(module = "mergewise._core", name = "Blocks")]
pub(super) struct PyBlocks {
    stream: Py<PyAny>,
    tokenizer: Py<PyTokenizer>,
    batch_bytes: usize,
    /// None behind the end of the document.
    cutter: Option<Cutter>,
}

#[pymethods]
impl PyBlocks {
    /// Read `stream` in parts of about `part_bytes`, which come in batches of about `batch_bytes`.
    #[new]
    #[pyo3(signature = (stream, tokenizer, /, *, part_bytes, batch_bytes))]
    fn new(
        stream: Py<PyAny>,
        tokenizer: Py<PyTokenizer>,
        part_bytes: usize,
        batch_bytes: usize,
    ) -> Self {
        Self {
            stream,
            tokenizer,
            batch_bytes,
            cutter: Some(Cutter::new(part_bytes)),
        }
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next parts, at least one, and whether the document ends with them.
    fn __next__<'py>(
        &mut self,
        py: Python<'py>,
    ) -> PyResult<Option<(Vec<Bound<'py, PyBytes>>, bool)>> {
        let Some(cutter) = &mut self.cutter else {
            return Ok(None);
        };
        let (raised, watch, tokenizer) =
            (Mutex::new(None), Watch::default(), &self.tokenizer.get().0);
        let mut reader = PyReader {
            object: &self.stream,
            raised: &raised,
            watch: &watch,
        };
        let (mut parts, mut block) = (Vec::new(), Vec::new());
        let (mut num_bytes, mut is_last) = (0, false);
        while num_bytes < self.batch_bytes && !is_last {
            py.check_signals()?;
            let last_cut = |text: &[u8]| tokenizer.encoder().last_cut(text);
            let read = py.detach(|| cutter.next(&mut reader, last_cut, &mut block));
            is_last = match read {
                Ok(is_last) => is_last,
                Err(error) => {
                    return Err(into_inner(raised).unwrap_or_else(|| error.into()));
                }
            };
            num_bytes += block.len();
            parts.push(PyBytes::new(py, &block));
        }
        if is_last {
            self.cutter = None;
        }
        Ok(Some((parts, is_last)))
    }
}
