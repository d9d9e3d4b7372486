//! Characters as symbols of an automaton.
//!
//! Characters that an expression does not tell apart are one symbol. A byte of ASCII is found by
//! itself; of any other character all bits but the last six select a leaf, and these six, its last
//! byte in UTF-8, the symbol in the leaf.

use rustc_hash::FxHashMap;

use super::class::Ranges;

/// A set of characters that an automaton does not tell apart.
pub(super) type Symbol = u8;

const LEAF: usize = 64;
const NUM_LEAVES: usize = 0x11_0000 / LEAF;

/// The symbol of each character.
#[derive(Debug, Clone)]
pub(super) struct Alphabet {
    /// Where the leaf of each 64 characters begins.
    places: Box<[u16]>,
    leaves: Vec<[Symbol; LEAF]>,
    /// The symbol of a byte that is no character: that of U+FFFD.
    broken: Symbol,
}

impl Alphabet {
    /// The alphabet that tells these sets apart, and the sets of which each symbol is a part, by
    /// their indices; `None` if there are too many symbols.
    pub(super) fn new(sets: &[Ranges], most: usize) -> Option<(Self, Vec<Vec<usize>>)> {
        // Where a range of a set begins or ends.
        let mut bounds: Vec<(u32, usize, i32)> = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            for &(first, last) in set {
                bounds.push((u32::from(first), index, 1));
                bounds.push((u32::from(last) + 1, index, -1));
            }
        }
        bounds.sort_unstable();
        let mut symbols: FxHashMap<Vec<usize>, Symbol> = FxHashMap::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut runs: Vec<(u32, Symbol)> = Vec::new();
        let mut num_ranges = vec![0; sets.len()];
        let mut at = 0;
        let mut bounds = bounds.into_iter().peekable();
        while at < 0x11_0000 {
            while let Some((_, set, change)) = bounds.next_if(|&(bound, ..)| bound == at) {
                num_ranges[set] += change;
            }
            let within = (0..sets.len()).filter(|&set| num_ranges[set] > 0);
            let within: Vec<usize> = within.collect();
            let symbol = match symbols.get(&within) {
                Some(&symbol) => symbol,
                None if members.len() == most => return None,
                None => {
                    let symbol = members.len() as Symbol;
                    members.push(within.clone());
                    symbols.insert(within, symbol);
                    symbol
                }
            };
            at = bounds.peek().map_or(0x11_0000, |&(bound, ..)| bound);
            runs.push((at, symbol));
        }
        Some((Self::of_runs(&runs), members))
    }

    /// The alphabet with these runs of symbols, each with its end.
    fn of_runs(runs: &[(u32, Symbol)]) -> Self {
        let mut known: FxHashMap<[Symbol; LEAF], u16> = FxHashMap::default();
        let mut leaves = Vec::new();
        let (mut run, mut code) = (0, 0);
        let places = (0..NUM_LEAVES).map(|_| {
            let mut leaf = [0; LEAF];
            for symbol in &mut leaf {
                while runs[run].0 <= code {
                    run += 1;
                }
                *symbol = runs[run].1;
                code += 1;
            }
            *known.entry(leaf).or_insert_with(|| {
                leaves.push(leaf);
                (leaves.len() - 1) as u16
            })
        });
        let mut alphabet = Self {
            places: places.collect(),
            leaves: Vec::new(),
            broken: 0,
        };
        alphabet.leaves = leaves;
        alphabet.broken = alphabet.symbol(0xfffd);
        alphabet
    }

    /// The same with other symbols.
    pub(super) fn renamed(mut self, names: &[Symbol]) -> Self {
        for symbol in self.leaves.iter_mut().flatten() {
            *symbol = names[usize::from(*symbol)];
        }
        self.broken = names[usize::from(self.broken)];
        self
    }

    /// The symbol of a character.
    #[inline]
    pub(super) fn symbol(&self, code: u32) -> Symbol {
        let leaf = self.places[code as usize / LEAF];
        self.leaves[usize::from(leaf)][code as usize % LEAF]
    }

    /// The symbol and the length of the character at the beginning of a text that is not empty. Each
    /// byte that is not part of valid UTF-8 is U+FFFD.
    #[inline]
    pub(super) fn read(&self, text: &[u8]) -> (Symbol, usize) {
        // All bits but the last six, these, and the length.
        let (high, low, len) = match *text {
            [a @ ..0x80, ..] => (u32::from(a) >> 6, a, 1),
            [a @ 0xc2..=0xdf, b, ..] if is_continuation(b) => (low_bits(a, 0x1f), b, 2),
            [a @ 0xe0..=0xef, b, c, ..] if is_continuation(b) && is_continuation(c) => {
                (low_bits(a, 0xf) << 6 | low_bits(b, 0x3f), c, 3)
            }
            [a @ 0xf0..=0xf4, b, c, d, ..]
                if is_continuation(b) && is_continuation(c) && is_continuation(d) =>
            {
                let high = low_bits(a, 7) << 12 | low_bits(b, 0x3f) << 6 | low_bits(c, 0x3f);
                (high, d, 4)
            }
            _ => return (self.broken, 1),
        };
        let is_shortest = match len {
            3 => high >= 0x800 >> 6 && !(0xd800 >> 6..0xe000 >> 6).contains(&high),
            4 => (0x1_0000 >> 6..0x11_0000 >> 6).contains(&high),
            _ => true,
        };
        if !is_shortest {
            return (self.broken, 1);
        }
        let leaf = self.places[high as usize];
        (self.leaves[usize::from(leaf)][usize::from(low) % LEAF], len)
    }

    /// The symbol and the start of the character that ends at `end`, which is not 0.
    pub(super) fn read_before(&self, text: &[u8], end: usize) -> (Symbol, usize) {
        for len in 2..=end.min(4) {
            let (symbol, found) = self.read(&text[end - len..end]);
            if found == len {
                return (symbol, end - len);
            }
        }
        (self.read(&text[end - 1..end]).0, end - 1)
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

fn low_bits(byte: u8, mask: u8) -> u32 {
    u32::from(byte & mask)
}
