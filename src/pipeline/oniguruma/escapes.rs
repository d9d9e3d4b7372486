//! What stands behind a backslash, and characters written for fancy-regex.

use super::{Atom, Flags, Parser, refused};
use crate::error::Result;

/// What `\w` matches outside brackets: for the first 256 characters Oniguruma has another table.
pub(super) const WORD_ALONE: &str =
    r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}";

/// A grapheme cluster, as Unicode defines it.
const CLUSTER: &str = concat!(
    r"(?>\r\n|[\p{gcb=CN}\r\n]|\p{gcb=PP}*+(?:",
    r"\p{gcb=L}*(?:\p{gcb=V}+|\p{gcb=LV}\p{gcb=V}*|\p{gcb=LVT})\p{gcb=T}*|\p{gcb=L}+|\p{gcb=T}+",
    r"|\p{gcb=RI}\p{gcb=RI}",
    r"|\p{Extended_Pictographic}(?:\p{gcb=EX}*\x{200D}\p{Extended_Pictographic})*",
    r"|[^\p{gcb=CN}\r\n])[\p{gcb=EX}\p{gcb=SM}\p{gcb=ZWJ}]*+|\p{gcb=PP}++)",
);

impl Parser<'_> {
    /// What is behind a backslash, outside of sets.
    pub(super) fn escape(&mut self, flags: Flags) -> Result<Atom> {
        if let Some(set) = self.character_type(WORD_ALONE)? {
            return Ok(Atom::Single(set));
        }
        let start = self.rest;
        let Some(letter) = self.next() else {
            return Err(refused("a backslash at the end"));
        };
        let single = |text: &str| Ok(Atom::Single(text.to_owned()));
        let word = |text: &str| single(&text.replace('W', &format!("[{WORD_ALONE}]")));
        match letter {
            'A' => single(r"\A"),
            'z' => single(r"\z"),
            'Z' => single(r"(?=\n?\z)"),
            'G' => single(r"\G"),
            'K' => single(r"\K"),
            'b' => word("(?:(?<=W)(?!W)|(?<!W)(?=W))"),
            'B' => word("(?:(?<=W)(?=W)|(?<!W)(?!W))"),
            'R' => single(r"(?>\r\n|[\n-\r\x{85}\x{2028}\x{2029}])"),
            'N' => single(r"[^\n]"),
            'O' => single("(?s:.)"),
            'X' => single(CLUSTER),
            'y' | 'Y' | 'g' => Err(refused(&format!("\\{letter}"))),
            'k' if self.rest.starts_with(['<', '\'']) => self.reference(flags),
            '1'..='9' => {
                self.rest = start;
                let number = self.digits(10, 9).to_owned();
                // A large number that is not of a group before it is an octal one.
                let index: usize = number.parse().unwrap_or(usize::MAX);
                if index <= 9 || index <= self.num_groups {
                    return reference_to(&number, flags);
                }
                self.rest = start;
                self.escaped_character().map(Atom::Character)
            }
            _ => {
                self.rest = start;
                self.escaped_character().map(Atom::Character)
            }
        }
    }

    /// A reference to a group, behind `\k`.
    fn reference(&mut self, flags: Flags) -> Result<Atom> {
        let closing = if self.next() == Some('<') { ">" } else { "'" };
        let name = self.until(closing, "a reference")?;
        reference_to(name, flags)
    }

    /// The character that is written behind a backslash.
    pub(super) fn escaped_character(&mut self) -> Result<char> {
        if self.rest.starts_with(|c: char| c.is_digit(8)) {
            return self.character_of_bytes("", 8, 3);
        }
        let Some(letter) = self.next() else {
            return Err(refused("a backslash at the end"));
        };
        match letter {
            't' => Ok('\t'),
            'n' => Ok('\n'),
            'v' => Ok('\u{B}'),
            'f' => Ok('\u{C}'),
            'r' => Ok('\r'),
            'a' => Ok('\u{7}'),
            'e' => Ok('\u{1B}'),
            'x' | 'o' if self.takes("{") => {
                let digits = self.until("}", "a number")?;
                character_of(digits, if letter == 'x' { 16 } else { 8 })
            }
            'x' => self.character_of_bytes("x", 16, 2),
            'u' => {
                let digits = self.digits(16, 4);
                character_of(digits, 16)
            }
            'c' => match self.next() {
                Some(key) if key.is_ascii() && key != '\\' => Ok(char::from(key as u8 & 0x1F)),
                _ => Err(refused("\\c without a letter")),
            },
            'C' | 'M' => Err(refused(&format!("\\{letter}"))),
            other => Ok(other),
        }
    }

    /// Read digits, at most so many.
    fn digits(&mut self, radix: u32, most: usize) -> &str {
        let is_digit = |(index, c): &(usize, char)| *index < most && c.is_digit(radix);
        let len = self.rest.chars().enumerate().take_while(is_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits
    }

    /// A character whose bytes are written one by one, as `\xC3\xA4`; the first backslash is read.
    fn character_of_bytes(&mut self, letter: &str, radix: u32, most: usize) -> Result<char> {
        let mut bytes = Vec::new();
        loop {
            let digits = self.digits(radix, most);
            // Without digits it is 0.
            let byte = u8::from_str_radix(&format!("0{digits}"), radix)
                .map_err(|_| refused("a byte over 255"))?;
            bytes.push(byte);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                return Ok(text.chars().next().unwrap_or_default());
            }
            if bytes.len() == 4 || !self.takes(&format!("\\{letter}")) {
                return Err(refused("bytes that are not UTF-8"));
            }
        }
    }
}

/// A reference to a group by its number or name.
fn reference_to(name: &str, flags: Flags) -> Result<Atom> {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if flags.ignores_case || !is_plain || name.is_empty() {
        return Err(refused(&format!("the reference to {name:?}")));
    }
    Ok(Atom::Single(format!(r"\k<{name}>")))
}

fn character_of(digits: &str, radix: u32) -> Result<char> {
    u32::from_str_radix(digits, radix)
        .ok()
        .and_then(char::from_u32)
        .ok_or_else(|| refused(&format!("the number {digits:?}, which is no character,")))
}

/// A character, written so that it stands for itself.
pub(super) fn escaped(character: char) -> String {
    match character {
        '\n' => r"\n".to_owned(),
        '\r' => r"\r".to_owned(),
        '\t' => r"\t".to_owned(),
        control if control.is_control() => format!("\\x{{{:X}}}", u32::from(control)),
        sign if r"\.+*?()|[]{}^$#&-~".contains(sign) => format!("\\{sign}"),
        other => other.to_string(),
    }
}

/// A range of characters inside brackets.
pub(super) fn range(first: char, last: char) -> String {
    if first == last {
        return escaped(first);
    }
    format!("{}-{}", escaped(first), escaped(last))
}
