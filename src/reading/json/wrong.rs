//! What is wrong with a line of JSON: at the columns of `serde_json`, and mostly in its words.

use std::io::{self, Read};

use super::line::Line;
use crate::error::Error;

/// Why a line is left.
#[derive(Debug)]
pub(in crate::reading) enum Stop {
    /// It could not be read.
    Unread(io::Error),
    /// Its text could not be kept.
    Unkept(Error),
    /// It is no record with a text.
    Wrong(Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unread(error)
    }
}

impl Stop {
    /// A line that is JSON, but not what was expected.
    pub(super) fn unexpected(found: &str, expected: &str, is_field_missing: bool) -> Self {
        Self::Wrong(Error::InvalidRecord {
            message: format!("{found}, expected {expected}"),
            is_field_missing,
        })
    }

    /// A line that is no JSON.
    pub(super) fn no_json(wrong: Wrong, column: u64) -> Self {
        let found = format!("found no JSON ({} at column {column})", wrong.words());
        Self::unexpected(&found, "an object", false)
    }
}

/// What is wrong where.
#[derive(Clone, Copy)]
pub(super) enum Wrong {
    EndInList,
    EndInObject,
    EndInString,
    EndInValue,
    Colon,
    ListComma,
    ObjectComma,
    Word,
    Value,
    Escape,
    Number,
    CodePoint,
    Control,
    Key,
    LastComma,
    Behind,
    TooDeep,
}

impl Wrong {
    fn words(self) -> &'static str {
        match self {
            Self::EndInList => "EOF while parsing a list",
            Self::EndInObject => "EOF while parsing an object",
            Self::EndInString => "EOF while parsing a string",
            Self::EndInValue => "EOF while parsing a value",
            Self::Colon => "expected `:`",
            Self::ListComma => "expected `,` or `]`",
            Self::ObjectComma => "expected `,` or `}`",
            Self::Word => "expected ident",
            Self::Value => "expected value",
            Self::Escape => "invalid escape",
            Self::Number => "invalid number",
            Self::CodePoint => "invalid unicode code point",
            Self::Control => "control character (\\u0000-\\u001F) found while parsing a string",
            Self::Key => "key must be a string",
            Self::LastComma => "trailing comma",
            Self::Behind => "trailing characters",
            Self::TooDeep => "recursion limit exceeded",
        }
    }
}

impl<R: Read> Line<R> {
    /// Something is wrong with the last byte that was gone over.
    pub(super) fn wrong(&self, wrong: Wrong) -> Stop {
        Stop::no_json(wrong, self.column())
    }

    /// The last byte that was gone over shows that a surrogate is no part of a pair.
    pub(super) fn lone_surrogate(&self) -> Stop {
        let column = self.column();
        let found = format!("found a lone surrogate at column {column}, which no text can hold");
        Stop::unexpected(&found, "a pair", false)
    }

    /// Something is wrong with the next byte, or with the end of the line.
    pub(super) fn wrong_next(&mut self, wrong: Wrong) -> Stop {
        match self.peek() {
            Ok(next) => Stop::no_json(wrong, self.column() + u64::from(next.is_some())),
            Err(error) => error.into(),
        }
    }
}
