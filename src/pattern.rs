//! Text to words: the patterns that cut a document before pairs are counted or merged.
//!
//! A word is a range of the document's bytes. The words of a document, in order, are the whole
//! document: no byte is lost, and no word is empty.
//!
//! The named patterns are scanners, equal on every input to the regular expressions below. Any
//! other pattern is a regular expression for the crate fancy-regex.

mod block;
mod class;
mod named;
#[cfg(test)]
mod tests;

use fancy_regex::Regex;

use crate::error::{Error, Result};
use crate::watch::Watch;
pub(crate) use block::{LEN as MOST_ENDS, Processor};
use named::{Gpt2, Named, Tiktoken, Whitespace};

/// The words of GPT-2.
pub const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The words of `cl100k_base` in tiktoken 0.14.0, which writes the same with possessive quantifiers.
pub const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
    r"|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
);

/// The words of `o200k_base` in tiktoken 0.14.0.
pub const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// Words that carry at most one leading character of white space.
pub const WHITESPACE: &str = r"\s?\S+|\s+(?!\S)";

/// The characters that a class, such as `\s` or `(?i:[a-k])`, matches to every pattern here, as
/// ranges with both ends in them.
pub fn class_ranges(class: &str) -> Result<Vec<(char, char)>> {
    let message = match class::parsed_ranges(class) {
        Ok(Some(ranges)) => return Ok(ranges),
        Ok(None) => format!("{class:?} is not a class of characters"),
        Err(message) => message,
    };
    Err(Error::InvalidPattern { message })
}

/// A way to cut documents into words.
///
/// Documents may be any bytes. To every pattern, a byte that is not part of valid UTF-8 is one
/// character: a symbol, U+FFFD to a regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    spec: Option<String>,
    kind: Kind,
    drops_gaps: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Whole,
    Named(Name),
    User(Box<Regex>),
}

/// The patterns that have a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name {
    Gpt2,
    Cl100k,
    O200k,
    Whitespace,
}

impl Pattern {
    /// The pattern `gpt2`, `cl100k`, `o200k` or `whitespace`; the one of a regular expression; or,
    /// of `None`, the one that makes each document a single word.
    pub fn new(spec: Option<&str>) -> Result<Self> {
        let kind = match spec {
            None => Kind::Whole,
            Some("gpt2") => Kind::Named(Name::Gpt2),
            Some("cl100k") => Kind::Named(Name::Cl100k),
            Some("o200k") => Kind::Named(Name::O200k),
            Some("whitespace") => Kind::Named(Name::Whitespace),
            Some(name)
                if name
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_".contains(c)) =>
            {
                let message = format!(
                    "no pattern is named {name:?}; expected gpt2, cl100k, o200k, whitespace, or a \
                     regular expression"
                );
                return Err(Error::InvalidPattern { message });
            }
            Some(expression) => match Regex::new(expression) {
                Ok(regex) => Kind::User(Box::new(regex)),
                Err(error) => {
                    let message = error.to_string();
                    return Err(Error::InvalidPattern { message });
                }
            },
        };
        Ok(Self {
            spec: spec.map(str::to_owned),
            kind,
            drops_gaps: false,
        })
    }

    /// The same pattern, but what lies between its matches is left out.
    #[must_use]
    pub fn without_gaps(self) -> Self {
        let drops_gaps = true;
        Self { drops_gaps, ..self }
    }

    /// Whether what lies between its matches is left out.
    #[must_use]
    pub fn drops_gaps(&self) -> bool {
        self.drops_gaps
    }

    /// What the pattern was made from.
    #[must_use]
    pub fn spec(&self) -> Option<&str> {
        self.spec.as_deref()
    }

    /// Does it take time in proportion to the text? A regular expression may take any.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        !matches!(self.kind, Kind::User(_))
    }

    /// Calls `word(start, end)` for each word of a document, in order.
    ///
    /// The words of a regular expression are its matches that are not empty, and (unless gaps are
    /// dropped) what lies between them. It fails when the watch is stopped, and a regular expression also at the backtracking
    /// limit of its engine.
    #[inline]
    pub fn for_each_word(
        &self,
        text: &[u8],
        watch: &Watch,
        mut word: impl FnMut(usize, usize),
    ) -> Result<()> {
        match &self.kind {
            Kind::Whole if text.is_empty() => Ok(()),
            Kind::Whole => {
                word(0, text.len());
                Ok(())
            }
            Kind::Named(name) => name.for_each_group(text, watch, &mut Singly { start: 0, word }),
            Kind::User(regex) => for_each_match(regex, text, watch, self.drops_gaps, &mut word),
        }
    }

    /// Which of the named patterns it is.
    pub(crate) fn name(&self) -> Option<Name> {
        match self.kind {
            Kind::Named(name) => Some(name),
            Kind::Whole | Kind::User(_) => None,
        }
    }

    /// The last place after 0 where the text can be cut whatever follows it, if neighbouring
    /// characters prove one: the words of `text[..cut]`, then those of `text[cut..]` with anything
    /// behind it, are the words of `text` with that behind it.
    ///
    /// Looks backwards from the end: a word or so in usual text. Nothing is known of regular
    /// expressions, and there is nothing to cut in documents that are one word.
    #[must_use]
    pub fn last_safe_cut(&self, text: &[u8]) -> Option<usize> {
        match self.name()? {
            Name::Gpt2 => named::last_safe_cut::<Gpt2>(text),
            Name::Cl100k => named::last_safe_cut::<Tiktoken<false>>(text),
            Name::O200k => named::last_safe_cut::<Tiktoken<true>>(text),
            Name::Whitespace => named::last_safe_cut::<Whitespace>(text),
        }
    }
}

