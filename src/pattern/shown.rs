//! What a block shows: bytes of ASCII, or characters of any length.

use super::block::{Characters, LEN, Processor};

/// How the characters that a block shows lie in it.
pub(super) trait Shown: Copy {
    fn len(self) -> usize;

    /// The places of some characters.
    fn places<P: Processor>(self, processor: P, characters: u64) -> u64;

    /// The place of the last character but one.
    fn last_but_one(self) -> usize;

    /// How many characters are before a place, which may be behind the block.
    fn number_before(self, place: usize) -> usize;
}

/// Each byte counts as a character.
#[derive(Clone, Copy)]
pub(super) struct Bytes;

impl Shown for Bytes {
    #[inline(always)]
    fn len(self) -> usize {
        LEN
    }

    #[inline(always)]
    fn places<P: Processor>(self, _: P, characters: u64) -> u64 {
        characters
    }

    #[inline(always)]
    fn last_but_one(self) -> usize {
        LEN - 2
    }

    #[inline(always)]
    fn number_before(self, place: usize) -> usize {
        place
    }
}

impl Shown for &Characters {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }

    #[inline(always)]
    fn places<P: Processor>(self, processor: P, characters: u64) -> u64 {
        processor.spread(characters, self.starts)
    }

    #[inline(always)]
    fn last_but_one(self) -> usize {
        let shown = self.starts & u64::MAX >> (LEN - self.num_bytes);
        let without_last = shown ^ 1 << shown.ilog2();
        without_last.ilog2() as usize
    }

    #[inline(always)]
    fn number_before(self, place: usize) -> usize {
        let before = !u64::MAX.checked_shl(place.min(LEN) as u32).unwrap_or(0);
        (self.starts & before).count_ones() as usize
    }
}
