//! The settings that decide how texts are cut into words. Counts and tokenizers carry them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The Unicode normal form that texts are converted to before they are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Normalization {
    /// Texts stay as they are.
    #[default]
    None,
    /// NFC: canonical composition.
    Nfc,
    /// NFKC: compatibility composition.
    Nfkc,
}

/// How texts are cut into words. Only counts with equal settings can be added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The name of a pattern or a regular expression; `None` if each document is one word.
    pub pattern: Option<String>,
    /// The normalisation applied before the pattern.
    pub normalization: Normalization,
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            None => write!(f, "no pattern")?,
            Some(pattern) => write!(f, "the pattern {pattern:?}")?,
        }
        match self.normalization {
            Normalization::None => Ok(()),
            Normalization::Nfc => write!(f, " and NFC"),
            Normalization::Nfkc => write!(f, " and NFKC"),
        }
    }
}
