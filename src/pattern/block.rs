//! Blocks of 64 bytes: the ends of words in them, as the bits of a `u64`.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

use super::groups::{ENDS_BEFORE_SPACE, Groups, KEEPS_LINE_ENDS, LINE_END, WHITE_SPACE};
use crate::spelling::{Spelling, spelling_at};

/// The number of bytes in a block: one for each bit of a mask.
pub(crate) const LEN: usize = 64;

/// A kind of processor, and the operations that each kind has its own instructions for.
pub(crate) trait Processor: Copy {
    /// Whether it reads blocks faster than an automaton does.
    const HAS_BLOCKS: bool;

    /// Do work that is compiled for this kind of processor.
    fn run<W: Work>(self, work: W) -> W::Output;

    /// Look up a block.
    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found;

    /// The bits of `bits`, the first one where the first bit of `places` is, and so on.
    fn spread(self, mut bits: u64, mut places: u64) -> u64 {
        let mut spread = 0;
        while places != 0 {
            spread |= (bits & 1) << places.trailing_zeros();
            (bits, places) = (bits >> 1, places & (places - 1));
        }
        spread
    }

    /// Write how the characters at some places of the first half of a block are spelled, from the first on;
    /// the rest is undefined.
    #[inline(always)]
    fn spell(self, block: &[u8; 2 * LEN], mut places: u64, spellings: &mut [Spelling; LEN]) {
        for spelling in &mut spellings[..places.count_ones() as usize] {
            *spelling = spelling_at(block, places.trailing_zeros() as usize);
            places &= places.wrapping_sub(1);
        }
    }

    /// A bit for each of the first `len` numbers: whether the bit with this number is set in a table, which
    /// has a power of two of words; what is behind them is undefined. No number is beyond the table.
    #[inline(always)]
    fn are_set(self, table: &[u32], numbers: &[u32; LEN], len: usize) -> u64 {
        let last = table.len() - 1;
        let bits = numbers[..len].iter().zip(0..);
        bits.fold(0, |bits, (&number, at)| {
            bits | u64::from(table[(number as usize / 32) & last] >> (number % 32) & 1) << at
        })
    }

    /// Write `base + i` for each bit `i` of `group`, in order; the rest of `places` is undefined.
    ///
    /// Places are written eight at a time, more than needed: the number of bits is hard to predict,
    /// and a branch for each would cost more. Without a bit left there is no special case, with which
    /// compilers count zeros in vectors, slower than one by one.
    #[inline(always)]
    fn write_places(self, base: usize, mut group: u64, places: &mut [usize; LEN]) {
        const STEP: usize = 8;
        for places in places.chunks_exact_mut(STEP) {
            for place in places {
                *place = base.wrapping_add(group.trailing_zeros() as usize);
                group &= group.wrapping_sub(1);
            }
            if group == 0 {
                break;
            }
        }
    }
}

/// What the tables say of a block: of its characters in order, a bit for each. Of characters that are not
/// looked up, each byte counts as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// None if each byte counts as a character.
    pub(super) characters: Option<Characters>,
    /// The places before which a word ends by its verdict, and those without one: bit `i` is for the
    /// place before character `i`. The first two bits, and those at characters that are not looked up
    /// and at the next two, are undefined.
    pub(super) ends: u64,
    pub(super) open: u64,
    /// The characters that are not looked up, and all behind the last one. The following are undefined
    /// there.
    pub(super) foreign: u64,
    pub(super) white_space: u64,
    pub(super) line_ends: u64,
    /// The white space that words end between and spaces.
    pub(super) ends_before_space: u64,
    /// The characters that line ends belong to.
    pub(super) keeps_line_ends: u64,
}

/// The characters of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Characters {
    /// How many the block shows, and how many bytes these have: all but a few.
    pub(super) len: usize,
    pub(super) num_bytes: usize,
    /// The bytes that they begin with.
    pub(super) starts: u64,
    pub(super) kinds: [u8; LEN],
}

impl Found {
    /// Whether a word that begins with a character ends before the next, and whether that depends on
    /// more.
    #[inline(always)]
    pub(super) fn at_start(
        &self,
        block: &[u8; LEN],
        groups: &Groups,
        character: usize,
    ) -> (u64, u64) {
        if self.foreign >> character & 3 != 0 {
            return (0, 1);
        }
        let kind = |character: usize| match &self.characters {
            Some(characters) => characters.kinds[character % LEN],
            None => groups.kind(block[character % LEN]),
        };
        groups.at_start(kind(character), kind(character + 1))
    }
}

