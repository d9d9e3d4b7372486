//! What neighbouring characters say about the words of an automaton, without running it.
//!
//! Whether a word ends between two characters mostly depends on few characters before them. All of
//! this is found by following the automaton from the states in which it can be:
//!
//! - *Cuts*, for all characters: a word ends between two characters whatever surrounds them. The
//!   words before are the same if the text ends there.
//! - *Verdicts*, for ASCII and the symbols of most other characters: whether a word ends between two
//!   characters, by these two, the one before them and, within white space, what follows it. Where the
//!   automaton's answer depends on more, there is no verdict.
//!
//! No expression looks behind: the text before a word influences neither that word nor later ones.
//! So verdicts hold from the start of any word up to the first place without one.

use super::alphabet::Symbol;
use super::automaton::{Automaton, DEAD};
use super::white_space::{Ahead, Futures, Kind, WhiteSpace};

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

/// A character where it stands.
#[derive(Debug, Clone, Copy)]
struct Seen {
    symbol: Symbol,
    ahead: Ahead,
    /// Whether it is a line end that belongs to what is before, see [`Neighbours::keeps_line_ends`].
    is_kept: bool,
}

impl Seen {
    fn new(symbol: Symbol, ahead: Ahead) -> Self {
        let is_kept = false;
        Self {
            symbol,
            ahead,
            is_kept,
        }
    }
}

/// What is known of the words of an automaton.
pub(super) struct Neighbours<'a> {
    automaton: &'a Automaton,
    /// The symbols of characters beyond ASCII on which there are verdicts.
    foreign: Vec<Symbol>,
    white_space: WhiteSpace,
    futures: Futures,
}

impl<'a> Neighbours<'a> {
    /// With verdicts on ASCII, and on the characters of some symbols beyond it.
    pub(super) fn new(automaton: &'a Automaton, foreign: Vec<Symbol>) -> Self {
        let white_space = WhiteSpace::new(automaton, &foreign);
        Self {
            automaton,
            foreign,
            futures: Futures::new(automaton, &white_space),
            white_space,
        }
    }

    /// Whether a match that is not empty begins with each character of every text.
    pub(super) fn is_complete(&self) -> bool {
        let mut symbols = self.automaton.symbols();
        symbols.all(|symbol| !self.may_fail(self.first(symbol)))
    }

