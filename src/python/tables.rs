//! Tokens and merges that were read from a file, as bytes until Python asks for them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::arguments::dict_of;
use crate::merges::Id;

/// The strings of tokens, one behind the other, with where each ends, and their ids.
#[derive(Debug, Default)]
pub(super) struct Strings {
    pub(super) bytes: Vec<u8>,
    pub(super) tokens: Vec<(usize, Id)>,
}

impl Strings {
    /// The tokens and their ids.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&[u8], Id)> {
        let mut start = 0;
        self.tokens.iter().map(move |&(end, id)| {
            let from = std::mem::replace(&mut start, end);
            (&self.bytes[from..end], id)
        })
    }

    fn string(&self, index: u32) -> &[u8] {
        let index = index as usize;
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.tokens[before].0);
        &self.bytes[start..self.tokens[index].0]
    }
}

/// Tokens and their ids.
#[pyclass(frozen, name = "Tokens", module = "mergewise._core")]
pub(super) struct PyTokens(pub(super) Arc<Strings>);

#[pymethods]
impl PyTokens {
    /// The tokens of one byte.
    fn single_bytes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let tokens = self.0.pairs().map(|(token, _)| token);
        let single = tokens.filter(|token| token.len() == 1);
        single.map(|token| PyBytes::new(py, token)).collect()
    }

    /// Those of these ids that tokens have.
    #[pyo3(signature = (ids, /))]
    fn taken(&self, ids: Vec<Id>) -> Vec<Id> {
        let tokens = self.0.tokens.iter().map(|&(_, id)| id);
        tokens.filter(|id| ids.contains(id)).collect()
    }

    /// The tokens and their ids as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.0.pairs())
    }
}

/// Pairs of tokens.
#[pyclass(frozen, name = "Pairs", module = "mergewise._core")]
pub(super) struct PyPairs {
    pub(super) strings: Arc<Strings>,
    /// The numbers of the two tokens of each pair, and of the one that they make.
    pub(super) merges: Vec<[u32; 3]>,
}

impl PyPairs {
    /// Whether the numbers are those of these tokens.
    pub(super) fn are_of(&self, tokens: &PyTokens) -> bool {
        Arc::ptr_eq(&self.strings, &tokens.0)
    }

    /// The strings of the two tokens of each pair.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let string = |number| self.strings.string(number);
        let merges = self.merges.iter();
        merges.map(move |&[left, right, _]| (string(left), string(right)))
    }
}

#[pymethods]
impl PyPairs {
    /// The pairs as a list.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pairs = self.pairs();
        let pairs = pairs.map(|(left, right)| (PyBytes::new(py, left), PyBytes::new(py, right)));
        PyList::new(py, pairs.collect::<Vec<_>>())
    }
}
