//! One field of a line of JSON.
//!
//! Short lines are parsed by `serde_json`. Lines of any length are read by a scanner, which also decides
//! what `serde_json` does not take, and says what is wrong.

mod line;
mod record;
mod strings;
mod values;
mod wrong;

use std::fmt;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::io_error;
use crate::error::Result;

use values::is_space;

pub(super) use line::Line;
pub(super) use record::Keeper;
pub(super) use wrong::Stop;

/// Append the string in a field of the object on a line; false if the line is blank or the field null.
/// Of a field that comes twice, the last counts.
pub(super) fn push_field(line: &[u8], field: &str, texts: &mut Vec<u8>) -> Result<bool> {
    if is_blank(line) {
        return Ok(false);
    }
    let start = texts.len();
    if let Ok(found) = parse(line, field, texts) {
        return Ok(found);
    }
    // It is wrong, or right though serde_json does not say so.
    texts.truncate(start);
    let mut text = Appended { texts, start };
    Line::new(line)
        .find(field, &mut text)
        .map_err(|stop| match stop {
            Stop::Wrong(error) | Stop::Unkept(error) => error,
            Stop::Unread(error) => io_error(Path::new(""), &error),
        })
}

/// Appends a text to others.
struct Appended<'t> {
    texts: &'t mut Vec<u8>,
    start: usize,
}

impl Keeper for Appended<'_> {
    fn begin(&mut self, _: u64) -> Result<()> {
        self.texts.truncate(self.start);
        Ok(())
    }

    fn push(&mut self, text: &[u8]) -> Result<()> {
        self.texts.extend_from_slice(text);
        Ok(())
    }
}

/// Whether a line is no record.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_space(byte))
}

/// Append the strings in a field of the objects on these lines of a text, of which all others are blank;
/// returns where each string ends in `texts`, or None for null. Nothing is returned if a line is no
/// record, or may be none.
///
/// One parser for all lines has one buffer for strings with escapes. With one for each line, the
/// buffers of many threads grow in the same part of memory, and threads wait for one another.
pub(super) fn push_fields<'t>(
    text: &[u8],
    lines: impl Iterator<Item = &'t [u8]> + Clone,
    field: &str,
    texts: &mut Vec<u8>,
) -> Option<Vec<Option<usize>>> {
    // In an object, `}` is never followed by `{`. So none goes on in the next line, and as many objects
    // as lines are one on each.
    let is_object = |line: &[u8]| {
        let line = line.trim_ascii();
        line.starts_with(b"{") && line.ends_with(b"}")
    };
    if !lines.clone().all(is_object) {
        return None;
    }
    let mut parser = serde_json::Deserializer::from_slice(text);
    let ends = lines.map(|_| {
        let found = Record { field, texts }.deserialize(&mut parser).ok()?;
        Some(found.then_some(texts.len()))
    });
    let ends: Option<Vec<_>> = ends.collect();
    ends.filter(|_| parser.end().is_ok())
}

fn parse(line: &[u8], field: &str, texts: &mut Vec<u8>) -> serde_json::Result<bool> {
    let mut parser = serde_json::Deserializer::from_slice(line);
    let found = Record { field, texts }.deserialize(&mut parser)?;
    parser.end()?;
    Ok(found)
}

/// Appends the string in a field of an object; false if it is null.
struct Record<'t> {
    field: &'t str,
    texts: &'t mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Record<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<bool, D::Error> {
        parser.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Record<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<bool, A::Error> {
        let start = self.texts.len();
        let mut found = None;
        while let Some(is_it) = fields.next_key_seed(Named(self.field))? {
            if is_it {
                self.texts.truncate(start);
                found = Some(fields.next_value_seed(Text(self.texts))?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        found.ok_or_else(|| A::Error::custom("no such field"))
    }
}

/// Whether the name of a field is this one.
struct Named<'t>(&'t str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<bool, D::Error> {
        parser.deserialize_str(self)
    }
}

impl Visitor<'_> for Named<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<bool, E> {
        Ok(name == self.0)
    }
}

/// Appends a string; false if it is null.
struct Text<'t>(&'t mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> std::result::Result<bool, D::Error> {
        parser.deserialize_any(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<bool, E> {
        self.0.extend_from_slice(text.as_bytes());
        Ok(true)
    }

    fn visit_unit<E>(self) -> std::result::Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
pub(super) mod samples;
#[cfg(test)]
mod tests;
