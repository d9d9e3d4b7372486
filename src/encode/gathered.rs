//! Short texts encoded together.
//!
//! Words are looked up so fast because the loads of a batch overlap. A short text has too few words for
//! that, so neighbours are copied one behind the other, and batches go across their ends. They must be
//! texts of which nothing but words is to be made; others are encoded one by one.

use std::borrow::Cow;

use super::encoder::Encoder;
use super::run::{Desk, Gathered, Run};
use super::sink::Sink;
use crate::error::Result;
use crate::merges::Id;
use crate::parallel::Piece;
use crate::pattern::Scanner;
use crate::specials::{Call, Specials};
use crate::watch::Watch;

/// A text of so many bytes has words enough by itself.
const MOST_BYTES_OF_TEXT: usize = 1 << 12;
/// So many bytes are gathered at first, and at most: they should stay in the nearest cache.
const LEAST_BYTES: usize = 1 << 9;
const MOST_BYTES: usize = 1 << 14;

impl Encoder {
    /// Encode those of the first pieces together that can be, and append their ids, and where the texts
    /// end; returns how many. If a text has an error, none are.
    pub(super) fn encode_gathered(
        &self,
        pieces: &[Piece<'_>],
        call: &Call,
        desk: &mut Desk,
        (ids, ends): (&mut Vec<Id>, &mut Vec<usize>),
        watch: &Watch,
    ) -> usize {
        let Some(scanner) = self.pattern().scanner().filter(|_| self.has_only_words()) else {
            return 0;
        };
        let mut gathered = std::mem::take(&mut desk.gathered);
        self.gather(pieces, call, &mut gathered);
        let encoded = match gathered.ends.len() {
            0 | 1 => Ok(0),
            _ => self.encode_texts(scanner, &mut gathered, desk, watch),
        };
        let num_texts = encoded.unwrap_or(0);
        let texts = &desk.seams.ids[..num_texts];
        if call.frame.is_bare() {
            let first = ids.len();
            let all = texts.last().map_or(0, |&end| end);
            ids.extend_from_slice(&gathered.ids[..all]);
            ends.extend(texts.iter().map(|end| first + end));
        } else {
            let mut start = 0;
            for &end in texts {
                let first = call.frame.open(ids);
                ids.extend_from_slice(&gathered.ids[start..end]);
                call.frame.close(ids, first);
                ends.push(ids.len());
                start = end;
            }
        }
        desk.gathered = gathered;
        num_texts
    }

    /// Whether nothing happens to a text but that special tokens are found, that it is normalised, and
    /// that its words are merged.
    fn has_only_words(&self) -> bool {
        self.pipeline().is_none() && self.preparation().keeps_words()
    }

    /// Gather those of the first pieces that can be encoded together.
    fn gather(&self, pieces: &[Piece<'_>], call: &Call, gathered: &mut Gathered) {
        let Gathered {
            text,
            ends,
            num_bytes,
            ..
        } = gathered;
        text.clear();
        ends.clear();
        let most_bytes = LEAST_BYTES.max(*num_bytes);
        for piece in pieces {
            let has_room = text.len() < most_bytes;
            let is_short = piece.text.len() <= MOST_BYTES_OF_TEXT;
            let is_whole = piece.start == 0 && piece.is_last;
            let is_prepared = || matches!(self.preparation().prepare(piece.text), Cow::Borrowed(_));
            if !(has_room && is_short && is_whole && is_prepared()) {
                break;
            }
            text.extend_from_slice(piece.text);
            ends.push(text.len());
        }
        *num_bytes = MOST_BYTES.min(most_bytes * 2);
        // What looks like a special token may lie in two texts; then it is none.
        if let Some(place) = Specials::first_place(text, &call.finders) {
            ends.truncate(ends.partition_point(|&end| end <= place));
            *num_bytes = place;
        }
    }

    /// Encode the texts that are gathered; returns how many they are.
    fn encode_texts(
        &self,
        scanner: &Scanner,
        gathered: &mut Gathered,
        desk: &mut Desk,
        watch: &Watch,
    ) -> Result<usize> {
        gathered.ids.clear();
        let mut sink = Sink::keeping(&mut gathered.ids);
        let run = Run {
            encoder: &self.words,
            text: &gathered.text,
            start: 0,
            desk,
            sink: &mut sink,
            watch,
            result: Ok(()),
        };
        run.encode_texts(scanner, &gathered.ends)?;
        Ok(gathered.ends.len())
    }
}
