//! The Python module `mergewise._core`: conversions, error types and waiting, nothing else.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyString};

mod arrow_tables;
mod bound;
mod curvature;
mod exact;
mod improve;

use self::arrow_tables::ArrowArray;
use crate::counting::{Counter, Documents, Input, InvalidBytes};
use crate::counts::WordCounts;
use crate::encode::{Choice, Encoder, Place, PrefixSpace, Preparation, Special, Unknown};
use crate::error::{Error, Result};
use crate::greedy::{Options, Overlaps, train};
use crate::limits::Watch;
use crate::merges::{Alphabet, Id, MergeList};
use crate::pattern::{self, Pattern};
use crate::segment;
use crate::settings::{Normalization, Settings};
use crate::vocabulary::{Merging, Symbols, Vocabulary};

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let name = match &error {
            Error::InvalidMerge { .. } | Error::UnknownPart { .. } => "InvalidMergesError",
            Error::UnknownCharacter { .. } | Error::UnknownId { .. } => "UnknownTokenError",
            Error::InDocument { error: inner, .. }
                if matches!(**inner, Error::UnknownCharacter { .. }) =>
            {
                "UnknownTokenError"
            }
            Error::Malformed { .. } | Error::InvalidCount { .. } => "FormatError",
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
    let watch = Watch::default();
    let report = || match progress {
        Some(progress) => progress.call1((watch.done(),)).map(drop),
        None => Ok(()),
    };
    match attended(py, &watch, report, || work(&watch))? {
        (_, Some(error)) => Err(error),
        (result, None) => Ok(result?),
    }
}

/// The same for work that has something to show whenever it is stopped: Ctrl-C ends it, and what it
/// has by then is the result.
fn anytime<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    report: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    match attended(py, watch, report, work)? {
        (_, Some(error)) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        (result, _) => Ok(result),
    }
}

