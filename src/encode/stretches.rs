//! The stretches of a text whose tokenizer has a pipeline of steps: special tokens, and words.

use std::str::from_utf8;

use super::encoder::Encoder;
use crate::error::{Error, Result};
use crate::pipeline::{Aligned, Pipeline, Place, Prepared};
use crate::specials::{Finders, Part, Phase, Special};
use crate::watch::Watch;

/// A stretch of a text.
pub(super) enum Stretch<'s> {
    /// A special token, and what it stands for in the text.
    Special(&'s Special, Place),
    Words(Prepared),
}

impl Encoder {
    /// Call `use_stretch` with each stretch of a text. Special tokens are found first in the text as
    /// it is, then in what the normalizer makes of the rest; what is left is cut into words.
    pub(super) fn for_each_stretch(
        &self,
        pipeline: &Pipeline,
        text: &[u8],
        finders: &Finders,
        is_tracked: bool,
        watch: &Watch,
        mut use_stretch: impl FnMut(Stretch<'_>) -> Result<()>,
    ) -> Result<()> {
        let is_tracked = is_tracked || pipeline.needs_places();
        let invalid = |error: std::str::Utf8Error| Error::InvalidUtf8 {
            offset: error.valid_up_to(),
        };
        from_utf8(text).map_err(invalid)?;
        let specials = &self.specials;
        specials.for_each_part_in(Phase::Given, text, finders, |part| match part {
            Part::Special(special, place) => {
                use_stretch(Stretch::Special(special, (place.start, place.end)))
            }
            Part::Ordinary(start, text) => {
                let text = from_utf8(text).map_err(invalid)?;
                let mut normal = Aligned::new(text, start, is_tracked);
                pipeline.normalize(&mut normal, watch)?;
                let bytes = normal.text().as_bytes();
                specials.for_each_part_in(Phase::Normalized, bytes, finders, |part| match part {
                    Part::Special(special, range) => {
                        let place = normal.place(range).unwrap_or((start, start));
                        use_stretch(Stretch::Special(special, place))
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
}
