//! `find_bound` and `verify_bound` for Python.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::exact::deadline;
use super::{PyMergeList, PyWordCounts, anytime, choose, threads, watched};
use crate::bound::proof::{BITS, PriceSetting, Problem, check, find};
use crate::bound::{Against, DescentOptions, DescentProgress};
use crate::watch::Watch;

const AGAINST: &[(&str, Against)] = &[
    ("merges", Against::Merges),
    ("vocabularies", Against::Vocabularies),
];

/// The gain, the discounts, `one`, `floor`, `longest`, `counted`, the number of steps, the chosen
/// strings.
type Answer<'py> = (
    u64,
    Bound<'py, PyBytes>,
    u64,
    u64,
    usize,
    usize,
    usize,
    Vec<Bound<'py, PyBytes>>,
);

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, against, num_merges, time_limit, num_steps, num_threads, progress=None
))]
#[allow(clippy::too_many_arguments)]
pub(super) fn find_bound<'py>(
    py: Python<'py>,
    counts: &Bound<'py, PyWordCounts>,
    initial: &Bound<'py, PyMergeList>,
    against: &str,
    num_merges: usize,
    time_limit: Option<f64>,
    num_steps: Option<usize>,
    num_threads: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let problem = problem(counts, initial, against, num_merges)?;
    let options = DescentOptions {
        num_steps,
        deadline: deadline(time_limit),
        bits: BITS,
        num_threads: threads(num_threads),
    };
    let (watch, descent) = (Watch::default(), DescentProgress::default());
    let report = || match progress {
        Some(progress) => progress.call1(descent.read()).map(drop),
        None => Ok(()),
    };
    let proof = anytime(py, &watch, report, || {
        find(&problem, &options, &watch, &descent)
    })??;
    let chosen = proof.chosen.iter().map(|string| PyBytes::new(py, string));
    Ok((
        proof.gain,
        PyBytes::new(py, &proof.discounts),
        proof.setting.one,
        proof.setting.floor,
        proof.setting.longest,
        proof.setting.counted,
        proof.num_steps,
        chosen.collect(),
    ))
}

#[pyfunction]
#[pyo3(signature = (
    counts, /, *, initial, against, num_merges, one, floor, longest, counted, discounts
))]
#[allow(clippy::too_many_arguments)]
pub(super) fn verify_bound(
    py: Python<'_>,
    counts: &Bound<'_, PyWordCounts>,
    initial: &Bound<'_, PyMergeList>,
    against: &str,
    num_merges: usize,
    one: u64,
    floor: u64,
    longest: usize,
    counted: usize,
    discounts: &[u8],
) -> PyResult<u64> {
    let problem = problem(counts, initial, against, num_merges)?;
    let setting = PriceSetting {
        one,
        floor,
        longest,
        counted,
    };
    watched(py, None, |_| check(&problem, &setting, discounts))
}

fn problem<'a>(
    counts: &'a Bound<'_, PyWordCounts>,
    initial: &'a Bound<'_, PyMergeList>,
    against: &str,
    num_merges: usize,
) -> PyResult<Problem<'a>> {
    Ok(Problem {
        counts: &counts.get().0,
        alphabet: initial.get().0.alphabet(),
        against: choose("against", against, AGAINST)?,
        num_merges,
    })
}
