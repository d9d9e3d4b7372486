//! White space, told apart by what follows it.
//!
//! Whether a word ends within white space depends on what follows the white space, with expressions
//! such as `\s*[\r\n]+|\s+(?!\S)|\s+`: a line end, however far, or a last space before the next word.
//! A block of bytes shows that at once, where an automaton has to read on.

use super::alphabet::Symbol;
use super::automaton::{Automaton, DEAD};

/// What follows a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ahead {
    /// Nothing is known of it. So it is after all that is not white space, and after a line end.
    Any,
    /// White space, up to a line end.
    LineEnd,
    /// White space without a line end, and then something else that is looked up.
    Space,
    /// Something else that is looked up.
    Other,
}

const ALL: [Ahead; 4] = [Ahead::Any, Ahead::LineEnd, Ahead::Space, Ahead::Other];

/// Which symbols are white space. Only ASCII counts, and symbols that are looked up in blocks with it.
#[derive(Debug)]
pub(super) struct WhiteSpace {
    kinds: Vec<Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Space,
    LineEnd,
    /// Not white space.
    Other,
    /// Not looked up.
    Foreign,
}

impl WhiteSpace {
    /// Symbols that white space shares with other ASCII are no white space, and line ends that share
    /// theirs with spaces are spaces.
    pub(super) fn new(automaton: &Automaton, foreign: &[Symbol]) -> Self {
        let mut kinds = vec![Kind::Foreign; automaton.symbols().count()];
        for &symbol in foreign {
            kinds[usize::from(symbol)] = Kind::Other;
        }
        for byte in 0..0x80_u8 {
            let found = match byte {
                b'\n' | b'\r' => Kind::LineEnd,
                b'\t' | b'\x0b' | b'\x0c' | b' ' => Kind::Space,
                _ => Kind::Other,
            };
            let kind = &mut kinds[usize::from(automaton.alphabet().symbol(u32::from(byte)))];
            *kind = match (*kind, found) {
                (Kind::Foreign, found) => found,
                (kind, found) if kind == found => kind,
                (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
                _ => Kind::Space,
            };
        }
        Self { kinds }
    }

    pub(super) fn kind(&self, symbol: Symbol) -> Kind {
        self.kinds[usize::from(symbol)]
    }

    /// Whether a character is white space.
    pub(super) fn contains(&self, symbol: Symbol) -> bool {
        matches!(self.kind(symbol), Kind::Space | Kind::LineEnd)
    }

    /// What may follow a character.
    pub(super) fn all_ahead(&self, symbol: Symbol) -> &'static [Ahead] {
        match self.kind(symbol) {
            Kind::Space if self.kinds.contains(&Kind::LineEnd) => &ALL[1..],
            Kind::Space => &ALL[2..],
            _ => &ALL[..1],
        }
    }

    /// Whether a character with that ahead of it may follow one with this ahead of it.
    pub(super) fn may_follow(&self, before: Ahead, symbol: Symbol, ahead: Ahead) -> bool {
        match (before, self.kind(symbol)) {
            (Ahead::Any, _) => true,
            (Ahead::LineEnd, Kind::Space) => ahead == Ahead::LineEnd,
            (Ahead::LineEnd, kind) => kind == Kind::LineEnd,
            (Ahead::Space, kind) => kind == Kind::Space && ahead != Ahead::LineEnd,
            (Ahead::Other, kind) => kind == Kind::Other,
        }
    }
}

/// What may become of a run, by its state and by what is ahead.
pub(super) struct Futures {
    /// Whether there may be no further match.
    may_fail: [Vec<bool>; 4],
    /// Whether there may be one.
    may_match: [Vec<bool>; 4],
}

impl Futures {
    pub(super) fn new(automaton: &Automaton, white_space: &WhiteSpace) -> Self {
        let num_states = automaton.num_states();
        let mut futures = Self {
            may_fail: [(); 4].map(|()| vec![false; num_states]),
            may_match: [(); 4].map(|()| vec![false; num_states]),
        };
        futures.may_fail[Ahead::Any as usize][DEAD] = true;
        while futures.has_more(automaton, white_space) {}
        futures
    }

    /// Look one character further.
    fn has_more(&mut self, automaton: &Automaton, white_space: &WhiteSpace) -> bool {
        let mut changed = false;
        for before in ALL {
            for state in 0..automaton.num_states() {
                let (mut may_fail, mut may_match) =
                    (self.may_fail(state, before), self.may_match(state, before));
                let mut go_on = |step: super::automaton::Step, ahead| {
                    may_fail |= !step.matches && self.may_fail(step.state, ahead);
                    may_match |= step.matches || self.may_match(step.state, ahead);
                };
                if before == Ahead::Any {
                    go_on(automaton.step_at_end(state), Ahead::Any);
                }
                for symbol in automaton.symbols() {
                    let step = automaton.step(state, symbol);
                    let all_ahead = match before {
                        Ahead::Any => &ALL[..1],
                        _ => white_space.all_ahead(symbol),
                    };
                    for &ahead in all_ahead {
                        if white_space.may_follow(before, symbol, ahead) {
                            go_on(step, ahead);
                        }
                    }
                }
                changed |= may_fail != self.may_fail(state, before);
                changed |= may_match != self.may_match(state, before);
                self.may_fail[before as usize][state] = may_fail;
                self.may_match[before as usize][state] = may_match;
            }
        }
        changed
    }

    pub(super) fn may_fail(&self, state: usize, ahead: Ahead) -> bool {
        self.may_fail[ahead as usize][state]
    }

    pub(super) fn may_match(&self, state: usize, ahead: Ahead) -> bool {
        self.may_match[ahead as usize][state]
    }
}
