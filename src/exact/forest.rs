//! The forest bound: what a list of merges can gain at most, from prices.
//!
//! A list of merges makes each word an ordered forest of binary trees whose inner nodes are spans
//! with the strings of its merges. Give every token a price of at most 1, and every span that could
//! become a token too. Let the loss of a span be what the best two parts of it cost more than it
//! does, if they do. Climbing a tree, the prices of its leaves sum to at most 1 plus the losses of
//! its inner nodes. So n tokens of prices p, with r merges to come, save at most
//!
//! ```text
//! sum of (1 - p) over the tokens  +  the r largest sums of losses over the spans of one string
//! ```
//!
//! Only strings that occur more than `floor` times get prices. Deleting the others from the forest
//! adds at most `floor` tokens each, so that a merge counts as `floor` at least.
//!
//! Any prices give a valid bound; good ones are found by gradient ascent on a smoothed bound, and
//! the bound itself is computed in integers. Words are cut where no string with a price goes across,
//! and equal pieces are taken together. The formal twin is in the tests: no brute-force optimum
//! exceeds the bound.

use rustc_hash::FxHashMap;

use super::text::{Pair, PairCount, Text};
use crate::merges::Id;

/// The price 1, in the integers in which bounds are computed.
pub(super) const ONE: i64 = 1 << 24;

/// No string longer than this gets a price.
const LONGEST: usize = 32;

/// In place of an index.
pub(super) const NONE: u32 = u32::MAX;

/// The spans of a text that could become tokens.
///
/// An item is a token of a piece or a span; spans stand in the order of their lengths, so that the
/// parts of a span come before it.
pub(super) struct Forest {
    pub(super) num_merges: usize,
    pub(super) floor: u64,
    /// How often the piece of each item occurs.
    pub(super) weights: Vec<u64>,
    pub(super) num_tokens: usize,
    pub(super) spans: Vec<Span>,
    /// The two parts of a span, for each place where it can be cut.
    pub(super) cuts: Vec<(u32, u32)>,
    /// The spans of each string, from left to right.
    pub(super) strings: Vec<Vec<u32>>,
    /// For each token of the text its item, and the span of it and the next.
    pub(super) items: Vec<u32>,
    doubles: Vec<u32>,
    /// For each pair of the text its string, if it is frequent.
    pair_strings: Vec<u32>,
}

pub(super) struct Span {
    pub(super) string: u32,
    pub(super) cuts: std::ops::Range<u32>,
    /// The token with which it begins, as an item.
    start: u32,
    length: u32,
}

/// A bound and the prices that prove it.
pub(super) struct Bound {
    prices: Vec<i64>,
    /// In units of 1 / `ONE`.
    total: i128,
    /// The loss of each string, at least the floor, in the same units.
    losses: Vec<i128>,
    /// The smallest loss that counts.
    last: i128,
}

impl Bound {
    /// What can be gained at most.
    pub(super) fn gain(&self) -> u64 {
        whole(self.total)
    }

    /// The same, in the units in which prices are given.
    pub(super) fn total(&self) -> i128 {
        self.total
    }

    /// The prices that prove it.
    pub(super) fn prices(&self) -> &[i64] {
        &self.prices
    }
}

/// What an amount in units of 1 / `ONE` allows in whole tokens.
fn whole(amount: i128) -> u64 {
    u64::try_from(amount.max(0) / i128::from(ONE)).unwrap_or(u64::MAX)
}

impl Forest {
    /// The spans of `text` whose strings occur more than `floor` times.
    pub(super) fn new(text: &Text, pairs: &[PairCount], num_merges: usize, floor: u64) -> Self {
        let mut forest = Self {
            num_merges,
            floor: floor.max(1),
            weights: Vec::new(),
            num_tokens: 0,
            spans: Vec::new(),
            cuts: Vec::new(),
            strings: Vec::new(),
            items: vec![NONE; text.tokens().len()],
            doubles: Vec::new(),
            pair_strings: Vec::new(),
        };
        let first_level = forest.cut_into_pieces(text, pairs);
        forest.find_spans(first_level);
        let double_of = |item: u32| match item {
            NONE => NONE,
            item => forest.double_at(item),
        };
        forest.doubles = forest.items.iter().map(|&item| double_of(item)).collect();
        forest
    }

