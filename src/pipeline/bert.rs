//! BERT's normalizer.

use serde::Deserialize;

use super::aligned::Aligned;
use super::characters::{self, Characters};
use super::rewriting::{map, normalize, write_in_lower_case};
use crate::normalize::Form;

/// What BERT does to texts, each part if it is asked for, in this order.
#[derive(Debug, Deserialize)]
pub(crate) struct Bert {
    /// Control characters are dropped, and white space becomes spaces.
    clean_text: bool,
    /// Spaces are put around each Chinese character.
    handle_chinese_chars: bool,
    /// Marks of decomposed characters are dropped; if nothing is said, so they are in lower case.
    strip_accents: Option<bool>,
    /// All becomes lower case.
    lowercase: bool,
    #[serde(skip, default = "characters::controls")]
    controls: Characters,
    #[serde(skip, default = "characters::nonspacing_marks")]
    marks: Characters,
}

impl Bert {
    pub(super) fn apply(&self, text: &mut Aligned) {
        if self.clean_text {
            text.rewrite(|rewriter| map(rewriter, |character| self.cleaned(character)));
        }
        if self.handle_chinese_chars {
            text.rewrite(|rewriter| {
                for character in rewriter.rest().chars() {
                    if is_chinese(character) {
                        rewriter.replace(' ');
                        rewriter.insert(character);
                        rewriter.insert(' ');
                    } else {
                        rewriter.replace(character);
                    }
                }
            });
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            normalize(text, Form::Nfd);
            text.rewrite(|rewriter| map(rewriter, |c| (!self.marks.contains(c)).then_some(c)));
        }
        if self.lowercase {
            text.rewrite(write_in_lower_case);
        }
    }

    /// What becomes of a character in a clean text.
    fn cleaned(&self, character: char) -> Option<char> {
        match character {
            '\t' | '\n' | '\r' => Some(' '),
            '\0' | char::REPLACEMENT_CHARACTER => None,
            control if self.controls.contains(control) => None,
            space if space.is_whitespace() => Some(' '),
            other => Some(other),
        }
    }
}

/// The blocks that BERT knows; one begins later than in Unicode.
fn is_chinese(character: char) -> bool {
    matches!(
        character,
        '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{20000}'..='\u{2A6DF}'
            | '\u{2A700}'..='\u{2B73F}'
            | '\u{2B740}'..='\u{2B81F}'
            | '\u{2B920}'..='\u{2CEAF}'
            | '\u{2F800}'..='\u{2FA1F}'
    )
}
