//! Functions of counts for Python: greedy training, and the fewest tokens of a vocabulary.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::{PyMergeList, PyWordCounts, choose, watched};
use crate::greedy::{Overlaps, TrainOptions, train};
use crate::segment;

const OVERLAPS: &[(&str, Overlaps)] = &[("skip", Overlaps::Skip), ("count", Overlaps::Count)];

/// The merges of `initial`, and those that greedy training adds to them.
#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, num_merges, min_frequency, max_token_length, overlaps, progress=None
))]
pub(super) fn train_greedily(
    py: Python<'_>,
    counts: &PyWordCounts,
    initial: &PyMergeList,
    num_merges: usize,
    min_frequency: u64,
    max_token_length: Option<usize>,
    overlaps: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyMergeList> {
    let mut merges = initial.0.clone();
    let options = TrainOptions {
        num_merges,
        min_frequency,
        max_token_length: max_token_length.unwrap_or(usize::MAX),
        overlaps: choose("overlaps", overlaps, OVERLAPS)?,
    };
    watched(py, progress, |watch| {
        train(&counts.0, &mut merges, &options, watch)?;
        Ok(PyMergeList(merges))
    })
}

/// How many tokens the words have at least, if each is one of these or a byte.
#[pyfunction]
#[pyo3(signature = (counts, tokens, /))]
pub(super) fn fewest_tokens(
    py: Python<'_>,
    counts: &PyWordCounts,
    tokens: Vec<PyBackedBytes>,
) -> PyResult<u64> {
    watched(py, None, |watch| {
        segment::fewest_tokens(&counts.0, &tokens, watch)
    })
}
