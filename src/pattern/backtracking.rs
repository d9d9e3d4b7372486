//! Patterns that are regular expressions of the user, for the crate fancy-regex.
//!
//! Its engine backtracks, and each of its searches may look at the whole text: some expressions take
//! quadratic time or worse, on some texts. So it reads texts through [`Metered`], which counts its
//! steps, and a text may cost so many for each of its bytes; past that, or once the watch is
//! stopped, the search ends. The engine has no way to end a search early but to unwind out of it,
//! which is done without a panic message and caught at once.
//!
//! Automata of the engine scan without counting, at about a nanosecond for a byte. What they do is
//! bounded by time, with a wide margin.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use fancy_regex::{Input, Regex};

use crate::error::Error;
use crate::watch::Watch;

/// What is counted for each search besides its steps.
const SEARCH: u64 = 64;
/// After how many steps the watch and the clock are read.
const LOOK: u64 = 16 * SEARCH;

/// What the words of one text may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) steps: u64,
    pub(super) time: Duration,
}

impl Budget {
    /// Twenty times the steps that ordinary expressions need, and hundreds of times their time:
    /// the machine may be busy.
    pub(super) fn of(text: &[u8]) -> Self {
        let num_bytes = text.len() as u64;
        Self {
            steps: 10_000_000 + 500 * num_bytes,
            time: Duration::from_secs(60) + Duration::from_micros(100 * num_bytes),
        }
    }
}

/// A regular expression that backtracks.
#[derive(Debug, Clone)]
pub(super) struct Backtracking(Box<Regex>);

impl Backtracking {
    pub(super) fn new(regex: &str) -> crate::error::Result<Self> {
        let compiled = Regex::new(regex).map_err(|error| Error::InvalidPattern {
            message: error.to_string(),
        })?;
        Ok(Self(Box::new(compiled)))
    }

    /// Calls `word` for each match and, unless gaps are dropped, each gap between matches.
    pub(super) fn for_each_match(
        &self,
        budget: Budget,
        text: &[u8],
        watch: &Watch,
        drops_gaps: bool,
        word: &mut dyn FnMut(usize, usize),
    ) -> Result<(), Stop> {
        let (copy, replacements) = lossy_copy(text);
        let (mut replaced, mut end) = (0, 0);
        // The offset in `text` of an offset in the copy; offsets must be asked for in ascending order.
        let mut place = |at: usize| {
            while replacements.get(replaced).is_some_and(|&r| r < at) {
                replaced += 1;
            }
            at - 2 * replaced
        };
        let metered = Metered::new(&copy, budget, watch);
        let searched = self.search(&metered, |found| {
            let (from, to) = (place(found.start), place(found.end));
            if from == to {
                return;
            }
            if end < from && !drops_gaps {
                word(end, from);
            }
            word(from, to);
            end = to;
        });
        searched.map_err(|problem| Stop {
            problem,
            offset: end,
        })?;
        if end < text.len() && !drops_gaps {
            word(end, text.len());
        }
        Ok(())
    }

    /// Calls `found` for each match in a text, also for the empty ones.
    pub(super) fn for_each_range(
        &self,
        budget: Budget,
        text: &str,
        watch: &Watch,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<(), Stop> {
        let metered = Metered::new(text, budget, watch);
        let mut end = 0;
        let searched = self.search(&metered, |range| {
            end = range.end;
            found(range);
        });
        searched.map_err(|problem| Stop {
            problem,
            offset: end,
        })
    }

    fn search(
        &self,
        metered: &Metered<'_>,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<(), Problem> {
        let mut matches = self.0.find_iter(metered);
        while let Some(range) = metered.search(|| matches.next())? {
            found(range);
        }
        Ok(())
    }
}

/// Why a search did not end by itself.
#[derive(Debug)]
pub(super) enum Problem {
    Stopped,
    Steps(u64),
    Time(Duration),
    /// What the engine says.
    Engine(String),
}

/// A problem, and up to where words were found.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) problem: Problem,
    pub(super) offset: usize,
}

/// A text that counts how often it is looked at, and ends the search when that is too often.
struct Metered<'t> {
    text: &'t str,
    budget: Budget,
    watch: &'t Watch,
    deadline: Instant,
    steps: Cell<u64>,
    next_look: Cell<u64>,
}

impl<'t> Metered<'t> {
    fn new(text: &'t str, budget: Budget, watch: &'t Watch) -> Self {
        Self {
            text,
            budget,
            watch,
            deadline: Instant::now() + budget.time,
            steps: Cell::new(0),
            next_look: Cell::new(0),
        }
    }

    /// The result of a search of the engine.
    fn search(
        &self,
        next: impl FnOnce() -> Option<fancy_regex::Result<Range<usize>>>,
    ) -> Result<Option<Range<usize>>, Problem> {
        if self.advance(SEARCH) {
            self.look()?;
        }
        match catch_unwind(AssertUnwindSafe(next)) {
            Ok(found) => found
                .transpose()
                .map_err(|error| Problem::Engine(error.to_string())),
            Err(payload) => match payload.downcast() {
                Ok(problem) => Err(*problem),
                Err(panic) => resume_unwind(panic),
            },
        }
    }

    /// Count steps; whether it is time to look.
    #[inline]
    fn advance(&self, steps: u64) -> bool {
        self.steps.set(self.steps.get() + steps);
        self.steps.get() >= self.next_look.get()
    }

    /// Whether the search may go on.
    #[cold]
    fn look(&self) -> Result<(), Problem> {
        self.next_look.set(self.steps.get() + LOOK);
        if self.watch.is_stopped() {
            return Err(Problem::Stopped);
        }
        if self.steps.get() > self.budget.steps {
            return Err(Problem::Steps(self.budget.steps));
        }
        if Instant::now() > self.deadline {
            return Err(Problem::Time(self.budget.time));
        }
        Ok(())
    }
}

impl Input for Metered<'_> {
    type Match<'m>
        = Range<usize>
    where
        Self: 'm;

    fn len(&self) -> usize {
        self.text.len()
    }

    #[inline]
    fn as_bytes(&self) -> &[u8] {
        if self.advance(1)
            && cfg!(panic = "unwind")
            && let Err(problem) = self.look()
        {
            resume_unwind(Box::new(problem));
        }
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, ix: usize) -> bool {
        self.text.is_char_boundary(ix)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, i: usize) -> usize {
        Input::prev_codepoint_ix(self.text, i)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, i: usize) -> usize {
        Input::advance_position(self.text, i)
    }
}

/// A copy of a text with U+FFFD for each byte that is not part of valid UTF-8, and the offsets of
/// these in the copy.
fn lossy_copy(bytes: &[u8]) -> (Cow<'_, str>, Vec<usize>) {
    let mut replaced = Vec::new();
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.into(), replaced);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            replaced.push(text.len());
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    (text.into(), replaced)
}
