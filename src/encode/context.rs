//! What is before a text that goes on another.

use super::prepare::{PrefixSpace, Preparation};
use crate::pattern::WordState;

/// What is before a text that goes on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Context {
    /// Nothing, or a special token that is found in texts as they were given.
    #[default]
    Start,
    /// Another special token.
    Special,
    /// Words.
    Words,
    /// A word that is not finished, and how far the pattern is with it, if there is one.
    Word(Option<WordState>),
}

impl Context {
    /// How a stretch of text is prepared behind this.
    pub(super) fn prepare(self, preparation: Preparation) -> Preparation {
        match (self, preparation.prefix_space) {
            (Self::Words | Self::Word(_), _) | (Self::Special, PrefixSpace::Once) => {
                preparation.without_prefix()
            }
            _ => preparation,
        }
    }
}
