//! The merge list of the search: tokens are added, removed, made of other parts and moved in rank.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::corpus::Place;
use crate::keys::hash_pair;
use crate::merges::Id;

/// The time of a merge: the pair of the lowest rank merges first.
pub(super) type Rank = u32;
/// The rank of symbols, which exist before any merge.
pub(super) const SYMBOL_RANK: Rank = 0;
/// Above the ranks of all tokens.
pub(super) const NEVER: Rank = Rank::MAX;

/// The parts of a token, and when they merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) left: Id,
    pub(super) right: Id,
    pub(super) rank: Rank,
}

/// The merge of two adjacent tokens: the rank and the id of their product in one number, so that
/// the smallest merges first.
pub(super) type Merge = u64;
/// They do not merge.
pub(super) const NO_MERGE: Merge = Merge::MAX;

impl Shape {
    /// The merge that makes the token `id` of this shape.
    pub(super) fn merge(self, id: Id) -> Merge {
        Merge::from(self.rank) << 32 | Merge::from(id)
    }

    pub(super) fn pair_key(self) -> u64 {
        pair_key(self.left, self.right)
    }
}

/// Two adjacent tokens as one number.
pub(super) fn pair_key(left: Id, right: Id) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The ids of the two parts of a merge, and whether its product is pinned.
pub(super) type PinnedMerge = ((Id, Id), bool);

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) string: Arc<[Id]>,
    /// None: a symbol, or a token that was removed.
    pub(super) shape: Option<Shape>,
    /// The tokens of which it is a part.
    pub(super) users: Vec<Id>,
    /// Where its string occurs; empty for symbols.
    pub(super) places: Arc<[Place]>,
    /// The sum of the weights of the places where it is built, also as a part.
    pub(super) weight: u64,
    pub(super) is_pinned: bool,
}

/// All tokens by id, symbols first; no id is used again.
#[derive(Debug, Default)]
pub(super) struct List {
    num_symbols: usize,
    tokens: Vec<Token>,
    table: FxHashMap<u64, Merge>,
    /// A bit for each key of the table, and for some that were removed: most lookups end here.
    filter: Vec<u64>,
    strings: FxHashMap<Arc<[Id]>, Id>,
    ranks: BTreeSet<Rank>,
    /// The rank of each id; `NEVER` for tokens that were removed.
    rank_of: Vec<Rank>,
}

/// Ranks are spread over the lower half, so that there is room behind the last one.
const ROOM: u32 = 1 << 31;

/// The number of tokens for which the filter of the table has 64 bits.
const TOKENS_PER_FILTER_WORD: usize = 4;

impl List {
    pub(super) fn new(num_symbols: usize) -> Self {
        let mut list = Self {
            num_symbols,
            filter: vec![0; 1],
            ..Self::default()
        };
        for symbol in 0..num_symbols as Id {
            let string: Arc<[Id]> = Arc::from([symbol]);
            list.strings.insert(string.clone(), symbol);
            list.name(string, Arc::from([]), true);
        }
        list.rank_of.fill(SYMBOL_RANK);
        list
    }

    /// The rank of a token or symbol.
    pub(super) fn rank(&self, id: Id) -> Rank {
        self.rank_of[id as usize]
    }

    pub(super) fn num_symbols(&self) -> usize {
        self.num_symbols
    }

    /// The number of ids, those of removed tokens included.
    pub(super) fn num_ids(&self) -> usize {
        self.tokens.len()
    }

