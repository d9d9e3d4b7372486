//! The Python module `mergewise._core`: conversions, error types and waiting, nothing else.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyCapsule, PyString};

use crate::arrow;
use crate::counting::{Counter, Documents, Input, InvalidBytes};
use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::greedy::{Options, Overlaps, train};
use crate::limits::Watch;
use crate::merges::{Alphabet, Id, MergeList};
use crate::settings::{Normalization, Settings};

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let name = match &error {
            Error::InvalidMerge { .. } => "InvalidMergesError",
            Error::UnknownCharacter { .. } | Error::UnknownId { .. } => "UnknownTokenError",
            Error::Malformed { .. } => "FormatError",
            Error::Io { path, code, .. } => {
                let code = code.unwrap_or_default();
                let message = std::io::Error::from_raw_os_error(code).to_string();
                let message = message
                    .split(" (os error")
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                return PyOSError::new_err((code, message, path.clone().into_os_string()));
            }
            Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
            Error::WorkerPanicked => return PyRuntimeError::new_err(error.to_string()),
            _ => return PyValueError::new_err(error.to_string()),
        };
        Python::attach(|py| {
            let class = py
                .import("mergewise.errors")
                .and_then(|module| module.getattr(name));
            match class.and_then(|class| class.call1((error.to_string(),))) {
                Ok(exception) => PyErr::from_value(exception),
                Err(failure) => failure,
            }
        })
    }
}

/// Run `work` on a thread of its own. Meanwhile other Python threads run, `progress` is called with
/// the work done so far, and Ctrl-C, or whatever `progress` raises, stops the work.
fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    const LOOK: Duration = Duration::from_millis(50);
    let watch = Watch::default();
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let watch = &watch;
        let worker = scope.spawn(move || sender.send(work(watch)));
        loop {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(LOOK)) {
                Ok(result) => return Ok(result?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Joined here, so that its panic ends as an exception.
                    worker.join().map(drop).ok();
                    return Err(Error::WorkerPanicked.into());
                }
            }
            let looked = py.check_signals().and_then(|()| match progress {
                Some(progress) => progress.call1((watch.done(),)).map(drop),
                None => Ok(()),
            });
            if let Err(error) = looked {
                watch.stop();
                py.detach(|| worker.join()).map(drop).ok();
                return Err(error);
            }
        }
    })
}

/// A text argument: `str`, taken as UTF-8, or `bytes`, taken as they are.
enum TextArgument {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl<'py> FromPyObject<'_, 'py> for TextArgument {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if argument.is_instance_of::<PyString>() {
            Ok(Self::Text(argument.extract()?))
        } else if argument.is_instance_of::<PyBytes>() {
            Ok(Self::Bytes(argument.extract()?))
        } else {
            let found = argument.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "expected str or bytes, found {found}"
            )))
        }
    }
}

impl TextArgument {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// One of a few names, or an error that lists them.
fn choose<T: Copy>(what: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, choice)) = choices.iter().find(|(known, _)| *known == name) {
        return Ok(*choice);
    }
    let known: Vec<_> = choices
        .iter()
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    let known = known.join(" or ");
    Err(PyValueError::new_err(format!(
        "{what} must be {known}, found {name:?}"
    )))
}

const NORMALIZATIONS: &[(&str, Normalization)] =
    &[("nfc", Normalization::Nfc), ("nfkc", Normalization::Nfkc)];
const INVALID_BYTES: &[(&str, InvalidBytes)] = &[
    ("keep", InvalidBytes::Keep),
    ("strict", InvalidBytes::Refuse),
    ("replace", InvalidBytes::Replace),
];
const DOCUMENTS: &[(&str, Documents)] = &[("file", Documents::File), ("lines", Documents::Lines)];
const OVERLAPS: &[(&str, Overlaps)] = &[("skip", Overlaps::Skip), ("count", Overlaps::Count)];

fn settings(pattern: Option<String>, normalize: Option<&str>) -> PyResult<Settings> {
    let normalization = match normalize {
        None => Normalization::None,
        Some(name) => choose("normalize", name, NORMALIZATIONS)?,
    };
    Ok(Settings {
        pattern,
        normalization,
    })
}

/// A valid list of merges over an alphabet.
#[pyclass(frozen, module = "mergewise._core", name = "MergeList")]
struct PyMergeList(MergeList);

#[pymethods]
impl PyMergeList {
    #[new]
    #[pyo3(signature = (pairs, *, alphabet=None, letter_order=false))]
    fn new(pairs: Vec<(Id, Id)>, alphabet: Option<&str>, letter_order: bool) -> PyResult<Self> {
        let alphabet = match alphabet {
            Some(characters) => Alphabet::of_chars(characters.chars()),
            None if letter_order => Alphabet::LetterBytes,
            None => Alphabet::Bytes,
        };
        Ok(Self(MergeList::from_pairs(alphabet, pairs)?))
    }

