//! `find_bound` and `verify_bound` for Python.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::exact::deadline;
use super::{PyMergeList, PyWordCounts, anytime, choose, threads, watched};
use crate::bound::proof::{BITS, Proof, Setting, Task, check, find};
use crate::bound::{Against, Options, Standing};
use crate::watch::Watch;

const AGAINST: &[(&str, Against)] = &[
    ("merges", Against::Merges),
    ("vocabularies", Against::Vocabularies),
];

/// The bound, its proof, and what it was made with; the strings that would make a good vocabulary.
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
    let task = Task {
        counts: &counts.get().0,
        alphabet: initial.get().0.alphabet(),
        against: choose("against", against, AGAINST)?,
        num_merges,
    };
    let options = Options {
        num_steps,
        deadline: deadline(time_limit),
        bits: BITS,
        num_threads: threads(num_threads),
    };
    let (watch, standing) = (Watch::default(), Standing::default());
    let report = || match progress {
        Some(progress) => {
            let (num_steps, gain) = standing.read();
            let known = (gain != u64::MAX).then_some(gain);
            progress.call1((num_steps, known)).map(drop)
        }
        None => Ok(()),
    };
    let proof = anytime(py, &watch, report, || {
        find(&task, &options, &watch, &standing)
    })??;
    let Proof {
        gain,
        discounts,
        setting,
        num_steps,
        chosen,
    } = proof;
    let chosen = chosen.iter().map(|string| PyBytes::new(py, string));
    Ok((
        gain,
        PyBytes::new(py, &discounts),
        setting.one,
        setting.floor,
        setting.longest,
        setting.counted,
        num_steps,
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
    let task = Task {
        counts: &counts.get().0,
        alphabet: initial.get().0.alphabet(),
        against: choose("against", against, AGAINST)?,
        num_merges,
    };
    let setting = Setting {
        one,
        floor,
        longest,
        counted,
    };
    watched(py, None, |_| check(&task, &setting, discounts))
}
