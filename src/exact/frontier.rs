//! The open nodes of branch and bound, and the states that were reached.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::beam::MergePath;
use super::text::Pair;

/// The number of nodes that are expanded before what they gave is used.
const BATCH: usize = 16;

/// About how many bytes an entry of a map takes beside what it holds.
const OVERHEAD: usize = 100;

/// A path of merges that may lead to something better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) path: MergePath,
    /// No path from here gains more in all.
    pub(super) bound: u64,
}

/// The states that were reached, each with the fewest merges that reached it.
pub(super) struct Seen {
    shapes: FxHashMap<Box<[u8]>, usize>,
    bytes_left: usize,
}

impl Seen {
    pub(super) fn new(bytes_left: usize) -> Self {
        Self {
            shapes: FxHashMap::default(),
            bytes_left,
        }
    }

    /// Whether this state has not been reached with as few merges. Once memory is used up, states are
    /// no longer added.
    pub(super) fn is_new(&mut self, shape: Box<[u8]>, num_merges: usize) -> bool {
        if let Some(fewest) = self.shapes.get_mut(&shape) {
            let is_fewer = num_merges < *fewest;
            *fewest = num_merges.min(*fewest);
            return is_fewer;
        }
        let bytes = shape.len() + OVERHEAD;
        if bytes <= self.bytes_left {
            self.bytes_left -= bytes;
            self.shapes.insert(shape, num_merges);
        }
        true
    }
}

/// The open nodes.
///
/// The largest bound comes first, so that the bound of all falls as fast as it can, and among equals
/// the longest path. Once memory is used up, the longest path comes first, which needs little more.
#[derive(Default)]
pub(super) struct Frontier {
    nodes: BTreeMap<(u64, u64, Reverse<u64>), Node>,
    /// The number of nodes with each bound.
    bounds: BTreeMap<u64, usize>,
    num_pushed: u64,
    bytes_left: usize,
    is_full: bool,
}

impl Frontier {
    pub(super) fn new(bytes_left: usize) -> Self {
        Self {
            bytes_left,
            ..Self::default()
        }
    }

    /// No open node leads to more than this.
    pub(super) fn bound(&self) -> u64 {
        self.bounds.last_key_value().map_or(0, |(&bound, _)| bound)
    }

    pub(super) fn push(&mut self, node: Node) {
        match self.bytes_left.checked_sub(node.num_bytes()) {
            Some(bytes_left) => self.bytes_left = bytes_left,
            None if !self.is_full => {
                self.is_full = true;
                for (_, node) in std::mem::take(&mut self.nodes) {
                    self.insert(node);
                }
            }
            None => {}
        }
        *self.bounds.entry(node.bound).or_default() += 1;
        self.insert(node);
    }

    fn insert(&mut self, node: Node) {
        let depth = node.path.merges.len() as u64;
        self.num_pushed += 1;
        let (first, second) = if self.is_full {
            (depth, node.bound)
        } else {
            (node.bound, depth)
        };
        let key = (first, second, Reverse(self.num_pushed));
        self.nodes.insert(key, node);
    }

    /// The next nodes that may lead to more than `best`.
    pub(super) fn next_batch(&mut self, best: u64) -> Vec<Node> {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some((_, node)) = self.nodes.pop_last()
        {
            self.bytes_left += if self.is_full { 0 } else { node.num_bytes() };
            if let Some(open) = self.bounds.get_mut(&node.bound) {
                *open -= 1;
                if *open == 0 {
                    self.bounds.remove(&node.bound);
                }
            }
            if node.bound > best {
                batch.push(node);
            }
        }
        batch
    }
}

impl Node {
    fn num_bytes(&self) -> usize {
        OVERHEAD + self.path.merges.len() * size_of::<Pair>()
    }
}
