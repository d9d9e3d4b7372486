//! Regular expressions of the library Oniguruma, which tokenizers uses, written for the crate
//! fancy-regex.
//!
//! Both backtrack, look for the leftmost match and try alternatives in order, and both have the
//! tables of Unicode 16. They differ in what they call things, which is what is translated:
//!
//! | Oniguruma | means |
//! |---|---|
//! | `^`, `$` | the start and the end of a line; `^` not behind a newline that ends the text |
//! | `(?m)` | a dot matches newlines too |
//! | `x{1,3}+`, `x{2}?` | a repetition that is repeated, or optional |
//! | `x{3,1}` | `x{1,3}` that gives nothing back |
//! | `\w`, `\b`, `[[:punct:]]` | other sets of characters |
//! | `\h`, `\R`, `\X`, `\O`, `\N` | a hexadecimal digit, an end of a line, a grapheme cluster, any character, any but a newline |
//! | `(?i)` | also characters that stand for several: `ss` matches ß |
//! | `a(?i)b\|c` | `a(?i:b\|c)` |
//!
//! What has no counterpart is refused by name: absent operators, conditions, calls of groups, call-outs,
//! `\y`, and references to groups under `(?i)`.

mod classes;
mod escapes;
mod folds;

use crate::error::{Error, Result};
use folds::Folds;

/// How deep groups and sets may be nested.
const DEEPEST: usize = 200;
/// How long all sets in any case may be together.
const MOST_WRITTEN: usize = 1 << 20;

/// An expression of Oniguruma, as tokenizers has them, written for the crate fancy-regex.
///
/// ```
/// use mergewise::pipeline::from_oniguruma;
///
/// assert_eq!(from_oniguruma(r"\h+$")?, "[0-9A-Fa-f]+(?m:$)");
/// # Ok::<(), mergewise::Error>(())
/// ```
pub fn translated(regex: &str) -> Result<String> {
    let mut parser = Parser {
        rest: regex,
        depth: 0,
        has_names: has_names(regex),
        num_groups: 0,
        looks_behind: false,
        folds: None,
        num_written: 0,
    };
    let made = parser.alternatives(Flags::default())?;
    match parser.rest.chars().next() {
        None => Ok(made),
        Some(_) => Err(refused("a ) without its (")),
    }
}

fn refused(what: &str) -> Error {
    Error::InvalidPattern {
        message: format!("{what} in a regular expression of Oniguruma"),
    }
}

/// Whether groups have names; then those that have none are not counted.
fn has_names(regex: &str) -> bool {
    let mut opened = regex.match_indices("(?<").map(|(at, _)| &regex[at + 3..]);
    opened.any(|name| !name.starts_with(['=', '!'])) || regex.contains("(?'")
}

/// What `(?imx)` sets.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)]
struct Flags {
    ignores_case: bool,
    dot_is_all: bool,
    is_extended: bool,
}

/// A part of an expression, to which a quantifier may apply.
enum Atom {
    /// A character, joined with its neighbours before case is ignored.
    Character(char),
    /// An expression for fancy-regex that needs no brackets before a quantifier.
    Single(String),
    /// Any other.
    Several(String),
    /// What follows flags without a colon: the rest of the group.
    Rest(String),
    /// A comment, or white space that is none.
    Nothing,
}

/// Reads an expression from left to right.
struct Parser<'r> {
    rest: &'r str,
    depth: usize,
    has_names: bool,
    /// How many groups that are counted were opened.
    num_groups: usize,
    looks_behind: bool,
    /// Once they are needed.
    folds: Option<Folds>,
    num_written: usize,
}

