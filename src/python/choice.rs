//! What a call asks for, from Python.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::encode::{Call, Choice, Frame, Padding, Side};
use crate::merges::Id;

/// Python's `Frame`: what is around the ids of each text.
#[derive(FromPyObject)]
pub(super) struct PyFrame {
    before: Vec<Id>,
    after: Vec<Id>,
    max_length: Option<usize>,
    cuts_left: bool,
    padding: Option<PyPadding>,
    trims_spaces: Option<bool>,
}

/// Python's `Padding`.
#[derive(FromPyObject)]
struct PyPadding {
    id: Id,
    length: Option<usize>,
    multiple_of: usize,
    is_left: bool,
}

fn side(is_left: bool) -> Side {
    if is_left { Side::Left } else { Side::Right }
}

impl From<PyFrame> for Frame {
    fn from(frame: PyFrame) -> Self {
        let padding = frame.padding.map(|padding| Padding {
            id: padding.id,
            length: padding.length,
            multiple_of: padding.multiple_of,
            side: side(padding.is_left),
        });
        Self {
            before: frame.before,
            after: frame.after,
            limit: frame.max_length.map(|most| (most, side(frame.cuts_left))),
            padding,
        }
    }
}

/// Which special tokens a call finds in texts, which it refuses, and what is around the ids.
#[pyclass(frozen, module = "mergewise._core", name = "Choice")]
pub(super) struct PyChoice(pub(super) Arc<Call>);

/// The choice of these special tokens and this frame.
pub(super) fn choice_of(allowed: Vec<bool>, refused: Vec<bool>, frame: Option<PyFrame>) -> Choice {
    let trims_spaces = frame.as_ref().and_then(|frame| frame.trims_spaces);
    Choice {
        allowed,
        refused,
        frame: frame.map(Frame::from).unwrap_or_default(),
        trims_spaces,
    }
}
