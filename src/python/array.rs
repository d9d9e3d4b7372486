//! `Array` for Python: numbers that numpy takes over without a copy.

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Numbers that numpy takes over where they lie.
#[pyclass(frozen, module = "mergewise._core", name = "Array")]
pub(super) struct PyArray(pub(super) Numbers);

pub(super) enum Numbers {
    U32(Vec<u32>),
    I64(Vec<i64>),
}

#[pymethods]
impl PyArray {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, address, length) = match &self.0 {
            Numbers::U32(numbers) => ("u4", numbers.as_ptr() as usize, numbers.len()),
            Numbers::I64(numbers) => ("i8", numbers.as_ptr() as usize, numbers.len()),
        };
        let order = if cfg!(target_endian = "big") {
            ">"
        } else {
            "<"
        };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("shape", (length,))?;
        // Nothing else refers to the numbers, so numpy may write them.
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
}
