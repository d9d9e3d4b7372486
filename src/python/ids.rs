//! Ids as arguments.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

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
