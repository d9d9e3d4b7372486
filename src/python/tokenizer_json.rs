//! The tokens and merges of a tokenizer.json, for Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use super::tables::{PyPairs, PyTokens, Strings};
use crate::merges::Id;
use crate::tokenizer_json::{Spelling, TokenizerJson};

/// A tokenizer.json in which nothing is unusual.
#[pyclass(frozen, name = "TokenizerJson", module = "mergewise._core")]
pub(super) struct PyTokenizerJson(TokenizerJson);

#[pymethods]
impl PyTokenizerJson {
    /// The file with these bytes; None if something about it is unusual.
    #[staticmethod]
    #[pyo3(signature = (file, /))]
    fn parse(py: Python<'_>, file: &[u8]) -> Option<Self> {
        py.detach(|| TokenizerJson::parse(file)).map(Self)
    }

    /// The file without tokens and merges.
    #[getter]
    fn rest(&self) -> &str {
        self.0.rest()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The id of a token as it is written.
    #[pyo3(signature = (text, /))]
    fn id(&self, text: &str) -> Option<Id> {
        self.0.id(text)
    }

    /// Whether a token has this id.
    #[pyo3(signature = (id, /))]
    fn has(&self, id: Id) -> bool {
        self.0.has(id)
    }

    /// The tokens that a text can have, without those that are only `found_alone`, the merges of
    /// these, and what is written for ids where it does not follow from the string of a token; None if something about them is unusual.
    #[pyo3(signature = (*, added, found_alone, has_letters, mark_is_space, prefix, start_of_word, has_byte_names))]
    #[allow(
        clippy::fn_params_excessive_bools,
        reason = "each is a property of the file"
    )]
    fn spelled(
        &self,
        py: Python<'_>,
        added: Vec<PyBackedStr>,
        found_alone: Vec<PyBackedStr>,
        has_letters: bool,
        mark_is_space: bool,
        prefix: &str,
        start_of_word: &[u8],
        has_byte_names: bool,
    ) -> Option<(PyTokens, PyPairs, BTreeMap<Id, String>)> {
        let spelling = Spelling {
            has_letters,
            mark_is_space,
            prefix,
            start_of_word,
            has_byte_names,
        };
        let added: Vec<&str> = added.iter().map(|text| &**text).collect();
        let found_alone: Vec<&str> = found_alone.iter().map(|text| &**text).collect();
        let spelled = py.detach(|| self.0.spelled(spelling, &added, &found_alone))?;
        let strings = Arc::new(Strings {
            bytes: spelled.bytes,
            tokens: spelled.tokens,
        });
        let pairs = PyPairs {
            strings: strings.clone(),
            merges: spelled.merges,
        };
        let written = spelled.written.into_iter().collect();
        Some((PyTokens(strings), pairs, written))
    }
}
