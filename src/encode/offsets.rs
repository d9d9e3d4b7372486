//! Where the tokens of a text stand in it.

use super::Choice;
use super::encoder::Encoder;
use super::search::Scratch;
use super::stretches::Stretch;
use crate::error::Result;
use crate::merges::Id;
use crate::pipeline::{Place, Prepared};
use crate::specials::{Finders, Part};
use crate::watch::Watch;

/// Tokens and where they stand.
type Placed = Vec<(Id, Place)>;

impl Encoder {
    /// The ids of a text, and where each token begins and ends in it.
    ///
    /// Where a step changes the text, a token has the place of what it was made of: a space that was
    /// put before a text has the place of the text's first character.
    pub fn encode_with_offsets(
        &self,
        text: &[u8],
        choice: &Choice,
        watch: &Watch,
    ) -> Result<(Vec<Id>, Vec<Place>)> {
        let finders = self.specials.finders(choice)?;
        self.specials.check(text, &finders)?;
        let found = match &self.pipeline {
            None => self.placed(text, &finders, watch)?,
            Some(pipeline) => {
                let mut found = Placed::new();
                self.for_each_stretch(pipeline, text, &finders, true, watch, |stretch| {
                    match stretch {
                        Stretch::Special(special, place) => found.push((special.id, place)),
                        Stretch::Words(words) => {
                            self.place(
                                &words.text,
                                0,
                                &mut found,
                                watch,
                                |use_word| {
                                    self.for_each_prepared_word(&words, use_word);
                                    Ok(())
                                },
                                |start, end| place_of(&words, start, end),
                            )?;
                        }
                    }
                    Ok(())
                })?;
                found
            }
        };
        Ok(found.into_iter().unzip())
    }

    /// The tokens of a text without a pipeline.
    fn placed(&self, text: &[u8], finders: &Finders, watch: &Watch) -> Result<Placed> {
        let mut found = Placed::new();
        let prefixed = self.preparation.with_prefix(text);
        let hidden = prefixed.len() - text.len();
        let shown = |at: usize| at.saturating_sub(hidden);
        self.specials
            .for_each_part(&prefixed, finders, |part| match part {
                Part::Special(special, place) => {
                    found.push((special.id, (shown(place.start), shown(place.end))));
                    Ok(())
                }
                Part::Ordinary(start, text) => {
                    let (prepared, places) = self.preparation.prepare_placed(text)?;
                    let first = found.len();
                    self.place(
                        &prepared,
                        start,
                        &mut found,
                        watch,
                        |use_word| self.for_each_word(&prepared, watch, use_word),
                        |from, to| match &places {
                            Some(places) => (places[from].0, places[to - 1].1),
                            None => (from, to),
                        },
                    )?;
                    for (_, place) in &mut found[first..] {
                        *place = (shown(start + place.0), shown(start + place.1));
                    }
                    Ok(())
                }
            })?;
        Ok(found)
    }

    /// Append the tokens of a stretch of text that begins at `start` of the whole: those of each word
    /// that `for_each_word` gives, with the places that `place_of` gives to their bytes.
    fn place(
        &self,
        text: &[u8],
        start: usize,
        found: &mut Placed,
        watch: &Watch,
        for_each_word: impl FnOnce(&mut dyn FnMut(usize, usize)) -> Result<()>,
        place_of: impl Fn(usize, usize) -> Place,
    ) -> Result<()> {
        let first = found.len();
        let (mut scratch, mut pieces, mut result) = (Scratch::default(), Vec::new(), Ok(()));
        for_each_word(&mut |from, to| {
            if result.is_err() {
                return;
            }
            pieces.clear();
            let hidden = self.preparation.hidden_bytes(text);
            result = self
                .words
                .encode(&text[from..to], &mut scratch, &mut pieces, watch)
                .map_err(|error| error.moved(start + from, hidden));
            let mut at = from;
            for &(id, length) in &pieces {
                found.push((id, place_of(at, at + length)));
                at += length;
            }
        })?;
        result?;
        if let Some(id) = self.fused() {
            let mut stretch = found.split_off(first);
            stretch.dedup_by(|later, earlier| {
                let is_one = later.0 == id && earlier.0 == id;
                if is_one {
                    earlier.1.1 = later.1.1;
                }
                is_one
            });
            found.append(&mut stretch);
        }
        Ok(())
    }
}

/// What the bytes from `start` to `end` stand for.
fn place_of(prepared: &Prepared, start: usize, end: usize) -> Place {
    let places = &prepared.places[start..end];
    let place = |place: Option<&Place>| place.copied().unwrap_or_default();
    (place(places.first()).0, place(places.last()).1)
}
