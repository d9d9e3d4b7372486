//! Token sequences of trees: two merges are the same exactly if they join the same parts.
//!
//! An optimal sequence is applied behind other merges, so a token is identified by its tree, not by
//! its place in one sequence. Formal twin: `formal.apply`, `formal.order`.

use rustc_hash::FxHashMap;

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
