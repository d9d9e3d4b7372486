//! Special tokens: found in a text before it is cut into words, or refused.

mod finder;

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::framing::Frame;
use crate::merges::Id;
use crate::pool::Pool;
use crate::trie::Trie;
use crate::vocabulary::Number;
use finder::Finder;

/// A token that is found in a text before it is cut into words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Special {
    /// Its text.
    pub text: String,
    /// Its id.
    pub id: Id,
    /// Whether it is found in every call, or only where it is allowed.
    pub always: bool,
    /// How it is found.
    pub search: Search,
}

/// How a special token is found in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a switch of tokenizers' files"
)]
pub struct Search {
    /// Whether white space before it becomes part of it.
    pub strips_left: bool,
    /// Whether white space behind it becomes part of it.
    pub strips_right: bool,
    /// Whether it is found only where no word character is next to it.
    pub single_word: bool,
    /// Whether it is normalised like the text and found in the normalised text, after those that are
    /// not.
    pub normalized: bool,
}

/// What a call asks for: the special tokens that it finds and those that it refuses, by index, and
/// what is around the ids.
///
/// ```
/// use mergewise::{Choice, Tokenizer};
///
/// let tokenizer = Tokenizer::builder().special_token("<s>", 0).build()?;
/// let found = Choice { allowed: vec![true], ..Choice::default() };
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
    /// What is put around the ids of each text.
    pub frame: Frame,
    /// Whether white space at the ends of tokens is left out of their offsets; if so, whether one
    /// space that may have been put before the text is kept.
    pub trims_spaces: Option<bool>,
}

/// A [`Choice`] that is ready for any number of texts, of the encoder that made it and of others with
/// the same special tokens; see [`Encoder::call`](crate::encode::Encoder::call).
#[derive(Debug)]
pub struct Call {
    pub(crate) finders: Finders,
    pub(crate) frame: Frame,
    pub(crate) trims_spaces: Option<bool>,
}

/// The special tokens of an encoder or a counter.
#[derive(Debug)]
pub(crate) struct Specials {
    all: Vec<Special>,
    /// The text that is searched for each.
    searched: Vec<String>,
    /// Whether each is found in the second phase.
    is_late: Vec<bool>,
    /// Whether each need not be searched by an encoder that cuts texts as it does.
    is_implied: Vec<bool>,
    /// The length of the longest, in bytes; 0 if there are none.
    longest: usize,
    /// Finds the longest that begins at a place; `None` if there are too many.
    trie: Option<Trie>,
    /// Automata built so far.
    known: Pool<Arc<Finder>>,
}

/// A part of a text: ordinary, with its offset, or a special token with where it begins and ends.
pub(crate) enum Part<'t> {
    Ordinary(usize, &'t [u8]),
    Special(&'t Special, Range<usize>),
}

/// Finds the special tokens of one [`Choice`].
#[derive(Debug)]
pub(crate) struct Finders {
    refused: Option<Arc<Finder>>,
    found: Option<Arc<Finder>>,
    /// Of these, those that are not implied.
    found_apart: Option<Arc<Finder>>,
    /// Those that are found in the second phase.
    found_late: Option<Arc<Finder>>,
}

/// Where special tokens are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// In the text as it was given.
    Given,
    /// The same, but only those that are not implied.
    Apart,
    /// In what is between the special tokens of the first phase, changed as a text is changed before
    /// it is cut.
    Late,
}

impl Specials {
    /// `late` gives the text that is searched for a special token in the second phase; `None`: it is
    /// found in the first, as it is.
    pub(crate) fn new(
        all: Vec<Special>,
        late: impl Fn(&Special) -> Result<Option<String>>,
    ) -> Result<Self> {
        let late: Vec<Option<String>> = all.iter().map(late).collect::<Result<_>>()?;
        let longest = all.iter().map(|special| special.text.len()).max();
        let numbers = all.iter().enumerate();
        let numbers = numbers.map(|(i, special)| (special.text.as_bytes(), Number::new(i)));
        let numbers: FxHashMap<&[u8], Number> =
            numbers.filter(|(text, _)| !text.is_empty()).collect();
        Ok(Self {
            trie: Trie::new(numbers, |_, _| ()),
            is_late: late.iter().map(Option::is_some).collect(),
            is_implied: vec![false; all.len()],
            searched: all
                .iter()
                .zip(late)
                .map(|(special, late)| late.unwrap_or_else(|| special.text.clone()))
                .collect(),
            longest: longest.unwrap_or(0),
            all,
            known: Pool::default(),
        })
    }

