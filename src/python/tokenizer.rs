//! `Tokenizer` for Python.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyList};

use super::arguments::{NORMALIZATIONS, choose_or_default, name_of};
use super::array::{Numbers, PyArray};
use super::choice::{PyChoice, PyFrame, choice_of};
use super::ids::{Ids, Integers};
use super::texts::Texts;
use super::vocabulary::{self, Fields, SYMBOLS};
use super::waiting::{fed, run};
use super::{PyMergeList, PyWordCounts, TextArgument, threads, watched};
use crate::encode::{Encoded, Encoder, Place, Unit};
use crate::error::Result;
use crate::merges::Id;
use crate::tokenizer::{Source, Tokenizer};
use crate::watch::Watch;

/// How many steps a pipeline may take for a byte, and how many a regular expression.
const STEPS_OF_PIPELINE: usize = 16;
const STEPS_OF_EXPRESSION: usize = 256;
/// Less text than this is not worth a second thread, nor asking how many there may be.
const WORTH_THREADS: usize = 1 << 14;

/// Encodes texts and decodes ids.
#[pyclass(frozen, eq, module = "mergewise._core", name = "Tokenizer")]
pub(super) struct PyTokenizer(pub(super) Tokenizer, Integers);

impl PartialEq for PyTokenizer {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl From<Tokenizer> for PyTokenizer {
    fn from(tokenizer: Tokenizer) -> Self {
        Self(tokenizer, Integers::default())
    }
}

impl PyTokenizer {
    /// Encode that much text, on this thread if it is quick.
    pub(super) fn run<T: Send>(
        &self,
        py: Python<'_>,
        num_bytes: usize,
        work: impl FnOnce(&Encoder, &Watch) -> Result<T> + Send,
    ) -> PyResult<T> {
        let encoder = self.0.encoder();
        let num_steps = match (encoder.pattern().is_linear(), encoder.pipeline()) {
            (false, _) => STEPS_OF_EXPRESSION,
            (true, Some(_)) => STEPS_OF_PIPELINE,
            (true, None) => 1,
        };
        run(py, num_bytes.saturating_mul(num_steps), |watch| {
            work(encoder, watch)
        })
    }

    /// What `convert` makes of the ids of all texts and where each text's begin and the last's end.
    fn encode_texts<T: Send>(
        &self,
        py: Python<'_>,
        texts: &Texts<'_>,
        choice: &PyChoice,
        num_threads: usize,
        convert: impl FnOnce(Encoded) -> T + Send,
    ) -> PyResult<T> {
        let mut lots = texts.lots(num_threads == 1);
        let first = lots.next().unwrap_or_else(|| Ok(Vec::new()))?;
        if !lots.is_over() {
            let extent = texts.extent(&first);
            let num_threads = threads(num_threads);
            return fed(py, first, lots, |texts, watch| {
                let encoder = self.0.encoder();
                let ids = encoder.encode_documents(texts, extent, &choice.0, num_threads, watch);
                ids.map(convert)
            });
        }
        let texts = first;
        let num_bytes = texts.iter().map(|text| text.len()).sum();
        self.run(py, num_bytes, |encoder, watch| {
            let num_threads = if num_bytes < WORTH_THREADS {
                1
            } else {
                threads(num_threads)
            };
            let ids = encoder.encode_batch(&texts, &choice.0, num_threads, watch);
            ids.map(convert)
        })
    }

    /// A list of ids.
    pub(super) fn list<'py>(&self, py: Python<'py>, ids: &[Id]) -> PyResult<Bound<'py, PyList>> {
        // A few ids may be far above the others.
        let num_kept = || self.0.vocab_size().min(2 * self.0.num_ids());
        self.1.list(py, ids, num_kept)
    }
}

#[pymethods]
impl PyTokenizer {
    /// The tokenizer of a `Vocabulary`.
    #[new]
    #[pyo3(signature = (vocabulary, /))]
    fn new(py: Python<'_>, vocabulary: Fields<'_>) -> PyResult<Self> {
        vocabulary.build(py).map(Self::from)
    }

