//! What the library SentencePiece does to a text before merging.
//!
//! A text is read from left to right. At each place a user-defined symbol stays as it is, the longest
//! string of the compiled map that begins there is replaced, and any other character stays; a byte
//! that is not UTF-8 becomes U+FFFD. Spaces become marks. In one pass, O(n) for maps of short strings.

use std::ops::Range;

use serde::Deserialize;

use super::aligned::{Aligned, Place};
use super::charsmap::CharsMap;
use crate::error::{Error, Result};

/// What stands for a space.
const MARK: &str = "\u{2581}";

/// Finds the first user-defined symbol at a place of the text or behind it.
pub(crate) type Kept<'k> = &'k dyn Fn(usize) -> Option<Range<usize>>;

/// What a model says of its normalizer; the names of the flags are those of the model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "they are the model's")]
pub(crate) struct SentencePiece {
    /// The strings that are replaced, in base64.
    charsmap: Option<Map>,
    /// Whether a space is put before a text that is not empty.
    add_dummy_prefix: bool,
    /// Whether spaces at both ends are left out, and all but the first of several.
    remove_extra_whitespaces: bool,
    /// Whether spaces become marks.
    escape_whitespaces: bool,
    /// Whether the space is put behind the text instead.
    treat_whitespace_as_suffix: bool,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Map {
    strings: CharsMap,
    /// The bytes that stay before others below 128.
    staying: [bool; 128],
}

impl TryFrom<String> for Map {
    type Error = Error;

    fn try_from(written: String) -> Result<Self> {
        let strings = CharsMap::from_base64(&written)?;
        let staying = strings.staying_ascii();
        Ok(Self { strings, staying })
    }
}

/// A text, and where the next user-defined symbol is.
struct Reader<'r> {
    step: &'r SentencePiece,
    text: &'r [u8],
    kept: Kept<'r>,
    next_kept: Option<Range<usize>>,
}

impl SentencePiece {
    /// What a text becomes that begins at `start` of the caller's.
    pub(crate) fn normalized(
        &self,
        text: &[u8],
        start: usize,
        is_tracked: bool,
        kept: Kept<'_>,
    ) -> Aligned {
        let mut normal = Aligned::with_capacity(text.len() + text.len() / 2, is_tracked);
        let mut reader = Reader {
            step: self,
            text,
            kept,
            next_kept: kept(0),
        };
        let mut at = 0;
        while self.remove_extra_whitespaces
            && let Some((" ", length)) = reader.unit(at)
        {
            at += length;
        }
        let place = |at: usize, length: usize| (start + at, start + at + length);
        let Some((_, length)) = reader.unit(at) else {
            return normal;
        };
        let space = if self.escape_whitespaces { MARK } else { " " };
        if self.add_dummy_prefix && !self.treat_whitespace_as_suffix {
            normal.push(space, place(at, length));
        }
        let mut last = (at, length);
        let mut is_behind_space = self.remove_extra_whitespaces;
        loop {
            let run = if is_tracked { 0 } else { reader.run(at) };
            if let Ok(run) = std::str::from_utf8(&text[at..at + run])
                && !run.is_empty()
            {
                normal.push(run, place(at, run.len()));
                is_behind_space = false;
                at += run.len();
            }
            let Some((mut unit, length)) = reader.unit(at) else {
                break;
            };
            if is_behind_space {
                unit = unit.trim_start_matches(' ');
            }
            if !unit.is_empty() {
                self.write(unit, place(at, length), &mut normal);
                is_behind_space = self.remove_extra_whitespaces && unit.ends_with(' ');
            }
            last = (at, length);
            at += length;
        }
        if self.remove_extra_whitespaces {
            normal.trim_end(space);
        }
        if self.add_dummy_prefix && self.treat_whitespace_as_suffix {
            normal.push(space, place(last.0, last.1));
        }
        normal
    }

