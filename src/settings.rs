//! What decides which words a text has; it travels with counts and tokenizers.

use std::fmt;

/// How texts are normalised before they are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalization {
    /// Not at all.
    #[default]
    None,
    /// Unicode's canonical composition.
    Nfc,
    /// Unicode's compatibility composition.
    Nfkc,
}

/// How a text becomes words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// A name or a regular expression; None: a document is one word.
    pub pattern: Option<String>,
    /// What happens to a text first.
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
