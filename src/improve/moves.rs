//! The moves of the search: drafts of a few changes each, and their repairs: of tokens that a draft made
//! rarer, and of tokens that it left side by side.

use std::ops::Range;

use super::builder::{Builder, Guide};
use super::corpus::Word;
use super::draft::Draft;
use super::list::{NEVER, Rank, Shape};
use super::random::Random;
use super::state::{Effects, State};
use crate::merges::Id;

/// The number of symbols on each side of a boundary that a new string may take.
const LONGEST_REACH: usize = 12;
/// The number of moves that are drawn before giving up.
const MOST_DRAWN: usize = 4;
/// The number of strings that are drawn before giving up.
const MOST_STRINGS: usize = 6;
/// The number of words that are drawn before giving up.
const MOST_WORDS: usize = 4;
/// The largest number of tokens that are mended at once.
const MOST_MENDED: usize = 64;
/// The largest number of pairs that are joined at once.
const MOST_JOINED: usize = 2;

/// Draw a move; None if no move that was drawn can be completed.
pub(super) fn propose<'a>(
    state: &'a State<'_>,
    guide: Guide,
    random: &mut Random,
) -> Option<Draft<'a>> {
    (0..MOST_DRAWN).find_map(|_| draw(state, guide, random))
}

fn draw<'a>(state: &'a State<'_>, guide: Guide, random: &mut Random) -> Option<Draft<'a>> {
    let mut builder = Builder {
        draft: Draft::new(&state.list),
        state,
        guide,
        random,
    };
    match builder.random.below(100) {
        0..15 => builder.remove_rare(),
        15..25 => builder.add_pair(),
        25..35 => builder.add_across(),
        35..70 => builder.rerank(),
        70..80 => builder.rank_before_rival(),
        _ => builder.hoist(),
    }?;
    (!builder.draft.edit.changes.is_empty()).then_some(builder.draft)
}

/// Make tokens derivable again that a draft made rarer, and join those that it left side by side.
/// None: there is nothing to repair.
pub(super) fn repair<'a>(
    state: &'a State<'_>,
    guide: Guide,
    draft: Draft<'a>,
    effects: &Effects,
    random: &mut Random,
) -> Option<Draft<'a>> {
    let mut builder = Builder {
        draft,
        state,
        guide,
        random,
    };
    let mut mended: Vec<Id> = Vec::new();
    let mut worst: Vec<(Id, i64)> = effects.losses.iter().copied().take(MOST_MENDED).collect();
    worst.sort_unstable_by_key(|&(id, _)| builder.draft.rank(id));
    for (id, loss) in worst {
        let edit = builder.draft.edit.clone();
        match builder.mend(id, loss, &mended) {
            Some(()) => mended.push(id),
            None => builder.draft.edit = edit,
        }
    }
    let mut is_repaired = !mended.is_empty();
    let is_frequent = |pair: &&((Id, Id), i64)| pair.1 as f64 > guide.price;
    let pairs = effects.pairs.iter().take(MOST_JOINED);
    for &((left, right), _) in pairs.take_while(is_frequent) {
        is_repaired |= builder.join_neighbours(left, right).is_some();
    }
    is_repaired.then_some(builder.draft)
}

