//! Scanning: where the words of a named pattern end, without a regular expression.
//!
//! A scanner states the rules of its pattern in three ways, for three uses. `word_end` matches the
//! regular expression at one place, by hand, and is exact on every input. `starts` finds all word
//! starts in a block of ASCII at once, with bit operations. `splits` decides whether a word always
//! ends between two neighbouring characters, whatever surrounds them.
//!
//! No pattern looks behind: the text before the start of a word does not influence that word or any
//! later one. So a block may begin at any word start, and needs nothing from the block before.

use std::marker::PhantomData;

use super::TakeGroups;
use super::block::{self, Any, Block, Processor, Work};
use super::class::{Class, NOT_SYMBOL, NOT_VISIBLE, class_before};
use crate::error::Result;
use crate::watch::Watch;

/// A character beside a possible cut: its class and its first byte.
#[derive(Clone, Copy)]
pub(super) struct Side {
    class: Class,
    pub(super) first_byte: u8,
}

impl Side {
    /// Whether the character has any of these flags.
    pub(super) fn is(self, flags: Class) -> bool {
        self.class & flags != 0
    }

    /// Whether both characters have the same of these flags.
    pub(super) fn agrees(self, other: Self, flags: Class) -> bool {
        self.class & flags == other.class & flags
    }

    /// Whether it is neither a letter, a number nor white space.
    pub(super) fn is_symbol(self) -> bool {
        !self.is(NOT_SYMBOL)
    }

    /// Whether it is a character other than white space.
    pub(super) fn is_visible(self) -> bool {
        !self.is(NOT_VISIBLE)
    }
}

/// The rules of a named pattern.
pub(super) trait Scanner {
    /// The end of the word that begins at `start`, which is before the end of the text.
    fn word_end(text: &[u8], start: usize) -> usize;

    /// The word starts in a block whose first byte starts a word.
    ///
    /// `ascii` has a bit for each of the leading bytes that are ASCII; what follows them is
    /// unknown, and may be the end of the text. Starts at the last two of these bytes and beyond
    /// are ignored. Before, a start may be missing only if all later ones are too: the next block
    /// finds them.
    fn starts<P: Processor>(block: Block<P>, ascii: u64) -> u64;

    /// Whether a word ends between the characters `a` and `b` whatever surrounds them, and the
    /// words before are the same if the text ends between them.
    fn splits(a: Side, b: Side) -> bool;
}

/// Hands over each group of neighbouring words, and checks the watch every few megabytes.
#[inline]
pub(super) fn for_each_group<S: Scanner>(
    text: &[u8],
    watch: &Watch,
    groups: &mut impl TakeGroups,
) -> Result<()> {
    const PART: usize = 1 << 22;
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let cut = rest.get(..PART).and_then(last_safe_cut::<S>);
        let end = cut.map_or(text.len(), |cut| start + cut);
        scan::<S>(&text[..end], start, groups);
        start = end;
        if start == text.len() {
            return Ok(());
        }
        watch.check()?;
    }
}

/// Hands over each group of words of `text[start..]`, by the best code for this processor.
#[inline]
fn scan<S: Scanner>(text: &[u8], start: usize, groups: &mut impl TakeGroups) {
    let scan = Scan {
        text,
        start,
        groups,
        scanner: PhantomData::<S>,
    };
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = block::Avx512::detect() {
        return processor.run(scan);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = block::Avx2::detect() {
        return processor.run(scan);
    }
    scan.run(Any);
}

/// A text to be scanned.
pub(super) struct Scan<'a, S, G> {
    pub(super) text: &'a [u8],
    pub(super) start: usize,
    pub(super) groups: &'a mut G,
    pub(super) scanner: PhantomData<S>,
}

impl<S: Scanner, G: TakeGroups> Work for Scan<'_, S, G> {
    #[inline(always)]
    fn run<P: Processor>(self, processor: P) {
        let (text, mut start) = (self.text, self.start);
        while start < text.len() {
            let mut base = start;
            let mut ends = starts_after::<S, P>(processor, text, base);
            if ends == 0 {
                // A group of one word, however long: its end is the second bit.
                (base, ends) = (S::word_end(text, base) - 1, 2);
            }
            self.groups.take(processor, base, ends);
            start = base + ends.ilog2() as usize;
        }
    }
}

/// The word starts after `base`, itself one, that the bytes of one block decide: possibly none.
#[inline(always)]
fn starts_after<S: Scanner, P: Processor>(processor: P, text: &[u8], base: usize) -> u64 {
    let rest = &text[base..];
    let Some((first, _)) = rest.split_first_chunk::<8>() else {
        return 0;
    };
    // With a character beyond ASCII this near, `word_end` is faster than a block.
    if u64::from_le_bytes(*first) & 0x8080_8080_8080_8080 != 0 {
        return 0;
    }
    match rest.first_chunk() {
        Some(bytes) => decided_starts::<S, P>(Block(bytes, processor)),
        None => starts_in_tail::<S>(rest),
    }
}

#[inline(always)]
fn decided_starts<S: Scanner, P: Processor>(block: Block<P>) -> u64 {
    let ascii = block.leading_ascii();
    S::starts(block, ascii) & (ascii >> 2) & !1
}

/// The same for a text that ends within the block: the missing bytes count as beyond ASCII.
#[inline(never)]
fn starts_in_tail<S: Scanner>(rest: &[u8]) -> u64 {
    let mut bytes = [0xff; block::LEN];
    bytes[..rest.len()].copy_from_slice(rest);
    decided_starts::<S, Any>(Block(&bytes, Any))
}

/// The largest cut after 0 between two characters that split.
pub(super) fn last_safe_cut<S: Scanner>(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    let mut right: Option<Side> = None;
    while end > 0 {
        let (class, start) = class_before(text, end);
        let first_byte = text[start];
        let side = Side { class, first_byte };
        if right.is_some_and(|right| S::splits(side, right)) {
            return Some(end);
        }
        // A single byte beyond ASCII is no character, or not yet: later bytes may complete it.
        right = (first_byte < 0x80 || end - start > 1).then_some(side);
        end = start;
    }
    None
}
