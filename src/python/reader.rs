//! Python objects with a `read` method as inputs of the core.

use std::io::Read;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::watch::Watch;

/// Reads from a Python object, whose `read` returns None when nothing is there yet; what it raises
/// is kept aside.
pub(super) struct PyReader<'a> {
    pub(super) object: &'a Py<PyAny>,
    pub(super) raised: &'a Mutex<Option<PyErr>>,
    pub(super) watch: &'a Watch,
}

impl Read for PyReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = Python::attach(|py| -> PyResult<usize> {
            let mut bytes = py.None().into_bound(py);
            while bytes.is_none() && !self.watch.is_stopped() {
                bytes = self.object.bind(py).call_method1("read", (buffer.len(),))?;
            }
            let bytes: &[u8] = bytes.extract::<Option<_>>()?.unwrap_or_default();
            if bytes.len() > buffer.len() {
                return Err(PyValueError::new_err(
                    "read() returned more than was asked for",
                ));
            }
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        });
        read.map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            std::io::Error::other("the object could not be read")
        })
    }
}
