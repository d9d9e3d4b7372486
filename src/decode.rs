//! Ids to bytes.

use rustc_hash::FxHashMap;

use crate::encode::{Preparation, Special, Unknown};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::vocabulary::Vocabulary;
use crate::watch::Watch;

/// The string of each id, and how strings become a text.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    /// Where the string of each id lies in `bytes`.
    places: FxHashMap<Id, (usize, usize)>,
    /// One more than the largest id.
    pub(crate) num_rows: usize,
    end_of_word: Box<[u8]>,
    hides_first_space: bool,
}

impl Decoder {
    /// Of two strings with one id, a special token's is decoded, else a byte's, else a token's.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        unknown: &Unknown,
        specials: &[Special],
        preparation: Preparation,
    ) -> Self {
        let mut decoder = Self {
            end_of_word: vocabulary.end_of_word().into(),
            hides_first_space: preparation.hides_first_space(),
            ..Self::default()
        };
        decoder.places.reserve(vocabulary.len());
        if let Unknown::Token { id, .. } = unknown {
            let replacement = char::REPLACEMENT_CHARACTER.to_string();
            decoder.add(*id, replacement.as_bytes());
        }
        for number in vocabulary.numbers() {
            if let Some(id) = vocabulary.id(number) {
                decoder.add(id, vocabulary.string(number));
            }
        }
        if let Unknown::Bytes(ids) = unknown {
            for (byte, &id) in (0..=u8::MAX).zip(ids.iter()) {
                decoder.add(id, &[byte]);
            }
        }
        for special in specials {
            decoder.add(special.id, special.text.as_bytes());
        }
        decoder
    }

    fn add(&mut self, id: Id, string: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(string);
        self.places.insert(id, (start, self.bytes.len()));
        self.num_rows = self.num_rows.max(id as usize + 1);
    }

    pub(crate) fn num_ids(&self) -> usize {
        self.places.len()
    }

    /// The string of a token, with the mark for the end of a word if it has one.
    pub(crate) fn string(&self, id: Id) -> Result<&[u8]> {
        let place = self.places.get(&id).ok_or(Error::UnknownId {
            id,
            num_tokens: self.places.len(),
        });
        place.map(|&(start, end)| &self.bytes[start..end])
    }

    /// What ids in the midst of a text stand for: a word that ends is followed by a space.
    pub(crate) fn join(&self, ids: &[Id], watch: &Watch) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for (index, &id) in ids.iter().enumerate() {
            if index % (1 << 16) == 0 {
                watch.check()?;
            }
            let string = self.string(id)?;
            match string.strip_suffix(&*self.end_of_word) {
                Some(word) if !self.end_of_word.is_empty() => {
                    bytes.extend_from_slice(word);
                    bytes.push(b' ');
                }
                _ => bytes.extend_from_slice(string),
            }
        }
        Ok(bytes)
    }

    /// What the ids of a whole text stand for: without the space that was put before it, and without
    /// the one behind its last word.
    pub(crate) fn decode(&self, ids: &[Id], watch: &Watch) -> Result<Vec<u8>> {
        let mut bytes = self.join(ids, watch)?;
        if !self.end_of_word.is_empty() && bytes.last() == Some(&b' ') {
            bytes.pop();
        }
        if self.hides_first_space && bytes.first() == Some(&b' ') {
            bytes.remove(0);
        }
        Ok(bytes)
    }
}
