//! Arguments of many texts.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::arguments::bytes_of;
use super::arrow_tables::strings_of;
use super::sequence::Sequence;
use crate::encode::Extent;
use crate::reading::Strings;

/// So long a lot takes to be made if there are others behind it: about as long as it takes to start the
/// threads that work on it. A clock is looked at after so many bytes, or so many texts.
const LONG: Duration = Duration::from_micros(250);
const LOOK_BYTES: usize = 1 << 18;
const LOOK_TEXTS: usize = 1 << 8;
/// How many texts tell about how long all of them are, and what is added so that all of them are hardly ever
/// longer: so many times the standard error.
const SAMPLE: usize = 1 << 8;
const ERRORS: usize = 3;

/// An argument of many texts: a sequence of them, or an Arrow array of strings.
pub(super) enum Texts<'py> {
    Sequence(Sequence<'py>),
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
        argument.try_into().map(Self::Sequence)
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
                texts,
                next: 0,
                longest: if for_one_thread { Duration::MAX } else { LONG },
            },
            Self::Arrow(strings) => Lots::Arrow(Some(strings)),
        }
    }

    /// About the extent of all texts, if the bytes of the first are these. Only a few others are looked at: many
    /// threads wait meanwhile.
    pub(super) fn extent(&self, first: &[&[u8]]) -> Extent {
        let known: usize = first.iter().map(|text| text.len()).sum();
        let Self::Sequence(texts) = self else {
            return Extent {
                num_documents: first.len(),
                num_bytes: known,
            };
        };
        let length = |index| Some(texts.get(index).ok()?.len().unwrap_or(0));
        let num_others = texts.len() - first.len();
        let step = num_others.div_ceil(SAMPLE).max(1);
        let sample = (first.len()..texts.len()).step_by(step);
        let sample: Vec<usize> = sample.filter_map(length).collect();
        let of_others = bound_of_sum(&sample).saturating_mul(num_others) / sample.len().max(1);
        // Of a `str` the length is that in characters.
        let seen = &first[..first.len().min(SAMPLE)];
        let bytes: usize = seen.iter().map(|text| text.len()).sum();
        let characters: usize = (0..seen.len()).filter_map(length).sum();
        let bytes_of_1024 = bytes.saturating_mul(1024) / characters.max(1);
        Extent {
            num_documents: texts.len(),
            num_bytes: known
                .saturating_add((of_others / 1024).saturating_mul(bytes_of_1024.max(1024))),
        }
    }
}

/// What the sum of as many others is hardly ever above.
fn bound_of_sum(sample: &[usize]) -> usize {
    let sum: usize = sample.iter().sum();
    let squares = sample.iter().map(|length| length.saturating_mul(*length));
    let squares = squares.fold(0, usize::saturating_add);
    let of_mean = (sum / sample.len().max(1)).saturating_mul(sum);
    sum.saturating_add(ERRORS * squares.saturating_sub(of_mean).isqrt())
}

/// See [`Texts::lots`].
pub(super) enum Lots<'t, 'py> {
    Sequence {
        texts: &'t Sequence<'py>,
        /// The first that is not in a lot.
        next: usize,
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
            Self::Sequence { texts, next, .. } => *next == texts.len(),
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
                next,
                longest,
            } => lot(texts, next, *longest),
            Self::Arrow(strings) => {
                let texts = strings.take()?.iter();
                Ok(texts.map(Option::unwrap_or_default).collect())
            }
        })
    }
}

/// The lot of the next texts.
fn lot<'t>(
    texts: &'t Sequence<'_>,
    next: &mut usize,
    longest: Duration,
) -> PyResult<Vec<&'t [u8]>> {
    let began = Instant::now();
    let mut num_unseen = 0;
    let mut lot = Vec::new();
    while *next < texts.len() {
        let bytes = bytes_of(texts.get(*next)?)?;
        *next += 1;
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
