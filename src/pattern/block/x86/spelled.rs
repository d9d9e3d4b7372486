//! Sixteen characters at a time with AVX-512: how they are spelled, and bits of tables.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_i32gather_epi32,
    _mm512_loadu_si512, _mm512_mask_blend_epi32, _mm512_maskz_compress_epi8,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_permutexvar_epi32, _mm512_set1_epi32,
    _mm512_srli_epi32, _mm512_srlv_epi32, _mm512_storeu_si512, _mm512_test_epi32_mask,
};

use super::super::LEN;
use super::avx512::{PLACES, load};
use crate::spelling::{Form, Spelling, form};

/// How many numbers of four bytes are as long as a block.
const AT_ONCE: usize = LEN / 4;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
#[inline]
pub(super) fn spell(block: &[u8; 2 * LEN], places: u64, spellings: &mut [Spelling; LEN]) {
    const FORMS: [Form; AT_ONCE] = forms();
    const NEXT_FOUR: i32 = i32::from_le_bytes([0, 1, 2, 3]);
    let (halves, _) = block.as_chunks();
    let (first_half, second_half) = (load(&halves[0]), load(&halves[1]));
    let all = load_numbers(&FORMS.map(|form| form.all));
    let inside = load_numbers(&FORMS.map(|form| form.inside.0));
    let expected = load_numbers(&FORMS.map(|form| form.inside.1));
    let places_of_all = _mm512_maskz_compress_epi8(places, load(&PLACES));
    let (parts, _) = spellings.as_chunks_mut::<AT_ONCE>();
    let num_parts = (places.count_ones() as usize).div_ceil(AT_ONCE);
    for (part, turn) in parts[..num_parts].iter_mut().zip(&FOUR_TIMES) {
        let of_part = _mm512_permutexvar_epi8(load(turn), places_of_all);
        let next_four = _mm512_add_epi8(of_part, _mm512_set1_epi32(NEXT_FOUR));
        let bytes = _mm512_permutex2var_epi8(first_half, next_four, second_half);
        // Of each number the lowest four bits count.
        let which = _mm512_srli_epi32::<4>(bytes);
        let is_whole = _mm512_cmpeq_epi32_mask(
            _mm512_and_si512(bytes, _mm512_permutexvar_epi32(which, inside)),
            _mm512_permutexvar_epi32(which, expected),
        );
        let bits = _mm512_mask_blend_epi32(
            is_whole,
            _mm512_set1_epi32(0xFF),
            _mm512_permutexvar_epi32(which, all),
        );
        store_numbers(_mm512_and_si512(bytes, bits), part);
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn are_set(table: &[u32], numbers: &[u32; LEN], len: usize) -> u64 {
    assert!(table.len().is_power_of_two());
    let last = _mm512_set1_epi32((table.len() as u32 - 1).cast_signed());
    let (parts, _) = numbers.as_chunks::<AT_ONCE>();
    let mut set = 0;
    for (part, shift) in parts[..len.div_ceil(AT_ONCE)].iter().zip([0, 16, 32, 48]) {
        let numbers = load_numbers(part);
        let places = _mm512_and_si512(_mm512_srli_epi32::<5>(numbers), last);
        #[allow(unsafe_code, reason = "no safe function loads from places")]
        // SAFETY: the places are within the table: its length is a power of two.
        let words = unsafe { _mm512_i32gather_epi32::<4>(places, table.as_ptr().cast()) };
        let bits = _mm512_and_si512(numbers, _mm512_set1_epi32(31));
        let lowest = _mm512_srlv_epi32(words, bits);
        set |= u64::from(_mm512_test_epi32_mask(lowest, _mm512_set1_epi32(1))) << shift;
    }
    set
}

/// The forms of characters by the highest four bits of their first bytes.
const fn forms() -> [Form; AT_ONCE] {
    let mut forms = [form(0); AT_ONCE];
    let mut which = 0;
    while which < AT_ONCE {
        forms[which] = form((which << 4) as u8);
        which += 1;
    }
    forms
}

/// For each quarter of a block, its places, each four times.
const FOUR_TIMES: [[u8; LEN]; 4] = {
    let mut places = [[0; LEN]; 4];
    let mut at = 0;
    while at < 4 * LEN {
        places[at / LEN][at % LEN] = (at / 4) as u8;
        at += 1;
    }
    places
};

#[target_feature(enable = "avx512f")]
#[inline]
fn load_numbers(numbers: &[u32; AT_ONCE]) -> __m512i {
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads sixteen numbers.
    unsafe {
        _mm512_loadu_si512(numbers.as_ptr().cast())
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store_numbers(values: __m512i, numbers: &mut [u32; AT_ONCE]) {
    #[allow(unsafe_code, reason = "no safe function stores")]
    // SAFETY: it writes sixteen numbers.
    unsafe {
        _mm512_storeu_si512(numbers.as_mut_ptr().cast(), values);
    }
}
