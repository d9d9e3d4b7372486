//! Arguments that several functions take.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyString};

use crate::settings::{Normalization, Settings};

/// A text argument: `str`, taken as UTF-8, or `bytes`, taken as they are.
pub(super) enum TextArgument {
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
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// One of a few names, or an error that lists them.
pub(super) fn choose<T: Copy>(what: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, choice)) = choices.iter().find(|(known, _)| *known == name) {
        return Ok(*choice);
    }
    let known: Vec<_> = choices
        .iter()
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    let known = known.join(" or ");
    Err(PyValueError::new_err(format!(
        "{what} must be {known}, found {name:?}"
    )))
}

pub(super) const NORMALIZATIONS: &[(&str, Normalization)] =
    &[("nfc", Normalization::Nfc), ("nfkc", Normalization::Nfkc)];
pub(super) fn settings(pattern: Option<String>, normalize: Option<&str>) -> PyResult<Settings> {
    let normalization = match normalize {
        None => Normalization::None,
        Some(name) => choose("normalize", name, NORMALIZATIONS)?,
    };
    Ok(Settings {
        pattern,
        normalization,
    })
}

pub(super) fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        given => given,
    }
}
