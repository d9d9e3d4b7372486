//! The spans of a text that could become tokens, and the bound that prices of them prove.
//!
//! Only strings that occur more than `floor` times have prices. Words are cut into pieces where no
//! string with a price goes across, and equal pieces are added up. The bound is computed in integers.
//! Its twin is in the tests: no brute-force optimum exceeds it.

use std::ops::{Add, Range};

use rustc_hash::FxHashMap;

use super::text::{Pair, PairCount, Text};
use crate::merges::Id;
use crate::prices::{StringIndex, heaviest_disjoint, largest_losses, whole_tokens};

/// Prices are in units of 1 / 2^24.
const BITS: u32 = 24;

/// The price 1.
pub(super) const ONE: i64 = 1 << BITS;

/// No string longer than this has a price.
const LONGEST: usize = 32;

/// A token of a piece, or a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemIndex(u32);

impl ItemIndex {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The two parts of a span, at one place where it can be cut.
type Cut = (ItemIndex, ItemIndex);

/// For each token of the pieces the string of one length that begins there, if it has a price.
type StringsAtTokens = Vec<Option<StringIndex>>;

/// The spans of a text that could become tokens.
///
/// The items are the tokens of all pieces, then the spans in the order of their lengths, so that the
/// parts of a span come before it.
#[derive(Default)]
pub(super) struct Forest {
    pub(super) num_merges: usize,
    pub(super) floor: u64,
    /// How often the piece of each item occurs.
    pub(super) weights: Vec<u64>,
    pub(super) num_tokens: usize,
    spans: Vec<Span>,
    cuts: Vec<Cut>,
    /// The spans of each string, from left to right.
    pub(super) strings: Vec<Vec<ItemIndex>>,
    /// For each token of the text its item, and the span of it and the next.
    pub(super) items: Vec<Option<ItemIndex>>,
    doubles: Vec<Option<ItemIndex>>,
    /// For each pair of the text its string, if it is frequent.
    pair_strings: Vec<Option<StringIndex>>,
}

pub(super) struct Span {
    pub(super) string: StringIndex,
    cuts: Range<u32>,
    /// The token with which it begins.
    start: ItemIndex,
    length: u32,
}

/// A bound and the prices that prove it, in units of 1 / `ONE`.
pub(super) struct ProvedBound {
    pub(super) prices: Vec<i64>,
    pub(super) total: i128,
    /// The loss of each string, at least the floor.
    losses: Vec<i128>,
    /// The smallest loss that counts.
    last: i128,
}

impl ProvedBound {
    /// The most that can be gained.
    pub(super) fn gain(&self) -> u64 {
        whole_tokens(self.total, BITS)
    }
}

/// What the dearest parts cost, given the cuts of a span.
#[inline]
pub(super) fn dearest<T>(cuts: &[Cut], prices: &[T]) -> T
where
    T: Copy + PartialOrd + Add<Output = T>,
{
    let parts = |&(left, right): &Cut| prices[left.at()] + prices[right.at()];
    let mut dearest = parts(&cuts[0]);
    for cut in &cuts[1..] {
        let parts = parts(cut);
        dearest = if parts > dearest { parts } else { dearest };
    }
    dearest
}

impl Forest {
    /// The spans of `text` whose strings occur more than `floor` times.
    pub(super) fn new(text: &Text, pairs: &[PairCount], num_merges: usize, floor: u64) -> Self {
        let mut forest = Self {
            num_merges,
            floor: floor.max(1),
            items: vec![None; text.tokens().len()],
            ..Self::default()
        };
        let pairs_at = forest.cut_into_pieces(text, pairs);
        forest.find_spans(pairs_at);
        let items = forest.items.iter();
        forest.doubles = items.map(|&item| forest.double_at(item?)).collect();
        forest
    }

