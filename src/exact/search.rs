//! Branch and bound: nodes with the largest bound first, in batches.
//!
//! A batch is worked on by all threads, with what was known before it, and its results are taken in
//! order. So the answer and the number of nodes are the same with any number of threads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::ascent::best_bound;
use super::beam::{Found, beam, greedy};
use super::forest::Forest;
use super::text::{Pair, Text, boundary_bound};
use super::{Limit, Options, Solution, Standing};
use crate::error::Result;
use crate::watch::Watch;
use crate::parallel;

/// How many nodes are worked on before what they found is taken in.
const BATCH: usize = 16;

/// Steps of the ascent at the root, and at other nodes.
const STEPS_AT_ROOT: usize = 400;
const STEPS: usize = 120;

/// What an entry of a map costs in bytes, beside what it holds: about this.
const OVERHEAD: usize = 100;

/// A path of merges that may lead to something better.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    found: Found,
    /// No path from here gains more in all.
    bound: u64,
}

/// What working on a node gave.
#[derive(Default)]
struct Outcome {
    best: Found,
    children: Vec<(Node, Box<[u8]>)>,
}

/// The best list of merges for `root`.
pub(super) fn search(
    root: &Text,
    options: &Options,
    watch: &Watch,
    standing: &Standing,
) -> Result<Solution> {
    let mut search = Search {
        frontier: Frontier::new(options.memory_limit / 2),
        seen: Seen::new(options.memory_limit / 2),
        best: greedy(root, options.num_merges, watch).0,
        nodes: 0,
    };
    let bound = boundary_bound(&root.pairs(), options.num_merges);
    search.frontier.push(Node {
        found: Found::default(),
        bound: bound.min(root.most()),
    });
    let limit = loop {
        standing.set(search.best.gain, search.bound());
        let batch = search.frontier.next_batch(search.best.gain);
        if batch.is_empty() {
            break None;
        }
        let is_over = options.node_limit.is_some_and(|most| search.nodes >= most);
        if is_over || watch.is_stopped() {
            search.frontier.extend(batch);
            break Some(if is_over {
                Limit::Nodes
            } else {
                Limit::of(watch)
            });
        }
        let outcomes = work_on(&batch, root, search.best.gain, options, watch)?;
        search.take_in(batch, outcomes, watch);
        // Most texts are done at the root. For the others a better list spares many nodes.
        if search.nodes == 1 && search.bound() > search.best.gain {
            let found = beam(root, options.num_merges, watch);
            if found.gain > search.best.gain {
                search.best = found;
            }
        }
    };
    Ok(Solution {
        bound: search.bound(),
        utility: search.best.gain,
        merges: search.best.path,
        nodes: search.nodes,
        limit,
    })
}

struct Search {
    frontier: Frontier,
    seen: Seen,
    best: Found,
    nodes: u64,
}

impl Search {
    /// No list gains more than this.
    fn bound(&self) -> u64 {
        self.frontier.bound().max(self.best.gain)
    }

    /// Take in what a batch found. A node that was left because of a stop is open again.
    fn take_in(&mut self, batch: Vec<Node>, outcomes: Vec<Option<Outcome>>, watch: &Watch) {
        for (node, outcome) in batch.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else {
                self.frontier.push(node);
                continue;
            };
            self.nodes += 1;
            watch.advance(1);
            if outcome.best.gain > self.best.gain {
                self.best = outcome.best;
            }
            for (child, shape) in outcome.children {
                if child.bound > self.best.gain && self.seen.is_new(shape, child.found.path.len()) {
                    self.frontier.push(child);
                }
            }
        }
    }
}

/// Work on each node of a batch; None where a stop came first.
fn work_on(
    batch: &[Node],
    root: &Text,
    best: u64,
    options: &Options,
    watch: &Watch,
) -> Result<Vec<Option<Outcome>>> {
    parallel::map(options.num_threads, batch.len(), |index| {
        Ok(expand(&batch[index], root, best, options.num_merges, watch))
    })
}

/// Bound a node, and list the nodes below it that may hold something better than `best`.
fn expand(
    node: &Node,
    root: &Text,
    best: u64,
    num_merges: usize,
    watch: &Watch,
) -> Option<Outcome> {
    let Found { gain, path } = &node.found;
    let text = root.after(path);
    let num_left = num_merges - path.len();
    let (rest, last_gain) = greedy(&text, num_left, watch);
    let mut outcome = Outcome {
        best: node.found.and(&rest),
        children: Vec::new(),
    };
    let pairs = text.pairs();
    if num_left < 2 || pairs.is_empty() {
        return (!watch.is_stopped()).then_some(outcome);
    }
    let best = best.max(outcome.best.gain);
    let forest = Forest::new(&text, &pairs, num_left, last_gain * 3 / 4);
    let steps = if path.is_empty() {
        STEPS_AT_ROOT
    } else {
        STEPS
    };
    let bound = best_bound(&forest, &text, &rest.path, best - gain, steps, watch);
    if watch.is_stopped() {
        return None;
    }
    if gain + bound.gain() <= best {
        return Some(outcome);
    }
    let gains = forest.gains_after(&text, &pairs, &bound);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&index| Reverse(pairs[index].gain));
    for index in order {
        let bound = node.bound.min(gain + gains[index]);
        if bound <= best {
            continue;
        }
        if watch.is_stopped() {
            return None;
        }
        let pair = &pairs[index];
        let found = node.found.and(&Found {
            gain: pair.gain,
            path: vec![pair.pair],
        });
        let merged = text.merged(pair.pair);
        let next = merged.pairs();
        let bound = bound.min(found.gain + boundary_bound(&next, num_left - 1));
        if bound > best {
            outcome
                .children
                .push((Node { found, bound }, merged.shape()));
        }
    }
    Some(outcome)
}

/// The states that were reached, each with the fewest merges that reached it.
struct Seen {
    shapes: FxHashMap<Box<[u8]>, usize>,
    bytes_left: usize,
}

impl Seen {
    fn new(bytes_left: usize) -> Self {
        Self {
            shapes: FxHashMap::default(),
            bytes_left,
        }
    }

    /// Was this state not yet reached with as few merges? Forgets nothing, but once memory is used
    /// up learns nothing new.
    fn is_new(&mut self, shape: Box<[u8]>, num_merges: usize) -> bool {
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
struct Frontier {
    nodes: BTreeMap<(u64, u64, Reverse<u64>), Node>,
    /// How many nodes have each bound.
    bounds: BTreeMap<u64, usize>,
    num_pushed: u64,
    bytes_left: usize,
    is_full: bool,
}

impl Frontier {
    fn new(bytes_left: usize) -> Self {
        Self {
            nodes: BTreeMap::new(),
            bounds: BTreeMap::new(),
            num_pushed: 0,
            bytes_left,
            is_full: false,
        }
    }

    /// No open node leads to more than this.
    fn bound(&self) -> u64 {
        self.bounds.last_key_value().map_or(0, |(&bound, _)| bound)
    }

    fn extend(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            self.push(node);
        }
    }

    fn push(&mut self, node: Node) {
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
        let depth = node.found.path.len() as u64;
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
    fn next_batch(&mut self, best: u64) -> Vec<Node> {
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
        OVERHEAD + self.found.path.len() * size_of::<Pair>()
    }
}