impl Builder<'_, '_, '_> {
    /// Remove a random token, more likely one that few words have in the end, or that is built in few.
    fn remove_rare(&mut self) -> Option<()> {
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
        self.remove(rarest?.1, 0)
    }

    /// The weight of the places where a token is built and becomes part of no other.
    fn own_weight(&self, id: Id) -> u64 {
        let users = self.state.list.token(id).users.iter();
        users.fold(self.weight(id), |rest, &user| {
            rest.saturating_sub(self.weight(user))
        })
    }

    /// Add a frequent pair as one token.
    fn add_pair(&mut self) -> Option<()> {
        let (left, right) = self.state.any_pair(self.random)?;
        if !self.draft.exists(left) || !self.draft.exists(right) {
            return None;
        }
        self.make(&self.joined(left, right), left, right)
    }

    /// Add a string across a boundary between two tokens.
    fn add_across(&mut self) -> Option<()> {
        let (word, at) = self.state.boundary(self.random)?;
        let span = (0..MOST_STRINGS).find_map(|_| self.span_across(word, at))?;
        let string = &self.state.corpus.word(word)[span.clone()];
        let rival = self.first_rank(word, &[span.start, span.end]);
        let rival = rival.filter(|_| self.random.once_in(2));
        let parts = self.draft.parts(string, rival.unwrap_or(NEVER));
        let (left, right) = self.two_of(&parts)?;
        match rival {
            Some(rival) => {
                let rank = self.draft.rank_before(rival)?;
                self.add(string, left, right, rank)
            }
            None => self.make(string, left, right),
        }
    }

    /// A random span across a boundary whose string is frequent and not a token.
    fn span_across(&mut self, word: Word, at: usize) -> Option<Range<usize>> {
        let symbols = self.state.corpus.word(word);
        let (start, end) = if self.random.once_in(2) {
            // From one of the two cuts before to one of the two behind.
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

    /// Give a token a random rank after its parts; users that come too soon are moved behind it.
    fn rerank(&mut self) -> Option<()> {
        let id = self.state.any_token(self.random)?;
        let shape = self.draft.shape(id)?;
        let low = self.draft.rank_of_parts(shape.left, shape.right);
        let high = match self.draft.users(id).first() {
            Some(&user) if !self.random.once_in(4) => self.draft.rank(user),
            _ => self.last_rank()?,
        };
        let rank = self.rank_between(low, high)?;
        self.draft.set(id, Some(Shape { rank, ..shape }));
        self.lift_users(id, 0)
    }

    /// Take a word that could be cut into fewer of the current tokens, and let one of those come
    /// before the merge that prevents it.
    fn rank_before_rival(&mut self) -> Option<()> {
        let (word, missing) = (0..MOST_WORDS).find_map(|_| self.badly_cut_word())?;
        let (start, end) = missing[self.random.index(missing.len())];
        let id = self.token_at(word, start..end)?;
        let shape = self.draft.shape(id)?;
        let Some(rival_rank) = self.first_rank(word, &[start, end]) else {
            // Only its parts are missing: make it of the tokens that are there.
            let parts = self.parts_without(id, NEVER);
            return match parts[..] {
                [left, right] if left != shape.left => self.resplit(id, left, right, shape.rank),
                _ => None,
            };
        };
        let parts = self.parts_without(id, rival_rank);
        let (left, right) = self.two_of(&parts)?;
        let rank = self.draft.rank_before(rival_rank)?;
        self.resplit(id, left, right, rank)
    }

    /// A random word that could have fewer tokens, and the spans of those that would cross a current
    /// boundary.
    fn badly_cut_word(&mut self) -> Option<(Word, Vec<(usize, usize)>)> {
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
    /// before the merge that prevents it.
    fn hoist(&mut self) -> Option<()> {
        let (word, span) = (0..MOST_WORDS).find_map(|_| self.token_across())?;
        let id = self.token_at(word, span.clone())?;
        let shape = self.draft.shape(id)?;
        let split = span.start + self.draft.len_of(shape.left);
        let rival_rank = self.first_rank(word, &[span.start, split, span.end])?;
        self.put_before(id, rival_rank)
    }

    /// The token of the list whose string is this span of a word.
    fn token_at(&self, word: Word, span: Range<usize>) -> Option<Id> {
        self.state.list.id(&self.state.corpus.word(word)[span])
    }

    /// A random word, and a span across a boundary of it whose string is a token.
    fn token_across(&mut self) -> Option<(Word, Range<usize>)> {
        let (word, at) = self.state.boundary(self.random)?;
        let starts = at.saturating_sub(LONGEST_REACH)..at;
        let ends = at + 1..=self.state.corpus.word(word).len().min(at + LONGEST_REACH);
        let spans = starts.flat_map(|start| ends.clone().map(move |end| start..end));
        let is_token = |span: &Range<usize>| self.token_at(word, span.clone()).is_some();
        let tokens: Vec<_> = spans.filter(is_token).collect();
        let drawn = self.random.index(tokens.len().max(1));
        tokens.get(drawn).map(|span| (word, span.clone()))
    }

    /// Give a token and its parts ranks below `end`.
    fn put_before(&mut self, id: Id, end: Rank) -> Option<()> {
        if let Some(shape) = self.draft.shape(id).filter(|shape| shape.rank >= end) {
            self.put_before(shape.left, end)?;
            self.put_before(shape.right, end)?;
            let rank = self.draft.rank_before(end)?;
            self.draft.set(id, Some(Shape { rank, ..shape }));
        }
        Some(())
    }

    /// Add two tokens as one, after all others.
    fn join_neighbours(&mut self, left: Id, right: Id) -> Option<()> {
        let string = self.joined(left, right);
        // Mending may have removed one of them.
        let do_exist = self.draft.exists(left) && self.draft.exists(right);
        if !do_exist || string.len() > self.guide.max_token_length || !self.is_new(&string) {
            return None;
        }
        let rank = self.last_rank()?.max(self.rank_after(left, right)?);
        self.add_shape(&string, Shape { left, right, rank });
        Some(())
    }

    /// Make a token derivable again that the draft made rarer by `loss`, or remove it. None: it
    /// stays as it is, or the repair failed halfway.
    fn mend(&mut self, id: Id, loss: i64, mended: &[Id]) -> Option<()> {
        let shape = self.draft.shape(id)?;
        let parts = self.parts_without(id, NEVER);
        let is_derivable = matches!(parts[..], [left, _] if left == shape.left);
        if !is_derivable {
            return self.rebuild(id, &parts, 0);
        }
        // Rare, unless that was for want of a part.
        let is_rare = self.weight(id) as f64 - (loss as f64) < self.guide.price * 0.5;
        let is_useless = is_rare && !self.is_made_of(id, mended);
        if is_useless && self.draft.users(id).is_empty() {
            return self.remove(id, 0);
        }
        None
    }

    /// Whether one of these tokens is a part of a token, or of its parts.
    fn is_made_of(&self, id: Id, tokens: &[Id]) -> bool {
        let has = |part| tokens.contains(&part) || self.is_made_of(part, tokens);
        let shape = self.draft.shape(id);
        shape.is_some_and(|shape| has(shape.left) || has(shape.right))
    }
}
