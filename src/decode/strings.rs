//! The strings of ids, and how files write them.

use rustc_hash::FxHashMap;

use crate::merges::Id;
use crate::pipeline::letter_of;

/// A string for each id. Nearly all ids are below a limit; the others may be any numbers.
#[derive(Debug, Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// Where the string of each id below the limit lies in `bytes`.
    near: Vec<Place>,
    limit: usize,
    far: FxHashMap<Id, Place>,
    len: usize,
}

type Place = (usize, usize);

/// The length of most strings, or more.
const SHORT: usize = 16;
/// The place of no string, where nothing can lie.
const NOWHERE: Place = (1, 0);

impl Strings {
    /// For about `num_ids` strings.
    pub(super) fn with_capacity(num_ids: usize) -> Self {
        Self {
            near: Vec::with_capacity(num_ids),
            limit: 2 * num_ids + 1024,
            ..Self::default()
        }
    }

    /// Set the string of an id.
    pub(super) fn set(&mut self, id: Id, string: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(string);
        let index = id as usize;
        let place = if index < self.limit {
            self.near.resize(self.near.len().max(index + 1), NOWHERE);
            &mut self.near[index]
        } else {
            self.far.entry(id).or_insert(NOWHERE)
        };
        self.len += usize::from(*place == NOWHERE);
        *place = (start, self.bytes.len());
    }

    #[inline]
    pub(super) fn get(&self, id: Id) -> Option<&[u8]> {
        let near = self.near.get(id as usize);
        let &(start, end) = near.or_else(|| self.far.get(&id))?;
        self.bytes.get(start..end)
    }

    /// Append the string of an id; its length, or `None` if there is none.
    #[inline]
    pub(super) fn append(&self, id: Id, text: &mut Vec<u8>) -> Option<usize> {
        let near = self.near.get(id as usize);
        let &(start, end) = near.or_else(|| self.far.get(&id))?;
        let length = end.checked_sub(start)?;
        let rest = &self.bytes[start..];
        match rest.first_chunk::<SHORT>() {
            // A copy of constant length is one instruction.
            Some(chunk) if length <= SHORT => {
                text.extend_from_slice(chunk);
                text.truncate(text.len() - SHORT + length);
            }
            _ => text.extend_from_slice(&rest[..length]),
        }
        Some(length)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &[u8])> {
        let near = (0..).zip(&self.near);
        let far = self.far.iter().map(|(&id, place)| (id, place));
        near.chain(far)
            .filter_map(|(id, &(start, end))| Some((id, self.bytes.get(start..end)?)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_near_and_far_short_and_long() {
        let mut strings = Strings::with_capacity(3);
        let long = [b'x'; 40];
        let given: [(Id, &[u8]); 6] = [
            (7, b"a"),
            (0, &long),
            (Id::MAX, b"far"),
            (1025, &long[..SHORT]),
            (9, b""),
            (1 << 20, b"at the end"),
        ];
        strings.set(7, b"another before");
        for (id, string) in given {
            strings.set(id, string);
        }
        let mut text = Vec::new();
        for (id, string) in given {
            assert_eq!(strings.get(id), Some(string));
            assert_eq!(strings.append(id, &mut text), Some(string.len()));
            assert!(text.ends_with(string));
        }
        let total: usize = strings.iter().map(|(_, string)| string.len()).sum();
        assert_eq!((strings.len(), total), (given.len(), text.len()));
        for id in [1, 8, 2000, Id::MAX - 1] {
            assert_eq!(
                (strings.get(id), strings.append(id, &mut text)),
                (None, None)
            );
        }
        assert_eq!(text.len(), total);
    }
}
