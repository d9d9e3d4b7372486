//! Characters beyond ASCII that processors look up many at a time.
//!
//! They are those of a few symbols, which get kinds as bytes of ASCII do. Characters of two bytes have a
//! bit each for every such symbol. Of those of three bytes there are too many: 64 that differ in the last
//! byte are a leaf, and only so many different leaves have bits as can be looked up at once.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::alphabet::{Alphabet, Symbol};
use super::look_up::{self, Table};

/// The most symbols that are looked up.
const MOST_SYMBOLS: usize = 5;
const LEAF: u32 = 64;
/// The number of different leaves, of which the first has no bits.
const MOST_LEAVES: usize = 16;
/// Leaves of frequent scripts that have several symbols: kana, CJK punctuation, full-width forms, general
/// punctuation, Thai, Devanagari and Bengali.
#[rustfmt::skip]
const FREQUENT: [u32; 13] = [
    0x3040, 0x3080, 0x30C0, 0x3000, 0xFF00, 0xFF40, 0x2000, 0x0E00, 0x0E40, 0x0900, 0x0940, 0x0980,
    0x09C0,
];

/// The symbols of most characters beyond ASCII, without those of white space. At most `most_others` of
/// them have no byte of ASCII.
pub(super) fn frequent_symbols(alphabet: &Alphabet, most_others: usize) -> Vec<Symbol> {
    let mut numbers: Vec<(u32, Symbol)> = (0..=Symbol::MAX).map(|symbol| (0, symbol)).collect();
    let mut is_space = [false; 1 << Symbol::BITS];
    for character in '\0'..'\u{10000}' {
        let symbol = usize::from(alphabet.symbol(character.into()));
        numbers[symbol].0 += u32::from(!character.is_ascii());
        is_space[symbol] |= character.is_whitespace();
    }
    numbers.retain(|&(number, symbol)| number > 0 && !is_space[usize::from(symbol)]);
    numbers.sort_unstable_by_key(|&(number, symbol)| (Reverse(number), symbol));
    let of_ascii: FxHashSet<Symbol> = (0..0x80).map(|code| alphabet.symbol(code)).collect();
    let mut room = most_others.min(look_up::MOST_SYMBOLS.saturating_sub(of_ascii.len()));
    numbers.retain(|(_, symbol)| {
        let is_other = !of_ascii.contains(symbol);
        let has_room = !is_other || room > 0;
        room -= usize::from(is_other && has_room);
        has_room
    });
    let symbols = numbers.into_iter().map(|(_, symbol)| symbol);
    symbols.take(MOST_SYMBOLS).collect()
}

/// The characters that are looked up.
#[derive(Debug, Clone)]
pub(super) struct Foreign {
    /// The number of each leaf below U+10000, in four bits: the low ones for the first half of all
    /// leaves, the high ones for the second.
    pub(super) leaves: Table<512>,
    pub(super) kinds: Vec<ForeignKind>,
}

/// The characters of one symbol.
#[derive(Debug, Clone)]
pub(super) struct ForeignKind {
    pub(super) kind: u8,
    /// A bit for each character of two bytes.
    pub(super) of_two: Table<256>,
    /// For the number of a leaf, a bit for each of its characters.
    pub(super) of_three: Table<128>,
}

impl Foreign {
    pub(super) const NONE: Self = Self {
        leaves: Table([0; 512]),
        kinds: Vec::new(),
    };

    /// The characters of these symbols, which have these kinds.
    pub(super) fn new(alphabet: &Alphabet, symbols: &[(Symbol, u8)]) -> Self {
        let index = |code: u32| {
            let symbol = alphabet.symbol(code);
            symbols.iter().position(|&(known, _)| known == symbol)
        };
        let no_characters = |&(_, kind): &(Symbol, u8)| ForeignKind {
            kind,
            of_two: Table([0; 256]),
            of_three: Table([0; 128]),
        };
        let mut foreign = Self {
            kinds: symbols.iter().map(no_characters).collect(),
            ..Self::NONE
        };
        for code in 0x80..0x800 {
            if let Some(index) = index(code) {
                foreign.kinds[index].of_two.0[code as usize / 8] |= 1 << (code % 8);
            }
        }
        foreign.number_leaves(index);
        foreign
    }

    /// Give numbers to leaves and bits to their characters; `index` is that of a character's symbol.
    fn number_leaves(&mut self, index: impl Fn(u32) -> Option<usize>) {
        type Leaf = Vec<Option<usize>>;
        let leaf_from = |first: u32| -> Leaf { (first..first + LEAF).map(&index).collect() };
        let is_uniform = |leaf: &&Leaf| leaf.iter().all(|index| *index == leaf[0]);
        // Without surrogates, which no character is.
        let firsts = (0x800..0xD800).chain(0xE000..0x1_0000);
        let firsts = firsts.step_by(LEAF as usize);
        let leaves: Vec<(u32, Leaf)> = firsts.map(|first| (first, leaf_from(first))).collect();
        let mut numbered = vec![vec![None; LEAF as usize]];
        let uniform = leaves.iter().map(|(_, leaf)| leaf).filter(is_uniform);
        for leaf in uniform.chain(&FREQUENT.map(leaf_from)) {
            if !numbered.contains(leaf) && numbered.len() < MOST_LEAVES {
                numbered.push(leaf.clone());
            }
        }
        for (first, leaf) in &leaves {
            let number = numbered.iter().position(|numbered| numbered == leaf);
            let place = (first / LEAF) as usize;
            let shift = if place < 512 { 0 } else { 4 };
            self.leaves.0[place % 512] |= (number.unwrap_or(0) as u8) << shift;
        }
        for (number, leaf) in numbered.iter().enumerate() {
            for (place, index) in leaf.iter().enumerate() {
                if let Some(index) = *index {
                    self.kinds[index].of_three.0[number * 8 + place / 8] |= 1 << (place % 8);
                }
            }
        }
    }
}