    fn write(&self, unit: &str, place: Place, normal: &mut Aligned) {
        if !self.escape_whitespaces || !unit.contains(' ') {
            return normal.push(unit, place);
        }
        for part in unit.split_inclusive(' ') {
            normal.push(part.trim_end_matches(' '), place);
            if part.ends_with(' ') {
                normal.push(MARK, place);
            }
        }
    }
}

impl<'r> Reader<'r> {
    /// How many of the next bytes surely stay as they are: no spaces, and all below 128.
    fn run(&self, at: usize) -> usize {
        let end = match &self.next_kept {
            Some(kept) => kept.start.max(at),
            None => self.text.len(),
        };
        let map = self.step.charsmap.as_ref();
        let stays = |byte: u8| map.is_none_or(|map| map.staying[usize::from(byte)]);
        let rest = &self.text[at..end];
        let is_run = |byte: &&u8| byte.is_ascii() && **byte != b' ' && stays(**byte);
        let run = rest.iter().take_while(is_run).count();
        // The last one may be part of a string with what follows.
        match self.text.get(at + run) {
            Some(next) if !next.is_ascii() => run.saturating_sub(1),
            _ => run,
        }
    }

    /// What is written for the next bytes, and how many they are; `None` at the end.
    fn unit(&mut self, at: usize) -> Option<(&'r str, usize)> {
        let rest = self.text.get(at..).filter(|rest| !rest.is_empty())?;
        while let Some(kept) = &self.next_kept
            && kept.start <= at
        {
            let is_here = kept.start == at;
            let symbol = std::str::from_utf8(&self.text[kept.clone()]);
            if let Ok(symbol) = symbol
                && is_here
            {
                return Some((symbol, symbol.len()));
            }
            self.next_kept = (self.kept)(at.max(kept.start + 1));
        }
        let map = self.step.charsmap.as_ref();
        if let Some((length, replacement)) = map.and_then(|map| map.strings.longest(rest)) {
            return Some((replacement, length));
        }
        let width = match rest[0] {
            0..0x80 => 1,
            0x80..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0.. => 4,
        };
        let character = rest.get(..width);
        let character = character.and_then(|bytes| std::str::from_utf8(bytes).ok());
        Some(character.map_or(("\u{FFFD}", 1), |character| (character, width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(flags: [bool; 4]) -> SentencePiece {
        let [prefix, removes, escapes, suffix] = flags;
        SentencePiece {
            charsmap: None,
            add_dummy_prefix: prefix,
            remove_extra_whitespaces: removes,
            escape_whitespaces: escapes,
            treat_whitespace_as_suffix: suffix,
        }
    }

    #[test]
    fn spaces_are_put_and_removed() {
        let (yes, no) = (true, false);
        for (flags, text, expected) in [
            ([yes, yes, yes, no], "  a  b ", "▁a▁b"),
            ([yes, no, yes, no], " a", "▁▁a"),
            ([yes, yes, yes, yes], " a  b ", "a▁b▁"),
            ([no, no, no, no], " a ", " a "),
            ([yes, yes, yes, no], "   ", ""),
            ([yes, yes, yes, no], "", ""),
            // A mark is no space before it is written as one.
            ([no, yes, yes, no], "▁ ▁a▁", "▁▁▁a"),
        ] {
            let normal = step(flags).normalized(text.as_bytes(), 0, false, &|_| None);
            assert_eq!(normal.text(), expected, "{text:?}");
        }
    }

    #[test]
    fn symbols_are_kept_and_places_known() {
        // "b  c" is kept, and each byte that is not UTF-8 is one character.
        let kept = |from: usize| (from <= 2).then_some(2..6);
        let normal =
            step([true, true, true, false]).normalized(b"a b  c\xFF\xE2\x96", 10, true, &kept);
        assert_eq!(normal.text(), "▁a▁b▁▁c\u{FFFD}\u{FFFD}\u{FFFD}");
        assert_eq!(normal.place(0..4), Some((10, 11)));
        assert_eq!(normal.place(7..8), Some((12, 16)));
        assert_eq!(normal.place(15..18), Some((16, 17)));
    }
}
