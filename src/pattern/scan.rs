//! Scanning: where the words of a text end, by an automaton.
//!
//! A word's end is found in one of two ways. The automaton reads the word, character by character.
//! Or the verdicts of [`super::groups`] tell all ends in a block at once; the automaton then reads only
//! the words on which there is no verdict.

use super::TakeGroups;
use super::alphabet::Symbol;
use super::automaton::{Automaton, Chain, DEAD};
use super::backtracking::{Budget, Problem, Stop};
use super::block::{Found, LEN, Processor, Verdicts, Work, on_this_processor};
use super::class::Ranges;
use super::groups::Groups;
use super::linear;
use super::shown::{Bytes, Shown};
use super::syntax::Node;
use crate::error::Result;
use crate::watch::Watch;

/// A block is worth it if so many of its first characters are looked up: else the automaton is faster.
const NEXT: u32 = 8;
/// The end of a text is worth one if it is so long.
const LEAST_LEFT: usize = 16;

/// Finds the words of texts.
#[derive(Debug)]
pub(crate) struct Scanner {
    automaton: Automaton,
    is_linear: bool,
    /// For an automaton with which all of a text is words, and none between words.
    complete: Option<Complete>,
}

#[derive(Debug)]
struct Complete {
    /// `None` if there are too many symbols, or if there is a chain.
    groups: Option<Groups>,
    /// For words that are too short to show by few characters where they end.
    chain: Option<Chain>,
    /// Whether a text can be cut between two characters, by their symbols.
    cuts: Vec<Vec<bool>>,
}

/// What the pattern knows of a word that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordState(usize);

/// A word in a text that may go on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unfinished {
    /// The word ends here or later, if `is_ended` here.
    pub(crate) end: usize,
    /// What is behind this place was not looked at.
    pub(crate) read: usize,
    /// Whether no further text changes where it ends.
    pub(crate) is_ended: bool,
}

/// After how many steps the watch and the budget are read.
const LOOK: u64 = 1 << 20;

impl Scanner {
    /// `None` if the expression needs too large an automaton, or matches the empty text: what that
    /// means for neighbouring matches is for an engine that knows of them.
    pub(super) fn new(expression: &Node) -> Option<Self> {
        let automaton = Automaton::new(expression)?;
        (!automaton.matches_empty()).then(|| Self::of(automaton))
    }

    /// What also finds the gaps between words, as words, if an automaton can; those that go into a
    /// set, or out of it, as two.
    pub(super) fn with_gaps(&self, sets: &[Ranges]) -> Option<Self> {
        let scanner = Self::of(self.automaton.with_gaps(sets)?);
        scanner.is_complete().then_some(scanner)
    }

    fn of(automaton: Automaton) -> Self {
        let (neighbours, groups) = Groups::with_neighbours(&automaton);
        let is_chained = groups.as_ref().is_some_and(Groups::are_few);
        let complete = neighbours.is_complete().then(|| Complete {
            groups: groups.filter(|_| !is_chained),
            chain: is_chained.then(|| Chain::new(&automaton)),
            cuts: neighbours.cuts(),
        });
        Self {
            is_linear: linear::is_linear(&automaton, &neighbours),
            complete,
            automaton,
        }
    }

