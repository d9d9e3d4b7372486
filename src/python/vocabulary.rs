//! Python's `Vocabulary`: its fields become a tokenizer, and a tokenizer has them.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyTuple};

use super::arguments::{NORMALIZATIONS, PREFIX_SPACES, choose_or_default, dict_of, name_of};
use super::choose;
use super::tables::{PyPairs, PyTokens};
use crate::encode::{Search, Special, Unknown};
use crate::merges::Id;
use crate::tokenizer::{Source, Tokenizer};
use crate::vocabulary::Symbols;

pub(super) type Pair<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

pub(super) const SYMBOLS: &[(&str, Symbols)] =
    &[("bytes", Symbols::Bytes), ("chars", Symbols::Chars)];
/// The fields of Python's `Vocabulary`.
#[derive(FromPyObject)]
#[allow(clippy::struct_excessive_bools, reason = "they are Python's")]
pub(super) struct Fields<'py> {
    tokens: Tokens<'py>,
    merges: Option<Merges>,
    ranks: Option<Tokens<'py>>,
    alphabet: String,
    byte_tokens: Option<Vec<Option<Id>>>,
    unknown_token: Option<Id>,
    fuse_unknown: bool,
    drops_unknown: bool,
    whole_words: bool,
    unused: Vec<Id>,
    start_of_word: PyBackedBytes,
    end_of_word: PyBackedBytes,
    pattern: Option<String>,
    drops_gaps: bool,
    normalize: Option<String>,
    prefix_space: Option<String>,
    mark_is_space: bool,
    steps: Option<String>,
    special_tokens: Bound<'py, PyDict>,
    added_tokens: Bound<'py, PyDict>,
    searches: BTreeMap<String, PySearch>,
    decoding: Option<String>,
    written: BTreeMap<Id, String>,
}

/// Python's `Search`: how a special token is found.
#[derive(FromPyObject)]
#[allow(clippy::struct_excessive_bools, reason = "they are Python's")]
struct PySearch {
    lstrip: bool,
    rstrip: bool,
    single_word: bool,
    normalized: bool,
}

impl From<&PySearch> for Search {
    fn from(search: &PySearch) -> Self {
        Self {
            strips_left: search.lstrip,
            strips_right: search.rstrip,
            single_word: search.single_word,
            normalized: search.normalized,
        }
    }
}

/// Merges: Python's `PairTable`, or a list.
#[derive(FromPyObject)]
enum Merges {
    Table { core: Py<PyPairs> },
    List(Vec<(PyBackedBytes, PyBackedBytes)>),
}

/// Strings with ids or ranks: Python's `StringTable`, or a dictionary.
#[derive(FromPyObject)]
enum Tokens<'py> {
    Table { core: Py<PyTokens> },
    Dict(Bound<'py, PyDict>),
}

/// The same, as Rust reads them.
enum Strings<'t> {
    Table(&'t PyTokens),
    Entries(Vec<(PyBackedBytes, u32)>),
}

impl Tokens<'_> {
    fn strings(&self) -> PyResult<Strings<'_>> {
        Ok(match self {
            Self::Table { core } => Strings::Table(core.get()),
            Self::Dict(dict) => Strings::Entries(pairs_of(dict)?),
        })
    }
}

impl Strings<'_> {
    fn slices(&self) -> Vec<(&[u8], u32)> {
        match self {
            Self::Table(tokens) => tokens.0.pairs().collect(),
            Self::Entries(entries) => slices(entries).collect(),
        }
    }
}