    /// The tokenizer of merges; its tokens are these, or else those of the list with their ids.
    #[staticmethod]
    #[pyo3(signature = (merges, /, *, pattern, normalize, special_tokens, tokens=None))]
    fn from_merges(
        py: Python<'_>,
        merges: &PyMergeList,
        pattern: Option<&str>,
        normalize: Option<&str>,
        special_tokens: Vec<(String, Id)>,
        tokens: Option<Vec<(PyBackedBytes, Id)>>,
    ) -> PyResult<Self> {
        let merges = &merges.0;
        let mut builder = Tokenizer::builder()
            .merge_list(merges)
            .pattern(pattern)
            .normalization(choose_or_default("normalize", normalize, NORMALIZATIONS)?);
        if let Some(tokens) = &tokens {
            builder = builder.tokens(vocabulary::slices(tokens));
        }
        for (text, id) in &special_tokens {
            builder = builder.special_token(text, *id);
        }
        Ok(py.detach(|| builder.build())?.into())
    }

    #[staticmethod]
    #[pyo3(signature = (state, /))]
    fn from_bytes(py: Python<'_>, state: &[u8]) -> PyResult<Self> {
        Ok(py.detach(|| Tokenizer::from_bytes(state))?.into())
    }

    fn to_bytes(&self, py: Python<'_>) -> Vec<u8> {
        py.detach(|| self.0.to_bytes())
    }