    /// Special tokens that are always found; the id of each is its index.
    pub(crate) fn of_texts(texts: &[String]) -> Result<Self> {
        let texts = texts.iter().filter(|text| !text.is_empty());
        let special = |(id, text): (Id, &String)| Special {
            text: text.clone(),
            id,
            always: true,
            search: Search::default(),
        };
        Self::new((0..).zip(texts).map(special).collect(), |_| Ok(None))
    }

    pub(crate) fn all(&self) -> &[Special] {
        &self.all
    }

    /// An encoder finds the same tokens if it does not search these.
    pub(crate) fn imply(&mut self, is_implied: impl Fn(&Special) -> bool) {
        self.is_implied = self.all.iter().map(is_implied).collect();
    }

    /// The text that is searched for each.
    pub(crate) fn searched(&self) -> impl Iterator<Item = (&Special, &str)> {
        self.all
            .iter()
            .zip(self.searched.iter().map(|text| &**text))
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

    /// The length of the longest, in bytes; 0 if there are none.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether a special token may be found across `cut`, or be found otherwise because of it. The text
    /// goes on by the length of the longest behind the cut, or ends.
    pub(crate) fn span(&self, text: &[u8], cut: usize) -> bool {
        let is_behind_space = last_char(&text[..cut]).is_some_and(char::is_whitespace);
        // White space that it strips, or a neighbour that it looks at, may be on the other side.
        let touches = |special: &Special| {
            let (search, token) = (special.search, special.text.as_bytes());
            (search.strips_left || search.strips_right) && is_behind_space
                || (search.strips_right || search.single_word) && text[..cut].ends_with(token)
        };
        self.split(text, cut) || self.all.iter().any(touches)
    }

    /// Whether a special token that is not at one side of `cut` alone may be found there, or one that
    /// looks at its neighbours is found otherwise if the text is cut.
    fn split(&self, text: &[u8], cut: usize) -> bool {
        // Of so many that there is no trie, one may be anywhere.
        let Some(trie) = &self.trie else {
            return true;
        };
        let is_across = |start: usize| {
            let found = self.all.get(trie.longest(&text[start..]).index());
            found.is_some_and(|special| start + special.text.len() > cut)
        };
        let is_before_word = begins_with_word(&text[cut..]);
        let loses_neighbour = |special: &Special| {
            let token = special.text.as_bytes();
            special.search.single_word
                && (text[cut..].starts_with(token)
                    || is_before_word && text[..cut].ends_with(token))
        };
        ((cut + 1).saturating_sub(self.longest)..cut).any(is_across)
            || self.all.iter().any(loses_neighbour)
    }

    /// The end of the last special token of a phase that is found whatever follows the text, and behind
    /// which the text can be cut; and where the first one behind that begins, or the text ends. Places
    /// up to `most` are followed by all that a special token can be.
    pub(crate) fn last_settled(
        &self,
        phase: Phase,
        text: &[u8],
        most: usize,
        finders: &Finders,
    ) -> (Option<usize>, usize) {
        let mut found = (None, text.len());
        // What was found before the last special token, and before those in whose white space it begins.
        let (mut before, mut end) = (found, 0);
        let Ok(()) = self.for_each_part(phase, text, finders, |part| {
            if let Part::Special(_, place) = part {
                if place.start >= end {
                    before = (found.0, found.1.min(place.start));
                }
                end = place.end;
                let is_sure = !self.split(text, end) && !self.may_strip(phase, &text[..end]);
                found = if end <= most && is_sure {
                    (Some(end), text.len())
                } else {
                    before
                };
            }
            Ok::<(), Infallible>(())
        });
        found
    }

    /// Whether a token of the first phase may strip the end of a text that is searched in a later one.
    fn may_strip(&self, phase: Phase, text: &[u8]) -> bool {
        let mut all = self.all.iter().zip(&self.is_late);
        phase == Phase::Late
            && last_char(text).is_some_and(char::is_whitespace)
            && all.any(|(special, is_late)| special.search.strips_left && !is_late)
    }

    pub(crate) fn finders(&self, choice: &Choice) -> Result<Finders> {
        let is_found =
            |i: usize, special: &Special| special.always || choice.allowed.get(i) == Some(&true);
        Ok(Finders {
            refused: self.finder(|i, _| choice.refused.get(i) == Some(&true))?,
            found: self.finder(|i, special| !self.is_late[i] && is_found(i, special))?,
            found_apart: self.finder(|i, special| {
                !self.is_late[i] && !self.is_implied[i] && is_found(i, special)
            })?,
            found_late: self.finder(|i, special| self.is_late[i] && is_found(i, special))?,
        })
    }

    /// Finds the special tokens that are wanted; None if none is.
    fn finder(&self, is_wanted: impl Fn(usize, &Special) -> bool) -> Result<Option<Arc<Finder>>> {
        let wanted = self.all.iter().enumerate();
        let wanted = wanted.filter(|(i, special)| is_wanted(*i, special));
        let wanted = wanted.filter(|(i, _)| !self.searched[*i].is_empty());
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
        let texts: Vec<&str> = indices.iter().map(|&i| &*self.searched[i]).collect();
        let finder = Arc::new(Finder::new(indices, &texts)?);
        self.known.keep(0, finder.clone());
        Ok(Some(finder))
    }

    /// An error if the text holds a special token that is refused.
    pub(crate) fn check(&self, text: &[u8], finders: &Finders) -> Result<()> {
        if let Some(finder) = &finders.refused
            && let Some((index, place)) = finder.find(text, 0)
        {
            return Err(Error::DisallowedSpecial {
                token: self.all[index].text.clone(),
                offset: place.start,
            });
        }
        Ok(())
    }

    /// Where the first special token begins that is refused or found in either phase, if the text is not
    /// changed before the second.
    pub(crate) fn first_place(text: &[u8], finders: &Finders) -> Option<usize> {
        let all = [&finders.refused, &finders.found, &finders.found_late];
        let places = all
            .into_iter()
            .flatten()
            .filter_map(|finder| finder.find(text, 0));
        places.map(|(_, place)| place.start).min()
    }

    /// The first special token of the second phase at `from` or behind it, in a text before it is
    /// changed.
    pub(crate) fn next_late(text: &[u8], from: usize, finders: &Finders) -> Option<Range<usize>> {
        let finder = finders.found_late.as_ref()?;
        finder.find(text, from).map(|(_, place)| place)
    }

    /// Calls `use_part` for each special token of a phase that is found and for each stretch between
    /// them.
    pub(crate) fn for_each_part<'t, E>(
        &'t self,
        phase: Phase,
        text: &'t [u8],
        finders: &Finders,
        mut use_part: impl FnMut(Part<'t>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let finder = match phase {
            Phase::Given => &finders.found,
            Phase::Apart => &finders.found_apart,
            Phase::Late => &finders.found_late,
        };
        let mut start = 0;
        for (index, place) in finder.iter().flat_map(|finder| finder.find_iter(text, 0)) {
            let special = &self.all[index];
            let Some(place) = special.search.extended(place, text, start) else {
                continue;
            };
            if start < place.start {
                use_part(Part::Ordinary(start, &text[start..place.start]))?;
            }
            // It may begin in white space that the token before it stripped, and be found all the same
            // if it strips none itself.
            start = place.end;
            use_part(Part::Special(special, place))?;
        }
        if start < text.len() {
            use_part(Part::Ordinary(start, &text[start..]))?;
        }
        Ok(())
    }
}

