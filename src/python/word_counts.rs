//! `WordCounts` for Python.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;

use pyo3::prelude::*;

use super::arguments::{NORMALIZATIONS, PREFIX_SPACES, choose_or_default, name_of};
use super::waiting::{Watched, watched};
use super::{TextArgument, settings};
use crate::counts::WordCounts;
use crate::encode::Preparation;
use crate::error::Error;
use crate::pattern::Pattern;
use crate::reading::io_error;
use crate::tokenizer::encoded_words;

/// How often each word of a corpus occurs.
#[pyclass(frozen, module = "mergewise._core", name = "WordCounts")]
pub(super) struct PyWordCounts(pub(super) WordCounts);

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
        name_of(NORMALIZATIONS, &self.0.settings().normalization)
    }

    fn characters(&self) -> PyResult<String> {
        Ok(self.0.characters()?.into_iter().collect())
    }

    #[pyo3(signature = (num_words, /))]
    fn top(&self, num_words: usize) -> Vec<(&[u8], u64)> {
        let mut words: Vec<_> = self.0.iter().collect();
        let order =
            |word: &(&[u8], u64), other: &(&[u8], u64)| (other.1, word.0).cmp(&(word.1, other.0));
        if num_words < words.len() {
            words.select_nth_unstable_by(num_words, order);
            words.truncate(num_words);
        }
        words.sort_unstable_by(order);
        words
    }

    #[pyo3(signature = (min_count, /))]
    fn prune(&self, py: Python<'_>, min_count: u64) -> PyResult<Self> {
        Ok(Self(py.detach(|| self.0.pruned(min_count))?))
    }

    /// The words of the words: each is cut as a document by another pattern.
    #[pyo3(signature = (pattern, /))]
    fn cut(&self, py: Python<'_>, pattern: &str) -> PyResult<Self> {
        let pattern = Pattern::new(Some(pattern))?;
        watched(py, None, |watch| self.0.cut(&pattern, watch)).map(Self)
    }

    /// The words as they are when a tokenizer with these options merges them.
    #[pyo3(signature = (*, drops_gaps, prefix_space, mark_is_space))]
    fn encoded(
        &self,
        py: Python<'_>,
        drops_gaps: bool,
        prefix_space: Option<&str>,
        mark_is_space: bool,
    ) -> PyResult<Self> {
        let pattern = Pattern::new(self.pattern())?.dropping_gaps(drops_gaps);
        let preparation = Preparation {
            prefix_space: choose_or_default("prefix_space", prefix_space, PREFIX_SPACES)?,
            mark_is_space,
            ..Preparation::default()
        };
        watched(py, None, |watch| {
            Ok(encoded_words(&self.0, &pattern, preparation, watch)?.into_owned())
        })
        .map(Self)
    }

    #[pyo3(signature = (other, /))]
    fn plus(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        Ok(Self(py.detach(|| {
            let mut sum = self.0.clone();
            sum.add_all(&other.0)?;
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

    /// What `write` writes.
    fn to_bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::new();
        py.detach(|| self.0.write(&mut bytes))?;
        Ok(bytes)
    }

    #[staticmethod]
    #[pyo3(signature = (state, /))]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Ok(Self(py.detach(|| WordCounts::read(state))??))
    }

    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let counts = watched(py, None, |watch| {
            let file = File::open(&path).map(|reader| Watched { reader, watch });
            let read = file.and_then(|file| WordCounts::read(BufReader::new(file)));
            read.map_err(|error| io_error(&path, &error))?
        });
        counts.map(Self)
    }
}
