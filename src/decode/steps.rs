//! Steps of decoders: the strings of tokens become other strings.
//!
//! Each does what the step of this name does in the library tokenizers, on every list of tokens.
//! Tokens may come in several batches: a step keeps back what the next batch may still change, so that
//! the batches together become what all tokens at once would.

use serde::Deserialize;

use super::characters::{Invalid, byte_named, complete};
use super::memory::Memory;
use super::pieces::SentencePiece;
use crate::error::Result;
use crate::pipeline::{Search, SentencePiece as Normalizer, byte_of};
use crate::watch::Watch;

/// A step.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Step {
    /// Letters become the bytes for which they stand, and these one text. A token with another
    /// character stays as it is.
    ByteLevel {},
    /// Each match becomes `content`.
    Replace { pattern: Search, content: String },
    /// Neighbouring tokens that are names of bytes become one string. If that is not UTF-8, each
    /// becomes U+FFFD.
    ByteFallback {},
    /// All tokens become one.
    Fuse {},
    /// Each token loses at most `start` and `stop` such characters at its ends.
    Strip {
        content: char,
        start: usize,
        stop: usize,
    },
    /// The same at the start of a text that comes in parts.
    #[serde(skip)]
    StripText { content: char, start: usize },
    /// Marks become spaces; those of the first token may be left out.
    Metaspace {
        replacement: char,
        #[serde(default)]
        prepend_scheme: PrependScheme,
        #[serde(default = "yes")]
        add_prefix_space: bool,
    },
    /// A space before each token but the first, unless it begins with the prefix, which is left out.
    WordPiece { prefix: String, cleanup: bool },
    /// The suffix becomes a space, that of the last token nothing.
    BPEDecoder { suffix: String },
    /// Neighbouring tokens that are equal become one, and padding is left out.
    #[serde(rename = "CTC")]
    Ctc {
        pad_token: String,
        word_delimiter_token: String,
        cleanup: bool,
    },
    /// A space between tokens, which is what tokenizers does without a decoder.
    Spaced {},
    /// All that the library `SentencePiece` does.
    SentencePiece(SentencePiece),
    /// What a model of it does to the text at last.
    Denormalizer(Box<Normalizer>),
}

/// Where the pre-tokenizer `Metaspace` puts a mark.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PrependScheme {
    #[default]
    Always,
    First,
    Never,
}

fn yes() -> bool {
    true
}

/// A token with each match of a search replaced.
fn replaced(pattern: &Search, token: &str, content: &str, watch: &Watch) -> Result<String> {
    let (mut replaced, mut end) = (String::new(), 0);
    for range in pattern.matches(token, watch)? {
        replaced += &token[end..range.start];
        replaced += content;
        end = range.end;
    }
    Ok(replaced + &token[end..])
}

impl Step {
    /// Whether all tokens become parts of one text.
    pub(super) fn fuses(&self) -> bool {
        matches!(
            self,
            Self::ByteLevel {} | Self::Fuse {} | Self::StripText { .. } | Self::SentencePiece(_)
        )
    }

