//! What happens to a text before it is cut into words: normal forms, marks and spaces.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::normalize::normalize;
use crate::pipeline::{Aligned, Normalizer, Place};
use crate::settings::Normalization;
use crate::watch::Watch;

/// The mark of `SentencePiece` for a space, U+2581.
const MARK: char = '\u{2581}';
const MARK_BYTES: &[u8] = "\u{2581}".as_bytes();

/// Where a space is put before a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PrefixSpace {
    /// Nowhere.
    #[default]
    Never,
    /// Before each stretch between special tokens that does not begin with one.
    UnlessSpace,
    /// Before each stretch between special tokens that is not empty.
    Always,
    /// Before each stretch between special tokens that are found where they are allowed; it may hold
    /// such as are found in every text, and is not empty.
    Once,
}

/// What happens to a text before it is cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Preparation {
    /// How it is normalised.
    pub normalization: Normalization,
    /// Where a space is put before it.
    pub prefix_space: PrefixSpace,
    /// Whether U+2581 is read as a space.
    pub mark_is_space: bool,
}

/// A prepared text, and, where it was changed, what each of its bytes stands for.
type Placed<'t> = (Cow<'t, [u8]>, Option<Vec<Place>>);

impl Preparation {
    /// Whether words that were cut out of prepared texts stay as they are.
    pub(crate) fn keeps_words(self) -> bool {
        self.prefix_space == PrefixSpace::Never && !self.mark_is_space
    }

    /// The same without a space before texts.
    pub(crate) fn without_prefix(self) -> Self {
        Self {
            prefix_space: PrefixSpace::Never,
            ..self
        }
    }

    /// A stretch that may hold special tokens, with its space if it has one of its own.
    pub(crate) fn with_prefix(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.prefix_space == PrefixSpace::Once && !text.is_empty() {
            return Cow::Owned([b" ", text].concat());
        }
        Cow::Borrowed(text)
    }

    /// A stretch of text between special tokens, ready to be cut into words.
    pub(crate) fn prepare(self, text: &[u8]) -> Cow<'_, [u8]> {
        let mut prepared = normalize(text, self.normalization);
        if self.mark_is_space && has_mark(&prepared) {
            prepared = Cow::Owned(replace(&prepared, MARK_BYTES, b" "));
        }
        let needs_space = match self.prefix_space {
            PrefixSpace::Never | PrefixSpace::Once => false,
            PrefixSpace::UnlessSpace => !prepared.starts_with(b" "),
            PrefixSpace::Always => true,
        };
        if needs_space && !prepared.is_empty() {
            prepared = Cow::Owned([b" ", &*prepared].concat());
        }
        prepared
    }

    /// A stretch ready to be cut, and, where it is changed, what each of its bytes stands for.
    pub(super) fn prepare_placed<'t>(self, text: &'t [u8], watch: &Watch) -> Result<Placed<'t>> {
        let prepared = self.prepare(text);
        if *prepared == *text {
            return Ok((prepared, None));
        }
        if prepared.strip_prefix(b" ") == Some(text) {
            let characters = text.utf8_chunks().next().map(|chunk| chunk.valid().chars());
            let first = characters.and_then(|mut characters| characters.next());
            let first = (0, first.map_or(1, char::len_utf8));
            let places = (0..text.len()).map(|at| (at, at + 1));
            return Ok((
                prepared,
                Some(std::iter::once(first).chain(places).collect()),
            ));
        }
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(Error::NoOffsets);
        };
        let mut aligned = Aligned::new(text, 0, true);
        if let Some(step) = Normalizer::of(self.normalization) {
            step.apply(&mut aligned, watch)?;
        }
        if self.mark_is_space {
            aligned.rewrite(|rewriter| {
                for character in rewriter.rest().chars() {
                    rewriter.replace(if character == MARK { ' ' } else { character });
                }
            });
        }
        if prepared.len() > aligned.text().len() {
            aligned.rewrite(|rewriter| {
                rewriter.prepend(" ");
                rewriter.keep(rewriter.rest().len());
            });
        }
        Ok((prepared, aligned.into_parts().1))
    }

    /// How many bytes are put before a stretch of text, or before the whole.
    pub(super) fn hidden_bytes(self, text: &[u8]) -> usize {
        usize::from(match self.prefix_space {
            PrefixSpace::Never => false,
            PrefixSpace::UnlessSpace => !text.starts_with(b" "),
            PrefixSpace::Always | PrefixSpace::Once => true,
        })
    }

    /// Whether decoding takes away a first space, which is not the text's own.
    pub(crate) fn hides_first_space(self) -> bool {
        match self.prefix_space {
            PrefixSpace::Never => false,
            PrefixSpace::UnlessSpace => self.mark_is_space,
            PrefixSpace::Always | PrefixSpace::Once => true,
        }
    }

    /// The beginning of a text in which a place to cut is one whatever follows the text; `None` if
    /// preparation may change a text across any place.
    pub(super) fn unchanged(self, text: &[u8]) -> Option<&[u8]> {
        if self.normalization != Normalization::None || self.prefix_space != PrefixSpace::Never {
            return None;
        }
        // What looks like a place to cut may be the inside of a mark that becomes a space.
        match self.mark_is_space {
            true if has_mark(text) => None,
            true => [&MARK_BYTES[..2], &MARK_BYTES[..1]]
                .into_iter()
                .find_map(|half| text.strip_suffix(half))
                .or(Some(text)),
            false => Some(text),
        }
    }
}

fn has_mark(text: &[u8]) -> bool {
    // Its first byte begins few other characters.
    memchr_iter(MARK_BYTES[0], text).any(|at| text[at..].starts_with(MARK_BYTES))
}

fn replace(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut start = 0;
    for at in memmem::find_iter(text, what) {
        replaced.extend_from_slice(&text[start..at]);
        replaced.extend_from_slice(by);
        start = at + what.len();
    }
    replaced.extend_from_slice(&text[start..]);
    replaced
}
