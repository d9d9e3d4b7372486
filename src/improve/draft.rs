//! A draft: changes to the merge list that are not made yet, and the list as it would be with them.
//!
//! Drafts are weighed in parallel against one list that does not change meanwhile.

use std::sync::Arc;

use super::corpus::Place;
use super::list::{List, Merge, NEVER, NO_MERGE, Rank, SYMBOL_RANK, Shape, pair_key};
use crate::keys::hash_pair;
use crate::merges::Id;

/// The change of one token by a draft.
#[derive(Debug, Clone, Default)]
pub(super) struct Change {
    pub(super) id: Id,
    /// None: the draft adds the token.
    pub(super) before: Option<Shape>,
    /// None: the draft removes it.
    pub(super) after: Option<Shape>,
    pub(super) string: Arc<[Id]>,
    pub(super) places: Arc<[Place]>,
    /// The length of the left part afterwards.
    pub(super) left_len: usize,
}

/// The changes of a draft. Ids from `base` on are those of tokens that it adds.
#[derive(Debug, Clone, Default)]
pub(super) struct Edit {
    pub(super) base: Id,
    pub(super) changes: Vec<Change>,
    /// The merges that differ from those of the list.
    merges: Vec<(u64, Merge)>,
    /// A bit for each of their keys, so that most other keys need no search.
    filter: u64,
}

impl Edit {
    /// The number of tokens that the changes add, less those that they remove.
    pub(super) fn growth(&self) -> i64 {
        let growth = |change: &Change| {
            i64::from(change.after.is_some()) - i64::from(change.before.is_some())
        };
        self.changes.iter().map(growth).sum()
    }

    /// The changes that differ from the list.
    pub(super) fn changed(&self) -> impl Iterator<Item = &Change> {
        let changes = self.changes.iter();
        changes.filter(|change| change.before != change.after)
    }

    /// The number of places where the strings of the changed tokens occur.
    pub(super) fn num_places(&self) -> usize {
        self.changes.iter().map(|change| change.places.len()).sum()
    }

    /// The tokens that come sooner, and their new ranks.
    pub(super) fn sooner(&self) -> Vec<(Id, Rank)> {
        let changes = self.changes.iter();
        let sooner = changes.filter_map(|change| match (change.before, change.after) {
            (Some(before), Some(after)) if after.rank < before.rank => {
                Some((change.id, after.rank))
            }
            _ => None,
        });
        sooner.collect()
    }

    /// The rank at which a derivation can first differ.
    pub(super) fn first_rank(&self) -> Rank {
        let shapes_of = |change: &Change| [change.before, change.after];
        let shapes = self.changed().flat_map(shapes_of);
        let ranks = shapes.flatten().map(|shape| shape.rank);
        ranks.min().unwrap_or(NEVER)
    }

    /// Whether no token of a list has a rank, neither without nor with the changes.
    fn is_free(&self, list: &List, rank: Rank) -> bool {
        let is_ours = |change: &Change| change.after.is_some_and(|shape| shape.rank == rank);
        !list.has_rank(rank) && !self.changes.iter().any(is_ours)
    }

    /// Whether the same changes, made again for another state of the list, have the same ranks.
    pub(super) fn has_ranks_of(&self, other: &Self) -> bool {
        let rank = |change: &Change| change.after.map(|after| after.rank);
        let ranks = self.changes.iter().map(rank);
        ranks.eq(other.changes.iter().map(rank))
    }

    /// The same changes for a list that has more ids than when they were drafted; without the merges,
    /// whose keys have ids in them.
    fn rebased(&self, base: Id) -> Self {
        let mut changes = self.changes.clone();
        let moved = |id: Id| rebased(id, self.base, base);
        for change in &mut changes {
            change.id = moved(change.id);
            if let Some(after) = &mut change.after {
                after.left = moved(after.left);
                after.right = moved(after.right);
            }
        }
        Self {
            base,
            changes,
            ..Self::default()
        }
    }
}

/// The id of a token in an edit whose base was `old` and is now `new`.
pub(super) fn rebased(id: Id, old: Id, new: Id) -> Id {
    if id >= old { id - old + new } else { id }
}

fn bit(key: u64) -> u64 {
    1 << (hash_pair(key) >> 26)
}

