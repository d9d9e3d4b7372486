//! Texts in any case.
//!
//! Oniguruma folds case in full: a character that folds to several, such as ß to ss, matches them,
//! and they match it. Where one stands for another, the folding of regex-syntax does the same.

use super::escapes::escaped;

/// Where the characters lie that fold to several.
const FOLDED: [(char, char); 3] = [
    ('\u{DF}', '\u{587}'),
    ('\u{1E96}', '\u{1FFC}'),
    ('\u{FB00}', '\u{FB17}'),
];

/// The characters that fold to several, each with these.
pub(super) fn folded_to_several() -> impl Iterator<Item = (char, Vec<char>)> {
    let characters = FOLDED.into_iter().flat_map(|(first, last)| first..=last);
    characters
        .map(|character| (character, folded(character)))
        .filter(|(_, folded)| folded.len() > 1)
}

/// A character without its case.
fn folded(character: char) -> Vec<char> {
    let small = character.to_lowercase();
    let capital = small.flat_map(char::to_uppercase);
    capital.flat_map(char::to_lowercase).collect()
}

/// An expression that matches a text in any case. From left to right, the most characters that
/// some character folds to are taken together; not so behind a look-behind.
pub(super) fn any_case(text: &[char], looks_behind: bool) -> String {
    let mut made = String::new();
    let mut at = 0;
    while at < text.len() {
        let longest = if looks_behind {
            1
        } else {
            3.min(text.len() - at)
        };
        let several = (2..=longest).rev().find_map(|len| {
            let key: Vec<char> = text[at..at + len]
                .iter()
                .flat_map(|&character| match folded(character)[..] {
                    [single] => Some(single),
                    _ => None,
                })
                .collect();
            let alike: Vec<char> = folded_to_several()
                .filter(|(_, folded)| *folded == key)
                .map(|(character, _)| character)
                .collect();
            (!alike.is_empty()).then_some((key, alike))
        });
        let first = text[at];
        let own = folded(first);
        at += match several {
            Some((key, alike)) => {
                made.push_str(&alternatives(&key, &alike));
                key.len()
            }
            None if own.len() > 1 && !looks_behind => {
                made.push_str(&alternatives(&own, &[first]));
                1
            }
            None => {
                made.push_str(&simple(&[first]));
                1
            }
        };
    }
    made
}

/// Several characters, or one of those that fold to them, in any case.
fn alternatives(several: &[char], alike: &[char]) -> String {
    let alike: Vec<String> = alike.iter().map(|&one| simple(&[one])).collect();
    format!("(?:{}|{})", simple(several), alike.join("|"))
}

/// Each character in any case.
pub(super) fn simple(text: &[char]) -> String {
    let text: String = text.iter().map(|&character| escaped(character)).collect();
    format!("(?i:{text})")
}
