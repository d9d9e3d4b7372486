//! Where the words of a batch end.

use crate::pattern::{MOST_ENDS, Processor};

/// How many words are looked up together, so that their loads from memory overlap. The new ones among
/// them, mostly few, are merged together too.
pub(super) const BATCH: usize = 1024;
/// The most words of a batch: it is full with `BATCH` of them, and the last ones come as one group.
pub(super) const MOST_WORDS: usize = BATCH + MOST_ENDS;

/// The ends of neighbouring words.
#[derive(Debug)]
pub(super) struct Ends {
    places: [usize; MOST_WORDS],
    len: usize,
}

impl Ends {
    pub(super) const NONE: Self = Self {
        places: [0; MOST_WORDS],
        len: 0,
    };

    /// Add the place `base + i` for each bit `i` of a group. The batch must not be full.
    // Always inlined: compiled for the processor of the scanner.
    #[inline(always)]
    pub(super) fn push_group<P: Processor>(&mut self, processor: P, base: usize, group: u64) {
        if let Some(places) = self.places[self.len..].first_chunk_mut() {
            processor.write_places(base, group, places);
        }
        self.len += group.count_ones() as usize;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn are_full(&self) -> bool {
        self.len >= BATCH
    }

    /// Remove all ends and return them.
    pub(super) fn take(&mut self) -> &[usize] {
        let len = std::mem::take(&mut self.len);
        &self.places[..len]
    }
}