    /// The number of tokens beside the symbols.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(super) fn token(&self, id: Id) -> &Token {
        &self.tokens[id as usize]
    }

    /// The token of an id, if the list has it already.
    pub(super) fn get(&self, id: Id) -> Option<&Token> {
        self.tokens.get(id as usize)
    }

    pub(super) fn token_mut(&mut self, id: Id) -> &mut Token {
        &mut self.tokens[id as usize]
    }

    pub(super) fn is_symbol(&self, id: Id) -> bool {
        (id as usize) < self.num_symbols
    }

    /// The token with this string.
    pub(super) fn id(&self, string: &[Id]) -> Option<Id> {
        self.strings.get(string).copied()
    }

    /// The merge of a pair.
    pub(super) fn merge_of(&self, key: u64) -> Merge {
        let (word, bit) = self.bit(key);
        if self.filter[word] & bit == 0 {
            return NO_MERGE;
        }
        self.table.get(&key).copied().unwrap_or(NO_MERGE)
    }

    /// The word of the filter with the bit of a key, and that bit.
    fn bit(&self, key: u64) -> (usize, u64) {
        let hash = hash_pair(key);
        // The length is a power of 2.
        let word = (hash >> 6) & (self.filter.len() - 1);
        (word, 1 << (hash & 63))
    }

    fn insert(&mut self, key: u64, merge: Merge) {
        let (word, bit) = self.bit(key);
        self.filter[word] |= bit;
        self.table.insert(key, merge);
    }

    pub(super) fn has_rank(&self, rank: Rank) -> bool {
        self.ranks.contains(&rank)
    }

    /// The next rank above this one that is taken.
    pub(super) fn rank_above(&self, rank: Rank) -> Option<Rank> {
        let above = rank.saturating_add(1);
        self.ranks.range(above..).next().copied()
    }

    /// The next rank below this one that is taken, or that of symbols.
    pub(super) fn rank_below(&self, rank: Rank) -> Rank {
        let below = self.ranks.range(..rank).next_back();
        below.copied().unwrap_or(SYMBOL_RANK)
    }

    /// The highest rank that is taken, or that of symbols.
    pub(super) fn last_rank(&self) -> Rank {
        self.ranks.last().copied().unwrap_or(SYMBOL_RANK)
    }

    /// The ids of the tokens beside the symbols.
    pub(super) fn ids(&self) -> impl Iterator<Item = Id> + '_ {
        let ids = self.num_symbols as Id..self.tokens.len() as Id;
        ids.filter(|&id| self.token(id).shape.is_some())
    }

    /// The same, the lowest rank first.
    pub(super) fn in_order(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.ids().collect();
        ids.sort_unstable_by_key(|&id| self.token(id).shape.map(|shape| shape.rank));
        ids
    }

    /// The tokens in order: the parts of each, as places in this order behind the symbols, and
    /// whether it is pinned.
    pub(super) fn merges(&self) -> Vec<PinnedMerge> {
        let mut numbers: Vec<Id> = (0..self.tokens.len() as Id).collect();
        let mut merges = Vec::with_capacity(self.len());
        for (number, id) in (self.num_symbols as Id..).zip(self.in_order()) {
            let token = self.token(id);
            if let Some(shape) = token.shape {
                let parts = [shape.left, shape.right].map(|part| numbers[part as usize]);
                merges.push(((parts[0], parts[1]), token.is_pinned));
            }
            numbers[id as usize] = number;
        }
        merges
    }

    /// Give an id to a string that is not a token; it has no shape yet.
    pub(super) fn name(&mut self, string: Arc<[Id]>, places: Arc<[Place]>, is_pinned: bool) -> Id {
        let id = self.tokens.len() as Id;
        self.tokens.push(Token {
            string,
            shape: None,
            users: Vec::new(),
            places,
            weight: 0,
            is_pinned,
        });
        self.rank_of.push(NEVER);
        id
    }

    /// Change the parts or the rank of a token, or remove it.
    pub(super) fn reshape(&mut self, id: Id, shape: Option<Shape>) {
        if let Some(old) = self.token(id).shape {
            self.table.remove(&old.pair_key());
            self.ranks.remove(&old.rank);
            for part in [old.left, old.right] {
                let users = &mut self.token_mut(part).users;
                if let Some(place) = users.iter().position(|&user| user == id) {
                    users.swap_remove(place);
                }
            }
            self.strings.remove(&self.tokens[id as usize].string);
        }
        self.token_mut(id).shape = shape;
        self.rank_of[id as usize] = shape.map_or(NEVER, |shape| shape.rank);
        if let Some(new) = shape {
            self.insert(new.pair_key(), new.merge(id));
            self.ranks.insert(new.rank);
            for part in [new.left, new.right] {
                self.token_mut(part).users.push(id);
            }
            let string = self.token(id).string.clone();
            self.strings.insert(string, id);
        }
    }

    /// Space the ranks evenly, in the same order.
    pub(super) fn spread_ranks(&mut self) {
        let order = self.in_order();
        let step = ROOM / (order.len() as u32 + 1);
        let rank_at = |place: usize| (place as u32 + 1) * step;
        self.ranks = (0..order.len()).map(rank_at).collect();
        self.filter.clear();
        let num_words = (order.len() / TOKENS_PER_FILTER_WORD).next_power_of_two();
        self.filter.resize(num_words, 0);
        for (place, &id) in order.iter().enumerate() {
            let rank = rank_at(place);
            let Some(shape) = self.token(id).shape else {
                continue;
            };
            let shape = Shape { rank, ..shape };
            self.token_mut(id).shape = Some(shape);
            self.rank_of[id as usize] = rank;
            self.insert(shape.pair_key(), shape.merge(id));
        }
    }
}
