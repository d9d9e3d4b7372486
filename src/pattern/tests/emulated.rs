//! A processor that looks up characters beyond ASCII, as those with AVX-512 do, one after the other: so its
//! verdicts are tested on all processors.

use super::super::block::{Characters, Found, LEN, Processor, Work};
use super::super::foreign::{Foreign, ForeignKind};
use super::super::groups::{ENDS_BEFORE_SPACE, Groups, KEEPS_LINE_ENDS, LINE_END, WHITE_SPACE};

#[derive(Clone, Copy)]
pub(super) struct Emulated;

/// The kind of a character beyond ASCII, if it is looked up.
fn kind_of(character: char, foreign: &Foreign) -> Option<u8> {
    let code = character as usize;
    let is_of = |kind: &&ForeignKind| match character.len_utf8() {
        2 => kind.of_two.0[code / 8] >> (code % 8) & 1 == 1,
        3 => {
            let leaf = code / 64;
            let number = foreign.leaves.0[leaf % 512] >> (leaf / 512 * 4) & 0xF;
            kind.of_three.0[8 * usize::from(number) + code % 64 / 8] >> (code % 8) & 1 == 1
        }
        _ => false,
    };
    Some(foreign.kinds.iter().find(is_of)?.kind)
}

/// Where each character begins, and its kind if it is looked up; each byte of others counts as one.
fn characters_of(block: &[u8; LEN], groups: &Groups) -> Vec<(usize, Option<u8>)> {
    let (mut characters, mut at) = (Vec::new(), 0);
    for chunk in block.utf8_chunks() {
        for character in chunk.valid().chars() {
            let kind = if character.is_ascii() {
                Some(groups.kind(character as u8))
            } else {
                kind_of(character, &groups.foreign)
            };
            let num_characters = if kind.is_some() {
                1
            } else {
                character.len_utf8()
            };
            characters.extend((at..at + num_characters).map(|at| (at, kind)));
            at += character.len_utf8();
        }
        let invalid = at..at + chunk.invalid().len();
        at = invalid.end;
        characters.extend(invalid.map(|at| (at, None)));
    }
    characters
}

/// Where a character begins that the block cuts off, or its end.
fn end_of_whole(block: &[u8; LEN]) -> usize {
    let is_cut = |&at: &usize| {
        let length = match block[at] {
            0xC0..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0..0xF8 => 4,
            _ => 1,
        };
        at + length > LEN
    };
    (LEN - 3..LEN).find(is_cut).unwrap_or(LEN)
}

impl Processor for Emulated {
    const HAS_BLOCKS: bool = true;

    fn run<W: Work>(self, work: W) -> W::Output {
        work.run(self)
    }

    fn look_up(self, block: &[u8; LEN], groups: &Groups) -> Found {
        let characters = characters_of(block, groups);
        let kinds: [u8; LEN] = std::array::from_fn(|index| {
            let character = characters.get(index);
            character.and_then(|&(_, kind)| kind).unwrap_or(0)
        });
        let num_bytes = end_of_whole(block);
        let len = characters.iter().filter(|&&(at, _)| at < num_bytes).count();
        let bits = |is_set: &dyn Fn(usize) -> bool| {
            (0..LEN).fold(0, |bits, index| bits | u64::from(is_set(index)) << index)
        };
        let verdict = |rows: &[u8], index: usize| {
            let [first, second, third] = [2, 1, 0].map(|before| usize::from(kinds[index - before]));
            let row = usize::from(groups.first[first] | groups.second[second]);
            rows[row] & groups.third[third] != 0
        };
        let class =
            |bit: u8| bits(&|index| groups.white_space[usize::from(kinds[index])] & bit != 0);
        let is_known = |index: usize| index < len && characters[index].1.is_some();
        let is_ascii = block.is_ascii();
        Found {
            characters: (!is_ascii).then(|| Characters {
                len,
                num_bytes,
                starts: characters
                    .iter()
                    .fold(0, |starts, &(at, _)| starts | 1 << at),
                kinds,
            }),
            ends: bits(&|index| index > 1 && verdict(&groups.ends.0, index)),
            open: bits(&|index| index > 1 && verdict(&groups.open.0, index)),
            foreign: bits(&|index| !is_known(index)),
            white_space: class(WHITE_SPACE),
            line_ends: class(LINE_END),
            ends_before_space: class(ENDS_BEFORE_SPACE),
            keeps_line_ends: class(KEEPS_LINE_ENDS),
        }
    }
}
