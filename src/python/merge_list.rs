//! `MergeList` for Python.

use pyo3::prelude::*;

use super::TextArgument;
use crate::error::Error;
use crate::merges::{Alphabet, Id, MergeList};

/// A valid list of merges over an alphabet.
#[pyclass(frozen, module = "mergewise._core", name = "MergeList")]
pub(super) struct PyMergeList(pub(super) MergeList);

type NewArguments = (Vec<(Id, Id)>,);

#[derive(IntoPyObject)]
struct NewOptions {
    alphabet: Option<String>,
    letter_order: bool,
}

#[pymethods]
impl PyMergeList {
    #[new]
    #[pyo3(signature = (pairs, *, alphabet=None, letter_order=false))]
    fn new(pairs: Vec<(Id, Id)>, alphabet: Option<&str>, letter_order: bool) -> PyResult<Self> {
        let alphabet = match alphabet {
            Some(characters) => Alphabet::of_chars(characters.chars()),
            None if letter_order => Alphabet::letter_bytes(),
            None => Alphabet::Bytes,
        };
        Ok(Self(MergeList::from_pairs(alphabet, pairs)?))
    }

    /// The arguments that make it again, for pickling.
    fn __getnewargs_ex__(&self) -> (NewArguments, NewOptions) {
        let characters = match self.0.alphabet() {
            Alphabet::Chars(characters) => Some(characters.iter().collect()),
            _ => None,
        };
        let options = NewOptions {
            alphabet: characters,
            letter_order: *self.0.alphabet() == Alphabet::letter_bytes(),
        };
        ((self.pairs(),), options)
    }

    #[getter]
    fn pairs(&self) -> Vec<(Id, Id)> {
        self.0.pairs().to_vec()
    }

    #[getter]
    fn alphabet(&self) -> &'static str {
        match self.0.alphabet() {
            Alphabet::Chars(_) => "chars",
            bytes if *bytes == Alphabet::letter_bytes() => "letters",
            _ => "bytes",
        }
    }

    fn __len__(&self) -> usize {
        self.0.pairs().len()
    }

    #[getter]
    fn num_tokens(&self) -> usize {
        self.0.num_tokens()
    }

    /// The strings of all tokens, in the order of their ids.
    #[getter]
    fn tokens(&self) -> Vec<&[u8]> {
        let ids = 0..self.0.num_tokens() as Id;
        ids.map(|id| self.0.token(id)).collect()
    }

    #[pyo3(signature = (token_id, /))]
    fn token_bytes(&self, token_id: Id) -> PyResult<&[u8]> {
        if token_id as usize >= self.0.num_tokens() {
            return Err(Error::UnknownId {
                id: token_id,
                num_tokens: self.0.num_tokens(),
            }
            .into());
        }
        Ok(self.0.token(token_id))
    }

    #[pyo3(signature = (string, /))]
    fn token_id(&self, string: &[u8]) -> Option<Id> {
        self.0.id(string)
    }

    #[pyo3(signature = (text, /))]
    fn apply(&self, py: Python<'_>, text: TextArgument) -> PyResult<Vec<Id>> {
        let text = text.as_bytes();
        Ok(py.detach(|| Ok::<_, Error>(self.0.apply(self.0.alphabet().symbols(text)?)))?)
    }

    #[pyo3(signature = (text, /))]
    fn utility(&self, py: Python<'_>, text: TextArgument) -> PyResult<usize> {
        let text = text.as_bytes();
        Ok(py.detach(|| self.0.utility(text))?)
    }
}
