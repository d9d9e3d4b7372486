//! Where the tokens of a text stand in it.

use super::Choice;
use super::encoder::Encoder;
use super::search::Scratch;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::specials::Part;
use crate::watch::Watch;

/// Where a token begins and ends in its text, in bytes.
pub type Place = (usize, usize);

impl Encoder {
    /// The ids of a text, and where each token begins and ends in it.
    pub fn encode_with_offsets(
        &self,
        text: &[u8],
        choice: &Choice,
        watch: &Watch,
    ) -> Result<(Vec<Id>, Vec<Place>)> {
        let mut found = Vec::new();
        let prefixed = self.preparation.with_prefix(text);
        let mut end = 0;
        let finders = self.specials.finders(choice)?;
        self.specials.check(text, &finders)?;
        self.specials
            .for_each_part(&prefixed, &finders, |part| match part {
                Part::Special(special) => {
                    let start = end;
                    end += special.text.len();
                    found.push((special.id, (start, end)));
                    Ok(())
                }
                Part::Ordinary(start, text) => {
                    end = start + text.len();
                    self.place(start, text, &mut found, watch)
                }
            })?;
        let hidden = prefixed.len() - text.len();
        let shown = |at: usize| at.saturating_sub(hidden);
        let found = found.into_iter();
        let shown = found.map(|(id, (start, end))| (id, (shown(start), shown(end))));
        Ok(shown.unzip())
    }

    /// Append the tokens of a stretch of text that begins at `start` of the whole.
    fn place(
        &self,
        start: usize,
        text: &[u8],
        found: &mut Vec<(Id, Place)>,
        watch: &Watch,
    ) -> Result<()> {
        let prepared = self.preparation.prepare(text);
        let hidden = prepared.len().saturating_sub(text.len());
        if hidden > 1 || prepared[hidden..] != *text {
            return Err(Error::NoOffsets);
        }
        let first = found.len();
        let (mut scratch, mut pieces, mut result) = (Scratch::default(), Vec::new(), Ok(()));
        self.for_each_word(&prepared, watch, |from, to| {
            if result.is_err() {
                return;
            }
            pieces.clear();
            result = self
                .words
                .encode(&prepared[from..to], &mut scratch, &mut pieces, watch)
                .map_err(|error| error.moved(start + from, self.preparation.hidden_bytes(text)));
            let mut at = from;
            for &(id, length) in &pieces {
                let shown = |at: usize| start + at.saturating_sub(hidden);
                found.push((id, (shown(at), shown(at + length))));
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
