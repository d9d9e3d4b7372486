//! `Encoder` for Python.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::array::{Numbers, PyArray};
use super::arrow_tables::ArrowArray;
use super::{PyWordCounts, TextArgument, choose, settings, threads, watched};
use crate::encode::{Choice, Encoder, Place, PrefixSpace, Preparation, Special, Unknown};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::pattern::Pattern;
use crate::vocabulary::{Merging, Symbols, Vocabulary};
use crate::watch::Watch;

const SYMBOLS: &[(&str, Symbols)] = &[("bytes", Symbols::Bytes), ("chars", Symbols::Chars)];
const PREFIX_SPACES: &[(&str, PrefixSpace)] = &[
    ("always", PrefixSpace::Always),
    ("once", PrefixSpace::Once),
    ("unless_space", PrefixSpace::UnlessSpace),
];
/// Less text than this is encoded before anyone would want to interrupt it.
const QUICK: usize = 1 << 20;

/// Encodes texts and decodes ids.
#[pyclass(frozen, module = "mergewise._core", name = "Encoder")]
pub(super) struct PyEncoder(pub(super) Encoder);

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
                (Some(pairs), _) => Merging::Pairs(
                    pairs
                        .iter()
                        .zip(0..)
                        .map(|((l, r), rank)| (&**l, &**r, rank))
                        .collect(),
                ),
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
