//! Whether an automaton finds all words of a text in time in proportion to the text.
//!
//! What a run of the automaton reads beyond its match is read again, by the runs for the next words.
//! If no two runs that are beyond their matches are ever in the same state at the same place, then no
//! character is read more often than there are states, and once more. Whether that is so is found by
//! following all pairs of runs that some text may have.

use rustc_hash::FxHashSet;

use super::alphabet::Symbol;
use super::automaton::{Automaton, DEAD};
use super::neighbours::Neighbours;

/// How many pairs are followed. Beyond that many the answer is no.
const MOST_PAIRS: usize = 1 << 15;

/// Two runs at the same place of a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    /// The state of a run that is beyond its match.
    beyond: usize,
    /// The state of another, which began where that match ends, or later.
    other: Option<usize>,
    other_is_beyond: bool,
}

pub(super) fn is_linear(automaton: &Automaton, neighbours: &Neighbours<'_>) -> bool {
    let search = Search {
        automaton,
        neighbours,
    };
    let mut seen = FxHashSet::default();
    let mut pairs = search.first_pairs();
    while let Some(pair) = pairs.pop() {
        if seen.insert(pair) {
            if pair.other_is_beyond && pair.other == Some(pair.beyond) || seen.len() > MOST_PAIRS {
                return false;
            }
            search.go_on(pair, &mut pairs);
        }
    }
    true
}

struct Search<'a> {
    automaton: &'a Automaton,
    neighbours: &'a Neighbours<'a>,
}

impl Search<'_> {
    /// The pairs where one run has just come beyond its match. A run without a match is so at once.
    fn first_pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for symbol in self.automaton.symbols() {
            for state in 0..self.automaton.num_states() {
                let step = self.automaton.step(state, symbol);
                if step.matches && self.may_be_beyond(step.state) {
                    self.begin(step.state, symbol, &mut pairs);
                }
            }
            let first = self.neighbours.first(symbol);
            if self.may_be_beyond(first) {
                pairs.push(Pair {
                    beyond: first,
                    other: None,
                    other_is_beyond: false,
                });
            }
        }
        pairs
    }

    /// Whether a run may go on from a state and still find no further match.
    fn may_be_beyond(&self, state: usize) -> bool {
        state != DEAD && self.neighbours.may_fail(state)
    }

    /// Another run begins with the character after which one run is in a state beyond its match, or
    /// with a later one.
    fn begin(&self, beyond: usize, symbol: Symbol, pairs: &mut Vec<Pair>) {
        let first = self.neighbours.first(symbol);
        pairs.push(Pair {
            beyond,
            other: None,
            other_is_beyond: false,
        });
        self.add(beyond, first, false, pairs);
        self.add(beyond, first, true, pairs);
    }

    /// The pairs after one more character, by which the first run comes to no further match.
    fn go_on(&self, pair: Pair, pairs: &mut Vec<Pair>) {
        for symbol in self.automaton.symbols() {
            let step = self.automaton.step(pair.beyond, symbol);
            if step.matches || !self.may_be_beyond(step.state) {
                continue;
            }
            let Some(other) = pair.other else {
                self.begin(step.state, symbol, pairs);
                continue;
            };
            let other = self.automaton.step(other, symbol);
            // Any match may be the last.
            if !pair.other_is_beyond {
                self.add(step.state, other.state, false, pairs);
            }
            if other.matches != pair.other_is_beyond {
                self.add(step.state, other.state, true, pairs);
            }
        }
    }

    fn add(&self, beyond: usize, other: usize, other_is_beyond: bool, pairs: &mut Vec<Pair>) {
        if other != DEAD && (!other_is_beyond || self.may_be_beyond(other)) {
            pairs.push(Pair {
                beyond,
                other: Some(other),
                other_is_beyond,
            });
        }
    }
}
