//! Improving merge lists, for Python.

use pyo3::prelude::*;

use super::exact::deadline;
use super::{PyMergeList, PyWordCounts, anytime, threads};
use crate::improve::{ImproveOptions, ImproveProgress, improve};
use crate::watch::Watch;

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, is_pinned, seed, num_moves, time_limit, num_threads,
    max_token_length, progress=None
))]
#[allow(clippy::too_many_arguments)]
pub(super) fn improve_merges(
    py: Python<'_>,
    counts: &Bound<'_, PyWordCounts>,
    initial: &Bound<'_, PyMergeList>,
    is_pinned: Vec<bool>,
    seed: u64,
    num_moves: Option<u64>,
    time_limit: Option<f64>,
    num_threads: usize,
    max_token_length: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyMergeList> {
    let deadline = deadline(time_limit);
    let options = ImproveOptions {
        seed,
        num_moves,
        deadline,
        num_threads: threads(num_threads),
        max_token_length: max_token_length.unwrap_or(usize::MAX),
    };
    let (watch, found) = (Watch::until(deadline), ImproveProgress::default());
    let report = || match progress {
        Some(progress) => {
            let num_tokens = found.num_tokens();
            progress.call1((watch.done(), num_tokens)).map(drop)
        }
        None => Ok(()),
    };
    let (counts, initial) = (&counts.get().0, &initial.get().0);
    let better = anytime(py, &watch, report, || {
        improve(counts, initial, &is_pinned, &options, &watch, &found)
    })??;
    Ok(PyMergeList(better))
}
