//! `solve_exactly` for Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::{PyMergeList, PyWordCounts, anytime, choose};
use crate::exact::{Limit, Method, SearchOptions, SearchProgress, Text, solve};
use crate::watch::Watch;

const METHODS: &[(&str, Method)] = &[
    ("brute-force", Method::BruteForce),
    ("guarded", Method::Guarded),
    ("branch-and-bound", Method::BranchAndBound),
];

/// The best merges over the symbols of `initial`; their utility, the bound, the nodes, the limit.
type Answer = (PyMergeList, u64, u64, u64, Option<&'static str>);

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, num_merges, method, time_limit, node_limit, memory_limit, num_threads,
    progress=None
))]
#[allow(clippy::too_many_arguments)]
pub(super) fn solve_exactly(
    py: Python<'_>,
    counts: &Bound<'_, PyWordCounts>,
    initial: &Bound<'_, PyMergeList>,
    num_merges: usize,
    method: &str,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    memory_limit: usize,
    num_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    let options = SearchOptions {
        num_merges,
        method: choose("method", method, METHODS)?,
        node_limit,
        memory_limit,
        num_threads: super::threads(num_threads),
    };
    let mut merges = initial.get().0.clone();
    let counts = &counts.get().0;
    let text = py.detach(|| Text::of(counts, &merges))?;
    let watch = Watch::until(deadline(time_limit));
    let search = SearchProgress::default();
    let report = || match progress {
        Some(progress) => {
            let (utility, bound) = search.read();
            progress.call1((watch.done(), utility, bound)).map(drop)
        }
        None => Ok(()),
    };
    let solution = anytime(py, &watch, report, || {
        solve(&text, &options, &watch, &search)
    })??;
    for (left, right) in solution.merges {
        merges.push(left, right)?;
    }
    Ok((
        PyMergeList(merges),
        solution.utility,
        solution.bound,
        solution.nodes,
        solution.limit.map(name_of),
    ))
}

/// When a time limit in seconds ends; None: never.
pub(super) fn deadline(time_limit: Option<f64>) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(time_limit?).ok()?;
    Instant::now().checked_add(limit)
}

fn name_of(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "time",
        Limit::Nodes => "nodes",
        Limit::Interrupt => "interrupt",
    }
}
