//! Chains of spans of a batch, each of which crosses the next, and what is taken off their losses.
//!
//! Of two spans that cross at most one is a token. So of a chain of n at most half are, rounded down;
//! one more if n is odd and both strings at its ends are made; one less if n is even and neither is.
//! A credit may be taken off the losses of all its spans if it is counted as often. Which strings
//! make chains, and how much of their credits counts, is told by `tolls`.

use std::ops::Range;

use crate::prices::{Adam, Prices};

/// The most spans of a chain.
pub(super) const LONGEST_CHAIN: usize = 4;

/// A chain without a credit matters if what pulls it is on average more than minus this.
const NEARLY: f32 = 0.1;

/// Two strings that are neighbours in a ring, by either or by both, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkIndex(pub(super) u32);

impl LinkIndex {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// Spans of a piece, each of which crosses the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    /// Their items, counted from the first of the piece, which is no span: so 0 stands for none.
    items: [u32; LONGEST_CHAIN],
    pub(super) link: LinkIndex,
}

impl Chain {
    pub(super) fn items(&self) -> impl Iterator<Item = usize> {
        let items = self.items.into_iter().map(|item| item as usize);
        items.take_while(|&item| item > 0)
    }

    /// How many of its spans are tokens at most if the strings at its ends say nothing.
    pub(super) fn certain(&self) -> usize {
        certain(self.items().count())
    }
}

/// How many of the spans of a chain are tokens at most if the strings at its ends say nothing.
pub(super) fn certain(num_spans: usize) -> usize {
    (num_spans - 1) / 2
}

/// A chain that matters, with all that a step needs of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Where the prices of its spans are; behind the last span, where one is that is never made.
    spans: [u32; LONGEST_CHAIN],
    chain: u32,
    link: LinkIndex,
    /// See [`certain`].
    certain: f32,
    /// How often its piece occurs.
    weight: f32,
}

impl Place {
    fn spans(&self) -> [usize; LONGEST_CHAIN] {
        self.spans.map(|span| span as usize)
    }
}

/// The chains of a batch, piece after piece.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) all: Vec<Chain>,
    /// The credit of each.
    pub(super) credits: Prices,
    /// What is taken off the losses of each span, where its price is; empty if there are no chains.
    allowed: Vec<f32>,
    /// What the credits of each link sum to, with the weights of the pieces.
    pub(super) of_links: Vec<f32>,
    pulls: Vec<f32>,
}

impl Chains {
    /// No chains yet, in a batch of so many prices.
    pub(super) fn new(num_prices: usize, num_links: usize) -> Self {
        Self {
            allowed: vec![0.0; num_prices],
            of_links: vec![0.0; num_links],
            ..Self::default()
        }
    }

    /// Add a chain that costs as much as it did before, if it is one of those at `old`, which are in the
    /// order in which chains are added.
    pub(super) fn push(
        &mut self,
        items: &[usize],
        link: LinkIndex,
        before: &Self,
        old: &mut std::iter::Peekable<Range<usize>>,
    ) {
        let mut padded = [0; LONGEST_CHAIN];
        for (to, &item) in padded.iter_mut().zip(items) {
            *to = item as u32;
        }
        let items = padded;
        while old
            .next_if(|&index| before.all[index].items < items)
            .is_some()
        {}
        let known = old.next_if(|&index| before.all[index].items == items);
        let credit = known.map_or(0.0, |index| before.credits.values[index]);
        self.credits.values.push(credit);
        self.all.push(Chain { items, link });
    }

    /// Begin to move the credits.
    pub(super) fn finish(&mut self) {
        self.credits = Prices::new(std::mem::take(&mut self.credits.values));
    }

    /// Begin to sum up credits.
    pub(super) fn clear(&mut self) {
        self.of_links.fill(0.0);
    }

    /// Sum up the credits of the piece that has these chains and prices; returns what is taken off
    /// the losses of its spans, if it has any.
    pub(super) fn add_up(
        &mut self,
        chains: Range<usize>,
        prices: Range<usize>,
        weight: f32,
    ) -> Option<&[f32]> {
        if chains.is_empty() {
            return None;
        }
        let allowed = &mut self.allowed[prices];
        allowed.fill(0.0);
        for index in chains {
            let (chain, credit) = (self.all[index], self.credits.values[index]);
            for item in chain.items() {
                allowed[item] += credit;
            }
            self.of_links[chain.link.at()] += weight * credit;
        }
        Some(allowed)
    }

    /// What is taken off the losses of the spans of a piece, if it has chains: as it was summed up last.
    pub(super) fn allowed(&self, chains: &Range<usize>, prices: Range<usize>) -> Option<&[f32]> {
        (!chains.is_empty()).then(|| &self.allowed[prices])
    }

    /// Move the credits of a piece, given how much each of its spans counts, and each link.
    pub(super) fn follow(
        &mut self,
        chains: Range<usize>,
        made: &[f32],
        shares: &[f32],
        adam: Adam,
    ) {
        self.pulls.clear();
        for chain in &self.all[chains.clone()] {
            let tokens: f32 = chain.items().map(|item| made[item]).sum();
            let most = shares[chain.link.at()] + chain.certain() as f32;
            self.pulls.push(tokens - most);
        }
        self.credits
            .follow_within(chains, &self.pulls, adam, 0.0, 1.0);
    }

    /// Make room for what is taken off, if there are no chains.
    pub(super) fn make_room(&mut self, num_prices: usize) {
        self.allowed.resize(num_prices, 0.0);
    }

