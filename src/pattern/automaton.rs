//! Regular expressions as automata: one step for each character, whatever the expression.
//!
//! A state is what the threads of [`super::nfa`] wait for. A step has two parts: what follows decides
//! whether there is a match before it, then it is read. So `$` and look-ahead at one character cost
//! nothing.

mod chain;

pub(super) use chain::Chain;

use rustc_hash::FxHashMap;

use super::alphabet::{Alphabet, Symbol};
use super::class::Ranges;
use super::nfa::{Next, Program};
use super::syntax::{Node, complement};

/// The bit of a step that says that there is a match before the character that is read.
const MATCH: u16 = 1 << 15;
/// The state without threads: no match is to come.
pub(super) const DEAD: usize = 0;
/// Steps of a state: those for each byte of ASCII, for each symbol, and for the end of the text.
const STEPS: usize = 256;
const SYMBOLS: usize = 128;
const MOST_SYMBOLS: usize = STEPS - SYMBOLS - 1;
const END: usize = STEPS - 1;
/// How many steps the states may have together, and how much it may cost to find them.
const MOST_STEPS: usize = 1 << 16;
const MOST_WORK: usize = 1 << 27;

/// An automaton that finds where the match at a place of a text ends.
#[derive(Debug)]
pub(super) struct Automaton {
    alphabet: Alphabet,
    num_symbols: usize,
    start: usize,
    steps: Vec<[u16; STEPS]>,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Step {
    /// Whether there is a match before what is read.
    pub(super) matches: bool,
    /// The state after it.
    pub(super) state: usize,
}

/// A table of steps: a row for each state, with a step for each symbol and for the end.
type Rows = Vec<Vec<Step>>;

impl Automaton {
    /// `None` if it would be too large.
    pub(super) fn new(expression: &Node) -> Option<Self> {
        let (program, alphabet, num_symbols) = Program::new(expression, MOST_SYMBOLS)?;
        let (rows, start) = minimized(&determined(&program, num_symbols)?);
        let (names, rows) = with_fewer_symbols(&rows);
        Self::of_rows(alphabet.renamed(&names), &rows, start)
    }

    /// The automaton with these steps.
    fn of_rows(alphabet: Alphabet, rows: &Rows, start: usize) -> Option<Self> {
        let mut automaton = Self {
            alphabet,
            num_symbols: rows[DEAD].len() - 1,
            start,
            steps: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            let mut steps = [DEAD as u16; STEPS];
            let packed = |step: Step| (u16::from(step.matches) * MATCH) | step.state as u16;
            for byte in 0..0x80_u8 {
                let symbol = automaton.alphabet.symbol(u32::from(byte));
                steps[usize::from(byte)] = packed(row[usize::from(symbol)]);
            }
            let (end, symbols) = row.split_last()?;
            for (step, &symbol) in steps[SYMBOLS..].iter_mut().zip(symbols) {
                *step = packed(symbol);
            }
            steps[END] = packed(*end);
            automaton.steps.push(steps);
        }
        Some(automaton)
    }

    /// The automaton that also matches what lies between the matches of this one, if whether a match
    /// begins with a character always depends on the next character alone. A gap that goes into a
    /// set, or out of it, is two.
    pub(super) fn with_gaps(&self, sets: &[Ranges]) -> Option<Self> {
        let parts = self.parts(sets);
        let row = |state| self.all_steps(state).collect::<Vec<Step>>();
        let mut rows: Rows = (0..self.num_states()).map(row).collect();
        let start = rows.len();
        rows.push(row(self.start));
        // Two states for each character that may be in a gap: after it as the first, and as a later
        // one, of which it is not known yet whether the gap ends before it.
        let is_failed = |step: &Step| !step.matches && step.state == DEAD;
        let mut in_gap = vec![DEAD; self.num_symbols];
        let mut firsts = Vec::new();
        for symbol in 0..self.num_symbols {
            let first = rows[start][symbol].state;
            if rows[first].iter().any(is_failed) {
                parts[symbol].as_ref()?;
                rows[start][symbol].state = start + 1 + 2 * firsts.len();
                in_gap[symbol] = start + 2 + 2 * firsts.len();
                firsts.push((symbol, first));
            }
        }
        in_gap.push(DEAD);
        let ended = Step {
            matches: false,
            state: DEAD,
        };
        for (symbol, first) in firsts {
            let steps = rows[first].iter().enumerate().map(|(next, step)| {
                let goes_on = parts[next] == parts[symbol];
                let after_gap = Step {
                    matches: true,
                    state: if goes_on { in_gap[next] } else { DEAD },
                };
                let is_in_gap = is_failed(step);
                let after_later = if is_in_gap { after_gap } else { ended };
                (if is_in_gap { after_gap } else { *step }, after_later)
            });
            let (after_first, after_later) = steps.unzip();
            rows.extend::<[Vec<Step>; 2]>([after_first, after_later]);
        }
        (rows.len() * STEPS <= MOST_STEPS)
            .then(|| Self::of_rows(self.alphabet.clone(), &rows, start))?
    }

