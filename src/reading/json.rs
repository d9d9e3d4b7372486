//! One field of a line of JSON.

use std::fmt;

use memchr::memchr;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor,
};
use serde_json::Value;
use serde_json::value::RawValue;

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
    if line
        .iter()
        .all(|byte| byte.is_ascii_whitespace() || *byte == 0x0B)
    {
        return Ok(false);
    }
    let start = texts.len();
    parse(line, field, texts).or_else(|_| {
        texts.truncate(start);
        let line = without_python_numbers(line);
        parse(&line, field, texts).map_err(|_| explain(&line, field))
    })
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
fn explain(line: &[u8], field: &str) -> Error {
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
        Err(failure) => {
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
        let value = <&RawValue>::deserialize(parser)?.get();
        if value == "null" {
            return Ok(false);
        }
        push_unescaped(value, self.0).ok_or_else(|| D::Error::custom("no string"))?;
        Ok(true)
    }
}

/// Append what a value stands for, if it is a string whose escapes are characters.
///
/// The parser would do so in a buffer that grows anew for each string, and with many threads these
/// wait for one another's memory: twice the time with 16.
fn push_unescaped(value: &str, texts: &mut Vec<u8>) -> Option<()> {
    let quoted = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut rest = quoted.as_bytes();
    while let Some(at) = memchr(b'\\', rest) {
        texts.extend_from_slice(&rest[..at]);
        let (&escaped, behind) = rest[at + 1..].split_first()?;
        rest = behind;
        match escaped {
            b'b' => texts.push(0x08),
            b'f' => texts.push(0x0C),
            b'n' => texts.push(b'\n'),
            b'r' => texts.push(b'\r'),
            b't' => texts.push(b'\t'),
            b'u' => {
                let character = take_character(&mut rest)?;
                texts.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            // A quote or a slash, since the parser took it.
            itself => texts.push(itself),
        }
    }
    texts.extend_from_slice(rest);
    Some(())
}

/// The character behind `\u`: a unit of UTF-16, or two of them.
fn take_character(rest: &mut &[u8]) -> Option<char> {
    let first = take_unit(rest)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some(character);
    }
    *rest = rest.strip_prefix(b"\\u")?;
    let pair = [first, take_unit(rest)?];
    char::decode_utf16(pair).next()?.ok()
}

fn take_unit(rest: &mut &[u8]) -> Option<u16> {
    let (digits, behind) = rest.split_at_checked(4)?;
    *rest = behind;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
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
    fn escapes_are_what_the_parser_makes_of_them() {
        let simple = r#"\" \\ \/ \b\f\n\r\t \\\\u0041"#.split(' ');
        let units = (0..=u16::MAX).map(|unit| format!("\\u{unit:04x}"));
        let edges = [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0x41];
        let pairs = edges.iter().flat_map(|first| {
            let pair = move |second| format!("\\u{first:04X}\\u{second:04X}");
            edges.iter().map(pair)
        });
        let cut = [r"\ud83d", r"\ud83d\n", r"\ud83dx"].map(str::to_owned);
        for escaped in simple
            .map(str::to_owned)
            .chain(units)
            .chain(pairs)
            .chain(cut)
        {
            let value = format!("\"a{escaped}é\"");
            let expected: Option<String> = serde_json::from_str(&value).ok();
            let found = field(&format!("{{\"text\": {value}}}")).ok().flatten();
            assert_eq!(found, expected, "{value}");
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
