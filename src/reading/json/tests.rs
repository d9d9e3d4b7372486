//! The field of a line, by both ways, and beside what `serde_json` says.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::samples::Random;
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
    assert_eq!(text(r#"{"text": "a", "text": null, "n": NaN}"#), None);
    let line = r#"{"text": 1, "text": "b"}"#;
    assert_eq!(text(line).as_deref(), Some("b"));
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
        (
            r#"{"text":"a\ud83d b"}"#,
            "found a lone surrogate at column 17, which no text can hold, expected a pair",
        ),
    ] {
        let error = field(line).expect_err("it is wrong");
        assert_eq!(error.to_string(), message);
    }
    assert!(push_field(b"{\"text\": \"\xff\"}", "text", &mut Vec::new()).is_err());
}

/// What the scanner finds on a line that is read a few bytes at a time.
fn scanned(line: &[u8], piece_bytes: usize) -> Result<Option<Vec<u8>>> {
    let mut texts = Vec::new();
    let mut text = Appended {
        texts: &mut texts,
        start: 0,
    };
    let found = Line::in_pieces(line, piece_bytes).find("text", &mut text);
    match found {
        Ok(found) => Ok(found.then_some(texts)),
        Err(Stop::Wrong(error)) => Err(error),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// What a message says of a failure of `serde_json`.
fn worded(failure: &serde_json::Error) -> String {
    let failure = failure.to_string();
    let failure = failure.replace(" at line 1 column ", " at column ");
    for surrogate in [
        "lone leading surrogate in hex escape",
        "unexpected end of hex escape",
    ] {
        if let Some(column) = failure.strip_prefix(surrogate) {
            return format!(
                "found a lone surrogate{column}, which no text can hold, expected a pair"
            );
        }
    }
    format!("found no JSON ({failure}), expected an object")
}

#[test]
fn lines_are_scanned_as_serde_json_parses_them() {
    let mut random = Random(1);
    let (mut num_right, mut num_wrong, mut num_others) = (0, 0, 0);
    for _ in 0..10_000 {
        let line = random.line();
        let found = scanned(&line, 1 << 16);
        for piece_bytes in [1, 2, 3, 7] {
            assert_eq!(scanned(&line, piece_bytes), found);
        }
        let shown = String::from_utf8_lossy(&line).into_owned();
        let mut texts = Vec::new();
        let pushed = push_field(&line, "text", &mut texts);
        assert_eq!(pushed.map(|found| found.then_some(texts)), found, "{shown}");
        // serde_json does not take the mark.
        let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(&line);
        if is_blank(line) {
            assert_eq!(found, Ok(None));
            continue;
        }
        let mut texts = Vec::new();
        match parse(line, "text", &mut texts) {
            Ok(is_there) => {
                num_right += 1;
                assert_eq!(found, Ok(is_there.then_some(texts)), "{shown}");
            }
            Err(_) if shown.contains("NaN") || shown.contains("Infinity") => {}
            Err(failure) if !failure.is_data() => {
                num_wrong += 1;
                // The other words are those of a field that is no string.
                let ignored = serde_json::from_slice::<IgnoredAny>(line);
                let is_object = line.trim_ascii_start().starts_with(b"{");
                let is_number = failure.to_string().starts_with("number out of range");
                if is_number || (ignored.is_ok() && !is_object) {
                    // A number that is too large in place of a text, or a string that is none.
                    continue;
                }
                let failures = [Some(failure), ignored.err()].into_iter().flatten();
                let words: Vec<String> = failures.map(|failure| worded(&failure)).collect();
                let error = found.expect_err(&shown).to_string();
                assert!(words.contains(&error), "{shown}: {error}, not {words:?}");
            }
            Err(_) => num_others += u32::from(is_what_it_is(line, found)),
        }
    }
    // All kinds of lines came, and often.
    assert!(num_right.min(num_wrong).min(num_others) > 500);
}

/// Compare what is found on a line that is JSON, but has no text in the field, with its value.
fn is_what_it_is(line: &[u8], found: Result<Option<Vec<u8>>>) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return false;
    };
    let shown = String::from_utf8_lossy(line);
    let type_of = |value: &Value| match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        // What does not fit 64 bits is no float.
        Value::Number(_) => "number",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    };
    let expected = match &value {
        Value::Object(fields) => match fields.get("text") {
            None => {
                let names: Vec<_> = fields.keys().map(|name| format!("{name:?}")).collect();
                let names = if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                };
                format!("found the fields {names}, expected 'text'")
            }
            Some(Value::String(text)) => {
                assert_eq!(found, Ok(Some(text.clone().into_bytes())), "{shown}");
                return true;
            }
            Some(Value::Null) => {
                assert_eq!(found, Ok(None), "{shown}");
                return true;
            }
            Some(other) => format!("'text' is a {}, expected a string", type_of(other)),
        },
        other => format!("found a JSON {}, expected an object", type_of(other)),
    };
    let error = found.expect_err(&shown).to_string();
    let error = error.replace('\'', "\"").replace("is a int", "is a number");
    let error = error
        .replace("is a float", "is a number")
        .replace("JSON int", "JSON number");
    let error = error.replace("JSON float", "JSON number");
    assert_eq!(error, expected.replace('\'', "\""), "{shown}");
    true
}

#[test]
fn messages_are_short_whatever_the_names() {
    let names: Vec<_> = (0..1000)
        .map(|n| format!("\"{n} {}\": 0", "x".repeat(300)))
        .collect();
    let line = format!("{{{}}}", names.join(","));
    let message = field(&line).expect_err("the field is missing").to_string();
    assert!(message.len() < 12_000 && message.contains("xxx…', '10 xxx"));
    assert!(message.ends_with("…' and others, expected 'text'"));
}