    /// For each symbol and for the end, in which of the sets it is; `None` if it is in one in part.
    fn parts(&self, sets: &[Ranges]) -> Vec<Option<Vec<bool>>> {
        let mut parts = vec![Some(Vec::new()); self.num_symbols + 1];
        for set in sets {
            let (within, others) = (self.symbols_of(set), self.symbols_of(&complement(set)));
            for (symbol, part) in (0..).zip(&mut parts) {
                let is_within = within.contains(&symbol);
                match part {
                    Some(part) if !(is_within && others.contains(&symbol)) => part.push(is_within),
                    _ => *part = None,
                }
            }
        }
        parts
    }

    /// The symbols of the characters of a set.
    pub(super) fn symbols_of(&self, set: &Ranges) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = set
            .iter()
            .flat_map(|&(first, last)| u32::from(first)..=u32::from(last))
            .map(|character| self.alphabet.symbol(character))
            .collect();
        symbols.sort_unstable();
        symbols.dedup();
        symbols
    }

    /// Where the match that begins at `start` ends; `start` if there is none, or only an empty one.
    #[inline]
    pub(super) fn match_end(&self, text: &[u8], start: usize) -> usize {
        self.run(text, start).0
    }

    /// The same, and up to where the text was read.
    #[inline]
    pub(super) fn run(&self, text: &[u8], start: usize) -> (usize, usize) {
        self.run_from(self.start, text, start)
    }

    /// The same for a match that began earlier and has come to a state.
    #[inline]
    pub(super) fn run_from(&self, state: usize, text: &[u8], start: usize) -> (usize, usize) {
        self.run_on(state, text, start, start)
    }

    /// The same at a place where the longest match so far ends at `end`.
    #[inline]
    fn run_on(
        &self,
        mut state: usize,
        text: &[u8],
        mut at: usize,
        mut end: usize,
    ) -> (usize, usize) {
        while state != DEAD {
            let steps = &self.steps[state];
            // Most characters of a word leave the state as it is. In a loop of their own they do not
            // wait for one another.
            let next = loop {
                let (input, len) = self.input(text, at);
                let step = steps[input];
                end = if step & MATCH != 0 { at } else { end };
                let next = usize::from(step & !MATCH);
                if next == DEAD {
                    return (end, at);
                }
                at += len;
                if next != state {
                    break next;
                }
            };
            state = next;
        }
        (end, at)
    }

    /// Which step of a state reads what is at a place, and how long that is.
    #[inline(always)]
    fn input(&self, text: &[u8], at: usize) -> (usize, usize) {
        match text.get(at) {
            Some(&byte) if byte < 0x80 => (usize::from(byte), 1),
            Some(_) => {
                let (symbol, len) = self.alphabet.read(&text[at..]);
                (SYMBOLS + usize::from(symbol), len)
            }
            None => (END, 0),
        }
    }