    /// The fields of the `Vocabulary` of this tokenizer. Its merges are those that texts can use.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::fields(py, &self.0)
    }

    /// The texts and ids of the special tokens that are found in every text, or of the others.
    fn specials<'py>(&self, py: Python<'py>, always: bool) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::specials(py, &self.0, always)
    }

    #[getter]
    fn alphabet(&self) -> Option<&'static str> {
        name_of(SYMBOLS, &self.0.vocabulary().symbols())
    }

    #[getter]
    fn pattern(&self) -> Option<&str> {
        self.0.encoder().pattern().spec()
    }

    #[getter]
    fn normalize(&self) -> Option<&'static str> {
        name_of(
            NORMALIZATIONS,
            &self.0.encoder().preparation().normalization,
        )
    }

    /// Whether some word becomes a token that its merges would not make.
    #[getter]
    fn is_by_whole_words(&self) -> bool {
        self.0.encoder().looks_up_whole_words()
    }

    /// Whether tokens mark the ends of words.
    #[getter]
    fn marks_ends(&self) -> bool {
        !self.0.vocabulary().end_of_word().is_empty()
    }

    /// One more than the largest id.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size()
    }

    /// How many of the merges that were given no text can use; None if ranks were given.
    #[getter]
    fn num_unusable_merges(&self) -> Option<usize> {
        match self.0.source() {
            Source::Pairs(number) => Some(number - self.0.vocabulary().merges().len()),
            Source::Ranks => None,
        }
    }

    #[pyo3(signature = (token_id, /))]
    fn token_bytes(&self, token_id: Id) -> PyResult<&[u8]> {
        Ok(self.0.token(token_id)?)
    }

    #[pyo3(signature = (string, /))]
    fn token_id(&self, string: &[u8]) -> Option<Id> {
        self.0.id(string)
    }

    /// The merges that texts can use, as `(left, right)`, in order.
    #[getter]
    fn merges<'py>(&self, py: Python<'py>) -> Vec<vocabulary::Pair<'py>> {
        vocabulary::merges(py, &self.0)
    }

    /// The rank of each token that a merge makes.
    #[getter]
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        vocabulary::ranks(py, &self.0)
    }

    /// Whether merges of one rank would make other ids of some text if they came in the order of
    /// `merges`.
    fn ties_matter(&self, py: Python<'_>) -> bool {
        py.detach(|| self.0.encoder().ties_matter())
    }

    fn merge_list(&self, py: Python<'_>) -> PyResult<PyMergeList> {
        Ok(PyMergeList(py.detach(|| self.0.merge_list())?))
    }

    #[pyo3(signature = (num_merges, /))]
    fn with_first_merges(&self, py: Python<'_>, num_merges: usize) -> PyResult<Self> {
        Ok(py.detach(|| self.0.with_first_merges(num_merges))?.into())
    }

    /// How many tokens a corpus becomes.
    #[pyo3(signature = (counts, /))]
    fn num_tokens(&self, py: Python<'_>, counts: &PyWordCounts) -> PyResult<u64> {
        watched(py, None, |watch| {
            self.0.num_tokens_watched(&counts.0, threads(0), watch)
        })
    }

    /// How often a corpus becomes each token, by id, for the tokens that occur.
    #[pyo3(signature = (counts, /))]
    fn token_counts(&self, py: Python<'_>, counts: &PyWordCounts) -> PyResult<BTreeMap<Id, u64>> {
        watched(py, None, |watch| {
            self.0.token_counts(&counts.0, threads(0), watch)
        })
    }

    /// A special token that is found in every text, if a word of a corpus holds one.
    #[pyo3(signature = (counts, /))]
    fn special_in(&self, py: Python<'_>, counts: &PyWordCounts) -> PyResult<Option<String>> {
        watched(py, None, |watch| self.0.special_in(&counts.0, watch))
    }

    /// The ids of the tokens that neither are symbols nor are made by a merge.
    #[getter]
    fn unreachable(&self) -> Vec<Id> {
        let vocabulary = self.0.vocabulary();
        let ids = vocabulary.unreachable().filter_map(|n| vocabulary.id(n));
        ids.collect()
    }

    /// The special tokens that a call finds and those that it refuses, and what is around the ids.
    #[pyo3(signature = (allowed, refused, frame=None, /))]
    fn choice(
        &self,
        allowed: Vec<bool>,
        refused: Vec<bool>,
        frame: Option<PyFrame>,
    ) -> PyResult<PyChoice> {
        let choice = choice_of(allowed, refused, frame);
        Ok(PyChoice(self.0.encoder().call(&choice)?.into()))
    }

    #[pyo3(signature = (text, choice, /))]
    pub(super) fn encode<'py>(
        &self,
        py: Python<'py>,
        text: TextArgument,
        choice: &PyChoice,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = text.as_bytes();
        let ids = self.run(py, text.len(), |encoder, watch| {
            encoder.encode(text, &choice.0, watch)
        })?;
        self.list(py, &ids)
    }

    /// The ids, and for each the characters of a `str`, or the bytes, that it stands for.
    #[pyo3(signature = (text, choice, /))]
    pub(super) fn encode_with_offsets(
        &self,
        py: Python<'_>,
        text: TextArgument,
        choice: &PyChoice,
    ) -> PyResult<(Vec<Id>, Vec<Place>)> {
        let unit = match &text {
            TextArgument::Text(_) => Unit::Characters,
            TextArgument::Bytes(_) => Unit::Bytes,
        };
        let bytes = text.as_bytes();
        self.run(py, bytes.len(), |encoder, watch| {
            encoder.encode_with_offsets(bytes, unit, &choice.0, watch)
        })
    }

    #[pyo3(signature = (text, choice, /))]
    pub(super) fn count(
        &self,
        py: Python<'_>,
        text: TextArgument,
        choice: &PyChoice,
    ) -> PyResult<usize> {
        let text = text.as_bytes();
        self.run(py, text.len(), |encoder, watch| {
            encoder.count(text, &choice.0, watch)
        })
    }

    /// The ids of all texts, one after the other, and where each text's begin and the last's end.
    #[pyo3(signature = (texts, choice, /, *, num_threads))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        texts: Texts<'_>,
        choice: &PyChoice,
        num_threads: usize,
    ) -> PyResult<(PyArray, PyArray)> {
        self.encode_texts(py, &texts, choice, num_threads, |(ids, offsets)| {
            let offsets = offsets.into_iter();
            let offsets = offsets.map(|offset| (offset as u64).cast_signed());
            let offsets = Numbers::I64(offsets.collect());
            (PyArray(Numbers::U32(ids)), PyArray(offsets))
        })
    }

    /// The same as lists.
    #[pyo3(signature = (texts, choice, /, *, num_threads))]
    fn encode_batch_lists<'py>(
        &self,
        py: Python<'py>,
        texts: Texts<'_>,
        choice: &PyChoice,
        num_threads: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (ids, offsets) = self.encode_texts(py, &texts, choice, num_threads, |ids| ids)?;
        let lists = PyList::empty(py);
        for ends in offsets.windows(2) {
            lists.append(self.list(py, &ids[ends[0]..ends[1]])?)?;
        }
        Ok(lists)
    }

    /// The bytes that the ids of a text stand for.
    #[pyo3(signature = (ids, skip_special_tokens=false, /))]
    pub(super) fn decode(
        &self,
        py: Python<'_>,
        ids: Ids,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<u8>> {
        run(py, ids.0.len(), |watch| {
            self.0.decoder().bytes(&ids.0, skip_special_tokens, watch)
        })
    }

    /// Their text.
    #[pyo3(signature = (ids, skip_special_tokens=false, /))]
    pub(super) fn decode_text(
        &self,
        py: Python<'_>,
        ids: Ids,
        skip_special_tokens: bool,
    ) -> PyResult<String> {
        run(py, ids.0.len(), |watch| {
            self.0.decoder().text(&ids.0, skip_special_tokens, watch)
        })
    }
}
