//! Sets of characters: brackets, properties and types.

use super::folds::{Folds, simple};
use super::{Parser, escapes, refused};
use crate::error::Result;
use crate::pattern::class_ranges;

/// What `\w` matches in brackets.
const WORD: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}";
/// What `\h` matches.
const HEX: &str = "0-9A-Fa-f";
/// The empty set.
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// The sets that have names of their own in brackets as `[:alpha:]`, and as properties.
const SETS: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7F"),
    ("blank", r"\p{Zs}\t"),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"[^\s\p{Cc}\p{Cn}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[^\s\p{Cc}\p{Cn}]\p{Zs}"),
    ("punct", r"\p{P}\p{S}"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", WORD),
    ("xdigit", HEX),
];

/// A set in brackets.
pub(super) struct Class {
    is_negated: bool,
    /// What is inside, for fancy-regex.
    items: String,
}

impl Class {
    /// The expression for fancy-regex.
    pub(super) fn text(&self) -> String {
        let sign = if self.is_negated { "^" } else { "" };
        format!("[{sign}{}]", self.items)
    }

    /// The same in any case.
    pub(super) fn text_in_any_case(&self, folds: &Folds) -> Result<String> {
        let sign = if self.is_negated { "^" } else { "" };
        // Case is ignored in the set as a whole, not in sets inside it that are negated.
        let ranges = class_ranges(&format!("[{}]", self.items))?;
        let items: String = ranges
            .iter()
            .map(|&(first, last)| escapes::range(first, last))
            .collect();
        let mut made = vec![format!("(?i:[{sign}{items}])")];
        if !self.is_negated {
            let any_case = class_ranges(&format!("(?i:[{items}])"))?;
            let is_in = |one: char| any_case.iter().any(|&(a, b)| a <= one && one <= b);
            let several = folds
                .iter()
                .filter(|(_, alike)| alike.iter().any(|&one| is_in(one)));
            made.extend(several.map(|(several, _)| simple(several)));
        }
        Ok(format!("(?:{})", made.join("|")))
    }
}

/// Where in a set the parser is.
#[derive(Clone, Copy)]
enum State {
    Start,
    /// Behind a character, with which a range may begin.
    Value(char),
    /// Behind anything else.
    Complete,
}

