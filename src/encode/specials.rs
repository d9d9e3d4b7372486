//! Special tokens: found in a text before it is cut into words, or refused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use crate::merges::Id;

/// A token that is found in a text before it is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Special {
    /// Its text.
    pub text: String,
    /// Its id.
    pub id: Id,
    /// Is it found everywhere, or only where it is allowed?
    pub always: bool,
}

/// Which special tokens a call finds, and which it refuses, by their places in the list.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Found as tokens, besides those that always are.
    pub allowed: Vec<bool>,
    /// An error where they occur.
    pub refused: Vec<bool>,
}

/// The special tokens of an encoder.
#[derive(Debug)]
pub(super) struct Specials {
    all: Vec<Special>,
    /// Automata made so far, by the tokens that they find.
    known: Mutex<HashMap<Vec<bool>, Arc<Finder>>>,
}

/// A part of a text: ordinary, with its offset, or a special token.
pub(super) enum Part<'t> {
    Ordinary(usize, &'t [u8]),
    Special(&'t Special),
}

/// What finds the special tokens to be refused, and those to be made.
pub(super) struct Finders {
    refused: Option<Arc<Finder>>,
    found: Option<Arc<Finder>>,
}

/// Finds some of the special tokens.
#[derive(Debug)]
struct Finder {
    automaton: AhoCorasick,
    /// Which special token each of its strings is.
    places: Vec<usize>,
}

impl Specials {
    pub(super) fn new(all: Vec<Special>) -> Self {
        let known = Mutex::default();
        Self { all, known }
    }

    /// The length of the longest, in bytes; 0 if there are none.
    pub(super) fn longest(&self) -> usize {
        let lengths = self.all.iter().map(|special| special.text.len());
        lengths.max().unwrap_or(0)
    }

    /// Does one of them stand across the place `cut` of a text?
    pub(super) fn stand_across(&self, text: &[u8], cut: usize) -> bool {
        self.all.iter().any(|special| {
            let first = (cut + 1).saturating_sub(special.text.len());
            (first..cut).any(|start| text[start..].starts_with(special.text.as_bytes()))
        })
    }

    pub(super) fn finders(&self, choice: &Choice) -> Result<Finders> {
        let is_allowed = |i: usize| choice.allowed.get(i) == Some(&true);
        Ok(Finders {
            refused: self.finder(|i, _| choice.refused.get(i) == Some(&true))?,
            found: self.finder(|i, special| special.always || is_allowed(i))?,
        })
    }

    /// What finds the special tokens that are wanted; None if there are none.
    fn finder(&self, is_wanted: impl Fn(usize, &Special) -> bool) -> Result<Option<Arc<Finder>>> {
        const MOST_KNOWN: usize = 64;
        if self.all.is_empty() {
            return Ok(None);
        }
        let wanted = self.all.iter().enumerate();
        let wanted: Vec<bool> = wanted.map(|(i, special)| is_wanted(i, special)).collect();
        if !wanted.contains(&true) {
            return Ok(None);
        }
        let mut finders = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(finder) = finders.get(&wanted) {
            return Ok(Some(finder.clone()));
        }
        let places: Vec<usize> = (0..wanted.len()).filter(|&i| wanted[i]).collect();
        let texts = places.iter().map(|&i| &self.all[i].text);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts)
            .map_err(|_| Error::TooManyTokens)?;
        let finder = Arc::new(Finder { automaton, places });
        if finders.len() == MOST_KNOWN {
            finders.clear();
        }
        finders.insert(wanted, finder.clone());
        Ok(Some(finder))
    }

    /// An error if the text holds a special token that is to be refused.
    pub(super) fn check(&self, text: &[u8], finders: &Finders) -> Result<()> {
        if let Some(finder) = &finders.refused
            && let Some(found) = finder.automaton.find(text)
        {
            let special = &self.all[finder.places[found.pattern().as_usize()]];
            return Err(Error::DisallowedSpecial {
                token: special.text.clone(),
                offset: found.start(),
            });
        }
        Ok(())
    }

    /// The text between special tokens, and these.
    pub(super) fn for_each_part<'t>(
        &'t self,
        text: &'t [u8],
        finders: &Finders,
        mut use_part: impl FnMut(Part<'t>) -> Result<()>,
    ) -> Result<()> {
        let mut start = 0;
        if let Some(finder) = &finders.found {
            for found in finder.automaton.find_iter(text) {
                if start < found.start() {
                    use_part(Part::Ordinary(start, &text[start..found.start()]))?;
                }
                let place = finder.places[found.pattern().as_usize()];
                use_part(Part::Special(&self.all[place]))?;
                start = found.end();
            }
        }
        if start < text.len() {
            use_part(Part::Ordinary(start, &text[start..]))?;
        }
        Ok(())
    }
}
