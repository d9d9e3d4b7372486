//! What the search tries: drafts of a few changes each.

use std::ops::Range;
use std::sync::Arc;

use super::derivation::NOBODY;
use super::draft::Draft;
use super::list::Shape;
use super::random::Random;
use super::state::{Effects, State};
use crate::merges::Id;

/// Strings are not made longer than so many symbols across a boundary.
const LONGEST_REACH: usize = 12;
/// So many moves are drawn before giving up.
const MOST_DRAWN: usize = 4;
/// So many strings are drawn before giving up.
const MOST_STRINGS: usize = 6;
/// So many words are looked at before giving up.
const MOST_WORDS: usize = 4;
/// So many tokens are mended at once.
const MOST_MENDED: usize = 64;
/// So many pairs are joined at once.
const MOST_JOINED: usize = 2;
/// Users of users are followed so far.
const DEEPEST: usize = 12;

/// What moves go by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guide {
    /// What a token must save to be worth its place.
    pub(super) price: f64,
    pub(super) longest_token: usize,
}

/// Draw a move; None if nothing that was drawn can be done.
pub(super) fn propose<'a>(
    state: &'a State<'_>,
    guide: Guide,
    random: &mut Random,
) -> Option<Draft<'a>> {
    (0..MOST_DRAWN).find_map(|_| draw(state, guide, random))
}

fn draw<'a>(state: &'a State<'_>, guide: Guide, random: &mut Random) -> Option<Draft<'a>> {
    let mut move_ = Move {
        draft: Draft::new(&state.list),
        state,
        guide,
        random,
    };
    match move_.random.below(100) {
        0..15 => move_.remove_one(),
        15..25 => move_.add_pair(),
        25..35 => move_.add_across(),
        35..70 => move_.rerank(),
        70..80 => move_.rank_before_rival(),
        _ => move_.hoist(),
    }?;
    (!move_.draft.edit.changes.is_empty()).then_some(move_.draft)
}

/// Mend a draft: make tokens derivable again that it made rarer, and join what it put side by side.
/// None: there is nothing to mend.
pub(super) fn repair<'a>(
    state: &'a State<'_>,
    guide: Guide,
    draft: Draft<'a>,
    effects: &Effects,
    random: &mut Random,
) -> Option<Draft<'a>> {
    let mut move_ = Move {
        draft,
        state,
        guide,
        random,
    };
    let mut mended: Vec<Id> = Vec::new();
    let mut worst: Vec<(Id, i64)> = effects.losses.iter().copied().take(MOST_MENDED).collect();
    worst.sort_unstable_by_key(|&(id, _)| move_.draft.rank(id));
    for (id, loss) in worst {
        let edit = move_.draft.edit.clone();
        match move_.mend(id, loss, &mended) {
            Some(true) => mended.push(id),
            Some(false) => {}
            // It broke off halfway.
            None => move_.draft.edit = edit,
        }
    }
    let mut has_mended = !mended.is_empty();
    let is_frequent = |pair: &&((Id, Id), u64)| pair.1 as f64 > guide.price;
    for &((left, right), _) in effects
        .pairs
        .iter()
        .take(MOST_JOINED)
        .take_while(is_frequent)
    {
        has_mended |= move_.join_neighbours(left, right).is_some();
    }
    has_mended.then_some(move_.draft)
}

struct Move<'a, 's, 'r> {
    draft: Draft<'a>,
    state: &'a State<'s>,
    guide: Guide,
    random: &'r mut Random,
}

