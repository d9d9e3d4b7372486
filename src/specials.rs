//! Special tokens: found in a text before it is cut into words, or refused.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::merges::Id;
use crate::pool::Pool;

/// A token that is found in a text before it is cut into words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Special {
    /// Its text.
    pub text: String,
    /// Its id.
    pub id: Id,
    /// Whether it is found in every call, or only where it is allowed.
    pub always: bool,
}

/// The special tokens that a call finds and those that it refuses, by index.
///
/// ```
/// use mergewise::{Choice, Tokenizer};
///
/// let tokenizer = Tokenizer::builder().special_token("<s>", 0).build()?;
/// let found = Choice { allowed: vec![true], refused: vec![false] };
/// assert_eq!(tokenizer.encode_with("<s><s>", &found)?, [0, 0]);
/// assert!(tokenizer.encode("<s>").is_err());
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Found as tokens, besides those that always are.
    pub allowed: Vec<bool>,
    /// An error where they occur.
    pub refused: Vec<bool>,
}

/// The special tokens of an encoder or a counter.
#[derive(Debug)]
pub(crate) struct Specials {
    all: Vec<Special>,
    /// The length of the longest, in bytes; 0 if there are none.
    longest: usize,
    /// Automata built so far.
    known: Pool<Arc<Finder>>,
}

/// A part of a text: ordinary, with its offset, or a special token.
pub(crate) enum Part<'t> {
    Ordinary(usize, &'t [u8]),
    Special(&'t Special),
}

/// Finds the special tokens of one [`Choice`].
#[derive(Debug)]
pub(crate) struct Finders {
    refused: Option<Arc<Finder>>,
    found: Option<Arc<Finder>>,
}

/// Finds some of the special tokens.
#[derive(Debug)]
struct Finder {
    automaton: AhoCorasick,
    /// The index of the special token for each string of the automaton.
    indices: Vec<usize>,
}

impl Specials {
    pub(crate) fn new(all: Vec<Special>) -> Self {
        let lengths = all.iter().map(|special| special.text.len());
        Self {
            longest: lengths.max().unwrap_or(0),
            all,
            known: Pool::default(),
        }
    }

    /// Special tokens that are always found; the id of each is its index.
    pub(crate) fn of_texts(texts: &[String]) -> Self {
        let texts = texts.iter().filter(|text| !text.is_empty());
        let special = |(id, text): (Id, &String)| Special {
            text: text.clone(),
            id,
            always: true,
        };
        Self::new((0..).zip(texts).map(special).collect())
    }

    pub(crate) fn all(&self) -> &[Special] {
        &self.all
    }

    /// The last cut that `last_cut` finds in a beginning of `text` and that no special token spans,
    /// whatever follows the text.
    pub(crate) fn last_cut(
        &self,
        text: &[u8],
        last_cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        // A special token may begin before the cut and end behind the text.
        let mut cut = text.len().checked_sub(self.longest)?;
        loop {
            cut = last_cut(&text[..cut])?;
            if !self.span(text, cut) {
                return Some(cut);
            }
        }
    }

    /// Whether one of them begins before `cut` and ends behind it.
    fn span(&self, text: &[u8], cut: usize) -> bool {
        self.all.iter().any(|special| {
            let first = (cut + 1).saturating_sub(special.text.len());
            (first..cut).any(|start| text[start..].starts_with(special.text.as_bytes()))
        })
    }

    pub(crate) fn finders(&self, choice: &Choice) -> Result<Finders> {
        let is_allowed = |i: usize| choice.allowed.get(i) == Some(&true);
        Ok(Finders {
            refused: self.finder(|i, _| choice.refused.get(i) == Some(&true))?,
            found: self.finder(|i, special| special.always || is_allowed(i))?,
        })
    }

    /// Finds the special tokens that are wanted; None if none is.
    fn finder(&self, is_wanted: impl Fn(usize, &Special) -> bool) -> Result<Option<Arc<Finder>>> {
        let wanted = self.all.iter().enumerate();
        let wanted = wanted.filter(|(i, special)| is_wanted(*i, special));
        let indices: Vec<usize> = wanted.map(|(i, _)| i).collect();
        if indices.is_empty() {
            return Ok(None);
        }
        let is_it = |finder: &Arc<Finder>| finder.indices == indices;
        let known = self
            .known
            .find(|finder| is_it(finder).then(|| finder.clone()));
        if known.is_some() {
            return Ok(known);
        }
        let texts = indices.iter().map(|&i| &self.all[i].text);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts)
            .map_err(|_| Error::TooManyTokens)?;
        let finder = Arc::new(Finder { automaton, indices });
        self.known.keep(finder.clone());
        Ok(Some(finder))
    }

    /// An error if the text holds a special token that is refused.
    pub(crate) fn check(&self, text: &[u8], finders: &Finders) -> Result<()> {
        if let Some(finder) = &finders.refused
            && let Some(found) = finder.automaton.find(text)
        {
            let special = &self.all[finder.indices[found.pattern().as_usize()]];
            return Err(Error::DisallowedSpecial {
                token: special.text.clone(),
                offset: found.start(),
            });
        }
        Ok(())
    }

    /// Calls `use_part` for each special token that is found and for each stretch between them.
    pub(crate) fn for_each_part<'t, E>(
        &'t self,
        text: &'t [u8],
        finders: &Finders,
        mut use_part: impl FnMut(Part<'t>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut start = 0;
        if let Some(finder) = &finders.found {
            for found in finder.automaton.find_iter(text) {
                if start < found.start() {
                    use_part(Part::Ordinary(start, &text[start..found.start()]))?;
                }
                let index = finder.indices[found.pattern().as_usize()];
                use_part(Part::Special(&self.all[index]))?;
                start = found.end();
            }
        }
        if start < text.len() {
            use_part(Part::Ordinary(start, &text[start..]))?;
        }
        Ok(())
    }
}