    /// Whether there may be no further match after a state.
    pub(super) fn may_fail(&self, state: usize) -> bool {
        self.futures.may_fail(state, Ahead::Any)
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

    pub(super) fn foreign(&self) -> &[Symbol] {
        &self.foreign
    }

    pub(super) fn white_space(&self) -> &WhiteSpace {
        &self.white_space
    }

    /// Whether a word that has come to a state ends before a character.
    fn verdict(&self, state: usize, next: Seen) -> Verdict {
        let step = self.automaton.step(state, next.symbol);
        if step.matches && !self.futures.may_match(step.state, next.ahead) {
            Verdict::Ends
        } else if !self.futures.may_fail(step.state, next.ahead) {
            Verdict::GoesOn
        } else {
            Verdict::Open
        }
    }

    /// The next character as verdicts know it: what is ahead of it is looked at only within white space.
    /// Elsewhere anything may be there, also what is not ASCII, and the end of the text.
    fn as_known(&self, before: Seen, next: Seen) -> Seen {
        let is_within = self.white_space.contains(before.symbol) && !before.is_kept;
        let ahead = if is_within { next.ahead } else { Ahead::Any };
        Seen { ahead, ..next }
    }

    /// Whether words end after this white space and before other, of which none ends a line.
    pub(super) fn ends_before_space(&self, symbol: Symbol) -> bool {
        self.verdict_before(symbol, Kind::Space, Ahead::Space) == Verdict::Ends
    }

    /// Whether words that begin with this character, which is not white space, go on with line ends.
    /// All line ends behind it are kept, then.
    pub(super) fn keeps_line_ends(&self, symbol: Symbol) -> bool {
        self.white_space.kind(symbol) == Kind::Other
            && self.verdict_before(symbol, Kind::LineEnd, Ahead::Any) == Verdict::GoesOn
    }

    /// Whether a word that begins with a character ends before the first of a kind.
    fn verdict_before(&self, symbol: Symbol, next: Kind, ahead: Ahead) -> Verdict {
        let is_next = |symbol: &Symbol| self.white_space.kind(*symbol) == next;
        let next = self.automaton.symbols().find(is_next);
        next.map_or(Verdict::Never, |next| {
            self.verdict(self.first(symbol), Seen::new(next, ahead))
        })
    }

    /// Whether a character may follow another, as they stand.
    fn may_follow(&self, before: Seen, next: Seen) -> bool {
        let is_line_end = self.white_space.kind(next.symbol) == Kind::LineEnd;
        let keeps = before.is_kept || self.keeps_line_ends(before.symbol);
        self.white_space
            .may_follow(before.ahead, next.symbol, next.ahead)
            && next.is_kept == (is_line_end && keeps)
    }

    /// The verdict on the place between two characters, by those for all ways in which they may stand:
    /// whether the first is kept, and what is ahead of the second.
    ///
    /// It is the one where the first is not kept and, within white space, where none is ahead. For the
    /// others is assumed: After kept line ends a word ends, before another it goes on. Within white
    /// space a word goes on before a line end, and before spaces it is as [`Self::ends_before_space`]
    /// says. Where that is not so, the verdict is open.
    fn joined(
        &self,
        first: Symbol,
        second: Symbol,
        verdict: impl Fn(bool, Ahead) -> Verdict,
    ) -> Verdict {
        let is = |found, expected| found == expected || found == Verdict::Never;
        let or = |ends| if ends { Verdict::Ends } else { Verdict::GoesOn };
        let all_ahead = self.white_space.all_ahead(second);
        let is_line_end = self.white_space.kind(second) == Kind::LineEnd;
        let after_kept = or(!is_line_end);
        let is_after_kept = |ahead| is(verdict(true, ahead), after_kept);
        if !all_ahead.iter().all(|&ahead| is_after_kept(ahead)) {
            return Verdict::Open;
        }
        if all_ahead.len() == 1 || !self.white_space.contains(first) {
            let verdicts = all_ahead.iter().map(|&ahead| verdict(false, ahead));
            return verdicts.fold(Verdict::Never, Verdict::or);
        }
        let before_space = or(self.ends_before_space(first));
        let is_as_assumed = is(verdict(false, Ahead::LineEnd), Verdict::GoesOn)
            && is(verdict(false, Ahead::Space), before_space);
        if is_as_assumed {
            verdict(false, Ahead::Other)
        } else {
            Verdict::Open
        }
    }

    /// Whether a word that begins with the first character ends before the second. Not for words that
    /// begin with a kept line end.
    pub(super) fn at_start(&self, first: Symbol, second: Symbol) -> Verdict {
        let state = self.first(first);
        let all_ahead = self.white_space.all_ahead(second);
        self.joined(first, second, |is_kept, ahead| {
            if is_kept || !all_ahead.contains(&ahead) {
                return Verdict::Never;
            }
            let second = self.as_known(Seen::new(first, Ahead::Any), Seen::new(second, ahead));
            self.verdict(state, second)
        })
    }

    /// The verdicts on the place between the second and the third of three characters, for all
    /// triples of these symbols, each with how often it occurs. See the head of this file.
    pub(super) fn triples(&self, symbols: &[Symbol], weights: &[f64]) -> Vec<Verdict> {
        let mut triples = Triples::new(self, symbols, weights);
        // A verdict that is open once stays so. Then fewer states are reached, as where it is open
        // the automaton runs: so the others are found anew, until there is no further open one.
        while triples.has_more_open() {}
        triples.joined
    }
}

/// The search for verdicts on three characters.
struct Triples<'a> {
    neighbours: &'a Neighbours<'a>,
    symbols: &'a [Symbol],
    weights: &'a [f64],
    /// All characters as they may stand, each with the index of its symbol.
    seen: Vec<(usize, Seen)>,
    /// For each symbol and two characters as they may stand.
    verdicts: Vec<Verdict>,
    /// For each three symbols.
    joined: Vec<Verdict>,
}

impl<'a> Triples<'a> {
    fn new(neighbours: &'a Neighbours<'a>, symbols: &'a [Symbol], weights: &'a [f64]) -> Self {
        let mut seen = Vec::new();
        for (index, &symbol) in symbols.iter().enumerate() {
            for &ahead in neighbours.white_space.all_ahead(symbol) {
                seen.push((index, Seen::new(symbol, ahead)));
            }
            if neighbours.white_space.kind(symbol) == Kind::LineEnd {
                let is_kept = true;
                seen.push((
                    index,
                    Seen {
                        is_kept,
                        ..Seen::new(symbol, Ahead::Any)
                    },
                ));
            }
        }
        Self {
            neighbours,
            symbols,
            weights,
            verdicts: vec![Verdict::Never; symbols.len() * seen.len().pow(2)],
            seen,
            joined: vec![Verdict::Never; symbols.len().pow(3)],
        }
    }