    /// Fill in the tokens, of distinct pieces only; the strings of two tokens.
    fn cut_into_pieces(&mut self, text: &Text, pairs: &[PairCount]) -> StringsAtTokens {
        let mut strings: FxHashMap<Pair, StringIndex> = FxHashMap::default();
        for pair in pairs {
            let is_frequent = pair.places > self.floor;
            let string = is_frequent.then_some(StringIndex(strings.len() as u32));
            self.pair_strings.push(string);
            strings.extend(string.map(|string| (pair.pair, string)));
        }
        self.strings = vec![Vec::new(); strings.len()];
        let mut pieces: FxHashMap<&[Id], u32> = FxHashMap::default();
        let mut pairs_at = Vec::new();
        let mut position = 0;
        for (word, count) in text.words() {
            for piece in word.chunk_by(|&left, &right| strings.contains_key(&(left, right))) {
                if piece.len() > 1 {
                    let start = *pieces.entry(piece).or_insert(self.weights.len() as u32);
                    if start as usize == self.weights.len() {
                        self.weights.resize(self.weights.len() + piece.len(), 0);
                        let pairs = piece.windows(2).map(|pair| (pair[0], pair[1]));
                        pairs_at.extend(pairs.map(|pair| strings.get(&pair).copied()));
                        pairs_at.push(None);
                    }
                    for (item, place) in (start..).zip(position..position + piece.len()) {
                        self.weights[item as usize] += count;
                        self.items[place] = Some(ItemIndex(item));
                    }
                }
                position += piece.len();
            }
            position += 1;
        }
        self.num_tokens = self.weights.len();
        pairs_at
    }

    /// Fill in the spans, one length after the other: a string is frequent only if both strings one
    /// token shorter are.
    fn find_spans(&mut self, mut strings_at: StringsAtTokens) {
        // For each length and each token the item of that length that begins there.
        let tokens = 0..self.num_tokens as u32;
        let mut at: Vec<Vec<Option<ItemIndex>>> =
            vec![tokens.map(|token| Some(ItemIndex(token))).collect()];
        for length in 2.. {
            if strings_at.iter().all(Option::is_none) {
                return;
            }
            at.push(self.add_spans(&strings_at, &at, length));
            let (longer, num_strings, largest) = self.longer_strings(&strings_at);
            if length == LONGEST {
                // Longer strings have no price either, and so count as much as the most frequent.
                self.floor = self.floor.max(largest);
                return;
            }
            strings_at = longer;
            self.strings
                .resize(self.strings.len() + num_strings, Vec::new());
        }
    }

    /// Add the spans of one length, given the string at each token; the span at each token.
    fn add_spans(
        &mut self,
        strings_at: &[Option<StringIndex>],
        at: &[Vec<Option<ItemIndex>>],
        length: usize,
    ) -> Vec<Option<ItemIndex>> {
        let mut here = vec![None; strings_at.len()];
        for (start, &string) in strings_at.iter().enumerate() {
            let Some(string) = string else { continue };
            let first_cut = self.cuts.len() as u32;
            // All parts of a frequent string are frequent.
            let parts =
                |cut: usize| Some((at[cut - 1][start]?, at[length - cut - 1][start + cut]?));
            self.cuts.extend((1..length).filter_map(parts));
            let item = ItemIndex(self.weights.len() as u32);
            here[start] = Some(item);
            self.strings[string.at()].push(item);
            self.weights.push(self.weights[start]);
            self.spans.push(Span {
                string,
                cuts: first_cut..self.cuts.len() as u32,
                start: ItemIndex(start as u32),
                length: length as u32,
            });
        }
        here
    }

    /// The frequent strings one token longer: at each token, how many, and the largest number of
    /// occurrences.
    fn longer_strings(&self, strings_at: &[Option<StringIndex>]) -> (StringsAtTokens, usize, u64) {
        let mut places: FxHashMap<(StringIndex, StringIndex), u64> = FxHashMap::default();
        let longer = |start: usize| Some((strings_at[start]?, (*strings_at.get(start + 1)?)?));
        for start in 0..strings_at.len() {
            if let Some(halves) = longer(start) {
                *places.entry(halves).or_default() += self.weights[start];
            }
        }
        let largest = places.values().copied().max().unwrap_or(0);
        let mut numbers: FxHashMap<_, StringIndex> = FxHashMap::default();
        let next = (0..strings_at.len())
            .map(|start| {
                let halves = longer(start).filter(|halves| places[halves] > self.floor)?;
                let new = StringIndex((self.strings.len() + numbers.len()) as u32);
                Some(*numbers.entry(halves).or_insert(new))
            })
            .collect();
        (next, numbers.len(), largest)
    }

