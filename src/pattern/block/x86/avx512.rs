//! Blocks with AVX-512: an instruction looks up 64 values, or 128.
//!
//! No closure is handed to functions of the standard library: those are compiled without AVX-512,
//! and could not inline it.

use std::arch::x86_64::{
    __m512i, _mm_bsrli_si128, _mm_set_epi64x, _mm512_add_epi64, _mm512_alignr_epi64,
    _mm512_broadcast_i32x4, _mm512_castsi512_si128, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_slli_epi16,
    _mm512_storeu_epi64, _mm512_test_epi8_mask,
};

use super::super::{Found, LEN};
use crate::pattern::groups::Groups;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
pub(super) fn look_up(block: &[u8; LEN], groups: &Groups) -> Found {
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
    let classes = _mm512_shuffle_epi8(four_times(&groups.white_space), kinds);
    Found {
        ends: _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.ends.0)), bit),
        open: _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.open.0)), bit),
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

/// Sixteen bytes, four times.
#[target_feature(enable = "avx512f")]
#[inline]
fn four_times(bytes: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(_mm_set_epi64x(word(bytes, 8), word(bytes, 0)))
}

#[inline]
fn word(bytes: &[u8], at: usize) -> i64 {
    let (word, _) = bytes[at..].split_first_chunk().expect("within the bytes");
    i64::from_le_bytes(*word)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
pub(super) fn write_places(base: usize, group: u64, places: &mut [usize; LEN]) {
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
