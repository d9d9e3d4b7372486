//! Blocks on x86-64: SSE2, which every such CPU has, AVX2 and AVX-512.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_bsrli_si128, _mm_loadu_si128, _mm_set_epi64x, _mm256_adds_epu8,
    _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_permute2x128_si256,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16,
    _mm256_xor_si256, _mm512_add_epi64, _mm512_alignr_epi64, _mm512_broadcast_i32x4,
    _mm512_castsi512_si128, _mm512_cvtepu8_epi64, _mm512_loadu_si512, _mm512_maskz_compress_epi8,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_storeu_epi64,
    _mm512_test_epi8_mask,
};

use super::{Found, LEN, Processor, Work};
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
    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe {
            look_up_by_avx2(block, groups)
        }
    }
}

impl Processor for Avx512 {
    const HAS_BLOCKS: bool = true;

    #[inline(always)]
    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        #[allow(unsafe_code, reason = "many times as fast")]
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe {
            look_up_by_avx512(block, groups)
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

// No closure is handed to functions of the standard library here: those are compiled without the
// features, and could not inline it.

#[target_feature(enable = "avx2")]
#[inline]
fn look_up_by_avx2(block: &[u8; LEN], groups: &Groups) -> Found {
    let (low, high) = (load_half(block, 0), load_half(block, LEN / 2));
    let (low_kinds, high_kinds) = (
        kinds_by_avx2(&groups.kinds, low),
        kinds_by_avx2(&groups.kinds, high),
    );
    // The 16 bytes before each half of each half.
    let before_low = _mm256_permute2x128_si256::<0x08>(low_kinds, low_kinds);
    let before_high = _mm256_permute2x128_si256::<0x21>(low_kinds, high_kinds);
    let (low_ends, low_open) = verdicts_by_avx2(low_kinds, before_low, groups);
    let (high_ends, high_open) = verdicts_by_avx2(high_kinds, before_high, groups);
    let classes = twice(&groups.white_space, 0);
    let (low_classes, high_classes) = (
        _mm256_shuffle_epi8(classes, low_kinds),
        _mm256_shuffle_epi8(classes, high_kinds),
    );
    Found {
        ends: joined(low_ends, high_ends),
        open: joined(low_open, high_open),
        foreign: highest_bits::<0>(low, high),
        white_space: highest_bits::<0>(low_classes, high_classes),
        line_ends: highest_bits::<1>(low_classes, high_classes),
        ends_before_space: highest_bits::<2>(low_classes, high_classes),
        keeps_line_ends: highest_bits::<3>(low_classes, high_classes),
    }
}

/// The highest bit of each byte, or one of the next.
#[target_feature(enable = "avx2")]
#[inline]
fn highest_bits<const NEXT: i32>(low: __m256i, high: __m256i) -> u64 {
    joined(
        _mm256_movemask_epi8(_mm256_slli_epi16::<NEXT>(low)),
        _mm256_movemask_epi8(_mm256_slli_epi16::<NEXT>(high)),
    )
}

fn joined(low: i32, high: i32) -> u64 {
    u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
}

/// The kind of each byte; of bytes beyond ASCII, any.
#[target_feature(enable = "avx2")]
#[inline]
fn kinds_by_avx2(kinds: &Table<128>, bytes: __m256i) -> __m256i {
    let mut found = _mm256_setzero_si256();
    for row in 0..8 {
        let values = twice(&kinds.0, usize::from(row) << 4);
        found = _mm256_or_si256(found, _mm256_shuffle_epi8(values, within(row, bytes)));
    }
    found
}

/// The low bits of the bytes that begin with the bits of this row; for all others the highest bit is
/// set, so that a shuffle gives 0.
#[target_feature(enable = "avx2")]
#[inline]
fn within(row: u8, bytes: __m256i) -> __m256i {
    let others = _mm256_xor_si256(bytes, _mm256_set1_epi8((row << 4).cast_signed()));
    _mm256_adds_epu8(others, _mm256_set1_epi8(0x70))
}

/// Where words end and where that is open, by the kinds of bytes and of those before.
#[target_feature(enable = "avx2")]
#[inline]
fn verdicts_by_avx2(kinds: __m256i, before: __m256i, groups: &Groups) -> (i32, i32) {
    let second = _mm256_alignr_epi8::<15>(kinds, before);
    let first = _mm256_alignr_epi8::<14>(kinds, before);
    let row = _mm256_or_si256(
        _mm256_shuffle_epi8(twice(&groups.first, 0), first),
        _mm256_shuffle_epi8(twice(&groups.second, 0), second),
    );
    let bit = _mm256_shuffle_epi8(twice(&groups.third, 0), kinds);
    let (mut ends, mut open) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for first in 0..4 {
        let second = within(first, row);
        let at = usize::from(first) << 4;
        let ends_here = _mm256_shuffle_epi8(twice(&groups.ends.0, at), second);
        let open_here = _mm256_shuffle_epi8(twice(&groups.open.0, at), second);
        (ends, open) = (
            _mm256_or_si256(ends, ends_here),
            _mm256_or_si256(open, open_here),
        );
    }
    (shared_by_avx2(ends, bit), shared_by_avx2(open, bit))
}

/// The bytes that have a bit in common.
#[target_feature(enable = "avx2")]
#[inline]
fn shared_by_avx2(one: __m256i, other: __m256i) -> i32 {
    let shared = _mm256_and_si256(one, other);
    !_mm256_movemask_epi8(_mm256_cmpeq_epi8(shared, _mm256_setzero_si256()))
}

/// Sixteen bytes, twice.
#[target_feature(enable = "avx2")]
#[inline]
fn twice(bytes: &[u8], at: usize) -> __m256i {
    let (bytes, _) = bytes[at..]
        .split_first_chunk::<16>()
        .expect("within the bytes");
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads 16 bytes.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
#[inline]
fn load_half(block: &[u8; LEN], at: usize) -> __m256i {
    let (half, _) = block[at..]
        .split_first_chunk::<32>()
        .expect("within the block");
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads 32 bytes.
    unsafe {
        _mm256_loadu_si256(half.as_ptr().cast())
    }
}

#[inline]
fn word(bytes: &[u8], at: usize) -> i64 {
    let (word, _) = bytes[at..].split_first_chunk().expect("within the bytes");
    i64::from_le_bytes(*word)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up_by_avx512(block: &[u8; LEN], groups: &Groups) -> Found {
    let bytes = load(block);
    let (low, high) = groups.kinds.0.as_chunks().0.split_at(1);
    let kinds = _mm512_permutex2var_epi8(load(&low[0]), bytes, load(&high[0]));
    let second = _mm512_permutexvar_epi8(load(&ONE_BEFORE), kinds);
    let first = _mm512_permutexvar_epi8(load(&TWO_BEFORE), kinds);
    let row = _mm512_or_si512(
        _mm512_shuffle_epi8(four_times(&groups.first), first),
        _mm512_shuffle_epi8(four_times(&groups.second), second),
    );
    let bit = _mm512_shuffle_epi8(four_times(&groups.third), kinds);
    let ends = _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.ends.0)), bit);
    let open = _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.open.0)), bit);
    let classes = _mm512_shuffle_epi8(four_times(&groups.white_space), kinds);
    Found {
        ends,
        open,
        foreign: _mm512_movepi8_mask(bytes),
        white_space: _mm512_movepi8_mask(classes),
        line_ends: _mm512_movepi8_mask(_mm512_slli_epi16::<1>(classes)),
        ends_before_space: _mm512_movepi8_mask(_mm512_slli_epi16::<2>(classes)),
        keeps_line_ends: _mm512_movepi8_mask(_mm512_slli_epi16::<3>(classes)),
    }
}

const ONE_BEFORE: [u8; LEN] = numbers_from(LEN - 1);
const TWO_BEFORE: [u8; LEN] = numbers_from(LEN - 2);

/// Places in a block from one on; those behind the last begin anew.
const fn numbers_from(first: usize) -> [u8; LEN] {
    let mut numbers = [0; LEN];
    let mut at = 0;
    while at < LEN {
        numbers[at] = ((first + at) % LEN) as u8;
        at += 1;
    }
    numbers
}

#[target_feature(enable = "avx512f")]
#[inline]
fn four_times(bytes: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x(word(bytes, 8), word(bytes, 0)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
fn write_places_by_avx512(base: usize, group: u64, places: &mut [usize; LEN]) {
    const STEP: usize = 16;
    const NUMBERS: [u8; LEN] = numbers_from(0);
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