    /// Whether all of every text is words, so that they can be handed over in groups.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.is_some()
    }

    /// Whether finding the words takes time in proportion to the text, whatever the text.
    pub(super) fn is_linear(&self) -> bool {
        self.is_linear
    }

    #[cfg(test)]
    pub(super) fn is_chained(&self) -> bool {
        let complete = self.complete.as_ref();
        complete.is_some_and(|complete| complete.chain.is_some())
    }

    #[cfg(test)]
    pub(super) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// Hands over each group of neighbouring words, and checks the watch every few megabytes. Of a
    /// complete scanner only.
    #[inline]
    pub(crate) fn for_each_group(
        &self,
        text: &[u8],
        watch: &Watch,
        groups: &mut impl TakeGroups,
    ) -> Result<()> {
        const PART: usize = 1 << 22;
        let mut start = 0;
        loop {
            let rest = &text[start..];
            let cut = rest.get(..PART).and_then(|part| self.last_safe_cut(part));
            let end = cut.map_or(text.len(), |cut| start + cut);
            self.scan(&text[..end], start, groups);
            start = end;
            if start == text.len() {
                return Ok(());
            }
            watch.check()?;
        }
    }

    /// Hands over each group of words of `text[start..]`, which should not be long, by the best code for
    /// this processor.
    #[inline]
    pub(crate) fn scan(&self, text: &[u8], start: usize, groups: &mut impl TakeGroups) {
        on_this_processor(Scan {
            scanner: self,
            text,
            start,
            groups,
        });
    }

    /// Calls `word` for each match that is not empty and, unless gaps are dropped, for each gap between
    /// matches.
    pub(super) fn for_each_match(
        &self,
        text: &[u8],
        budget: Budget,
        watch: &Watch,
        drops_gaps: bool,
        mut word: impl FnMut(usize, usize),
    ) -> std::result::Result<(), Stop> {
        let (mut start, mut gap) = (0, 0);
        let (mut steps, mut next_look) = (0, 0);
        while start < text.len() {
            let (end, read) = self.automaton.run(text, start);
            steps += (read - start) as u64 + 1;
            if steps >= next_look {
                let problem = if watch.is_stopped() {
                    Some(Problem::Stopped)
                } else {
                    (steps > budget.steps).then_some(Problem::Steps(budget.steps))
                };
                if let Some(problem) = problem {
                    let offset = start;
                    return Err(Stop { problem, offset });
                }
                next_look = LOOK.min(budget.steps) + steps;
            }
            if end == start {
                start += self.automaton.alphabet().read(&text[start..]).1;
                continue;
            }
            if gap < start && !drops_gaps {
                word(gap, start);
            }
            word(start, end);
            (start, gap) = (end, end);
        }
        if gap < text.len() && !drops_gaps {
            word(gap, text.len());
        }
        Ok(())
    }

    /// The state of a word before its first character.
    pub(crate) fn start_of_word(&self) -> WordState {
        WordState(self.automaton.start())
    }

    /// How far a word goes that has come to a state before the place `start` of a text that may go on.
    pub(crate) fn go_on(&self, state: WordState, text: &[u8], start: usize) -> Unfinished {
        let (end, read, state) = self.automaton.read_on(state.0, text, start);
        Unfinished {
            end,
            read,
            is_ended: state == DEAD,
        }
    }

    /// The state of a word behind these whole characters.
    pub(crate) fn state_behind(&self, state: WordState, text: &[u8]) -> WordState {
        WordState(self.automaton.read_on(state.0, text, 0).2)
    }

    /// Where a word ends that has come to a state before the first character of a text.
    pub(crate) fn end_of_word(&self, state: WordState, text: &[u8]) -> usize {
        self.automaton.run_from(state.0, text, 0).0
    }

    /// The largest cut after 0 between two characters that allow one.
    pub(crate) fn last_safe_cut(&self, text: &[u8]) -> Option<usize> {
        let cuts = &self.complete.as_ref()?.cuts;
        if !cuts.iter().flatten().any(|&is_cut| is_cut) {
            return None;
        }
        let mut end = text.len();
        let mut right: Option<Symbol> = None;
        while end > 0 {
            let (symbol, start) = self.automaton.alphabet().read_before(text, end);
            if right.is_some_and(|right| cuts[usize::from(symbol)][usize::from(right)]) {
                return Some(end);
            }
            // A single byte beyond ASCII is no character, or not yet: later bytes may complete it.
            right = (text[start] < 0x80 || end - start > 1).then_some(symbol);
            end = start;
        }
        None
    }
}

/// A text to be scanned.
pub(super) struct Scan<'a, G> {
    pub(super) scanner: &'a Scanner,
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) groups: &'a mut G,
}

/// How far a scan is.
#[derive(Clone, Copy)]
struct At {
    /// Where the next word begins.
    word: usize,
    /// Where the next block begins, and the characters in it before which no word is known to end or not.
    /// Where the next word ends is before one of them or later.
    block: usize,
    unseen: u64,
    /// 1 if the first character of that block is a line end that belongs to what is before, else 0.
    kept: u64,
}

impl At {
    fn start_of(word: usize) -> Self {
        Self {
            word,
            block: word,
            unseen: !1,
            kept: 0,
        }
    }
}

impl<G: TakeGroups> Work for Scan<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<P: Processor>(self, processor: P) {
        let Some(complete) = &self.scanner.complete else {
            return;
        };
        let mut at = At::start_of(self.start);
        let mut filled_up = [0; LEN];
        while at.word < self.text.len() {
            let rest = &self.text[at.block..];
            let step = match (block_of(rest, &mut filled_up), &complete.groups) {
                (Some(bytes), Some(groups)) if P::HAS_BLOCKS => {
                    let mut found = processor.look_up(bytes, groups);
                    if rest.len() < LEN {
                        hide_from(&mut found, rest.len());
                    }
                    let block = (bytes, &found);
                    match &found.characters {
                        _ if found.foreign.trailing_zeros() < NEXT => self.read(complete, at.word),
                        None => self.decide(processor, groups, at, block, Bytes),
                        Some(characters) => self.decide(processor, groups, at, block, characters),
                    }
                }
                _ => self.read(complete, at.word),
            };
            // The only places where words are handed over: so this code stays small.
            self.groups.take(processor, step.base, step.ends);
            if let Some(end) = step.long {
                self.groups.take(processor, end - 1, 2);
            }
            at = step.at;
        }
    }
}