    /// Fill the tokens, of distinct pieces only; for each, the string of it and the next, if those
    /// are in one piece.
    fn cut_into_pieces(&mut self, text: &Text, pairs: &[PairCount]) -> Vec<u32> {
        let mut strings: FxHashMap<Pair, u32> = FxHashMap::default();
        for pair in pairs {
            let is_frequent = pair.places > self.floor;
            let string = strings.len() as u32;
            self.pair_strings
                .push(if is_frequent { string } else { NONE });
            if is_frequent {
                strings.insert(pair.pair, string);
            }
        }
        self.strings = vec![Vec::new(); strings.len()];
        let mut pieces: FxHashMap<&[Id], u32> = FxHashMap::default();
        let mut level = Vec::new();
        let mut position = 0;
        for (word, count) in text.words() {
            for piece in word.chunk_by(|&left, &right| strings.contains_key(&(left, right))) {
                if piece.len() > 1 {
                    let start = *pieces.entry(piece).or_insert(self.weights.len() as u32);
                    if start as usize == self.weights.len() {
                        self.weights.resize(self.weights.len() + piece.len(), 0);
                        level.extend(piece.windows(2).map(|pair| strings[&(pair[0], pair[1])]));
                        level.push(NONE);
                    }
                    for (item, place) in (start..).zip(position..position + piece.len()) {
                        self.weights[item as usize] += count;
                        self.items[place] = item;
                    }
                }
                position += piece.len();
            }
            position += 1;
        }
        self.num_tokens = self.weights.len();
        level
    }

    /// Fill the spans, one length after the other: a span is frequent only if both spans one token
    /// shorter are.
    fn find_spans(&mut self, mut level: Vec<u32>) {
        // For each length and each token the span that begins there.
        let mut at: Vec<Vec<u32>> = vec![(0..self.num_tokens as u32).collect()];
        for length in 2.. {
            if level.iter().all(|&string| string == NONE) {
                return;
            }
            at.push(self.add_spans(&level, &at, length));
            let (longer, num_strings, largest) = self.longer_strings(&level);
            if length == LONGEST {
                // Longer strings get no price either, and so count as much as the most frequent.
                self.floor = self.floor.max(largest);
                return;
            }
            level = longer
                .iter()
                .map(|&string| match string {
                    NONE => NONE,
                    string => string + self.strings.len() as u32,
                })
                .collect();
            self.strings
                .resize(self.strings.len() + num_strings, Vec::new());
        }
    }

    /// Add the spans of one length, given the string at each token; the span at each token.
    fn add_spans(&mut self, level: &[u32], at: &[Vec<u32>], length: usize) -> Vec<u32> {
        let mut here = vec![NONE; level.len()];
        for (start, &string) in level.iter().enumerate() {
            if string == NONE {
                continue;
            }
            let first_cut = self.cuts.len() as u32;
            self.cuts.extend(
                (1..length).map(|cut| (at[cut - 1][start], at[length - cut - 1][start + cut])),
            );
            here[start] = self.weights.len() as u32;
            self.strings[string as usize].push(self.spans.len() as u32);
            self.weights.push(self.weights[start]);
            self.spans.push(Span {
                string,
                cuts: first_cut..self.cuts.len() as u32,
                start: start as u32,
                length: length as u32,
            });
        }
        here
    }

    /// The frequent strings one token longer, numbered from 0: at each token, how many, and the
    /// largest number of occurrences.
    fn longer_strings(&self, level: &[u32]) -> (Vec<u32>, usize, u64) {
        let mut places: FxHashMap<Pair, u64> = FxHashMap::default();
        let longer = |start: usize| match (level[start], level.get(start + 1)) {
            (NONE, _) | (_, None | Some(&NONE)) => None,
            (left, Some(&right)) => Some((left, right)),
        };
        for start in 0..level.len() {
            if let Some(halves) = longer(start) {
                *places.entry(halves).or_default() += self.weights[start];
            }
        }
        let largest = places.values().copied().max().unwrap_or(0);
        let mut names: FxHashMap<Pair, u32> = FxHashMap::default();
        let next = (0..level.len())
            .map(|start| match longer(start) {
                Some(halves) if places[&halves] > self.floor => {
                    let name = names.len() as u32;
                    *names.entry(halves).or_insert(name)
                }
                _ => NONE,
            })
            .collect();
        (next, names.len(), largest)
    }

