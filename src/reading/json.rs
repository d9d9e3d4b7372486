//! One field of a line of JSON.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{Error, Result};

/// Some programs begin a file with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// What Python's json writes of numbers that JSON does not have, and values of their lengths.
const PYTHON_NUMBERS: [(&str, &str); 3] = [
    ("-Infinity", "-11111111"),
    ("Infinity", "11111111"),
    ("NaN", "111"),
];

/// Append the string in a field of the object on a line; false if the line is blank or the field null.
/// Of a field that comes twice, the last counts.
pub(super) fn push_field(line: &[u8], field: &str, texts: &mut Vec<u8>) -> Result<bool> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    if is_blank(line) {
        return Ok(false);
    }
    let start = texts.len();
    parse(line, field, texts).or_else(|_| {
        texts.truncate(start);
        let line = without_python_numbers(line);
        parse(&line, field, texts).map_err(|failure| explain(&line, field, &failure))
    })
}

/// Whether a line is no record.
pub(super) fn is_blank(line: &[u8]) -> bool {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    line.iter().all(is_space)
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

/// The same line with other numbers in place of those that JSON does not have.
fn without_python_numbers(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    let (mut at, mut is_in_string) = (0, false);
    while at < line.len() {
        match line[at] {
            b'"' => is_in_string = !is_in_string,
            b'\\' => at += 1,
            _ if is_in_string => {}
            _ => {
                let rest = &mut line[at..];
                let known = PYTHON_NUMBERS
                    .iter()
                    .find(|(name, _)| rest.starts_with(name.as_bytes()));
                if let Some((name, number)) = known {
                    rest[..name.len()].copy_from_slice(number.as_bytes());
                    at += name.len() - 1;
                }
            }
        }
        at += 1;
    }
    line
}

/// What is wrong with a line.
fn explain(line: &[u8], field: &str, failure: &serde_json::Error) -> Error {
    let wrong = |message| Error::InvalidRecord {
        message,
        is_field_missing: false,
    };
    let record = match serde_json::from_slice(line) {
        Ok(Value::Object(record)) => record,
        Ok(other) => {
            return wrong(format!(
                "found a JSON {}, expected an object",
                type_of(&other)
            ));
        }
        Err(_) => {
            // The line is said elsewhere.
            let failure = failure
                .to_string()
                .replace(" at line 1 column ", " at column ");
            return wrong(format!("found no JSON ({failure}), expected an object"));
        }
    };
    let Some(value) = record.get(field) else {
        let known: Vec<_> = record.keys().map(|name| quoted(name)).collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        return Error::InvalidRecord {
            message: format!("found the fields {known}, expected {}", quoted(field)),
            is_field_missing: true,
        };
    };
    let (field, found) = (quoted(field), type_of(value));
    wrong(format!("{field} is a {found}, expected a string"))
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.escape_debug())
}

/// The type of a value, as Python names it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
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
mod tests {
    use super::*;

    fn field(line: &str) -> Result<Option<String>> {
        let mut texts = b"before".to_vec();
        let found = push_field(line.as_bytes(), "text", &mut texts)?;
        let text = String::from_utf8(texts.split_off(6)).expect("texts of JSON are UTF-8");
        assert_eq!(texts, b"before");
        assert!(found || text.is_empty());
        Ok(found.then_some(text))
    }

    fn text(line: &str) -> Option<String> {
        field(line).expect("it is an object with the field")
    }

    #[test]
    fn the_string_of_the_field() {
        assert_eq!(
            text(r#" {"text": "a\u00e9\ud83d\ude00\n\"", "n": 1}"#).as_deref(),
            Some("aé😀\n\"")
        );
        assert_eq!(text("\u{FEFF}{\"text\":\"\"}\r").as_deref(), Some(""));
        assert_eq!(text(r#"{"text": null}"#), None);
        assert_eq!(text(" \t\r"), None);
        assert_eq!(text(r#"{"text": "a", "text": "b"}"#).as_deref(), Some("b"));
        assert_eq!(text(r#"{"text": "a", "text": null}"#), None);
    }

    #[test]
    fn objects_are_found_together_only_if_there_is_one_on_each_line() {
        for (text, expected) in [
            (
                "{\"text\": \"a\\n\"}\n\n {\"text\": null} \n{\"text\": \"b\"}",
                Some("a\nb"),
            ),
            (
                "{\"text\": \"}\"}\n{\"n\": [{}\n,{}], \"text\": \"\"} {\"text\": \"b\"}\n",
                None,
            ),
            (
                "{\"text\": \"a\"} {\"text\": \"b\"}\n{\"text\":\n\"c\"}\n",
                None,
            ),
            ("{\"text\": \"a\"}\n{\"text\": \"b\"} {}\n", None),
            ("{\"text\": {\"a\": 1}\n{\"b\": 2}}\n", None),
            ("{\"text\": \"a\"}\n{\"n\": NaN, \"text\": \"b\"}\n", None),
            ("\u{FEFF}{\"text\": \"a\"}\n", None),
            ("{\"text\": \"a\n{}\"}\n", None),
        ] {
            let lines = text.as_bytes().split(|&byte| byte == b'\n');
            let lines = lines.filter(|line| !is_blank(line));
            let mut texts = Vec::new();
            let ends = push_fields(text.as_bytes(), lines, "text", &mut texts);
            assert_eq!(ends.is_some(), expected.is_some(), "{text}");
            if let Some(expected) = expected {
                assert_eq!(texts, expected.as_bytes());
                assert_eq!(ends, Some(vec![Some(2), None, Some(3)]));
            }
        }
    }

    #[test]
    fn other_fields_may_hold_anything() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for other in [
            "1e999",
            r#""\ud800 NaN""#,
            "[NaN, {\"a\": -Infinity}, Infinity]",
            &deep,
        ] {
            let line = format!(r#"{{"a": {other}, "text": "b"}}"#);
            assert_eq!(
                text(&line).as_deref(),
                Some("b"),
                "{}",
                &line[..line.len().min(40)]
            );
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_are_not_looked_for_in_strings() {
        let line = r#"{"n": NaN, "text": "\"NaN and \\\"Infinity"}"#;
        assert_eq!(text(line).as_deref(), Some("\"NaN and \\\"Infinity"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, message) in [
            (
                "{",
                "found no JSON (EOF while parsing an object at column 1), expected an object",
            ),
            (
                r#"{"text": "a"} x"#,
                "found no JSON (trailing characters at column 15), expected an object",
            ),
            ("[NaN]", "found a JSON list, expected an object"),
            (r#"{"text": 1.5}"#, "'text' is a float, expected a string"),
            (
                r#"{"b": 1, "a'": 1}"#,
                r"found the fields 'a\'', 'b', expected 'text'",
            ),
        ] {
            let error = field(line).expect_err("it is wrong");
            assert_eq!(error.to_string(), message);
        }
        assert!(push_field(b"{\"text\": \"\xff\"}", "text", &mut Vec::new()).is_err());
    }
}