impl Fields<'_> {
    fn unknown(&mut self) -> PyResult<Unknown> {
        let otherwise = match self.unknown_token {
            Some(id) => Unknown::Token {
                id,
                fuse: self.fuse_unknown,
            },
            None if self.drops_unknown => Unknown::Dropped,
            None => Unknown::Refused,
        };
        let Some(ids) = self.byte_tokens.take() else {
            return Ok(otherwise);
        };
        if ids.len() != 256 {
            let message = format!("expected 256 byte tokens, found {}", ids.len());
            return Err(PyValueError::new_err(message));
        }
        let all: Option<Vec<Id>> = ids.iter().copied().collect();
        Ok(match all.and_then(|ids| ids.try_into().ok()) {
            Some(ids) => Unknown::Bytes(ids),
            None => Unknown::SomeBytes {
                ids,
                otherwise: Box::new(otherwise),
            },
        })
    }

    pub(super) fn build(mut self, py: Python<'_>) -> PyResult<Tokenizer> {
        let unknown = self.unknown()?;
        let tokens = self.tokens.strings()?;
        let ranks = self.ranks.as_ref().map(Tokens::strings).transpose()?;
        let specials = pairs_of::<String>(&self.special_tokens)?;
        let added = pairs_of::<String>(&self.added_tokens)?;
        let mut builder = Tokenizer::builder()
            .tokens(tokens.slices())
            .symbols(choose("alphabet", &self.alphabet, SYMBOLS)?)
            .unknown(unknown)
            .whole_words(self.whole_words)
            .unused(std::mem::take(&mut self.unused))
            .start_of_word(&self.start_of_word)
            .end_of_word(&self.end_of_word)
            .pattern(self.pattern.as_deref())
            .drops_gaps(self.drops_gaps)
            .normalization(choose_or_default(
                "normalize",
                self.normalize.as_deref(),
                NORMALIZATIONS,
            )?)
            .prefix_space(choose_or_default(
                "prefix_space",
                self.prefix_space.as_deref(),
                PREFIX_SPACES,
            )?)
            .mark_is_space(self.mark_is_space)
            .steps(self.steps.as_deref())
            .decoder(self.decoding.as_deref());
        for (found, always) in [(&specials, false), (&added, true)] {
            for (text, id) in found {
                let search = self.searches.get(text).map(Search::from);
                builder = builder.special(text, *id, always, search.unwrap_or_default());
            }
        }
        for (id, text) in &self.written {
            builder = builder.written(*id, text);
        }
        builder = match (&self.merges, &ranks) {
            (Some(Merges::Table { core }), _) => match &tokens {
                Strings::Table(tokens) if core.get().are_of(tokens) => {
                    builder.numbered_merges(core.get().merges.clone())
                }
                _ => builder.merges(core.get().pairs()),
            },
            (Some(Merges::List(pairs)), _) => {
                builder.merges(pairs.iter().map(|(left, right)| (&**left, &**right)))
            }
            (None, Some(ranks)) => builder.ranks(ranks.slices()),
            (None, None) => builder,
        };
        Ok(py.detach(|| builder.build())?)
    }
}

/// The keys and values of a dictionary.
fn pairs_of<'py, K>(dict: &Bound<'py, PyDict>) -> PyResult<Vec<(K, u32)>>
where
    K: for<'a> FromPyObject<'a, 'py>,
{
    dict.iter()
        .map(|(key, value)| Ok((key.extract().map_err(Into::into)?, value.extract()?)))
        .collect()
}

pub(super) fn slices(pairs: &[(PyBackedBytes, u32)]) -> impl Iterator<Item = (&[u8], u32)> {
    pairs.iter().map(|(string, number)| (&**string, *number))
}