impl<'r> Parser<'r> {
    /// Read a character.
    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next();
        self.rest = characters.as_str();
        next
    }

    /// Read this text, if it comes next.
    fn takes(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Read up to this text, and the text itself.
    fn until(&mut self, end: &str, what: &str) -> Result<&'r str> {
        let (inner, rest) = self
            .rest
            .split_once(end)
            .ok_or_else(|| refused(&format!("{what} without its {end}")))?;
        self.rest = rest;
        Ok(inner)
    }

    /// Everything up to the end of the group.
    fn alternatives(&mut self, flags: Flags) -> Result<String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(refused("groups nested too deep"));
        }
        let mut made = self.branch(flags)?;
        while self.takes("|") {
            made.push('|');
            made.push_str(&self.branch(flags)?);
        }
        self.depth -= 1;
        Ok(made)
    }

    /// Everything up to the next alternative or the end of the group.
    fn branch(&mut self, flags: Flags) -> Result<String> {
        let mut made = String::new();
        // Characters that no quantifier has applied to yet.
        let mut run = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let atom = self.atom(flags)?;
            if matches!(atom, Atom::Nothing) {
                continue;
            }
            self.skip_ignored(flags)?;
            let Some(mut quantifier) = self.quantifier()? else {
                if let Atom::Character(character) = atom {
                    run.push(character);
                    continue;
                }
                self.flush(&mut run, flags, &mut made);
                match atom {
                    Atom::Single(text) | Atom::Several(text) | Atom::Rest(text) => {
                        made.push_str(&text);
                    }
                    Atom::Character(_) | Atom::Nothing => {}
                }
                continue;
            };
            self.flush(&mut run, flags, &mut made);
            let mut repeated = match atom {
                Atom::Character(character) if flags.ignores_case => {
                    let looks_behind = self.looks_behind;
                    let single = self.folds().any_case(&[character], looks_behind);
                    format!("(?:{single})")
                }
                Atom::Character(character) => escapes::escaped(character),
                Atom::Single(text) => text,
                Atom::Several(text) | Atom::Rest(text) => format!("(?:{text})"),
                Atom::Nothing => String::new(),
            };
            loop {
                repeated.push_str(&quantifier.text);
                if quantifier.is_atomic {
                    repeated = format!("(?>{repeated})");
                }
                self.skip_ignored(flags)?;
                match self.quantifier()? {
                    Some(next) => quantifier = next,
                    None => break,
                }
                repeated = format!("(?:{repeated})");
            }
            made.push_str(&repeated);
        }
        self.flush(&mut run, flags, &mut made);
        Ok(made)
    }

    fn folds(&mut self) -> &Folds {
        self.folds.get_or_insert_with(Folds::new)
    }

    /// Write the characters that were collected.
    fn flush(&mut self, run: &mut Vec<char>, flags: Flags, made: &mut String) {
        if flags.ignores_case {
            let looks_behind = self.looks_behind;
            made.push_str(&self.folds().any_case(run, looks_behind));
        } else {
            made.extend(run.iter().map(|&character| escapes::escaped(character)));
        }
        run.clear();
    }

    /// Skip white space and comments where they mean nothing.
    fn skip_ignored(&mut self, flags: Flags) -> Result<()> {
        loop {
            if self.takes("(?#") {
                self.comment()?;
            } else if flags.is_extended && self.rest.starts_with(char::is_whitespace) {
                self.next();
            } else if flags.is_extended && self.rest.starts_with('#') {
                let line = self.rest.split_inclusive('\n').next().unwrap_or_default();
                self.rest = &self.rest[line.len()..];
            } else {
                return Ok(());
            }
        }
    }

    /// Read what is behind `(?#`.
    fn comment(&mut self) -> Result<()> {
        loop {
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                Some(')') => return Ok(()),
                Some(_) => {}
                None => return Err(refused("a comment without its )")),
            }
        }
    }

    fn atom(&mut self, flags: Flags) -> Result<Atom> {
        let before = self.rest.len();
        self.skip_ignored(flags)?;
        if self.rest.len() < before {
            return Ok(Atom::Nothing);
        }
        let single = |text: &str| Ok(Atom::Single(text.to_owned()));
        match self.next() {
            Some('^') => Ok(Atom::Several(r"(?:\A|(?m:^)(?!\z))".to_owned())),
            Some('$') => single("(?m:$)"),
            Some('.') if flags.dot_is_all => single("(?s:.)"),
            Some('.') => single("."),
            Some('[') => {
                let class = self.class()?;
                if !flags.ignores_case {
                    return Ok(Atom::Single(class.text()));
                }
                let text = class.text_in_any_case(self.folds())?;
                // Such a set may be long; an expression of many fills no memory.
                self.num_written += text.len();
                if self.num_written > MOST_WRITTEN {
                    return Err(refused("too many sets in any case"));
                }
                Ok(Atom::Single(text))
            }
            Some('(') => self.group(flags),
            Some('\\') => self.escape(flags),
            Some('*' | '+' | '?') => Err(refused("a quantifier behind nothing")),
            Some(character) => Ok(Atom::Character(character)),
            None => Ok(Atom::Nothing),
        }
    }

    /// A group, behind its opening bracket.
    fn group(&mut self, flags: Flags) -> Result<Atom> {
        if self.rest.starts_with('*') {
            return Err(refused("a call-out, (*...),"));
        }
        if !self.takes("?") {
            self.num_groups += 1;
            let opening = if self.has_names { "(?:" } else { "(" };
            return self.enclosed(opening, flags);
        }
        for same in [":", ">", "=", "!"] {
            if self.takes(same) {
                return self.enclosed(&format!("(?{same}"), flags);
            }
        }
        for same in ["<=", "<!"] {
            if self.takes(same) {
                let outer = std::mem::replace(&mut self.looks_behind, true);
                let made = self.enclosed(&format!("(?{same}"), flags);
                self.looks_behind = outer;
                return made;
            }
        }
        for (opening, closing) in [("<", ">"), ("'", "'")] {
            if self.takes(opening) {
                let name = self.until(closing, "the name of a group")?;
                return self.enclosed(&format!("(?<{name}>"), flags);
            }
        }
        for (start, what) in [
            ("~", "an absent operator"),
            ("(", "a condition"),
            ("{", "a call-out"),
        ] {
            if self.rest.starts_with(start) {
                return Err(refused(&format!("{what}, (?{start}...),")));
            }
        }
        self.flags(flags)
    }

    /// The rest of a group.
    fn enclosed(&mut self, opening: &str, flags: Flags) -> Result<Atom> {
        let inner = self.alternatives(flags)?;
        if !self.takes(")") {
            return Err(refused("a ( without its )"));
        }
        Ok(Atom::Single(format!("{opening}{inner})")))
    }

    /// Flags behind `(?`, and what they apply to.
    fn flags(&mut self, mut flags: Flags) -> Result<Atom> {
        let mut value = true;
        loop {
            match self.next() {
                Some('-') => value = false,
                Some('i') => flags.ignores_case = value,
                Some('m') => flags.dot_is_all = value,
                Some('x') => flags.is_extended = value,
                Some(':') => return self.enclosed("(?:", flags),
                Some(')') => {
                    let rest = self.alternatives(flags)?;
                    return Ok(Atom::Rest(format!("(?:{rest})")));
                }
                Some(other) => return Err(refused(&format!("the flag {other:?}"))),
                None => return Err(refused("a ( without its )")),
            }
        }
    }

    /// A quantifier, if one comes next.
    fn quantifier(&mut self) -> Result<Option<Quantifier>> {
        let start = self.rest;
        let mut quantifier = match self.next() {
            Some(sign @ ('*' | '+' | '?')) => Quantifier {
                text: sign.to_string(),
                is_atomic: false,
            },
            Some('{') => {
                if let Some(quantifier) = self.interval()? {
                    return Ok(Some(quantifier));
                }
                self.rest = start;
                return Ok(None);
            }
            _ => {
                self.rest = start;
                return Ok(None);
            }
        };
        for sign in ["?", "+"] {
            if self.takes(sign) {
                quantifier.text.push_str(sign);
                break;
            }
        }
        Ok(Some(quantifier))
    }

    /// An interval, behind its opening brace; anything else in braces is text.
    fn interval(&mut self) -> Result<Option<Quantifier>> {
        let Some((inner, rest)) = self.rest.split_once('}') else {
            return Ok(None);
        };
        let (low, high) = inner.split_once(',').unwrap_or((inner, inner));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(low) || !is_number(high) || (low.is_empty() && high.is_empty()) {
            return Ok(None);
        }
        let number = |text: &str| match text.parse::<u32>() {
            Ok(number) if number <= 100_000 => Ok(number),
            _ => Err(refused("a number of repetitions over 100000")),
        };
        self.rest = rest;
        let least = if low.is_empty() { 0 } else { number(low)? };
        if high.is_empty() {
            return Ok(Some(self.perhaps_lazy(format!("{{{least},}}"))));
        }
        let most = number(high)?;
        if least > most {
            return Ok(Some(Quantifier {
                text: format!("{{{most},{least}}}"),
                is_atomic: true,
            }));
        }
        let text = format!("{{{least},{most}}}");
        if inner.contains(',') {
            return Ok(Some(self.perhaps_lazy(text)));
        }
        Ok(Some(Quantifier {
            text,
            is_atomic: false,
        }))
    }

    fn perhaps_lazy(&mut self, mut text: String) -> Quantifier {
        if self.takes("?") {
            text.push('?');
        }
        Quantifier {
            text,
            is_atomic: false,
        }
    }
}

/// How often something is repeated.
struct Quantifier {
    /// For fancy-regex.
    text: String,
    /// Whether nothing of it is given back.
    is_atomic: bool,
}
