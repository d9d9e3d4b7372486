//! Decoding for Python: ids as they come, and the steps of decoders alone.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::ids::Ids;
use super::tokenizer::PyTokenizer;
use super::waiting::run;
use crate::decode::{Chain, Stream};
use crate::merges::Id;

/// Turns ids into text as they come, in whole characters.
///
/// What comes out is, together, what `Tokenizer.decode` makes of all ids. Text that the next ids may
/// still change is kept back: with most tokenizers only a character that is not complete.
#[pyclass(module = "mergewise._core", name = "StreamDecoder")]
pub(super) struct PyStreamDecoder {
    tokenizer: Py<PyTokenizer>,
    stream: Stream,
    /// Python's decoder of UTF-8, unless what is not UTF-8 becomes U+FFFD.
    characters: Option<Py<PyAny>>,
}

#[pymethods]
impl PyStreamDecoder {
    #[new]
    #[pyo3(signature = (tokenizer, /, *, skip_special_tokens, errors))]
    fn new(
        py: Python<'_>,
        tokenizer: Py<PyTokenizer>,
        skip_special_tokens: bool,
        errors: &str,
    ) -> PyResult<Self> {
        let replaces = errors == "replace";
        let decoder = tokenizer.get().0.decoder();
        let stream = decoder.stream(replaces, skip_special_tokens);
        let characters = if replaces {
            None
        } else {
            let class = py.import("codecs")?;
            let class = class.call_method1("getincrementaldecoder", ("utf-8",))?;
            Some(class.call1((errors,))?.unbind())
        };
        Ok(Self {
            tokenizer,
            stream,
            characters,
        })
    }

    /// The text that these ids complete.
    #[pyo3(signature = (*ids))]
    fn add<'py>(&mut self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyString>> {
        self.advance(py, &ids.0, false)
    }

    /// The rest of the text.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.advance(py, &[], true)
    }

    fn __repr__(&self) -> String {
        let size = self.tokenizer.get().0.vocab_size();
        format!("<StreamDecoder: of a tokenizer with {size} tokens>")
    }
}

impl PyStreamDecoder {
    fn advance<'py>(
        &mut self,
        py: Python<'py>,
        ids: &[Id],
        is_end: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let (decoder, stream) = (self.tokenizer.get().0.decoder(), &mut self.stream);
        let Some(characters) = &self.characters else {
            let text = run(py, ids.len(), |watch| {
                decoder.add_text(stream, ids, is_end, watch)
            });
            return Ok(PyString::new(py, &text?));
        };
        let bytes = run(py, ids.len(), |watch| {
            decoder.add(stream, ids, is_end, watch)
        })?;
        let text = characters.bind(py);
        let text = text.call_method1("decode", (PyBytes::new(py, &bytes), is_end))?;
        Ok(text.cast_into()?)
    }
}

/// The text that a decoder makes of tokens; its steps are a JSON list.
#[pyfunction]
#[pyo3(signature = (steps, tokens, /))]
pub(super) fn decode_tokens(steps: &str, tokens: Vec<String>) -> PyResult<String> {
    Ok(Chain::from_json(steps)?.text(tokens)?)
}