    /// Whether it looks at each token alone.
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Self::Replace { .. } | Self::Strip { .. })
    }

    /// What becomes of a batch of tokens; `is_end`: of the last one. Long because each step is here.
    pub(super) fn apply(
        &self,
        memory: &mut Memory,
        tokens: Vec<String>,
        is_end: bool,
        watch: &Watch,
    ) -> Result<Vec<String>> {
        let strings = tokens.into_iter();
        Ok(match self {
            Self::ByteLevel {} => {
                strings.for_each(|token| memory.bytes.extend(bytes_of_letters(&token)));
                vec![complete(&mut memory.bytes, Invalid::Sequences, is_end)]
            }
            Self::Replace { pattern, content } => strings
                .map(|token| replaced(pattern, &token, content, watch))
                .collect::<Result<_>>()?,
            Self::ByteFallback {} => joined_bytes(memory, strings, is_end),
            Self::Fuse {} => vec![strings.collect()],
            Self::Strip {
                content,
                start,
                stop,
            } => strings
                .map(|token| stripped(&token, *content, *start, *stop).to_owned())
                .collect(),
            Self::StripText { content, start } => strings
                .map(|part| memory.strip(&part, *content, *start).to_owned())
                .collect(),
            Self::Metaspace {
                replacement,
                prepend_scheme,
                add_prefix_space,
            } => {
                let drops = *prepend_scheme != PrependScheme::Never && *add_prefix_space;
                let space = |is_first| if is_first && drops { "" } else { " " };
                strings
                    .map(|token| token.replace(*replacement, space(memory.begin())))
                    .collect()
            }
            Self::WordPiece { prefix, cleanup } => strings
                .map(|token| without_prefix(token, prefix, memory.begin()))
                .map(|token| if *cleanup { cleaned(&token) } else { token })
                .collect(),
            Self::BPEDecoder { suffix } => without_suffixes(memory, strings, suffix, is_end),
            Self::Ctc {
                pad_token,
                word_delimiter_token,
                cleanup,
            } => strings
                .filter(|token| memory.is_new(token))
                .map(|token| match token.replace(pad_token, "") {
                    token if *cleanup => cleaned(&token).replace(word_delimiter_token, " "),
                    token => token,
                })
                .filter(|token| !token.is_empty())
                .collect(),
            Self::Spaced {} => strings.map(|token| spaced(token, memory.begin())).collect(),
            Self::SentencePiece(step) => vec![step.text(memory, strings, is_end)],
            Self::Denormalizer(step) => strings
                .map(|text| step.normalized(text.as_bytes(), 0, false, &|_| None))
                .map(|normal| normal.into_parts().0)
                .collect(),
        })
    }
}

/// The bytes of a token in letters; of a token with another character, its own.
pub(super) fn bytes_of_letters(token: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// `ByteFallback`.
fn joined_bytes(
    memory: &mut Memory,
    tokens: impl Iterator<Item = String>,
    is_end: bool,
) -> Vec<String> {
    let mut joined = Vec::new();
    let end_run = |bytes: &mut Vec<u8>, joined: &mut Vec<String>| {
        if bytes.is_empty() {
            return;
        }
        match String::from_utf8(std::mem::take(bytes)) {
            Ok(text) => joined.push(text),
            Err(error) => {
                let replacement = char::REPLACEMENT_CHARACTER.to_string();
                joined.extend(vec![replacement; error.as_bytes().len()]);
            }
        }
    };
    for token in tokens {
        if let Some(byte) = byte_named(&token) {
            memory.bytes.push(byte);
        } else {
            end_run(&mut memory.bytes, &mut joined);
            joined.push(token);
        }
    }
    if is_end {
        end_run(&mut memory.bytes, &mut joined);
    }
    joined
}

/// `Strip`.
pub(super) fn stripped(mut token: &str, content: char, start: usize, stop: usize) -> &str {
    for _ in 0..start.min(token.len()) {
        token = token.strip_prefix(content).unwrap_or(token);
    }
    for _ in 0..stop.min(token.len()) {
        token = token.strip_suffix(content).unwrap_or(token);
    }
    token
}

/// A token with a space before it, unless it is the first.
fn spaced(token: String, is_first: bool) -> String {
    if is_first { token } else { format!(" {token}") }
}

/// `WordPiece`.
fn without_prefix(token: String, prefix: &str, is_first: bool) -> String {
    match token.strip_prefix(prefix) {
        Some(rest) if !is_first => rest.to_owned(),
        _ => spaced(token, is_first),
    }
}

/// `BPEDecoder`.
fn without_suffixes(
    memory: &mut Memory,
    tokens: impl Iterator<Item = String>,
    suffix: &str,
    is_end: bool,
) -> Vec<String> {
    let mut tokens: Vec<String> = memory.last.take().into_iter().chain(tokens).collect();
    memory.last = tokens.pop();
    let mut replaced: Vec<String> = tokens
        .iter()
        .map(|token| token.replace(suffix, " "))
        .collect();
    if is_end {
        replaced.extend(memory.last.take().map(|token| token.replace(suffix, "")));
    }
    replaced
}

/// Without the spaces that are not usual in English.
fn cleaned(token: &str) -> String {
    const CLEANER: [(&str, &str); 11] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" do not", " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    CLEANER.iter().fold(token.to_owned(), |token, (from, to)| {
        token.replace(from, to)
    })
}
