//! `solve_exactly` for Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::{PyMergeList, PyWordCounts, anytime, choose};
use crate::error::Result;
use crate::exact::{Limit, Method, Options, Solution, Standing, Text, solve};
use crate::merges::{Id, MergeList};
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
    let options = Options {
        num_merges,
        method: choose("method", method, METHODS)?,
        node_limit,
        memory_limit,
        num_threads: super::threads(num_threads),
    };
    let merges = initial.get().0.clone();
    let counts = counts.get();
    let text = py.detach(|| symbols_of(counts, &merges))?;
    let (watch, standing) = (Watch::until(deadline(time_limit)), Standing::default());
    let report = || match progress {
        Some(progress) => {
            let (utility, bound) = standing.read();
            progress.call1((watch.done(), utility, bound)).map(drop)
        }
        None => Ok(()),
    };
    let solution = anytime(py, &watch, report, || {
        solve(&text, &options, &watch, &standing)
    })??;
    Ok(answer(merges, solution)?)
}

/// When a limit in seconds ends; None: never.
pub(super) fn deadline(time_limit: Option<f64>) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(time_limit?).ok()?;
    Instant::now().checked_add(limit)
}

/// The words as symbols, in an order that does not depend on how they were counted.
fn symbols_of(counts: &PyWordCounts, merges: &MergeList) -> Result<Text> {
    let alphabet = merges.alphabet();
    let words = counts.0.sorted().into_iter();
    let words = words.map(|(word, count)| Ok((alphabet.symbols(word)?, count)));
    let words: Result<Vec<(Vec<Id>, u64)>> = words.collect();
    Ok(Text::new(words?, merges.num_tokens() as Id))
}

fn answer(mut merges: MergeList, solution: Solution) -> Result<Answer> {
    for (left, right) in solution.merges {
        merges.push(left, right)?;
    }
    let limit = solution.limit.map(|limit| match limit {
        Limit::Time => "time",
        Limit::Nodes => "nodes",
        Limit::Interrupt => "interrupt",
    });
    let Solution {
        utility,
        bound,
        nodes,
        ..
    } = solution;
    Ok((PyMergeList(merges), utility, bound, nodes, limit))
}
