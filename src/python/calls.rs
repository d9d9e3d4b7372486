//! The methods of Python's `Tokenizer` that are called for every short text and every answer of a
//! model: handling their arguments in Python would take longer than the work.

// What Python shows as docstrings follows its conventions.
#![allow(clippy::doc_markdown)]

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyString, PyTuple};

use super::choice::PyChoice;
use super::tokenizer::PyTokenizer;

/// What a tokenizer is asked most often.
#[pyclass(subclass, frozen, module = "mergewise._core", name = "Calls")]
pub(super) struct PyCalls(PyOnceLock<Used>);

/// What calls use; a tokenizer is immutable.
struct Used {
    core: Py<PyTokenizer>,
    /// The choice of a call without options.
    usual: Py<PyChoice>,
}

/// An argument that says which special tokens.
enum Specials<'py> {
    Nothing,
    All,
    These(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Specials<'py> {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(match argument.cast::<PyString>() {
            Ok(text) if *text == "all" => Self::All,
            _ => Self::These(argument.to_owned()),
        })
    }
}

impl<'py> IntoPyObject<'py> for Specials<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Ok(match self {
            Self::Nothing => PyTuple::empty(py).into_any(),
            Self::All => PyString::new(py, "all").into_any(),
            Self::These(texts) => texts,
        })
    }
}

/// The arguments that make a choice.
struct Asked<'py> {
    allowed: Specials<'py>,
    disallowed: Specials<'py>,
    add_special_tokens: bool,
}

impl<'py> Asked<'py> {
    const USUAL: Self = Self {
        allowed: Specials::Nothing,
        disallowed: Specials::All,
        add_special_tokens: true,
    };

    fn is_usual(&self) -> bool {
        let is_usual = matches!(self.allowed, Specials::Nothing);
        is_usual && matches!(self.disallowed, Specials::All) && self.add_special_tokens
    }

    /// The choice that the method `_choice` of a tokenizer makes.
    fn choice(self, tokenizer: &Bound<'py, PyCalls>) -> PyResult<Bound<'py, PyChoice>> {
        let options = [("add_special_tokens", self.add_special_tokens)];
        let options = options.into_py_dict(tokenizer.py())?;
        let specials = (self.allowed, self.disallowed);
        let choice = tokenizer.call_method("_choice", specials, Some(&options))?;
        Ok(choice.cast_into()?)
    }
}

impl PyCalls {
    fn used<'a>(slf: &'a Bound<'_, Self>) -> PyResult<&'a Used> {
        let (py, used) = (slf.py(), &slf.get().0);
        if let Some(used) = used.get(py) {
            return Ok(used);
        }
        // Python code may run here, and the process may be forked: nothing is locked meanwhile.
        let found = Used {
            core: slf.getattr("core")?.cast_into()?.unbind(),
            usual: Asked::USUAL.choice(slf)?.unbind(),
        };
        Ok(used.get_or_init(py, || found))
    }

    /// Call `work` with what encodes and with the choice of a call.
    fn with_choice<'py, T>(
        slf: &Bound<'py, Self>,
        asked: Asked<'py>,
        work: impl FnOnce(Python<'py>, &PyTokenizer, &PyChoice) -> PyResult<T>,
    ) -> PyResult<T> {
        let Used { core, usual } = Self::used(slf)?;
        if asked.is_usual() {
            return work(slf.py(), core.get(), usual.get());
        }
        work(slf.py(), core.get(), asked.choice(slf)?.get())
    }
}

#[pymethods]
impl PyCalls {
    /// Takes the arguments of any class that inherits from this one.
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self(PyOnceLock::new())
    }

    /// The ids of a text.
    ///
    /// The text of a special token is an error unless it is allowed, where it becomes that token,
    /// or not disallowed, where it is encoded like any other text: what a user typed should not
    /// pass for a special token by accident.
    ///
    /// Args:
    ///     text: `str` or `bytes`.
    ///     pair: a second text, which follows the first as the tokenizer's file says.
    ///     allowed_special: special tokens to find in the text, or "all".
    ///     disallowed_special: special tokens to refuse, or "all" that are not allowed.
    ///     add_special_tokens: put the special tokens around the text that the tokenizer's file
    ///         asks for. A tokenizer that was trained here asks for none.
    ///     offsets: also return where each token begins and ends in the text: in characters of a
    ///         `str`, in `bytes` else.
    #[pyo3(
        signature = (
            text, *, pair=None, allowed_special=Specials::Nothing,
            disallowed_special=Specials::All, add_special_tokens=true, offsets=false
        ),
        text_signature = "($self, text, *, pair=None, allowed_special=(), \
            disallowed_special='all', add_special_tokens=True, offsets=False)"
    )]
    fn encode<'py>(
        slf: &Bound<'py, Self>,
        text: Bound<'py, PyAny>,
        pair: Option<Bound<'py, PyAny>>,
        allowed_special: Specials<'py>,
        disallowed_special: Specials<'py>,
        add_special_tokens: bool,
        offsets: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(pair) = pair {
            let options = PyDict::new(slf.py());
            options.set_item("allowed_special", allowed_special)?;
            options.set_item("disallowed_special", disallowed_special)?;
            options.set_item("add_special_tokens", add_special_tokens)?;
            options.set_item("offsets", offsets)?;
            return slf.call_method("_encode_pair", (text, pair), Some(&options));
        }
        let asked = Asked {
            allowed: allowed_special,
            disallowed: disallowed_special,
            add_special_tokens,
        };
        Self::with_choice(slf, asked, |py, core, choice| {
            let text = text.extract()?;
            if offsets {
                let placed = core.encode_with_offsets(py, text, choice)?;
                return placed.into_bound_py_any(py);
            }
            Ok(core.encode(py, text, choice)?.into_any())
        })
    }

    /// How many ids a text has, without making them; see `encode`.
    #[pyo3(
        signature = (
            text, *, allowed_special=Specials::Nothing, disallowed_special=Specials::All,
            add_special_tokens=true
        ),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special='all', \
            add_special_tokens=True)"
    )]
    fn count_tokens<'py>(
        slf: &Bound<'py, Self>,
        text: Bound<'py, PyAny>,
        allowed_special: Specials<'py>,
        disallowed_special: Specials<'py>,
        add_special_tokens: bool,
    ) -> PyResult<usize> {
        let asked = Asked {
            allowed: allowed_special,
            disallowed: disallowed_special,
            add_special_tokens,
        };
        Self::with_choice(slf, asked, |py, core, choice| {
            core.count(py, text.extract()?, choice)
        })
    }

    /// The text that ids stand for, as the library of the tokenizer's file decodes them.
    ///
    /// Args:
    ///     ids: the ids.
    ///     skip_special_tokens: leave out special tokens.
    ///     errors: for bytes that are not UTF-8; "replace" is what the library does.
    #[pyo3(signature = (ids, *, skip_special_tokens=false, errors="replace"))]
    fn decode<'py>(
        slf: &Bound<'py, Self>,
        ids: Bound<'py, PyAny>,
        skip_special_tokens: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, core) = (slf.py(), Self::used(slf)?.core.get());
        if errors == "replace" {
            let text = core.decode_text(py, ids.extract()?, skip_special_tokens)?;
            return text.into_bound_py_any(py);
        }
        let bytes = PyBytes::new(py, &core.decode(py, ids.extract()?, skip_special_tokens)?);
        bytes.call_method1("decode", ("utf-8", errors))
    }
}
