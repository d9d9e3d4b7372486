//! Characters and their classes, read from bytes that need not be UTF-8.
//!
//! The classes are those of the crate regex-syntax, so the named patterns and the regular
//! expressions of users have the same version of Unicode, and the repository needs no table.

use std::sync::atomic::{AtomicPtr, Ordering};

/// A set of the flags below. A symbol has none of them.
pub(super) type Class = u8;

/// `\p{L}`
pub(super) const LETTER: Class = 1;
/// `\p{N}`
pub(super) const NUMBER: Class = 2;
/// `\s`
pub(super) const SPACE: Class = 4;
/// `[\r\n]`
pub(super) const NEWLINE: Class = 8;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: the first part of a word of letters in o200k.
pub(super) const UPPER: Class = 16;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: the second part of a word of letters in o200k.
pub(super) const LOWER: Class = 32;
/// No character: the end of the text.
pub(super) const END: Class = 64;

/// A class without any of these is a symbol, `[^\s\p{L}\p{N}]`.
pub(super) const NOT_SYMBOL: Class = LETTER | NUMBER | SPACE | END;
/// A class without any of these is visible, `\S`.
pub(super) const NOT_VISIBLE: Class = SPACE | END;

const ASCII: [Class; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'A'..=b'Z' => LETTER | UPPER,
            b'a'..=b'z' => LETTER | LOWER,
            b'0'..=b'9' => NUMBER,
            b'\r' | b'\n' => SPACE | NEWLINE,
            b' ' | b'\t' | 0x0b | 0x0c => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    table
};

const CODE_POINTS: usize = 0x11_0000;
type Table = [Class; CODE_POINTS];

/// The class of every code point; built when the first character beyond ASCII is read.
#[inline]
fn table() -> &'static Table {
    // Not a `OnceLock`: in a child that was forked while another thread built the table, nobody
    // would end what it waits for. Here each thread that finds none builds one, and the first stays.
    static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
    #[cold]
    fn publish() -> *mut Table {
        let built = Box::into_raw(built_table());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match TABLE.compare_exchange(std::ptr::null_mut(), built, success, failure) {
            Ok(_) => built,
            Err(first) => first,
        }
    }
    let mut known = TABLE.load(Ordering::Acquire);
    if known.is_null() {
        known = publish();
    }
    // SAFETY: a table that was built, and that is neither changed nor freed.
    #[allow(
        unsafe_code,
        reason = "a pointer that threads agree on without waiting"
    )]
    unsafe {
        &*known
    }
}

fn built_table() -> Box<Table> {
    let mut table: Box<Table> = vec![0; CODE_POINTS]
        .into_boxed_slice()
        .try_into()
        .expect("a slice of just that length");
    for (class, flags) in [
        (r"\p{L}", LETTER),
        (r"\p{N}", NUMBER),
        (r"\s", SPACE),
        (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
        (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
    ] {
        for (first, last) in ranges(class) {
            for entry in &mut table[first as usize..=last as usize] {
                *entry |= flags;
            }
        }
    }
    table
}

/// The code points of a class such as `\p{L}`, as inclusive ranges.
pub(super) fn ranges(class: &str) -> Vec<(char, char)> {
    parsed_ranges(class)
        .ok()
        .flatten()
        .unwrap_or_else(|| unreachable!("{class} is a class of characters"))
}

/// The same for any regular expression; `None` if it does not match exactly one character of a
/// set. The error is the message of the parser.
pub(super) fn parsed_ranges(expression: &str) -> Result<Option<Vec<(char, char)>>, String> {
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

/// The class and the length of the character at `at`: `(END, 0)` at the end of the text. Each byte
/// that is not part of valid UTF-8 is a symbol.
#[inline]
pub(super) fn class_at(text: &[u8], at: usize) -> (Class, usize) {
    match text.get(at) {
        None => (END, 0),
        Some(&byte) if byte < 0x80 => (ASCII[byte as usize], 1),
        Some(_) => class_beyond_ascii(&text[at..]),
    }
}

#[inline]
fn class_beyond_ascii(rest: &[u8]) -> (Class, usize) {
    let bytes = match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => padded(rest),
    };
    // The six low bits of a continuation byte; at least 0x40 for any other byte.
    let [lead, b, c, d] = bytes.map(|byte| u32::from(byte ^ 0x80));
    let (code_point, continuations, shortest, len) = match bytes[0] {
        0xc2..=0xdf => ((lead & 0x1f) << 6 | b, b, 0x80, 2),
        0xe0..=0xef => ((lead & 0xf) << 12 | b << 6 | c, b | c, 0x800, 3),
        0xf0..=0xf4 => {
            let code_point = (lead & 7) << 18 | b << 12 | c << 6 | d;
            (code_point, b | c | d, 0x1_0000, 4)
        }
        _ => return (0, 1),
    };
    let surrogate = (0xd800..0xe000).contains(&code_point);
    match table().get(code_point as usize) {
        Some(&class) if continuations < 0x40 && code_point >= shortest && !surrogate => {
            (class, len)
        }
        _ => (0, 1),
    }
}

/// A text of fewer than four bytes, padded with zeros.
#[cold]
fn padded(rest: &[u8]) -> [u8; 4] {
    std::array::from_fn(|index| rest.get(index).copied().unwrap_or(0))
}

/// The class and the start of the character that ends at `end`, which is not 0.
pub(super) fn class_before(text: &[u8], end: usize) -> (Class, usize) {
    for len in 2..=end.min(4) {
        let (class, found) = class_at(&text[..end], end - len);
        if found == len {
            return (class, end - len);
        }
    }
    (class_at(&text[..end], end - 1).0, end - 1)
}
