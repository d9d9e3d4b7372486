//! What processors find in a block of bytes.

use super::super::block::{self, Any, Processor};
use super::super::look_up::Table;
use super::super::{foreign, groups};
use super::{Random, rounds};
use crate::spelling::{Spelling, spelling_at};

#[test]
fn blocks_are_read_alike_on_all_processors() {
    let mut random = Random(4);
    for _ in 0..rounds(1_000) {
        let most = if random.below(3) == 0 { 140 } else { 128 };
        let bytes: [u8; block::LEN] = std::array::from_fn(|_| random.below(most) as u8);
        let mut groups = groups::Groups::empty();
        groups.kinds.0 = std::array::from_fn(|_| random.below(16) as u8);
        groups.ends.0 = std::array::from_fn(|_| random.below(256) as u8);
        groups.open.0 = std::array::from_fn(|_| random.below(256) as u8);
        groups.first = std::array::from_fn(|_| 16 * random.below(4) as u8);
        groups.second = std::array::from_fn(|_| random.below(16) as u8);
        groups.third = std::array::from_fn(|_| 1 << random.below(8));
        groups.white_space = std::array::from_fn(|_| random.below(16) as u8 * 16);
        // What is undefined does not count.
        let masked = |found: block::Found| {
            let known = !(3 | found.foreign | found.foreign << 1 | found.foreign << 2);
            block::Found {
                characters: None,
                ends: found.ends & known,
                open: found.open & known,
                foreign: found.foreign,
                white_space: found.white_space & !found.foreign,
                line_ends: found.line_ends & !found.foreign,
                ends_before_space: found.ends_before_space & !found.foreign,
                keeps_line_ends: found.keeps_line_ends & !found.foreign,
            }
        };
        let expected = masked(Any.look_up(&bytes, &groups));
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = block::Avx2::detect() {
            assert_eq!(masked(processor.look_up(&bytes, &groups)), expected);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = block::Avx512::detect() {
            assert_eq!(masked(processor.look_up(&bytes, &groups)), expected);
        }
    }
}

/// Random characters of one kind, all of them such as UTF-8 allows.
fn random_kind(random: &mut Random) -> foreign::Foreign {
    let mut kind = foreign::ForeignKind {
        kind: 9,
        of_two: Table(std::array::from_fn(|_| random.below(256) as u8)),
        of_three: Table(std::array::from_fn(|_| random.below(256) as u8)),
    };
    kind.of_two.0[..0x80 / 8].fill(0);
    kind.of_three.0[..8].fill(0);
    let mut leaves: [u8; 512] = std::array::from_fn(|_| random.below(256) as u8);
    leaves[..0x800 / 64]
        .iter_mut()
        .for_each(|leaf| *leaf &= 0xF0);
    let surrogates = 0xD800 / 64 % 512..0xE000 / 64 % 512;
    leaves[surrogates].iter_mut().for_each(|leaf| *leaf &= 0x0F);
    foreign::Foreign {
        leaves: Table(leaves),
        kinds: vec![kind],
    }
}

/// Where each character of a block begins, and its kind if it is looked up.
fn characters(bytes: &[u8], foreign: &foreign::Foreign) -> Vec<(usize, Option<u8>)> {
    let kind = &foreign.kinds[0];
    let leaves = &foreign.leaves.0;
    let number = |leaf: usize| usize::from(leaves[leaf % 512] >> (leaf / 512 * 4) & 0xF);
    let is_known = |character: char| {
        let code = character as usize;
        match character.len_utf8() {
            1 => true,
            2 => kind.of_two.0[code / 8] >> (code % 8) & 1 == 1,
            3 => kind.of_three.0[8 * number(code / 64) + code % 64 / 8] >> (code % 8) & 1 == 1,
            _ => false,
        }
    };
    let (mut characters, mut at) = (Vec::new(), 0);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_known(character) {
                let kind = if character.is_ascii() { 0 } else { kind.kind };
                characters.push((at, Some(kind)));
            } else {
                characters.extend((at..at + character.len_utf8()).map(|at| (at, None)));
            }
            at += character.len_utf8();
        }
        characters.extend((at..at + chunk.invalid().len()).map(|at| (at, None)));
        at += chunk.invalid().len();
    }
    characters
}

