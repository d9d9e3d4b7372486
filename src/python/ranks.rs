//! tiktoken's files of ranks, for Python.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::tables::{PyTokens, Strings};
use crate::merges::Id;
use crate::ranks::{lines, parse_line};

/// The tokens of a file of ranks.
#[pyclass(frozen, name = "Ranks", module = "mergewise._core")]
pub(super) struct PyRanks {
    strings: Arc<Strings>,
    /// The ids of tokens without bytes, which are not among the tokens.
    #[pyo3(get)]
    empty_ids: Vec<Id>,
    /// The number of the first wrong line and what is wrong with it: "line" if it is malformed,
    /// "token" or "id" if an earlier line has the same.
    #[pyo3(get)]
    first_fault: Option<(usize, &'static str)>,
}

/// The first line whose token or id stands before, and which.
fn first_repetition(strings: &Strings, numbers: &[usize]) -> Option<(usize, &'static str)> {
    let (mut tokens, mut ids) = (FxHashSet::default(), FxHashSet::default());
    tokens.reserve(numbers.len());
    ids.reserve(numbers.len());
    let fault = |((string, id), &line): ((_, _), &usize)| match () {
        () if !tokens.insert(string) => Some((line, "token")),
        () if !ids.insert(id) => Some((line, "id")),
        () => None,
    };
    strings.pairs().zip(numbers).find_map(fault)
}

#[pymethods]
impl PyRanks {
    #[new]
    #[pyo3(signature = (file, /))]
    fn new(file: &[u8]) -> Self {
        let mut strings = Strings::default();
        strings.bytes.reserve(file.len() / 2);
        let (mut empty_ids, mut numbers, mut first_fault) = (Vec::new(), Vec::new(), None);
        for (text, line) in lines(file).zip(1..) {
            let start = strings.bytes.len();
            let Some(id) = parse_line(text, &mut strings.bytes) else {
                first_fault = Some((line, "line"));
                break;
            };
            let end = strings.bytes.len();
            if end == start {
                empty_ids.push(id);
            } else {
                strings.tokens.push((end, id));
                numbers.push(line);
            }
        }
        Self {
            first_fault: first_repetition(&strings, &numbers).or(first_fault),
            strings: Arc::new(strings),
            empty_ids,
        }
    }

    /// The tokens and their ids.
    #[getter]
    fn tokens(&self) -> PyTokens {
        PyTokens(self.strings.clone())
    }
}
