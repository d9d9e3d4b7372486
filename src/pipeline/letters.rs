//! GPT-2's letters: one printable character for each byte.
//!
//! The printable characters of Latin-1 stand for their own bytes, and the other bytes, in order, are
//! the characters from U+0100 on.

/// The letter of a byte.
pub(crate) const fn letter_of(byte: u8) -> char {
    let is_printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    if is_printable {
        return byte as char;
    }
    // The bytes before it that are not printable: 0x00 to 0x20, 0x7F to 0xA0, and 0xAD.
    let before = match byte {
        0..=0x20 => byte,
        0xAD => 67,
        _ => byte - 0x7F + 33,
    };
    match char::from_u32(0x100 + before as u32) {
        Some(letter) => letter,
        None => char::REPLACEMENT_CHARACTER,
    }
}

/// The byte of a letter.
pub(crate) fn byte_of(letter: char) -> Option<u8> {
    let byte = match u32::from(letter) {
        code @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => code,
        code @ 0x100..=0x120 => code - 0x100,
        code @ 0x121..=0x142 => code - 0x121 + 0x7F,
        0x143 => 0xAD,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_a_letter_of_its_own() {
        for byte in 0..=u8::MAX {
            assert_eq!(byte_of(letter_of(byte)), Some(byte), "{byte:#x}");
        }
        assert_eq!((letter_of(b' '), letter_of(b'\n')), ('Ġ', 'Ċ'));
        assert_eq!(byte_of(' '), None);
    }
}
