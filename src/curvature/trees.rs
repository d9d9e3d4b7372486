//! Token sequences of trees: two merges are the same exactly if they join the same parts.
//!
//! An optimal sequence is applied behind other merges, so a token must be known by its tree, not by
//! its place in one sequence. Formal twin: `formal.apply`, `formal.order`.

use rustc_hash::FxHashMap;

/// A tree: a letter, or what a pair of trees makes.
pub(super) type Tree = u32;

/// A merge and the tree that it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) left: Tree,
    pub(super) right: Tree,
    pub(super) tree: Tree,
}

impl Merge {
    /// Do the two give the same in either order, on every sequence of tokens?
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
    pub(super) fn merge(&mut self, left: Tree, right: Tree) -> Merge {
        let next = &mut self.next;
        let tree = *self.trees.entry((left, right)).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        Merge { left, right, tree }
    }
}

/// The pairs of neighbours and how often each can be replaced, in the order of first occurrence;
/// and how often each occurs.
pub(super) fn pairs_of(tokens: &[Tree]) -> Vec<((Tree, Tree), i32, i32)> {
    let mut pairs: Vec<((Tree, Tree), i32, i32)> = Vec::with_capacity(tokens.len());
    let mut last_counted = None;
    for window in tokens.windows(2) {
        let pair = (window[0], window[1]);
        let index = pairs.iter().position(|&(known, ..)| known == pair);
        let index = index.unwrap_or_else(|| {
            pairs.push((pair, 0, 0));
            pairs.len() - 1
        });
        pairs[index].2 += 1;
        if last_counted == Some(pair) {
            last_counted = None; // the middle of aaa
        } else {
            pairs[index].1 += 1;
            last_counted = Some(pair);
        }
    }
    pairs
}

/// The bigram bound of so many merges, from the pairs of a sequence.
pub(super) fn bound_of(pairs: &[((Tree, Tree), i32, i32)], num_merges: usize) -> i32 {
    let largest = pairs.iter().map(|&(_, count, _)| count).max().unwrap_or(0);
    let mut occurrences: Vec<i32> = pairs.iter().map(|&(.., occurrences)| occurrences).collect();
    occurrences.sort_unstable_by(|one, other| other.cmp(one));
    let sum: i32 = occurrences.iter().take(num_merges).sum();
    sum.min(largest * num_merges as i32)
}

/// Replace every occurrence of a merge, from left to right.
pub(super) fn apply(merge: Merge, tokens: &mut Vec<Tree>) {
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

/// How much a sequence of merges saves on these tokens; they are copied into `scratch`.
pub(super) fn gain(merges: &[Merge], tokens: &[Tree], scratch: &mut Vec<Tree>) -> i32 {
    scratch.clear();
    scratch.extend_from_slice(tokens);
    for &merge in merges {
        apply(merge, scratch);
    }
    (tokens.len() - scratch.len()) as i32
}
