//! Where the tokens of a text stand in it.

use super::Call;
use super::context::Context;
use super::encoder::Encoder;
use super::search::Scratch;
use super::stretches::Stretch;
use crate::error::Result;
use crate::framing::{Frame, Side};
use crate::merges::Id;
use crate::pipeline::{Pipeline, Place, letter_of};
use crate::specials::{Finders, Part};
use crate::vocabulary::Symbols;
use crate::watch::Watch;

/// What places are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Characters. A token that holds a part of a character holds all of it.
    Characters,
}

/// A token of a text.
struct Placed {
    id: Id,
    place: Place,
    /// How many characters of white space it begins and ends with.
    spaces: (usize, usize),
}

impl Encoder {
    /// The ids of a text, and where each token begins and ends in it.
    ///
    /// Where a step changes the text, a token has the place of what it was made of: a space that was
    /// put before a text has the place of the text's first character. Ids around the text are at
    /// `(0, 0)`.
    pub fn encode_with_offsets(
        &self,
        text: &[u8],
        unit: Unit,
        call: &Call,
        watch: &Watch,
    ) -> Result<(Vec<Id>, Vec<Place>)> {
        let finders = &call.finders;
        self.specials.check(text, finders)?;
        let mut found = match &self.pipeline {
            None => self.placed(text, finders, watch)?,
            Some(pipeline) => self.placed_by_steps(pipeline, text, finders, watch)?,
        };
        if unit == Unit::Characters {
            to_characters(text, &mut found);
        }
        if let Some(keeps_prefix) = call.trims_spaces {
            for (index, token) in found.iter_mut().enumerate() {
                token.trim(index == 0, keeps_prefix);
            }
        }
        Ok(framed(&found, &call.frame))
    }

    /// The tokens of a text without a pipeline.
    fn placed(&self, text: &[u8], finders: &Finders, watch: &Watch) -> Result<Vec<Placed>> {
        let mut found = Vec::new();
        let preparation = self.preparation;
        self.stretches().for_each_part(
            preparation,
            Context::Start,
            text,
            finders,
            |part, shift| match part {
                Part::Special(special, range) => {
                    let place = (shift.shown(range.start), shift.shown(range.end));
                    let spaces = white_ends(&text[place.0..place.1]);
                    let id = special.id;
                    found.push(Placed { id, place, spaces });
                    Ok(())
                }
                Part::Ordinary(start, text) => {
                    let (prepared, places) = preparation.prepare_placed(text, watch)?;
                    let hidden = preparation.hidden_bytes(text);
                    let place_of = |from: usize, to: usize| {
                        let place = match &places {
                            Some(places) => span(places, from, to),
                            None => (from, to),
                        };
                        (shift.shown(start + place.0), shift.shown(start + place.1))
                    };
                    self.place(&prepared, &mut found, watch, &place_of, |use_word| {
                        self.for_each_word(&prepared, watch, use_word)
                    })
                    .map_err(|error| error.moved(shift.start + start, hidden))
                }
            },
        )?;
        Ok(found)
    }

    /// The tokens of a text with a pipeline.
    fn placed_by_steps(
        &self,
        pipeline: &Pipeline,
        text: &[u8],
        finders: &Finders,
        watch: &Watch,
    ) -> Result<Vec<Placed>> {
        let mut found = Vec::new();
        self.stretches()
            .for_each_stretch(
                pipeline,
                text,
                finders,
                true,
                watch,
                |stretch| match stretch {
                    Stretch::Special(id, place, text) => {
                        let spaces = white_ends(text);
                        found.push(Placed { id, place, spaces });
                        Ok(())
                    }
                    Stretch::Words(words) => {
                        let place_of = |start, end| span(&words.places, start, end);
                        self.place(&words.text, &mut found, watch, &place_of, |use_word| {
                            self.for_each_prepared_word(&words, use_word);
                            Ok(())
                        })
                    }
                },
            )?;
        Ok(found)
    }

