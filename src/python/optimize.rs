//! Optimal and better merge lists, and bounds of the optimum, for Python.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::{PyMergeList, PyWordCounts, anytime, choose, threads, watched};
use crate::bound::proof::{BITS, PriceSetting, Problem, SpelledRings, check, find};
use crate::bound::{Against, DescentOptions, DescentProgress};
use crate::exact::{Limit, Method, SearchOptions, SearchProgress, Text, solve};
use crate::improve::{ImproveOptions, ImproveProgress, improve};
use crate::watch::Watch;

const METHODS: &[(&str, Method)] = &[
    ("brute-force", Method::BruteForce),
    ("guarded", Method::Guarded),
    ("branch-and-bound", Method::BranchAndBound),
];

const AGAINST: &[(&str, Against)] = &[
    ("merges", Against::Merges),
    ("vocabularies", Against::Vocabularies),
];

/// When a time limit in seconds ends; None: never.
pub(super) fn deadline(time_limit: Option<f64>) -> Option<Instant> {
    let limit = Duration::try_from_secs_f64(time_limit?).ok()?;
    Instant::now().checked_add(limit)
}

/// The best merges over the symbols of `initial`; their utility, the bound, the nodes, the limit.
type Solution = (PyMergeList, u64, u64, u64, Option<&'static str>);

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, num_merges, method, time_limit, node_limit, memory_limit, num_threads,
    progress=None
))]
pub(super) fn solve_exactly(
    py: Python<'_>,
    counts: &PyWordCounts,
    initial: &PyMergeList,
    num_merges: usize,
    method: &str,
    time_limit: Option<f64>,
    node_limit: Option<u64>,
    memory_limit: usize,
    num_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Solution> {
    let options = SearchOptions {
        num_merges,
        method: choose("method", method, METHODS)?,
        node_limit,
        memory_limit,
        num_threads: threads(num_threads),
    };
    let mut merges = initial.0.clone();
    let text = py.detach(|| Text::of(&counts.0, &merges))?;
    let watch = Watch::until(deadline(time_limit));
    let search = SearchProgress::default();
    let status = || {
        let (utility, bound) = search.read();
        (watch.done(), utility, bound)
    };
    let solution = anytime(py, &watch, progress, status, || {
        solve(&text, &options, &watch, &search)
    })?;
    for (left, right) in solution.merges {
        merges.push(left, right)?;
    }
    let name_of = |limit| match limit {
        Limit::Time => "time",
        Limit::Nodes => "nodes",
        Limit::Interrupt => "interrupt",
    };
    Ok((
        PyMergeList(merges),
        solution.utility,
        solution.bound,
        solution.nodes,
        solution.limit.map(name_of),
    ))
}

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, num_tokens, is_pinned, seed, num_moves, time_limit, num_threads,
    max_token_length, true_counts, progress=None
))]
pub(super) fn improve_merges(
    py: Python<'_>,
    counts: &PyWordCounts,
    initial: &PyMergeList,
    num_tokens: u64,
    is_pinned: Vec<bool>,
    seed: u64,
    num_moves: Option<u64>,
    time_limit: Option<f64>,
    num_threads: usize,
    max_token_length: Option<usize>,
    true_counts: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyMergeList> {
    let deadline = deadline(time_limit);
    let options = ImproveOptions {
        seed,
        num_moves,
        deadline,
        num_threads: threads(num_threads),
        max_token_length: max_token_length.unwrap_or(usize::MAX),
        true_counts,
    };
    let (watch, found) = (Watch::until(deadline), ImproveProgress::from(num_tokens));
    let status = || (watch.done(), found.num_tokens());
    let better = anytime(py, &watch, progress, status, || {
        improve(&counts.0, &initial.0, &is_pinned, &options, &watch, &found)
    })?;
    Ok(PyMergeList(better))
}

/// The gain, the discounts, `one`, `floor`, `longest`, `counted`, the number of steps, the chosen
/// strings, the tree of cases, the rings with their chains.
type FoundBound = (
    u64,
    Vec<u8>,
    u64,
    u64,
    usize,
    usize,
    usize,
    Vec<Vec<u8>>,
    Vec<Option<Vec<u8>>>,
    SpelledRings,
);

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, against, num_merges, time_limit, num_steps, num_cases, num_threads,
    progress=None
))]
pub(super) fn find_bound(
    py: Python<'_>,
    counts: &PyWordCounts,
    initial: &PyMergeList,
    against: &str,
    num_merges: usize,
    time_limit: Option<f64>,
    num_steps: Option<usize>,
    num_cases: usize,
    num_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<FoundBound> {
    let problem = problem(counts, initial, against, num_merges)?;
    let options = DescentOptions {
        num_steps,
        deadline: deadline(time_limit),
        bits: BITS,
        num_threads: threads(num_threads),
        num_cases,
    };
    // Only preparations look at its deadline: the descent ends by its own.
    let watch = Watch::until(options.deadline);
    let descent = DescentProgress::default();
    let status = || descent.read();
    let proof = anytime(py, &watch, progress, status, || {
        find(&problem, &options, &watch, &descent)
    })?;
    Ok((
        proof.gain,
        proof.discounts,
        proof.setting.one,
        proof.setting.floor,
        proof.setting.longest,
        proof.setting.counted,
        proof.num_steps,
        proof.chosen,
        proof.tree,
        proof.rings,
    ))
}

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, against, num_merges, one, floor, longest, counted, discounts,
    cases, rings
))]
pub(super) fn verify_bound(
    py: Python<'_>,
    counts: &PyWordCounts,
    initial: &PyMergeList,
    against: &str,
    num_merges: usize,
    one: u64,
    floor: u64,
    longest: usize,
    counted: usize,
    discounts: &[u8],
    cases: Vec<Option<Vec<u8>>>,
    rings: SpelledRings,
) -> PyResult<u64> {
    let problem = problem(counts, initial, against, num_merges)?;
    let setting = PriceSetting {
        one,
        floor,
        longest,
        counted,
    };
    watched(py, None, |watch| {
        check(&problem, &setting, &cases, &rings, discounts, watch)
    })
}

fn problem<'a>(
    counts: &'a PyWordCounts,
    initial: &'a PyMergeList,
    against: &str,
    num_merges: usize,
) -> PyResult<Problem<'a>> {
    Ok(Problem {
        counts: &counts.0,
        alphabet: initial.0.alphabet(),
        against: choose("against", against, AGAINST)?,
        num_merges,
    })
}
