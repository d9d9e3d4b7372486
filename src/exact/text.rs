//! The state of a search: words as tokens, with their counts.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::counts::WordCounts;
use crate::error::Result;
use crate::merges::{Id, MergeList};

/// Two ids that a merge joins.
pub type Pair = (Id, Id);

/// Stands after every word.
pub(super) const END: Id = Id::MAX;

/// Words as tokens, each with its count. Merges of a path make the ids after those of the symbols.
#[derive(Debug, Clone)]
pub struct Text {
    tokens: Vec<Id>,
    counts: Arc<[u64]>,
    next_id: Id,
}

/// A pair of neighbours: how often it occurs, and how often it can be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PairCount {
    pub(super) pair: Pair,
    /// Every place where the two are neighbours, also overlapping ones.
    pub(super) places: u64,
    /// Without overlap, from left to right: what the merge gains.
    pub(super) gain: u64,
}

impl Text {
    /// Words of the symbols 0 to `num_symbols` - 1, with their counts.
    ///
    /// Words of fewer than two symbols are left out: no merge acts on them.
    pub fn new(words: impl IntoIterator<Item = (Vec<Id>, u64)>, num_symbols: Id) -> Self {
        let (mut tokens, mut counts) = (Vec::new(), Vec::new());
        for (word, count) in words {
            if word.len() > 1 && count > 0 {
                tokens.extend(word);
                tokens.push(END);
                counts.push(count);
            }
        }
        Self {
            tokens,
            counts: counts.into(),
            next_id: num_symbols,
        }
    }

    /// The words of `counts` over the symbols of `initial`, in an order that does not depend on how
    /// they were counted.
    pub fn of(counts: &WordCounts, initial: &MergeList) -> Result<Self> {
        let symbols_of = |word| initial.alphabet().symbols(word);
        let words = counts.sorted().into_iter();
        let words = words.map(|(word, count)| Ok((symbols_of(word)?, count)));
        let words: Vec<_> = words.collect::<Result<_>>()?;
        Ok(Self::new(words, initial.num_tokens() as Id))
    }

    /// The words, each with its count.
    pub(super) fn words(&self) -> impl Iterator<Item = (&[Id], u64)> {
        let words = self.tokens.split(|&token| token == END);
        words.zip(self.counts.iter().copied())
    }

    /// The tokens of all words, `END` after each.
    pub(super) fn tokens(&self) -> &[Id] {
        &self.tokens
    }

    /// The id that the next merge makes.
    pub(super) fn next_id(&self) -> Id {
        self.next_id
    }

    /// The number of tokens that merges could save if every word became one token.
    pub(super) fn most(&self) -> u64 {
        let saved = |(word, count): (&[Id], u64)| (word.len() as u64 - 1) * count;
        self.words().map(saved).sum()
    }

    /// The pairs of neighbours, in the order in which they occur first.
    pub(super) fn pairs(&self) -> Vec<PairCount> {
        let mut slots: FxHashMap<Pair, usize> = FxHashMap::default();
        let mut pairs: Vec<PairCount> = Vec::new();
        self.for_each_pair(|_, pair, count, is_replaced| {
            let slot = *slots.entry(pair).or_insert(pairs.len());
            if slot == pairs.len() {
                pairs.push(PairCount {
                    pair,
                    places: 0,
                    gain: 0,
                });
            }
            pairs[slot].places += count;
            pairs[slot].gain += if is_replaced { count } else { 0 };
        });
        pairs
    }

    /// Call `visit(position, pair, count, is_replaced)` for each two neighbours: the position of the
    /// left one among the tokens, and whether a merge of the pair replaces them.
    pub(super) fn for_each_pair(&self, mut visit: impl FnMut(usize, Pair, u64, bool)) {
        let mut first = 0;
        for (word, count) in self.words() {
            let mut is_overlap = false;
            for (position, neighbours) in (first..).zip(word.windows(2)) {
                // In a run of equals every second pair overlaps the one that is replaced before it.
                let is_run = neighbours[0] == neighbours[1];
                let pair = (neighbours[0], neighbours[1]);
                visit(position, pair, count, !(is_run && is_overlap));
                is_overlap = is_run && !is_overlap;
            }
            first += word.len() + 1;
        }
    }

    /// The text after one more merge.
    pub(super) fn merged(&self, pair: Pair) -> Self {
        let mut tokens = Vec::with_capacity(self.tokens.len());
        let mut rest = self.tokens.iter().copied().peekable();
        while let Some(token) = rest.next() {
            let joins = token == pair.0 && rest.next_if_eq(&pair.1).is_some();
            tokens.push(if joins { self.next_id } else { token });
        }
        Self {
            tokens,
            counts: Arc::clone(&self.counts),
            next_id: self.next_id + 1,
        }
    }

    /// The text after a path of merges.
    pub(super) fn after(&self, path: &[Pair]) -> Self {
        let mut text = self.clone();
        for &pair in path {
            text = text.merged(pair);
        }
        text
    }

    /// The tokens, renamed in the order in which they occur first.
    ///
    /// What merges can still gain depends on this alone, so texts with one shape are one state.
    pub(super) fn shape(&self) -> Box<[u8]> {
        let mut names: FxHashMap<Id, Id> = FxHashMap::default();
        names.insert(END, 0);
        let renamed: Vec<Id> = self
            .tokens
            .iter()
            .map(|&token| {
                let next = names.len() as Id;
                *names.entry(token).or_insert(next)
            })
            .collect();
        let width = if names.len() <= 1 << 8 { 1 } else { 4 };
        let bytes = renamed
            .iter()
            .flat_map(|name| name.to_le_bytes().into_iter().take(width));
        std::iter::once(width as u8).chain(bytes).collect()
    }
}

/// The most that `num_merges` more merges can gain, by the types of boundaries.
///
/// All boundaries that one merge removes lie between the same two tokens of this text, so that merges
/// remove at most the boundaries of the `num_merges` most frequent types. And no merge gains more
/// than the first could.
pub(super) fn boundary_bound(pairs: &[PairCount], num_merges: usize) -> u64 {
    let places = pairs.iter().map(|pair| pair.places).collect();
    let by_types = sum_of_largest(places, num_merges);
    let most = pairs.iter().map(|pair| pair.gain).max().unwrap_or(0);
    by_types.min(most.saturating_mul(num_merges as u64))
}

/// The sum of the `number` largest of some numbers.
pub(super) fn sum_of_largest(mut numbers: Vec<u64>, number: usize) -> u64 {
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers.iter().take(number).sum()
}
