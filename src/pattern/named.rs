//! The named patterns: each says in three ways, for three uses, where its words end.
//!
//! `word_end` is the regular expression, by hand: exact on every input. `starts` says the same of
//! a block of ASCII, with bit operations on all of its bytes at once. `splits` names the pairs of
//! neighbours between which a word always ends, whatever stands around them.
//!
//! No pattern looks behind: where a word begins, the text before it no longer matters. So a block
//! may begin at any word start, and needs nothing from the block before.

use super::TakeGroups;
use super::block::{self, Any, Block, Processor};
use super::class::{
    Class, END, LETTER, LOWER, NEWLINE, NOT_SYMBOL, NOT_VISIBLE, NUMBER, SPACE, UPPER, class_at,
    class_before,
};

/// A character beside a possible cut: its class and its first byte.
#[derive(Clone, Copy)]
pub(super) struct Side(Class, u8);

impl Side {
    fn is(self, flags: Class) -> bool {
        self.0 & flags != 0
    }

    fn is_symbol(self) -> bool {
        self.0 & NOT_SYMBOL == 0
    }

    fn is_visible(self) -> bool {
        self.0 & NOT_VISIBLE == 0
    }
}

/// A named pattern.
pub(super) trait Named {
    /// The end of the word that begins at `start`, which is before the end of the text.
    fn word_end(text: &[u8], start: usize) -> usize;

    /// Where words start in a block whose first byte starts one.
    ///
    /// `ascii` has the bits of the bytes to be judged by, the first ones; what follows is unknown,
    /// maybe the end of the text. The starts at the last two of them and beyond are not heeded.
    /// Before, a start may be missing only if all after it are: then they wait for the next block.
    fn starts<P: Processor>(block: Block<P>, ascii: u64) -> u64;

    /// Does a word end between the characters `a` and `b` whatever stands around them, and are the
    /// words before the same if the text ends between them?
    fn splits(a: Side, b: Side) -> bool;
}

/// Hands over each group of words of `text[start..]`.
#[inline]
pub(super) fn for_each_group<N: Named>(text: &[u8], start: usize, groups: &mut impl TakeGroups) {
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = block::Avx512::detect() {
        #[allow(unsafe_code, reason = "saves a tenth of the time to encode")]
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { for_each_group_by_avx512::<N>(processor, text, start, groups) };
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(processor) = block::Avx2::detect() {
        #[allow(unsafe_code, reason = "saves a seventh of the time to encode")]
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { for_each_group_by_avx2::<N>(processor, text, start, groups) };
    }
    for_each_group_by::<N, Any>(Any, text, start, groups);
}

/// The same, compiled for these processors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn for_each_group_by_avx2<N: Named>(
    processor: block::Avx2,
    text: &[u8],
    start: usize,
    groups: &mut impl TakeGroups,
) {
    for_each_group_by::<N, block::Avx2>(processor, text, start, groups);
}

/// The same, compiled for these processors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn for_each_group_by_avx512<N: Named>(
    processor: block::Avx512,
    text: &[u8],
    start: usize,
    groups: &mut impl TakeGroups,
) {
    for_each_group_by::<N, block::Avx512>(processor, text, start, groups);
}

#[allow(clippy::inline_always, reason = "see `Block`")]
#[inline(always)]
pub(super) fn for_each_group_by<N: Named, P: Processor>(
    processor: P,
    text: &[u8],
    mut start: usize,
    groups: &mut impl TakeGroups,
) {
    while start < text.len() {
        let mut base = start;
        let mut ends = starts_after::<N, P>(processor, text, base);
        if ends == 0 {
            // A word by itself, however long: its end is the second bit.
            (base, ends) = (N::word_end(text, base) - 1, 2);
        }
        groups.take(processor, base, ends);
        start = base + ends.ilog2() as usize;
    }
}

/// The word starts after `base`, itself one, that the bytes of one block decide: maybe none.
#[allow(clippy::inline_always, reason = "see `Block`")]
#[inline(always)]
fn starts_after<N: Named, P: Processor>(processor: P, text: &[u8], base: usize) -> u64 {
    let rest = &text[base..];
    let Some((first, _)) = rest.split_first_chunk::<8>() else {
        return 0;
    };
    // Where a character beyond ASCII is near, a block is not worth its while.
    if u64::from_le_bytes(*first) & 0x8080_8080_8080_8080 != 0 {
        return 0;
    }
    match rest.first_chunk() {
        Some(bytes) => decided_starts::<N, P>(Block(bytes, processor)),
        None => starts_in_tail::<N>(rest),
    }
}