/// Run `work` on a thread of its own; what it returned, and what was raised meanwhile, by Ctrl-C or
/// by `report`, which stops it.
fn attended<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    report: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    const LOOK: Duration = Duration::from_millis(50);
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let worker = scope.spawn(move || sender.send(work()));
        let mut raised = None;
        loop {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(LOOK)) {
                Ok(result) => return Ok((result, raised)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Joined here, so that its panic ends as an exception.
                    worker.join().map(drop).ok();
                    return Err(Error::WorkerPanicked.into());
                }
            }
            if raised.is_none() {
                raised = py.check_signals().and_then(|()| report()).err();
            }
            if raised.is_some() {
                watch.stop();
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
        let counter = Counter::new(
            settings(pattern, normalize)?,
            choose("errors", errors, INVALID_BYTES)?,
            &special_tokens,
            threads(num_threads),
        )?;
        Ok(Self(Mutex::new(Some(counter))))
    }

    #[pyo3(signature = (documents, /))]
    fn add_documents(&self, py: Python<'_>, documents: Vec<TextArgument>) -> PyResult<()> {
        let documents: Vec<_> = documents.iter().map(TextArgument::as_bytes).collect();
        self.with(|counter| watched(py, None, |watch| counter.add_documents(&documents, watch)))
    }

    /// How many bytes of memory the words counted so far take.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        self.with(|counter| Ok(counter.memory()))
    }

    /// Count the strings of an Arrow array, where they lie; a null has no words.
    #[pyo3(signature = (array, /))]
    fn add_arrow(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let array = ArrowArray::import(array)?;
        // Nulls stay, as empty documents, so that an error names a document by its row.
        let rows = array.strings()?.into_iter();
        let documents: Vec<_> = rows.map(Option::unwrap_or_default).collect();
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

/// How many tokens the words have at least, if each is one of these or a byte.
#[pyfunction]
#[pyo3(signature = (counts, tokens, /))]
fn fewest_tokens(
    py: Python<'_>,
    counts: &Bound<'_, PyWordCounts>,
    tokens: Vec<PyBackedBytes>,
) -> PyResult<u64> {
    let counts = &counts.get().0;
    watched(py, None, |watch| {
        segment::fewest_tokens(counts, &tokens, watch)
    })
}

/// The characters of a class, such as `\s`, as ranges of code points with both ends in them.
#[pyfunction]
#[pyo3(signature = (class, /))]
fn class_ranges(class: &str) -> PyResult<Vec<(u32, u32)>> {
    let ranges = pattern::class_ranges(class)?;
    Ok(ranges.iter().map(|&(a, b)| (a.into(), b.into())).collect())
}

const SYMBOLS: &[(&str, Symbols)] = &[("bytes", Symbols::Bytes), ("chars", Symbols::Chars)];
const PREFIX_SPACES: &[(&str, PrefixSpace)] = &[
    ("always", PrefixSpace::Always),
    ("once", PrefixSpace::Once),
    ("unless_space", PrefixSpace::UnlessSpace),
];
/// Less text than this is encoded before anyone would want to interrupt it.
const QUICK: usize = 1 << 20;

/// Numbers that numpy takes over where they lie.
#[pyclass(frozen, module = "mergewise._core", name = "Array")]
struct PyArray(Numbers);

enum Numbers {
    U32(Vec<u32>),
    I64(Vec<i64>),
}

#[pymethods]
impl PyArray {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, address, length) = match &self.0 {
            Numbers::U32(numbers) => ("u4", numbers.as_ptr() as usize, numbers.len()),
            Numbers::I64(numbers) => ("i8", numbers.as_ptr() as usize, numbers.len()),
        };
        let order = if cfg!(target_endian = "big") {
            ">"
        } else {
            "<"
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("shape", (length,))?;
        // Nothing else refers to the numbers, so numpy may write them.
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
}

/// Encodes texts and decodes ids.
#[pyclass(frozen, module = "mergewise._core", name = "Encoder")]
struct PyEncoder(Encoder);

impl PyEncoder {
    /// Encode on this thread if that is quick, else on one that can be interrupted.
    fn run<T: Send>(
        py: Python<'_>,
        num_bytes: usize,
        progress: Option<&Bound<'_, PyAny>>,
        work: impl FnOnce(&Watch) -> Result<T> + Send,
    ) -> PyResult<T> {
        if num_bytes < QUICK {
            return Ok(py.detach(|| work(&Watch::default()))?);
        }
        watched(py, progress, work)
    }

    /// The ids of all texts, one after the other, and where each text's begin and the last's end.
    fn encode_texts(
        &self,
        py: Python<'_>,
        texts: Vec<&[u8]>,
        choice: Choice,
        num_threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(PyArray, PyArray)> {
        let num_bytes = texts.iter().map(|text| text.len()).sum();
        let num_threads = threads(num_threads);
        let (ids, offsets) = Self::run(py, num_bytes, progress, |watch| {
            self.0.encode_batch(&texts, &choice, num_threads, watch)
        })?;
        let offsets = offsets
            .into_iter()
            .map(|offset| (offset as u64).cast_signed());
        let offsets = offsets.collect();
        Ok((PyArray(Numbers::U32(ids)), PyArray(Numbers::I64(offsets))))
    }
}

#[pymethods]
impl PyEncoder {
    #[new]
    #[pyo3(signature = (
        tokens, *, merges, ranks, alphabet, end_of_word, byte_tokens, unknown_token, fuse_unknown,
        whole_words, pattern, drops_gaps, normalize, prefix_space, mark_is_space, specials
    ))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
    fn new(
        py: Python<'_>,
        tokens: Vec<(PyBackedBytes, Id)>,
        merges: Option<Vec<(PyBackedBytes, PyBackedBytes)>>,
        ranks: Option<Vec<(PyBackedBytes, u32)>>,
        alphabet: &str,
        end_of_word: &[u8],
        byte_tokens: Option<Vec<Id>>,
        unknown_token: Option<Id>,
        fuse_unknown: bool,
        whole_words: bool,
        pattern: Option<&str>,
        drops_gaps: bool,
        normalize: Option<&str>,
        prefix_space: Option<&str>,
        mark_is_space: bool,
        specials: Vec<(String, Id, bool)>,
    ) -> PyResult<Self> {
        let symbols = choose("alphabet", alphabet, SYMBOLS)?;
        let unknown = match (byte_tokens, unknown_token) {
            (Some(ids), _) => Unknown::Bytes(ids.try_into().map_err(|ids: Vec<Id>| {
                PyValueError::new_err(format!("expected 256 byte tokens, found {}", ids.len()))
            })?),
            (None, Some(id)) => Unknown::Token {
                id,
                fuse: fuse_unknown,
            },
            (None, None) => Unknown::Refused,
        };
        let pattern = Pattern::new(pattern)?;
        let preparation = Preparation {
            normalization: settings(None, normalize)?.normalization,
            prefix_space: match prefix_space {
                None => PrefixSpace::Never,
                Some(name) => choose("prefix_space", name, PREFIX_SPACES)?,
            },
            mark_is_space,
        };
        let specials = specials.into_iter();
        let specials = specials.map(|(text, id, always)| Special { text, id, always });
        let specials = specials.collect();
        Ok(Self(py.detach(|| {
            let tokens: Vec<(&[u8], Id)> = tokens.iter().map(|(s, id)| (&**s, *id)).collect();
            let merging = match (&merges, &ranks) {
                (Some(pairs), _) => {
                    Merging::Pairs(pairs.iter().map(|(l, r)| (&**l, &**r)).collect())
                }
                (None, Some(ranks)) => {
                    Merging::Ranks(ranks.iter().map(|(s, rank)| (&**s, *rank)).collect())
                }
                (None, None) => Merging::Pairs(Vec::new()),
            };
            let vocabulary = Vocabulary::new(&tokens, &merging, symbols, end_of_word)?;
            let pattern = if drops_gaps {
                pattern.without_gaps()
            } else {
                pattern
            };
            Ok::<_, Error>(Encoder::new(
                vocabulary,
                unknown,
                whole_words,
                pattern,
                preparation,
                specials,
            ))
        })?))
    }

    /// The merges that texts can use, as `(left, right, rank)`, in order.
    #[getter]
    fn merges<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, u32)> {
        let vocabulary = self.0.vocabulary();
        let string = |number| PyBytes::new(py, vocabulary.string(number));
        let merges = vocabulary.merges().iter();
        merges
            .map(|merge| (string(merge.left), string(merge.right), merge.rank))
            .collect()
    }

    /// Would some text be encoded otherwise if merges of one rank came in the order of `merges`?
    fn ties_matter(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.ties_matter())
    }

    /// How many tokens the words of a corpus become, each taken as a text.
    #[pyo3(signature = (counts, /))]
    fn num_tokens(&self, py: Python<'_>, counts: &Bound<'_, PyWordCounts>) -> PyResult<u64> {
        let counts = &counts.get().0;
        watched(py, None, |watch| {
            let (words, times): (Vec<_>, Vec<_>) = counts.iter().unzip();
            let (_, ends) = self.0.encode_batch(&words, &Choice::default(), 1, watch)?;
            let lengths = ends.windows(2).map(|ends| (ends[1] - ends[0]) as u64);
            Ok(lengths
                .zip(times)
                .map(|(length, count)| length * count)
                .sum())
        })
    }

    /// How often the words of a corpus, each taken as a text, become each token: `(id, times)`, in
    /// the order of ids, for the tokens that occur.
    #[pyo3(signature = (counts, /))]
    fn token_counts(
        &self,
        py: Python<'_>,
        counts: &Bound<'_, PyWordCounts>,
    ) -> PyResult<Vec<(Id, u64)>> {
        let counts = &counts.get().0;
        watched(py, None, |watch| {
            let (words, times): (Vec<_>, Vec<_>) = counts.iter().unzip();
            let (ids, ends) = self.0.encode_batch(&words, &Choice::default(), 1, watch)?;
            let mut totals: BTreeMap<Id, u64> = BTreeMap::new();
            for (ends, count) in ends.windows(2).zip(times) {
                for &id in &ids[ends[0]..ends[1]] {
                    *totals.entry(id).or_default() += count;
                }
            }
            Ok(totals.into_iter().collect())
        })
    }

    /// The ids of the tokens that neither are symbols nor are made by a merge.
    #[getter]
    fn unreachable(&self) -> Vec<Id> {
        let vocabulary = self.0.vocabulary();
        let ids = vocabulary.unreachable().filter_map(|n| vocabulary.id(n));
        ids.collect()
    }

    #[pyo3(signature = (text, /, *, allowed, refused))]
    fn encode(
        &self,
        py: Python<'_>,
        text: TextArgument,
        allowed: Vec<bool>,
        refused: Vec<bool>,
    ) -> PyResult<Vec<Id>> {
        let (text, choice) = (text.as_bytes(), Choice { allowed, refused });
        Self::run(py, text.len(), None, |watch| {
            self.0.encode(text, &choice, watch)
        })
    }

    /// The ids, and for each the characters of a `str`, or the bytes, that it stands for.
    #[pyo3(signature = (text, /, *, allowed, refused))]
    fn encode_with_offsets(
        &self,
        py: Python<'_>,
        text: TextArgument,
        allowed: Vec<bool>,
        refused: Vec<bool>,
    ) -> PyResult<(Vec<Id>, Vec<Place>)> {
        let choice = Choice { allowed, refused };
        let bytes = text.as_bytes();
        let (ids, mut places) = Self::run(py, bytes.len(), None, |watch| {
            self.0.encode_with_offsets(bytes, &choice, watch)
        })?;
        if let TextArgument::Text(text) = &text {
            py.detach(|| to_characters(text, &mut places));
        }
        Ok((ids, places))
    }

    #[pyo3(signature = (text, /, *, allowed, refused))]
    fn count(
        &self,
        py: Python<'_>,
        text: TextArgument,
        allowed: Vec<bool>,
        refused: Vec<bool>,
    ) -> PyResult<usize> {
        let (text, choice) = (text.as_bytes(), Choice { allowed, refused });
        Self::run(py, text.len(), None, |watch| {
            self.0.count(text, &choice, watch)
        })
    }

    /// The ids of all texts, one after the other, and where each text's begin and the last's end.
    #[pyo3(signature = (texts, /, *, allowed, refused, num_threads, progress=None))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: Vec<TextArgument>,
        allowed: Vec<bool>,
        refused: Vec<bool>,
        num_threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(PyArray, PyArray)> {
        let texts = texts.iter().map(TextArgument::as_bytes).collect();
        self.encode_texts(
            py,
            texts,
            Choice { allowed, refused },
            num_threads,
            progress,
        )
    }

    /// The same for the strings of an Arrow array, where they lie; a null is an empty text.
    #[pyo3(signature = (array, /, *, allowed, refused, num_threads))]
    fn encode_arrow(
        &self,
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        allowed: Vec<bool>,
        refused: Vec<bool>,
        num_threads: usize,
    ) -> PyResult<(PyArray, PyArray)> {
        let array = ArrowArray::import(array)?;
        let texts = array.strings()?.into_iter().map(Option::unwrap_or_default);
        let texts = texts.collect();
        self.encode_texts(py, texts, Choice { allowed, refused }, num_threads, None)
    }

    /// The same as lists.
    #[pyo3(signature = (texts, /, *, allowed, refused, num_threads))]
    fn encode_batch_lists(
        &self,
        py: Python<'_>,
        texts: Vec<TextArgument>,
        allowed: Vec<bool>,
        refused: Vec<bool>,
        num_threads: usize,
    ) -> PyResult<Vec<Vec<Id>>> {
        let texts: Vec<&[u8]> = texts.iter().map(TextArgument::as_bytes).collect();
        let choice = Choice { allowed, refused };
        let num_bytes = texts.iter().map(|text| text.len()).sum();
        let num_threads = threads(num_threads);
        let (ids, offsets) = Self::run(py, num_bytes, None, |watch| {
            self.0.encode_batch(&texts, &choice, num_threads, watch)
        })?;
        let ends = offsets.windows(2);
        Ok(ends.map(|ends| ids[ends[0]..ends[1]].to_vec()).collect())
    }

    /// The ids of all texts as little-endian numbers of 16 bits, if they are narrow, or of 32; the
    /// separator follows each text that ends a document.
    #[pyo3(signature = (
        texts, /, *, ends, separator, is_narrow, allowed, refused, num_threads
    ))]
    #[allow(clippy::too_many_arguments)]
    fn encode_to_bytes<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<TextArgument>,
        ends: Vec<bool>,
        separator: Option<Id>,
        is_narrow: bool,
        allowed: Vec<bool>,
        refused: Vec<bool>,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let texts: Vec<&[u8]> = texts.iter().map(TextArgument::as_bytes).collect();
        let choice = Choice { allowed, refused };
        let num_bytes = texts.iter().map(|text| text.len()).sum();
        let bytes = Self::run(py, num_bytes, None, |watch| {
            let (ids, offsets) =
                self.0
                    .encode_batch(&texts, &choice, threads(num_threads), watch)?;
            let mut bytes = Vec::with_capacity((ids.len() + texts.len()) * 4);
            let mut push = |id: Id| {
                let size = if is_narrow { 2 } else { 4 };
                bytes.extend_from_slice(&id.to_le_bytes()[..size]);
            };
            for (range, is_end) in offsets.windows(2).zip(&ends) {
                ids[range[0]..range[1]].iter().for_each(|&id| push(id));
                separator
                    .filter(|_| *is_end)
                    .into_iter()
                    .for_each(&mut push);
            }
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (ids, /))]
    fn decode<'py>(&self, py: Python<'py>, ids: Vec<Id>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.decode(&ids))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The last place where a text can be cut whatever follows it: the ids of both parts are those
    /// of the whole.
    #[pyo3(signature = (text, /))]
    fn last_cut(&self, text: &[u8]) -> Option<usize> {
        self.0.last_cut(text)
    }
}

fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        given => given,
    }
}

/// Turn places in the bytes of a text into places among its characters. A token that holds a part
/// of a character holds all of it.
fn to_characters(text: &str, places: &mut [Place]) {
    let is_start = |at: usize| text.is_char_boundary(at);
    let (mut at, mut before) = (0, 0);
    for place in places {
        // `before` characters begin before the byte `at`.
        while at < place.0 {
            before += usize::from(is_start(at));
            at += 1;
        }
        let start = if is_start(at) { before } else { before - 1 };
        while at < place.1 {
            before += usize::from(is_start(at));
            at += 1;
        }
        *place = (start, before);
    }
}

/// The core of mergewise.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::arrow_tables::{counts_of_arrow, rows_of_counts};
    #[pymodule_export]
    use super::bound::{find_bound, verify_bound};
    #[pymodule_export]
    use super::curvature::{curvature_units, measure_curvature, measure_sigma, walk_curvature};
    #[pymodule_export]
    use super::exact::solve_exactly;
    #[pymodule_export]
    use super::improve::improve_merges;
    #[pymodule_export]
    use super::{
        PyArray, PyCounter, PyEncoder, PyMergeList, PyWordCounts, class_ranges, fewest_tokens,
        train_greedily,
    };
}
