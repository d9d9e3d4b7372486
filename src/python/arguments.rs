//! Arguments that several functions take, and what they return.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyString};

use crate::encode::PrefixSpace;
use crate::pattern::meant;
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
            Err(no_text(&argument))
        }
    }
}

/// The bytes of a text that its owner keeps.
pub(super) fn bytes_of<'a>(text: Borrowed<'a, '_, PyAny>) -> PyResult<&'a [u8]> {
    if text.is_instance_of::<PyString>() {
        text.extract().map(str::as_bytes)
    } else if text.is_instance_of::<PyBytes>() {
        Ok(text.extract()?)
    } else {
        Err(no_text(&text))
    }
}

/// That something is no text.
fn no_text(found: &Bound<'_, PyAny>) -> PyErr {
    match found.get_type().name() {
        Ok(kind) => PyTypeError::new_err(format!("expected str or bytes, found {kind}")),
        Err(error) => error,
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
pub(super) const PREFIX_SPACES: &[(&str, PrefixSpace)] = &[
    ("always", PrefixSpace::Always),
    ("once", PrefixSpace::Once),
    ("unless_space", PrefixSpace::UnlessSpace),
];

/// One of a few names, or the default without one.
pub(super) fn choose_or_default<T: Copy + Default>(
    what: &str,
    name: Option<&str>,
    choices: &[(&str, T)],
) -> PyResult<T> {
    name.map_or(Ok(T::default()), |name| choose(what, name, choices))
}

/// The name of a choice, if it has one.
pub(super) fn name_of<T: PartialEq>(
    choices: &[(&'static str, T)],
    chosen: &T,
) -> Option<&'static str> {
    let mut names = choices.iter().filter(|(_, choice)| choice == chosen);
    names.next().map(|(name, _)| *name)
}

pub(super) fn settings(pattern: Option<String>, normalize: Option<&str>) -> PyResult<Settings> {
    Ok(Settings {
        pattern: pattern.map(|pattern| meant(&pattern).to_owned()),
        normalization: choose_or_default("normalize", normalize, NORMALIZATIONS)?,
    })
}

pub(super) fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        given => given,
    }
}

/// A dictionary from strings to numbers.
pub(super) fn dict_of<'py, 's>(
    py: Python<'py>,
    pairs: impl Iterator<Item = (&'s [u8], u32)>,
) -> PyResult<Bound<'py, PyDict>> {
    let pairs = pairs.map(|(string, number)| (PyBytes::new(py, string), number));
    pairs.into_py_dict(py)
}
