//! Verdicts as tables that processors read 64 bytes at a time.
//!
//! What a few instructions look up for many bytes at once is a table of 16 values, or of 128. So
//! characters are of 16 kinds, and of three neighbours the first has one of four groups, by its kind,
//! the second of sixteen, the third of eight. The groups of the first two select a row, in which the
//! third has its bit. If that is too few, characters that rarely need to be told apart are of one kind
//! or group, and where their verdicts differ there is none.

use super::alphabet::Symbol;
use super::automaton::Automaton;
use super::foreign::{Foreign, frequent_symbols};
use super::look_up::{MOST_SYMBOLS, Table};
use super::neighbours::{Neighbours, Verdict};
use super::white_space::Kind;

/// The number of bytes of ASCII.
const ASCII: usize = 128;
/// The number of kinds.
const KINDS: usize = 16;
/// The number of rows.
const ROWS: usize = 64;
const MOST: [usize; 3] = [ROWS / KINDS, KINDS, 8];
/// Where more places than so many have no verdict, the automaton alone is faster.
const MOST_OPEN: f64 = 0.25;
/// The weight of a symbol beyond ASCII, see [`weight`].
const WEIGHT_OF_FOREIGN: f64 = 30.0;

pub(super) const WHITE_SPACE: u8 = 1 << 7;
pub(super) const LINE_END: u8 = 1 << 6;
pub(super) const ENDS_BEFORE_SPACE: u8 = 1 << 5;
pub(super) const KEEPS_LINE_ENDS: u8 = 1 << 4;

/// What there is to know of a symbol for verdicts within white space.
fn white_space(symbol: Symbol, neighbours: &Neighbours<'_>) -> u8 {
    let ends = u8::from(neighbours.ends_before_space(symbol)) * ENDS_BEFORE_SPACE;
    match neighbours.white_space().kind(symbol) {
        Kind::Space => WHITE_SPACE | ends,
        Kind::LineEnd => WHITE_SPACE | LINE_END | ends,
        Kind::Other | Kind::Foreign => {
            u8::from(neighbours.keeps_line_ends(symbol)) * KEEPS_LINE_ENDS
        }
    }
}

/// The verdicts on ASCII, and on some characters beyond it.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    /// The kind of each byte.
    pub(super) kinds: Table<ASCII>,
    /// For each kind, what there is to know for verdicts within white space, as bits.
    pub(super) white_space: [u8; KINDS],
    /// For each kind, the group of a first byte, times 16.
    pub(super) first: [u8; KINDS],
    /// The group of a second byte.
    pub(super) second: [u8; KINDS],
    /// The bit of a third byte.
    pub(super) third: [u8; KINDS],
    /// For the groups of the first and the second, the bits of third bytes before which a word ends.
    pub(super) ends: Table<ROWS>,
    /// The same for those where it depends on more.
    pub(super) open: Table<ROWS>,
    /// For each kind of byte that begins a word, the kinds before which that word ends at once.
    ends_at_start: [u16; KINDS],
    open_at_start: [u16; KINDS],
    pub(super) foreign: Foreign,
}

impl Groups {
    /// What is known of the words of an automaton, and the verdicts, if each character of every text is in
    /// a word and there are not too many symbols. Verdicts on more characters are welcome where they cost
    /// none on ASCII.
    pub(super) fn with_neighbours(automaton: &Automaton) -> (Neighbours<'_>, Option<Self>) {
        let alphabet = automaton.alphabet();
        let with_others = |most| {
            let neighbours = Neighbours::new(automaton, frequent_symbols(alphabet, most));
            let groups = neighbours
                .is_complete()
                .then(|| Self::new(automaton, &neighbours));
            (neighbours, groups.flatten())
        };
        let few = with_others(1);
        if frequent_symbols(alphabet, usize::MAX) == few.0.foreign() {
            return few;
        }
        let more = with_others(usize::MAX);
        match (&few.1, &more.1) {
            (Some(few), Some(more)) if more.share_open() <= few.share_open() => {}
            _ => return few,
        }
        more
    }

