//! Odd rings of strings, linked by chains of spans that cross: what they change in a bound, for the
//! verifier.
//!
//! The fast twin of `formal.rings`, which has the claim and its proof.

use rustc_hash::FxHashMap;

use super::claim::{Flaw, Ring, Rings};
use super::words::Words;
use crate::merges::Id;

/// The most strings of a chain: with more, there might be too many places to look at.
const LONGEST_CHAIN: usize = 4;

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
        rings: &Rings,
        credits: &[u32],
        pieces: &Words,
        rows: &[usize],
    ) -> Result<Self, Flaw> {
        let is_chain = |chain: &Vec<_>| (3..=LONGEST_CHAIN).contains(&chain.len());
        if !rings.rings.iter().all(is_odd) || !rings.chains.iter().all(is_chain) {
            return Err(Flaw::Rings);
        }
        let strings = Strings::of(rings);
        let mut relief = Self::default();
        // Of each link, by how much its credits exceed its tolls.
        let mut exceeding = strings.minus_tolls(&rings.rings);
        let chains = strings.chains(rings, exceeding.keys());
        let mut found = vec![None; strings.tolls.len()];
        let (mut first, mut num_places) = (0, 0);
        for (piece, count) in pieces.iter() {
            let spans = strings.spans(first, first + piece.len(), pieces, rows);
            for span in &spans {
                found[span.string] = Some((span.start, span.end - span.start));
            }
            for_each_place(&spans, &chains, &mut |place| {
                let credit = credits.get(num_places).copied().unwrap_or(0);
                num_places += 1;
                for &index in place {
                    let taken = relief.taken.entry(spans[index].price(rows)).or_default();
                    *taken = taken.saturating_add(credit.into());
                }
                let counted = i128::from(count) * i128::from(credit);
                let certain = counted * ((place.len() - 1) / 2) as i128;
                relief.added = relief.added.saturating_add(certain);
                let ends = [place[0], place[place.len() - 1]].map(|index| spans[index].string);
                let sum = exceeding.entry(Link::new(ends, place.len() % 2 == 1));
                let sum = sum.or_default();
                *sum = sum.saturating_add(counted);
            });
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
        let halves = rings.rings.iter();
        let halves = halves.map(|ring| i128::from(ring.toll) * (num_by_either(ring) / 2) as i128);
        let exceeding = exceeding.into_values().map(|sum| sum.max(0));
        let added = halves.chain(exceeding);
        relief.added = added.fold(relief.added, i128::saturating_add);
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

fn num_by_either(ring: &Ring) -> usize {
    ring.by_both.iter().filter(|by_both| !**by_both).count()
}

fn is_odd(ring: &Ring) -> bool {
    let number = ring.strings.len();
    number >= 2 && ring.by_both.len() == number && num_by_either(ring) % 2 == 1
}

/// Two neighbours, by their numbers, the smaller first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Link {
    strings: [usize; 2],
    by_both: bool,
}

impl Link {
    fn new([one, other]: [usize; 2], by_both: bool) -> Self {
        Self {
            strings: [one.min(other), one.max(other)],
            by_both,
        }
    }
}

/// Rows of strings: true for those of a chain, in one order or the other, false for what only begins some.
type Chains = FxHashMap<Vec<usize>, bool>;

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

    fn crosses(&self, other: &Self) -> bool {
        let is_before = |one: &Self, other: &Self| {
            one.start < other.start && other.start < one.end && one.end < other.end
        };
        is_before(self, other) || is_before(other, self)
    }
}

/// Call `visit` with the spans of each place of a chain, in ascending order.
fn for_each_place(spans: &[Span], chains: &Chains, visit: &mut impl FnMut(&[usize])) {
    let mut place = Vec::new();
    let mut strings = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        place.push(index);
        strings.push(span.string);
        extend(spans, chains, &mut place, &mut strings, visit);
        place.pop();
        strings.pop();
    }
}

/// The same for those that begin with some spans.
fn extend(
    spans: &[Span],
    chains: &Chains,
    place: &mut Vec<usize>,
    strings: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]),
) {
    let last = place[place.len() - 1];
    for (index, span) in spans.iter().enumerate() {
        if place.contains(&index) || !span.crosses(&spans[last]) {
            continue;
        }
        place.push(index);
        strings.push(span.string);
        if let Some(&is_chain) = chains.get(strings) {
            if is_chain && place[0] < index {
                visit(place);
            }
            extend(spans, chains, place, strings, visit);
        }
        place.pop();
        strings.pop();
    }
}

/// The strings of some rings and their chains, numbered.
#[derive(Default)]
struct Strings<'a> {
    numbers: FxHashMap<&'a [Id], usize>,
    /// The sum of the tolls of each, for each time it stands in a ring.
    tolls: Vec<i128>,
    /// The lengths of those that begin with two symbols, in ascending order.
    lengths: FxHashMap<&'a [Id], Vec<usize>>,
}

impl<'a> Strings<'a> {
    fn of(rings: &'a Rings) -> Self {
        let mut strings = Self::default();
        for ring in &rings.rings {
            for string in &ring.strings {
                let number = strings.number(string);
                strings.tolls[number] += i128::from(ring.toll);
            }
        }
        for string in rings.chains.iter().flatten() {
            strings.number(string);
        }
        for lengths in strings.lengths.values_mut() {
            lengths.sort_unstable();
            lengths.dedup();
        }
        strings
    }

    fn number(&mut self, string: &'a [Id]) -> usize {
        let new = self.tolls.len();
        let number = *self.numbers.entry(string).or_insert(new);
        if number == new {
            self.tolls.push(0);
            if let Some(beginning) = string.get(..2) {
                let lengths = self.lengths.entry(beginning).or_default();
                lengths.push(string.len());
            }
        }
        number
    }

    /// For each link, minus the tolls of all rings, for each time it is there.
    fn minus_tolls(&self, rings: &[Ring]) -> FxHashMap<Link, i128> {
        let mut sums = FxHashMap::default();
        for ring in rings {
            let numbers = ring.strings.iter().map(|string| self.numbers[&string[..]]);
            let next = numbers.clone().cycle().skip(1);
            for ((string, next), &by_both) in numbers.zip(next).zip(&ring.by_both) {
                *sums.entry(Link::new([string, next], by_both)).or_default() -=
                    i128::from(ring.toll);
            }
        }
        sums
    }

    /// The chains of some rings, and two strings for each link by either.
    fn chains<'l>(&self, rings: &Rings, links: impl Iterator<Item = &'l Link>) -> Chains {
        let pairs = links.filter(|link| !link.by_both);
        let pairs = pairs.map(|link| link.strings.to_vec());
        let number = |string: &Vec<Id>| self.numbers[&string[..]];
        let long = rings.chains.iter();
        let long = long.map(|chain| chain.iter().map(number).collect());
        let mut chains = Chains::default();
        for chain in pairs.chain(long) {
            let back: Vec<usize> = chain.iter().rev().copied().collect();
            for chain in [chain, back] {
                for length in 2..chain.len() {
                    chains.entry(chain[..length].to_vec()).or_default();
                }
                chains.insert(chain, true);
            }
        }
        chains
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