#[test]
#[cfg(target_arch = "x86_64")]
fn characters_beyond_ascii_are_looked_up() {
    let Some(processor) = block::Avx512::detect() else {
        return;
    };
    let mut random = Random(7);
    for _ in 0..rounds(1_000) {
        let mut text = random.text(200);
        text.resize(block::LEN, b'x');
        let bytes: [u8; block::LEN] = text.try_into().expect("as many");
        let mut groups = groups::Groups::empty();
        groups.foreign = random_kind(&mut random);
        let mut expected = characters(&bytes, &groups.foreign);
        let length = |byte: u8| (!byte).leading_zeros().clamp(1, 4) as usize;
        let is_cut = |&at: &usize| {
            !matches!(bytes[at], 0x80..0xC0 | 0xF8..) && at + length(bytes[at]) > block::LEN
        };
        let num_bytes = (0..block::LEN).find(is_cut).unwrap_or(block::LEN);
        let found = processor.look_up(&bytes, &groups);
        let Some(shown) = &found.characters else {
            assert!(bytes.is_ascii());
            continue;
        };
        assert_eq!(shown.num_bytes, num_bytes, "{bytes:x?}");
        let starts = expected.iter().fold(0, |starts, &(at, _)| starts | 1 << at);
        assert_eq!(shown.starts, starts, "{bytes:x?}");
        expected.retain(|&(at, _)| at < num_bytes);
        assert_eq!(shown.len, expected.len());
        for (index, &(_, kind)) in expected.iter().enumerate() {
            assert_eq!(found.foreign >> index & 1 == 0, kind.is_some());
            assert!(kind.is_none_or(|kind| kind == shown.kinds[index]));
        }
    }
}

#[test]
fn places_are_written_alike_on_all_processors() {
    fn places(processor: impl Processor, base: usize, group: u64) -> Vec<usize> {
        let mut places = [0; block::LEN];
        processor.write_places(base, group, &mut places);
        places[..group.count_ones() as usize].to_vec()
    }
    let mut random = Random(5);
    for round in 0..rounds(1_000) {
        let density = 1 + round % 64;
        // The last bit is 0.
        let group = (0..block::LEN - 1).fold(0, |group, bit| {
            group | u64::from(random.below(64) < density) << bit
        });
        let base = random.below(1 << 40);
        let bits = (0..block::LEN).filter(|bit| group >> bit & 1 == 1);
        let expected: Vec<usize> = bits.map(|bit| base + bit).collect();
        assert_eq!(places(Any, base, group), expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = block::Avx512::detect() {
            assert_eq!(places(processor, base, group), expected);
        }
    }
}

#[test]
fn characters_are_spelled_alike_on_all_processors() {
    /// Of one to four bytes, and bytes that are part of none.
    const PARTS: [&[u8]; 12] = [
        b"a",
        b" ",
        "é".as_bytes(),
        "ж".as_bytes(),
        "中".as_bytes(),
        "あ".as_bytes(),
        "🦊".as_bytes(),
        b"\x80",
        b"\xC3",
        b"\xE4\xB8",
        b"\xF0\x9F\xA6",
        b"\xFF",
    ];
    fn spelled(
        processor: impl Processor,
        block: &[u8; 2 * block::LEN],
        places: u64,
    ) -> Vec<Spelling> {
        let mut spellings = [0; block::LEN];
        processor.spell(block, places, &mut spellings);
        spellings[..places.count_ones() as usize].to_vec()
    }
    let mut random = Random(6);
    for _ in 0..rounds(1_000) {
        let num_parts = if random.below(2) == 0 { 7 } else { PARTS.len() };
        let parts = (0..2 * block::LEN).flat_map(|_| PARTS[random.below(num_parts)]);
        let bytes: Vec<u8> = parts.copied().collect();
        let block = bytes.first_chunk().expect("longer");
        let places = [0, 1, 1 << 63, u64::MAX, random.below(usize::MAX) as u64][random.below(5)];
        let first = (0..block::LEN).filter(|at| places >> at & 1 == 1);
        let expected: Vec<Spelling> = first.map(|at| spelling_at(block, at)).collect();
        assert_eq!(spelled(Any, block, places), expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = block::Avx512::detect() {
            assert_eq!(spelled(processor, block, places), expected);
        }
    }
}

#[test]
fn bits_of_tables_are_looked_up_alike_on_all_processors() {
    let mut random = Random(7);
    for _ in 0..rounds(1_000) {
        let table: Vec<u32> = (0..1 << random.below(6))
            .map(|_| random.below(1 << 32) as u32)
            .collect();
        let num_bits = 32 * table.len();
        let numbers: [u32; block::LEN] = std::array::from_fn(|_| random.below(num_bits) as u32);
        let len = random.below(block::LEN + 1);
        let mut expected = 0;
        for (at, &number) in numbers[..len].iter().enumerate() {
            let word = table[number as usize / 32];
            expected |= u64::from(word & 1 << (number % 32) != 0) << at;
        }
        let within = u64::MAX.checked_shr((block::LEN - len) as u32).unwrap_or(0);
        assert_eq!(Any.are_set(&table, &numbers, len) & within, expected);
        #[cfg(target_arch = "x86_64")]
        if let Some(processor) = block::Avx512::detect() {
            assert_eq!(processor.are_set(&table, &numbers, len) & within, expected);
        }
    }
}
