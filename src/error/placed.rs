//! Errors with the places where they were found.

use std::path::Path;

use super::Error;

impl Error {
    /// The same error of a text that begins at `start` of another, whose first `hidden` bytes were
    /// put before it and are not part of what the caller knows.
    pub(crate) fn moved(mut self, start: usize, hidden: usize) -> Self {
        if let Self::UnknownCharacter { offset, .. }
        | Self::InvalidUtf8 { offset }
        | Self::PatternFailed { offset, .. }
        | Self::DisallowedSpecial { offset, .. } = &mut self
        {
            *offset = (start + *offset).saturating_sub(hidden);
        }
        self
    }

    /// The same error as one of a document among several, unless it is of no text at all.
    pub(crate) fn in_document(self, index: usize) -> Self {
        match self {
            Self::Interrupted | Self::WorkerPanicked => self,
            error => Self::InDocument {
                index,
                error: Box::new(error),
            },
        }
    }

    /// The same error, with another index of the document if it names one.
    pub(crate) fn renumbered(mut self, index_of: impl FnOnce(usize) -> usize) -> Self {
        if let Self::InDocument { index, .. } = &mut self {
            *index = index_of(*index);
        }
        self
    }

    /// The same error as one of a line.
    pub(crate) fn in_line(self, index: u64) -> Self {
        Self::InLine {
            index,
            error: Box::new(self),
        }
    }

    /// The same error as one of a document that cannot be left out.
    pub(crate) fn in_begun(self) -> Self {
        Self::InBegun {
            error: Box::new(self),
        }
    }

    /// The same error as one of a file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::InFile {
            path: path.to_owned(),
            error: Box::new(self),
        }
    }
}
