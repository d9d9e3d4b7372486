//! Blocks with AVX2: two halves of 32 bytes.
//!
//! A shuffle looks up 16 values by the lowest four bits. Tables of more are looked up in parts, of
//! which the next bits select one. No closure is handed to functions of the standard library: those
//! are compiled without AVX2, and could not inline it.

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_alignr_epi8, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_permute2x128_si256, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_slli_epi16,
};

use super::super::{Found, LEN};
use crate::pattern::groups::Groups;
use crate::pattern::look_up::Table;

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn look_up(block: &[u8; LEN], groups: &Groups) -> Found {
    let (low, high) = (load_half(block, 0), load_half(block, LEN / 2));
    let (low_kinds, high_kinds) = (kinds_of(&groups.kinds, low), kinds_of(&groups.kinds, high));
    // The 16 bytes before each half of each half.
    let before_low = _mm256_permute2x128_si256::<0x08>(low_kinds, low_kinds);
    let before_high = _mm256_permute2x128_si256::<0x21>(low_kinds, high_kinds);
    let (low_ends, low_open) = verdicts(low_kinds, before_low, groups);
    let (high_ends, high_open) = verdicts(high_kinds, before_high, groups);
    let classes = twice(&groups.white_space, 0);
    let (low_classes, high_classes) = (
        _mm256_shuffle_epi8(classes, low_kinds),
        _mm256_shuffle_epi8(classes, high_kinds),
    );
    Found {
        characters: None,
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
fn kinds_of(kinds: &Table<128>, bytes: __m256i) -> __m256i {
    let low = four_rows(&kinds.0, 0, bytes);
    let high = four_rows(&kinds.0, 64, bytes);
    _mm256_blendv_epi8(low, high, _mm256_slli_epi16::<1>(bytes))
}

/// Look up 64 values of a table, from `at` on, by the lowest six bits. The highest bit has to be 0.
#[target_feature(enable = "avx2")]
#[inline]
fn four_rows(table: &[u8], at: usize, numbers: __m256i) -> __m256i {
    let (fifth_bit, sixth_bit) = (
        _mm256_slli_epi16::<3>(numbers),
        _mm256_slli_epi16::<2>(numbers),
    );
    let low = _mm256_blendv_epi8(
        _mm256_shuffle_epi8(twice(table, at), numbers),
        _mm256_shuffle_epi8(twice(table, at + 16), numbers),
        fifth_bit,
    );
    let high = _mm256_blendv_epi8(
        _mm256_shuffle_epi8(twice(table, at + 32), numbers),
        _mm256_shuffle_epi8(twice(table, at + 48), numbers),
        fifth_bit,
    );
    _mm256_blendv_epi8(low, high, sixth_bit)
}

/// Where words end and where that is open, by the kinds of bytes and of those before.
#[target_feature(enable = "avx2")]
#[inline]
fn verdicts(kinds: __m256i, before: __m256i, groups: &Groups) -> (i32, i32) {
    let second = _mm256_alignr_epi8::<15>(kinds, before);
    let first = _mm256_alignr_epi8::<14>(kinds, before);
    let row = _mm256_or_si256(
        _mm256_shuffle_epi8(twice(&groups.first, 0), first),
        _mm256_shuffle_epi8(twice(&groups.second, 0), second),
    );
    let bit = _mm256_shuffle_epi8(twice(&groups.third, 0), kinds);
    let ends = four_rows(&groups.ends.0, 0, row);
    let open = four_rows(&groups.open.0, 0, row);
    (have_common_bits(ends, bit), have_common_bits(open, bit))
}

/// The bytes that have a bit in common.
#[target_feature(enable = "avx2")]
#[inline]
fn have_common_bits(one: __m256i, other: __m256i) -> i32 {
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
