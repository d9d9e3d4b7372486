//! Steps that cut a text into words.

use serde::Deserialize;

use super::aligned::Pieces;
use super::letters::letter_of;
use crate::error::Result;
use crate::watch::Watch;

/// A step of the pre-tokenizer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Cut {
    /// Each byte becomes its letter.
    ByteLevel {},
}

impl Cut {
    /// Whether it asks where in the caller's text it is.
    pub(super) fn needs_places(&self) -> bool {
        match self {
            Self::ByteLevel {} => false,
        }
    }

    pub(super) fn apply(&self, pieces: &mut Pieces, watch: &Watch) -> Result<()> {
        watch.check()?;
        match self {
            Self::ByteLevel {} => pieces.rewrite(|rewriter, _| {
                for character in rewriter.rest().chars() {
                    let mut bytes = [0; 4];
                    for (index, byte) in character.encode_utf8(&mut bytes).bytes().enumerate() {
                        if index == 0 {
                            rewriter.replace(letter_of(byte));
                        } else {
                            rewriter.insert(letter_of(byte));
                        }
                    }
                }
            }),
        }
        Ok(())
    }
}
