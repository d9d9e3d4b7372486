//! Repairs of a draft: tokens that it made rarer, and tokens that it left side by side.

use super::builder::{Builder, Guide};
use super::draft::Draft;
use super::list::{Rank, Shape};
use super::random::Random;
use super::state::{Effects, State};
use crate::merges::Id;

/// The largest number of tokens that are mended at once.
const MOST_MENDED: usize = 64;
/// The largest number of pairs that are joined at once.
const MOST_JOINED: usize = 2;

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
    for &((left, right), _) in effects
        .pairs
        .iter()
        .take(MOST_JOINED)
        .take_while(is_frequent)
    {
        is_repaired |= builder.join_neighbours(left, right).is_some();
    }
    is_repaired.then_some(builder.draft)
}

impl Builder<'_, '_, '_> {
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
        let parts = self.parts_without(id, Rank::NEVER);
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
        self.draft.shape(id).is_some_and(|shape| {
            [shape.left, shape.right]
                .iter()
                .any(|&part| tokens.contains(&part) || self.is_made_of(part, tokens))
        })
    }
}