impl Move<'_, '_, '_> {
    /// Remove a token, likelier a rare one, and make its users of other parts.
    fn remove_one(&mut self) -> Option<()> {
        let id = self.rare_token()?;
        self.remove(id, 0)
    }

    /// A token that is likelier one that ends up in few words, or is built in few.
    fn rare_token(&mut self) -> Option<Id> {
        let counts_parts = self.random.once_in(3);
        let mut rarest: Option<(u64, Id)> = None;
        for _ in 0..8 {
            let Some(id) = self.state.any_token(self.random) else {
                continue;
            };
            let weight = if counts_parts {
                self.weight(id)
            } else {
                self.own_weight(id)
            };
            let drawn = (weight, id);
            rarest = Some(rarest.map_or(drawn, |rarest| rarest.min(drawn)));
            if self.random.once_in(4) {
                break;
            }
        }
        rarest.map(|(_, id)| id)
    }

    /// How often a token is built and becomes part of no other.
    fn own_weight(&self, id: Id) -> u64 {
        let users = self.state.list.token(id).users.iter();
        let as_part = users
            .map(|&user| self.weight(user))
            .fold(0, u64::saturating_add);
        self.weight(id).saturating_sub(as_part)
    }

    /// Add a frequent pair as one token.
    fn add_pair(&mut self) -> Option<()> {
        let (left, right) = self.state.any_pair(self.random)?;
        if !self.draft.exists(left) || !self.draft.exists(right) {
            return None;
        }
        let string = [left, right].map(|part| self.draft.string(part)).concat();
        self.make(&string, left, right)
    }

    /// Add a string across a boundary.
    fn add_across(&mut self) -> Option<()> {
        let (word, at) = self.state.boundary(self.random)?;
        let span = (0..MOST_STRINGS).find_map(|_| self.span_across(word, at))?;
        let string = &self.state.corpus.word(word)[span.clone()];
        let rival = self.first_rank(word, &[span.start, span.end]);
        let rival = rival.filter(|_| self.random.once_in(2));
        let pieces = self.draft.pieces(string, rival.unwrap_or(u32::MAX));
        let (left, right) = match pieces[..] {
            [left, right] => (left, right),
            [first, second, third] => self.join(first, second, third)?,
            _ => return None,
        };
        match rival {
            Some(rival) => {
                let rank = self.draft.rank_before(rival)?;
                self.add(string, left, right, rank)
            }
            None => self.make(string, left, right),
        }
    }

    /// A span across a boundary whose string is frequent and no token.
    fn span_across(&mut self, word: u32, at: usize) -> Option<Range<usize>> {
        let symbols = self.state.corpus.word(word);
        let (start, end) = if self.random.once_in(2) {
            // From one of the next cuts to another.
            let cuts = self.state.cuts(word);
            let index = cuts.binary_search(&at).ok()?;
            let from = index - 1 - self.random.index(index.min(2));
            let to = index + 1 + self.random.index((cuts.len() - 1 - index).min(2));
            (cuts[from], cuts[to])
        } else {
            let before = 1 + self.random.index(at.min(LONGEST_REACH));
            let after = 1 + self.random.index((symbols.len() - at).min(LONGEST_REACH));
            (at - before, at + after)
        };
        let string = &symbols[start..end];
        let is_wanted = self.draft.id(string).is_none() && self.is_frequent(string);
        is_wanted.then_some(start..end)
    }

    fn is_frequent(&self, string: &[Id]) -> bool {
        self.state.corpus.weight(string) as f64 >= self.guide.price * 0.8
    }

    /// The rank of what first erased one of these boundaries of a word.
    fn first_rank(&self, word: u32, boundaries: &[usize]) -> Option<u32> {
        let erasers = self.state.derivations.of(self.state.corpus, word);
        let rivals = boundaries.iter().filter_map(|&at| erasers.get(at));
        let rivals = rivals.filter(|&&rival| rival != NOBODY);
        rivals.map(|&rival| self.draft.rank(rival)).min()
    }

    /// Three pieces as two: the one that this makes is new.
    fn join(&mut self, first: Id, second: Id, third: Id) -> Option<(Id, Id)> {
        let string = |a: Id, b: Id| [&*self.draft.string(a), &*self.draft.string(b)].concat();
        let (front, back) = (string(first, second), string(second, third));
        let is_new = |string: &[Id]| self.is_new(string);
        let takes_front = match (is_new(&front), is_new(&back)) {
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
        let (string, left, right) = if takes_front {
            (front, first, second)
        } else {
            (back, second, third)
        };
        let rank = self.rank_after(left, right)?;
        let made = self.add_shape(&string, Shape { left, right, rank });
        Some(if takes_front {
            (made, third)
        } else {
            (first, made)
        })
    }

    /// A token of these parts: a new one, or the one with that string made anew.
    fn make(&mut self, string: &[Id], left: Id, right: Id) -> Option<()> {
        if string.len() > self.guide.longest_token {
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
            self.end()?
        } else {
            let low = self.draft.rank(left).max(self.draft.rank(right));
            self.rank_between(low, self.end()?)?
        };
        self.add(string, left, right, rank)
    }

    /// A new token, not before `rank`.
    fn add(&mut self, string: &[Id], left: Id, right: Id, rank: u32) -> Option<()> {
        if string.len() > self.guide.longest_token {
            return None;
        }
        let parts = self.draft.rank(left).max(self.draft.rank(right));
        let rank = if rank > parts {
            rank
        } else {
            self.draft.rank_after(parts)?
        };
        self.add_shape(string, Shape { left, right, rank });
        Some(())
    }

    fn add_shape(&mut self, string: &[Id], shape: Shape) -> Id {
        let places: Arc<[u32]> = Arc::from(self.state.corpus.places(string));
        self.draft.add(Arc::from(string), places, shape)
    }

    fn end(&self) -> Option<u32> {
        self.draft.rank_after(self.state.list.last_rank())
    }

    fn rank_between(&mut self, low: u32, high: u32) -> Option<u32> {
        let room = high
            .checked_sub(low)?
            .checked_sub(1)
            .filter(|&room| room > 0)?;
        let rank = low + 1 + self.random.below(u64::from(room)) as u32;
        self.draft.is_free(rank).then_some(rank)
    }

    /// A rank right after those of two parts.
    fn rank_after(&self, left: Id, right: Id) -> Option<u32> {
        self.draft
            .rank_after(self.draft.rank(left).max(self.draft.rank(right)))
    }

    /// Make a token of other parts, not before `rank`.
    fn resplit(&mut self, id: Id, left: Id, right: Id, rank: u32) -> Option<()> {
        let parts = self.draft.rank(left).max(self.draft.rank(right));
        let rank = if rank > parts {
            rank
        } else {
            self.draft.rank_after(parts)?
        };
        self.draft.set(id, Some(Shape { left, right, rank }));
        self.lift_users(id, 0)
    }

    /// Users that come too soon come right after their parts.
    fn lift_users(&mut self, id: Id, depth: usize) -> Option<()> {
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

    /// Remove a token; its users are made of other parts, or go too if they are rare.
    fn remove(&mut self, id: Id, depth: usize) -> Option<()> {
        if depth > DEEPEST || self.is_pinned(id) {
            return None;
        }
        self.draft.set(id, None);
        for user in self.draft.users(id) {
            // It may have gone with another user.
            if self
                .draft
                .shape(user)
                .is_some_and(|shape| shape.left == id || shape.right == id)
            {
                self.rebuild(user, depth)?;
            }
        }
        Some(())
    }

    fn is_pinned(&self, id: Id) -> bool {
        (id as usize) < self.state.list.num_ids() && self.state.list.token(id).is_pinned
    }

    fn weight(&self, id: Id) -> u64 {
        if (id as usize) < self.state.list.num_ids() {
            self.state.list.token(id).weight
        } else {
            0
        }
    }

    /// Make a token of what its string becomes without it.
    fn rebuild(&mut self, id: Id, depth: usize) -> Option<()> {
        let shape = self.draft.shape(id)?;
        let pieces = self.without(id, u32::MAX);
        let (left, right) = match pieces[..] {
            [left, right] => (left, right),
            [first, second, third] if self.weight(id) as f64 > self.guide.price => {
                self.join(first, second, third)?
            }
            _ if (self.weight(id) as f64) < self.guide.price * 1.5 => {
                return self.remove(id, depth + 1);
            }
            _ => return None,
        };
        self.resplit(id, left, right, shape.rank)
    }

    /// Give a token any rank after its parts; users follow.
    fn rerank(&mut self) -> Option<()> {
        let id = self.state.any_token(self.random)?;
        let shape = self.draft.shape(id)?;
        let low = self
            .draft
            .rank(shape.left)
            .max(self.draft.rank(shape.right));
        let users = self.draft.users(id);
        let first_user = users.first().map(|&user| self.draft.rank(user));
        let high = match first_user {
            Some(rank) if !self.random.once_in(4) => rank,
            _ => self.end()?,
        };
        let rank = self.rank_between(low, high)?;
        self.draft.set(id, Some(Shape { rank, ..shape }));
        self.lift_users(id, 0)
    }

    /// Take a word that the tokens there are could cut into fewer, and let one of those come before
    /// what kept it from there.
    fn rank_before_rival(&mut self) -> Option<()> {
        let (word, missing) = (0..MOST_WORDS).find_map(|_| self.badly_cut_word())?;
        let (start, end) = missing[self.random.index(missing.len())];
        let id = self
            .state
            .list
            .id(&self.state.corpus.word(word)[start..end])?;
        let shape = self.draft.shape(id)?;
        let Some(rival_rank) = self.first_rank(word, &[start, end]) else {
            // Only its parts are missing: make it of what is there.
            let pieces = self.without(id, u32::MAX);
            return match pieces[..] {
                [left, right] if left != shape.left => self.resplit(id, left, right, shape.rank),
                _ => None,
            };
        };
        let pieces = self.without(id, rival_rank);
        let (left, right) = match pieces[..] {
            [left, right] => (left, right),
            [first, second, third] => self.join(first, second, third)?,
            _ => return None,
        };
        let rank = self.draft.rank_before(rival_rank)?;
        self.resplit(id, left, right, rank)
    }

    /// A word that could have fewer tokens, and which of them would cross a boundary of now.
    fn badly_cut_word(&mut self) -> Option<(u32, Vec<(usize, usize)>)> {
        let (word, _) = self.state.boundary(self.random)?;
        let best = self.state.best_cut(word);
        if best.len() >= self.state.derivations.num_tokens(word) as usize {
            return None;
        }
        let cuts = self.state.cuts(word);
        let crosses = |&(start, end): &(usize, usize)| {
            let first_inside = cuts.partition_point(|&cut| cut <= start);
            cuts[first_inside] < end
        };
        let missing: Vec<_> = best.into_iter().filter(crosses).collect();
        (!missing.is_empty()).then_some((word, missing))
    }

    /// Take a token whose string stands across a boundary, and let it come, with all its parts,
    /// before what kept it from there.
    fn hoist(&mut self) -> Option<()> {
        let (word, span) = (0..MOST_WORDS).find_map(|_| self.token_across())?;
        let id = self
            .state
            .list
            .id(&self.state.corpus.word(word)[span.clone()])?;
        let shape = self.draft.shape(id)?;
        let split = span.start + self.draft.len_of(shape.left);
        let rival_rank = self.first_rank(word, &[span.start, split, span.end])?;
        self.put_before(id, rival_rank)
    }

    /// A word, and a span across a boundary of it whose string is a token.
    fn token_across(&mut self) -> Option<(u32, Range<usize>)> {
        let (word, at) = self.state.boundary(self.random)?;
        let symbols = self.state.corpus.word(word);
        let starts = at.saturating_sub(LONGEST_REACH)..at;
        let ends = at + 1..=symbols.len().min(at + LONGEST_REACH);
        let spans = starts.flat_map(|start| ends.clone().map(move |end| start..end));
        let tokens: Vec<_> = spans
            .filter(|span| self.state.list.id(&symbols[span.clone()]).is_some())
            .collect();
        let drawn = self.random.index(tokens.len().max(1));
        tokens.get(drawn).map(|span| (word, span.clone()))
    }

    /// Give a token, and its parts, ranks below `end`.
    fn put_before(&mut self, id: Id, end: u32) -> Option<()> {
        match self.draft.shape(id) {
            Some(shape) if shape.rank >= end => {
                self.put_before(shape.left, end)?;
                self.put_before(shape.right, end)?;
                let rank = self.draft.rank_before(end)?;
                self.draft.set(id, Some(Shape { rank, ..shape }));
                Some(())
            }
            _ => Some(()),
        }
    }

    /// What the string of a token becomes without it, by merges of ranks below `end`.
    fn without(&self, id: Id, end: u32) -> Vec<Id> {
        self.draft.pieces(&self.draft.string(id), end)
    }

    /// Is a string neither a token nor one that the draft removes?
    fn is_new(&self, string: &[Id]) -> bool {
        self.draft.id(string).is_none() && self.state.list.id(string).is_none()
    }

    /// Add two tokens as one, after all others.
    fn join_neighbours(&mut self, left: Id, right: Id) -> Option<()> {
        let string = [left, right].map(|part| self.draft.string(part)).concat();
        // Mending may have removed one of them.
        let are_there = self.draft.exists(left) && self.draft.exists(right);
        if !are_there || string.len() > self.guide.longest_token || !self.is_new(&string) {
            return None;
        }
        let rank = self.end()?;
        let rank = rank.max(self.rank_after(left, right)?);
        self.add_shape(&string, Shape { left, right, rank });
        Some(())
    }

    /// Make a token derivable again that the draft made rarer by `loss`; did anything change?
    fn mend(&mut self, id: Id, loss: i64, mended: &[Id]) -> Option<bool> {
        let Some(shape) = self.draft.shape(id) else {
            return Some(false);
        };
        let weight = self.weight(id) as f64;
        let pieces = self.without(id, u32::MAX);
        match pieces[..] {
            [left, _] if left == shape.left => {
                // It is derivable, but seldom; unless that was for want of a part.
                let is_rare = weight - (loss as f64) < self.guide.price * 0.5;
                if is_rare && !self.is_made_of(id, mended) && self.draft.users(id).is_empty() {
                    self.remove(id, 0)?;
                    return Some(true);
                }
                Some(false)
            }
            [left, right] => self.resplit(id, left, right, shape.rank).map(|()| true),
            [first, second, third] if weight > self.guide.price => {
                let (left, right) = self.join(first, second, third)?;
                self.resplit(id, left, right, shape.rank).map(|()| true)
            }
            _ if weight < self.guide.price * 1.5 => self.remove(id, 0).map(|()| true),
            _ => Some(false),
        }
    }

    /// Is one of these tokens a part of a token, or of a part?
    fn is_made_of(&self, id: Id, tokens: &[Id]) -> bool {
        self.draft.shape(id).is_some_and(|shape| {
            [shape.left, shape.right]
                .iter()
                .any(|&part| tokens.contains(&part) || self.is_made_of(part, tokens))
        })
    }
}
