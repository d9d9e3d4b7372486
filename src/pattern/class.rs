//! Sets of characters, as regular expressions name them.
//!
//! They are those of the crate regex-syntax, so that all patterns have the same version of Unicode,
//! and the repository needs no table.

/// Characters as inclusive ranges.
pub(super) type Ranges = Vec<(char, char)>;

/// The characters of a class such as `\p{L}`; `None` for an expression that does not match exactly
/// one character of a set. The error is the message of the parser.
pub(super) fn parsed_ranges(expression: &str) -> Result<Option<Ranges>, String> {
    use regex_syntax::hir::{Class::Unicode, HirKind};
    let parsed = regex_syntax::parse(expression).map_err(|error| error.to_string())?;
    Ok(match parsed.kind() {
        HirKind::Class(Unicode(set)) => Some(set.iter().map(|r| (r.start(), r.end())).collect()),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok().and_then(|text| {
            let mut characters = text.chars();
            let first = characters.next()?;
            characters.next().is_none().then(|| vec![(first, first)])
        }),
        _ => None,
    })
}