/// The list as it would be after an edit.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) list: &'a List,
    pub(super) edit: Edit,
}

impl<'a> Draft<'a> {
    pub(super) fn new(list: &'a List) -> Self {
        let edit = Edit {
            base: list.num_ids() as Id,
            ..Edit::default()
        };
        Self { list, edit }
    }

    /// A draft that was made for an earlier state of the list; None if it no longer fits. Where its rank was
    /// taken meanwhile, a token comes right behind.
    pub(super) fn again(list: &'a List, edit: &Edit) -> Option<Self> {
        let mut edit = edit.rebased(list.num_ids() as Id);
        let is_as_before = |change: &Change| {
            if change.id >= edit.base {
                list.id(&change.string).is_none()
            } else {
                list.token(change.id).shape == change.before
            }
        };
        if !edit.changes.iter().all(is_as_before) {
            return None;
        }
        for index in 0..edit.changes.len() {
            let change = &edit.changes[index];
            let rank = change.after.map(|after| after.rank);
            let is_kept = rank == change.before.map(|before| before.rank);
            if let Some(rank) = rank.filter(|&rank| !is_kept && list.has_rank(rank)) {
                let rank = (rank..NEVER).find(|&rank| edit.is_free(list, rank))?;
                let after = edit.changes[index].after.as_mut();
                after?.rank = rank;
            }
        }
        let changes = edit.changes.clone();
        let mut draft = Self { list, edit };
        for before in changes.iter().filter_map(|change| change.before) {
            draft.set_merge(before.pair_key(), NO_MERGE);
        }
        for change in &changes {
            if let Some(after) = change.after {
                draft.set_merge(after.pair_key(), after.merge(change.id));
            }
        }
        draft.is_valid().then_some(draft)
    }

    /// Whether every changed token is made after its parts and before its users.
    pub(super) fn is_valid(&self) -> bool {
        self.edit.changes.iter().all(|change| {
            let (after, users) = (change.after, self.users(change.id));
            after.map_or(users.is_empty(), |Shape { left, right, rank }| {
                let is_before = |part| self.exists(part) && self.rank(part) < rank;
                let is_behind = |&user: &Id| self.rank(user) > rank;
                is_before(left) && is_before(right) && users.iter().all(is_behind)
            })
        })
    }

    fn change(&self, id: Id) -> Option<&Change> {
        self.edit.changes.iter().find(|change| change.id == id)
    }

    /// The parts and the rank of a token; None for symbols and for removed tokens.
    pub(super) fn shape(&self, id: Id) -> Option<Shape> {
        match self.change(id) {
            Some(change) => change.after,
            None => self.list.token(id).shape,
        }
    }

    /// The rank of a token or symbol.
    pub(super) fn rank(&self, id: Id) -> Rank {
        self.shape(id).map_or(SYMBOL_RANK, |shape| shape.rank)
    }

    /// The higher rank of two parts.
    pub(super) fn rank_of_parts(&self, left: Id, right: Id) -> Rank {
        self.rank(left).max(self.rank(right))
    }

    pub(super) fn exists(&self, id: Id) -> bool {
        self.list.is_symbol(id) || self.shape(id).is_some()
    }

    pub(super) fn string(&self, id: Id) -> Arc<[Id]> {
        match self.change(id) {
            Some(change) => change.string.clone(),
            None => self.list.token(id).string.clone(),
        }
    }

    pub(super) fn len_of(&self, id: Id) -> usize {
        if id < self.edit.base {
            self.list.token(id).string.len()
        } else {
            self.string(id).len()
        }
    }

    /// The token with this string, if there is one.
    pub(super) fn id(&self, string: &[Id]) -> Option<Id> {
        let mut changes = self.edit.changes.iter().rev();
        match changes.find(|change| *change.string == *string) {
            Some(change) => change.after.map(|_| change.id),
            None => self.list.id(string),
        }
    }

    /// The tokens of which this one is a part, the lowest rank first.
    pub(super) fn users(&self, id: Id) -> Vec<Id> {
        let has_part = |shape: Shape| shape.left == id || shape.right == id;
        let token = self.list.get(id);
        let mut users = token.map_or_else(Vec::new, |token| token.users.clone());
        users.extend(self.edit.changes.iter().map(|change| change.id));
        users.retain(|&user| self.shape(user).is_some_and(has_part));
        users.sort_unstable_by_key(|&user| (self.rank(user), user));
        users.dedup();
        users
    }

