//! The merge sequences that a curvature speaks of: prefixes, greedy ones and optimal ones.
//!
//! Only the tokens of a prefix matter, so each state is made once, in the order of what it saves:
//! κ(μ*)/κ(μ) bounds the values of later prefixes, so that the caller can stop early. Optimal
//! sequences that differ by swaps of neighbours which commute are met once. An optimal sequence is
//! applied behind other merges, so a token is identified by its tree, not by its place in one sequence:
//! two merges are the same exactly if they join the same parts. Formal twin: `formal.exact`,
//! `formal.apply`, `formal.order`.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::watch::Watch;

/// The number of a tree: a letter, or a pair of trees.
pub(super) type Tree = u32;

/// A merge and the tree that it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) left: Tree,
    pub(super) right: Tree,
    pub(super) tree: Tree,
}

impl Merge {
    /// Whether the two give the same in either order, on every sequence of tokens.
    pub(super) fn commutes(self, other: Self) -> bool {
        let is_part = |part: Tree, whole: Self| part == whole.left || part == whole.right;
        self == other
            || !(is_part(self.tree, other)
                || is_part(other.tree, self)
                || self.right == other.left
                || self.left == other.right)
    }
}

/// All trees that were made of the letters of one string.
pub(super) struct Forest {
    next: Tree,
    trees: FxHashMap<(Tree, Tree), Tree>,
}

impl Forest {
    /// The letters are the trees `0..num_letters`.
    pub(super) fn new(num_letters: usize) -> Self {
        Self {
            next: num_letters as Tree,
            trees: FxHashMap::default(),
        }
    }

    /// The merge of two trees.
    pub(super) fn merge(&mut self, (left, right): (Tree, Tree)) -> Merge {
        let next = &mut self.next;
        let tree = *self.trees.entry((left, right)).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        Merge { left, right, tree }
    }
}

/// A pair of neighbours in one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreePair {
    pub(super) trees: (Tree, Tree),
    /// The number of times that it can be replaced.
    pub(super) count: i32,
    /// The number of times that it occurs, overlaps included.
    occurrences: i32,
}

/// The pairs of neighbours, in the order of first occurrence. The sequences are so short that a
/// search through all pairs is faster than a hash table.
pub(super) fn pairs_of(tokens: &[Tree]) -> Vec<TreePair> {
    let mut pairs: Vec<TreePair> = Vec::with_capacity(tokens.len());
    let mut last_counted = None;
    for window in tokens.windows(2) {
        let trees = (window[0], window[1]);
        let index = pairs.iter().position(|known| known.trees == trees);
        let index = index.unwrap_or_else(|| {
            pairs.push(TreePair {
                trees,
                count: 0,
                occurrences: 0,
            });
            pairs.len() - 1
        });
        pairs[index].occurrences += 1;
        if last_counted == Some(trees) {
            last_counted = None; // the middle of aaa
        } else {
            pairs[index].count += 1;
            last_counted = Some(trees);
        }
    }
    pairs
}

/// The count of the most frequent pair, if there is any.
pub(super) fn largest_count(pairs: &[TreePair]) -> Option<i32> {
    pairs.iter().map(|pair| pair.count).max()
}

/// The bigram bound: the most that `num_merges` merges save, from the pairs of a sequence.
pub(super) fn bound_of(pairs: &[TreePair], num_merges: usize) -> i32 {
    let mut occurrences: Vec<i32> = pairs.iter().map(|pair| pair.occurrences).collect();
    occurrences.sort_unstable_by(|one, other| other.cmp(one));
    let sum: i32 = occurrences.iter().take(num_merges).sum();
    sum.min(largest_count(pairs).unwrap_or(0) * num_merges as i32)
}

/// The tokens after a merge.
pub(super) fn merged(merge: Merge, tokens: &[Tree]) -> Vec<Tree> {
    let mut tokens = tokens.to_vec();
    apply(merge, &mut tokens);
    tokens
}

/// Replace every occurrence of a merge, from left to right.
fn apply(merge: Merge, tokens: &mut Vec<Tree>) {
    let (mut from, mut to) = (0, 0);
    while from < tokens.len() {
        let is_pair = tokens[from] == merge.left
            && from + 1 < tokens.len()
            && tokens[from + 1] == merge.right;
        tokens[to] = if is_pair { merge.tree } else { tokens[from] };
        from += 1 + usize::from(is_pair);
        to += 1;
    }
    tokens.truncate(to);
}

