//! Blocks on x86-64: SSE2, which every such CPU has, AVX2 and AVX-512.

use std::arch::x86_64::{
    __m512i, _mm_add_epi8, _mm_bsrli_si128, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_or_si128,
    _mm_set_epi64x, _mm_set1_epi8, _mm256_add_epi8, _mm256_cmpgt_epi8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm512_add_epi64, _mm512_alignr_epi64,
    _mm512_castsi512_si128, _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_or_si512, _mm512_set1_epi8, _mm512_set1_epi64,
    _mm512_storeu_epi64, _mm512_sub_epi8,
};

use super::{LEN, Processor, Work, word};

/// Defines a kind of x86-64 processor by its features, which are both what is detected and what
/// code is compiled for.
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
            pub(in crate::pattern) fn detect() -> Option<Self> {
                let has_all = $(is_x86_feature_detected!($feature))&&+;
                has_all.then_some(Self(()))
            }

            /// Do work that is compiled for this kind of processor.
            #[inline]
            pub(in crate::pattern) fn run(self, work: impl Work) {
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

x86_processor! {
    /// With AVX2 and BMI: most x86-64 processors since 2013.
    Avx2: "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
}

x86_processor! {
    /// With AVX-512 and its instructions for bytes: Intel since 2019, AMD since 2022.
    Avx512: "avx512f" "avx512bw" "avx512vbmi2" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
}

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

#[target_feature(enable = "sse2")]
#[inline]
pub(super) fn select_by_sse2(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
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

#[target_feature(enable = "avx2")]
#[inline]
fn select_by_avx2(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
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

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn select_by_avx512(bytes: &[u8; LEN], fold: u8, first: u8, last: u8) -> u64 {
    let each = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
    let moved = _mm512_sub_epi8(_mm512_or_si512(load(bytes), each(fold)), each(first));
    _mm512_cmple_epu8_mask(moved, each(last - first))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
fn write_places_by_avx512(base: usize, group: u64, places: &mut [usize; LEN]) {
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

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; LEN]) -> __m512i {
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads `LEN` bytes.
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast())
    }
}