/// The fields of the vocabulary of a tokenizer.
pub(super) fn fields<'py>(py: Python<'py>, tokenizer: &Tokenizer) -> PyResult<Bound<'py, PyDict>> {
    let (encoder, vocabulary) = (tokenizer.encoder(), tokenizer.vocabulary());
    let preparation = encoder.preparation();
    let fields = PyDict::new(py);
    fields.set_item("tokens", dict_of(py, tokenizer.tokens())?)?;
    match tokenizer.source() {
        Source::Pairs(_) => fields.set_item("merges", merges(py, tokenizer))?,
        Source::Ranks => fields.set_item("ranks", ranks(py, tokenizer)?)?,
    }
    set_unknown(&fields, encoder.unknown())?;
    fields.set_item("alphabet", name_of(SYMBOLS, &vocabulary.symbols()))?;
    fields.set_item("whole_words", tokenizer.whole_words())?;
    fields.set_item("unused", PyTuple::new(py, encoder.unused())?)?;
    let start_of_word = PyBytes::new(py, vocabulary.start_of_word());
    fields.set_item("start_of_word", start_of_word)?;
    fields.set_item("end_of_word", PyBytes::new(py, vocabulary.end_of_word()))?;
    fields.set_item("pattern", encoder.pattern().spec())?;
    fields.set_item("drops_gaps", encoder.pattern().drops_gaps())?;
    fields.set_item(
        "normalize",
        name_of(NORMALIZATIONS, &preparation.normalization),
    )?;
    fields.set_item(
        "prefix_space",
        name_of(PREFIX_SPACES, &preparation.prefix_space),
    )?;
    fields.set_item("mark_is_space", preparation.mark_is_space)?;
    fields.set_item("steps", encoder.steps())?;
    fields.set_item("special_tokens", specials(py, tokenizer, false)?)?;
    fields.set_item("added_tokens", specials(py, tokenizer, true)?)?;
    fields.set_item("searches", searches(py, encoder.specials())?)?;
    let decoder = tokenizer.decoder();
    fields.set_item("decoding", decoder.steps())?;
    let written = decoder.given_names().iter();
    let written = written.map(|(id, text)| (id, text)).into_py_dict(py)?;
    fields.set_item("written", written)?;
    Ok(fields)
}

fn set_unknown(fields: &Bound<'_, PyDict>, unknown: &Unknown) -> PyResult<()> {
    match unknown {
        Unknown::Refused => Ok(()),
        Unknown::Dropped => fields.set_item("drops_unknown", true),
        Unknown::Bytes(ids) => {
            fields.set_item("byte_tokens", PyTuple::new(fields.py(), ids.iter())?)
        }
        Unknown::SomeBytes { ids, otherwise } => {
            fields.set_item("byte_tokens", PyTuple::new(fields.py(), ids)?)?;
            set_unknown(fields, otherwise)
        }
        Unknown::Token { id, fuse } => {
            fields.set_item("unknown_token", id)?;
            fields.set_item("fuse_unknown", fuse)
        }
    }
}

/// How the special tokens are found that are not found plainly: `lstrip`, `rstrip`, `single_word`
/// and `normalized`, by text.
fn searches<'py>(py: Python<'py>, specials: &[Special]) -> PyResult<Bound<'py, PyDict>> {
    let others = specials.iter();
    let others = others.filter(|special| special.search != Search::default());
    let flags = others.map(|special| {
        let search = special.search;
        let flags = (
            search.strips_left,
            search.strips_right,
            search.single_word,
            search.normalized,
        );
        (&special.text, flags)
    });
    flags.into_py_dict(py)
}

/// The texts and ids of the special tokens that are found in every text, or of the others.
pub(super) fn specials<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    always: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let specials = tokenizer.specials().filter(|special| special.2 == always);
    specials.map(|(text, id, _)| (text, id)).into_py_dict(py)
}

/// The merges that texts can use, in order.
pub(super) fn merges<'py>(py: Python<'py>, tokenizer: &Tokenizer) -> Vec<Pair<'py>> {
    let pairs = tokenizer.merges();
    pairs
        .map(|(left, right, _)| (PyBytes::new(py, left), PyBytes::new(py, right)))
        .collect()
}

/// The rank of each token that a merge makes.
pub(super) fn ranks<'py>(py: Python<'py>, tokenizer: &Tokenizer) -> PyResult<Bound<'py, PyDict>> {
    let vocabulary = tokenizer.vocabulary();
    let merges = vocabulary.merges().iter();
    let ranks = merges.map(|merge| (vocabulary.string(merge.product), merge.rank));
    dict_of(py, ranks)
}