/// Takes groups of neighbouring words.
pub(crate) trait TakeGroups {
    /// Bit `i` of `ends` says that a word ends, and the next one begins, at `base + i`. The first
    /// and the last bit are 0.
    ///
    /// Best always inlined: then it is compiled for the processor that the scanner found.
    fn take<P: Processor>(&mut self, processor: P, base: usize, ends: u64);
}

/// Calls `word` for each word of a group.
struct Singly<F> {
    start: usize,
    word: F,
}

impl<F: FnMut(usize, usize)> TakeGroups for Singly<F> {
    #[allow(clippy::inline_always, reason = "see `TakeGroups`")]
    #[inline(always)]
    fn take<P: Processor>(&mut self, _: P, base: usize, mut ends: u64) {
        while ends != 0 {
            let end = base + ends.trailing_zeros() as usize;
            (self.word)(self.start, end);
            self.start = end;
            ends &= ends - 1;
        }
    }
}

impl Name {
    /// Hands over each group of neighbouring words.
    #[inline]
    pub(crate) fn for_each_group(
        self,
        text: &[u8],
        watch: &Watch,
        groups: &mut impl TakeGroups,
    ) -> Result<()> {
        match self {
            Self::Gpt2 => in_pieces::<Gpt2>(text, watch, groups),
            Self::Cl100k => in_pieces::<Tiktoken<false>>(text, watch, groups),
            Self::O200k => in_pieces::<Tiktoken<true>>(text, watch, groups),
            Self::Whitespace => in_pieces::<Whitespace>(text, watch, groups),
        }
    }
}

/// The words of a named pattern, with a look at the watch every few megabytes.
#[inline]
fn in_pieces<N: Named>(text: &[u8], watch: &Watch, groups: &mut impl TakeGroups) -> Result<()> {
    const PIECE: usize = 1 << 22;
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let cut = rest.get(..PIECE).and_then(named::last_safe_cut::<N>);
        let end = cut.map_or(text.len(), |cut| start + cut);
        named::for_each_group::<N>(&text[..end], start, groups);
        start = end;
        if start == text.len() {
            return Ok(());
        }
        watch.check()?;
    }
}

/// Matches and the gaps between them.
fn for_each_match(
    regex: &Regex,
    text: &[u8],
    watch: &Watch,
    drops_gaps: bool,
    word: &mut dyn FnMut(usize, usize),
) -> Result<()> {
    let lossy = Lossy::new(text);
    let (mut replaced, mut end) = (0, 0);
    // Where a place in the copy, no earlier than the last one asked for, is in the text.
    let mut place = |at: usize| {
        while lossy.replaced.get(replaced).is_some_and(|&r| r < at) {
            replaced += 1;
        }
        at - 2 * replaced
    };
    for (index, found) in regex.find_iter(lossy.text.as_ref()).enumerate() {
        if index % 1024 == 0 {
            watch.check()?;
        }
        let found = found.map_err(|error| Error::PatternFailed {
            message: error.to_string(),
        })?;
        let (from, to) = (place(found.start()), place(found.end()));
        if from == to {
            continue;
        }
        if end < from && !drops_gaps {
            word(end, from);
        }
        word(from, to);
        end = to;
    }
    if end < text.len() && !drops_gaps {
        word(end, text.len());
    }
    Ok(())
}

/// A text with U+FFFD for each byte that is not part of valid UTF-8.
struct Lossy<'a> {
    text: std::borrow::Cow<'a, str>,
    /// Where in it these are.
    replaced: Vec<usize>,
}

impl<'a> Lossy<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut replaced = Vec::new();
        if let Ok(text) = std::str::from_utf8(bytes) {
            let text = text.into();
            return Self { text, replaced };
        }
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for _ in chunk.invalid() {
                replaced.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let text = text.into();
        Self { text, replaced }
    }
}
