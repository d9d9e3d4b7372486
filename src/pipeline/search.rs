//! What steps look for in a text: a string, or a regular expression.

use std::ops::Range;

use memchr::memmem;
use serde::Deserialize;

use super::oniguruma;
use crate::error::{Error, Result};
use crate::pattern::Expression;
use crate::watch::Watch;

/// What a step looks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Spelling")]
pub(crate) enum Search {
    /// A string. The empty one is between all characters.
    Text(String),
    /// A regular expression.
    Regex(Expression),
}

/// How tokenizer.json writes it.
#[derive(Deserialize)]
enum Spelling {
    String(String),
    Regex(String),
}

impl TryFrom<Spelling> for Search {
    type Error = Error;

    fn try_from(spelling: Spelling) -> Result<Self> {
        match spelling {
            Spelling::String(text) if text.is_empty() => Ok(Self::Regex(Expression::of_regex("")?)),
            Spelling::String(text) => Ok(Self::Text(text)),
            Spelling::Regex(regex) => {
                let translated = oniguruma::translated(&regex)?;
                Ok(Self::Regex(Expression::of_regex(&translated)?))
            }
        }
    }
}

impl Search {
    /// All matches in a text, in order; some may be empty.
    pub(crate) fn matches(&self, text: &str, watch: &Watch) -> Result<Vec<Range<usize>>> {
        let mut matches = Vec::new();
        match self {
            Self::Text(string) => {
                let places = memmem::find_iter(text.as_bytes(), string);
                matches.extend(places.map(|at| at..at + string.len()));
            }
            // As there, an empty text has no matches.
            Self::Regex(_) if text.is_empty() => {}
            Self::Regex(regex) => {
                regex.for_each_range(text, watch, |found| matches.push(found))?;
            }
        }
        Ok(matches)
    }
}
