//! Spaces as visible marks, SentencePiece's way of keeping them.

use serde::Deserialize;

use super::aligned::Pieces;
use super::behavior::{Behavior, characters_where};
use crate::error::Result;

/// Spaces become marks, one may be put first, and each begins a word.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Spelling")]
pub(crate) struct Metaspace {
    replacement: char,
    prepend_scheme: PrependScheme,
    /// Whether words are cut before each mark.
    split: bool,
}

/// Which pieces get a mark, if they do not begin with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PrependScheme {
    Always,
    Never,
    /// The one at the start of the caller's text.
    First,
}

/// How tokenizer.json writes it, with a field of older files.
#[derive(Deserialize)]
struct Spelling {
    replacement: char,
    prepend_scheme: Option<PrependScheme>,
    add_prefix_space: Option<bool>,
    split: Option<bool>,
}

impl TryFrom<Spelling> for Metaspace {
    type Error = &'static str;

    fn try_from(spelling: Spelling) -> std::result::Result<Self, Self::Error> {
        let prepend_scheme = match (spelling.prepend_scheme, spelling.add_prefix_space) {
            (None, Some(false)) => PrependScheme::Never,
            (Some(PrependScheme::Always | PrependScheme::First), Some(false)) => {
                return Err("add_prefix_space is false, but prepend_scheme is not never");
            }
            (scheme, _) => scheme.unwrap_or(PrependScheme::Always),
        };
        Ok(Self {
            replacement: spelling.replacement,
            prepend_scheme,
            split: spelling.split.unwrap_or(true),
        })
    }
}

impl Metaspace {
    /// Whether it asks where in the caller's text it is.
    pub(super) fn needs_places(&self) -> bool {
        self.prepend_scheme == PrependScheme::First
    }

    pub(super) fn apply(&self, pieces: &mut Pieces) -> Result<()> {
        let mark = self.replacement;
        pieces.rewrite(|rewriter, begin| {
            let is_marked = rewriter.rest().starts_with([' ', mark]);
            let prepends = match self.prepend_scheme {
                PrependScheme::Always => true,
                PrependScheme::Never => false,
                PrependScheme::First => begin == Some(0),
            };
            if prepends && !is_marked {
                rewriter.prepend(mark.encode_utf8(&mut [0; 4]));
            }
            for character in rewriter.rest().chars() {
                rewriter.replace(if character == ' ' { mark } else { character });
            }
        });
        if !self.split {
            return Ok(());
        }
        pieces.cut(|text, words| {
            let marks = characters_where(text, |character| character == mark);
            *words = Behavior::MergedWithNext.words(text.len(), &marks, false);
            Ok(())
        })
    }
}
