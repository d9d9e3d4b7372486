//! Blocks of 64 bytes: which of the bytes lie in a range, as the bits of a `u64`.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

/// The number of bytes in a block: one for each bit of a mask.
pub(crate) const LEN: usize = 64;

/// A kind of processor, and the operations that each kind has its own instructions for.
pub(crate) trait Processor: Copy {
    /// The bytes that lie in `first..=last` once the bits of `fold` are set.
    fn select(self, bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64;

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

/// A block and the processor that reads it; bit `i` of a mask describes byte `i`.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, P>(pub(super) &'a [u8; LEN], pub(super) P);

// Always inlined: only then is it compiled with the target features of the calling function.
impl<P: Processor> Block<'_, P> {
    /// The bytes from `first` to `last`, both at most 127.
    #[inline(always)]
    pub(super) fn within(self, first: u8, last: u8) -> u64 {
        self.1.select(self.0, 0, first, last)
    }

    /// The bytes equal to `byte`, at most 127.
    #[inline(always)]
    pub(super) fn equal(self, byte: u8) -> u64 {
        self.within(byte, byte)
    }

    /// The ASCII letters.
    #[inline(always)]
    pub(super) fn letters(self) -> u64 {
        self.1.select(self.0, 0x20, b'a', b'z')
    }

    /// The bytes before the first that is not ASCII.
    #[inline(always)]
    pub(super) fn leading_ascii(self) -> u64 {
        let beyond = !self.within(0, 127);
        !beyond & beyond.wrapping_sub(1)
    }
}

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Any;

impl Processor for Any {
    #[inline]
    fn select(self, bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "twice as fast as words")]
        // SAFETY: every x86-64 processor has SSE2.
        return unsafe { x86::select_by_sse2(bytes, fold, first, last) };
        #[cfg(not(target_arch = "x86_64"))]
        select_by_words(bytes, fold, first, last)
    }
}

/// The same for processors without vector instructions, eight bytes at a time.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
pub(super) fn select_by_words(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Bit 8 i + j is for byte i of word j.
    let mut bits = 0;
    for at in (0..LEN).step_by(8) {
        let word = word(bytes, at) | (EACH * u64::from(fold));
        // Without its high bit, no byte carries into the next.
        let low = word & (EACH * 0x7f);
        let reaches = low + EACH * u64::from(0x80 - first);
        let passes = low + EACH * u64::from(0x7f - last);
        bits = bits >> 1 | reaches & !passes & !word & (EACH * 0x80);
    }
    // Transpose, so that bit 8 j + i is for byte i of word j.
    for (step, places) in [
        (7, 0x00aa_00aa_00aa_00aa),
        (14, 0x0000_cccc_0000_cccc),
        (28, 0x0000_0000_f0f0_f0f0),
    ] {
        let swapped = (bits ^ bits >> step) & places;
        bits ^= swapped ^ swapped << step;
    }
    bits
}

#[inline]
fn word(bytes: &[u8; LEN], at: usize) -> u64 {
    let (word, _) = bytes[at..].split_first_chunk().expect("at most 56");
    u64::from_le_bytes(*word)
}
