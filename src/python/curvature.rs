//! Curvature for Python: fractions are pairs of numbers, columns are in the order of `Column::LIST`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{threads, watched};
use crate::curvature::columns::{ALL, Column, Columns, Fraction, NUM_COLUMNS, Record, Records};
use crate::curvature::{
    self, MAX_LENGTH, MAX_WALK_LENGTH, MAX_WALK_LETTERS, MAX_WALK_MERGES, WalkOptions,
};

type Pair = (i32, i32);
type Improved = (usize, usize, Pair, Vec<u8>);

fn to_pair(fraction: Fraction) -> Pair {
    (fraction.top, fraction.bottom)
}

/// Reject letters that are not numbered by first occurrence, or too many, and 0 merges.
fn check(letters: &[u8], num_merges: usize) -> PyResult<()> {
    let mut used = 0;
    for &letter in letters {
        if letter > used {
            return Err(PyValueError::new_err("letters must come in order"));
        }
        used = used.max(letter + 1);
    }
    if letters.len() > MAX_LENGTH || num_merges == 0 {
        return Err(PyValueError::new_err(format!(
            "expected at most {MAX_LENGTH} letters and at least one merge"
        )));
    }
    Ok(())
}

/// κ(μ*), κ(μ†), and the wanted columns of a string; None where there is no value.
#[pyfunction]
#[pyo3(signature = (letters, /, *, num_merges, columns, progress=None))]
pub(super) fn measure_curvature(
    py: Python<'_>,
    letters: &[u8],
    num_merges: usize,
    columns: Columns,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(i32, i32, Vec<Option<Pair>>)> {
    check(letters, num_merges)?;
    let found = watched(py, progress, |watch| {
        curvature::curvature(letters, num_merges, columns, watch)
    })?;
    let values = found.values.iter().map(|value| value.map(to_pair));
    Ok((found.optimum, found.greedy, values.collect()))
}

/// κ(μ*), and σ of a sequence as if it were optimal.
#[pyfunction]
#[pyo3(signature = (letters, /, *, num_merges, merges, progress=None))]
pub(super) fn measure_sigma(
    py: Python<'_>,
    letters: &[u8],
    num_merges: usize,
    merges: Vec<(u32, u32)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(i32, Pair)> {
    check(letters, num_merges)?;
    let (optimum, sigma) = watched(py, progress, |watch| {
        curvature::sigma_of(letters, num_merges, &merges, watch)
    })?;
    Ok((optimum, to_pair(sigma)))
}

/// The options of a walk of one merge through all columns.
fn walk_options(length: usize, num_letters: usize) -> PyResult<WalkOptions> {
    let (lengths, numbers) = (1..=MAX_WALK_LENGTH, 1..=MAX_WALK_LETTERS);
    if !lengths.contains(&length) || !numbers.contains(&num_letters) {
        return Err(PyValueError::new_err(format!(
            "expected at most {MAX_WALK_LENGTH} symbols and {MAX_WALK_LETTERS} letters, found \
             {length} and {num_letters}"
        )));
    }
    Ok(WalkOptions {
        length,
        num_letters,
        max_merges: 1,
        columns: ALL,
        is_pruned: true,
    })
}

/// The number of strings of each unit of work: those of a length with exactly `num_letters` letters.
#[pyfunction]
#[pyo3(signature = (*, length, num_letters))]
pub(super) fn curvature_units(length: usize, num_letters: usize) -> PyResult<Vec<u64>> {
    let options = walk_options(length, num_letters)?;
    let units = options.units();
    Ok(units.iter().map(|unit| options.num_strings(unit)).collect())
}

/// The records that the strings of the units from `first` to before `last` improve, unit by unit:
/// the number of merges, the column, its value, the first string that attains it.
#[pyfunction]
#[pyo3(signature = (
    first, last, /, *, length, num_letters, columns, records, is_pruned, num_threads, progress=None
))]
pub(super) fn walk_curvature(
    py: Python<'_>,
    first: usize,
    last: usize,
    length: usize,
    num_letters: usize,
    columns: Columns,
    records: Vec<Vec<Option<Pair>>>,
    is_pruned: bool,
    num_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Improved>>> {
    let max_merges = records.len();
    let is_shaped = |row: &Vec<Option<Pair>>| {
        row.len() == NUM_COLUMNS && row.iter().flatten().all(|pair| pair.1 > 0)
    };
    if !(1..=MAX_WALK_MERGES).contains(&max_merges) || !records.iter().all(is_shaped) {
        return Err(PyValueError::new_err(format!(
            "expected the records of at most {MAX_WALK_MERGES} merges"
        )));
    }
    let options = WalkOptions {
        max_merges,
        columns: columns & ALL,
        is_pruned,
        ..walk_options(length, num_letters)?
    };
    let to_record = |pair: &Option<Pair>| {
        pair.map(|(top, bottom)| Record {
            value: Fraction::new(top, bottom),
            witness: Vec::new(),
        })
    };
    let to_row = |row: &Vec<Option<Pair>>| std::array::from_fn(|i| to_record(&row[i]));
    let records: Records = records.iter().map(to_row).collect();
    let units = options.units();
    let units = units.get(first..last).ok_or_else(|| {
        PyValueError::new_err(format!("no units {first} to {last} of {}", units.len()))
    })?;
    let found = watched(py, progress, |watch| {
        curvature::walk_all(options, units, &records, threads(num_threads), watch)
    })?;
    let to_python = |(merges, column, Record { value, witness }): (usize, Column, Record)| {
        (merges, column as usize, to_pair(value), witness)
    };
    let to_list = |improved: Vec<_>| improved.into_iter().map(to_python).collect();
    Ok(found.into_iter().map(to_list).collect())
}
