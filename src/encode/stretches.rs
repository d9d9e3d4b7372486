//! The stretches of a text: special tokens, and what is between them.

use std::borrow::Cow;

use super::context::Context;
use super::prepare::Preparation;
use crate::error::Result;
use crate::merges::Id;
use crate::pipeline::{Pipeline, Place, Prepared};
use crate::specials::{Finders, Part, Phase, Specials};
use crate::watch::Watch;

/// A stretch of a text.
pub(super) enum Stretch<'s> {
    /// A special token, what it stands for in the text, and that as it was found, normalised or not.
    Special(Id, Place, &'s [u8]),
    Words(Prepared),
}

/// How places in a stretch that may have a space before it become places in the text.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    pub(super) start: usize,
    hidden: usize,
    /// What is before the part.
    pub(super) context: Context,
}

impl Shift {
    /// Where a place of the stretch is in the text.
    pub(super) fn shown(self, at: usize) -> usize {
        (self.start + at)
            .saturating_sub(self.hidden)
            .max(self.start)
    }
}

/// Finds the stretches of texts.
#[derive(Clone, Copy)]
pub(super) struct Stretches<'e>(pub(super) &'e Specials);

impl Stretches<'_> {
    /// Call `use_stretch` with each stretch of a text. Special tokens are found first in the text as
    /// it is, then in what the normalizer makes of the rest; what is left is cut into words.
    pub(super) fn for_each_stretch(
        self,
        pipeline: &Pipeline,
        text: &[u8],
        finders: &Finders,
        is_tracked: bool,
        watch: &Watch,
        mut use_stretch: impl FnMut(Stretch<'_>) -> Result<()>,
    ) -> Result<()> {
        let is_tracked = is_tracked || pipeline.needs_places();
        let specials = self.0;
        specials.for_each_part(Phase::Given, text, finders, |part| match part {
            Part::Special(special, place) => {
                let found = &text[place.clone()];
                let place = (place.start, place.end);
                use_stretch(Stretch::Special(special.id, place, found))
            }
            Part::Ordinary(start, text) => {
                let kept = |from: usize| Specials::next_late(text, from, finders);
                let normal = pipeline.normalize(text, start, is_tracked, &kept, watch)?;
                let bytes = normal.text().as_bytes();
                specials.for_each_part(Phase::Late, bytes, finders, |part| match part {
                    Part::Special(special, range) => {
                        let found = &bytes[range.clone()];
                        let place = normal.place(range).unwrap_or((start, start));
                        use_stretch(Stretch::Special(special.id, place, found))
                    }
                    Part::Ordinary(at, text) => {
                        let stretch = normal.slice(at..at + text.len());
                        let prepared = pipeline.prepare(stretch, watch);
                        use_stretch(Stretch::Words(
                            prepared.map_err(|error| error.moved(start, 0))?,
                        ))
                    }
                })
            }
        })
    }

    /// Call `use_part` with each part of a text without a pipeline, what is before it, and how places in
    /// it become those of the text. `context` is what is before the text. A space that is put before a text only once stands before each stretch between
    /// special tokens of the first phase.
    pub(super) fn for_each_part(
        self,
        preparation: Preparation,
        context: Context,
        text: &[u8],
        finders: &Finders,
        mut use_part: impl FnMut(Part<'_>, Shift) -> Result<()>,
    ) -> Result<()> {
        let specials = self.0;
        specials.for_each_part(Phase::Given, text, finders, |part| match part {
            Part::Special(..) => use_part(
                part,
                Shift {
                    start: 0,
                    hidden: 0,
                    context,
                },
            ),
            Part::Ordinary(start, text) => {
                let first = if start == 0 { context } else { Context::Start };
                let (prefixed, others) = match first {
                    Context::Start => (preparation.with_prefix(text), Context::Start),
                    _ => (Cow::Borrowed(text), Context::Special),
                };
                let hidden = prefixed.len() - text.len();
                specials.for_each_part(Phase::Late, &prefixed, finders, |part| {
                    let is_first = matches!(part, Part::Ordinary(0, _));
                    let shift = Shift {
                        start,
                        hidden,
                        context: if is_first { first } else { others },
                    };
                    use_part(part, shift)
                })
            }
        })
    }
}