    /// The span of a token of a piece and the next, as an item.
    fn double_at(&self, item: u32) -> u32 {
        // Spans of two tokens come first, in the order of their tokens.
        let doubles = self.spans.partition_point(|span| span.length == 2);
        match self.spans[..doubles].binary_search_by_key(&item, |span| span.start) {
            Ok(found) => (self.num_tokens + found) as u32,
            Err(_) => NONE,
        }
    }

    /// The bound that `prices` prove, once the spans are lowered to what their parts cost.
    pub(super) fn evaluate(&self, mut prices: Vec<i64>) -> Bound {
        let tokens = self.weights.iter().zip(&prices).take(self.num_tokens);
        let mut total: i128 = tokens
            .map(|(&weight, &price)| i128::from(weight) * i128::from(ONE - price))
            .sum();
        let mut losses: Vec<i128> = Vec::with_capacity(self.spans.len());
        for (item, span) in (self.num_tokens..).zip(&self.spans) {
            let cuts = &self.cuts[span.cuts.start as usize..span.cuts.end as usize];
            let parts = cuts
                .iter()
                .map(|&(left, right)| prices[left as usize] + prices[right as usize])
                .max()
                .unwrap_or(0);
            prices[item] = prices[item].min(parts).min(ONE);
            losses.push(i128::from(self.weights[item]) * i128::from(parts - prices[item]));
        }
        let floor = i128::from(self.floor) * i128::from(ONE);
        let losses: Vec<i128> = self
            .strings
            .iter()
            .map(|spans| self.heaviest(spans, |span| losses[span as usize]).0)
            .map(|loss| loss.max(floor))
            .collect();
        let mut largest = losses.clone();
        largest.resize(largest.len().max(self.num_merges), floor);
        largest.sort_unstable_by(|a, b| b.cmp(a));
        total += largest[..self.num_merges].iter().sum::<i128>();
        Bound {
            prices,
            total,
            losses,
            last: largest[self.num_merges - 1],
        }
    }

    /// The most that disjoint spans of one string weigh, and which they are.
    pub(super) fn heaviest<T>(&self, spans: &[u32], weigh: impl Fn(u32) -> T) -> (T, Vec<bool>)
    where
        T: Copy + Default + PartialOrd + std::ops::Add<Output = T>,
    {
        // best[i]: of the first i spans.
        let mut best: Vec<T> = vec![T::default()];
        let mut before: Vec<usize> = Vec::new();
        let mut free = 0;
        for (index, &span) in spans.iter().enumerate() {
            let Span { start, length, .. } = self.spans[span as usize];
            while self.spans[spans[free] as usize].start + length <= start {
                free += 1;
            }
            let with = best[free] + weigh(span);
            before.push(free);
            best.push(if with > best[index] {
                with
            } else {
                best[index]
            });
        }
        let mut is_chosen = vec![false; spans.len()];
        let mut index = spans.len();
        while index > 0 {
            if best[index] > best[index - 1] {
                is_chosen[index - 1] = true;
                index = before[index - 1];
            } else {
                index -= 1;
            }
        }
        (best[spans.len()], is_chosen)
    }

    /// For each pair, the most that can be gained if it is merged next.
    ///
    /// A replaced pair takes the prices of its parts from the sum and adds that of its span; no
    /// loss grows, and its own string cannot be merged again.
    pub(super) fn gains_after(&self, text: &Text, pairs: &[PairCount], bound: &Bound) -> Vec<u64> {
        let slots: FxHashMap<Pair, usize> = pairs.iter().map(|p| p.pair).zip(0..).collect();
        let price = |item: u32| match item {
            NONE => ONE,
            item => bound.prices[item as usize],
        };
        let loss = |string: u32| match string {
            NONE => bound.last,
            string => bound.losses[string as usize].max(bound.last),
        };
        let strings = self.pair_strings.iter();
        let mut totals: Vec<i128> = strings.map(|&s| bound.total - loss(s)).collect();
        let mut position = 0;
        for (word, count) in text.words() {
            let mut is_overlap = false;
            for (place, neighbours) in (position..).zip(word.windows(2)) {
                let slot = slots[&(neighbours[0], neighbours[1])];
                let is_run = neighbours[0] == neighbours[1];
                if !(is_run && is_overlap) {
                    let parts = price(self.items[place]) + price(self.items[place + 1]);
                    let saved = parts - price(self.doubles[place]);
                    totals[slot] += i128::from(count) * i128::from(saved);
                }
                is_overlap = is_run && !is_overlap;
            }
            position += word.len() + 1;
        }
        totals.into_iter().map(whole).collect()
    }
}
