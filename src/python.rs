//! The Python module `mergewise._core`: conversions and error types, nothing else.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use crate::error::Error;
use crate::merges::{Alphabet, Id, MergeList};

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let name = match error {
            Error::InvalidMerge { .. } => "InvalidMergesError",
            Error::UnknownCharacter { .. } | Error::UnknownId { .. } => "UnknownTokenError",
            Error::TooManyTokens | Error::InvalidUtf8 { .. } => {
                return PyValueError::new_err(error.to_string());
            }
        };
        Python::attach(|py| {
            let class = py
                .import("mergewise.errors")
                .and_then(|module| module.getattr(name));
            match class.and_then(|class| class.call1((error.to_string(),))) {
                Ok(exception) => PyErr::from_value(exception),
                Err(failure) => failure,
            }
        })
    }
}

/// A text argument: `str`, taken as UTF-8, or `bytes`, taken as they are.
enum TextArgument {
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl<'py> FromPyObject<'_, 'py> for TextArgument {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if argument.is_instance_of::<PyString>() {
            Ok(Self::Text(argument.extract()?))
        } else if argument.is_instance_of::<PyBytes>() {
            Ok(Self::Bytes(argument.extract()?))
        } else {
            let found = argument.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "expected str or bytes, found {found}"
            )))
        }
    }
}

impl TextArgument {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// A valid list of merges over an alphabet.
#[pyclass(frozen, module = "mergewise._core", name = "MergeList")]
struct PyMergeList(MergeList);

#[pymethods]
impl PyMergeList {
    #[new]
    #[pyo3(signature = (pairs, *, alphabet=None))]
    fn new(pairs: Vec<(Id, Id)>, alphabet: Option<&str>) -> PyResult<Self> {
        let alphabet = alphabet.map_or(Alphabet::Bytes, |a| Alphabet::of_chars(a.chars()));
        Ok(Self(MergeList::from_pairs(alphabet, pairs)?))
    }

    #[getter]
    fn pairs(&self) -> Vec<(Id, Id)> {
        self.0.pairs().to_vec()
    }

    fn __len__(&self) -> usize {
        self.0.pairs().len()
    }

    #[getter]
    fn num_tokens(&self) -> usize {
        self.0.num_tokens()
    }

    #[pyo3(signature = (token_id, /))]
    fn token_bytes<'py>(&self, py: Python<'py>, token_id: Id) -> PyResult<Bound<'py, PyBytes>> {
        if token_id as usize >= self.0.num_tokens() {
            return Err(Error::UnknownId {
                id: token_id,
                num_tokens: self.0.num_tokens(),
            }
            .into());
        }
        Ok(PyBytes::new(py, self.0.token(token_id)))
    }

    #[pyo3(signature = (string, /))]
    fn token_id(&self, string: &[u8]) -> Option<Id> {
        self.0.id(string)
    }

    #[pyo3(signature = (text, /))]
    fn apply(&self, py: Python<'_>, text: TextArgument) -> PyResult<Vec<Id>> {
        let text = text.as_bytes();
        Ok(py.detach(|| Ok::<_, Error>(self.0.apply(self.0.alphabet().symbols(text)?)))?)
    }

    #[pyo3(signature = (text, /))]
    fn utility(&self, py: Python<'_>, text: TextArgument) -> PyResult<usize> {
        let text = text.as_bytes();
        Ok(py.detach(|| self.0.utility(text))?)
    }
}

/// The core of mergewise.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::PyMergeList;
}