    /// Append the tokens of a prepared text: those of each word that `for_each_word` gives, with the
    /// places that `place_of` gives to their bytes.
    fn place(
        &self,
        text: &[u8],
        found: &mut Vec<Placed>,
        watch: &Watch,
        place_of: &dyn Fn(usize, usize) -> Place,
        for_each_word: impl FnOnce(&mut dyn FnMut(usize, usize)) -> Result<()>,
    ) -> Result<()> {
        let first = found.len();
        let unknown = self.words.unknown.ids();
        let (mut scratch, mut pieces, mut result) = (Scratch::default(), Vec::new(), Ok(()));
        for_each_word(&mut |from, to| {
            if result.is_err() {
                return;
            }
            pieces.clear();
            result = self
                .words
                .encode(&text[from..to], &mut scratch, &mut pieces, watch)
                .map_err(|error| error.moved(from, 0));
            let word = &text[from..to];
            let kept = self.words.kept(word);
            let mut at = 0;
            for &(id, length) in &pieces {
                let token = &kept[at..at + length];
                let (start, end) = if kept.len() == word.len() {
                    (at, at + length)
                } else {
                    self.counted(word, &kept[..at], token)
                };
                found.push(Placed {
                    id,
                    place: place_of(from + start, from + end),
                    spaces: self.spaces_of(id, token, &unknown),
                });
                at += length;
            }
        })?;
        result?;
        if let Some(id) = self.fused() {
            let mut stretch = found.split_off(first);
            stretch.dedup_by(|later, earlier| {
                let is_one = later.id == id && earlier.id == id;
                if is_one {
                    earlier.place.1 = later.place.1;
                }
                is_one
            });
            found.append(&mut stretch);
        }
        Ok(())
    }

    /// Where a token stands in a word of which symbols were left out, as tokenizers says it: as if they
    /// had not been there, in the letters of bytes where there are such.
    fn counted(&self, word: &[u8], before: &[u8], token: &[u8]) -> (usize, usize) {
        let has_letters = self.words.vocabulary.symbols() == Symbols::Bytes;
        let width = |&byte: &u8| {
            if has_letters {
                letter_of(byte).len_utf8()
            } else {
                1
            }
        };
        let index = |letter: usize| {
            let mut end = 0;
            let found = word.iter().position(|byte| {
                end += width(byte);
                letter < end
            });
            found.unwrap_or(word.len() - 1)
        };
        let start: usize = before.iter().map(width).sum();
        let length: usize = token.iter().map(width).sum();
        (index(start), index(start + length - 1) + 1)
    }

    /// How many characters of white space an ordinary token that stands for this text has at its ends,
    /// as its file writes it: those that stand for `unknown` characters or bytes have names without any,
    /// and what marks the end or the inside of a word is none.
    fn spaces_of(&self, id: Id, text: &[u8], unknown: &[Id]) -> (usize, usize) {
        let vocabulary = &self.words.vocabulary;
        let has_letters = vocabulary.symbols() == Symbols::Bytes;
        // In letters for bytes only that of a space counts. Where spaces are marks, they are none.
        let is_space = |c: char| match c {
            ' ' => !self.preparation.mark_is_space,
            c => !has_letters && is_white(c),
        };
        // Most tokens begin and end in letters.
        let is_plain = |byte: &u8| byte.is_ascii_graphic() || has_letters && *byte != b' ';
        if text.first().is_none_or(is_plain) && text.last().is_none_or(is_plain) {
            return (0, 0);
        }
        let (leading, ending) = ends_in(text, is_space);
        if (leading, ending) == (0, 0) {
            return (0, 0);
        }
        let (first, last) = (vocabulary.start_of_word(), vocabulary.end_of_word());
        let is_called = |start: &[u8], end: &[u8]| {
            let number = vocabulary.number(&[start, text, end].concat());
            number.is_some_and(|number| vocabulary.id(number) == Some(id))
        };
        let (has_first, has_last) = (
            is_called(first, b"") || is_called(first, last),
            is_called(b"", last) || is_called(first, last),
        );
        if unknown.contains(&id) && !has_first && !has_last && !is_called(b"", b"") {
            return (0, 0);
        }
        let is_inside = !first.is_empty() && !has_first;
        let is_ended = !last.is_empty() && has_last;
        (
            if is_inside { 0 } else { leading },
            if is_ended { 0 } else { ending },
        )
    }
}

