//! tiktoken's files of ranks, for Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rustc_hash::FxHashSet;

use crate::ranks::{lines, parse_line};

/// The number of a line, and what is wrong with it: "line" if it is malformed, "token" or "id" if
/// an earlier line has the same.
type Fault = (usize, &'static str);

/// The tokens and their ids, the numbers of the lines of tokens without bytes, which are left out,
/// and the first fault, if any.
#[pyfunction]
#[pyo3(signature = (file, /))]
pub(super) fn parse_ranks<'py>(
    py: Python<'py>,
    file: &[u8],
) -> PyResult<(Bound<'py, PyDict>, Vec<usize>, Option<Fault>)> {
    let tokens = PyDict::new(py);
    let mut ids = FxHashSet::default();
    let mut empty = Vec::new();
    let mut token = Vec::new();
    for (line, number) in lines(file).zip(1..) {
        let wrong = match parse_line(line, &mut token) {
            None => "line",
            Some(_) if token.is_empty() => {
                empty.push(number);
                continue;
            }
            Some(id) => {
                let num_tokens = tokens.len();
                tokens.set_item(PyBytes::new(py, &token), id)?;
                match (tokens.len() > num_tokens, ids.insert(id)) {
                    (true, true) => continue,
                    (true, false) => "id",
                    (false, _) => "token",
                }
            }
        };
        return Ok((tokens, empty, Some((number, wrong))));
    }
    Ok((tokens, empty, None))
}
