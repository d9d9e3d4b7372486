//! A list or a tuple that is read from its first item on, by the thread that holds Python's lock.

use std::cell::OnceCell;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySequence, PyTuple};

use crate::prefetch::prefetch_at;

/// So many items of a list are not held before the first is read.
const MANY: usize = 1 << 12;
/// How many items before its turn an item begins to be loaded.
const AHEAD: usize = 32;
/// Before these bytes is what tells the kind, the length and the place of a text.
const HEADER: usize = 40;

/// Objects that stay, and stay the same, as long as this.
pub(super) struct Sequence<'py> {
    items: Items<'py>,
    len: usize,
}

enum Items<'py> {
    /// Nobody changes it.
    Tuple(Bound<'py, PyTuple>),
    List(Listed<'py>),
}

/// A list, which others may change once Python runs: an item is held from when it is read. If all of them were
/// held first, many threads would wait for that a good part of the time that they take for short texts.
struct Listed<'py> {
    list: Bound<'py, PyList>,
    held: Vec<OnceCell<Bound<'py, PyAny>>>,
}

impl<'py> TryFrom<Borrowed<'_, 'py, PyAny>> for Sequence<'py> {
    type Error = PyErr;

    fn try_from(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(list) = argument.cast_exact::<PyList>()
            && list.len() >= MANY
        {
            let held: Vec<_> = (0..list.len()).map(|_| OnceCell::new()).collect();
            return Ok(Self {
                len: held.len(),
                items: Items::List(Listed {
                    list: list.to_owned(),
                    held,
                }),
            });
        }
        let tuple = argument.cast::<PySequence>()?.to_tuple()?;
        Ok(Self {
            len: tuple.len(),
            items: Items::Tuple(tuple),
        })
    }
}

impl<'py> Sequence<'py> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// An item that is there. Those behind it begin to be loaded: most of the time is spent waiting for the
    /// objects, which are far apart.
    pub(super) fn get(&self, index: usize) -> PyResult<Borrowed<'_, 'py, PyAny>> {
        let later = self.address(index + AHEAD);
        prefetch_at(later);
        prefetch_at(later.wrapping_byte_add(HEADER));
        match &self.items {
            Items::Tuple(tuple) => tuple.get_borrowed_item(index),
            Items::List(list) => list.get(index),
        }
    }

    /// Where an item is, or null; it is not touched.
    #[allow(
        unsafe_code,
        reason = "pyo3 has no way to an item that does not touch it"
    )]
    fn address(&self, index: usize) -> *const ffi::PyObject {
        match &self.items {
            Items::Tuple(tuple) if index < self.len => {
                // SAFETY: a tuple, which has such an item.
                unsafe { ffi::PyTuple_GetItem(tuple.as_ptr(), index.cast_signed()) }
            }
            Items::List(Listed { list, .. }) if index < list.len() => {
                // SAFETY: a list, which has such an item now.
                unsafe { ffi::PyList_GetItem(list.as_ptr(), index.cast_signed()) }
            }
            _ => std::ptr::null(),
        }
    }
}

impl<'py> Listed<'py> {
    fn get(&self, index: usize) -> PyResult<Borrowed<'_, 'py, PyAny>> {
        let held = &self.held[index];
        if held.get().is_none() {
            let item = self.list.get_item(index);
            let item = item.map_err(|_| {
                PyRuntimeError::new_err("the list of texts became shorter while it was read")
            })?;
            held.get_or_init(|| item);
        }
        Ok(held.get().expect("it is held").as_borrowed())
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        for index in 0..self.held.len() {
            let later = self.held.get(index + AHEAD).and_then(OnceCell::get);
            prefetch_at(later.map_or(std::ptr::null(), |item| item.as_ptr().cast_const()));
            self.held[index].take();
        }
    }
}