/// The verdicts on a block.
pub(super) struct Verdicts {
    /// As in [`Found`]; the first two bits are undefined.
    pub(super) ends: u64,
    pub(super) open: u64,
    /// The places on which there is another verdict than in the table.
    overruled: u64,
    ends_overruled: u64,
    /// The places in white space of which the block does not show what follows it.
    unknown: u64,
    /// Of these, those in white space at the end of the block.
    pub(super) at_end: u64,
    /// The line ends that belong to what is before.
    pub(super) kept: u64,
}

impl Verdicts {
    /// `kept` is 1 if the first character is a line end that belongs to what is before, else 0.
    #[inline(always)]
    pub(super) fn new(found: &Found, kept: u64) -> Self {
        let near_foreign = found.foreign | found.foreign << 1 | found.foreign << 2;
        let line_ends = found.line_ends & !found.foreign;
        // Adding the first line end behind such a byte clears all of them.
        let first_kept = ((found.keeps_line_ends & !found.foreign) << 1 | kept) & line_ends;
        let kept = line_ends & !line_ends.wrapping_add(first_kept);
        let mut verdicts = Self {
            ends: 0,
            open: found.open | near_foreign,
            overruled: kept << 1,
            ends_overruled: kept << 1 & !line_ends,
            unknown: 0,
            at_end: 0,
            kept,
        };
        let within = found.white_space & (found.white_space & !kept) << 1 & !line_ends;
        if within != 0 {
            verdicts.look_ahead(within, found);
        }
        verdicts.ends = found.ends & !near_foreign & !verdicts.overruled | verdicts.ends_overruled;
        verdicts
    }

    /// Find the verdicts on places before spaces within white space.
    #[inline(always)]
    fn look_ahead(&mut self, within: u64, found: &Found) {
        if found.foreign == 0 {
            let before_line_end = filled_down(found.line_ends, found.white_space);
            let num_at_end = (!found.white_space).leading_zeros();
            self.at_end = within & !u64::MAX.checked_shr(num_at_end).unwrap_or(0);
            self.unknown = self.at_end;
            let not_last = within & (before_line_end | found.white_space >> 1);
            self.overruled |= not_last;
            self.ends_overruled |= not_last & !before_line_end & found.ends_before_space << 1;
        } else {
            self.unknown = within;
        }
        self.open |= self.unknown;
    }

    /// Let a word begin with a character of the block: what is said of it and the next decides whether it
    /// ends between them.
    #[inline(always)]
    pub(super) fn begin(&mut self, word: usize, (ends, open): (u64, u64)) {
        let bit = 2 << word;
        let (ends, open) = (ends << word << 1, open << word << 1);
        self.ends = self.ends & !bit | ends & !self.overruled | self.ends_overruled & bit;
        self.open = self.open & !bit | open | (self.kept << 1 | self.unknown) & bit;
    }
}

/// The bits from which a number of others in `within` lead up to one of `bits`, and these.
#[inline(always)]
fn filled_down(mut bits: u64, mut within: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits |= bits >> shift & within;
        within &= within >> shift;
    }
    bits
}

/// Work whose `run` is always inlined, so that it is compiled for the processor it is called with.
pub(crate) trait Work {
    type Output;

    fn run<P: Processor>(self, processor: P) -> Self::Output;
}

/// Do work that is compiled for the kind of processor that this one is.
#[inline]
pub(crate) fn on_this_processor<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = Avx512::detect() {
        return processor.run(work);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = Avx2::detect() {
        return processor.run(work);
    }
    Any.run(work)
}

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Any;

impl Processor for Any {
    const HAS_BLOCKS: bool = false;

    fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }

    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        let kind = |byte: u8| usize::from(groups.kind(byte));
        let class = |byte: u8| groups.white_space[kind(byte)];
        let (mut ends, mut open) = (0, 0);
        for (at, bytes) in (2..).zip(block.windows(3)) {
            let row = groups.first[kind(bytes[0])] | groups.second[kind(bytes[1])];
            let bit = groups.third[kind(bytes[2])];
            ends |= u64::from(groups.ends.0[usize::from(row)] & bit != 0) << at;
            open |= u64::from(groups.open.0[usize::from(row)] & bit != 0) << at;
        }
        Found {
            characters: None,
            ends,
            open,
            foreign: places(block, |byte| !byte.is_ascii()),
            white_space: places(block, |byte| class(byte) & WHITE_SPACE != 0),
            line_ends: places(block, |byte| class(byte) & LINE_END != 0),
            ends_before_space: places(block, |byte| class(byte) & ENDS_BEFORE_SPACE != 0),
            keeps_line_ends: places(block, |byte| class(byte) & KEEPS_LINE_ENDS != 0),
        }
    }
}

fn places(block: &[u8; LEN], is_wanted: impl Fn(u8) -> bool) -> u64 {
    let bits = (0..).zip(block);
    bits.fold(0, |bits, (at, &byte)| {
        bits | u64::from(is_wanted(byte)) << at
    })
}
