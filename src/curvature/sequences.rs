//! The merge sequences that a curvature speaks of: prefixes, greedy ones and optimal ones.
//!
//! A prefix matters by its tokens alone, so each is made once, in the order of what it saves:
//! κ(μ*)/κ(μ) bounds what prefixes yet to come can give, and whoever asks stops early. Of optimal
//! sequences each is met once up to swaps of neighbours that commute. Formal twin: `formal.exact`.

use rustc_hash::FxHashSet;

use super::trees::{Forest, Merge, Tree, apply, bound_of, pairs_of};
use crate::error::Result;
use crate::watch::Watch;

/// What a sequence of merges makes of the string, and how many merges they are.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) tokens: Vec<Tree>,
    pub(super) num_merges: usize,
}

/// All sequences of at most M merges that replace something, by what they save.
pub(super) struct Prefixes {
    /// The states that save 0, 1, 2, ...
    by_saved: Vec<Vec<State>>,
    num_merges: usize,
    num_expanded: usize,
    seen: FxHashSet<Vec<Tree>>,
}

impl Prefixes {
    pub(super) fn new(tokens: &[Tree], num_merges: usize) -> Self {
        let start = State {
            tokens: tokens.to_vec(),
            num_merges: 0,
        };
        let mut by_saved = vec![Vec::new(); tokens.len().max(1)];
        by_saved[0].push(start);
        Self {
            by_saved,
            num_merges,
            num_expanded: 0,
            seen: FxHashSet::default(),
        }
    }

    /// The states that save exactly so much.
    pub(super) fn saving(
        &mut self,
        saved: usize,
        forest: &mut Forest,
        watch: &Watch,
    ) -> Result<&[State]> {
        while self.num_expanded < saved {
            let states = std::mem::take(&mut self.by_saved[self.num_expanded]);
            for state in &states {
                watch.check()?;
                self.expand(state, forest);
            }
            self.by_saved[self.num_expanded] = states;
            self.num_expanded += 1;
        }
        Ok(&self.by_saved[saved])
    }

    fn expand(&mut self, state: &State, forest: &mut Forest) {
        if state.num_merges == self.num_merges {
            return;
        }
        for ((left, right), count, _) in pairs_of(&state.tokens) {
            let mut tokens = state.tokens.clone();
            apply(forest.merge(left, right), &mut tokens);
            if self.seen.insert(tokens.clone()) {
                self.by_saved[self.num_expanded + count as usize].push(State {
                    tokens,
                    num_merges: state.num_merges + 1,
                });
            }
        }
    }
}

/// What greedy makes of the string after 0, 1, ..., M merges, or fewer where no pair is left.
pub(super) fn greedy_states(
    tokens: &[Tree],
    num_merges: usize,
    forest: &mut Forest,
) -> Vec<Vec<Tree>> {
    let mut states = vec![tokens.to_vec()];
    while states.len() <= num_merges {
        let pairs = pairs_of(&states[states.len() - 1]);
        let largest = pairs.iter().map(|&(_, count, _)| count).max();
        let Some(&((left, right), ..)) = pairs.iter().find(|pair| Some(pair.1) == largest) else {
            break;
        };
        let mut next = states[states.len() - 1].clone();
        apply(forest.merge(left, right), &mut next);
        states.push(next);
    }
    states
}

/// What greedy can make of the string after 0, 1, ..., M merges, one for each way of breaking ties;
/// where no pair is left, the state stays.
pub(super) fn greedy_states_of_all_ties(
    tokens: &[Tree],
    num_merges: usize,
    forest: &mut Forest,
    watch: &Watch,
) -> Result<Vec<FxHashSet<Vec<Tree>>>> {
    let mut steps = vec![FxHashSet::from_iter([tokens.to_vec()])];
    for step in 0..num_merges {
        let mut next = FxHashSet::default();
        for state in &steps[step] {
            watch.check()?;
            let pairs = pairs_of(state);
            let largest = pairs.iter().map(|&(_, count, _)| count).max();
            if largest.is_none() {
                next.insert(state.clone());
            }
            for ((left, right), ..) in pairs.into_iter().filter(|pair| Some(pair.1) == largest) {
                let mut tokens = state.clone();
                apply(forest.merge(left, right), &mut tokens);
                next.insert(tokens);
            }
        }
        steps.push(next);
    }
    Ok(steps)
}

/// The search for the sequences that save exactly the optimum.
pub(super) struct Optima<'a> {
    pub(super) forest: &'a mut Forest,
    pub(super) best: i32,
    pub(super) watch: &'a Watch,
    /// Is it told of a sequence, and is it done?
    pub(super) visit: &'a mut dyn FnMut(&mut Forest, &[Merge]) -> Result<bool>,
}

impl Optima<'_> {
    /// Visit every optimal sequence of at most `left` merges, in normal form: a merge never follows
    /// a larger one with which it, and all in between, commute.
    pub(super) fn all(
        &mut self,
        tokens: &[Tree],
        left: usize,
        saved: i32,
        path: &mut Vec<Merge>,
    ) -> Result<bool> {
        self.watch.check()?;
        if saved == self.best {
            return (self.visit)(self.forest, path);
        }
        let pairs = pairs_of(tokens);
        if left == 0 || saved + bound_of(&pairs, left) < self.best {
            return Ok(false);
        }
        for ((first, second), count, _) in pairs {
            let merge = self.forest.merge(first, second);
            if left == 1 && saved + count < self.best || !is_in_order(path, merge) {
                continue;
            }
            let mut tokens = tokens.to_vec();
            apply(merge, &mut tokens);
            path.push(merge);
            let is_done = self.all(&tokens, left - 1, saved + count, path)?;
            path.pop();
            if is_done {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Visit the optimal sequence that the authors' script finds: the first that is generated by a
    /// depth-first search which goes on from the last child.
    pub(super) fn of_the_authors(
        &mut self,
        tokens: &[Tree],
        left: usize,
        saved: i32,
        path: &mut Vec<Merge>,
    ) -> Result<bool> {
        self.watch.check()?;
        if path.is_empty() && saved == self.best {
            return (self.visit)(self.forest, path);
        }
        let pairs = pairs_of(tokens);
        if left == 0 || saved + bound_of(&pairs, left) < self.best {
            return Ok(false);
        }
        if let Some(&((first, second), ..)) = pairs.iter().find(|pair| saved + pair.1 == self.best)
        {
            path.push(self.forest.merge(first, second));
            let is_done = (self.visit)(self.forest, path);
            path.pop();
            return is_done;
        }
        for &((first, second), count, _) in pairs.iter().rev() {
            let merge = self.forest.merge(first, second);
            let mut tokens = tokens.to_vec();
            apply(merge, &mut tokens);
            path.push(merge);
            let is_done = self.of_the_authors(&tokens, left - 1, saved + count, path)?;
            path.pop();
            if is_done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_in_order(path: &[Merge], merge: Merge) -> bool {
    for &earlier in path.iter().rev() {
        if !earlier.commutes(merge) {
            return true;
        }
        if earlier.tree > merge.tree {
            return false;
        }
    }
    true
}
