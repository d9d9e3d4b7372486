//! Blocks of 64 bytes: which of the bytes lie in a range, as the bits of a `u64`.

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
    #[allow(clippy::inline_always, reason = "see `Block`")]
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
#[allow(clippy::inline_always, reason = "see above")]
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
        return unsafe { select_by_sse2(bytes, fold, first, last) };
        #[cfg(not(target_arch = "x86_64"))]
        select_by_words(bytes, fold, first, last)
    }
}

/// Defines a kind of x86-64 processor by its features, which are both what is detected and what
/// code is compiled for.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_processor {
    ($(#[$doc:meta])* $name:ident: $($feature:tt)+) => {
        $(#[$doc])*
        ///
        /// A value of this type exists only if the CPU has these features.
        #[derive(Clone, Copy)]
        pub(crate) struct $name(());

        impl $name {
            /// `Some` if this CPU has the features.
            #[inline]
            pub(super) fn detect() -> Option<Self> {
                let has_all = $(is_x86_feature_detected!($feature))&&+;
                has_all.then_some(Self(()))
            }

            /// Do work that is compiled for this kind of processor.
            #[inline]
            pub(super) fn run(self, work: impl Work) {
                #[target_feature($(enable = $feature),+)]
                fn compiled(processor: $name, work: impl Work) {
                    work.run(processor);
                }
                #[allow(unsafe_code, reason = "saves a tenth to a seventh of the time to encode")]
                // SAFETY: `self` exists, so the CPU has the features.
                unsafe {
                    compiled(self, work);
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
x86_processor! {
    /// With AVX2 and BMI: most x86-64 processors since 2013.
    Avx2: "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
}

#[cfg(target_arch = "x86_64")]
x86_processor! {
    /// With AVX-512 and its instructions for bytes: Intel since 2019, AMD since 2022.
    Avx512: "avx512f" "avx512bw" "avx512vbmi2" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::inline_always, reason = "see `Block`")]
impl Processor for Avx2 {
    #[inline(always)]
    fn select(self, bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
        #[allow(unsafe_code, reason = "half of the instructions")]
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe {
            select_by_avx2(bytes, fold, first, last)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::inline_always, reason = "see `Block`")]
impl Processor for Avx512 {
    #[inline(always)]
    fn select(self, bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
        #[allow(unsafe_code, reason = "a fifth of the instructions")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            select_by_avx512(bytes, fold, first, last)
        }
    }

    #[inline(always)]
    fn write_places(self, base: usize, group: u64, places: &mut [usize; LEN]) {
        #[allow(unsafe_code, reason = "a fifth of the instructions")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            write_places_by_avx512(base, group, places);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn select_by_sse2(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
    use std::arch::x86_64::{
        _mm_add_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };
    let each = |byte: u8| _mm_set1_epi8(byte.cast_signed());
    let word = |at: usize| word(bytes, at).cast_signed();
    let mut mask = 0;
    for at in (0..LEN).step_by(16) {
        let folded = _mm_or_si128(_mm_set_epi64x(word(at + 8), word(at)), each(fold));
        // Comparison is signed: the range is shifted to begin at -128.
        let moved = _mm_add_epi8(folded, each(0x80 - first));
        let found = _mm_cmplt_epi8(moved, each((last - first).wrapping_add(0x81)));
        mask |= u64::from(_mm_movemask_epi8(found).cast_unsigned()) << at;
    }
    mask
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn select_by_avx2(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
    use std::arch::x86_64::{
        _mm256_add_epi8, _mm256_cmpgt_epi8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set_epi64x, _mm256_set1_epi8,
    };
    let each = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let word = |at: usize| word(bytes, at).cast_signed();
    let mut mask = 0;
    for at in (0..LEN).step_by(32) {
        let part = _mm256_set_epi64x(word(at + 24), word(at + 16), word(at + 8), word(at));
        let moved = _mm256_add_epi8(_mm256_or_si256(part, each(fold)), each(0x80 - first));
        let found = _mm256_cmpgt_epi8(each((last - first).wrapping_add(0x81)), moved);
        mask |= u64::from(_mm256_movemask_epi8(found).cast_unsigned()) << at;
    }
    mask
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn select_by_avx512(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
    use std::arch::x86_64::{
        _mm512_cmple_epu8_mask, _mm512_or_si512, _mm512_set1_epi8, _mm512_sub_epi8,
    };
    let each = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let moved = _mm512_sub_epi8(_mm512_or_si512(load(bytes), each(fold)), each(first));
    _mm512_cmple_epu8_mask(moved, each(last - first))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
fn write_places_by_avx512(base: usize, group: u64, places: &mut [usize; LEN]) {
    use std::arch::x86_64::{
        _mm_bsrli_si128, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_castsi512_si128,
        _mm512_cvtepu8_epi64, _mm512_maskz_compress_epi8, _mm512_set1_epi64, _mm512_storeu_epi64,
    };
    const STEP: usize = 16;
    const NUMBERS: [u8; LEN] = {
        let mut numbers = [0; LEN];
        let mut number = 0;
        while number < LEN {
            numbers[number] = number as u8;
            number += 1;
        }
        numbers
    };
    let bases = _mm512_set1_epi64((base as u64).cast_signed());
    let mut set = _mm512_maskz_compress_epi8(group, load(&NUMBERS));
    let mut num_left = group.count_ones() as usize;
    for places in places.chunks_exact_mut(STEP) {
        let first = _mm512_castsi512_si128(set);
        let (left, right) = places.split_at_mut(STEP / 2);
        for (places, numbers) in [(left, first), (right, _mm_bsrli_si128::<8>(first))] {
            let sums = _mm512_add_epi64(bases, _mm512_cvtepu8_epi64(numbers));
            #[allow(unsafe_code, reason = "no safe function stores")]
            // SAFETY: it writes eight places, and there are eight.
            unsafe {
                _mm512_storeu_epi64(places.as_mut_ptr().cast(), sums);
            }
        }
        if num_left <= STEP {
            break;
        }
        num_left -= STEP;
        set = _mm512_alignr_epi64::<2>(set, set);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; LEN]) -> std::arch::x86_64::__m512i {
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads `LEN` bytes.
    unsafe {
        std::arch::x86_64::_mm512_loadu_si512(bytes.as_ptr().cast())
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
