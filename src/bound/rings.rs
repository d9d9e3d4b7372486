//! Odd rings of strings whose neighbours cross: what they change in a bound, for the verifier.
//!
//! The fast twin of `formal.rings`, which has the claim and its proof.

use rustc_hash::FxHashMap;

use super::claim::{Flaw, Ring};
use super::words::Words;
use crate::merges::Id;

/// What the rings of a proof change in its bound.
#[derive(Debug, Default)]
pub(super) struct Relief {
    /// What the credits take from the losses of spans, by the number of the price of each.
    taken: FxHashMap<usize, i64>,
    /// What strings with a price lose more: one of their places, their length, their tolls.
    tolls: Vec<(usize, usize, i128)>,
    /// What is added to the bound.
    pub(super) added: i128,
}

impl Relief {
    /// Of rings with their credits. The prices of the spans that begin at a symbol begin at its row.
    pub(super) fn of(
        rings: &[Ring],
        credits: &[u32],
        pieces: &Words,
        rows: &[usize],
    ) -> Result<Self, Flaw> {
        let is_odd = |ring: &Ring| ring.strings.len() >= 3 && ring.strings.len() % 2 == 1;
        if !rings.iter().all(is_odd) {
            return Err(Flaw::Rings);
        }
        let strings = Strings::of(rings);
        let mut relief = Self::default();
        // Of each pair of neighbours, by how much its credits exceed its tolls.
        let mut exceeding = strings.minus_tolls(rings);
        let mut found = vec![None; strings.tolls.len()];
        let (mut first, mut num_places) = (0, 0);
        for (piece, count) in pieces.iter() {
            let spans = strings.spans(first, first + piece.len(), pieces, rows);
            for (index, span) in spans.iter().enumerate() {
                found[span.string] = Some((span.start, span.end - span.start));
                for other in spans[index + 1..].iter().take_while(|s| s.start < span.end) {
                    let crosses = span.start < other.start && span.end < other.end;
                    let pair = exceeding.get_mut(&unordered(span.string, other.string));
                    if let (true, Some(sum)) = (crosses, pair) {
                        let credit = credits.get(num_places).copied().unwrap_or(0);
                        num_places += 1;
                        *sum = sum.saturating_add(i128::from(count) * i128::from(credit));
                        for span in [span, other] {
                            let taken = relief.taken.entry(span.price(rows)).or_default();
                            *taken = taken.saturating_add(credit.into());
                        }
                    }
                }
            }
            first += piece.len();
        }
        if num_places != credits.len() {
            return Err(Flaw::Credits {
                found: credits.len(),
                expected: num_places,
            });
        }
        for (place, &toll) in found.into_iter().zip(&strings.tolls) {
            relief
                .tolls
                .extend(place.map(|(start, length)| (start, length, toll)));
        }
        let halves = rings
            .iter()
            .map(|ring| i128::from(ring.toll) * (ring.strings.len() / 2) as i128);
        let exceeding = exceeding.into_values().map(|sum| sum.max(0));
        relief.added = halves.chain(exceeding).fold(0, i128::saturating_add);
        Ok(relief)
    }

    /// What is taken from the losses of a span, given the number of its price.
    pub(super) fn taken(&self, price: usize) -> i64 {
        self.taken.get(&price).copied().unwrap_or(0)
    }

    /// One place of each string of a length that loses more, and how much more.
    pub(super) fn tolls(&self, length: usize) -> impl Iterator<Item = (usize, i128)> {
        let tolls = self.tolls.iter().filter(move |toll| toll.1 == length);
        tolls.map(|&(place, _, toll)| (place, toll))
    }
}

/// A place of a string of the rings.
struct Span {
    start: usize,
    end: usize,
    string: usize,
}

impl Span {
    fn price(&self, rows: &[usize]) -> usize {
        rows[self.start] + self.end - self.start - 1
    }
}

fn unordered(string: usize, other: usize) -> (usize, usize) {
    (string.min(other), string.max(other))
}

/// The strings of some rings, numbered.
#[derive(Default)]
struct Strings<'a> {
    numbers: FxHashMap<&'a [Id], usize>,
    /// The sum of the tolls of each, for each time it stands in a ring.
    tolls: Vec<i128>,
    /// The lengths of those that begin with two symbols, in ascending order.
    lengths: FxHashMap<&'a [Id], Vec<usize>>,
}

impl<'a> Strings<'a> {
    fn of(rings: &'a [Ring]) -> Self {
        let mut strings = Self::default();
        for ring in rings {
            for string in &ring.strings {
                let new = strings.tolls.len();
                let number = *strings.numbers.entry(string).or_insert(new);
                if number == new {
                    strings.tolls.push(0);
                    if let Some(beginning) = string.get(..2) {
                        strings
                            .lengths
                            .entry(beginning)
                            .or_default()
                            .push(string.len());
                    }
                }
                strings.tolls[number] += i128::from(ring.toll);
            }
        }
        for lengths in strings.lengths.values_mut() {
            lengths.sort_unstable();
            lengths.dedup();
        }
        strings
    }

    /// For each two neighbours, minus the tolls of all rings, for each time they are neighbours.
    fn minus_tolls(&self, rings: &[Ring]) -> FxHashMap<(usize, usize), i128> {
        let mut sums = FxHashMap::default();
        for ring in rings {
            let numbers = ring.strings.iter().map(|string| self.numbers[&string[..]]);
            let next = numbers.clone().cycle().skip(1);
            for (string, other) in numbers.zip(next) {
                *sums.entry(unordered(string, other)).or_default() -= i128::from(ring.toll);
            }
        }
        sums
    }

    /// The spans with a price in a piece, from its first symbol to its end, that have one of these
    /// strings: by their starts, then by their lengths.
    fn spans(&self, first: usize, end: usize, pieces: &Words, rows: &[usize]) -> Vec<Span> {
        let mut spans = Vec::new();
        for start in first..end - 1 {
            let longest = rows[start + 1] - rows[start];
            let lengths = self.lengths.get(&pieces.symbols[start..start + 2]);
            let lengths = lengths.into_iter().flatten().copied();
            for length in lengths.take_while(|&length| length <= longest) {
                let end = start + length;
                if let Some(&string) = self.numbers.get(&pieces.symbols[start..end]) {
                    spans.push(Span { start, end, string });
                }
            }
        }
        spans
    }
}