impl Search {
    /// Where a token that stands at `place` begins and ends with the white space that it strips;
    /// `None` if it does not count there. What is before `start` belongs to another token; one that
    /// strips white space before it does not begin there, and does not count if nothing of it is left.
    #[inline]
    fn extended(self, place: Range<usize>, text: &[u8], start: usize) -> Option<Range<usize>> {
        let (before, behind) = (&text[..place.start], &text[place.end..]);
        if self.single_word && (last_char(before).is_some_and(is_word) || begins_with_word(behind))
        {
            return None;
        }
        let mut extended = place;
        while self.strips_left
            && extended.start > start
            && let Some(space) = last_char(&text[..extended.start]).filter(|c| c.is_whitespace())
        {
            extended.start -= space.len_utf8();
        }
        while self.strips_right
            && let Some(space) = first_char(&text[extended.end..]).filter(|c| c.is_whitespace())
        {
            extended.end += space.len_utf8();
        }
        if self.strips_left {
            extended.start = extended.start.max(start);
        }
        (extended.start < extended.end).then_some(extended)
    }
}

fn is_word(character: char) -> bool {
    regex_syntax::try_is_word_character(character).unwrap_or(false)
}

fn begins_with_word(text: &[u8]) -> bool {
    first_char(text).is_some_and(is_word)
}

/// The last character of bytes, unless they end in something else.
fn last_char(bytes: &[u8]) -> Option<char> {
    let longest = bytes.len().min(4);
    let ends = (1..=longest).map(|length| &bytes[bytes.len() - length..]);
    let mut characters = ends.filter_map(first_char);
    characters.find(|character| bytes.ends_with(character.encode_utf8(&mut [0; 4]).as_bytes()))
}

/// The first character of bytes, unless they begin with something else.
fn first_char(bytes: &[u8]) -> Option<char> {
    let beginning = &bytes[..bytes.len().min(4)];
    let valid = beginning.utf8_chunks().next()?.valid();
    valid.chars().next()
}
