//! Decoding for Python: ids as they come, and the steps of decoders alone.

use pyo3::prelude::*;

use super::tokenizer::PyTokenizer;
use crate::decode::{Chain, Stream};
use crate::merges::Id;

/// Decodes the ids of one text as they come.
#[pyclass(module = "mergewise._core", name = "Stream")]
pub(super) struct PyStream {
    tokenizer: Py<PyTokenizer>,
    stream: Stream,
}

#[pymethods]
impl PyStream {
    #[new]
    #[pyo3(signature = (tokenizer, /, *, as_text, skip_special_tokens))]
    fn new(tokenizer: Py<PyTokenizer>, as_text: bool, skip_special_tokens: bool) -> Self {
        let decoder = tokenizer.get().0.decoder();
        let stream = decoder.stream(as_text, skip_special_tokens);
        Self { tokenizer, stream }
    }

    /// The bytes that some more ids complete; `is_end`: the last ones.
    #[pyo3(signature = (ids, /, *, is_end=false))]
    fn add(&mut self, py: Python<'_>, ids: Vec<Id>, is_end: bool) -> PyResult<Vec<u8>> {
        let (decoder, stream) = (self.tokenizer.get().0.decoder(), &mut self.stream);
        PyTokenizer::run(py, PyTokenizer::is_quickly_decoded(&ids), |watch| {
            decoder.add(stream, &ids, is_end, watch)
        })
    }
}

/// The text that a decoder makes of tokens; its steps are a JSON list.
#[pyfunction]
#[pyo3(signature = (steps, tokens, /))]
pub(super) fn decode_tokens(steps: &str, tokens: Vec<String>) -> PyResult<String> {
    Ok(Chain::from_json(steps)?.text(tokens)?)
}
