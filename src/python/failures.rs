//! The core's errors as Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let name = match &error {
            Error::InvalidMerge { .. } | Error::UnknownPart { .. } => "InvalidMergesError",
            Error::UnknownCharacter { .. } | Error::UnknownId { .. } => "UnknownTokenError",
            Error::InDocument { error: inner, .. }
                if matches!(**inner, Error::UnknownCharacter { .. }) =>
            {
                "UnknownTokenError"
            }
            Error::Malformed { .. } | Error::InvalidCount { .. } => "FormatError",
            Error::Io { path, code, .. } => {
                let code = code.unwrap_or_default();
                let message = std::io::Error::from_raw_os_error(code).to_string();
                let message = message
                    .split(" (os error")
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                return PyOSError::new_err((code, message, path.clone().into_os_string()));
            }
            Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
            Error::WorkerPanicked => return PyRuntimeError::new_err(error.to_string()),
            _ => return PyValueError::new_err(error.to_string()),
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
