//! Python objects with a `read` method as inputs of the core.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Error;
use crate::reading::ReadAt;

/// What the objects that are read raised first.
pub(super) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Stands for what Python raised, which is kept aside.
pub(super) fn raised_error() -> Error {
    Error::Io {
        path: PathBuf::new(),
        kind: io::ErrorKind::Other,
        code: None,
    }
}

/// Reads from a Python object, whose `read` returns None when nothing is there yet; what it raises
/// is kept aside.
pub(super) struct PyReader {
    pub(super) object: Py<PyAny>,
    pub(super) raised: Raised,
}

impl Read for PyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = Python::attach(|py| -> PyResult<Option<usize>> {
            let bytes = self.object.bind(py).call_method1("read", (buffer.len(),))?;
            let Some(bytes) = bytes.extract::<Option<&[u8]>>()? else {
                return Ok(None);
            };
            if bytes.len() > buffer.len() {
                return Err(PyValueError::new_err(
                    "read() returned more than was asked for",
                ));
            }
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(Some(bytes.len()))
        });
        match read {
            Ok(num_bytes) => num_bytes.ok_or_else(|| io::ErrorKind::WouldBlock.into()),
            Err(error) => Err(kept_aside(&self.raised, error)),
        }
    }
}

/// Reads a file of an object store: a Python object whose `read` takes the first byte and how many.
pub(super) struct PyFar {
    pub(super) object: Py<PyAny>,
    pub(super) raised: Raised,
}

impl ReadAt for PyFar {
    fn num_bytes(&self) -> io::Result<u64> {
        let size = Python::attach(|py| {
            let status = self.object.bind(py).call_method0("stat")?;
            status.getattr("st_size")?.extract()
        });
        size.map_err(|error| kept_aside(&self.raised, error))
    }

    fn read_at(&self, start: u64, num_bytes: usize) -> io::Result<Vec<u8>> {
        let read = Python::attach(|py| -> PyResult<Vec<u8>> {
            let object = self.object.bind(py);
            let read = object.call_method1("read", (start, num_bytes))?;
            let bytes = read.extract::<&[u8]>()?;
            if bytes.len() != num_bytes {
                return Err(PyValueError::new_err(
                    "read() returned another number of bytes than was asked for",
                ));
            }
            Ok(bytes.to_vec())
        });
        read.map_err(|error| kept_aside(&self.raised, error))
    }

    fn is_far(&self) -> bool {
        true
    }
}

/// Keep the first that is raised, and return what stands for it.
fn kept_aside(raised: &Raised, error: PyErr) -> io::Error {
    if let Ok(mut raised) = raised.lock() {
        raised.get_or_insert(error);
    }
    io::Error::other("the object could not be read")
}
