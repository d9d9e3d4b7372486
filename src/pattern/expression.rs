//! Patterns that are regular expressions: by an automaton where there is one, by backtracking else.

use std::ops::Range;
use std::sync::Arc;

use fancy_regex::Expr;

use super::backtracking::{Backtracking, Budget, Problem, Stop};
use super::class::Ranges;
use super::scan::Scanner;
use super::steps;
use super::syntax::{Node, translated};
use super::{NAMED_PATTERNS, OTHER_NAMES};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::watch::Watch;

/// A regular expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    source: String,
    engine: Engine,
    /// What finds all words and the gaps between them, as words, if that takes linear time.
    groups: Option<Arc<Scanner>>,
}

#[derive(Debug, Clone)]
enum Engine {
    Automaton(Arc<Scanner>),
    Backtracking(Backtracking),
}

/// Expressions that were asked for, some 200 KB each: an automaton takes milliseconds to make.
static KEPT: Pool<Expression> = Pool::new();

/// The tree of an expression, if an automaton may match it.
fn parsed(regex: &str) -> Result<Option<Node>> {
    let tree = Expr::parse_tree(regex).map_err(|error| Error::InvalidPattern {
        message: error.to_string(),
    })?;
    Ok(translated(&tree.expr))
}

impl Expression {
    /// The expression that a user wrote where the name of a pattern could stand.
    pub(super) fn new(spec: &str) -> Result<Self> {
        let is_name = |c: char| c.is_alphanumeric() || "-_".contains(c);
        if !spec.chars().all(is_name) {
            return Self::of_regex(spec);
        }
        let names = NAMED_PATTERNS.iter().map(|named| named.name);
        let others = OTHER_NAMES.iter().map(|(name, _)| *name);
        let names = names.chain(others).collect::<Vec<_>>().join(", ");
        Err(Error::InvalidPattern {
            message: format!(
                "no pattern is named {spec:?}; expected {names}, or a regular expression"
            ),
        })
    }

    /// An expression that is no name of a pattern.
    pub(crate) fn of_regex(regex: &str) -> Result<Self> {
        let is_it = |kept: &Self| (kept.source == regex).then(|| kept.clone());
        if let Some(kept) = KEPT.find(is_it) {
            return Ok(kept);
        }
        let node = parsed(regex)?;
        if let Some(expression) = node.and_then(|node| Self::by_automaton(regex, &node, &[])) {
            KEPT.keep(0, expression.clone());
            return Ok(expression);
        }
        Ok(Self {
            source: regex.to_owned(),
            engine: Engine::Backtracking(Backtracking::new(regex)?),
            groups: None,
        })
    }

    /// The expression whose words are those that these expressions leave which are applied one after
    /// the other, if there is one by an automaton. They were valid.
    pub(crate) fn of_steps(regexes: &[&str]) -> Option<Self> {
        let nodes: Option<Vec<Node>> = regexes.iter().map(|regex| parsed(regex).ok()?).collect();
        let joined = steps::joined(&nodes?)?;
        Self::by_automaton(&regexes.join(", then "), &joined.node, &joined.runs)
    }

    /// `runs` are sets of characters that no gap between words goes into or out of.
    fn by_automaton(source: &str, node: &Node, runs: &[Ranges]) -> Option<Self> {
        let scanner = Arc::new(Scanner::new(node)?);
        let groups = if scanner.is_complete() {
            Some(scanner.clone())
        } else {
            scanner.with_gaps(runs).map(Arc::new)
        };
        Some(Self {
            source: source.to_owned(),
            engine: Engine::Automaton(scanner),
            groups: groups.filter(|scanner| scanner.is_linear()),
        })
    }

    /// The same expression by backtracking.
    #[cfg(test)]
    pub(super) fn backtracking(&self) -> Self {
        Self {
            engine: Engine::Backtracking(Backtracking::new(&self.source).expect("it is valid")),
            groups: None,
            source: self.source.clone(),
        }
    }

    /// How it is written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Its automaton, if it has one.
    pub(super) fn scanner(&self) -> Option<&Scanner> {
        match &self.engine {
            Engine::Automaton(scanner) => Some(scanner),
            Engine::Backtracking(_) => None,
        }
    }

    /// What finds its words in groups, if it and the gaps between them are all of every text, and that
    /// always takes linear time: no budget is kept there.
    pub(super) fn groups(&self, drops_gaps: bool) -> Option<&Scanner> {
        let has_gaps = !self.scanner().is_some_and(Scanner::is_complete);
        let groups = self.groups.as_deref();
        groups.filter(|_| !(drops_gaps && has_gaps))
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
        let is_of_steps = matches!(stop.problem, Problem::Steps(_));
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
            is_of_steps,
        }
    }
}
