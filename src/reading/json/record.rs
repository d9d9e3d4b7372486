//! The field of a record on a line of any length, found in little memory as the bytes pass by.
//!
//! What is right is what `serde_json` takes for right if it ignores all other fields; beside that, the
//! numbers that Python writes and JSON does not have.

use std::collections::BTreeSet;
use std::io::Read;

use super::line::Line;
use super::values::{Kind, is_space};
use super::wrong::{Stop, Wrong};
use crate::error::Result as Kept;

/// Some programs begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// How many names of fields, and how many characters of each, a message has.
const MOST_NAMES: usize = 100;
const MOST_CHARACTERS: usize = 100;

/// Keeps the text of a field.
pub(in crate::reading) trait Keeper {
    /// A text, or another value, begins before this byte of the line, in place of what was kept before.
    fn begin(&mut self, offset: u64) -> Kept<()>;
    /// It goes on.
    fn push(&mut self, text: &[u8]) -> Kept<()>;
}

/// The names of fields, for a message.
#[derive(Default)]
struct Names {
    first: BTreeSet<String>,
    has_more: bool,
}

impl Names {
    fn add(&mut self, name: String) {
        self.first.insert(name);
        if self.first.len() > MOST_NAMES {
            self.first.pop_last();
            self.has_more = true;
        }
    }

    fn words(&self) -> String {
        if self.first.is_empty() {
            return "none".to_owned();
        }
        let names: Vec<_> = self.first.iter().map(|name| quoted(name)).collect();
        let more = if self.has_more { " and others" } else { "" };
        names.join(", ") + more
    }
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.escape_debug())
}

impl<R: Read> Line<R> {
    /// Find the string in a field of the object on the line; false if the line is blank or the field
    /// null. Of a field that comes twice, the last counts. What is behind an error is not read.
    pub(in crate::reading) fn find(
        &mut self,
        field: &str,
        keeper: &mut impl Keeper,
    ) -> Result<bool, Stop> {
        if self.begins_with(BYTE_ORDER_MARK)? {
            self.skip(BYTE_ORDER_MARK.len());
            self.begin_columns();
        }
        let (kind, names) = match self.next_byte()? {
            None => return Ok(false),
            Some(b'{') => self.fields(field, keeper)?,
            Some(byte) if is_space(byte) => return self.blank(),
            Some(_) => {
                let kind = self.value()?.name();
                self.end()?;
                let found = format!("found a JSON {kind}");
                return Err(Stop::unexpected(&found, "an object", false));
            }
        };
        self.end()?;
        match kind {
            Some(Kind::Str) => Ok(true),
            Some(Kind::None) => Ok(false),
            Some(other) => {
                let found = format!("{} is a {}", quoted(field), other.name());
                Err(Stop::unexpected(&found, "a string", false))
            }
            None => {
                let found = format!("found the fields {}", names.words());
                Err(Stop::unexpected(&found, &quoted(field), true))
            }
        }
    }

    /// A line that goes on with a space that JSON does not have is blank, or wrong there.
    fn blank(&mut self) -> Result<bool, Stop> {
        let wrong = self.wrong_next(Wrong::Value);
        loop {
            let window = self.window()?;
            let num_bytes = window.len();
            if num_bytes == 0 {
                return Ok(false);
            }
            if !window.iter().all(|&byte| is_space(byte)) {
                return Err(wrong);
            }
            self.skip(num_bytes);
        }
    }

    /// Nothing may follow.
    fn end(&mut self) -> Result<(), Stop> {
        match self.next_byte()? {
            Some(_) => Err(self.wrong_next(Wrong::Behind)),
            None => Ok(()),
        }
    }

    /// Go over an object. Returns of what type the field is, if it is there, and the names of all.
    fn fields(
        &mut self,
        field: &str,
        keeper: &mut impl Keeper,
    ) -> Result<(Option<Kind>, Names), Stop> {
        let (mut kind, mut names) = (None, Names::default());
        self.skip(1);
        while self.next_field(names.first.is_empty())? {
            let is_it = self.name(field, &mut names)?;
            self.colon()?;
            let first = self.next_byte()?;
            if is_it {
                keeper.begin(self.offset() + 1).map_err(Stop::Unkept)?;
            }
            if is_it && first == Some(b'"') {
                self.text(|text| keeper.push(text).map_err(Stop::Unkept))?;
                kind = Some(Kind::Str);
            } else {
                let found = self.value()?;
                kind = if is_it { Some(found) } else { kind };
            }
        }
        Ok((kind, names))
    }

    /// Go to the name of the next field, or over the bracket behind the last.
    fn next_field(&mut self, is_first: bool) -> Result<bool, Stop> {
        match self.next_byte()? {
            None => Err(self.wrong(Wrong::EndInObject)),
            Some(b'}') => {
                self.skip(1);
                Ok(false)
            }
            Some(b'"') if is_first => Ok(true),
            Some(_) if is_first => Err(self.wrong_next(Wrong::Key)),
            Some(b',') => {
                self.skip(1);
                match self.next_byte()? {
                    Some(b'"') => Ok(true),
                    Some(b'}') => Err(self.wrong_next(Wrong::LastComma)),
                    Some(_) => Err(self.wrong_next(Wrong::Key)),
                    None => Err(self.wrong(Wrong::EndInValue)),
                }
            }
            Some(_) => Err(self.wrong_next(Wrong::ObjectComma)),
        }
    }

    /// Go over a name; whether it is that of the field.
    fn name(&mut self, field: &str, names: &mut Names) -> Result<bool, Stop> {
        let (mut name, mut num_characters) = (String::new(), 0);
        let mut rest = Some(field.as_bytes());
        self.text(|text| {
            rest = rest.and_then(|rest| rest.strip_prefix(text));
            for character in String::from_utf8_lossy(text).chars() {
                if num_characters == MOST_CHARACTERS {
                    name.push('…');
                }
                num_characters += 1;
                if num_characters <= MOST_CHARACTERS {
                    name.push(character);
                }
            }
            Ok(())
        })?;
        names.add(name);
        Ok(rest.is_some_and(<[u8]>::is_empty))
    }
}
