//! The core's errors as Python exceptions, with the same data as attributes.

use std::path::Path;

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Error, ErrorKind, Hint};

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let class = match error.kind() {
            ErrorKind::Merges => "InvalidMergesError",
            ErrorKind::UnknownToken => "UnknownTokenError",
            ErrorKind::Format => "FormatError",
            ErrorKind::Io => return os_error(&error),
            ErrorKind::Interrupted => return PyKeyboardInterrupt::new_err(()),
            ErrorKind::Internal => return PyRuntimeError::new_err(error.to_string()),
            ErrorKind::Input => "InputError",
        };
        Python::attach(|py| exception(py, class, &error).unwrap_or_else(|failure| failure))
    }
}

/// An exception of the package that holds what is known of an error.
fn exception(py: Python<'_>, class: &str, error: &Error) -> PyResult<PyErr> {
    let data = PyDict::new(py);
    // As it was given: a `Path` of Python takes the slashes of a URL together.
    let path = error.path().map(Path::as_os_str);
    data.set_item("path", path)?;
    let place = error.line().map(|index| format!("line {}", index + 1));
    data.set_item("place", place)?;
    data.set_item("document", error.document())?;
    data.set_item("offset", error.offset())?;
    data.set_item("hint", error.hint().map(Hint::name))?;
    if let Error::DisallowedSpecial { token, .. } = error.cause() {
        data.set_item("token", token)?;
    }
    let class = py.import("mergewise.errors")?.getattr(class)?;
    let exception = class.call((error.message(),), Some(&data))?;
    Ok(PyErr::from_value(exception))
}

/// Python's own exception for a failure of the operating system.
fn os_error(error: &Error) -> PyErr {
    let code = match error.cause() {
        Error::Io { code, .. } => code.unwrap_or_default(),
        _ => 0,
    };
    let message = std::io::Error::from_raw_os_error(code).to_string();
    let message = message.split(" (os error").next().unwrap_or_default();
    let path = error.path().map(|path| path.as_os_str().to_owned());
    PyOSError::new_err((code, message.to_owned(), path))
}
