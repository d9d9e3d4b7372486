//! Patterns for Python: the table of the named ones, and checks.

use pyo3::prelude::*;

use crate::pattern::{self, NAMED_PATTERNS, OTHER_NAMES, Pattern};

/// The name, the expression and the other spellings of each named pattern.
#[pyfunction]
pub(super) fn named_patterns() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    NAMED_PATTERNS
        .iter()
        .map(|named| (named.name, named.expression, named.spellings.to_vec()))
        .collect()
}

/// Other names of patterns, and what they mean: a named pattern or an expression.
#[pyfunction]
pub(super) fn other_names_of_patterns() -> Vec<(&'static str, &'static str)> {
    OTHER_NAMES.to_vec()
}

/// Raises `ValueError` if this is neither the name of a pattern nor a regular expression.
#[pyfunction]
#[pyo3(signature = (pattern, /))]
pub(super) fn check_pattern(pattern: &str) -> PyResult<()> {
    Pattern::new(Some(pattern))?;
    Ok(())
}

/// The characters of a class, such as `\s`, as inclusive ranges of code points.
#[pyfunction]
#[pyo3(signature = (class, /))]
pub(super) fn class_ranges(class: &str) -> PyResult<Vec<(u32, u32)>> {
    let ranges = pattern::class_ranges(class)?;
    Ok(ranges.iter().map(|&(a, b)| (a.into(), b.into())).collect())
}
