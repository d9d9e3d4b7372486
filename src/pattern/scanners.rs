//! The scanners of the named patterns. Comments quote the part of the expression that the code
//! stands for.

use super::block::{Block, Processor};
use super::class::{
    Class, END, LETTER, LOWER, NEWLINE, NOT_SYMBOL, NOT_VISIBLE, NUMBER, SPACE, UPPER, class_at,
};
use super::scan::{Scanner, Side};

/// The end of the run of characters from `at` whose class has, among the flags of `mask`, `flags`.
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

/// How white space is cut into words: the alternatives of the expression.
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
                // The last space belongs to the next word, unless it is the only one.
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
/// 0 if these bytes make none of them.
#[inline]
fn contraction(mut next: u8, mut after: u8, any_case: bool) -> usize {
    if any_case {
        if (next, after) == (0xc5, 0xbf) {
            return 3; // U+017F, the long s, which is an s to (?i).
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

/// The end of the contraction at `at`, or `at` itself if there is none.
#[inline]
fn contraction_end(text: &[u8], at: usize, any_case: bool) -> usize {
    if !is_byte(text, at, b'\'') {
        return at;
    }
    let byte = |index: usize| text.get(index).copied().unwrap_or(0);
    at + contraction(byte(at + 1), byte(at + 2), any_case)
}

/// `starts`, corrected for the contractions at `apostrophes`: a word starts after each of them,
/// none starts inside, and none at the apostrophe if contractions are `joined` to the letters
/// before.
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
        // What follows a contraction begins a word, so it is not joined to the word before.
        if len > 0 && !(joined && at == behind) {
            let inside = ((1 << len) - 1) << at;
            starts = starts & !inside | 1 << at << len;
            starts |= u64::from(!joined) << at;
            behind = at + len;
        }
    }
    starts
}

/// gpt2.
pub(super) struct Gpt2;

impl Scanner for Gpt2 {
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
        // From its first visible character on a word has characters of one kind, except in
        // contractions. As `a` is visible, no `(?!\S)` before it depends on `b`.
        let kinds = LETTER | NUMBER | SPACE;
        a.is_visible() && !a.agrees(b, kinds) && !(a.first_byte == b'\'' && b.is(LETTER))
    }
}

/// cl100k or, with `CASE`, o200k, which also cuts where the case of letters changes.
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
            // A mark is first tried as the lead, then as a letter, then by the second alternative.
            None if lead && first & LOWER != 0 => cased_end(text, start).0?,
            None if upper > body => upper,
            None => return None,
        };
        Some(contraction_end(text, end, true))
    }
}

/// The end of `U*L+`, if it matches at `start`, and the end of `U*`, where `U` are the characters
/// with the flag `UPPER` and `L` those with the flag `LOWER`.
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
            // `U*` backtracks to its last character that is also in `L`, which then matches `L+`.
            return (last_lower, upper);
        }
        upper += len;
        if class & LOWER != 0 {
            last_lower = Some(upper);
        }
    }
}

impl<const CASE: bool> Scanner for Tiktoken<CASE> {
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

    #[inline(always)]
    fn starts<P: Processor>(block: Block<P>, ascii: u64) -> u64 {
        let letter = block.letters();
        let number = block.within(b'0', b'9');
        let blank = block.equal(b' ');
        let newline = block.equal(b'\n') | block.equal(b'\r');
        let any_space = block.within(b'\t', b'\r') | blank;
        let any_symbol = !(letter | number | any_space);

        // The bytes that `[\r\n]*` or `[\r\n/]*` matches after symbols: the sum carries from the
        // first newline after a symbol to the end of the run.
        let tail_bytes = if CASE {
            newline | block.equal(b'/')
        } else {
            newline
        };
        let tail_start = newline & any_symbol << 1;
        let tail = tail_bytes & !tail_bytes.wrapping_add(tail_start) | tail_start;
        let symbol = any_symbol & !tail;
        let space = any_space & !tail;

        // A symbol that starts a word may lead letters; so may white space other than newlines.
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
        // After a letter, a digit or a symbol a word does not continue with white space, except
        // for newlines after symbols. As `a` is visible, no `(?!\S)` or `$` before it depends on
        // `b`.
        if b.is(NEWLINE) {
            return a.is(LETTER | NUMBER);
        }
        if b.is(SPACE) {
            return a.is_visible();
        }
        // Both newlines after symbols and white space up to its last newline end a word here. So
        // they do if the text ends here, as all of the white space is then in that word.
        if a.is(NEWLINE) {
            return !(CASE && b.first_byte == b'/');
        }
        // Digits are joined to nothing but digits. Symbols may lead letters, and after letters they
        // may be marks or begin contractions in o200k.
        if a.is(NUMBER) || b.is(NUMBER) {
            return a.is_visible() && a.is(NUMBER) != b.is(NUMBER);
        }
        a.is(LETTER) && b.is_symbol() && !(CASE && (b.is(LOWER) || b.first_byte == b'\''))
    }
}

/// The word starts in runs of digits: the first digit and every third one after it.
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

/// The white space after the last newline of a run of white space, unless it ends the run.
#[inline]
fn starts_after_newlines(space: u64, newline: u64, ascii: u64) -> u64 {
    let blanks = space & !newline;
    let mut starts = 0;
    let mut candidates = blanks & (space & newline) << 1;
    while candidates != 0 {
        let first = candidates & candidates.wrapping_neg();
        candidates ^= first;
        // The sum carries through the blanks to the byte that follows them. If that is a newline,
        // no word starts; if it is beyond the block, none is known to start, and as the run reaches
        // the end of the block no later start is missed.
        let after = blanks.wrapping_add(first) & !blanks;
        if after & !newline & ascii != 0 {
            starts |= first;
        }
    }
    starts
}

/// whitespace.
pub(super) struct Whitespace;

impl Scanner for Whitespace {
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

    #[inline(always)]
    fn starts<P: Processor>(block: Block<P>, _ascii: u64) -> u64 {
        let space = block.within(b'\t', b'\r') | block.equal(b' ');
        space & !(space << 1 & space >> 1)
    }

    fn splits(a: Side, b: Side) -> bool {
        // After its first visible character a word has no white space.
        a.is_visible() && b.is(SPACE)
    }
}
