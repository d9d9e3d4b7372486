//! Text to words: the patterns that cut a document before pairs are counted or merged.
//!
//! A word is a range of the document's bytes. The words of a document, in order, are the whole
//! document: no byte is lost, and no word is empty.
//!
//! A pattern is a regular expression, or the name of one of [`NAMED_PATTERNS`]. Almost all of them
//! become automata, which read each character once; what no automaton can do, such as
//! back-references, is matched by backtracking, by the crate fancy-regex.
//!
//! [`syntax`] has the expression, [`nfa`] its program, [`automaton`] the automaton. [`neighbours`]
//! finds out what neighbouring characters say about its words, [`groups`], [`foreign`] and [`block`]
//! read that 64 bytes at a time, and [`scan`] puts both together. [`steps`] makes one expression of
//! several. [`linear`] proves that no text takes long.

// Only what is always inlined is compiled with the target features of the calling function.
#![allow(clippy::inline_always)]

mod alphabet;
mod automaton;
mod backtracking;
mod block;
mod class;
mod expression;
mod foreign;
mod groups;
mod linear;
mod look_up;
mod neighbours;
mod nfa;
mod scan;
mod shown;
mod steps;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod white_space;

use crate::error::{Error, Result};
use crate::watch::Watch;
pub(crate) use block::{LEN as MOST_ENDS, Processor, Work, on_this_processor};
pub(crate) use expression::Expression;
pub(crate) use scan::{Scanner, WordState};
pub use table::{NAMED_PATTERNS, NamedPattern};
pub(crate) use table::{OTHER_NAMES, meant};

/// The characters that a class, such as `\s` or `(?i:[a-k])`, matches in every pattern, as
/// inclusive ranges.
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
/// Documents may be any bytes. In every pattern a byte that is not part of valid UTF-8 is one
/// character: a symbol, and U+FFFD in a regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    spec: Option<String>,
    kind: Kind,
    drops_gaps: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Whole,
    Expression(Expression),
}

impl Pattern {
    /// The pattern of a name or of a regular expression; with `None`, each document is one word.
    pub fn new(spec: Option<&str>) -> Result<Self> {
        let spec = spec.map(meant);
        let kind = match spec {
            None => Kind::Whole,
            Some(spec) => Kind::Expression(match table::named(spec) {
                Some(named) => Expression::of_regex(named.expression)?,
                None => Expression::new(spec)?,
            }),
        };
        Ok(Self {
            spec: spec.map(str::to_owned),
            kind,
            drops_gaps: false,
        })
    }

    /// The pattern whose words are those that these expressions leave which are applied one after the
    /// other, each to what the one before it left, if there is one that takes linear time.
    pub(crate) fn of_steps(expressions: &[&str]) -> Option<Self> {
        let expression = Expression::of_steps(expressions)?;
        expression.groups(false)?;
        Some(Self {
            spec: None,
            kind: Kind::Expression(expression),
            drops_gaps: false,
        })
    }

    /// Its regular expression, if it has one.
    pub(crate) fn expression(&self) -> Option<&str> {
        match &self.kind {
            Kind::Whole => None,
            Kind::Expression(expression) => Some(expression.source()),
        }
    }

    /// Whether it cuts texts at all.
    pub(crate) fn cuts_texts(&self) -> bool {
        matches!(self.kind, Kind::Expression(_))
    }

    /// The same pattern, with the text between its matches dropped or kept.
    #[must_use]
    pub fn dropping_gaps(self, drops_gaps: bool) -> Self {
        Self { drops_gaps, ..self }
    }

    /// Whether what lies between its matches is left out.
    pub fn drops_gaps(&self) -> bool {
        self.drops_gaps
    }

    /// The name or the regular expression that the pattern was made from.
    pub fn spec(&self) -> Option<&str> {
        self.spec.as_deref()
    }

    /// Whether it takes time in proportion to the text. Some regular expressions may take longer.
    pub fn is_linear(&self) -> bool {
        match &self.kind {
            Kind::Whole => true,
            Kind::Expression(expression) => {
                self.scanner().is_some() || expression.scanner().is_some_and(Scanner::is_linear)
            }
        }
    }

    /// Calls `word(start, end)` for each word of a document, in order.
    ///
    /// The words of a regular expression are its matches that are not empty and, unless gaps are
    /// dropped, the text between them. Fails when the watch is stopped; a regular expression also
    /// where it takes too many steps for the length of the text.
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
            Kind::Expression(expression) => match self.scanner() {
                Some(scanner) => {
                    scanner.for_each_group(text, watch, &mut Singly { start: 0, word })
                }
                None => expression.for_each_match(text, watch, self.drops_gaps, &mut word),
            },
        }
    }

    /// What finds its words in groups, if all of every text is words, and always in linear time.
    pub(crate) fn scanner(&self) -> Option<&Scanner> {
        match &self.kind {
            Kind::Whole => None,
            Kind::Expression(expression) => expression.groups(self.drops_gaps),
        }
    }

    /// The last place after 0 where the text can be cut whatever follows it, if neighbouring
    /// characters prove one: the words of `text[..cut]`, then those of `text[cut..]` with any
    /// continuation, are the words of `text` with that continuation.
    ///
    /// Searches backwards from the end, by a word or so in usual text. `None` for regular
    /// expressions of which nothing is known, and for documents that are one word.
    pub fn last_safe_cut(&self, text: &[u8]) -> Option<usize> {
        self.scanner()?.last_safe_cut(text)
    }
}

/// Takes groups of neighbouring words.
pub(crate) trait TakeGroups {
    /// Bit `i` of `ends` is set where a word ends, and the next one begins, at `base + i`. The
    /// first bit is 0.
    ///
    /// Always inline it: then it is compiled for the processor that was detected.
    fn take<P: Processor>(&mut self, processor: P, base: usize, ends: u64);
}

/// Calls `word` for each word of a group.
struct Singly<F> {
    start: usize,
    word: F,
}

impl<F: FnMut(usize, usize)> TakeGroups for Singly<F> {
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
