//! Bytes to characters.

/// What becomes of bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Invalid {
    /// One U+FFFD for the beginning of a character, or else for each byte.
    Sequences,
    /// One U+FFFD for each byte.
    Bytes,
}

/// Takes the text out of `bytes`, in which a character that is not complete stays unless this is the
/// end.
pub(super) fn complete(bytes: &mut Vec<u8>, invalid: Invalid, is_end: bool) -> String {
    let given = match String::from_utf8(std::mem::take(bytes)) {
        Ok(text) => return text,
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(given.len());
    let mut chunks = given.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text += chunk.valid();
        let broken = chunk.invalid();
        let is_beginning =
            || std::str::from_utf8(broken).is_err_and(|error| error.error_len().is_none());
        if !is_end && chunks.peek().is_none() && is_beginning() {
            *bytes = broken.to_vec();
        } else if !broken.is_empty() {
            let number = match invalid {
                Invalid::Sequences => 1,
                Invalid::Bytes => broken.len(),
            };
            text.extend(std::iter::repeat_n(char::REPLACEMENT_CHARACTER, number));
        }
    }
    text
}

/// The byte that a token such as `<0x41>` names.
pub(super) fn byte_named(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_short = digits.len() == 2;
    is_short.then(|| u8::from_str_radix(digits, 16).ok())?
}