impl Placed {
    /// Leave white space out of its place, but for one space that was put before a text.
    fn trim(&mut self, is_first: bool, keeps_prefix: bool) {
        let (start, end) = &mut self.place;
        let (mut leading, trailing) = self.spaces;
        if (is_first || *start == 0) && keeps_prefix && leading == 1 {
            leading = 0;
        }
        *start = (*start + leading).min(*end);
        if *end >= trailing {
            *end = (*end - trailing).max(*start);
        }
    }
}

/// The ids and places of tokens, with what is around the text.
fn framed(found: &[Placed], frame: &Frame) -> (Vec<Id>, Vec<Place>) {
    let mut ids = Vec::with_capacity(found.len());
    let start = frame.open(&mut ids);
    ids.extend(found.iter().map(|token| token.id));
    frame.close(&mut ids, start);
    let num_kept = ids.len() - start - frame.after.len();
    let first_kept = match frame.limit {
        Some((_, Side::Left)) => found.len() - num_kept,
        _ => 0,
    };
    let ends = vec![0, ids.len()];
    let num_framed = ids.len();
    let ids = frame.fill((ids, ends)).0;
    let padding = frame.padding.as_ref();
    let num_left = match padding.map(|padding| padding.side) {
        Some(Side::Left) => start + ids.len() - num_framed,
        _ => start,
    };
    let mut places = vec![(0, 0); num_left];
    let kept = &found[first_kept..first_kept + num_kept];
    places.extend(kept.iter().map(|token| token.place));
    places.resize(ids.len(), (0, 0));
    (ids, places)
}

/// How many characters of white space a text, or the letters of one, begins and ends with.
fn white_ends(text: &[u8]) -> (usize, usize) {
    ends_in(text, is_white)
}

/// Whether a character is white space, or the letter of a space.
fn is_white(character: char) -> bool {
    character.is_whitespace() || character == 'Ġ'
}

/// How many of these characters a text begins and ends with.
fn ends_in(text: &[u8], is_one: impl Fn(char) -> bool) -> (usize, usize) {
    let text = String::from_utf8_lossy(text);
    let leading = text.chars().take_while(|&c| is_one(c)).count();
    (
        leading,
        text.chars().rev().take_while(|&c| is_one(c)).count(),
    )
}

/// What bytes with these places stand for, from one of them to another; no bytes, such as a mark for
/// the end of a word, stand for nothing behind those before them.
fn span(places: &[Place], start: usize, end: usize) -> Place {
    if start < end {
        return (places[start].0, places[end - 1].1);
    }
    let at = places[..start].last().map_or(0, |place| place.1);
    (at, at)
}

/// Turn places in the bytes of a text into places among its characters.
fn to_characters(text: &[u8], found: &mut [Placed]) {
    if text.is_ascii() {
        return;
    }
    let is_start = |at: usize| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    // `before` characters begin before the byte `at`.
    let (mut at, mut before) = (0, 0);
    let mut move_to = |target: usize| {
        while at < target {
            before += usize::from(is_start(at));
            at += 1;
        }
        while at > target {
            at -= 1;
            before -= usize::from(is_start(at));
        }
        before
    };
    for token in found {
        let (start, end) = token.place;
        let before_start = move_to(start);
        let first = if is_start(start) {
            before_start
        } else {
            before_start - 1
        };
        token.place = (first, move_to(end));
    }
}