/// The first block of what is left of a text, filled up if that is shorter; none if so little is left that
/// the automaton is faster.
#[inline(always)]
fn block_of<'b>(rest: &'b [u8], filled_up: &'b mut [u8; LEN]) -> Option<&'b [u8; LEN]> {
    if let Some(block) = rest.first_chunk() {
        return Some(block);
    }
    if rest.len() < LEAST_LEFT {
        return None;
    }
    filled_up[..rest.len()].copy_from_slice(rest);
    Some(filled_up)
}

/// Let nothing be known of the bytes of a block from one on, which are not the text's, whatever they are.
#[inline(always)]
fn hide_from(found: &mut Found, byte: usize) {
    let character = match &found.characters {
        None => Bytes.number_before(byte),
        Some(characters) => characters.number_before(byte),
    };
    found.foreign |= u64::MAX << character;
}

/// Some words that were found.
struct Step {
    /// A bit for each end, from a place on.
    base: usize,
    ends: u64,
    /// The end of one more word, however long.
    long: Option<usize>,
    at: At,
}

impl Step {
    /// After the words that end at some places, one that ends at `end`.
    #[inline(always)]
    fn with_long(base: usize, ends: u64, end: usize) -> Self {
        Self {
            base,
            ends,
            long: Some(end),
            at: At::start_of(end),
        }
    }
}

/// The bits below the first that is set; all if none is.
#[inline(always)]
fn below_first(bits: u64) -> u64 {
    !bits & bits.wrapping_sub(1)
}

impl<G: TakeGroups> Scan<'_, G> {
    /// The words that end in a block: those on which there are verdicts, and those that the automaton finds
    /// where there are none.
    #[inline(always)]
    fn decide<P: Processor>(
        &self,
        processor: P,
        groups: &Groups,
        at: At,
        (bytes, found): (&[u8; LEN], &Found),
        shown: impl Shown,
    ) -> Step {
        let mut verdicts = Verdicts::new(found, at.kept);
        if at.unseen & 2 != 0 {
            verdicts.begin(0, found.at_start(bytes, groups, 0));
        }
        let base = at.block;
        let unseen = at.unseen & u64::MAX >> (LEN - shown.len());
        loop {
            let open = verdicts.open & unseen;
            let ends = verdicts.ends & unseen & below_first(open);
            let places = shown.places(processor, ends);
            let word = match places.checked_ilog2() {
                Some(last) => base + last as usize,
                None => at.word,
            };
            let without_long = |at: At| Step {
                base,
                ends: places,
                long: None,
                at,
            };
            if open == 0 {
                return without_long(At {
                    word,
                    // It shows the last two characters again: the verdict on a place depends on the two
                    // before it.
                    block: base + shown.last_but_one(),
                    unseen: !3,
                    kept: verdicts.kept >> (shown.len() - 2) & 1,
                });
            }
            if ends != 0 && verdicts.at_end & open & open.wrapping_neg() != 0 {
                return without_long(At::start_of(word));
            }
            let end = self.scanner.automaton.match_end(self.text, word);
            let character = shown.number_before(end - base);
            if character + 1 >= shown.len() || end == self.text.len() {
                return Step::with_long(base, places, end);
            }
            verdicts.ends = ends | verdicts.ends & u64::MAX << character | 1 << character;
            verdicts.open &= u64::MAX << character << 1;
            verdicts.begin(character, found.at_start(bytes, groups, character));
        }
    }

    /// Some words, as the automaton reads them.
    #[inline]
    fn read(&self, complete: &Complete, start: usize) -> Step {
        let automaton = &self.scanner.automaton;
        if let Some(chain) = &complete.chain {
            let (ends, end) = chain.read(automaton, self.text, start);
            return Step::with_long(start, ends, end);
        }
        let mut ends = 0;
        let mut end = start;
        loop {
            end = automaton.match_end(self.text, end);
            if end - start >= LEN || end == self.text.len() {
                return Step::with_long(start, ends, end);
            }
            ends |= 1 << (end - start);
        }
    }
}
