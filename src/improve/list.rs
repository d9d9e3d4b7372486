//! The merge list of the search: tokens that come, go, split anew and change their ranks.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::corpus::Corpus;
use crate::merges::Id;

/// How a token is made, and when: what has the lower rank merges first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) left: Id,
    pub(super) right: Id,
    pub(super) rank: u32,
}

/// What becomes of two adjacent tokens: the rank and the id of their product in one number, so that
/// the smallest merges first.
pub(super) type Merge = u64;

/// They do not merge.
pub(super) const NEVER: Merge = Merge::MAX;

pub(super) fn merge(rank: u32, id: Id) -> Merge {
    u64::from(rank) << 32 | u64::from(id)
}

pub(super) fn product(merge: Merge) -> Id {
    merge as Id
}

/// Where the merge of two tokens is found.
pub(super) fn key(left: Id, right: Id) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) string: Arc<[Id]>,
    /// None: a symbol, or a token that is gone.
    pub(super) shape: Option<Shape>,
    /// The tokens of which it is a part.
    pub(super) users: Vec<Id>,
    /// Where its string occurs; nothing for symbols.
    pub(super) places: Arc<[u32]>,
    /// How often it is built, also as a part.
    pub(super) weight: u64,
    pub(super) is_pinned: bool,
}

/// All tokens by id, symbols first; an id is never given twice.
#[derive(Debug)]
pub(super) struct List {
    num_symbols: usize,
    tokens: Vec<Token>,
    table: FxHashMap<u64, Merge>,
    /// A bit for each key of the table, and for some that are gone: most lookups end here.
    filter: Vec<u64>,
    strings: FxHashMap<Arc<[Id]>, Id>,
    ranks: BTreeSet<u32>,
    /// The rank of each id; 0 for symbols, GONE for what is no token.
    rank_of: Vec<u32>,
}

/// The rank of what is no token.
pub(super) const GONE: u32 = u32::MAX;

/// Ranks begin in the lower half, so that there is room behind the last one.
const ROOM: u32 = 1 << 31;

/// The filter of the table has 64 bits for so many tokens.
const WORDS_OF_FILTER_FOR: usize = 4;

impl List {
    pub(super) fn new(num_symbols: usize) -> Self {
        let symbols = (0..num_symbols as Id).map(|symbol| Arc::from([symbol]));
        let tokens: Vec<Token> = symbols
            .map(|string: Arc<[Id]>| Token {
                string,
                shape: None,
                users: Vec::new(),
                places: Arc::from([]),
                weight: 0,
                is_pinned: true,
            })
            .collect();
        let strings = (0..)
            .zip(&tokens)
            .map(|(id, token)| (token.string.clone(), id))
            .collect();
        Self {
            num_symbols,
            tokens,
            table: FxHashMap::default(),
            filter: vec![0; 1],
            strings,
            ranks: BTreeSet::new(),
            rank_of: vec![0; num_symbols],
        }
    }

    /// The rank of a token; 0 for symbols, which are there before all others.
    pub(super) fn rank(&self, id: Id) -> u32 {
        self.rank_of[id as usize]
    }

    /// How many ids were given.
    pub(super) fn num_ids(&self) -> usize {
        self.tokens.len()
    }

    /// How many tokens there are beside the symbols.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    pub(super) fn token(&self, id: Id) -> &Token {
        &self.tokens[id as usize]
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

    pub(super) fn merge_of(&self, key: u64) -> Merge {
        let (word, bit) = self.bit(key);
        if self.filter[word] & bit == 0 {
            return NEVER;
        }
        self.table.get(&key).copied().unwrap_or(NEVER)
    }

    /// Where the filter has the bit of a key.
    fn bit(&self, key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        // The length is a power of 2.
        let word = (hash >> 6) as usize & (self.filter.len() - 1);
        (word, 1 << (hash & 63))
    }

    fn insert(&mut self, key: u64, merge: Merge) {
        let (word, bit) = self.bit(key);
        self.filter[word] |= bit;
        self.table.insert(key, merge);
    }

    pub(super) fn has_rank(&self, rank: u32) -> bool {
        self.ranks.contains(&rank)
    }

    /// The next rank above this one that is taken.
    pub(super) fn rank_above(&self, rank: u32) -> Option<u32> {
        self.ranks.range(rank.saturating_add(1)..).next().copied()
    }

    /// The next rank below this one that is taken; 0 is nobody's.
    pub(super) fn rank_below(&self, rank: u32) -> u32 {
        self.ranks.range(..rank).next_back().copied().unwrap_or(0)
    }

    /// The highest rank.
    pub(super) fn last_rank(&self) -> u32 {
        self.ranks.last().copied().unwrap_or(0)
    }

    /// Ids of the tokens beside the symbols.
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

    /// The tokens in order, each as the ids of its parts where symbols and earlier tokens are
    /// numbered, and whether it is pinned.
    pub(super) fn merges(&self) -> Vec<((Id, Id), bool)> {
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

    /// Give an id to a string that is not a token, for now without a shape.
    pub(super) fn name(&mut self, string: Arc<[Id]>, places: Arc<[u32]>, is_pinned: bool) -> Id {
        let id = self.tokens.len() as Id;
        self.tokens.push(Token {
            string,
            shape: None,
            users: Vec::new(),
            places,
            weight: 0,
            is_pinned,
        });
        self.rank_of.push(GONE);
        id
    }

    /// The same with all that the corpus knows.
    pub(super) fn name_in(&mut self, corpus: &Corpus, string: &[Id], is_pinned: bool) -> Id {
        self.name(
            Arc::from(string),
            Arc::from(corpus.places(string)),
            is_pinned,
        )
    }

    /// Make a token in another way, or at another time, or no longer.
    pub(super) fn reshape(&mut self, id: Id, shape: Option<Shape>) {
        if let Some(old) = self.token(id).shape {
            self.table.remove(&key(old.left, old.right));
            self.ranks.remove(&old.rank);
            for part in [old.left, old.right] {
                let users = &mut self.token_mut(part).users;
                if let Some(place) = users.iter().position(|&user| user == id) {
                    users.swap_remove(place);
                }
            }
            let string = self.token(id).string.clone();
            self.strings.remove(&string);
        }
        self.token_mut(id).shape = shape;
        self.rank_of[id as usize] = shape.map_or(GONE, |shape| shape.rank);
        if let Some(new) = shape {
            self.insert(key(new.left, new.right), merge(new.rank, id));
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
        self.ranks.clear();
        self.filter.clear();
        let num_words = (order.len() / WORDS_OF_FILTER_FOR).next_power_of_two();
        self.filter.resize(num_words, 0);
        for (place, &id) in (1..).zip(&order) {
            let rank = place * step;
            let Some(shape) = self.token(id).shape else {
                continue;
            };
            self.token_mut(id).shape = Some(Shape { rank, ..shape });
            self.rank_of[id as usize] = rank;
            self.insert(key(shape.left, shape.right), merge(rank, id));
            self.ranks.insert(rank);
        }
    }
}