    /// List the chains of a piece that have a credit, or may get one soon: `first` is where its prices
    /// begin.
    pub(super) fn list(
        &self,
        chains: Range<usize>,
        first: usize,
        weight: f32,
        places: &mut Vec<Place>,
    ) {
        let none = self.allowed.len() - 1;
        for index in chains {
            let is_active = self.credits.values[index] > 0.0 || self.credits.means[index] > -NEARLY;
            if is_active {
                let chain = self.all[index];
                let mut spans = [none as u32; LONGEST_CHAIN];
                for (to, item) in spans.iter_mut().zip(chain.items()) {
                    *to = (first + item) as u32;
                }
                places.push(Place {
                    spans,
                    chain: index as u32,
                    link: chain.link,
                    certain: chain.certain() as f32,
                    weight,
                });
            }
        }
    }

    /// Sum up the credits of places, as [`add_up`](Self::add_up) does; no other chain has one.
    pub(super) fn add_up_places(&mut self, places: &[Place]) -> &[f32] {
        self.clear();
        self.allowed.fill(0.0);
        for place in places {
            let credit = self.credits.values[place.chain as usize];
            for span in place.spans() {
                self.allowed[span] += credit;
            }
            self.of_links[place.link.at()] += place.weight * credit;
        }
        &self.allowed
    }

    /// Move the credits of places, as [`follow`](Self::follow) does.
    pub(super) fn follow_places(
        &mut self,
        places: &[Place],
        made: &[f32],
        shares: &[f32],
        adam: Adam,
    ) {
        for place in places {
            let tokens: f32 = place.spans().into_iter().map(|span| made[span]).sum();
            let pull = tokens - (shares[place.link.at()] + place.certain);
            self.credits
                .follow_one(place.chain as usize, pull, adam, 0.0, 1.0);
        }
    }
}

/// Which spans of a piece cross.
#[derive(Debug, Default)]
pub(super) struct Crossed {
    /// The spans, in ascending order, and those that each crosses, by their places here.
    pub(super) items: Vec<usize>,
    others: Vec<Vec<usize>>,
}

impl Crossed {
    /// Of all spans that `is_wanted` says.
    pub(super) fn find(&mut self, rows: &[u32], is_wanted: impl Fn(usize) -> bool) {
        self.items.clear();
        let mut ends: Vec<[usize; 2]> = Vec::new();
        for start in 0..rows.len() - 1 {
            let row = (rows[start] - rows[0]) as usize;
            for item in (row + 1..(rows[start + 1] - rows[0]) as usize).filter(|&i| is_wanted(i)) {
                self.items.push(item);
                ends.push([start, start + item - row + 1]);
            }
        }
        self.others.iter_mut().for_each(Vec::clear);
        self.others
            .resize_with(self.items.len().max(self.others.len()), Vec::new);
        for (one, &[start, end]) in ends.iter().enumerate() {
            for (other, &[next, behind]) in ends.iter().enumerate().skip(one + 1) {
                if next >= end {
                    break;
                }
                if start < next && end < behind {
                    self.others[one].push(other);
                    self.others[other].push(one);
                }
            }
        }
        self.others[..ends.len()]
            .iter_mut()
            .for_each(|others| others.sort_unstable());
    }

    /// Call `visit` with the items of each chain of two spans or more, in ascending order; it says
    /// whether the chain may get longer.
    pub(super) fn for_each_chain(&self, mut visit: impl FnMut(&[usize]) -> bool) {
        let mut chain = Vec::with_capacity(LONGEST_CHAIN);
        for place in 0..self.items.len() {
            chain.push(self.items[place]);
            self.extend(place, &mut chain, &mut visit);
            chain.pop();
        }
    }

    fn extend(
        &self,
        place: usize,
        chain: &mut Vec<usize>,
        visit: &mut impl FnMut(&[usize]) -> bool,
    ) {
        for &next in &self.others[place] {
            if chain.contains(&self.items[next]) {
                continue;
            }
            chain.push(self.items[next]);
            if visit(chain) && chain.len() < LONGEST_CHAIN {
                self.extend(next, chain, visit);
            }
            chain.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_of_spans_that_overlap_and_do_not_hold_each_other() {
        // Five symbols, with spans of up to 4, 3, 3, 2 and 1.
        let reaches = [4_u32, 3, 3, 2, 1];
        let mut rows = vec![7];
        let mut spans = Vec::new();
        for (start, reach) in reaches.into_iter().enumerate() {
            spans.extend((1..=reach as usize).map(|length| start..start + length));
            rows.push(rows[start] + reach);
        }
        let is_wanted = |item: usize| spans[item].len() != 3;
        let do_cross = |one: usize, other: usize| {
            let (first, second) = (one.min(other), one.max(other));
            let (first, second) = (&spans[first], &spans[second]);
            first.start < second.start && second.start < first.end && first.end < second.end
        };
        let wanted: Vec<usize> = (0..spans.len())
            .filter(|&item| spans[item].len() > 1 && is_wanted(item))
            .collect();
        let mut expected = Vec::new();
        let mut chains: Vec<Vec<usize>> = wanted.iter().map(|&item| vec![item]).collect();
        while let Some(chain) = chains.pop() {
            for &next in &wanted {
                let last = chain[chain.len() - 1];
                if do_cross(last, next) && !chain.contains(&next) && chain.len() < LONGEST_CHAIN {
                    let longer = [chain.as_slice(), &[next]].concat();
                    expected.push(longer.clone());
                    chains.push(longer);
                }
            }
        }
        expected.sort();
        let (mut crossed, mut found) = (Crossed::default(), Vec::new());
        crossed.find(&rows, is_wanted);
        crossed.for_each_chain(|chain| {
            found.push(chain.to_vec());
            true
        });
        assert_eq!(found, expected);
        assert!(found.iter().any(|chain| chain.len() == LONGEST_CHAIN));
    }
}
