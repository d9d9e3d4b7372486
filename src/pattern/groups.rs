//! Verdicts as tables that processors read 64 bytes at a time.
//!
//! A table of 128 bytes is what one or a few instructions look up for many bytes at once. So each of
//! three neighbouring bytes gets a group: eight for the first, sixteen for the second, eight for the
//! third. The groups of the first two select a row, in which the third has its bit. If that is too
//! few, bytes that rarely need to be told apart share a group, and where their verdicts differ there
//! is none.

use super::alphabet::Symbol;
use super::automaton::Automaton;
use super::neighbours::{Neighbours, Triples, Verdict};

/// The number of bytes of ASCII, of groups of the first two bytes together, and of a table.
pub(super) const TABLE: usize = 128;
const MOST: [usize; 3] = [8, 16, 8];
/// How many symbols ASCII may have: each three of them have a verdict.
const MOST_SYMBOLS: usize = 32;

/// A value for each byte of ASCII, or for each row.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct Table(pub(super) [u8; TABLE]);

/// The verdicts on ASCII.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    /// The group of the first byte, times 16.
    pub(super) first: Table,
    /// The group of the second.
    pub(super) second: Table,
    /// The bit of the third.
    pub(super) third: Table,
    /// For the groups of the first and the second, the bits of third bytes before which a word ends.
    pub(super) ends: Table,
    /// The same for those where it depends on more.
    pub(super) open: Table,
    /// For each byte that begins a word, the bytes before which that word ends at once.
    ends_at_start: Vec<u128>,
    open_at_start: Vec<u128>,
}

impl Groups {
    /// `None` if ASCII has too many symbols.
    pub(super) fn new(automaton: &Automaton, neighbours: &Neighbours<'_>) -> Option<Self> {
        let symbol = |byte: usize| automaton.alphabet().symbol(byte as u32);
        let mut symbols: Vec<Symbol> = (0..TABLE).map(symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        if symbols.len() > MOST_SYMBOLS {
            return None;
        }
        let index = |byte: usize| symbols.binary_search(&symbol(byte)).unwrap_or(0);
        let mut weights = vec![0.0; symbols.len()];
        for byte in 0..TABLE {
            weights[index(byte)] += weight(byte as u8);
        }
        let mut cube = Cube::new(&neighbours.triples(&symbols), &weights);
        for axis in 0..3 {
            cube.group(axis, MOST[axis]);
        }
        let table = |axis: usize, value: &dyn Fn(usize) -> usize| {
            Table(std::array::from_fn(|byte| {
                value(cube.groups[axis][index(byte)]) as u8
            }))
        };
        let rows = |wanted: Verdict| {
            Table(std::array::from_fn(|row| {
                let [first, second] = [row / MOST[1], row % MOST[1]];
                (0..MOST[2]).fold(0, |bits, third| {
                    bits | u8::from(cube.get([first, second, third]) == Some(wanted)) << third
                })
            }))
        };
        let at_start = |wanted: Verdict| {
            let bits = |first: usize| {
                (0..TABLE).fold(0, |bits, second| {
                    let verdict = neighbours.at_start(symbol(first), symbol(second));
                    bits | u128::from(verdict == wanted) << second
                })
            };
            (0..TABLE).map(bits).collect()
        };
        Some(Self {
            first: table(0, &|group| group * MOST[1]),
            second: table(1, &|group| group),
            third: table(2, &|group| 1 << group),
            ends: rows(Verdict::Ends),
            open: rows(Verdict::Open),
            ends_at_start: at_start(Verdict::Ends),
            open_at_start: at_start(Verdict::Open),
        })
    }

    /// Whether a word that begins with the first byte ends before the second, and whether that
    /// depends on more.
    #[inline]
    pub(super) fn at_start(&self, first: u8, second: u8) -> (bool, bool) {
        let Some(ends) = self.ends_at_start.get(usize::from(first)) else {
            return (false, true);
        };
        let open = self.open_at_start[usize::from(first)];
        let bit = |bits: u128| bits >> (second & 0x7f) & 1 == 1;
        (second < 0x80 && bit(*ends), second >= 0x80 || bit(open))
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
    verdicts: Vec<Verdict>,
}

impl Cube {
    fn new(triples: &Triples, weights: &[f64]) -> Self {
        let len = weights.len();
        let verdicts =
            (0..len.pow(3)).map(|at| triples.get(at / len / len, at / len % len, at % len));
        Self {
            groups: [0, 1, 2].map(|_| (0..len).collect()),
            sizes: [len; 3],
            weights: [0, 1, 2].map(|_| weights.to_vec()),
            verdicts: verdicts.collect(),
        }
    }

    fn get(&self, at: [usize; 3]) -> Option<Verdict> {
        let [_, second, third] = self.sizes;
        let is_inside = at.iter().zip(self.sizes).all(|(&at, size)| at < size);
        is_inside.then(|| self.verdicts[(at[0] * second + at[1]) * third + at[2]])
    }

    /// Join groups of an axis: all that have the same verdicts, and more if there are too many.
    fn group(&mut self, axis: usize, most: usize) {
        loop {
            let size = self.sizes[axis];
            let pairs = (0..size).flat_map(|one| (one + 1..size).map(move |other| (one, other)));
            let costs = pairs.map(|(one, other)| (self.cost(axis, one, other), one, other));
            let Some((cost, one, other)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return;
            };
            if cost > 0.0 && size <= most {
                return;
            }
            self.join(axis, one, other);
        }
    }

    /// The weight of the verdicts that are lost if two groups are joined.
    fn cost(&self, axis: usize, one: usize, other: usize) -> f64 {
        let mut cost = 0.0;
        self.for_each_beside(axis, |place| {
            let [a, b] = [one, other].map(|group| self.get(place(group)).unwrap_or(Verdict::Never));
            let joined = a.or(b);
            for (verdict, group) in [(a, one), (b, other)] {
                if joined == Verdict::Open && verdict != Verdict::Open && verdict != Verdict::Never
                {
                    let weights = self.weights.iter().zip(place(group));
                    cost += weights
                        .map(|(weights, group)| weights[group])
                        .product::<f64>();
                }
            }
        });
        cost
    }

    /// Call `use_place` for each place on the other two axes.
    fn for_each_beside(
        &self,
        axis: usize,
        mut use_place: impl FnMut(&dyn Fn(usize) -> [usize; 3]),
    ) {
        let others = [(1, 2), (0, 2), (0, 1)][axis];
        for first in 0..self.sizes[others.0] {
            for second in 0..self.sizes[others.1] {
                use_place(&|group| {
                    let mut place = [group; 3];
                    (place[others.0], place[others.1]) = (first, second);
                    place
                });
            }
        }
    }

    /// Put the group `other` of an axis into the group `one`, which is before it.
    fn join(&mut self, axis: usize, one: usize, other: usize) {
        let mut sizes = self.sizes;
        sizes[axis] -= 1;
        let mut verdicts = Vec::with_capacity(sizes.iter().product());
        for first in 0..sizes[0] {
            for second in 0..sizes[1] {
                for third in 0..sizes[2] {
                    let mut place = [first, second, third];
                    let group = place[axis];
                    place[axis] += usize::from(group >= other);
                    let mut verdict = self.get(place).unwrap_or(Verdict::Never);
                    if group == one {
                        place[axis] = other;
                        verdict = verdict.or(self.get(place).unwrap_or(Verdict::Never));
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
