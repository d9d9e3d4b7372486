//! Steps that change a text before it is cut.

use serde::Deserialize;
use unicode_normalization_alignments::char::is_combining_mark;

use super::aligned::{Aligned, Rewriter};
use super::bert::Bert;
use super::precompiled::Precompiled;
use super::rewriting::{map, normalize, write_in_lower_case, write_letters};
use super::search::Search;
use crate::error::Result;
use crate::normalize::Form;
use crate::settings::Normalization;
use crate::watch::Watch;

/// A step of the normalizer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Normalizer {
    /// Characters composed.
    #[serde(rename = "NFC")]
    Nfc,
    /// Characters decomposed.
    #[serde(rename = "NFD")]
    Nfd,
    /// Characters replaced by compatible ones and composed.
    #[serde(rename = "NFKC")]
    Nfkc,
    /// Characters replaced by compatible ones and decomposed.
    #[serde(rename = "NFKD")]
    Nfkd,
    /// Every character in lower case.
    Lowercase,
    /// Without white space at the start, the end, or both.
    Strip { strip_left: bool, strip_right: bool },
    /// Without combining marks.
    StripAccents,
    /// With `content` for each match.
    Replace { pattern: Search, content: String },
    /// With a string before a text that is not empty.
    Prepend { prepend: String },
    /// What BERT does.
    #[serde(alias = "BertNormalizer")]
    Bert(Bert),
    /// Without control characters, and with spaces for other white space and some characters that
    /// cannot be seen.
    Nmt,
    /// With the replacements of a compiled map of characters.
    Precompiled(Precompiled),
    /// Each byte becomes its letter.
    ByteLevel,
}

impl Normalizer {
    /// The step that a normal form is.
    pub(crate) fn of(form: Normalization) -> Option<Self> {
        match form {
            Normalization::None => None,
            Normalization::Nfc => Some(Self::Nfc),
            Normalization::Nfkc => Some(Self::Nfkc),
        }
    }

    pub(crate) fn apply(&self, text: &mut Aligned, watch: &Watch) -> Result<()> {
        watch.check()?;
        match self {
            Self::Nfc => normalize(text, Form::Nfc),
            Self::Nfd => normalize(text, Form::Nfd),
            Self::Nfkc => normalize(text, Form::Nfkc),
            Self::Nfkd => normalize(text, Form::Nfkd),
            Self::Lowercase => text.rewrite(write_in_lower_case),
            Self::Strip {
                strip_left,
                strip_right,
            } => text.rewrite(|rewriter| strip(rewriter, *strip_left, *strip_right)),
            Self::StripAccents => {
                text.rewrite(|rewriter| map(rewriter, |c| (!is_combining_mark(c)).then_some(c)));
            }
            Self::Replace { pattern, content } => {
                let matches = pattern.matches(text.text(), watch)?;
                text.rewrite(|rewriter| {
                    let mut end = 0;
                    for found in matches {
                        rewriter.keep(found.start - end);
                        rewriter.drop(found.len());
                        end = found.end;
                        content.chars().for_each(|new| rewriter.insert(new));
                    }
                    rewriter.keep(rewriter.rest().len());
                });
            }
            Self::Prepend { prepend } => text.rewrite(|rewriter| {
                rewriter.prepend(prepend);
                rewriter.keep(rewriter.rest().len());
            }),
            Self::Bert(bert) => bert.apply(text),
            Self::Nmt => text.rewrite(|rewriter| map(rewriter, nmt)),
            Self::Precompiled(map) => map.apply(text),
            Self::ByteLevel => text.rewrite(write_letters),
        }
        Ok(())
    }
}

fn strip(rewriter: &mut Rewriter<'_>, left: bool, right: bool) {
    let text = rewriter.rest();
    let kept = if right { text.trim_end() } else { text };
    if left {
        let stripped = kept.trim_start();
        rewriter.drop(kept.len() - stripped.len());
        rewriter.keep(stripped.len());
    } else {
        rewriter.keep(kept.len());
    }
}

fn nmt(character: char) -> Option<char> {
    match character {
        '\u{1}'..='\u{8}' | '\u{B}' | '\u{E}'..='\u{1F}' | '\u{7F}' | '\u{8F}' | '\u{9F}' => None,
        '\t'
        | '\n'
        | '\u{C}'
        | '\r'
        | '\u{1680}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{2581}'
        | '\u{FEFF}'
        | '\u{FFFD}' => Some(' '),
        other => Some(other),
    }
}