impl Parser<'_> {
    /// A set, behind its opening bracket.
    pub(super) fn class(&mut self) -> Result<Class> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(refused("sets nested too deep"));
        }
        let is_negated = self.takes("^");
        let mut parts = vec![String::new()];
        let mut state = State::Start;
        // A bracket that is closed at once is a character, if another closes the set.
        if self.rest.starts_with(']') {
            if !self.rest[1..].contains(']') {
                return Err(refused("an empty set"));
            }
            self.next();
            state = State::Value(']');
        }
        loop {
            if self.rest.is_empty() {
                return Err(refused("a [ without its ]"));
            }
            if self.takes("&&") {
                finish(state, &mut parts);
                parts.push(String::new());
                state = State::Start;
            } else if self.takes("]") {
                finish(state, &mut parts);
                break;
            } else if self.rest.starts_with("[:") && self.is_named_set() {
                finish(state, &mut parts);
                let named = self.named_set()?;
                add(&mut parts, &named);
                state = State::Complete;
            } else if self.takes("[") {
                finish(state, &mut parts);
                let inner = self.class()?;
                add(&mut parts, &inner.text());
                state = State::Complete;
            } else {
                state = self.item(state, &mut parts)?;
            }
        }
        self.depth -= 1;
        if parts.len() > 1 {
            for empty in parts.iter_mut().filter(|part| part.is_empty()) {
                empty.push_str(NOTHING);
            }
        }
        Ok(Class {
            is_negated,
            items: parts.join("&&"),
        })
    }

    /// A character, a range, or a type or property.
    fn item(&mut self, state: State, parts: &mut [String]) -> Result<State> {
        let is_last = self.rest.starts_with("-]") || self.rest.starts_with("-&&");
        if let State::Value(first) = state
            && !is_last
            && self.takes("-")
        {
            let Ok(last) = self.class_character()? else {
                return Err(refused("a range that ends with a set"));
            };
            if first > last {
                return Err(refused("a range that ends before it begins"));
            }
            add(parts, &escapes::range(first, last));
            return Ok(State::Complete);
        }
        finish(state, parts);
        match self.class_character()? {
            Ok(character) => Ok(State::Value(character)),
            Err(set) => {
                add(parts, &set);
                Ok(State::Complete)
            }
        }
    }

    /// A character of a set, or a type or property in it.
    fn class_character(&mut self) -> Result<std::result::Result<char, String>> {
        match self.next() {
            Some('\\') if self.takes("b") => Ok(Ok('\u{8}')),
            Some('\\') => match self.character_type(WORD)? {
                Some(set) => Ok(Err(set)),
                None => self.escaped_character().map(Ok),
            },
            Some(character) => Ok(Ok(character)),
            None => Err(refused("a [ without its ]")),
        }
    }

    /// What the letter behind a backslash stands for, if it is a type or property; `word` is what
    /// `\w` matches here.
    pub(super) fn character_type(&mut self, word: &str) -> Result<Option<String>> {
        for (letter, set) in [
            ("w", format!("[{word}]")),
            ("W", format!("[^{word}]")),
            ("d", r"\d".to_owned()),
            ("D", r"\D".to_owned()),
            ("s", r"\s".to_owned()),
            ("S", r"\S".to_owned()),
            ("h", format!("[{HEX}]")),
            ("H", format!("[^{HEX}]")),
        ] {
            if self.takes(letter) {
                return Ok(Some(set));
            }
        }
        let is_negated = match self.rest.get(..2) {
            Some("p{") => false,
            Some("P{") => true,
            _ => return Ok(None),
        };
        self.rest = &self.rest[2..];
        let is_negated = is_negated != self.takes("^");
        let name = self.until("}", "a property")?;
        property(name, is_negated, word).map(Some)
    }

    /// Whether a set with a name comes next, and not a set that begins with a colon.
    fn is_named_set(&self) -> bool {
        let name = self.rest[2..].trim_start_matches('^');
        let letters = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        letters.len() < name.len() && letters.starts_with(":]")
    }

    /// A set such as `[:alpha:]`.
    fn named_set(&mut self) -> Result<String> {
        self.rest = &self.rest[2..];
        let is_negated = self.takes("^");
        let name = self.until(":]", "a named set")?;
        match SETS.iter().find(|(known, _)| *known == name) {
            Some((_, set)) => Ok(negated(set, is_negated)),
            None => Err(refused(&format!("an unknown set, [:{name}:],"))),
        }
    }
}

/// A property, such as `L` or `Latin`.
fn property(name: &str, is_negated: bool, word: &str) -> Result<String> {
    let plain: String = name
        .chars()
        .filter(|character| !" _-".contains(*character))
        .collect::<String>()
        .to_ascii_lowercase();
    let set = match &plain[..] {
        "word" => word.to_owned(),
        // As a property it is the category alone.
        "punct" => r"\p{P}".to_owned(),
        // No text has these: UTF-8 cannot write them.
        "cs" | "surrogate" => NOTHING.to_owned(),
        "unknown" | "zzzz" => r"\p{Cn}\p{Co}".to_owned(),
        _ => match SETS.iter().find(|(known, _)| *known == plain) {
            Some((_, set)) => (*set).to_owned(),
            None => format!(r"\p{{{name}}}"),
        },
    };
    let is_known = plain.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && class_ranges(&format!("[{set}a]")).is_ok();
    if !is_known {
        return Err(refused(&format!("an unknown property, \\p{{{name}}},")));
    }
    Ok(negated(&set, is_negated))
}

/// The set of these items, or all other characters.
fn negated(items: &str, is_negated: bool) -> String {
    // A property that stands alone needs no brackets.
    if let Some(name) = items
        .strip_prefix(r"\p")
        .filter(|name| name.find('}') == Some(name.len() - 1))
    {
        return format!(r"\{}{name}", if is_negated { 'P' } else { 'p' });
    }
    let sign = if is_negated { "^" } else { "" };
    format!("[{sign}{items}]")
}

/// Add to the last of the sets that are intersected.
fn add(parts: &mut [String], items: &str) {
    if let Some(last) = parts.last_mut() {
        last.push_str(items);
    }
}

/// Add the character that was read last, with which no range began.
fn finish(state: State, parts: &mut [String]) {
    if let State::Value(character) = state {
        add(parts, &escapes::range(character, character));
    }
}