    /// Find the verdicts, as far as there are none that have to be given up.
    fn has_more_open(&mut self) -> bool {
        let (len, num_seen) = (self.symbols.len(), self.seen.len());
        self.verdicts.fill(Verdict::Never);
        let mut reached = self.reached_at_start();
        let mut has_more = false;
        loop {
            let mut changed = false;
            for at in 0..len * num_seen * num_seen {
                let (pair, b) = (at / num_seen, at % num_seen);
                let ((a, second), (third, next)) = (self.seen[pair % num_seen], self.seen[b]);
                let triple = (pair / num_seen * len + a) * len + third;
                if self.joined[triple] == Verdict::Open
                    || reached[pair].is_empty()
                    || !self.neighbours.may_follow(second, next)
                {
                    continue;
                }
                let known = self.neighbours.as_known(second, next);
                let states = reached[pair].iter();
                let verdicts = states.map(|r| self.neighbours.verdict(r.state, known));
                let found = verdicts.fold(Verdict::Never, Verdict::or);
                if found == Verdict::Open {
                    self.give_up(&reached[pair], triple, known);
                    has_more = true;
                    continue;
                }
                changed |= found != self.verdicts[at];
                self.verdicts[at] = found;
                for state in reached[pair].iter().map(|r| r.state).collect::<Vec<_>>() {
                    let from = Some(pair / num_seen);
                    let next_pair = &mut reached[a * num_seen + b];
                    changed |= self.go_on(state, found, next.symbol, from, next_pair);
                }
            }
            if has_more || !changed {
                return has_more || self.join();
            }
        }
    }

    /// The states in which the automaton can be after each two characters that begin a word.
    fn reached_at_start(&self) -> Vec<Vec<Reached>> {
        let mut reached = Vec::with_capacity(self.symbols.len() * self.seen.len());
        for &first in self.symbols {
            let state = self.neighbours.first(first);
            for &(_, second) in &self.seen {
                let mut states = Vec::new();
                if self.neighbours.at_start(first, second.symbol) != Verdict::Open
                    && self
                        .neighbours
                        .may_follow(Seen::new(first, Ahead::Any), second)
                {
                    let known = self
                        .neighbours
                        .as_known(Seen::new(first, Ahead::Any), second);
                    let verdict = self.neighbours.verdict(state, known);
                    self.go_on(state, verdict, second.symbol, None, &mut states);
                }
                reached.push(states);
            }
        }
        reached
    }

    /// Join the verdicts for all that may follow; whether one more is open.
    fn join(&mut self) -> bool {
        let len = self.symbols.len();
        let mut has_more = false;
        for at in 0..self.joined.len() {
            if self.joined[at] == Verdict::Open {
                continue;
            }
            let (a, b) = (at / len % len, at % len);
            let verdict = |is_kept, ahead| {
                let is = |symbol, seen: &(usize, Seen)| seen.0 == symbol;
                let seconds = self.seen.iter().enumerate().filter(|(_, seen)| is(a, seen));
                let seconds = seconds.filter(|(_, (_, seen))| seen.is_kept == is_kept);
                let thirds = self.seen.iter().enumerate().filter(|(_, seen)| is(b, seen));
                let thirds = thirds.filter(|(_, (_, seen))| seen.ahead == ahead);
                let mut joined = Verdict::Never;
                for (second, _) in seconds {
                    for (third, _) in thirds.clone() {
                        let pair = at / len / len * self.seen.len() + second;
                        joined = joined.or(self.verdicts[pair * self.seen.len() + third]);
                    }
                }
                joined
            };
            let joined = self
                .neighbours
                .joined(self.symbols[a], self.symbols[b], verdict);
            has_more |= joined == Verdict::Open;
            self.joined[at] = joined;
        }
        has_more
    }

    /// Where the states that are reached differ in their verdicts, give up one verdict, the rarest: on
    /// this triple, or on those by which the states are reached that are in the way of another.
    fn give_up(&mut self, reached: &[Reached], at: usize, next: Seen) {
        let (len, weights) = (self.symbols.len(), self.weights);
        let (z, a, b) = (at / len / len, at / len % len, at % len);
        let (mut cost, mut given_up) = (weights[z] * weights[a] * weights[b], vec![at]);
        for kept in [Verdict::Ends, Verdict::GoesOn] {
            let in_the_way = |r: &&Reached| self.neighbours.verdict(r.state, next) != kept;
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
            self.joined[at] = Verdict::Open;
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
            Verdict::Ends => self.neighbours.first(next),
            Verdict::GoesOn => self.neighbours.automaton.step(state, next).state,
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
