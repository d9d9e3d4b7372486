//! Blocks on x86-64: SSE2, which every such CPU has, AVX2 and AVX-512.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_bsrli_si128, _mm256_adds_epu8, _mm256_and_si256, _mm256_cmpeq_epi8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_xor_si256, _mm512_add_epi64,
    _mm512_alignr_epi64, _mm512_castsi512_si128, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_set1_epi64, _mm512_storeu_epi64, _mm512_test_epi8_mask,
};

use super::{LEN, Processor, WINDOW, Work};
use crate::pattern::groups::{Groups, Table};

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
    Avx512: "avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
}

impl Processor for Avx2 {
    const HAS_BLOCKS: bool = true;

    #[inline(always)]
    fn ends(self, window: &[u8; WINDOW], groups: &Groups) -> (u64, u64) {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe {
            ends_by_avx2(window, groups)
        }
    }
}

impl Processor for Avx512 {
    const HAS_BLOCKS: bool = true;

    #[inline(always)]
    fn ends(self, window: &[u8; WINDOW], groups: &Groups) -> (u64, u64) {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            ends_by_avx512(window, groups)
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

#[target_feature(enable = "avx2")]
#[inline]
fn ends_by_avx2(window: &[u8; WINDOW], groups: &Groups) -> (u64, u64) {
    const HALF: usize = LEN / 2;
    let (mut ends, mut open) = (0, 0);
    for at in [0, HALF] {
        let bytes = [0, 1, 2].map(|offset| load_half(window, at + offset));
        let [first, second, third] = bytes;
        let groups_of_two = _mm256_or_si256(
            look_up_by_avx2(&groups.first, first),
            look_up_by_avx2(&groups.second, second),
        );
        let bit = look_up_by_avx2(&groups.third, third);
        let misses = |rows| {
            let row = look_up_by_avx2(rows, groups_of_two);
            let found = _mm256_and_si256(row, bit);
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())).cast_unsigned()
        };
        let beyond = _mm256_or_si256(_mm256_or_si256(first, second), third);
        let beyond = _mm256_movemask_epi8(beyond).cast_unsigned();
        ends |= u64::from(!misses(&groups.ends) & !beyond) << at;
        open |= u64::from(!misses(&groups.open) | beyond) << at;
    }
    (ends << 2, open << 2)
}

/// The value of each byte; of bytes beyond ASCII, any.
#[target_feature(enable = "avx2")]
#[inline]
fn look_up_by_avx2(table: &Table, bytes: __m256i) -> __m256i {
    let each = |byte: u8| _mm256_set1_epi8(byte.cast_signed());
    let mut found = _mm256_setzero_si256();
    for (row, values) in (0..).zip(table.0.as_chunks::<16>().0) {
        // Below 0x80 only for the bytes of this row; for others the shuffle gives 0.
        let place = _mm256_adds_epu8(_mm256_xor_si256(bytes, each(row << 4)), each(0x70));
        let [low, high] = values.as_chunks::<8>().0 else {
            unreachable!("16 values")
        };
        let [low, high] = [low, high].map(|half| i64::from_le_bytes(*half));
        let values = _mm256_set_epi64x(high, low, high, low);
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(values, place));
    }
    found
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_half(window: &[u8; WINDOW], at: usize) -> __m256i {
    let word = |at: usize| {
        let (word, _) = window[at..].split_first_chunk().expect("within the window");
        i64::from_le_bytes(*word)
    };
    _mm256_set_epi64x(word(at + 24), word(at + 16), word(at + 8), word(at))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn ends_by_avx512(window: &[u8; WINDOW], groups: &Groups) -> (u64, u64) {
    let bytes = [0, 1, 2].map(|offset| {
        let (block, _) = window[offset..]
            .split_first_chunk()
            .expect("within the window");
        load(block)
    });
    let [first, second, third] = bytes;
    let groups_of_two = _mm512_or_si512(
        look_up_by_avx512(&groups.first, first),
        look_up_by_avx512(&groups.second, second),
    );
    let bit = look_up_by_avx512(&groups.third, third);
    let [ends, open] = [&groups.ends, &groups.open]
        .map(|rows| _mm512_test_epi8_mask(look_up_by_avx512(rows, groups_of_two), bit));
    let beyond = _mm512_movepi8_mask(_mm512_or_si512(_mm512_or_si512(first, second), third));
    ((ends & !beyond) << 2, (open | beyond) << 2)
}

/// The value of each byte; of bytes beyond ASCII, any.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up_by_avx512(table: &Table, bytes: __m512i) -> __m512i {
    let (low, rest) = table.0.split_first_chunk().expect("128 values");
    let (high, _) = rest.split_first_chunk().expect("128 values");
    _mm512_permutex2var_epi8(load(low), bytes, load(high))
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
