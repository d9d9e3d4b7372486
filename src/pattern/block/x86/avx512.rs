//! Blocks with AVX-512: an instruction looks up 64 values, or 128.
//!
//! No closure is handed to functions of the standard library: those are compiled without AVX-512,
//! and could not inline it.

use std::arch::x86_64::{
    __m512i, _mm_bsrli_si128, _mm_set_epi64x, _mm512_add_epi64, _mm512_alignr_epi64,
    _mm512_and_si512, _mm512_andnot_si512, _mm512_broadcast_i32x4, _mm512_castsi512_si128,
    _mm512_cmpeq_epi8_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi8,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_shuffle_epi8,
    _mm512_slli_epi16, _mm512_srli_epi16, _mm512_storeu_epi64, _mm512_storeu_si512,
    _mm512_test_epi8_mask, _pext_u64,
};

use super::super::{Characters, Found, LEN};
use crate::pattern::foreign::{Foreign, ForeignKind};
use crate::pattern::groups::Groups;
use crate::pattern::look_up::Table;

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
#[inline]
pub(super) fn look_up(block: &[u8; LEN], groups: &Groups) -> Found {
    let bytes = load(block);
    let (low, high) = groups.kinds.0.as_chunks().0.split_at(1);
    let mut kinds = _mm512_permutex2var_epi8(load(&low[0]), bytes, load(&high[0]));
    let mut foreign = _mm512_movepi8_mask(bytes);
    let mut characters = None;
    if foreign != 0 {
        let shown;
        (kinds, foreign, shown) = characters_of(bytes, kinds, &groups.foreign);
        characters = Some(shown);
    }
    let second = _mm512_permutexvar_epi8(load(&ONE_BEFORE), kinds);
    let first = _mm512_permutexvar_epi8(load(&TWO_BEFORE), kinds);
    let row = _mm512_or_si512(
        _mm512_shuffle_epi8(four_times(&groups.first), first),
        _mm512_shuffle_epi8(four_times(&groups.second), second),
    );
    let bit = _mm512_shuffle_epi8(four_times(&groups.third), kinds);
    let classes = _mm512_shuffle_epi8(four_times(&groups.white_space), kinds);
    Found {
        characters,
        ends: _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.ends.0)), bit),
        open: _mm512_test_epi8_mask(_mm512_permutexvar_epi8(row, load(&groups.open.0)), bit),
        foreign,
        white_space: _mm512_movepi8_mask(classes),
        line_ends: _mm512_movepi8_mask(_mm512_slli_epi16::<1>(classes)),
        ends_before_space: _mm512_movepi8_mask(_mm512_slli_epi16::<2>(classes)),
        keeps_line_ends: _mm512_movepi8_mask(_mm512_slli_epi16::<3>(classes)),
    }
}

/// The kinds of the characters of a block, those that are not looked up, and where they are; given the
/// kinds of the bytes of ASCII.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
#[inline]
fn characters_of(
    bytes: __m512i,
    mut kinds: __m512i,
    known: &Foreign,
) -> (__m512i, u64, Characters) {
    let beyond = BeyondAscii::new(bytes, &known.leaves);
    let (mut starts, mut foreign) = (u64::MAX, _mm512_movepi8_mask(bytes));
    for kind in &known.kinds {
        let (two, three) = beyond.of(kind);
        let all_of_kind = _mm512_set1_epi8(kind.kind.cast_signed());
        kinds = _mm512_mask_blend_epi8(two | three, kinds, all_of_kind);
        let inside = (two | three) << 1 | three << 2;
        starts &= !inside;
        foreign &= !(two | three | inside);
    }
    let num_bytes = beyond.end();
    let len = (starts & u64::MAX >> (LEN - num_bytes)).count_ones();
    kinds = _mm512_maskz_compress_epi8(starts, kinds);
    let characters = Characters {
        len: len as usize,
        num_bytes,
        starts,
        kinds: stored(kinds),
    };
    let behind = u64::MAX.checked_shl(len).unwrap_or(0);
    (kinds, _pext_u64(foreign, starts) | behind, characters)
}

/// Where the characters of more than one byte are in a block, as bits for their first bytes.
struct BeyondAscii {
    /// Those that begin like characters of two bytes, of three, and of four.
    first: [u64; 3],
    /// All bytes behind a first one.
    inside: u64,
    /// Where the bit of a character of two bytes, and of three, is in tables: the byte, and the bit in it.
    in_two: (__m512i, __m512i),
    in_three: (__m512i, __m512i),
}