    /// Where a match that has come to a state ends in a text that may go on, as far as that is known,
    /// up to where the text was read, and the state there: `DEAD` if nothing that follows matters.
    pub(super) fn read_on(&self, state: usize, text: &[u8], start: usize) -> (usize, usize, usize) {
        let (mut state, mut at, mut end) = (state, start, start);
        while at < text.len() && state != DEAD {
            let (symbol, len) = self.alphabet.read(&text[at..]);
            let step = self.step(state, symbol);
            if step.matches {
                end = at;
            }
            state = step.state;
            at += len;
        }
        (end, at, state)
    }

    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.num_symbols).map(|symbol| symbol as Symbol)
    }

    pub(super) fn num_states(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Whether there is an empty match at some place of some text.
    pub(super) fn matches_empty(&self) -> bool {
        self.all_steps(self.start).any(|step| step.matches)
    }

    /// The step of a state where a character with this symbol follows.
    pub(super) fn step(&self, state: usize, symbol: Symbol) -> Step {
        unpacked(self.steps[state][SYMBOLS + usize::from(symbol)])
    }

    /// The step of a state at the end of the text.
    pub(super) fn step_at_end(&self, state: usize) -> Step {
        unpacked(self.steps[state][END])
    }

    /// All steps of a state.
    pub(super) fn all_steps(&self, state: usize) -> impl Iterator<Item = Step> {
        let row = &self.steps[state];
        let steps = row[SYMBOLS..SYMBOLS + self.num_symbols].iter();
        steps.chain([&row[END]]).map(|&step| unpacked(step))
    }
}

fn unpacked(step: u16) -> Step {
    Step {
        matches: step & MATCH != 0,
        state: usize::from(step & !MATCH),
    }
}

/// The states that can be reached, the one without threads first and the start second.
fn determined(program: &Program, num_symbols: usize) -> Option<Rows> {
    let mut states = vec![Vec::new(), program.first()];
    let mut numbers: FxHashMap<Vec<usize>, usize> =
        (0..).take(2).map(|n| (states[n].clone(), n)).collect();
    let mut rows = Vec::new();
    while rows.len() < states.len() {
        let inputs = (0..num_symbols).map(Next::Symbol).chain([Next::End]);
        let mut row = Vec::with_capacity(num_symbols + 1);
        for input in inputs {
            let (threads, matches) = program.step(&states[rows.len()], input);
            let state = *numbers.entry(threads.clone()).or_insert_with(|| {
                states.push(threads);
                states.len() - 1
            });
            row.push(Step { matches, state });
        }
        rows.push(row);
        let num_steps = states.len() * (num_symbols + 1);
        if num_steps > MOST_STEPS || num_steps * program.len() > MOST_WORK {
            return None;
        }
    }
    Some(rows)
}

/// The same automaton with as few states as can be, and its start. States from which no match is to
/// come are one with the state without threads, the first.
fn minimized(rows: &Rows) -> (Rows, usize) {
    let mut blocks = vec![0; rows.len()];
    let mut num_blocks = 1;
    loop {
        let mut known = FxHashMap::default();
        let next: Vec<usize> = rows
            .iter()
            .zip(&blocks)
            .map(|(row, &block)| {
                let steps = row.iter().map(|step| (step.matches, blocks[step.state]));
                let key: (usize, Vec<_>) = (block, steps.collect());
                let number = known.len();
                *known.entry(key).or_insert(number)
            })
            .collect();
        blocks = next;
        if known.len() == num_blocks {
            break;
        }
        num_blocks = known.len();
    }
    let mut fewer = Rows::new();
    for (row, &block) in rows.iter().zip(&blocks) {
        if block == fewer.len() {
            let steps = row.iter().map(|step| Step {
                state: blocks[step.state],
                ..*step
            });
            fewer.push(steps.collect());
        }
    }
    (fewer, blocks[1])
}

/// Symbols with the same steps become one. Returns the new name of each, and the new rows.
fn with_fewer_symbols(rows: &Rows) -> (Vec<Symbol>, Rows) {
    let num_symbols = rows[DEAD].len() - 1;
    let mut known: FxHashMap<Vec<Step>, Symbol> = FxHashMap::default();
    let mut kept = Vec::new();
    let names = (0..num_symbols).map(|symbol| {
        let column = rows.iter().map(|row| row[symbol]).collect();
        *known.entry(column).or_insert_with(|| {
            kept.push(symbol);
            (kept.len() - 1) as Symbol
        })
    });
    let names = names.collect();
    kept.push(num_symbols);
    let fewer = rows
        .iter()
        .map(|row| kept.iter().map(|&symbol| row[symbol]).collect());
    (names, fewer.collect())
}
