//! Rows of a column of texts.

use std::path::PathBuf;

use super::Part;
use crate::error::Error;

/// Strings, one after the other.
#[derive(Default)]
pub struct Strings {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Where each string ends, and whether it is there: if not, the row is null.
    pub ends: Vec<(usize, bool)>,
}

impl Strings {
    /// The string of each row; None for a null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, is_valid)| {
            let from = std::mem::replace(&mut start, end);
            is_valid.then(|| &self.bytes[from..end])
        })
    }
}

/// Some rows of a column.
pub struct Rows {
    /// The file and the rows, for messages.
    pub place: PathBuf,
    /// The texts; nulls are no documents.
    pub texts: Strings,
    /// How many bytes of all inputs are before them.
    pub position: u64,
    /// How many bytes were read for them.
    pub num_read: u64,
    /// Whether the column, or the part of it that is read by itself, ends with them.
    pub is_last: bool,
}

impl Rows {
    /// The texts that are there.
    pub(crate) fn documents(&self) -> Vec<&[u8]> {
        self.texts.iter().flatten().collect()
    }

    /// The same error with its place, if it is one of a document.
    pub(crate) fn located(&self, error: Error) -> Error {
        match error {
            Error::InDocument { index, error } => {
                let mut rows = (0..)
                    .zip(self.texts.iter())
                    .filter(|(_, text)| text.is_some());
                let row = rows.nth(index).map_or(index, |(row, _)| row);
                error.in_document(row).in_file(&self.place)
            }
            other => other,
        }
    }
}

impl Part for Rows {
    fn is_last(&self) -> bool {
        self.is_last
    }
}
