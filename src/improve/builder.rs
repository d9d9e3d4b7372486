//! A draft under construction: adds, removes and rebuilds tokens, each with those that depend on it.

use std::sync::Arc;

use super::corpus::Word;
use super::derivation::NOBODY;
use super::draft::Draft;
use super::list::{NEVER, Rank, Shape};
use super::random::Random;
use super::state::State;
use crate::merges::Id;

/// The depth to which users of users are followed.
const DEEPEST: usize = 12;

/// How far behind all others a rank can be.
const FAR_BEHIND: u64 = 1 << 13;

/// What a draft is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guide {
    /// The weight that a token must save to be worth its place.
    pub(super) price: f64,
    /// The length of the longest new token, in symbols.
    pub(super) max_token_length: usize,
    /// How much a draft that is accepted may cost, on average.
    pub(super) temperature: f64,
}

/// A draft and what it is drawn from. Methods return None if the draft cannot be completed.
pub(super) struct Builder<'a, 's, 'r> {
    pub(super) draft: Draft<'a>,
    pub(super) state: &'a State<'s>,
    pub(super) guide: Guide,
    pub(super) random: &'r mut Random,
}

impl Builder<'_, '_, '_> {
    pub(super) fn is_frequent(&self, string: &[Id]) -> bool {
        self.state.corpus.weight(string) as f64 >= self.guide.price * 0.8
    }

    /// Whether a string is neither a token nor one that the draft removes.
    pub(super) fn is_new(&self, string: &[Id]) -> bool {
        self.draft.id(string).is_none() && self.state.list.id(string).is_none()
    }

    fn is_pinned(&self, id: Id) -> bool {
        let token = self.state.list.get(id);
        token.is_some_and(|token| token.is_pinned)
    }

    /// The sum of the weights of the places where a token is built.
    pub(super) fn weight(&self, id: Id) -> u64 {
        self.state.list.get(id).map_or(0, |token| token.weight)
    }

    /// The strings of two tokens as one.
    pub(super) fn joined(&self, left: Id, right: Id) -> Vec<Id> {
        [left, right].map(|part| self.draft.string(part)).concat()
    }

    /// The tokens that the string of a token becomes without it, by merges of ranks below `end`.
    pub(super) fn parts_without(&self, id: Id, end: Rank) -> Vec<Id> {
        self.draft.parts(&self.draft.string(id), end)
    }

    /// The lowest rank of the tokens that erased these boundaries of a word.
    pub(super) fn first_rank(&self, word: Word, boundaries: &[usize]) -> Option<Rank> {
        let erasers = self.state.derivations.of(self.state.corpus, word);
        let rivals = boundaries.iter().filter_map(|&at| erasers.get(at));
        let rivals = rivals.filter(|&&rival| rival != NOBODY);
        rivals.map(|&rival| self.draft.rank(rival)).min()
    }

    /// A rank after all others; a random one, as other moves of the round ask for one too.
    pub(super) fn last_rank(&mut self) -> Option<Rank> {
        let behind = 1 + self.random.below(FAR_BEHIND) as Rank;
        self.draft.last_rank().checked_add(behind)
    }

    /// A random rank between two others.
    pub(super) fn rank_between(&mut self, low: Rank, high: Rank) -> Option<Rank> {
        let room = high.checked_sub(low)?.checked_sub(1);
        let room = room.filter(|&room| room > 0)?;
        let rank = low + 1 + self.random.below(u64::from(room)) as Rank;
        self.draft.is_free(rank).then_some(rank)
    }

    /// A rank right after those of two parts.
    pub(super) fn rank_after(&self, left: Id, right: Id) -> Option<Rank> {
        self.draft.rank_after(self.draft.rank_of_parts(left, right))
    }

    /// The rank `rank`, or one right after the parts if that is later.
    fn rank_from(&self, rank: Rank, left: Id, right: Id) -> Option<Rank> {
        if rank > self.draft.rank_of_parts(left, right) {
            Some(rank)
        } else {
            self.rank_after(left, right)
        }
    }

    /// Add a token of these parts; where their string is a token, make it of them.
    pub(super) fn make(&mut self, string: &[Id], left: Id, right: Id) -> Option<()> {
        if string.len() > self.guide.max_token_length {
            return None;
        }
        if let Some(id) = self.draft.id(string) {
            let shape = self.draft.shape(id)?;
            return self.resplit(id, left, right, shape.rank);
        }
        if !self.is_frequent(string) {
            return None;
        }
        let rank = if self.random.once_in(3) {
            self.last_rank()?
        } else {
            let low = self.draft.rank_of_parts(left, right);
            let high = self.last_rank()?;
            self.rank_between(low, high)?
        };
        self.add(string, left, right, rank)
    }

    /// Add a token, not before `rank`.
    pub(super) fn add(&mut self, string: &[Id], left: Id, right: Id, rank: Rank) -> Option<()> {
        if string.len() > self.guide.max_token_length {
            return None;
        }
        let rank = self.rank_from(rank, left, right)?;
        self.add_shape(string, Shape { left, right, rank });
        Some(())
    }

    pub(super) fn add_shape(&mut self, string: &[Id], shape: Shape) -> Id {
        let places = Arc::from(self.state.corpus.places(string));
        self.draft.add(Arc::from(string), places, shape)
    }

    /// The only two of these parts, or three made two by a new token; None if there are others.
    pub(super) fn two_of(&mut self, parts: &[Id]) -> Option<(Id, Id)> {
        match *parts {
            [left, right] => Some((left, right)),
            [first, second, third] => self.join(first, second, third),
            _ => None,
        }
    }

    /// Make two of three parts, by a new token.
    fn join(&mut self, first: Id, second: Id, third: Id) -> Option<(Id, Id)> {
        let (front, back) = (self.joined(first, second), self.joined(second, third));
        let takes_front = match (self.is_new(&front), self.is_new(&back)) {
            (true, true) => {
                let weight = |string: &[Id]| self.state.corpus.weight(string);
                if self.random.once_in(4) {
                    self.random.once_in(2)
                } else {
                    weight(&front) >= weight(&back)
                }
            }
            (takes_front, takes_back) if takes_front || takes_back => takes_front,
            _ => return None,
        };
        let mut add = |string: &[Id], left, right| {
            let rank = self.rank_after(left, right)?;
            Some(self.add_shape(string, Shape { left, right, rank }))
        };
        Some(if takes_front {
            (add(&front, first, second)?, third)
        } else {
            (first, add(&back, second, third)?)
        })
    }

    /// Make a token of other parts, not before `rank`.
    pub(super) fn resplit(&mut self, id: Id, left: Id, right: Id, rank: Rank) -> Option<()> {
        let rank = self.rank_from(rank, left, right)?;
        self.draft.set(id, Some(Shape { left, right, rank }));
        self.lift_users(id, 0)
    }

    /// Move users that come too soon to right after their parts.
    pub(super) fn lift_users(&mut self, id: Id, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        for user in self.draft.users(id) {
            let shape = self.draft.shape(user)?;
            if shape.rank <= self.draft.rank(id) {
                let rank = self.rank_after(shape.left, shape.right)?;
                self.draft.set(user, Some(Shape { rank, ..shape }));
                self.lift_users(user, depth + 1)?;
            }
        }
        Some(())
    }

    /// Remove a token; its users are made of other parts, or removed too if they are rare.
    pub(super) fn remove(&mut self, id: Id, depth: usize) -> Option<()> {
        if depth > DEEPEST || self.is_pinned(id) {
            return None;
        }
        self.draft.set(id, None);
        for user in self.draft.users(id) {
            // It may have been removed with another user.
            let shape = self.draft.shape(user);
            if shape.is_some_and(|shape| shape.left == id || shape.right == id) {
                let parts = self.parts_without(user, NEVER);
                self.rebuild(user, &parts, depth + 1)?;
            }
        }
        Some(())
    }

    /// Make a token of `parts`, which its string becomes without it, or remove it if it is rare.
    pub(super) fn rebuild(&mut self, id: Id, parts: &[Id], depth: usize) -> Option<()> {
        let shape = self.draft.shape(id)?;
        let weight = self.weight(id) as f64;
        if parts.len() == 2 || parts.len() == 3 && weight > self.guide.price {
            let (left, right) = self.two_of(parts)?;
            return self.resplit(id, left, right, shape.rank);
        }
        if weight < self.guide.price * 1.5 {
            return self.remove(id, depth);
        }
        None
    }
}