    #[getter]
    fn pairs(&self) -> Vec<(Id, Id)> {
        self.0.pairs().to_vec()
    }

    #[getter]
    fn alphabet(&self) -> &'static str {
        match self.0.alphabet() {
            Alphabet::Bytes => "bytes",
            Alphabet::LetterBytes => "letters",
            Alphabet::Chars(_) => "chars",
        }
    }

    fn __len__(&self) -> usize {
        self.0.pairs().len()
    }

    #[getter]
    fn num_tokens(&self) -> usize {
        self.0.num_tokens()
    }

    #[pyo3(signature = (token_id, /))]
    fn token_bytes<'py>(&self, py: Python<'py>, token_id: Id) -> PyResult<Bound<'py, PyBytes>> {
        if token_id as usize >= self.0.num_tokens() {
            return Err(Error::UnknownId {
                id: token_id,
                num_tokens: self.0.num_tokens(),
            }
            .into());
        }
        Ok(PyBytes::new(py, self.0.token(token_id)))
    }

    #[pyo3(signature = (string, /))]
    fn token_id(&self, string: &[u8]) -> Option<Id> {
        self.0.id(string)
    }

    #[pyo3(signature = (text, /))]
    fn apply(&self, py: Python<'_>, text: TextArgument) -> PyResult<Vec<Id>> {
        let text = text.as_bytes();
        Ok(py.detach(|| Ok::<_, Error>(self.0.apply(self.0.alphabet().symbols(text)?)))?)
    }

    #[pyo3(signature = (text, /))]
    fn utility(&self, py: Python<'_>, text: TextArgument) -> PyResult<usize> {
        let text = text.as_bytes();
        Ok(py.detach(|| self.0.utility(text))?)
    }
}

/// How often each word of a corpus occurs.
#[pyclass(frozen, module = "mergewise._core", name = "WordCounts")]
struct PyWordCounts(WordCounts);

#[pymethods]
impl PyWordCounts {
    #[new]
    #[pyo3(signature = (words, *, pattern=None, normalize=None))]
    fn new(
        words: Vec<(TextArgument, u64)>,
        pattern: Option<String>,
        normalize: Option<&str>,
    ) -> PyResult<Self> {
        let mut counts = WordCounts::new(settings(pattern, normalize)?);
        for (word, count) in words {
            counts.add(word.as_bytes(), count)?;
        }
        Ok(Self(counts))
    }

    #[getter]
    fn num_words(&self) -> u64 {
        self.0.num_words()
    }

    #[getter]
    fn num_unique(&self) -> usize {
        self.0.num_unique()
    }

    #[getter]
    fn num_bytes(&self) -> u64 {
        self.0.num_bytes()
    }

    #[getter]
    fn dropped_bytes(&self) -> u64 {
        self.0.dropped()
    }

    #[getter]
    fn pattern(&self) -> Option<&str> {
        self.0.settings().pattern.as_deref()
    }

    #[getter]
    fn normalize(&self) -> Option<&'static str> {
        let normalization = self.0.settings().normalization;
        let mut names = NORMALIZATIONS
            .iter()
            .filter(|(_, known)| *known == normalization);
        names.next().map(|(name, _)| *name)
    }

    fn characters(&self) -> PyResult<String> {
        Ok(self.0.characters()?.into_iter().collect())
    }

    #[pyo3(signature = (num_words, /))]
    fn top<'py>(&self, py: Python<'py>, num_words: usize) -> Vec<(Bound<'py, PyBytes>, u64)> {
        let mut words: Vec<_> = self.0.iter().collect();
        let order =
            |word: &(&[u8], u64), other: &(&[u8], u64)| (other.1, word.0).cmp(&(word.1, other.0));
        if num_words < words.len() {
            words.select_nth_unstable_by(num_words, order);
            words.truncate(num_words);
        }
        words.sort_unstable_by(order);
        let to_python = |(word, count)| (PyBytes::new(py, word), count);
        words.into_iter().map(to_python).collect()
    }

    #[pyo3(signature = (min_count, /))]
    fn prune(&self, py: Python<'_>, min_count: u64) -> PyResult<Self> {
        Ok(Self(py.detach(|| self.0.pruned(min_count))?))
    }

    /// The words of the words: each is cut as a document by another pattern.
    #[pyo3(signature = (pattern, /))]
    fn cut(&self, py: Python<'_>, pattern: String) -> PyResult<Self> {
        watched(py, None, |watch| self.0.cut(&pattern, watch)).map(Self)
    }

    #[pyo3(signature = (other, /))]
    fn plus(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = &other.get().0;
        Ok(Self(py.detach(|| {
            let mut sum = self.0.clone();
            sum.add_all(other)?;
            Ok::<_, Error>(sum)
        })?))
    }

    fn __len__(&self) -> usize {
        self.0.num_unique()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let other = &other.get().0;
        py.detach(|| {
            self.0.settings() == other.settings()
                && self.0.dropped() == other.dropped()
                && self.0.num_unique() == other.num_unique()
                && self.0.sorted() == other.sorted()
        })
    }

    /// Write the file at `path`, which must not matter yet: a failure leaves it half-written.
    #[pyo3(signature = (path, /))]
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write(BufWriter::new(File::create(&path)?)))
            .map_err(|error| io_error(&path, &error).into())
    }

    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = py.detach(|| WordCounts::read(BufReader::new(File::open(&path)?)));
        Ok(Self(read.map_err(|error| io_error(&path, &error))??))
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        kind: error.kind(),
        code: error.raw_os_error(),
    }
}

