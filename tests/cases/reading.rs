//! Reads the cases. A field that is missing is null, and null is an empty list.

use std::panic::{RefUnwindSafe, catch_unwind};
use std::path::Path;

use mergewise::settings::{Normalization, Settings};
use mergewise::{Error, ErrorKind, Id, Result, WordCounts};
use serde_json::Value;

/// Run all cases of a file, and name those that fail.
pub(super) fn for_each_case(file: &str, run: impl Fn(&Value) + RefUnwindSafe) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(file);
    let json = std::fs::read_to_string(path).expect("a file of cases");
    let cases: Value = serde_json::from_str(&json).expect("JSON");
    assert!(!list(&cases).is_empty());
    let failed: Vec<&str> = list(&cases)
        .iter()
        .filter(|case| catch_unwind(|| run(case)).is_err())
        .map(|case| text(&case["name"]))
        .collect();
    assert!(failed.is_empty(), "cases of {file} that fail: {failed:#?}");
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number of 0 or more")
}

pub(super) fn size(value: &Value) -> usize {
    usize::try_from(number(value)).expect("a number that fits")
}

pub(super) fn id(value: &Value) -> Id {
    Id::try_from(number(value)).expect("an id")
}

pub(super) fn flag(value: &Value) -> bool {
    value.as_bool().unwrap_or(false)
}

/// Bytes: a string, or `{"hex": "61ff"}`.
pub(super) fn bytes(value: &Value) -> Vec<u8> {
    if let Some(text) = value.as_str() {
        return text.as_bytes().to_vec();
    }
    let hex = text(&value["hex"]);
    let digits = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]);
    digits
        .map(|byte| u8::from_str_radix(byte, 16).expect("two digits"))
        .collect()
}

pub(super) fn pairs<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<(Vec<u8>, T)> {
    let pairs = list(value).iter();
    pairs
        .map(|pair| (bytes(&pair[0]), read(&pair[1])))
        .collect()
}

/// The words of a case with their counts.
pub(super) fn counts_of(case: &Value, pattern: Option<&str>) -> Result<WordCounts> {
    let mut counts = WordCounts::new(Settings {
        pattern: pattern.map(str::to_owned),
        normalization: Normalization::None,
    });
    for (word, count) in pairs(&case["words"], number) {
        counts.add(&word, count)?;
    }
    Ok(counts)
}

pub(super) fn normalization(value: &Value) -> Normalization {
    match value.as_str() {
        None => Normalization::None,
        Some("nfc") => Normalization::Nfc,
        Some("nfkc") => Normalization::Nfkc,
        Some(other) => panic!("{other}"),
    }
}

/// Whether a failure is the one that a case expects.
pub(super) fn check_error(expected: &Value, error: &Error) {
    let kind = match text(&expected["kind"]) {
        "input" => ErrorKind::Input,
        "merges" => ErrorKind::Merges,
        "unknown token" => ErrorKind::UnknownToken,
        other => panic!("{other}"),
    };
    assert_eq!(error.kind(), kind, "{error}");
    if let Some(document) = expected["document"].as_u64() {
        assert_eq!(error.document().map(|index| index as u64), Some(document));
    }
    if let Some(offset) = expected["offset"].as_u64() {
        assert_eq!(error.offset(), Some(offset));
    }
}
