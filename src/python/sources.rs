//! `Source` of the package as an input of the core, and `Documents` for Python.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::choose;
use super::reader::{PyReader, Raised};
use super::tokenizer::PyTokenizer;
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::reading::{Batch, Compression, Documents, Input, MOST_RECORD_BYTES, Reading};
use crate::watch::Watch;

const COMPRESSIONS: &[(&str, Compression)] =
    &[("gz", Compression::Gzip), ("zst", Compression::Zstd)];
const DOCUMENTS: &[(&str, bool)] = &[("file", false), ("lines", true)];

/// A `Source` of the package, by its attributes.
pub(super) struct PySource {
    path: PathBuf,
    /// Standard input, which is read in place of a file.
    reader: Option<Py<PyAny>>,
    compression: Option<String>,
    kind: String,
}

impl<'py> FromPyObject<'_, 'py> for PySource {
    type Error = PyErr;

    // Derived, it would turn the Ctrl-C that arrives while an attribute is read into a `TypeError`.
    fn extract(source: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self {
            path: source.getattr("path")?.extract()?,
            reader: source.getattr("reader")?.extract()?,
            compression: source.getattr("compression")?.extract()?,
            kind: source.getattr("kind")?.extract()?,
        })
    }
}

/// The inputs of sources: text, whose documents end with the file or with each line, or .jsonl, whose
/// documents are in a field.
pub(super) fn inputs_of(
    sources: Vec<PySource>,
    documents: &str,
    field: &str,
    raised: &Raised,
) -> PyResult<Vec<Input<'static>>> {
    let is_by_lines = choose("documents", documents, DOCUMENTS)?;
    let input = |source: PySource| {
        let compression = source.compression.as_deref();
        let compression = compression.map(|name| choose("compression", name, COMPRESSIONS));
        let reader = source.reader.map(|object| PyReader {
            object,
            raised: Arc::clone(raised),
        });
        Ok(Input {
            path: match reader {
                Some(_) => "standard input".into(),
                None => source.path,
            },
            reader: reader.map(|reader| Box::new(reader) as _),
            compression: compression.transpose()?.unwrap_or_default(),
            documents: match &*source.kind {
                "jsonl" => Documents::JsonLines(field.into()),
                _ if is_by_lines => Documents::Lines,
                _ => Documents::File,
            },
        })
    };
    sources.into_iter().map(input).collect()
}

/// What reading raised, where that is why the work failed: inputs are read ahead of it.
pub(super) fn or_raised<T>(result: Result<T>, raised: &Raised) -> PyResult<T> {
    match (result, lock(raised).take()) {
        (Err(Error::Io { .. }), Some(raised)) => Err(raised),
        (result, _) => Ok(result?),
    }
}

/// The documents of sources, a block at a time: the ids of the parts of a document, one after the
/// other, are those of the whole.
#[pyclass(frozen, module = "mergewise._core", name = "Documents")]
pub(super) struct PyDocuments {
    batches: Mutex<Box<dyn Iterator<Item = Result<Batch>> + Send>>,
    raised: Raised,
}

#[pymethods]
impl PyDocuments {
    #[new]
    #[pyo3(signature = (sources, /, *, tokenizer, documents, field, block_bytes))]
    fn new(
        sources: Vec<PySource>,
        tokenizer: Option<Py<PyTokenizer>>,
        documents: &str,
        field: &str,
        block_bytes: usize,
    ) -> PyResult<Self> {
        // Python code that reads hears Ctrl-C by itself.
        static UNWATCHED: LazyLock<Watch> = LazyLock::new(Watch::default);
        let raised = Raised::default();
        let inputs = inputs_of(sources, documents, field, &raised)?;
        let tokenizer = tokenizer.map(Arc::new);
        let reading = Reading {
            block_bytes,
            most_record_bytes: MOST_RECORD_BYTES,
            scratch: std::env::temp_dir(),
            last_cut: move |text: &[u8]| tokenizer.as_ref()?.get().0.encoder().last_cut(text),
            watch: &UNWATCHED,
        };
        let blocks = inputs
            .into_iter()
            .flat_map(move |input| reading.blocks(input));
        let batches = blocks.map(|block| block.and_then(|block| block.into_batch(false)));
        Ok(Self {
            batches: Mutex::new(Box::new(batches)),
            raised,
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next documents, and whether a document ends with the last of them.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<Bound<'py, PyBytes>>, bool)>> {
        py.check_signals()?;
        let batch = py.detach(|| lock(&self.batches).next().transpose());
        let batch = or_raised(batch, &self.raised)?;
        Ok(batch.map(|batch| {
            let documents = batch.documents().map(|document| PyBytes::new(py, document));
            (documents.collect(), batch.is_end())
        }))
    }
}
