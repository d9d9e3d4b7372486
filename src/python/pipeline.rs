//! The steps of a tokenizer for Python.

use pyo3::prelude::*;

use crate::pipeline::Pipeline;

/// Steps that normalise a text and cut it into words.
#[pyclass(name = "Pipeline", module = "mergewise._core", frozen)]
pub(super) struct PyPipeline(Pipeline);

#[pymethods]
impl PyPipeline {
    /// The steps in a JSON object.
    #[new]
    #[pyo3(signature = (steps, /))]
    fn new(steps: &str) -> PyResult<Self> {
        Ok(Self(Pipeline::from_json(steps)?))
    }

    /// A text after the normalizer.
    #[pyo3(signature = (text, /))]
    fn normalized(&self, py: Python<'_>, text: &str) -> PyResult<String> {
        Ok(py.detach(|| self.0.normalized(text))?)
    }

    /// The words of a text that was normalised, each with its start and end in characters.
    #[pyo3(signature = (text, /))]
    fn words(&self, py: Python<'_>, text: &str) -> PyResult<Vec<(String, (usize, usize))>> {
        let words = py.detach(|| self.0.words(text))?;
        let mut starts = vec![0; text.len() + 1];
        for (index, (at, _)) in text.char_indices().enumerate() {
            starts[at] = index;
        }
        starts[text.len()] = text.chars().count();
        let in_characters = |(start, end): (usize, usize)| (starts[start], starts[end]);
        Ok(words
            .into_iter()
            .map(|(word, place)| (word, in_characters(place)))
            .collect())
    }
}

/// A regular expression of Oniguruma, written for the engine of patterns.
#[pyfunction]
#[pyo3(signature = (regex, /))]
pub(super) fn from_oniguruma(regex: &str) -> PyResult<String> {
    Ok(crate::pipeline::from_oniguruma(regex)?)
}
