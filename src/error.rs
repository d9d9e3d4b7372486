//! Errors of the core, as data: what is wrong, where, and what may help.
//!
//! [`Error`] says what was found; [`Error::kind`], [`Error::path`], [`Error::document`],
//! [`Error::offset`] and [`Error::hint`] say the rest, so that a program can word an error in its own
//! terms. `Display` words it in those of this crate.

mod kinds;
mod placed;

use std::path::{Path, PathBuf};

use crate::settings::Settings;

pub use kinds::{ErrorKind, Hint};

/// Why a call failed.
///
/// ```
/// use mergewise::{Alphabet, ErrorKind, MergeList};
///
/// let ab = MergeList::new(Alphabet::of_chars("ab".chars()));
/// let error = ab.utility("bac".as_bytes()).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (ErrorKind::UnknownToken, Some(2)));
/// assert_eq!(error.to_string(), "not in the alphabet: the character 'c' at byte 2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The merge at `index` uses the id `part`, but only `num_tokens` tokens exist before it.
    #[error(
        "merge {index} uses the token {part}, which no earlier merge makes: \
         only {num_tokens} tokens exist before it"
    )]
    InvalidMerge {
        /// Where in the list, from 0.
        index: usize,
        /// The id that no earlier merge makes.
        part: u32,
        /// How many tokens exist before that merge.
        num_tokens: usize,
    },
    /// The merge at `index` uses or makes a string that is no token.
    #[error("merge {index} uses or makes \"{}\", which is not a token", .string.escape_ascii())]
    UnknownPart {
        /// Where in the list, from 0.
        index: usize,
        /// The string.
        string: Vec<u8>,
    },
    /// Merges that mark the ends of words, where others are needed.
    #[error("training cannot continue from merges that mark the ends of words")]
    EndsOfWords,
    /// A special token without text.
    #[error("a special token must not be empty")]
    EmptySpecial,
    /// A token that is given twice.
    #[error("the token \"{}\" is given twice", .string.escape_ascii())]
    RepeatedToken {
        /// Its string.
        string: Vec<u8>,
    },
    /// Two tokens with one id.
    #[error("the id {id} is that of both \"{}\" and \"{}\"", .first.escape_ascii(), .second.escape_ascii())]
    RepeatedId {
        /// The id.
        id: u32,
        /// The string of the first token with it.
        first: Vec<u8>,
        /// The string of the second.
        second: Vec<u8>,
    },
    /// More tokens than ids of 32 bits can name.
    #[error("more than {} tokens", u32::MAX)]
    TooManyTokens,
    /// An id that names no token.
    #[error("no token has the id {id}: there are {num_tokens} tokens")]
    UnknownId {
        /// The id.
        id: u32,
        /// How many tokens there are.
        num_tokens: usize,
    },
    /// A number that cannot be an id.
    #[error("an id is negative, or has more than 32 bits")]
    NotAnId,
    /// A character that the alphabet does not hold, at a byte offset of the text.
    #[error("not in the alphabet: the character {character:?} at byte {offset}")]
    UnknownCharacter {
        /// The character.
        character: char,
        /// Its byte offset.
        offset: usize,
    },
    /// Bytes that are not UTF-8, where characters are needed or other bytes were to be refused.
    #[error("invalid UTF-8 at byte {offset}")]
    InvalidUtf8 {
        /// The offset of the first such byte.
        offset: usize,
    },
    /// A word that is not UTF-8 where characters were meant.
    #[error("the word \"{}\" is not UTF-8, where characters were expected", .word.escape_ascii())]
    NotText {
        /// The word.
        word: Vec<u8>,
    },
    /// A file that could not be read.
    #[error("{}: {kind}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// The kind of the failure.
        kind: std::io::ErrorKind,
        /// The system's number for it.
        code: Option<i32>,
    },
    /// A file of word counts that is not one.
    #[error("found {found}, expected {expected} at byte {offset}")]
    Malformed {
        /// How far it was read.
        offset: u64,
        /// What stood there.
        found: String,
        /// What should have.
        expected: String,
    },
    /// A compressed file that cannot be decompressed.
    #[error("{message} at byte {offset} of the compressed file")]
    DamagedFile {
        /// What the decompressor says.
        message: String,
        /// How far it was decompressed, in bytes of the file.
        offset: u64,
    },
    /// A zstd frame that asks for more memory than it is given.
    #[error(
        "found a zstd frame with a window of more than 128 MB at byte {offset} of the compressed file"
    )]
    WindowTooLarge {
        /// Where the frame begins.
        offset: u64,
    },
    /// A line that is no object of JSON, or has no text in a field.
    #[error("{message}")]
    InvalidRecord {
        /// What was found and expected.
        message: String,
        /// Whether the object does not have the field.
        is_field_missing: bool,
    },
    /// A file of Parquet that is damaged, or has no texts in a column.
    #[error("{message}")]
    InvalidTable {
        /// What was found and expected.
        message: String,
        /// Whether there is no column of the name, or several.
        is_column_missing: bool,
    },
    /// An Arrow array that no exporter should make.
    #[error("an Arrow array with {found}")]
    DamagedArrow {
        /// What is wrong with it.
        found: String,
    },
    /// An Arrow array that does not hold what it should, in the usual layout.
    #[error("an Arrow array of the format {format:?}; expected {expected}")]
    UnknownArrowFormat {
        /// Its format, as Arrow writes it.
        format: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// A row of a table of counts whose count is none.
    #[error(
        "row {row}: found {}, expected 1 or more",
        .found.map_or("no count".into(), |count| format!("the count {count}"))
    )]
    InvalidCount {
        /// Which row, from 0.
        row: u64,
        /// The count; None: null.
        found: Option<i64>,
    },
    /// Columns of a table of counts that do not have a row each.
    #[error("found {words} words and {counts} counts, expected a count for each word")]
    UnequalColumns {
        /// The number of words.
        words: usize,
        /// The number of counts.
        counts: usize,
    },
    /// More different words than a table can number.
    #[error("more than {} different words", u32::MAX)]
    TooManyWords,
    /// A word that no row of a table can hold.
    #[error("a word of 2^31 bytes or more, which no row of a table can hold")]
    WordTooLong,
    /// A pattern that the regular-expression engine does not accept.
    #[error("invalid pattern: {message}")]
    InvalidPattern {
        /// What the engine says.
        message: String,
    },
    /// Steps of a pipeline that are none.
    #[error("invalid steps: {message}")]
    InvalidSteps {
        /// Which step, and what is wrong with it.
        message: String,
    },
    /// A regular expression that takes too long on a text.
    #[error("the pattern \"{pattern}\" takes too long on a text: {message} at byte {offset}")]
    PatternFailed {
        /// The regular expression.
        pattern: String,
        /// Where the next word begins, in bytes.
        offset: usize,
        /// Which limit was reached.
        message: String,
        /// Whether it is one of steps, which are as many on every machine; time is not.
        is_of_steps: bool,
    },
    /// Counts that were cut in different ways.
    #[error("counts of different words: one has {ours}, the other {theirs}")]
    SettingsDiffer {
        /// How the one was cut.
        ours: Box<Settings>,
        /// How the other was.
        theirs: Box<Settings>,
    },
    /// Counts that do not fit into 64 bits.
    #[error("the counted words are too many for sums of 64 bits")]
    CountsTooLarge,
    /// A document with more ids than the index of Megatron can say.
    #[error(
        "a document with more than {} ids, which Megatron's index cannot say",
        i32::MAX
    )]
    DocumentTooLong,
    /// More symbols than positions of 32 bits can name.
    #[error("more than {} symbols", u32::MAX)]
    CorpusTooLarge,
    /// Offsets were asked for, of a text that is changed before it is encoded.
    #[error(
        "this tokenizer changes the text before it encodes it (normalisation, U+2581), and the text is \
         not UTF-8: its tokens have no offsets in the original"
    )]
    NoOffsets,
    /// An error in one document of several.
    #[error("document {index}: {error}")]
    InDocument {
        /// Which document, from 0.
        index: usize,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// An error in one line of a file.
    #[error("line {}: {error}", .index + 1)]
    InLine {
        /// Which line, from 0.
        index: u64,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// An error in a file that was read.
    #[error("{}: {error}", .path.display())]
    InFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// An error in a document that is read in parts, where documents that cannot be encoded are left out: of
    /// this one the beginning may be written.
    #[error("{error}")]
    InBegun {
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// A special token in a text where it is not allowed.
    #[error("the text holds the special token {token:?} at byte {offset}")]
    DisallowedSpecial {
        /// Its text.
        token: String,
        /// Where it begins, in bytes.
        offset: usize,
    },
    /// A proof of a bound that proves nothing.
    #[error("{message}")]
    InvalidProof {
        /// Why not.
        message: String,
    },
    /// A stop was asked for.
    #[error("interrupted")]
    Interrupted,
    /// A bug: a worker thread ended without a result.
    #[error("a worker thread failed; please report this bug")]
    WorkerPanicked,
}

/// The result of a call of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What is wrong, without the document, the line and the file in which it was found.
    pub fn cause(&self) -> &Self {
        match self {
            Self::InDocument { error, .. }
            | Self::InLine { error, .. }
            | Self::InFile { error, .. }
            | Self::InBegun { error } => error.cause(),
            cause => cause,
        }
    }

    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        match self.cause() {
            Self::InvalidMerge { .. } | Self::UnknownPart { .. } => ErrorKind::Merges,
            Self::UnknownCharacter { .. } | Self::UnknownId { .. } | Self::NotAnId => {
                ErrorKind::UnknownToken
            }
            Self::Malformed { .. }
            | Self::DamagedFile { .. }
            | Self::WindowTooLarge { .. }
            | Self::InvalidRecord { .. }
            | Self::InvalidTable { .. }
            | Self::InvalidCount { .. }
            | Self::UnequalColumns { .. } => ErrorKind::Format,
            Self::Io { .. } => ErrorKind::Io,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::WorkerPanicked => ErrorKind::Internal,
            _ => ErrorKind::Input,
        }
    }

    /// The file in which it was found, if one was read.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::InFile { path, .. } | Self::Io { path, .. } => Some(path),
            Self::InDocument { error, .. } | Self::InBegun { error } => error.path(),
            _ => None,
        }
    }

    /// The document in which it was found, from 0, if there were several.
    pub fn document(&self) -> Option<usize> {
        match self {
            Self::InDocument { index, .. } => Some(*index),
            Self::InFile { error, .. } | Self::InBegun { error } => error.document(),
            _ => None,
        }
    }

    /// The line of the file in which it was found, from 0, if documents are lines.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::InLine { index, .. } => Some(*index),
            Self::InFile { error, .. } | Self::InBegun { error } => error.line(),
            _ => None,
        }
    }

    /// Where in the text or file it was found, in bytes.
    pub fn offset(&self) -> Option<u64> {
        match self.cause() {
            Self::UnknownCharacter { offset, .. }
            | Self::InvalidUtf8 { offset }
            | Self::PatternFailed { offset, .. }
            | Self::DisallowedSpecial { offset, .. } => Some(*offset as u64),
            Self::Malformed { offset, .. } => Some(*offset),
            _ => None,
        }
    }

    /// What may help.
    pub fn hint(&self) -> Option<Hint> {
        if matches!(self, Self::InBegun { .. }) {
            return Some(Hint::TooLongToSkip);
        }
        match self.cause() {
            Self::DisallowedSpecial { .. } => Some(Hint::AllowSpecial),
            Self::NotText { .. } => Some(Hint::CheckUtf8),
            Self::WordTooLong => Some(Hint::UsePattern),
            Self::TooManyWords => Some(Hint::PruneSums),
            Self::CorpusTooLarge => Some(Hint::UsePatternOrPrune),
            Self::NoOffsets => Some(Hint::NormalizeFirst),
            Self::InvalidRecord {
                is_field_missing: is_missing,
                ..
            }
            | Self::InvalidTable {
                is_column_missing: is_missing,
                ..
            } => is_missing.then_some(Hint::GiveField),
            Self::DamagedFile { .. } => Some(Hint::FileDamaged),
            Self::WindowTooLarge { .. } => Some(Hint::UseSmallerWindow),
            _ => None,
        }
    }

    /// What is wrong, without its place: what `Display` puts between the document and the offset.
    pub fn message(&self) -> String {
        if let Self::Io { kind, .. } = self.cause() {
            return kind.to_string();
        }
        let words = self.cause().to_string();
        let place = self.offset().map(|offset| format!(" at byte {offset}"));
        let message = words.strip_suffix(&place.unwrap_or_default());
        message.unwrap_or(&words).to_owned()
    }
}
