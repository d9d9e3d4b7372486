//! tiktoken's files of ranks, for Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rustc_hash::FxHashSet;

use super::arguments::dict_of;
use crate::merges::Id;
use crate::ranks::{lines, parse_line};

/// The tokens of a file of ranks, as bytes until Python asks for them.
#[pyclass(frozen, name = "Ranks", module = "mergewise._core")]
pub(super) struct PyRanks {
    bytes: Vec<u8>,
    tokens: Vec<Token>,
    /// The ids of tokens without bytes, which are not among the tokens.
    #[pyo3(get)]
    empty_ids: Vec<Id>,
    /// The number of the first wrong line and what is wrong with it: "line" if it is malformed,
    /// "token" or "id" if an earlier line has the same.
    #[pyo3(get)]
    first_fault: Option<(usize, &'static str)>,
}

struct Token {
    end: usize,
    id: Id,
    line: usize,
}

impl PyRanks {
    /// The tokens and their ids.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&[u8], Id)> {
        let mut start = 0;
        self.tokens.iter().map(move |token| {
            let from = std::mem::replace(&mut start, token.end);
            (&self.bytes[from..token.end], token.id)
        })
    }

    fn first_repetition(&self) -> Option<(usize, &'static str)> {
        let (mut strings, mut ids) = (FxHashSet::default(), FxHashSet::default());
        strings.reserve(self.tokens.len());
        ids.reserve(self.tokens.len());
        let fault = |((string, id), token): ((_, _), &Token)| match () {
            () if !strings.insert(string) => Some((token.line, "token")),
            () if !ids.insert(id) => Some((token.line, "id")),
            () => None,
        };
        self.pairs().zip(&self.tokens).find_map(fault)
    }
}

#[pymethods]
impl PyRanks {
    #[new]
    #[pyo3(signature = (file, /))]
    fn new(file: &[u8]) -> Self {
        let mut ranks = Self {
            bytes: Vec::with_capacity(file.len() / 2),
            tokens: Vec::new(),
            empty_ids: Vec::new(),
            first_fault: None,
        };
        for (text, line) in lines(file).zip(1..) {
            let start = ranks.bytes.len();
            let Some(id) = parse_line(text, &mut ranks.bytes) else {
                ranks.first_fault = Some((line, "line"));
                break;
            };
            let end = ranks.bytes.len();
            if end == start {
                ranks.empty_ids.push(id);
            } else {
                ranks.tokens.push(Token { end, id, line });
            }
        }
        ranks.first_fault = ranks.first_repetition().or(ranks.first_fault);
        ranks
    }

    /// The tokens of one byte.
    fn single_bytes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let tokens = self.pairs().map(|(token, _)| token);
        let single = tokens.filter(|token| token.len() == 1);
        single.map(|token| PyBytes::new(py, token)).collect()
    }

    /// Those of these ids that tokens have.
    #[pyo3(signature = (ids, /))]
    fn taken(&self, ids: Vec<Id>) -> Vec<Id> {
        let tokens = self.tokens.iter().map(|token| token.id);
        tokens.filter(|id| ids.contains(id)).collect()
    }

    /// The tokens and their ids as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict_of(py, self.pairs())
    }
}
