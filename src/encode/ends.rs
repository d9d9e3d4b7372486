//! Where the words of a batch end.

/// How many words are looked up together, so that their loads from memory overlap.
pub(super) const BATCH: usize = 256;
/// The most words that a batch can have: it is full with `BATCH`, and the last ones come together.
pub(super) const MOST_WORDS: usize = BATCH + u64::BITS as usize;
/// How many ends are written at a time.
const STEP: usize = 8;

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

    /// Add the places `base + i` of all bits `i` of a group, of which the last is 0, to less than a
    /// full batch. They are written in steps, some for nothing: how many bits there are is hard to
    /// foresee, and a branch for each would cost more.
    #[allow(
        clippy::inline_always,
        reason = "compiled for the processor of the scanner"
    )]
    #[inline(always)]
    pub(super) fn push_group(&mut self, base: usize, mut group: u64) {
        let num_ends = group.count_ones() as usize;
        for places in self.places[self.len..].chunks_exact_mut(STEP) {
            for place in places {
                *place = base + (group | 1 << 63).trailing_zeros() as usize;
                group &= group.wrapping_sub(1);
            }
            if group == 0 {
                break;
            }
        }
        self.len += num_ends;
    }

    #[inline]
    pub(super) fn are_full(&self) -> bool {
        self.len >= BATCH
    }

    /// Forget all of them.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Take all of them out.
    pub(super) fn take(&mut self) -> &[usize] {
        let len = std::mem::take(&mut self.len);
        &self.places[..len]
    }
}
