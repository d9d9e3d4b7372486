//! What happens to a text before merging, as the files of the library tokenizers say it: steps that
//! normalise the text, and steps that cut it into words.
//!
//! Each step is one small type that does what the step of this name does there, on every text; a
//! [`Pipeline`] is their sequence. Most files' steps amount to a normal form, a space before the text
//! and one pattern: those are recognised when they are read and done by faster means
//! ([`Preparation`](crate::encode::Preparation) and [`Pattern`](crate::pattern::Pattern)). All others
//! come here.

mod aligned;
mod behavior;
mod bert;
mod characters;
mod charsmap;
mod cuts;
mod letters;
mod metaspace;
mod normalizers;
mod oniguruma;
mod precompiled;
mod reading;
mod rewriting;
mod search;
mod sentencepiece;

pub use aligned::Place;
pub(crate) use aligned::{Aligned, Pieces};
pub(crate) use cuts::Cut;
pub(crate) use letters::{byte_of, letter_of};
pub(crate) use normalizers::Normalizer;
pub use oniguruma::translated as from_oniguruma;
pub(crate) use reading::read_json;
pub(crate) use search::Search;
pub(crate) use sentencepiece::{Kept, SentencePiece};

use crate::error::{Error, Result};
use crate::pattern::Pattern;
use crate::watch::Watch;

/// The steps of a tokenizer.
#[derive(Debug)]
pub struct Pipeline {
    /// The JSON of which it was read.
    source: String,
    normalizer: Normalizing,
    pre_tokenizer: Vec<Cut>,
    /// Whether the words are in letters that stand for bytes, and become these bytes.
    is_spelled: bool,
}

/// What changes a text before it is cut.
#[derive(Debug)]
enum Normalizing {
    /// Steps of tokenizer.json.
    Steps(Vec<Normalizer>),
    /// A model of SentencePiece.
    SentencePiece(Box<SentencePiece>),
}

/// A stretch of text, ready to be merged word by word.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// The words, one behind the other.
    pub(crate) text: Vec<u8>,
    /// Where each word ends.
    pub(crate) ends: Vec<usize>,
    /// What each byte stands for in the caller's text, if that was asked.
    pub(crate) places: Vec<Place>,
}

impl Pipeline {
    /// The JSON of which it was read.
    pub fn json(&self) -> &str {
        &self.source
    }

    /// A text after the normalizer.
    pub fn normalized(&self, text: &str) -> Result<String> {
        let normal = self.normalize(text.as_bytes(), 0, false, &|_| None, &Watch::default())?;
        Ok(normal.text().to_owned())
    }

    /// The words of a text that was normalised, before letters become bytes, and what each stands for.
    pub fn words(&self, text: &str) -> Result<Vec<(String, Place)>> {
        let aligned = Aligned::new(text, 0, true);
        let pieces = self.cut(aligned, &Watch::default())?;
        let words = pieces.ranges().iter();
        Ok(words
            .map(|range| {
                let place = pieces.text().place(range.clone()).unwrap_or_default();
                (pieces.text().text()[range.clone()].to_owned(), place)
            })
            .collect())
    }

    /// The pattern that does all that these steps do, if one does.
    pub(crate) fn as_pattern(&self) -> Option<Pattern> {
        let Normalizing::Steps(normalizers) = &self.normalizer else {
            return None;
        };
        let mut cuts = &self.pre_tokenizer[..];
        let mut expressions = Vec::new();
        // Letters for bytes at the end are undone again.
        if let Some((last, others)) = cuts.split_last()
            && let Cut::ByteLevel {
                add_prefix_space: false,
                use_regex,
                pattern,
            } = last
            && self.is_spelled
        {
            if *use_regex {
                expressions.push(pattern.expression()?);
            }
            cuts = others;
        } else if self.is_spelled {
            return None;
        }
        for cut in cuts.iter().rev() {
            expressions.insert(0, cut.as_isolating()?);
        }
        (normalizers.is_empty() && !expressions.is_empty())
            .then(|| Pattern::of_steps(&expressions))?
    }

    /// Whether some step asks where in the caller's text it is.
    pub(crate) fn needs_places(&self) -> bool {
        self.pre_tokenizer.iter().any(Cut::needs_places)
    }

    /// Whether some step cuts texts into words.
    pub(crate) fn cuts_texts(&self) -> bool {
        !self.pre_tokenizer.is_empty()
    }

    /// Whether this is what a model of SentencePiece says. Tokens that are found in every text are
    /// then left as they are, and found in the normalised text.
    pub(crate) fn is_sentencepiece(&self) -> bool {
        matches!(self.normalizer, Normalizing::SentencePiece(_))
    }

    /// A stretch of text that begins at `start` of the caller's, after the normalizer. `kept` finds
    /// what a model of SentencePiece leaves as it is.
    pub(crate) fn normalize(
        &self,
        text: &[u8],
        start: usize,
        is_tracked: bool,
        kept: Kept<'_>,
        watch: &Watch,
    ) -> Result<Aligned> {
        watch.check()?;
        let steps = match &self.normalizer {
            Normalizing::SentencePiece(step) => {
                return Ok(step.normalized(text, start, is_tracked, kept));
            }
            Normalizing::Steps(steps) => steps,
        };
        let text = std::str::from_utf8(text).map_err(|error| Error::InvalidUtf8 {
            offset: start + error.valid_up_to(),
        })?;
        let mut aligned = Aligned::new(text, start, is_tracked);
        steps
            .iter()
            .try_for_each(|step| step.apply(&mut aligned, watch))?;
        Ok(aligned)
    }

    /// The words of a stretch that was normalised.
    pub(crate) fn prepare(&self, text: Aligned, watch: &Watch) -> Result<Prepared> {
        if self.pre_tokenizer.is_empty() && !self.is_spelled {
            return Ok(Prepared::whole(text));
        }
        let pieces = self.cut(text, watch)?;
        let mut prepared = Prepared::default();
        let text = pieces.text();
        for range in pieces.ranges() {
            for (at, character) in text.text()[range.clone()].char_indices() {
                let at = range.start + at;
                let place = text.place(at..at + 1);
                let mut push = |bytes: &[u8]| {
                    prepared.text.extend_from_slice(bytes);
                    if let Some(place) = place {
                        prepared
                            .places
                            .extend(std::iter::repeat_n(place, bytes.len()));
                    }
                };
                match letters::byte_of(character) {
                    Some(byte) if self.is_spelled => push(&[byte]),
                    _ => push(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            prepared.ends.push(prepared.text.len());
        }
        Ok(prepared)
    }

    fn cut(&self, text: Aligned, watch: &Watch) -> Result<Pieces> {
        let mut pieces = Pieces::new(text);
        for step in &self.pre_tokenizer {
            step.apply(&mut pieces, watch)?;
        }
        Ok(pieces)
    }
}

impl Prepared {
    /// A text that is one word.
    fn whole(text: Aligned) -> Self {
        let (text, places) = text.into_parts();
        Self {
            ends: vec![text.len()],
            text: text.into_bytes(),
            places: places.unwrap_or_default(),
        }
    }
}
