//! The characters of texts that need not be UTF-8, and their tokens in short words.

use crate::spelling::{is_inside, length_from};
use crate::vocabulary::{Number, Symbols, Vocabulary};

/// A code point, or a number above all of them for a byte that is part of no character.
pub(super) type Character = u32;

/// In place of the token of a character that is none: that of a byte that no character is.
pub(super) const UNKNOWN: u32 = 255;

const NO_CHARACTER: Character = char::MAX as u32 + 1;

/// The character that begins at `at`, and its length.
#[inline(always)]
pub(super) fn character_at(text: &[u8], at: usize) -> (Character, usize) {
    let first = text[at];
    if first.is_ascii() {
        return (first.into(), 1);
    }
    let low = |byte: u8| Character::from(byte & 0x3F);
    let (character, least) = match (length_from(first), &text[at + 1..]) {
        (2, &[b, ..]) if is_inside(b) => (Character::from(first & 0x1F) << 6 | low(b), 0x80),
        (3, &[b, c, ..]) if is_inside(b) && is_inside(c) => {
            let high = Character::from(first & 0x0F) << 12;
            (high | low(b) << 6 | low(c), 0x800)
        }
        (4, &[b, c, d, ..]) if is_inside(b) && is_inside(c) && is_inside(d) => {
            let high = Character::from(first & 0x07) << 18;
            (high | low(b) << 12 | low(c) << 6 | low(d), 0x1_0000)
        }
        _ => (0, 1),
    };
    // A longer spelling than needed is no character; nor is a surrogate, but no token has one.
    if character < least {
        return (NO_CHARACTER + Character::from(first), 1);
    }
    (character, length_from(first))
}

/// The numbers of the symbols, those of bytes or of ASCII first, and the tokens of characters by their
/// code points; none of the latter if symbols are bytes.
pub(super) fn symbols_of(vocabulary: &Vocabulary) -> (Vec<Number>, Vec<u32>) {
    let number = |byte: u8| vocabulary.number(&[byte]).unwrap_or(Number::NONE);
    let mut numbers: Vec<Number> = (0..=u8::MAX).map(number).collect();
    if vocabulary.symbols() == Symbols::Bytes {
        return (numbers, Vec::new());
    }
    let mut characters: Vec<u32> = (0..128).collect();
    for number in vocabulary
        .numbers()
        .filter(|&number| vocabulary.is_symbol(number))
    {
        let character = character_at(vocabulary.string(number), 0).0 as usize;
        if character > 0x7F {
            if character >= characters.len() {
                characters.resize(character + 1, UNKNOWN);
            }
            characters[character] = numbers.len() as u32;
            numbers.push(number);
        }
    }
    (numbers, characters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spelling::{Spelling, spelling_at, spelling_before};

    #[test]
    fn characters_are_those_of_utf8() {
        let texts: [&[u8]; 7] = [
            "aß\u{7FF}\u{800}あ\u{FFFF}\u{10000}🦊\u{10FFFF}b".as_bytes(),
            b"\xC3(\xE4\xBDA\xE4\xBD",
            b"\xC1\x81\xE0\x81\x81\xF0\x80\x81\x81",
            b"\x80\xC3\xA9\xA9a\xFF\xF8\x88\x80\x80\x80",
            b"\xF4\x90\x80\x80\xF4\x8F\xBF\xBF",
            b"\xE4\xBD\xA0\x80\xE3",
            b"\xF0\x9F\xA6",
        ];
        for text in texts {
            let mut at = 0;
            for chunk in text.utf8_chunks() {
                for character in chunk.valid().chars() {
                    let length = character.len_utf8();
                    let expected = Character::from(character);
                    assert_eq!(
                        character_at(text, at),
                        (expected, length),
                        "{text:x?} at {at}"
                    );
                    let mut spelled = [0; 4];
                    character.encode_utf8(&mut spelled);
                    let spelling = Spelling::from_le_bytes(spelled);
                    assert_eq!(spelling_at(text, at), spelling, "{text:x?} at {at}");
                    assert_eq!(
                        spelling_before(text, at + length),
                        spelling,
                        "{text:x?} at {at}"
                    );
                    at += length;
                }
                for _ in chunk.invalid() {
                    assert!(
                        character_at(text, at).0 > char::MAX.into(),
                        "{text:x?} at {at}"
                    );
                    for spelling in [spelling_at(text, at), spelling_before(text, at + 1)] {
                        let length = 4 - spelling.leading_zeros() as usize / 8;
                        let bytes = &spelling.to_le_bytes()[..length];
                        let is_ascii = bytes[0].is_ascii();
                        assert!(!is_ascii && std::str::from_utf8(bytes).is_err());
                    }
                    at += 1;
                }
            }
        }
    }
}
