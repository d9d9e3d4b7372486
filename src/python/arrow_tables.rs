//! Arrow arrays from Python, and word counts as rows of a table.

#![allow(unsafe_code)]

use std::num::NonZeroU64;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{PyWordCounts, settings};
use crate::arrow;
use crate::counts::{WordCounts, part_of};
use crate::error::{Error, Result};
use crate::pattern::Pattern;
use crate::reading::Strings;

/// What `read` copies from the array that its owner offers through Arrow's C data interface.
fn import<T: Send>(
    owner: &Bound<'_, PyAny>,
    read: unsafe fn(*const arrow::Schema, *const arrow::Array) -> Result<T>,
) -> PyResult<T> {
    // Arrays of pyarrow know how long their buffers are, and what stands for what.
    if let Ok(validate) = owner.getattr("validate") {
        let found = |error: PyErr| error.value(owner.py()).to_string();
        let checked = validate.call0().map_err(found);
        checked.map_err(|found| Error::DamagedArrow { found })?;
    }
    let decoded = owner.getattr("dictionary_decode");
    let decoded = decoded.and_then(|decode| decode.call0());
    let exported = decoded.as_ref().unwrap_or(owner);
    let exported = exported.call_method0("__arrow_c_array__")?;
    let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = exported.extract()?;
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    let exported = Exported(schema.cast().as_ptr(), array.cast().as_ptr());
    // Other threads of Python go on while the rows are copied.
    // SAFETY: capsules of these names hold what an exporter filled, and they live on here.
    Ok(owner.py().detach(|| unsafe { exported.read(read) })?)
}

/// What the capsules of an exporter hold.
struct Exported(*const arrow::Schema, *const arrow::Array);

// SAFETY: the interface binds its structures to no thread, and here they are only read.
unsafe impl Send for Exported {}

impl Exported {
    /// # Safety
    /// The capsules must live on until this returns.
    unsafe fn read<T>(
        self,
        read: unsafe fn(*const arrow::Schema, *const arrow::Array) -> Result<T>,
    ) -> Result<T> {
        // SAFETY: guaranteed by the caller.
        unsafe { read(self.0, self.1) }
    }
}

/// The strings of an array.
pub(super) fn strings_of(array: &Bound<'_, PyAny>) -> PyResult<Strings> {
    import(array, arrow::strings)
}

/// The sums of the rows `(words, counts)`, each a pair of Arrow arrays. A null among the words stands
/// for bytes that pruning left out.
#[pyfunction]
#[pyo3(signature = (batches, /, *, pattern, normalize))]
pub(super) fn counts_of_arrow(
    py: Python<'_>,
    batches: &Bound<'_, PyAny>,
    pattern: Option<String>,
    normalize: Option<&str>,
) -> PyResult<PyWordCounts> {
    Pattern::new(pattern.as_deref())?;
    let mut counts = WordCounts::new(settings(pattern, normalize)?);
    let mut first = 0;
    for batch in batches.try_iter()? {
        let (words, numbers): (Bound<'_, PyAny>, Bound<'_, PyAny>) = batch?.extract()?;
        let words = strings_of(&words)?;
        let numbers = import(&numbers, arrow::numbers)?;
        if words.ends.len() != numbers.len() {
            let (words, counts) = (words.ends.len(), numbers.len());
            return Err(Error::UnequalColumns { words, counts }.into());
        }
        py.detach(|| counts.add_rows(first, words.iter().zip(numbers)))?;
        first += words.ends.len() as u64;
        py.check_signals()?;
    }
    Ok(PyWordCounts(counts))
}

/// The rows of a part: their words' bytes, one after the other, where each begins and the last ends
/// (32-bit integers), and their counts (64-bit integers).
type Rows = (Vec<u8>, Vec<u8>, Vec<u8>);

/// Words from number `first` on, as many as have at most `num_bytes` bytes, but one at least, in
/// `num_parts` parts. A word is in the same part wherever it was counted.
#[pyfunction]
#[pyo3(signature = (counts, first, num_bytes, num_parts, /))]
pub(super) fn rows_of_counts(
    py: Python<'_>,
    counts: &PyWordCounts,
    first: usize,
    num_bytes: usize,
    num_parts: NonZeroU64,
) -> PyResult<Vec<Rows>> {
    let parts = py.detach(|| {
        let no_rows = (vec![], 0_i32.to_ne_bytes().to_vec(), vec![]);
        let mut parts = vec![no_rows; num_parts.get() as usize];
        let mut size = 0;
        for (word, count) in counts.0.iter_from(first) {
            if size > 0 && size + word.len() > num_bytes {
                break;
            }
            size += word.len();
            let (words, ends, numbers) = &mut parts[part_of(word, num_parts)];
            words.extend_from_slice(word);
            let end = i32::try_from(words.len()).map_err(|_| Error::WordTooLong)?;
            let count = i64::try_from(count).map_err(|_| Error::CountsTooLarge)?;
            ends.extend_from_slice(&end.to_ne_bytes());
            numbers.extend_from_slice(&count.to_ne_bytes());
        }
        Result::Ok(parts)
    })?;
    Ok(parts)
}
