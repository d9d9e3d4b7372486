//! Words one behind another.
//!
//! Most words end before the character that ends them, and the next word begins with it. A table in which
//! that is one step needs no decision at the ends of words, which no processor foresees: where words are
//! short, it reads several times as fast as an automaton that begins anew for each.

use super::{Automaton, DEAD, MATCH, STEPS};

/// The bit of a step that says that a word ends, and the next one begins, before the character that is read.
const ENDS: u16 = 1 << 14;
/// The state after a step.
const STATE: u16 = ENDS - 1;
/// The word does not go on, and ended earlier.
const FAILED: u16 = DEAD as u16;
/// The number of places whose ends are the bits of a mask.
const PLACES: usize = 64;

/// The steps of an automaton for which each character of every text is in a word.
#[derive(Debug)]
pub(in crate::pattern) struct Chain {
    steps: Vec<[u16; STEPS]>,
}

impl Chain {
    pub(in crate::pattern) fn new(automaton: &Automaton) -> Self {
        let first = automaton.steps[automaton.start];
        let mut steps = automaton.steps.clone();
        for (step, first) in steps.iter_mut().flat_map(|row| row.iter_mut().zip(first)) {
            if *step == MATCH | DEAD as u16 {
                *step = MATCH | ENDS | first;
            }
        }
        Self { steps }
    }

    /// The ends of the words of the next places, as bits from `start` on, where a word begins, and the end
    /// of one more word.
    #[inline]
    pub(in crate::pattern) fn read(
        &self,
        automaton: &Automaton,
        text: &[u8],
        start: usize,
    ) -> (u64, usize) {
        let (mut state, mut at, mut end, mut ends) = (automaton.start, start, start, 0);
        while at < text.len() && at - start < PLACES {
            let (input, length) = automaton.input(text, at);
            let step = self.steps[state][input];
            if step == FAILED {
                ends |= 1 << (end - start);
                (state, at) = (automaton.start, end);
                continue;
            }
            end = if step & MATCH != 0 { at } else { end };
            ends |= u64::from(step & ENDS != 0) << (at - start);
            state = usize::from(step & STATE);
            at += length;
        }
        (ends, automaton.run_on(state, text, at, end).0)
    }
}
