//! Special tokens that are only cut out of texts.
//!
//! Some vocabularies have special tokens that are frequent in ordinary texts: runs of line breaks, of
//! tabs, of spaces. Mostly merging would make the same tokens of their texts. Then it is enough to cut
//! before and behind them, and a text is encoded as one stretch.

use std::convert::Infallible;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::cut_out::{CutOut, Runs};
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
    /// The special tokens that need only be cut out: merging makes them of their texts. None if a text
    /// between special tokens is changed otherwise than a whole text is.
    pub(super) fn find_cut_out(&self) -> CutOut {
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
            return CutOut::default();
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
        let is_only_cut = |special: &Special| special.always && ids.contains(&special.id);
        let first_bytes: FxHashSet<u8> = made
            .iter()
            .filter_map(|special| special.text.bytes().next().filter(u8::is_ascii))
            .collect();
        let runs = first_bytes
            .into_iter()
            .filter_map(|byte| Runs::new(byte, self.vocabulary(), self.specials(), is_only_cut))
            .collect();
        CutOut { ids, runs }
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
        sink.begin(None);
        let (mut cuts, mut apart) = (Vec::new(), Vec::new());
        self.cut_out
            .runs
            .iter()
            .for_each(|runs| runs.cut(text, &mut cuts));
        let Ok(()) = self
            .specials
            .for_each_part(Phase::Apart, text, finders, |part| {
                match part {
                    Part::Special(special, place) if self.cut_out.ids.contains(&special.id) => {
                        cuts.extend([place.start, place.end]);
                    }
                    Part::Special(special, place) => apart.push((special.id, place)),
                    Part::Ordinary(..) => {}
                }
                Ok::<(), Infallible>(())
            });
        cuts.sort_unstable();
        let mut encode = |Range { start, end }: Range<usize>, sink: &mut Sink<'_>| {
            let run = Run {
                encoder: &self.words,
                text: &text[..end],
                start,
                desk,
                sink,
                watch,
                result: Ok(()),
            };
            let behind = &cuts[cuts.partition_point(|&cut| cut <= start)..];
            run.encode_joined(joins, &behind[..behind.partition_point(|&cut| cut < end)])
        };
        let mut start = 0;
        for (id, place) in apart {
            encode(start..place.start, sink)?;
            sink.push_apart(&[id]);
            start = place.end;
        }
        encode(start..text.len(), sink)
    }
}