#[allow(clippy::inline_always, reason = "see `Block`")]
#[inline(always)]
fn decided_starts<N: Named, P: Processor>(block: Block<P>) -> u64 {
    let ascii = block.leading_ascii();
    N::starts(block, ascii) & (ascii >> 2) & !1
}

/// As for a block, where the text has less: what is missing is as good as beyond ASCII.
#[inline(never)]
fn starts_in_tail<N: Named>(rest: &[u8]) -> u64 {
    let mut bytes = [0xff; block::LEN];
    bytes[..rest.len()].copy_from_slice(rest);
    decided_starts::<N, Any>(Block(&bytes, Any))
}

/// The largest cut after 0 between two characters that split.
pub(super) fn last_safe_cut<P: Named>(text: &[u8]) -> Option<usize> {
    let mut end = text.len();
    let mut right: Option<Side> = None;
    while end > 0 {
        let (class, start) = class_before(text, end);
        let side = Side(class, text[start]);
        if right.is_some_and(|right| P::splits(side, right)) {
            return Some(end);
        }
        // A byte beyond ASCII alone is not a character, or not yet: the next bytes may complete it.
        right = (side.1 < 0x80 || end - start > 1).then_some(side);
        end = start;
    }
    None
}

/// The end of the run of characters from `at` whose class, of the flags in `mask`, has `flags`.
#[inline]
fn run(text: &[u8], mut at: usize, mask: Class, flags: Class) -> usize {
    loop {
        let (class, len) = class_at(text, at);
        if class & mask != flags {
            return at;
        }
        at += len;
    }
}

fn is_byte(text: &[u8], at: usize, byte: u8) -> bool {
    text.get(at) == Some(&byte)
}

/// How white space before a visible character, or at the end of the text, makes words.
#[derive(Clone, Copy, PartialEq)]
enum Newlines {
    /// `\s+(?!\S)|\s+`
    Ignore,
    /// `\s*[\r\n]+|\s+(?!\S)|\s+`
    End,
    /// `\s+$|\s*[\r\n]|\s+(?!\S)|\s`
    EndInside,
}

/// The end of the word of white space that begins at `start`.
fn space_end(text: &[u8], start: usize, newlines: Newlines) -> usize {
    let (mut last, mut end) = (start, start);
    let mut after_newline = None;
    loop {
        let (class, len) = class_at(text, end);
        if class & SPACE == 0 {
            let at_end = class == END;
            return match after_newline {
                Some(after) if newlines == Newlines::End || !at_end => after,
                // The last character of white space is left to the next word, unless it is all.
                _ if at_end || last == start => end,
                _ => last,
            };
        }
        (last, end) = (end, end + len);
        if class & NEWLINE != 0 && newlines != Newlines::Ignore {
            after_newline = Some(end);
        }
    }
}

/// The length of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re`, by the bytes after the apostrophe;
/// 0 if it is none of them.
#[inline]
fn contraction(mut next: u8, mut after: u8, any_case: bool) -> usize {
    if any_case {
        if (next, after) == (0xc5, 0xbf) {
            return 3; // U+017F, the long s, which (?i) takes for an s.
        }
        next.make_ascii_lowercase();
        after.make_ascii_lowercase();
    }
    match (next, after) {
        (b's' | b'd' | b'm' | b't', _) => 2,
        (b'l', b'l') | (b'v' | b'r', b'e') => 3,
        _ => 0,
    }
}

/// The end of the contraction at `at`, or `at` if there is none.
#[inline]
fn contraction_end(text: &[u8], at: usize, any_case: bool) -> usize {
    if !is_byte(text, at, b'\'') {
        return at;
    }
    let byte = |index: usize| text.get(index).copied().unwrap_or(0);
    at + contraction(byte(at + 1), byte(at + 2), any_case)
}

/// `starts`, corrected for the contractions at `apostrophes`: a word starts after each, none inside,
/// and none at the apostrophe itself if contractions are `joined` to the letters before.
#[inline]
fn with_contractions<P: Processor>(
    block: Block<P>,
    mut starts: u64,
    mut apostrophes: u64,
    any_case: bool,
    joined: bool,
) -> u64 {
    let mut behind = 0;
    while apostrophes != 0 {
        let at = apostrophes.trailing_zeros() as usize;
        apostrophes &= apostrophes - 1;
        let byte = |index: usize| block.0.get(index).copied().unwrap_or(0);
        let len = contraction(byte(at + 1), byte(at + 2), any_case);
        // What follows a contraction begins a word, and so cannot be joined to the one before.
        if len > 0 && !(joined && at == behind) {
            let inside = ((1 << len) - 1) << at;
            starts = starts & !inside | 1 << at << len;
            starts |= u64::from(!joined) << at;
            behind = at + len;
        }
    }
    starts
}

/// gpt2: see [`super::GPT2`].
pub(super) struct Gpt2;

