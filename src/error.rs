//! Everything that can go wrong in the core, as one enum.

use std::fmt;

/// Why a call of the core failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The merge at `index` uses the id `part`, but only `num_tokens` tokens exist before it.
    InvalidMerge {
        /// Where in the list, from 0.
        index: usize,
        /// The id that no earlier merge makes.
        part: u32,
        /// How many tokens exist before that merge.
        num_tokens: usize,
    },
    /// More tokens than ids of 32 bits can name.
    TooManyTokens,
    /// An id that names no token.
    UnknownId {
        /// The id.
        id: u32,
        /// How many tokens there are.
        num_tokens: usize,
    },
    /// A character that the alphabet does not hold, at a byte offset of the text.
    UnknownCharacter {
        /// The character.
        character: char,
        /// Its byte offset.
        offset: usize,
    },
    /// Bytes that are not UTF-8 where characters were meant.
    InvalidUtf8 {
        /// The offset of the first such byte.
        offset: usize,
    },
}

/// The result of a call of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidMerge {
                index,
                part,
                num_tokens,
            } => write!(
                f,
                "merge {index} uses the token {part}, which no earlier merge makes: \
                 only {num_tokens} tokens exist before it"
            ),
            Self::TooManyTokens => write!(f, "more than {} tokens", u32::MAX),
            Self::UnknownId { id, num_tokens } => {
                write!(f, "no token has the id {id}: there are {num_tokens} tokens")
            }
            Self::UnknownCharacter { character, offset } => write!(
                f,
                "the character {character:?} at byte {offset} is not in the alphabet"
            ),
            Self::InvalidUtf8 { offset } => {
                write!(
                    f,
                    "invalid UTF-8 at byte {offset}, where characters were expected"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
