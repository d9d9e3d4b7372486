//! What becomes of the matches at which a text is cut.

use std::ops::Range;

use serde::Deserialize;

/// What becomes of a match. With `-`, "a-b--c" is cut into:
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Behavior {
    /// a, b, c.
    Removed,
    /// a, -, b, -, -, c.
    #[default]
    Isolated,
    /// a-, b-, -, c.
    MergedWithPrevious,
    /// a, -b, -, -c.
    MergedWithNext,
    /// a, -, b, --, c.
    Contiguous,
}

impl Behavior {
    /// The words of a text of `len` bytes with these matches, which are in order and may be empty;
    /// if `invert`, with what lies between them as its matches.
    pub(super) fn words(
        self,
        len: usize,
        matches: &[Range<usize>],
        invert: bool,
    ) -> Vec<Range<usize>> {
        let mut parts = Vec::with_capacity(2 * matches.len() + 1);
        let mut end = 0;
        for found in matches {
            if end != found.start {
                parts.push((end..found.start, invert));
            }
            parts.push((found.clone(), !invert));
            end = found.end;
        }
        if end != len {
            parts.push((end..len, invert));
        }
        if self == Self::MergedWithNext {
            parts.reverse();
        }
        let mut words: Vec<Range<usize>> = Vec::with_capacity(parts.len());
        let mut was_match = false;
        for (part, is_match) in parts {
            let joins = match self {
                Self::Removed | Self::Isolated => false,
                Self::MergedWithPrevious | Self::MergedWithNext => is_match && !was_match,
                Self::Contiguous => is_match == was_match,
            };
            was_match = is_match;
            match words.last_mut() {
                Some(last) if joins => {
                    *last = last.start.min(part.start)..last.end.max(part.end);
                }
                _ if is_match && self == Self::Removed => {}
                _ => words.push(part),
            }
        }
        if self == Self::MergedWithNext {
            words.reverse();
        }
        words
    }
}

/// The characters of a text for which this holds, each a match.
pub(super) fn characters_where(text: &str, is_match: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    text.char_indices()
        .filter(|&(_, character)| is_match(character))
        .map(|(at, character)| at..at + character.len_utf8())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_behavior() {
        let text = "a-b--c";
        let hyphens: Vec<_> = text.match_indices('-').map(|(at, _)| at..at + 1).collect();
        for (behavior, expected) in [
            (Behavior::Removed, "a b c"),
            (Behavior::Isolated, "a - b - - c"),
            (Behavior::MergedWithPrevious, "a- b- - c"),
            (Behavior::MergedWithNext, "a -b - -c"),
            (Behavior::Contiguous, "a - b -- c"),
        ] {
            let words = behavior.words(text.len(), &hyphens, false);
            let words: Vec<&str> = words.into_iter().map(|word| &text[word]).collect();
            assert_eq!(words.join(" "), expected, "{behavior:?}");
        }
    }
}
