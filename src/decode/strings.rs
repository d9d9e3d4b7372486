//! The strings of ids, and how files write them.

use rustc_hash::FxHashMap;

use crate::merges::Id;
use crate::pipeline::letter_of;

/// A string for each id.
#[derive(Debug, Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// Where the string of each id lies in `bytes`.
    places: FxHashMap<Id, (usize, usize)>,
}

impl Strings {
    pub(super) fn with_capacity(num_ids: usize) -> Self {
        let mut strings = Self::default();
        strings.places.reserve(num_ids);
        strings
    }

    /// Set the string of an id.
    pub(super) fn set(&mut self, id: Id, string: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(string);
        self.places.insert(id, (start, self.bytes.len()));
    }

    #[inline]
    pub(super) fn get(&self, id: Id) -> Option<&[u8]> {
        let &(start, end) = self.places.get(&id)?;
        Some(&self.bytes[start..end])
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &[u8])> {
        let places = self.places.iter();
        places.map(|(&id, &(start, end))| (id, &self.bytes[start..end]))
    }
}

/// How files write the string of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Spelling {
    /// As it is.
    #[default]
    Plain,
    /// With U+2581 instead of spaces.
    Marked,
    /// With a letter for each byte.
    Letters,
}

impl Spelling {
    pub(super) fn write(self, string: &[u8]) -> String {
        match self {
            Self::Plain => String::from_utf8_lossy(string).into_owned(),
            Self::Marked => String::from_utf8_lossy(string).replace(' ', "\u{2581}"),
            Self::Letters => string.iter().map(|&byte| letter_of(byte)).collect(),
        }
    }
}
