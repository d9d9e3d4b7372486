//! Characters as the bytes that they are spelled with, in texts that need not be UTF-8.

// They are compiled for the processor of their caller.
#![allow(clippy::inline_always)]

/// Whether a byte is one behind the first of a character.
#[inline(always)]
pub(crate) fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes a character that begins with this one has; 1 if none does.
#[inline(always)]
pub(crate) fn length_from(first: u8) -> usize {
    const LENGTHS: [u8; 256] = {
        let mut lengths = [1; 256];
        let mut first = 0xC2;
        while first <= 0xF4 {
            lengths[first] = 2 + (first >= 0xE0) as u8 + (first >= 0xF0) as u8;
            first += 1;
        }
        lengths
    };
    usize::from(LENGTHS[usize::from(first)])
}

/// A character as its bytes, the first one lowest, or a byte that is part of no character: cheaper to
/// read than a code point.
pub(crate) type Spelling = u32;

/// How characters that begin with a byte are spelled.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The bits that tell whether the bytes behind the first are such, and what these bits are.
    pub(crate) inside: (Spelling, Spelling),
    /// The bits of the whole spelling.
    pub(crate) all: Spelling,
}

/// The form of the characters that begin with a byte: the highest four bits decide.
pub(crate) const fn form(first: u8) -> Form {
    let all = match first {
        0xC0..0xE0 => 0xFFFF,
        0xE0..0xF0 => 0xFF_FFFF,
        0xF0.. => 0xFFFF_FFFF,
        _ => 0xFF,
    };
    Form {
        inside: (all & 0xC0C0_C000, all & 0x8080_8000),
        all,
    }
}

/// The form of the characters that begin with each byte.
static FORMS: [Form; 256] = {
    let mut forms = [form(0); 256];
    let mut first = 0;
    while first < 256 {
        forms[first] = form(first as u8);
        first += 1;
    }
    forms
};

/// The spelling of the character that begins at `at`. A longer one than needed counts as a
/// character, and so does one beyond the last code point.
#[inline(always)]
pub(crate) fn spelling_at(text: &[u8], at: usize) -> Spelling {
    let next = text[at..].first_chunk().copied();
    let next = next.unwrap_or_else(|| padded(&text[at..]));
    let Form { inside, all } = FORMS[usize::from(next[0])];
    let spelling = Spelling::from_le_bytes(next);
    spelling
        & if spelling & inside.0 == inside.1 {
            all
        } else {
            0xFF
        }
}

/// The last bytes of a text, and zeros.
#[cold]
fn padded(rest: &[u8]) -> [u8; 4] {
    let mut bytes = [0; 4];
    bytes[..rest.len()].copy_from_slice(rest);
    bytes
}

/// The spelling of the character that ends at `at`, which is not 0.
pub(crate) fn spelling_before(text: &[u8], at: usize) -> Spelling {
    let mut starts = (at.saturating_sub(4)..at).rev();
    let start = starts.find(|&start| !is_inside(text[start]));
    let start = start.filter(|&start| start + length_from(text[start]) == at);
    spelling_at(text, start.unwrap_or(at - 1))
}
