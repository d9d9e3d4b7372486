//! Regular expressions as programs that many threads run side by side, in order of preference.
//!
//! A thread waits at an instruction. Of all threads that wait, the first is what a backtracking
//! engine would try first; when a thread has matched, those behind it are given up. So the last
//! match that a run sees is the match of the expression.

use super::alphabet::Alphabet;
use super::class::Ranges;
use super::syntax::Node;

type Place = usize;

#[derive(Debug, Clone, Copy)]
enum Instruction {
    /// Read a character of a set, then go on there.
    Read(usize, Place),
    /// Go on there if what follows is a character of the set, or the end where that is allowed.
    Ahead(usize, bool, Place),
    /// Go on at the first; if that fails, at the second.
    Split(Place, Place),
    Match,
}

/// What follows at a place of a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    /// A character with this symbol.
    Symbol(usize),
    End,
}

/// A program for an expression.
#[derive(Debug, Default)]
pub(super) struct Program {
    instructions: Vec<Instruction>,
    sets: Vec<Ranges>,
    /// For each set, whether it holds each symbol.
    holds: Vec<Vec<bool>>,
    start: Place,
}

/// The places at which threads wait, the preferred first.
pub(super) type Threads = Vec<Place>;

/// How large a program may be: a repeated expression is written as often as it is repeated.
const MOST_INSTRUCTIONS: usize = 20_000;

impl Program {
    /// The program of an expression, and its alphabet of at most so many symbols; `None` if either
    /// would be too large.
    pub(super) fn new(node: &Node, most_symbols: usize) -> Option<(Self, Alphabet, usize)> {
        let mut program = Self::default();
        let end = program.push(Instruction::Match);
        program.start = program.write(node, end)?;
        let (alphabet, members) = Alphabet::new(&program.sets, most_symbols)?;
        program.holds = vec![vec![false; members.len()]; program.sets.len()];
        for (symbol, sets) in members.iter().enumerate() {
            for &set in sets {
                program.holds[set][symbol] = true;
            }
        }
        let num_symbols = members.len();
        Some((program, alphabet, num_symbols))
    }

    fn push(&mut self, instruction: Instruction) -> Place {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    /// The number of a set.
    fn set(&mut self, set: &Ranges) -> usize {
        self.sets
            .iter()
            .position(|known| known == set)
            .unwrap_or_else(|| {
                self.sets.push(set.clone());
                self.sets.len() - 1
            })
    }

    /// Write an expression that goes on at `next`; returns where it begins.
    fn write(&mut self, node: &Node, next: Place) -> Option<Place> {
        if self.instructions.len() > MOST_INSTRUCTIONS {
            return None;
        }
        match node {
            Node::Set(set) => {
                let set = self.set(set);
                Some(self.push(Instruction::Read(set, next)))
            }
            Node::Ahead { set, or_end } => {
                let set = self.set(set);
                Some(self.push(Instruction::Ahead(set, *or_end, next)))
            }
            Node::Sequence(parts) => parts
                .iter()
                .rev()
                .try_fold(next, |next, part| self.write(part, next)),
            Node::Alternatives(parts) => {
                let (last, others) = parts.split_last()?;
                let mut start = self.write(last, next)?;
                for part in others.iter().rev() {
                    let first = self.write(part, next)?;
                    start = self.push(Instruction::Split(first, start));
                }
                Some(start)
            }
            Node::Repeat {
                child,
                least,
                most,
                greedy,
            } => {
                let split = |again, next| match greedy {
                    true => Instruction::Split(again, next),
                    false => Instruction::Split(next, again),
                };
                let mut start = next;
                match most {
                    None => {
                        start = self.push(Instruction::Match);
                        let again = self.write(child, start)?;
                        self.instructions[start] = split(again, next);
                    }
                    Some(most) => {
                        for _ in *least..*most {
                            let again = self.write(child, start)?;
                            start = self.push(split(again, next));
                        }
                    }
                }
                (0..*least).try_fold(start, |start, _| self.write(child, start))
            }
        }
    }

    /// The threads at the beginning.
    pub(super) fn first(&self) -> Threads {
        let mut threads = Vec::new();
        self.wait(self.start, &mut vec![false; self.len()], &mut threads);
        threads
    }

    /// The number of its instructions.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Let a thread run to where it waits for what follows.
    fn wait(&self, at: Place, seen: &mut [bool], threads: &mut Threads) {
        let mut waiting = vec![at];
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.instructions[at] {
                Instruction::Split(first, second) => waiting.extend([second, first]),
                _ => threads.push(at),
            }
        }
    }

    /// The threads after what follows, and whether one has matched before it.
    pub(super) fn step(&self, threads: &[Place], next: Next) -> (Threads, bool) {
        let (mut after, mut seen_after) = (Vec::new(), vec![false; self.len()]);
        let mut seen = vec![false; self.len()];
        let mut waiting: Vec<Place> = threads.iter().rev().copied().collect();
        while let Some(at) = waiting.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            match self.instructions[at] {
                Instruction::Match => return (after, true),
                Instruction::Split(first, second) => waiting.extend([second, first]),
                Instruction::Ahead(set, or_end, then) => {
                    if match next {
                        Next::Symbol(symbol) => self.holds[set][symbol],
                        Next::End => or_end,
                    } {
                        waiting.push(then);
                    }
                }
                Instruction::Read(set, then) => {
                    if let Next::Symbol(symbol) = next
                        && self.holds[set][symbol]
                    {
                        self.wait(then, &mut seen_after, &mut after);
                    }
                }
            }
        }
        (after, false)
    }
}
