//! Branch and bound: nodes with the largest bound first, in batches.
//!
//! All threads work on a batch, with what was known before it, and its results are used in order. So
//! the answer and the number of nodes are the same with any number of threads.

use std::cmp::Reverse;

use super::beam::{MergePath, beam, greedy};
use super::descent::best_bound;
use super::forest::Forest;
use super::frontier::{Frontier, Node, Seen};
use super::solution::{Limit, SearchOptions, SearchProgress, Solution};
use super::text::{Text, boundary_bound};
use crate::error::Result;
use crate::parallel;
use crate::watch::Watch;

/// Steps of the search for prices at the root, and at other nodes.
const STEPS_AT_ROOT: usize = 400;
const STEPS: usize = 120;

/// What expanding a node gave.
#[derive(Default)]
struct Outcome {
    best: MergePath,
    children: Vec<(Node, Box<[u8]>)>,
}

/// The best list of merges for `root`.
pub(super) fn search(
    root: &Text,
    options: &SearchOptions,
    watch: &Watch,
    progress: &SearchProgress,
) -> Result<Solution> {
    let mut search = Search {
        frontier: Frontier::new(options.memory_limit / 2),
        seen: Seen::new(options.memory_limit / 2),
        best: greedy(root, options.num_merges, watch).0,
        nodes: 0,
    };
    let bound = boundary_bound(&root.pairs(), options.num_merges);
    search.frontier.push(Node {
        path: MergePath::default(),
        bound: bound.min(root.most()),
    });
    let limit = loop {
        progress.set(search.best.gain, search.bound());
        let batch = search.frontier.next_batch(search.best.gain);
        if batch.is_empty() {
            break None;
        }
        let is_over = options.node_limit.is_some_and(|most| search.nodes >= most);
        if is_over || watch.is_stopped() {
            for node in batch {
                search.frontier.push(node);
            }
            break Some(if is_over {
                Limit::Nodes
            } else {
                Limit::of(watch)
            });
        }
        let (num_merges, best) = (options.num_merges, search.best.gain);
        let outcomes = parallel::map(options.num_threads, batch.len(), |index| {
            Ok(expand(&batch[index], root, best, num_merges, watch))
        })?;
        search.use_outcomes(batch, outcomes, watch);
        // Most texts are solved at the root. For the others a better list spares many nodes.
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
        merges: search.best.merges,
        nodes: search.nodes,
        limit,
    })
}

struct Search {
    frontier: Frontier,
    seen: Seen,
    best: MergePath,
    nodes: u64,
}

impl Search {
    /// No list gains more than this.
    fn bound(&self) -> u64 {
        self.frontier.bound().max(self.best.gain)
    }

    /// Keep what a batch found. A node without outcome, because of a stop, is open again.
    fn use_outcomes(&mut self, batch: Vec<Node>, outcomes: Vec<Option<Outcome>>, watch: &Watch) {
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
                if child.bound > self.best.gain && self.seen.is_new(shape, child.path.merges.len())
                {
                    self.frontier.push(child);
                }
            }
        }
    }
}

/// Bound a node, and list the nodes below it that may hold something better than `best`; None if the
/// watch stops it.
fn expand(
    node: &Node,
    root: &Text,
    best: u64,
    num_merges: usize,
    watch: &Watch,
) -> Option<Outcome> {
    let MergePath { gain, merges } = &node.path;
    let text = root.after(merges);
    let num_left = num_merges - merges.len();
    let (rest, last_gain) = greedy(&text, num_left, watch);
    let mut outcome = Outcome {
        best: node.path.and(&rest),
        children: Vec::new(),
    };
    let pairs = text.pairs();
    if num_left < 2 || pairs.is_empty() {
        return (!watch.is_stopped()).then_some(outcome);
    }
    let best = best.max(outcome.best.gain);
    let forest = Forest::new(&text, &pairs, num_left, last_gain * 3 / 4);
    let num_steps = if merges.is_empty() {
        STEPS_AT_ROOT
    } else {
        STEPS
    };
    let bound = best_bound(&forest, &text, &rest.merges, best - gain, num_steps, watch);
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
        let path = node.path.then(pair);
        let merged = text.merged(pair.pair);
        let next = merged.pairs();
        let bound = bound.min(path.gain + boundary_bound(&next, num_left - 1));
        if bound > best {
            outcome
                .children
                .push((Node { path, bound }, merged.shape()));
        }
    }
    Some(outcome)
}
