//! Ids as arguments, and in lists.

use std::sync::OnceLock;

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::error::Error;
use crate::merges::Id;

/// Ids in a list, an array, or anything else that can be iterated over.
pub(super) struct Ids(pub(super) Vec<Id>);

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Lists and tuples are read without an iterator, which is most of the time otherwise.
        if let Ok(list) = argument.cast_exact::<PyList>() {
            return Self::collect(list.iter().map(Ok));
        }
        if let Ok(tuple) = argument.cast_exact::<PyTuple>() {
            return Self::collect(tuple.iter().map(Ok));
        }
        match argument.getattr_opt("tolist")? {
            Some(to_list) => Self::collect(to_list.call0()?.try_iter()?),
            None => Self::collect(argument.try_iter()?),
        }
    }
}

impl Ids {
    fn collect<'py>(ids: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<Self> {
        let mut collected = Vec::with_capacity(ids.size_hint().0);
        for id in ids {
            let id = id?;
            collected.push(id.extract().map_err(|error| unknown(id.py(), error))?);
        }
        Ok(Self(collected))
    }
}

/// A number that cannot be an id is that of no token.
fn unknown(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyOverflowError>(py) {
        return error;
    }
    let unknown = PyErr::from(Error::NotAnId);
    unknown.set_cause(py, Some(error));
    unknown
}

/// Python's integers for the ids of a tokenizer. Each is made once, when it is first needed, so that
/// lists of ids take no memory but their own, and little time.
#[derive(Default)]
pub(super) struct Integers(OnceLock<Box<[OnceLock<Py<PyInt>>]>>);

impl Integers {
    /// A list of ids. The integers of those below `num_kept` are kept.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        ids: &[Id],
        num_kept: impl FnOnce() -> usize,
    ) -> PyResult<Bound<'py, PyList>> {
        // Python code does not run while these are made, so that no thread waits for another.
        let kept = self
            .0
            .get_or_init(|| (0..num_kept()).map(|_| OnceLock::new()).collect());
        let new = |id| PyInt::new(py, id);
        PyList::new(
            py,
            ids.iter().map(|&id| match kept.get(id as usize) {
                Some(place) => place.get_or_init(|| new(id).unbind()).bind(py).clone(),
                None => new(id),
            }),
        )
    }
}
