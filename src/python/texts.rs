//! Arguments of many texts.

use std::iter::Skip;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::iter::BorrowedTupleIterator;
use pyo3::types::{PyBytes, PySequence, PyString, PyTuple};

use super::arguments::bytes_of;
use super::arrow_tables::strings_of;
use crate::encode::Extent;
use crate::prefetch::prefetch_at;
use crate::reading::Strings;

/// How many texts before its turn a text begins to be loaded.
const AHEAD: usize = 8;
/// Before these bytes is what tells the kind, the length and the place of a text.
const HEADER: usize = 40;
/// So long a lot takes to be made if there are others behind it: about as long as it takes to start the
/// threads that work on it. A clock is looked at after so many bytes, or so many texts.
const LONG: Duration = Duration::from_micros(250);
const LOOK_BYTES: usize = 1 << 18;
const LOOK_TEXTS: usize = 1 << 8;

/// An argument of many texts: a sequence of them, or an Arrow array of strings.
pub(super) enum Texts<'py> {
    /// Nobody else changes it.
    Sequence(Bound<'py, PyTuple>),
    Arrow(Strings),
}

impl<'py> FromPyObject<'_, 'py> for Texts<'py> {
    type Error = PyErr;

    fn extract(argument: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if argument.hasattr("__arrow_c_array__")? {
            return strings_of(&argument).map(Self::Arrow);
        }
        if argument.is_instance_of::<PyString>() || argument.is_instance_of::<PyBytes>() {
            let found = argument.get_type().name()?;
            let message = format!("expected a sequence of texts, found {found}");
            return Err(PyTypeError::new_err(message));
        }
        argument
            .cast::<PySequence>()?
            .to_tuple()
            .map(Self::Sequence)
    }
}

impl<'py> Texts<'py> {
    /// The bytes of each text, in lots. A null is an empty text, so that the others keep their indices.
    ///
    /// Python makes the UTF-8 of a `str` that is not ASCII when it is first asked for, as fast as some
    /// eight threads encode it. So if several threads wait for it a lot is over when it took long.
    pub(super) fn lots(&self, for_one_thread: bool) -> Lots<'_, 'py> {
        match self {
            Self::Sequence(texts) => Lots::Sequence {
                texts: texts.iter_borrowed(),
                ahead: texts.iter_borrowed().skip(AHEAD),
                longest: if for_one_thread { Duration::MAX } else { LONG },
            },
            Self::Arrow(strings) => Lots::Arrow(Some(strings)),
        }
    }

    /// The extent of all texts, if the bytes of the first are these.
    pub(super) fn extent(&self, first: &[&[u8]]) -> Extent {
        let known: usize = first.iter().map(|text| text.len()).sum();
        let Self::Sequence(texts) = self else {
            return Extent {
                num_documents: first.len(),
                num_bytes: known,
            };
        };
        let mut ahead = texts.iter_borrowed().skip(AHEAD);
        let mut lengths = texts.iter_borrowed().map(|text| {
            prefetch_at(ahead.next().unwrap_or(text).as_ptr());
            text.len().unwrap_or(0)
        });
        let of_first: usize = lengths.by_ref().take(first.len()).sum();
        let of_others: usize = lengths.sum();
        let bytes_of_1024 = known / (of_first / 1024).max(1);
        Extent {
            num_documents: texts.len(),
            num_bytes: known + of_others / 1024 * bytes_of_1024,
        }
    }
}

/// See [`Texts::lots`].
pub(super) enum Lots<'t, 'py> {
    Sequence {
        texts: BorrowedTupleIterator<'t, 'py>,
        /// Texts that begin to be loaded.
        ahead: Skip<BorrowedTupleIterator<'t, 'py>>,
        /// How long it takes to make a lot.
        longest: Duration,
    },
    /// None if they were handed over.
    Arrow(Option<&'t Strings>),
}

impl Lots<'_, '_> {
    /// Whether there are no more.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Sequence { texts, .. } => texts.len() == 0,
            Self::Arrow(strings) => strings.is_none(),
        }
    }
}

impl<'t> Iterator for Lots<'t, '_> {
    type Item = PyResult<Vec<&'t [u8]>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over() {
            return None;
        }
        Some(match self {
            Self::Sequence {
                texts,
                ahead,
                longest,
            } => lot(texts, ahead, *longest),
            Self::Arrow(strings) => {
                let texts = strings.take()?.iter();
                Ok(texts.map(Option::unwrap_or_default).collect())
            }
        })
    }
}

/// The next lot.
fn lot<'t, 'py>(
    texts: impl Iterator<Item = Borrowed<'t, 'py, PyAny>>,
    ahead: &mut impl Iterator<Item = Borrowed<'t, 'py, PyAny>>,
    longest: Duration,
) -> PyResult<Vec<&'t [u8]>> {
    let began = Instant::now();
    let mut num_unseen = 0;
    let mut lot = Vec::new();
    for text in texts {
        // Most of the time is spent waiting for the objects, which are far apart.
        if let Some(later) = ahead.next() {
            prefetch_at(later.as_ptr());
            prefetch_at(later.as_ptr().wrapping_byte_add(HEADER));
        }
        let bytes = bytes_of(text)?;
        lot.push(bytes);
        num_unseen += bytes.len().max(LOOK_BYTES / LOOK_TEXTS);
        if num_unseen >= LOOK_BYTES {
            if began.elapsed() > longest {
                break;
            }
            num_unseen = 0;
        }
    }
    Ok(lot)
}
