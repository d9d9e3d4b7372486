//! Everything that can go wrong in the core, as one enum.

use std::fmt;
use std::path::PathBuf;

use crate::settings::Settings;

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
    /// The merge at `index` uses or makes a string that is no token.
    UnknownPart {
        /// Where in the list, from 0.
        index: usize,
        /// The string.
        string: Vec<u8>,
    },
    /// A token that is given twice.
    RepeatedToken {
        /// Its string.
        string: Vec<u8>,
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
    /// A word that is not UTF-8 where characters were meant.
    NotText {
        /// The word.
        word: Vec<u8>,
    },
    /// Bytes that are not UTF-8 in a document, where they were refused.
    InvalidDocument {
        /// Which document, from 0.
        index: usize,
        /// The offset of the first such byte.
        offset: usize,
    },
    /// Bytes that are not UTF-8 in a file, where they were refused.
    InvalidFile {
        /// Which file.
        path: PathBuf,
        /// The offset of the first such byte.
        offset: u64,
    },
    /// A file that could not be read.
    Io {
        /// Which file.
        path: PathBuf,
        /// The kind of the failure.
        kind: std::io::ErrorKind,
        /// The system's number for it.
        code: Option<i32>,
    },
    /// A file of word counts that is not one.
    Malformed {
        /// How far it was read.
        offset: u64,
        /// What stood there.
        found: String,
        /// What should have.
        expected: String,
    },
    /// An Arrow array that does not hold what it should, in the usual layout.
    UnknownArrowFormat {
        /// Its format, as Arrow writes it.
        format: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// A row of a table of counts whose count is none.
    InvalidCount {
        /// Which row, from 0.
        row: u64,
        /// The count; None: null.
        found: Option<i64>,
    },
    /// More different words than a table can number.
    TooManyWords,
    /// A word that no row of a table can hold.
    WordTooLong,
    /// A pattern that the regular-expression engine does not accept.
    InvalidPattern {
        /// What the engine says.
        message: String,
    },
    /// The regular-expression engine gave up on a text, for example at its backtracking limit.
    PatternFailed {
        /// What the engine says.
        message: String,
    },
    /// Counts that were cut in different ways.
    SettingsDiffer {
        /// How the one was cut.
        ours: Box<Settings>,
        /// How the other was.
        theirs: Box<Settings>,
    },
    /// Counts that do not fit into 64 bits.
    CountsTooLarge,
    /// More symbols than positions of 32 bits can name.
    CorpusTooLarge,
    /// Offsets were asked for, of a text that is changed before it is encoded.
    NoOffsets,
    /// The same error, in one document of several.
    InDocument {
        /// Which document, from 0.
        index: usize,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// A special token in a text where it is not allowed.
    DisallowedSpecial {
        /// Its text.
        token: String,
        /// Where it begins, in bytes.
        offset: usize,
    },
    /// A proof of a bound that proves nothing.
    InvalidProof {
        /// Why not.
        message: String,
    },
    /// A stop was asked for.
    Interrupted,
    /// A bug: a worker thread ended without a result.
    WorkerPanicked,
}

/// The result of a call of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The same error, if it names a place of a text that begins at `start` of another, of which
    /// the first `hidden` bytes are not shown to anyone.
    #[must_use]
    pub fn moved(self, start: usize, hidden: usize) -> Self {
        let moved = |offset: usize| (start + offset).saturating_sub(hidden);
        match self {
            Self::UnknownCharacter { character, offset } => Self::UnknownCharacter {
                character,
                offset: moved(offset),
            },
            Self::InvalidUtf8 { offset } => Self::InvalidUtf8 {
                offset: moved(offset),
            },
            other => other,
        }
    }

    /// The same error, if it speaks of a text, with the document's place among others.
    #[must_use]
    pub fn of_document(self, index: usize) -> Self {
        match self {
            Self::Interrupted | Self::WorkerPanicked => self,
            error => Self::InDocument {
                index,
                error: Box::new(error),
            },
        }
    }
}

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
            Self::UnknownPart { index, string } => write!(
                f,
                "merge {index} uses or makes \"{}\", which is not a token",
                string.escape_ascii()
            ),
            Self::RepeatedToken { string } => {
                write!(f, "the token \"{}\" is given twice", string.escape_ascii())
            }
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
            Self::NotText { word } => write!(
                f,
                "the word \"{}\" is not UTF-8, where characters were expected; hint: count with \
                 errors=\"strict\" to find it, or with errors=\"replace\"",
                word.escape_ascii()
            ),
            Self::InvalidDocument { index, offset } => {
                write!(f, "document {index}: invalid UTF-8 at byte {offset}")
            }
            Self::InvalidFile { path, offset } => {
                write!(f, "{}: invalid UTF-8 at byte {offset}", path.display())
            }
            Self::Io { path, kind, .. } => write!(f, "{}: {kind}", path.display()),
            Self::Malformed {
                offset,
                found,
                expected,
            } => write!(f, "at byte {offset}: found {found}, expected {expected}"),
            Self::UnknownArrowFormat { format, expected } => {
                write!(
                    f,
                    "an Arrow array of the format {format:?}; expected {expected}"
                )
            }
            Self::InvalidCount { row, found } => match found {
                None => write!(f, "row {row}: found no count, expected 1 or more"),
                Some(found) => write!(f, "row {row}: found the count {found}, expected 1 or more"),
            },
            Self::WordTooLong => write!(
                f,
                "a word of 2^31 bytes or more, which no row of a table can hold; hint: count with a \
                 pattern"
            ),
            Self::TooManyWords => write!(
                f,
                "more than {} different words; hint: prune them where they are summed (min_count)",
                u32::MAX - 1
            ),
            Self::InvalidPattern { message } => write!(f, "invalid pattern: {message}"),
            Self::PatternFailed { message } => {
                write!(f, "the pattern failed on a text: {message}")
            }
            Self::SettingsDiffer { ours, theirs } => write!(
                f,
                "counts of different words: one has {ours}, the other {theirs}"
            ),
            Self::CountsTooLarge => write!(f, "the counted words have 2^64 bytes or more in all"),
            Self::CorpusTooLarge => write!(
                f,
                "more than {} symbols; hint: count words with a pattern, or prune",
                u32::MAX
            ),
            Self::NoOffsets => write!(
                f,
                "this tokenizer changes the text before it encodes it (normalisation, U+2581): its \
                 tokens have no offsets in the original; hint: normalise the text first"
            ),
            Self::InDocument { index, error } => write!(f, "document {index}: {error}"),
            Self::DisallowedSpecial { token, offset } => write!(
                f,
                "the text holds the special token {token:?} at byte {offset}; hint: pass \
                 allowed_special={{{token:?}}} to encode it as that token, or \
                 disallowed_special=() to encode its characters like any other text"
            ),
            Self::InvalidProof { message } => write!(f, "{message}"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::WorkerPanicked => write!(f, "a worker thread failed; please report this bug"),
        }
    }
}

impl std::error::Error for Error {}