    /// The span of a token of a piece and the next.
    fn double_at(&self, token: ItemIndex) -> Option<ItemIndex> {
        // Spans of two tokens come first, in the order of their tokens.
        let doubles = self.spans.partition_point(|span| span.length == 2);
        let doubles = &self.spans[..doubles];
        let found = doubles.binary_search_by_key(&token.0, |span| span.start.0);
        Some(ItemIndex((self.num_tokens + found.ok()?) as u32))
    }

    /// The spans, with their items.
    pub(super) fn spans(&self) -> impl Iterator<Item = (ItemIndex, &Span)> {
        (self.num_tokens as u32..).map(ItemIndex).zip(&self.spans)
    }

    /// Where a span can be cut; never empty.
    pub(super) fn cuts_of(&self, span: &Span) -> &[Cut] {
        &self.cuts[span.cuts.start as usize..span.cuts.end as usize]
    }

    /// The bound that `prices` prove, once those of the spans are lowered to what their parts cost.
    pub(super) fn evaluate(&self, mut prices: Vec<i64>) -> ProvedBound {
        let tokens = self.weights.iter().zip(&prices).take(self.num_tokens);
        let rest: i128 = tokens
            .map(|(&weight, &price)| i128::from(weight) * i128::from(ONE - price))
            .sum();
        let mut losses = vec![0; prices.len()];
        for (item, span) in self.spans() {
            let (item, parts) = (item.at(), dearest(self.cuts_of(span), &prices));
            prices[item] = prices[item].min(parts).min(ONE);
            losses[item] = i128::from(self.weights[item]) * i128::from(parts - prices[item]);
        }
        let floor = i128::from(self.floor) << BITS;
        let strings = self.strings.iter();
        let losses: Vec<i128> = strings
            .map(|spans| self.heaviest(spans, |item| losses[item.at()]).0.max(floor))
            .collect();
        let (counted, last) = largest_losses(losses.clone(), self.num_merges, floor);
        ProvedBound {
            prices,
            total: rest + counted,
            losses,
            last,
        }
    }

    /// The most that disjoint spans of one string weigh, and which they are.
    pub(super) fn heaviest<T>(
        &self,
        spans: &[ItemIndex],
        weigh: impl Fn(ItemIndex) -> T,
    ) -> (T, Vec<bool>)
    where
        T: Copy + Default + PartialOrd + Add<Output = T>,
    {
        let span = |item: ItemIndex| &self.spans[item.at() - self.num_tokens];
        let length = spans.first().map_or(0, |&item| span(item).length);
        heaviest_disjoint(
            spans,
            length,
            |&item| span(item).start.0,
            |&item| weigh(item),
        )
    }

    /// For each pair, the most that can be gained if it is merged next.
    ///
    /// A replaced pair takes the prices of its parts from the sum and adds that of its span; no
    /// loss grows, and its own string cannot be merged again.
    pub(super) fn gains_after(
        &self,
        text: &Text,
        pairs: &[PairCount],
        bound: &ProvedBound,
    ) -> Vec<u64> {
        let slots: FxHashMap<Pair, usize> = pairs.iter().map(|p| p.pair).zip(0..).collect();
        let price = |item: Option<ItemIndex>| item.map_or(ONE, |item| bound.prices[item.at()]);
        let loss = |string: &Option<StringIndex>| match string {
            None => bound.last,
            Some(string) => bound.losses[string.at()].max(bound.last),
        };
        let strings = self.pair_strings.iter();
        let mut totals: Vec<i128> = strings.map(|string| bound.total - loss(string)).collect();
        text.for_each_pair(|position, pair, count, is_replaced| {
            if is_replaced {
                let parts = price(self.items[position]) + price(self.items[position + 1]);
                let saved = parts - price(self.doubles[position]);
                totals[slots[&pair]] += i128::from(count) * i128::from(saved);
            }
        });
        let gain = |total| whole_tokens(total, BITS);
        totals.into_iter().map(gain).collect()
    }
}
