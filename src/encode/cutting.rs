//! Special tokens that are only cut out of texts.
//!
//! Some vocabularies have special tokens that are frequent in ordinary texts: runs of line breaks, of
//! tabs, of spaces. Mostly merging would make the same tokens of their texts. Then it is enough to cut
//! before and behind them, and a text is encoded as one stretch.

use rustc_hash::FxHashSet;

use super::encoder::Encoder;
use super::joins::Joins;
use super::prepare::Preparation;
use super::run::{Desk, Run};
use super::search::Scratch;
use super::sink::Sink;
use crate::error::Result;
use crate::merges::Id;
use crate::specials::{Finders, Part, Phase, Search, Special};
use crate::watch::Watch;

impl Encoder {
    /// The ids of special tokens that need only be cut out: merging makes them of their texts. None if
    /// a text between special tokens is changed otherwise than a whole text is.
    pub(super) fn find_cut_out(&self) -> FxHashSet<Id> {
        let changes_stretches = Preparation {
            mark_is_space: false,
            ..self.preparation
        } != Preparation::default();
        let is_simple = |special: &Special| special.search == Search::default();
        if self.pipeline.is_some()
            || self.fused().is_some()
            || changes_stretches
            || !self.specials().iter().all(is_simple)
        {
            return FxHashSet::default();
        }
        let (mut scratch, mut pieces) = (Scratch::default(), Vec::new());
        let mut is_made = |special: &Special| {
            pieces.clear();
            let text = special.text.as_bytes();
            let result = self
                .words
                .encode(text, &mut scratch, &mut pieces, &Watch::default());
            result.is_ok() && pieces == [(special.id, text.len())]
        };
        let (made, others): (Vec<_>, Vec<_>) =
            self.specials().iter().partition(|special| is_made(special));
        let mut ids: FxHashSet<Id> = made.iter().map(|special| special.id).collect();
        for special in others {
            ids.remove(&special.id);
        }
        ids
    }

    /// Encode a text that needs no preparation.
    pub(super) fn encode_cut(
        &self,
        joins: &Joins,
        text: &[u8],
        finders: &Finders,
        desk: &mut Desk,
        sink: &mut Sink<'_>,
        watch: &Watch,
    ) -> Result<()> {
        let mut encode = |start: usize, end: usize, cuts: &[usize], sink: &mut Sink<'_>| {
            let run = Run {
                encoder: &self.words,
                text: &text[start..end],
                start: 0,
                desk,
                sink,
                watch,
                result: Ok(()),
            };
            let encoded = run.encode_joined(joins, cuts);
            encoded.map_err(|error| error.moved(start, 0))
        };
        sink.begin(None);
        let (mut start, mut cuts) = (0, Vec::new());
        self.specials
            .for_each_part(Phase::Given, text, finders, |part| {
                let Part::Special(special, place) = part else {
                    return Ok(());
                };
                if self.cut_out.contains(&special.id) {
                    cuts.extend([place.start - start, place.end - start]);
                    return Ok(());
                }
                encode(start, place.start, &cuts, sink)?;
                sink.push_apart(&[special.id]);
                cuts.clear();
                start = place.end;
                Ok(())
            })?;
        encode(start, text.len(), &cuts, sink)
    }
}