    /// `None` if there are too many symbols.
    fn new(automaton: &Automaton, neighbours: &Neighbours<'_>) -> Option<Self> {
        let symbol = |byte: usize| automaton.alphabet().symbol(byte as u32);
        let mut symbols: Vec<Symbol> = (0..ASCII).map(symbol).collect();
        symbols.extend(neighbours.foreign());
        symbols.sort_unstable();
        symbols.dedup();
        if symbols.len() > MOST_SYMBOLS {
            return None;
        }
        let index = |symbol: Symbol| symbols.binary_search(&symbol).unwrap_or(0);
        let mut weights = vec![0.0; symbols.len()];
        for byte in 0..ASCII {
            weights[index(symbol(byte))] += weight(byte as u8);
        }
        for &foreign in neighbours.foreign() {
            weights[index(foreign)] += WEIGHT_OF_FOREIGN;
        }
        let classes: Vec<u8> = symbols
            .iter()
            .map(|&symbol| white_space(symbol, neighbours))
            .collect();
        let triples = neighbours.triples(&symbols, &weights);
        let mut cube = Cube::new(triples, &weights, classes.clone());
        cube.group(&[0, 1, 2], KINDS);
        let kinds = cube.groups[0].clone();
        for (axis, most) in MOST.into_iter().enumerate() {
            cube.group(&[axis], most);
        }
        let kind = |symbol: Symbol| kinds[index(symbol)] as u8;
        let foreign = neighbours.foreign().iter();
        let foreign: Vec<(Symbol, u8)> = foreign.map(|&symbol| (symbol, kind(symbol))).collect();
        let mut groups = Self {
            kinds: Table(std::array::from_fn(|byte| kind(symbol(byte)))),
            white_space: [0; KINDS],
            first: [0; KINDS],
            second: [0; KINDS],
            third: [0; KINDS],
            ends: cube.rows(Verdict::Ends),
            open: cube.rows(Verdict::Open),
            ends_at_start: [0; KINDS],
            open_at_start: [0; KINDS],
            foreign: Foreign::new(automaton.alphabet(), &foreign),
        };
        for (symbol, &kind) in kinds.iter().enumerate() {
            let [first, second, third] = [0, 1, 2].map(|axis: usize| cube.groups[axis][symbol]);
            groups.white_space[kind] = classes[symbol];
            groups.first[kind] = (first * KINDS) as u8;
            groups.second[kind] = second as u8;
            groups.third[kind] = 1 << third;
        }
        groups.find_verdicts_at_start(&symbols, &kinds, neighbours);
        Some(groups)
    }

    /// No verdicts, on bytes of one kind.
    #[cfg(test)]
    pub(super) fn empty() -> Self {
        Self {
            kinds: Table([0; ASCII]),
            white_space: [0; KINDS],
            first: [0; KINDS],
            second: [0; KINDS],
            third: [0; KINDS],
            ends: Table([0; ROWS]),
            open: Table([0; ROWS]),
            ends_at_start: [0; KINDS],
            open_at_start: [0; KINDS],
            foreign: Foreign::NONE,
        }
    }

    /// Whether there are so few verdicts that they are of no use.
    pub(super) fn are_few(&self) -> bool {
        self.share_open() > MOST_OPEN
    }

    /// How often there is no verdict on a place in ASCII, about.
    fn share_open(&self) -> f64 {
        let mut weights = [0.0; KINDS];
        for byte in 0..ASCII as u8 {
            weights[usize::from(self.kind(byte))] += weight(byte);
        }
        let mut sum = 0.0;
        for (first, first_weight) in weights.iter().enumerate() {
            for (second, second_weight) in weights.iter().enumerate() {
                let row = self.open.0[usize::from(self.first[first] | self.second[second])];
                let third = weights.iter().zip(self.third);
                let third: f64 = third
                    .filter(|(_, bit)| row & bit != 0)
                    .map(|(weight, _)| weight)
                    .sum();
                sum += first_weight * second_weight * third;
            }
        }
        sum / weights.iter().sum::<f64>().powi(3)
    }

    fn find_verdicts_at_start(
        &mut self,
        symbols: &[Symbol],
        kinds: &[usize],
        neighbours: &Neighbours<'_>,
    ) {
        let mut verdicts = [[Verdict::Never; KINDS]; KINDS];
        for (&first, &kind) in symbols.iter().zip(kinds) {
            for (&second, &next) in symbols.iter().zip(kinds) {
                let verdict = neighbours.at_start(first, second);
                verdicts[kind][next] = verdicts[kind][next].or(verdict);
            }
        }
        let bits = |row: &[Verdict; KINDS], wanted: Verdict| {
            let kinds = row.iter().enumerate();
            kinds.fold(0, |bits, (kind, verdict)| {
                bits | u16::from(*verdict == wanted) << kind
            })
        };
        for (kind, row) in verdicts.iter().enumerate() {
            self.ends_at_start[kind] = bits(row, Verdict::Ends);
            self.open_at_start[kind] = bits(row, Verdict::Open);
        }
    }

    /// The kind of a byte of ASCII.
    #[inline]
    pub(super) fn kind(&self, byte: u8) -> u8 {
        self.kinds.0[usize::from(byte) % ASCII]
    }

    /// Whether a word that begins with a character of the first kind ends before one of the second,
    /// and whether that depends on more. Both are 0 or 1.
    #[inline]
    pub(super) fn at_start(&self, kind: u8, next: u8) -> (u64, u64) {
        let (kind, next) = (usize::from(kind) % KINDS, usize::from(next) % KINDS);
        (
            u64::from(self.ends_at_start[kind] >> next & 1),
            u64::from(self.open_at_start[kind] >> next & 1),
        )
    }
}

