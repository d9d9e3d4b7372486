//! Unicode normalisation of texts that may contain any bytes, with the tables of Unicode 9: those of
//! the library tokenizers, so that files mean the same here and there.

use std::borrow::Cow;

use unicode_normalization_alignments::UnicodeNormalization;

use crate::settings::Normalization;

/// The text in a normal form. Bytes that are not valid UTF-8 are kept unchanged.
pub fn normalize(text: &[u8], form: Normalization) -> Cow<'_, [u8]> {
    if form == Normalization::None || text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut normalized = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        let part: String = match form {
            Normalization::Nfkc => chunk
                .valid()
                .nfkc()
                .map(|(character, _)| character)
                .collect(),
            _ => chunk
                .valid()
                .nfc()
                .map(|(character, _)| character)
                .collect(),
        };
        normalized.extend_from_slice(part.as_bytes());
        normalized.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(normalized)
}
