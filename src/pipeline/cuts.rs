//! Steps that cut a text into words.

use std::num::NonZeroUsize;
use std::ops::Range;

use serde::Deserialize;

use super::aligned::Pieces;
use super::behavior::{Behavior, characters_where};
use super::characters::{self, Characters};
use super::metaspace::Metaspace;
use super::rewriting::write_letters;
use super::search::Search;
use crate::error::Result;
use crate::pattern::{Expression, Pattern};
use crate::watch::Watch;

/// A step of the pre-tokenizer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Cut {
    /// Each byte becomes its letter.
    ByteLevel {
        /// Whether a space is put before each piece that does not begin with one.
        #[serde(default = "yes")]
        add_prefix_space: bool,
        /// Whether pieces are cut by GPT-2's pattern first.
        #[serde(default = "yes")]
        use_regex: bool,
        #[serde(skip, default = "gpt2")]
        pattern: Pattern,
    },
    /// At each match of a string or a regular expression.
    Split {
        pattern: Search,
        behavior: Behavior,
        /// Whether what lies between the matches is taken for them.
        #[serde(default)]
        invert: bool,
    },
    /// At numeric characters: each is a word, or neighbours are one.
    Digits { individual_digits: bool },
    /// At punctuation.
    Punctuation {
        #[serde(default)]
        behavior: Behavior,
        #[serde(skip, default = "characters::punctuation")]
        punctuation: Characters,
    },
    /// Where the script changes; characters without one go with those before them, and are dropped
    /// at the start.
    UnicodeScripts {
        #[serde(skip, default = "characters::scripts")]
        scripts: Characters,
    },
    /// White space is dropped, and each character of punctuation is a word.
    BertPreTokenizer {
        #[serde(skip, default = "characters::punctuation")]
        punctuation: Characters,
    },
    /// At each such character, which is dropped.
    #[serde(alias = "Delimiter")]
    CharDelimiterSplit { delimiter: char },
    /// Words of so many characters; the last may have fewer.
    FixedLength {
        #[serde(default = "five")]
        length: NonZeroUsize,
    },
    /// Words of word characters, and of all others but white space, which is dropped.
    Whitespace {
        #[serde(skip, default = "words")]
        words: Expression,
    },
    /// White space is dropped.
    WhitespaceSplit,
    /// Spaces become marks.
    Metaspace(Metaspace),
}

fn yes() -> bool {
    true
}

fn five() -> NonZeroUsize {
    const { NonZeroUsize::new(5).expect("5 is not 0") }
}

fn gpt2() -> Pattern {
    Pattern::new(Some("gpt2")).unwrap_or_else(|error| unreachable!("{error}"))
}

fn words() -> Expression {
    let expression = Expression::of_regex(r"\w+|[^\w\s]+");
    expression.unwrap_or_else(|error| unreachable!("{error}"))
}

impl Cut {
    /// Whether it asks where in the caller's text it is.
    pub(super) fn needs_places(&self) -> bool {
        matches!(self, Self::Metaspace(metaspace) if metaspace.needs_places())
    }

    /// The expression whose matches and gaps are its words, if it is such a step.
    pub(super) fn as_isolating(&self) -> Option<&str> {
        match self {
            Self::Split {
                pattern: Search::Regex(expression),
                behavior: Behavior::Isolated,
                ..
            } => Some(expression.source()),
            Self::Digits { individual_digits } => Some(match individual_digits {
                true => r"\p{N}",
                false => r"\p{N}+",
            }),
            _ => None,
        }
    }

    /// Long because it has an arm for each step.
    pub(super) fn apply(&self, pieces: &mut Pieces, watch: &Watch) -> Result<()> {
        watch.check()?;
        let cut_at = |pieces: &mut Pieces, is_match: &dyn Fn(char) -> bool, behavior: Behavior| {
            pieces.cut(|text, words| {
                watch.check()?;
                *words = behavior.words(text.len(), &characters_where(text, is_match), false);
                Ok(())
            })
        };
        match self {
            Self::ByteLevel {
                add_prefix_space,
                use_regex,
                pattern,
            } => write_byte_level(
                pieces,
                *add_prefix_space,
                use_regex.then_some(pattern),
                watch,
            ),
            Self::Split {
                pattern,
                behavior,
                invert,
            } => pieces.cut(|text, words| {
                *words = behavior.words(text.len(), &pattern.matches(text, watch)?, *invert);
                Ok(())
            }),
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits {
                    Behavior::Isolated
                } else {
                    Behavior::Contiguous
                };
                cut_at(pieces, &char::is_numeric, behavior)
            }
            Self::Punctuation {
                behavior,
                punctuation,
            } => cut_at(pieces, &|c| punctuation.contains(c), *behavior),
            Self::BertPreTokenizer { punctuation } => {
                cut_at(pieces, &char::is_whitespace, Behavior::Removed)?;
                cut_at(pieces, &|c| punctuation.contains(c), Behavior::Isolated)
            }
            Self::CharDelimiterSplit { delimiter } => {
                cut_at(pieces, &|c| c == *delimiter, Behavior::Removed)
            }
            Self::WhitespaceSplit => cut_at(pieces, &char::is_whitespace, Behavior::Removed),
            Self::UnicodeScripts { scripts } => pieces.cut(|text, words| {
                cut_at_scripts(text, scripts, words);
                Ok(())
            }),
            Self::FixedLength { length } => pieces.cut(|text, words| {
                cut_every(text, *length, words);
                Ok(())
            }),
            Self::Whitespace { words: expression } => pieces.cut(|text, words| {
                expression.for_each_range(text, watch, |found| words.push(found))
            }),
            Self::Metaspace(metaspace) => metaspace.apply(pieces),
        }
    }
}

/// Cut pieces by a pattern, if there is one, and write each byte's letter.
fn write_byte_level(
    pieces: &mut Pieces,
    add_prefix_space: bool,
    pattern: Option<&Pattern>,
    watch: &Watch,
) -> Result<()> {
    if add_prefix_space {
        pieces.rewrite(|rewriter, _| {
            if !rewriter.rest().starts_with(' ') {
                rewriter.prepend(" ");
            }
            rewriter.keep(rewriter.rest().len());
        });
    }
    if let Some(pattern) = pattern {
        pieces.cut(|text, words| {
            pattern.for_each_word(text.as_bytes(), watch, |start, end| words.push(start..end))
        })?;
    }
    pieces.rewrite(|rewriter, _| write_letters(rewriter));
    Ok(())
}

fn cut_every(text: &str, length: NonZeroUsize, words: &mut Vec<Range<usize>>) {
    let starts = text.char_indices().map(|(at, _)| at).step_by(length.get());
    let ends = starts.clone().skip(1).chain([text.len()]);
    words.extend(starts.zip(ends).map(|(start, end)| start..end));
}

fn cut_at_scripts(text: &str, scripts: &Characters, words: &mut Vec<Range<usize>>) {
    let mut last = None;
    for (at, character) in text.char_indices() {
        let script = characters::script(scripts, character);
        if script.is_some() && script != last {
            if let Some(word) = words.last_mut() {
                word.end = at;
            }
            words.push(at..text.len());
            last = script;
        }
    }
}