impl BeyondAscii {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn new(bytes: __m512i, leaves: &Table<512>) -> Self {
        const ONE_BEHIND: [u8; LEN] = numbers_from(1);
        const TWO_BEHIND: [u8; LEN] = numbers_from(2);
        let second = _mm512_permutexvar_epi8(load(&ONE_BEHIND), bytes);
        let third = _mm512_permutexvar_epi8(load(&TWO_BEHIND), bytes);
        Self {
            first: [
                begin_with(bytes, 0xE0, 0xC0),
                begin_with(bytes, 0xF0, 0xE0),
                begin_with(bytes, 0xF8, 0xF0),
            ],
            inside: begin_with(bytes, 0xC0, 0x80),
            in_two: place(bytes, second),
            in_three: place(numbers_of(leaves, bytes, second), third),
        }
    }

    /// Where the last character ends that is whole.
    #[inline]
    fn end(&self) -> usize {
        let [two, three, four] = self.first;
        let cut_off = (two | three | four) & 1 << 63 | (three | four) & 1 << 62 | four & 1 << 61;
        cut_off.trailing_zeros() as usize
    }

    /// The first bytes of the characters of a symbol that have two bytes, and three.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn of(&self, kind: &ForeignKind) -> (u64, u64) {
        let [two, three, _] = self.first;
        let of_two = _mm512_mask_blend_epi8(
            _mm512_movepi8_mask(self.in_two.0),
            look_up_128(&kind.of_two, 0, self.in_two.0),
            look_up_128(&kind.of_two, 1, self.in_two.0),
        );
        let of_three = look_up_128(&kind.of_three, 0, self.in_three.0);
        let followed = self.inside >> 1;
        (
            two & followed & _mm512_test_epi8_mask(of_two, self.in_two.1),
            three & followed & followed >> 1 & _mm512_test_epi8_mask(of_three, self.in_three.1),
        )
    }
}

/// Where a bit is in a table, by the number of a row of 64 and the last byte of a character: the byte, and
/// the bit in it.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn place(row: __m512i, last: __m512i) -> (__m512i, __m512i) {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
    let seven = _mm512_set1_epi8(7);
    let high = _mm512_andnot_si512(seven, _mm512_slli_epi16::<3>(row));
    let low = _mm512_and_si512(_mm512_srli_epi16::<3>(last), seven);
    let bit = _mm512_shuffle_epi8(four_times(&BITS), _mm512_and_si512(last, seven));
    (_mm512_or_si512(high, low), bit)
}

/// The numbers of the leaves of characters of three bytes, by the first two.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn numbers_of(leaves: &Table<512>, first: __m512i, second: __m512i) -> __m512i {
    let in_part = _mm512_or_si512(
        _mm512_and_si512(_mm512_slli_epi16::<6>(first), _mm512_set1_epi8(0x40)),
        _mm512_and_si512(second, _mm512_set1_epi8(0x3F)),
    );
    let [second_bit, third_bit, fourth_bit] = [
        _mm512_test_epi8_mask(first, _mm512_set1_epi8(2)),
        _mm512_test_epi8_mask(first, _mm512_set1_epi8(4)),
        _mm512_test_epi8_mask(first, _mm512_set1_epi8(8)),
    ];
    let low = _mm512_mask_blend_epi8(
        second_bit,
        look_up_128(leaves, 0, in_part),
        look_up_128(leaves, 1, in_part),
    );
    let high = _mm512_mask_blend_epi8(
        second_bit,
        look_up_128(leaves, 2, in_part),
        look_up_128(leaves, 3, in_part),
    );
    let both = _mm512_mask_blend_epi8(third_bit, low, high);
    let upper = _mm512_srli_epi16::<4>(both);
    _mm512_and_si512(
        _mm512_mask_blend_epi8(fourth_bit, both, upper),
        _mm512_set1_epi8(0xF),
    )
}

/// The bytes that have these bits of some.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn begin_with(bytes: __m512i, bits: u8, expected: u8) -> u64 {
    let bits = _mm512_and_si512(bytes, _mm512_set1_epi8(bits.cast_signed()));
    _mm512_cmpeq_epi8_mask(bits, _mm512_set1_epi8(expected.cast_signed()))
}

/// Look up 128 values of a table, which has several times as many, by the lowest seven bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up_128<const N: usize>(table: &Table<N>, part: usize, numbers: __m512i) -> __m512i {
    let parts = table.0.as_chunks().0;
    _mm512_permutex2var_epi8(load(&parts[2 * part]), numbers, load(&parts[2 * part + 1]))
}

/// The places in a block.
pub(super) const PLACES: [u8; LEN] = numbers_from(0);
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
    let bases = _mm512_set1_epi64((base as u64).cast_signed());
    let mut set = _mm512_maskz_compress_epi8(group, load(&PLACES));
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
fn stored(values: __m512i) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    #[allow(unsafe_code, reason = "no safe function stores")]
    // SAFETY: it writes `LEN` bytes, and there are as many.
    unsafe {
        _mm512_storeu_si512(bytes.as_mut_ptr().cast(), values);
    }
    bytes
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load(bytes: &[u8; LEN]) -> __m512i {
    #[allow(unsafe_code, reason = "no safe function loads")]
    // SAFETY: it reads `LEN` bytes.
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast())
    }
}