impl Named for Gpt2 {
    #[inline]
    fn word_end(text: &[u8], start: usize) -> usize {
        let contraction = contraction_end(text, start, false);
        if contraction > start {
            return contraction;
        }
        let body = start + usize::from(text[start] == b' ');
        let (class, len) = class_at(text, body);
        match class & NOT_SYMBOL {
            0 => run(text, body + len, NOT_SYMBOL, 0),
            LETTER => run(text, body + len, LETTER, LETTER),
            NUMBER => run(text, body + len, NUMBER, NUMBER),
            _ => space_end(text, start, Newlines::Ignore),
        }
    }

    #[allow(clippy::inline_always, reason = "see `Block`")]
    #[inline(always)]
    fn starts<P: Processor>(block: Block<P>, _ascii: u64) -> u64 {
        let letter = block.letters();
        let number = block.within(b'0', b'9');
        let blank = block.equal(b' ');
        let space = block.within(b'\t', b'\r') | blank;
        let symbol = !(letter | number | space);
        let same = letter & letter << 1 | number & number << 1 | symbol & symbol << 1;
        let starts = !space & !same & !(blank << 1) | space & !(space << 1 & space >> 1);
        let apostrophes = block.equal(b'\'') & starts & letter >> 1;
        with_contractions(block, starts, apostrophes, false, false)
    }

    fn splits(a: Side, b: Side) -> bool {
        // A word with a visible character is of one kind from there on, but for contractions. As
        // `a` is visible, no `(?!\S)` before it looks as far as `b`.
        let kinds = LETTER | NUMBER | SPACE;
        a.is_visible() && a.0 & kinds != b.0 & kinds && !(a.1 == b'\'' && b.is(LETTER))
    }
}

/// cl100k or, with `CASE`, o200k: see [`super::CL100K`] and [`super::O200K`].
pub(super) struct Tiktoken<const CASE: bool>;

impl<const CASE: bool> Tiktoken<CASE> {
    /// The end of the word of letters that begins at `start`, if one does.
    #[inline]
    fn letters_end(text: &[u8], start: usize) -> Option<usize> {
        let (first, len) = class_at(text, start);
        // `[^\r\n\p{L}\p{N}]?`
        let lead = first & (LETTER | NUMBER | NEWLINE) == 0;
        let body = if lead { start + len } else { start };
        if !CASE {
            let end = run(text, body, LETTER, LETTER);
            return (end > body).then_some(end);
        }
        let (full, upper) = cased_end(text, body);
        let end = match full {
            Some(end) => end,
            // A mark is tried as the lead first, then as a letter, before the second alternative.
            None if lead && first & LOWER != 0 => cased_end(text, start).0?,
            None if upper > body => upper,
            None => return None,
        };
        Some(contraction_end(text, end, true))
    }
}

/// The end of `U*L+`, if it matches at `start`, and that of `U*`, where `U` is what may be upper
/// case and `L` what may be lower case.
#[inline]
fn cased_end(text: &[u8], start: usize) -> (Option<usize>, usize) {
    let mut upper = start;
    let mut last_lower = None;
    loop {
        let (class, len) = class_at(text, upper);
        if class & UPPER == 0 {
            if class & LOWER != 0 {
                return (Some(run(text, upper + len, LOWER, LOWER)), upper);
            }
            // `U*` gives back all but the last character that is `L` too, which is then `L+`.
            return (last_lower, upper);
        }
        upper += len;
        if class & LOWER != 0 {
            last_lower = Some(upper);
        }
    }
}

impl<const CASE: bool> Named for Tiktoken<CASE> {
    #[inline]
    fn word_end(text: &[u8], start: usize) -> usize {
        if !CASE {
            let contraction = contraction_end(text, start, true);
            if contraction > start {
                return contraction;
            }
        }
        if let Some(end) = Self::letters_end(text, start) {
            return end;
        }
        let body = start + usize::from(text[start] == b' ');
        let (class, _) = class_at(text, body);
        if class & NOT_SYMBOL == 0 {
            let mut end = run(text, body, NOT_SYMBOL, 0);
            while matches!(text.get(end), Some(b'\r' | b'\n')) || CASE && is_byte(text, end, b'/') {
                end += 1;
            }
            return end;
        }
        if body == start && class & NUMBER != 0 {
            let mut end = start;
            for _ in 0..3 {
                let (class, len) = class_at(text, end);
                end += if class & NUMBER != 0 { len } else { 0 };
            }
            return end;
        }
        let newlines = if CASE {
            Newlines::End
        } else {
            Newlines::EndInside
        };
        space_end(text, start, newlines)
    }

