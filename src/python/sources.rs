//! `Source` of the package as an input of the core, and `Documents` for Python.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::choose;
use super::reader::{PyFar, PyReader, Raised};
use super::tokenizer::PyTokenizer;
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::reading::{
    Batch, Compression, Documents, Input, MOST_RECORD_BYTES, ReadAt, Reading, Rows, Table, columns,
    metadata_of,
};
use crate::watch::Watch;

const COMPRESSIONS: &[(&str, Compression)] =
    &[("gz", Compression::Gzip), ("zst", Compression::Zstd)];
const DOCUMENTS: &[(&str, bool)] = &[("file", false), ("lines", true)];

/// A `Source` of the package, by its attributes.
pub(super) struct PySource {
    path: PathBuf,
    /// Standard input, or a file of an object store, which is read in place of a file.
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

/// The tables of sources of Parquet; `starts` are the bytes of all inputs before each.
pub(super) fn tables_of(
    sources: Vec<PySource>,
    starts: &[u64],
    field: &str,
    raised: &Raised,
) -> Vec<Table> {
    let field: Arc<str> = field.into();
    let table = |(source, &position): (PySource, &u64)| {
        let far = source.reader.map(|object| PyFar {
            object,
            raised: Arc::clone(raised),
        });
        Table {
            path: source.path,
            source: far.map(|far| Arc::new(far) as Arc<dyn ReadAt>),
            field: Arc::clone(&field),
            position,
        }
    };
    sources.into_iter().zip(starts).map(table).collect()
}

/// What a Parquet file says of itself beside its columns.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub(super) fn table_metadata(py: Python<'_>, path: PathBuf) -> PyResult<BTreeMap<String, String>> {
    let pairs = py.detach(|| metadata_of(&path))?;
    Ok(pairs.into_iter().collect())
}

/// What reading raised, where that is why the work failed: inputs are read ahead of it.
pub(super) fn or_raised<T>(result: Result<T>, raised: &Raised) -> PyResult<T> {
    match (result, lock(raised).take()) {
        (Err(Error::Io { .. }), Some(raised)) => Err(raised),
        (result, _) => Ok(result?),
    }
}

/// The kind of sources that are tables.
const TABLE: &str = "parquet";

/// Some documents of a source.
enum Given {
    Batch(Batch),
    Rows(Rows),
}

/// The documents of sources, a block at a time: the ids of the parts of a document, one after the
/// other, are those of the whole.
#[pyclass(frozen, module = "mergewise._core", name = "Documents")]
pub(super) struct PyDocuments {
    given: Mutex<Box<dyn Iterator<Item = Result<Given>> + Send>>,
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
        let (tables, texts): (Vec<_>, Vec<_>) =
            sources.into_iter().partition(|source| source.kind == TABLE);
        let starts = vec![0; tables.len()];
        let tables = tables_of(tables, &starts, field, &raised);
        let inputs = inputs_of(texts, documents, field, &raised)?;
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
        let batches = blocks.map(|block| Ok(Given::Batch(block?.into_batch(false)?)));
        let rows = columns(tables, 0).flatten();
        let given = batches.chain(rows.map(|rows| rows.map(Given::Rows)));
        Ok(Self {
            given: Mutex::new(Box::new(given)),
            raised,
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next documents, and whether a document ends with the last of them.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<Bound<'py, PyBytes>>, bool)>> {
        py.check_signals()?;
        let given = py.detach(|| lock(&self.given).next().transpose());
        let given = or_raised(given, &self.raised)?;
        let bytes = |document: &[u8]| PyBytes::new(py, document);
        Ok(given.map(|given| match given {
            Given::Batch(batch) => (batch.documents().map(bytes).collect(), batch.is_end()),
            Given::Rows(rows) => (rows.documents().into_iter().map(bytes).collect(), true),
        }))
    }
}