    fn set_merge(&mut self, key: u64, merge: Merge) {
        self.edit.filter |= bit(key);
        match self.edit.merges.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => entry.1 = merge,
            None => self.edit.merges.push((key, merge)),
        }
    }

    /// The merge of two adjacent tokens.
    pub(super) fn merge_of(&self, left: Id, right: Id) -> Merge {
        let key = pair_key(left, right);
        if self.edit.filter & bit(key) != 0
            && let Some(entry) = self.edit.merges.iter().find(|entry| entry.0 == key)
        {
            return entry.1;
        }
        self.list.merge_of(key)
    }

    /// Change the parts or the rank of a token, or remove it.
    pub(super) fn set(&mut self, id: Id, shape: Option<Shape>) {
        let mut changes = self.edit.changes.iter();
        let index = if let Some(index) = changes.position(|change| change.id == id) {
            index
        } else {
            let token = self.list.token(id);
            self.edit.changes.push(Change {
                id,
                before: token.shape,
                after: token.shape,
                string: token.string.clone(),
                places: token.places.clone(),
                left_len: 0,
            });
            self.edit.changes.len() - 1
        };
        let left_len = shape.map_or(0, |shape| self.len_of(shape.left));
        let change = &mut self.edit.changes[index];
        change.left_len = left_len;
        let old = std::mem::replace(&mut change.after, shape);
        if let Some(old) = old {
            self.set_merge(old.pair_key(), NO_MERGE);
        }
        if let Some(new) = shape {
            self.set_merge(new.pair_key(), new.merge(id));
        }
    }

    /// Add a token; returns its id.
    pub(super) fn add(&mut self, string: Arc<[Id]>, places: Arc<[Place]>, shape: Shape) -> Id {
        let base = self.edit.base;
        let added = self.edit.changes.iter().filter(|change| change.id >= base);
        let id = base + added.count() as Id;
        self.edit.changes.push(Change {
            id,
            string,
            places,
            ..Change::default()
        });
        self.set(id, Some(shape));
        id
    }

    /// A rank in the middle between two neighbours that are taken; None if there is no room.
    fn between(low: Rank, high: Rank) -> Option<Rank> {
        (high - low >= 2).then(|| low + (high - low) / 2)
    }

    /// A free rank right after this one.
    pub(super) fn rank_after(&self, rank: Rank) -> Option<Rank> {
        let ours = self.edit.changes.iter().filter_map(|change| change.after);
        let ours = ours.map(|shape| shape.rank).filter(|&other| other > rank);
        let next = self.list.rank_above(rank).into_iter().chain(ours).min();
        match next {
            Some(next) => Self::between(rank, next),
            None => rank.checked_add(1 << 12),
        }
    }

    /// The highest rank that is taken, without or with the changes.
    pub(super) fn last_rank(&self) -> Rank {
        let ours = self.edit.changes.iter().filter_map(|change| change.after);
        let ours = ours.map(|shape| shape.rank);
        ours.fold(self.list.last_rank(), Rank::max)
    }

    /// A free rank right before this one.
    pub(super) fn rank_before(&self, rank: Rank) -> Option<Rank> {
        let ours = self.edit.changes.iter().filter_map(|change| change.after);
        let ours = ours.map(|shape| shape.rank).filter(|&other| other < rank);
        let previous = ours.fold(self.list.rank_below(rank), Rank::max);
        Self::between(previous, rank)
    }

    /// Whether no token has a rank, neither without nor with the changes.
    pub(super) fn is_free(&self, rank: Rank) -> bool {
        self.edit.is_free(self.list, rank)
    }

    /// The tokens that a string becomes by merges of ranks below `end`, at least two.
    pub(super) fn parts(&self, string: &[Id], end: Rank) -> Vec<Id> {
        let mut parts = string.to_vec();
        while parts.len() > 2 {
            let merges = parts.windows(2).map(|pair| self.merge_of(pair[0], pair[1]));
            let Some((merge, index)) = merges.zip(0..).min() else {
                break;
            };
            if merge >= Merge::from(end) << 32 {
                break;
            }
            parts[index] = merge as Id;
            parts.remove(index + 1);
        }
        parts
    }
}