/// How often a byte occurs, about: it decides which bytes share a group, if some have to.
fn weight(byte: u8) -> f64 {
    match byte {
        b' ' => 180.0,
        b'a'..=b'z' => 30.0,
        b'\n' => 20.0,
        b'.' | b',' | b'(' | b')' | b'_' | b'"' | b'\'' | b'=' | b'-' | b':' | b';' | b'/' => 6.0,
        b'A'..=b'Z' | b'0'..=b'9' | b'\t' => 3.0,
        0x21..=0x7e => 1.0,
        _ => 0.01,
    }
}

/// Verdicts by the groups of three symbols.
struct Cube {
    /// The group of each symbol, for each axis.
    groups: [Vec<usize>; 3],
    sizes: [usize; 3],
    weights: [Vec<f64>; 3],
    /// What there is to know for verdicts within white space: symbols that differ in it are of
    /// different kinds.
    white_space: Vec<u8>,
    verdicts: Vec<Verdict>,
}

impl Cube {
    fn new(verdicts: Vec<Verdict>, weights: &[f64], white_space: Vec<u8>) -> Self {
        let len = weights.len();
        Self {
            groups: [0, 1, 2].map(|_| (0..len).collect()),
            sizes: [len; 3],
            weights: [0, 1, 2].map(|_| weights.to_vec()),
            white_space,
            verdicts,
        }
    }

    fn place(&self, [first, second, third]: [usize; 3]) -> usize {
        (first * self.sizes[1] + second) * self.sizes[2] + third
    }

    /// The rows of the groups of the first two, with a bit for each group of the third that has this
    /// verdict.
    fn rows(&self, wanted: Verdict) -> Table<ROWS> {
        let mut rows = Table([0; ROWS]);
        for first in 0..self.sizes[0] {
            for second in 0..self.sizes[1] {
                for third in 0..self.sizes[2] {
                    let verdict = self.verdicts[self.place([first, second, third])];
                    rows.0[first * KINDS + second] |= u8::from(verdict == wanted) << third;
                }
            }
        }
        rows
    }

    /// Join groups of these axes: all that have the same verdicts, and more if there are too many.
    fn group(&mut self, axes: &[usize], most: usize) {
        let are_kinds = axes.len() == self.sizes.len();
        loop {
            let size = self.sizes[axes[0]];
            let mut best = (f64::INFINITY, 0, 0);
            for one in 0..size {
                for other in one + 1..size {
                    if are_kinds && self.white_space[one] != self.white_space[other] {
                        continue;
                    }
                    let costs = axes.iter().map(|&axis| self.cost(axis, one, other, best.0));
                    let cost = costs.sum();
                    if cost < best.0 {
                        best = (cost, one, other);
                    }
                }
            }
            let (cost, one, other) = best;
            if cost > 0.0 && size <= most || cost.is_infinite() {
                return;
            }
            for &axis in axes {
                self.join(axis, one, other);
            }
            if are_kinds {
                self.white_space.remove(other);
            }
        }
    }

    /// The weight of the verdicts that are lost if two groups are joined; if that is more than `most`,
    /// any that is more.
    fn cost(&self, axis: usize, one: usize, other: usize, most: f64) -> f64 {
        let (next, last) = [(1, 2), (0, 2), (0, 1)][axis];
        let mut cost = 0.0;
        let mut at = [0; 3];
        for second in 0..self.sizes[next] {
            at[next] = second;
            for third in 0..self.sizes[last] {
                at[last] = third;
                at[axis] = one;
                let a = self.verdicts[self.place(at)];
                at[axis] = other;
                let b = self.verdicts[self.place(at)];
                if a.or(b) == Verdict::Open {
                    let weight = |verdict, group: usize| match verdict {
                        Verdict::Ends | Verdict::GoesOn => self.weights[axis][group],
                        Verdict::Open | Verdict::Never => 0.0,
                    };
                    let beside = self.weights[next][second] * self.weights[last][third];
                    cost += beside * (weight(a, one) + weight(b, other));
                }
            }
            if cost > most {
                break;
            }
        }
        cost
    }

    /// Put the group `other` of an axis into the group `one`, which is before it.
    fn join(&mut self, axis: usize, one: usize, other: usize) {
        let mut sizes = self.sizes;
        sizes[axis] -= 1;
        let mut verdicts = Vec::with_capacity(sizes.iter().product());
        for first in 0..sizes[0] {
            for second in 0..sizes[1] {
                for third in 0..sizes[2] {
                    let mut at = [first, second, third];
                    let group = at[axis];
                    at[axis] += usize::from(group >= other);
                    let mut verdict = self.verdicts[self.place(at)];
                    if group == one {
                        at[axis] = other;
                        verdict = verdict.or(self.verdicts[self.place(at)]);
                    }
                    verdicts.push(verdict);
                }
            }
        }
        (self.sizes, self.verdicts) = (sizes, verdicts);
        let weight = self.weights[axis].remove(other);
        self.weights[axis][one] += weight;
        for group in &mut self.groups[axis] {
            *group = match *group {
                group if group == other => one,
                group if group > other => group - 1,
                group => group,
            };
        }
    }
}
