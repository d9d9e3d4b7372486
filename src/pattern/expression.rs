//! Patterns that are regular expressions: by an automaton where there is one, by backtracking else.

use std::ops::Range;
use std::sync::Arc;

use fancy_regex::Expr;

use super::NAMED_PATTERNS;
use super::backtracking::{Backtracking, Budget, Problem, Stop};
use super::scan::Scanner;
use super::syntax::translated;
use crate::error::{Error, Result};
use crate::watch::Watch;

/// A regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    source: String,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Automaton(Arc<Scanner>),
    Backtracking(Backtracking),
}

impl Expression {
    /// The expression that a user wrote where the name of a pattern could stand.
    pub(super) fn new(spec: &str) -> Result<Self> {
        let is_name = |c: char| c.is_alphanumeric() || "-_".contains(c);
        if !spec.chars().all(is_name) {
            return Self::of_regex(spec);
        }
        let names: Vec<&str> = NAMED_PATTERNS.iter().map(|named| named.name).collect();
        let names = names.join(", ");
        Err(Error::InvalidPattern {
            message: format!(
                "no pattern is named {spec:?}; expected {names}, or a regular expression"
            ),
        })
    }

    /// An expression that is no name of a pattern.
    pub(crate) fn of_regex(regex: &str) -> Result<Self> {
        let tree = Expr::parse_tree(regex).map_err(|error| Error::InvalidPattern {
            message: error.to_string(),
        })?;
        let scanner = translated(&tree.expr).and_then(|node| Scanner::new(&node));
        let engine = match scanner {
            Some(scanner) => Engine::Automaton(Arc::new(scanner)),
            None => Engine::Backtracking(Backtracking::new(regex)?),
        };
        Ok(Self {
            source: regex.to_owned(),
            engine,
        })
    }

    /// The same expression by backtracking.
    #[cfg(test)]
    pub(super) fn backtracking(&self) -> Self {
        Self {
            engine: Engine::Backtracking(Backtracking::new(&self.source).expect("it is valid")),
            source: self.source.clone(),
        }
    }

    /// Its automaton, if it has one.
    pub(super) fn scanner(&self) -> Option<&Scanner> {
        match &self.engine {
            Engine::Automaton(scanner) => Some(scanner),
            Engine::Backtracking(_) => None,
        }
    }

    /// Calls `word` for each match that is not empty and, unless gaps are dropped, for each gap between
    /// matches.
    pub(super) fn for_each_match(
        &self,
        text: &[u8],
        watch: &Watch,
        drops_gaps: bool,
        word: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        self.for_each_match_within(Budget::of(text), text, watch, drops_gaps, word)
    }

    pub(super) fn for_each_match_within(
        &self,
        budget: Budget,
        text: &[u8],
        watch: &Watch,
        drops_gaps: bool,
        word: &mut dyn FnMut(usize, usize),
    ) -> Result<()> {
        let searched = match &self.engine {
            Engine::Automaton(scanner) => {
                scanner.for_each_match(text, budget, watch, drops_gaps, word)
            }
            Engine::Backtracking(engine) => {
                engine.for_each_match(budget, text, watch, drops_gaps, word)
            }
        };
        searched.map_err(|stop| self.failed(stop))
    }

    /// Calls `found` for each match in a text, also for the empty ones.
    pub(crate) fn for_each_range(
        &self,
        text: &str,
        watch: &Watch,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<()> {
        let budget = Budget::of(text.as_bytes());
        let searched = match &self.engine {
            Engine::Automaton(scanner) => {
                let word = |start, end| found(start..end);
                scanner.for_each_match(text.as_bytes(), budget, watch, true, word)
            }
            Engine::Backtracking(engine) => engine.for_each_range(budget, text, watch, found),
        };
        searched.map_err(|stop| self.failed(stop))
    }

    fn failed(&self, stop: Stop) -> Error {
        let message = match stop.problem {
            Problem::Stopped => return Error::Interrupted,
            Problem::Steps(most) => format!("more than {most} steps"),
            Problem::Time(most) => format!("more than {} seconds", most.as_secs()),
            Problem::Engine(message) => message,
        };
        Error::PatternFailed {
            pattern: self.source.clone(),
            offset: stop.offset,
            message,
        }
    }
}
