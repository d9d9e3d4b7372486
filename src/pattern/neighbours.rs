//! What neighbouring characters say about the words of an automaton, without running it.
//!
//! Whether a word ends between two characters mostly depends on few characters before them. All of
//! this is found by following the automaton from the states in which it can be:
//!
//! - *Cuts*, for all characters: a word ends between two characters whatever surrounds them. The
//!   words before are the same if the text ends there.
//! - *Verdicts*, for ASCII: whether a word ends between two characters, by these two and the one
//!   before them. Where the automaton's answer depends on more, there is no verdict.
//!
//! No expression looks behind: the text before a word influences neither that word nor later ones.
//! So verdicts hold from the start of any word up to the first place without one.

use super::alphabet::Symbol;
use super::automaton::{Automaton, DEAD};

/// Whether a word ends between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ends,
    GoesOn,
    /// It depends.
    Open,
    /// Such characters do not come here.
    Never,
}

impl Verdict {
    /// What holds if it is one of both.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, verdict) | (verdict, Self::Never) => verdict,
            (one, other) if one == other => one,
            _ => Self::Open,
        }
    }
}

/// What is known of the words of an automaton.
pub(super) struct Neighbours<'a> {
    automaton: &'a Automaton,
    /// For each state, whether there may be no further match.
    may_fail: Vec<bool>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(automaton: &'a Automaton) -> Self {
        let mut may_fail = vec![false; automaton.num_states()];
        loop {
            let mut changed = false;
            for state in 0..may_fail.len() {
                let fails = automaton
                    .all_steps(state)
                    .any(|step| !step.matches && (step.state == DEAD || may_fail[step.state]));
                changed |= fails && !std::mem::replace(&mut may_fail[state], fails);
            }
            if !changed {
                break;
            }
        }
        Self {
            automaton,
            may_fail,
        }
    }

    /// Whether a match that is not empty begins with each character of every text.
    pub(super) fn is_complete(&self) -> bool {
        let mut symbols = self.automaton.symbols();
        symbols.all(|symbol| !self.may_fail[self.first(symbol)])
    }

    /// Whether there may be no further match after a state.
    pub(super) fn may_fail(&self, state: usize) -> bool {
        self.may_fail[state]
    }

    /// Where a text can be cut: for each symbol, whether it can be before each other. Of a complete
    /// automaton only.
    pub(super) fn cuts(&self) -> Vec<Vec<bool>> {
        let automaton = self.automaton;
        let is_cut = |a, b| {
            (0..automaton.num_states()).all(|state| {
                let between = automaton.step(state, a).state;
                let step = automaton.step(between, b);
                step.state == DEAD && step.matches == automaton.step_at_end(between).matches
            })
        };
        automaton
            .symbols()
            .map(|a| automaton.symbols().map(|b| is_cut(a, b)).collect())
            .collect()
    }

    /// The state after the first character of a word.
    pub(super) fn first(&self, symbol: Symbol) -> usize {
        self.automaton.step(self.automaton.start(), symbol).state
    }

    /// Whether a word that has come to a state ends before a character.
    pub(super) fn verdict(&self, state: usize, next: Symbol) -> Verdict {
        let step = self.automaton.step(state, next);
        if step.matches && step.state == DEAD {
            Verdict::Ends
        } else if !self.may_fail[step.state] {
            Verdict::GoesOn
        } else {
            Verdict::Open
        }
    }

    /// Whether a word that begins with the first character ends before the second.
    pub(super) fn at_start(&self, first: Symbol, second: Symbol) -> Verdict {
        self.verdict(self.first(first), second)
    }

    /// The verdicts on the place between the second and the third of three characters, for all
    /// triples of these symbols, each with how often it occurs. See the head of this file.
    pub(super) fn triples(&self, symbols: &[Symbol], weights: &[f64]) -> Triples {
        let mut triples = Triples {
            verdicts: vec![Verdict::Never; symbols.len().pow(3)],
        };
        // A verdict that is open once stays so. Then fewer states are reached, as where it is open
        // the automaton runs: so the others are found anew, until there is no further open one.
        while self.has_more_open(symbols, weights, &mut triples) {}
        triples
    }

    fn has_more_open(&self, symbols: &[Symbol], weights: &[f64], triples: &mut Triples) -> bool {
        let len = symbols.len();
        for verdict in &mut triples.verdicts {
            if *verdict != Verdict::Open {
                *verdict = Verdict::Never;
            }
        }
        // The states in which the automaton can be after each two characters.
        let mut reached = vec![Vec::new(); len * len];
        for (z, &first) in symbols.iter().enumerate() {
            for (a, &second) in symbols.iter().enumerate() {
                let (state, verdict) = (self.first(first), self.at_start(first, second));
                self.go_on(state, verdict, second, None, &mut reached[z * len + a]);
            }
        }
        let mut has_more = false;
        loop {
            let mut changed = false;
            for at in 0..triples.verdicts.len() {
                let (pair, b) = (at / len, at % len);
                if triples.verdicts[at] == Verdict::Open || reached[pair].is_empty() {
                    continue;
                }
                let verdicts = reached[pair]
                    .iter()
                    .map(|r| self.verdict(r.state, symbols[b]));
                let found = verdicts.fold(Verdict::Never, Verdict::or);
                if found == Verdict::Open {
                    has_more = true;
                    self.give_up(&reached[pair], at, symbols, weights, triples);
                    continue;
                }
                changed |= found != triples.verdicts[at];
                triples.verdicts[at] = found;
                let next = pair % len * len + b;
                for state in reached[pair].iter().map(|r| r.state).collect::<Vec<_>>() {
                    let from = Some(pair / len);
                    changed |= self.go_on(state, found, symbols[b], from, &mut reached[next]);
                }
            }
            if has_more || !changed {
                return has_more;
            }
        }
    }

    /// Where the states that are reached differ in their verdicts, give up one verdict, the rarest: on
    /// this triple, or on those by which the states are reached that are in the way of another.
    fn give_up(
        &self,
        reached: &[Reached],
        at: usize,
        symbols: &[Symbol],
        weights: &[f64],
        triples: &mut Triples,
    ) {
        let len = symbols.len();
        let (z, a, b) = (at / len / len, at / len % len, at % len);
        let (mut cost, mut given_up) = (weights[z] * weights[a] * weights[b], vec![at]);
        for kept in [Verdict::Ends, Verdict::GoesOn] {
            let in_the_way = |r: &&Reached| self.verdict(r.state, symbols[b]) != kept;
            let in_the_way: Vec<&Reached> = reached.iter().filter(in_the_way).collect();
            if in_the_way.len() == reached.len() || in_the_way.iter().any(|r| r.at_start) {
                continue;
            }
            let from = in_the_way.iter().flat_map(|r| &r.from);
            let others = from.clone().map(|y| weights[*y]).sum::<f64>() * weights[z] * weights[a];
            if others < cost {
                cost = others;
                given_up = from.map(|y| (y * len + z) * len + a).collect();
            }
        }
        for at in given_up {
            triples.verdicts[at] = Verdict::Open;
        }
    }

    /// Add the state after a character to those in which the automaton can be. Where the verdict is
    /// open, it runs up to the end of the word, and verdicts begin anew.
    fn go_on(
        &self,
        state: usize,
        verdict: Verdict,
        next: Symbol,
        from: Option<usize>,
        reached: &mut Vec<Reached>,
    ) -> bool {
        let state = match verdict {
            Verdict::Ends => self.first(next),
            Verdict::GoesOn => self.automaton.step(state, next).state,
            Verdict::Open | Verdict::Never => return false,
        };
        let known = reached.iter().position(|reached| reached.state == state);
        let index = known.unwrap_or_else(|| {
            reached.push(Reached {
                state,
                at_start: false,
                from: Vec::new(),
            });
            reached.len() - 1
        });
        match from {
            None => reached[index].at_start = true,
            Some(from) if reached[index].from.contains(&from) => {}
            Some(from) => reached[index].from.push(from),
        }
        known.is_none()
    }
}

/// A state in which the automaton can be after two characters.
#[derive(Clone)]
struct Reached {
    state: usize,
    /// Whether it is so where a word begins with the first of the two.
    at_start: bool,
    /// The characters before these two after which it is so.
    from: Vec<usize>,
}

/// A verdict for each three characters.
pub(super) struct Triples {
    verdicts: Vec<Verdict>,
}

impl Triples {
    /// In the order of the first, the second and the third.
    pub(super) fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }
}
