//! Texts in any case.
//!
//! Oniguruma folds case in full: a character that folds to several, such as ß to ss, matches them,
//! and they match it. Where one stands for another, the folding of regex-syntax does the same.

use std::collections::BTreeMap;

use super::escapes::escaped;

/// Where the characters lie that fold to several.
const FOLDED: [(char, char); 3] = [
    ('\u{DF}', '\u{587}'),
    ('\u{1E96}', '\u{1FFC}'),
    ('\u{FB00}', '\u{FB17}'),
];

/// Texts of several characters, and which characters fold to each.
pub(super) struct Folds(BTreeMap<Vec<char>, Vec<char>>);

impl Folds {
    pub(super) fn new() -> Self {
        let mut folds: BTreeMap<_, Vec<char>> = BTreeMap::new();
        for character in FOLDED.into_iter().flat_map(|(first, last)| first..=last) {
            let several = folded(character);
            if several.len() > 1 {
                folds.entry(several).or_default().push(character);
            }
        }
        Self(folds)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Vec<char>, &Vec<char>)> {
        self.0.iter()
    }

    /// An expression that matches a text in any case. From left to right, the most characters that
    /// some character folds to are taken together; in a look-behind each is taken alone.
    pub(super) fn any_case(&self, text: &[char], looks_behind: bool) -> String {
        let mut made = String::new();
        let (mut at, mut start) = (0, 0);
        while at < text.len() {
            let longest = if looks_behind {
                0
            } else {
                3.min(text.len() - at)
            };
            let found = (1..=longest).rev().find_map(|len| {
                let key: Vec<char> = match len {
                    1 => folded(text[at]),
                    _ => text[at..at + len]
                        .iter()
                        .map(|&one| folded_alone(one))
                        .collect(),
                };
                let (several, alike) = self.0.get_key_value(&key)?;
                Some((len, several, alike))
            });
            let Some((len, several, alike)) = found else {
                at += 1;
                continue;
            };
            made.push_str(&simple(&text[start..at]));
            let alike: Vec<String> = alike.iter().map(|&one| simple(&[one])).collect();
            made.extend(["(?:", &simple(several), "|", &alike.join("|"), ")"]);
            at += len;
            start = at;
        }
        made + &simple(&text[start..])
    }
}

/// A character without its case.
fn folded(character: char) -> Vec<char> {
    let small = character.to_lowercase();
    let capital = small.flat_map(char::to_uppercase);
    capital.flat_map(char::to_lowercase).collect()
}

/// The same, if that is one character.
fn folded_alone(character: char) -> char {
    match folded(character)[..] {
        [single] => single,
        _ => character,
    }
}

/// Each character in any case.
pub(super) fn simple(text: &[char]) -> String {
    if text.is_empty() {
        return String::new();
    }
    let text: String = text.iter().map(|&character| escaped(character)).collect();
    format!("(?i:{text})")
}