/// Reads from a Python object, whose `read` returns None when nothing is there yet; what it raises
/// is kept aside.
struct PyReader<'a> {
    object: Py<PyAny>,
    raised: &'a Mutex<Option<PyErr>>,
    watch: &'a Watch,
}

impl Read for PyReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = Python::attach(|py| -> PyResult<usize> {
            let mut bytes = py.None().into_bound(py);
            while bytes.is_none() && !self.watch.is_stopped() {
                bytes = self.object.bind(py).call_method1("read", (buffer.len(),))?;
            }
            let bytes: &[u8] = if bytes.is_none() {
                &[]
            } else {
                bytes.extract()?
            };
            if bytes.len() > buffer.len() {
                return Err(PyValueError::new_err(
                    "read() returned more than was asked for",
                ));
            }
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        });
        read.map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            std::io::Error::other("the object could not be read")
        })
    }
}

/// Counts words as documents and files come; `finish` hands the counts out, once.
#[pyclass(frozen, module = "mergewise._core", name = "Counter")]
struct PyCounter(Mutex<Option<Counter>>);

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
        let num_threads = match num_threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            given => given,
        };
        let counter = Counter::new(
            settings(pattern, normalize)?,
            choose("errors", errors, INVALID_BYTES)?,
            &special_tokens,
            num_threads,
        )?;
        Ok(Self(Mutex::new(Some(counter))))
    }

    #[pyo3(signature = (documents, /))]
    fn add_documents(&self, py: Python<'_>, documents: Vec<TextArgument>) -> PyResult<()> {
        let documents: Vec<_> = documents.iter().map(TextArgument::as_bytes).collect();
        self.with(|counter| watched(py, None, |watch| counter.add_documents(&documents, watch)))
    }

    /// Count the strings of an Arrow array, where they lie.
    #[pyo3(signature = (array, /))]
    #[allow(unsafe_code)]
    fn add_arrow(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let exported = array.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = exported.extract()?;
        let schema_pointer = schema.pointer_checked(Some(c"arrow_schema"))?;
        let array_pointer = array.pointer_checked(Some(c"arrow_array"))?;
        // SAFETY: capsules of these names hold what an exporter filled, and they live as long as
        // this call.
        let documents = unsafe {
            arrow::strings(
                schema_pointer.cast().as_ptr(),
                array_pointer.cast().as_ptr(),
            )?
        };
        self.with(|counter| watched(py, None, |watch| counter.add_documents(&documents, watch)))
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
                let raised = &raised;
                let to_input = |(path, object): (PathBuf, Option<Py<PyAny>>)| Input {
                    path,
                    reader: object.map(|object| -> Box<dyn Read + Send> {
                        Box::new(PyReader {
                            object,
                            raised,
                            watch,
                        })
                    }),
                };
                let inputs = inputs.into_iter().map(to_input).collect();
                counter.add_inputs(inputs, documents, watch)
            })
        });
        match raised.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => result,
        }
    }

    fn finish(&self, py: Python<'_>) -> PyResult<PyWordCounts> {
        self.with(|_| Ok(()))?;
        let counter = self.0.lock().ok().and_then(|mut guard| guard.take());
        let counter = counter.ok_or_else(|| PyValueError::new_err("the counter is finished"))?;
        Ok(PyWordCounts(py.detach(|| counter.finish())))
    }
}

/// The merges of `initial`, and those that greedy training adds to them.
#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, num_merges, min_frequency, max_token_length, overlaps, progress=None
))]
#[allow(clippy::too_many_arguments)]
fn train_greedily(
    py: Python<'_>,
    counts: &Bound<'_, PyWordCounts>,
    initial: &Bound<'_, PyMergeList>,
    num_merges: usize,
    min_frequency: u64,
    max_token_length: Option<usize>,
    overlaps: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyMergeList> {
    let (counts, mut merges) = (&counts.get().0, initial.get().0.clone());
    let options = Options {
        num_merges,
        min_frequency,
        max_token_length: max_token_length.unwrap_or(usize::MAX),
        overlaps: choose("overlaps", overlaps, OVERLAPS)?,
    };
    watched(py, progress, |watch| {
        train(counts, &mut merges, &options, watch)?;
        Ok(PyMergeList(merges))
    })
}

/// The core of mergewise.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::{PyCounter, PyMergeList, PyWordCounts, train_greedily};
}