/// What a sequence of merges saves on these tokens, which are copied into `scratch`.
pub(super) fn gain(merges: &[Merge], tokens: &[Tree], scratch: &mut Vec<Tree>) -> i32 {
    scratch.clear();
    scratch.extend_from_slice(tokens);
    for &merge in merges {
        apply(merge, scratch);
    }
    (tokens.len() - scratch.len()) as i32
}

/// The tokens after a sequence of merges, and the number of merges.
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

    /// The states that save exactly `saved`.
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
        for pair in pairs_of(&state.tokens) {
            let tokens = merged(forest.merge(pair.trees), &state.tokens);
            if self.seen.insert(tokens.clone()) {
                self.by_saved[self.num_expanded + pair.count as usize].push(State {
                    tokens,
                    num_merges: state.num_merges + 1,
                });
            }
        }
    }
}

/// The tokens of greedy after 0, 1, ..., M merges, or fewer where no pair is left.
pub(super) fn greedy_states(
    tokens: &[Tree],
    num_merges: usize,
    forest: &mut Forest,
) -> Vec<Vec<Tree>> {
    let mut states = vec![tokens.to_vec()];
    while states.len() <= num_merges {
        let tokens = &states[states.len() - 1];
        let pairs = pairs_of(tokens);
        let largest = largest_count(&pairs);
        let Some(pair) = pairs.iter().find(|pair| Some(pair.count) == largest) else {
            break;
        };
        states.push(merged(forest.merge(pair.trees), tokens));
    }
    states
}

/// The tokens of greedy after 0, 1, ..., M merges, for every way of breaking ties; where no pair is
/// left, the tokens stay the same.
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
            let largest = largest_count(&pairs);
            if largest.is_none() {
                next.insert(state.clone());
            }
            for pair in pairs.iter().filter(|pair| Some(pair.count) == largest) {
                next.insert(merged(forest.merge(pair.trees), state));
            }
        }
        steps.push(next);
    }
    Ok(steps)
}

/// Which optimal sequences are visited, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Every one, in normal form: a merge never follows a larger one with which it, and all in
    /// between, commute.
    NormalForm,
    /// First the one that the authors' script finds: the first that is generated by a depth-first
    /// search which goes on from the last child.
    Authors,
}

/// The search for the sequences that save exactly the optimum.
pub(super) struct Optima<'a> {
    pub(super) forest: &'a mut Forest,
    pub(super) order: Order,
    pub(super) optimum: i32,
    pub(super) watch: &'a Watch,
    /// Called with each sequence; the search ends when it returns true.
    pub(super) visit: &'a mut dyn FnMut(&mut Forest, &[Merge]) -> Result<bool>,
}

impl Optima<'_> {
    /// Visit the optimal sequences that begin with `path`, which saves `saved`; `left` merges may
    /// follow. Returns whether the search is over.
    pub(super) fn search(
        &mut self,
        tokens: &[Tree],
        left: usize,
        saved: i32,
        path: &mut Vec<Merge>,
    ) -> Result<bool> {
        self.watch.check()?;
        if saved == self.optimum {
            return (self.visit)(self.forest, path);
        }
        let mut pairs = pairs_of(tokens);
        if left == 0 || saved + bound_of(&pairs, left) < self.optimum {
            return Ok(false);
        }
        if self.order == Order::Authors {
            let is_last = |pair: &TreePair| saved + pair.count == self.optimum;
            match pairs.iter().copied().find(is_last) {
                Some(pair) => pairs = vec![pair],
                None => pairs.reverse(),
            }
        }
        for TreePair { trees, count, .. } in pairs {
            let merge = self.forest.merge(trees);
            let is_in_order = self.order == Order::Authors || is_in_order(path, merge);
            if left == 1 && saved + count < self.optimum || !is_in_order {
                continue;
            }
            path.push(merge);
            let is_over = self.search(&merged(merge, tokens), left - 1, saved + count, path)?;
            path.pop();
            if is_over {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a path in normal form stays so with one more merge.
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
