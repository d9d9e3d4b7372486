//! Blocks of 64 bytes: the ends of words in them, as the bits of a `u64`.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

use super::groups::Groups;

/// The number of bytes in a block: one for each bit of a mask.
pub(crate) const LEN: usize = 64;

/// A kind of processor, and the operations that each kind has its own instructions for.
pub(crate) trait Processor: Copy {
    /// Whether it reads blocks faster than an automaton does.
    const HAS_BLOCKS: bool;

    /// The places before which a word ends by its verdict, and those without one: bit `i` is for the
    /// place before byte `i`. Without one is also where bytes are not ASCII. The first two bits are
    /// undefined.
    fn ends(self, block: &[u8; LEN], groups: &Groups) -> (u64, u64);

    /// Write `base + i` for each bit `i` of `group`, in order; the rest of `places` is undefined.
    ///
    /// Places are written eight at a time, more than needed: the number of bits is hard to predict,
    /// and a branch for each would cost more.
    #[inline(always)]
    fn write_places(self, base: usize, mut group: u64, places: &mut [usize; LEN]) {
        const STEP: usize = 8;
        for places in places.chunks_exact_mut(STEP) {
            for place in places {
                *place = base + (group | 1 << 63).trailing_zeros() as usize;
                group &= group.wrapping_sub(1);
            }
            if group == 0 {
                break;
            }
        }
    }
}

/// Work whose `run` is always inlined, so that it is compiled for the processor it is called with.
pub(super) trait Work {
    fn run<P: Processor>(self, processor: P);
}

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Any;

impl Processor for Any {
    const HAS_BLOCKS: bool = false;

    fn ends(self, block: &[u8; LEN], groups: &Groups) -> (u64, u64) {
        let (mut ends, mut open) = (0, 0);
        for (at, bytes) in (2..).zip(block.windows(3)) {
            let bytes = [bytes[0], bytes[1], bytes[2]];
            if !bytes.is_ascii() {
                open |= 1 << at;
                continue;
            }
            let [first, second, third] =
                bytes.map(|byte| usize::from(groups.kinds.0[usize::from(byte)]));
            let row = usize::from(groups.first[first] | groups.second[second]);
            let bit = groups.third[third];
            ends |= u64::from(groups.ends.0[row] & bit != 0) << at;
            open |= u64::from(groups.open.0[row] & bit != 0) << at;
        }
        (ends, open)
    }
}
