//! Sessions and streams of text for Python.

use std::borrow::Borrow;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::TextArgument;
use super::choice::PyChoice;
use super::tokenizer::PyTokenizer;
use crate::encode::{Call, Unit};
use crate::session::{EncodingStream, Session};
use crate::tokenizer::Tokenizer;

/// A tokenizer that sessions share.
#[derive(Clone)]
struct Shared(Arc<Py<PyTokenizer>>);

impl Borrow<Tokenizer> for Shared {
    fn borrow(&self) -> &Tokenizer {
        &self.0.get().0
    }
}

/// What a call asks for, unless ids are cut off or filled up: that is of whole texts.
fn growing_call(choice: &PyChoice) -> PyResult<Arc<Call>> {
    let frame = &choice.0.frame;
    if frame.limit.is_some() || frame.padding.is_some() {
        return Err(PyValueError::new_err(
            "the tokenizer truncates or pads, which a text that grows cannot; \
             hint: with_truncation(None).with_padding(None)",
        ));
    }
    Ok(choice.0.clone())
}

/// A text that grows, and its ids: always those of `Tokenizer.encode` of the whole text.
///
/// The cost of an `append` follows the appended text and the last, unfinished word, not the text
/// before.
#[pyclass(module = "mergewise._core", name = "Session")]
pub(super) struct PySession {
    session: Session<Shared>,
    tokenizer: Shared,
}

#[pymethods]
impl PySession {
    #[new]
    #[pyo3(signature = (tokenizer, choice, /))]
    fn new(tokenizer: Py<PyTokenizer>, choice: &PyChoice) -> PyResult<Self> {
        let tokenizer = Shared(Arc::new(tokenizer));
        let call = growing_call(choice)?;
        Ok(Self {
            session: Session::with_call(tokenizer.clone(), call),
            tokenizer,
        })
    }

    /// Append a text: how many of the ids before stay, and the ids that follow these.
    ///
    /// A text that `encode` refuses is not appended.
    #[pyo3(signature = (text, /))]
    fn append<'py>(
        &mut self,
        py: Python<'py>,
        text: &str,
    ) -> PyResult<(usize, Bound<'py, PyList>)> {
        let tokenizer = self.tokenizer.0.get();
        let (num_kept, ids) = tokenizer.run(py, text.len(), |_, watch| {
            self.session.append(text.as_bytes(), watch)
        })?;
        Ok((num_kept, tokenizer.list(py, &ids)?))
    }

    /// Cut the text off behind its first `length` characters; nothing happens if it is not longer.
    #[pyo3(signature = (length, /))]
    fn truncate(&mut self, py: Python<'_>, length: usize) -> PyResult<()> {
        let tokenizer = self.tokenizer.0.get();
        tokenizer.run(py, 0, |_, watch| {
            self.session.truncate(length, Unit::Characters, watch)
        })
    }

    /// A session of its own with the same text, which shares all that is settled.
    fn fork(&self) -> Self {
        Self {
            session: self.session.clone(),
            tokenizer: self.tokenizer.clone(),
        }
    }

    /// The ids of the text.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.tokenizer.0.get().list(py, &self.session.ids())
    }

    /// The text.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        PyString::from_bytes(py, &self.session.text())
    }

    /// How many ids the text has.
    fn __len__(&self) -> usize {
        self.session.num_ids()
    }

    fn __repr__(&self) -> String {
        let (num_ids, num_bytes) = (self.session.num_ids(), self.session.num_bytes());
        format!("<Session: {num_ids} ids of {num_bytes} bytes>")
    }
}

/// Turns a text that comes in parts into ids, as soon as nothing that follows changes them.
///
/// What comes out is, together, what `Tokenizer.encode` makes of the whole text.
#[pyclass(module = "mergewise._core", name = "StreamEncoder")]
pub(super) struct PyStreamEncoder {
    stream: EncodingStream<Shared>,
    tokenizer: Shared,
}

#[pymethods]
impl PyStreamEncoder {
    #[new]
    #[pyo3(signature = (tokenizer, choice, /))]
    fn new(tokenizer: Py<PyTokenizer>, choice: &PyChoice) -> PyResult<Self> {
        let tokenizer = Shared(Arc::new(tokenizer));
        let call = growing_call(choice)?;
        Ok(Self {
            stream: EncodingStream::with_call(tokenizer.clone(), call),
            tokenizer,
        })
    }

    /// The ids that are sure when this text, `str` or `bytes`, is added.
    #[pyo3(signature = (text, /))]
    fn add<'py>(&mut self, py: Python<'py>, text: TextArgument) -> PyResult<Bound<'py, PyList>> {
        let (tokenizer, text) = (self.tokenizer.0.get(), text.as_bytes());
        let ids = tokenizer.run(py, text.len(), |_, watch| self.stream.add(text, watch))?;
        tokenizer.list(py, &ids)
    }

    /// The other ids of the text, which ends.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tokenizer = self.tokenizer.0.get();
        let ids = tokenizer.run(py, 0, |_, watch| self.stream.finish(watch))?;
        tokenizer.list(py, &ids)
    }

    fn __repr__(&self) -> String {
        let (num_ids, num_bytes) = (self.stream.num_given(), self.stream.num_waiting());
        format!("<StreamEncoder: {num_ids} ids given out, {num_bytes} bytes waiting>")
    }
}