    #[allow(clippy::inline_always, reason = "see `Block`")]
    #[inline(always)]
    fn starts<P: Processor>(block: Block<P>, ascii: u64) -> u64 {
        let letter = block.letters();
        let number = block.within(b'0', b'9');
        let blank = block.equal(b' ');
        let newline = block.equal(b'\n') | block.equal(b'\r');
        let any_space = block.within(b'\t', b'\r') | blank;
        let any_symbol = !(letter | number | any_space);

        // What `[\r\n]*` or `[\r\n/]*` adds to symbols: the sum carries from the first newline
        // after a symbol to the end of its run.
        let tail_bytes = if CASE {
            newline | block.equal(b'/')
        } else {
            newline
        };
        let tail_start = newline & any_symbol << 1;
        let tail = tail_bytes & !tail_bytes.wrapping_add(tail_start) | tail_start;
        let symbol = any_symbol & !tail;
        let space = any_space & !tail;

        // A symbol that starts a word may lead letters; so may white space but newlines.
        let symbol_start = symbol & !(symbol << 1) & !(blank << 1);
        let led = (symbol_start | space & !newline) << 1;
        let mut letter_start = letter & !(letter << 1) & !led;
        if CASE {
            let upper = block.within(b'A', b'Z');
            letter_start |= upper & (letter & !upper) << 1;
        }
        let space_start = space & !(space << 1) | space & !newline & !(any_space >> 1);
        let mut starts = letter_start | symbol_start | space_start;
        starts |= starts_in_threes(number) | starts_after_newlines(space, newline, ascii);

        let apostrophe = block.equal(b'\'') & letter >> 1;
        let place = if CASE { letter << 1 } else { starts };
        with_contractions(block, starts, apostrophe & place, true, CASE)
    }

    fn splits(a: Side, b: Side) -> bool {
        // Nothing that matches a letter, a digit or a symbol goes on with white space, but for the
        // newlines after symbols. As `a` is visible, no `(?!\S)` or `$` before it looks at `b`.
        if b.is(NEWLINE) {
            return a.is(LETTER | NUMBER);
        }
        if b.is(SPACE) {
            return a.is_visible();
        }
        // Both newlines after symbols and white space up to its last newline end here: also if the
        // text does, since all of the white space is then in that word.
        if a.is(NEWLINE) {
            return !(CASE && b.1 == b'/');
        }
        // Digits are never joined to what is no digit; symbols may lead letters, and after letters
        // they may be marks or contractions to o200k.
        if a.is(NUMBER) || b.is(NUMBER) {
            return a.is_visible() && a.is(NUMBER) != b.is(NUMBER);
        }
        a.is(LETTER) && b.is_symbol() && !(CASE && (b.is(LOWER) || b.1 == b'\''))
    }
}

/// Every third digit of a run starts a word.
#[inline]
fn starts_in_threes(number: u64) -> u64 {
    let fourth = number & number << 1 & number << 2 & number << 3;
    let mut starts = number & !(number << 1);
    let mut next = starts << 3 & fourth;
    while next != 0 {
        starts |= next;
        next = next << 3 & fourth;
    }
    starts
}

/// White space after the last newline in a run of white space that does not end it.
#[inline]
fn starts_after_newlines(space: u64, newline: u64, ascii: u64) -> u64 {
    let blanks = space & !newline;
    let mut starts = 0;
    let mut candidates = blanks & (space & newline) << 1;
    while candidates != 0 {
        let first = candidates & candidates.wrapping_neg();
        candidates ^= first;
        // The sum carries through the blanks to what follows them. If that is a newline, there is
        // no start; if it is out of sight, none known, and the run hides no start after it.
        let after = blanks.wrapping_add(first) & !blanks;
        if after & !newline & ascii != 0 {
            starts |= first;
        }
    }
    starts
}

/// whitespace: see [`super::WHITESPACE`].
pub(super) struct Whitespace;

impl Named for Whitespace {
    #[inline]
    fn word_end(text: &[u8], start: usize) -> usize {
        let (class, len) = class_at(text, start);
        let body = if class & SPACE != 0 {
            start + len
        } else {
            start
        };
        let end = run(text, body, NOT_VISIBLE, 0);
        if end > body {
            return end;
        }
        space_end(text, start, Newlines::Ignore)
    }

    #[allow(clippy::inline_always, reason = "see `Block`")]
    #[inline(always)]
    fn starts<P: Processor>(block: Block<P>, _ascii: u64) -> u64 {
        let space = block.within(b'\t', b'\r') | block.equal(b' ');
        space & !(space << 1 & space >> 1)
    }

    fn splits(a: Side, b: Side) -> bool {
        // Once a word has a visible character, it goes on with nothing else.
        a.is_visible() && b.is(SPACE)
    }
}
