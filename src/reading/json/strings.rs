//! Strings of JSON, a stretch at a time.

use std::io::Read;

use super::line::Line;
use super::wrong::{Stop, Wrong};

/// The first and the last of the numbers that stand for a character only in pairs, and the first that
/// can be the second of a pair.
const SURROGATES: (u32, u32, u32) = (0xD800, 0xDFFF, 0xDC00);

impl<R: Read> Line<R> {
    /// Go over a string behind its first quotation mark; whether it is text is not asked.
    pub(super) fn skip_string(&mut self) -> Result<(), Stop> {
        loop {
            match self.skip_plain(|_| {})? {
                None => {}
                Some(b'"') => return Ok(()),
                Some(b'\\') => match self.next_in_string()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        self.hex_digits()?;
                    }
                    _ => return Err(self.wrong(Wrong::Escape)),
                },
                // Of a string that is left out, the column is that of the byte before.
                Some(_) => return Err(Stop::no_json(Wrong::Control, self.column() - 1)),
            }
        }
    }

    /// Go over a string that is text, and call `use_text` with its stretches.
    pub(super) fn text(
        &mut self,
        mut use_text: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.skip(1);
        let mut text = Vec::new();
        // How many bytes were used, and how many of all are before the first that is not UTF-8.
        let (mut num_used, mut num_right) = (0_u64, None);
        loop {
            let is_end = self.unescape(&mut text)?;
            let num_whole = match std::str::from_utf8(&text) {
                Ok(_) => text.len(),
                Err(error) if error.error_len().is_none() && !is_end => error.valid_up_to(),
                Err(error) => {
                    num_right.get_or_insert(num_used + error.valid_up_to() as u64);
                    text.len()
                }
            };
            if num_right.is_none() {
                use_text(&text[..num_whole])?;
            }
            num_used += num_whole as u64;
            text.drain(..num_whole);
            if is_end {
                break;
            }
        }
        match num_right {
            None => Ok(()),
            Some(num_right) => {
                let column = self.column().saturating_sub(num_used - num_right);
                Err(Stop::no_json(Wrong::CodePoint, column))
            }
        }
    }

    /// Append the next stretch of a string behind its first quotation mark; true if the string ends
    /// with it.
    pub(in crate::reading) fn unescape(&mut self, text: &mut Vec<u8>) -> Result<bool, Stop> {
        let most = text.len() + self.piece_bytes;
        while text.len() < most {
            match self.skip_plain(|plain| text.extend_from_slice(plain))? {
                None => {}
                Some(b'"') => return Ok(true),
                Some(b'\\') => {
                    let byte = self.next_in_string()?;
                    let mut bytes = [0; 4];
                    let character = self.escaped(byte)?;
                    text.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
                }
                Some(_) => return Err(self.wrong(Wrong::Control)),
            }
        }
        Ok(false)
    }

    /// Go over the next bytes of a string that stand for themselves, and the one behind them, which is
    /// returned; None if those that were read all do.
    fn skip_plain(&mut self, use_plain: impl FnOnce(&[u8])) -> Result<Option<u8>, Stop> {
        let window = self.window()?;
        if window.is_empty() {
            return Err(self.wrong(Wrong::EndInString));
        }
        let num_plain = num_plain(window);
        use_plain(&window[..num_plain]);
        let behind = window.get(num_plain).copied();
        self.skip(num_plain + usize::from(behind.is_some()));
        Ok(behind)
    }

    fn next_in_string(&mut self) -> Result<u8, Stop> {
        match self.take::<1>()? {
            Some([byte]) => Ok(byte),
            None => Err(self.wrong(Wrong::EndInString)),
        }
    }

    /// The character of an escape whose backslash and next byte were read.
    fn escaped(&mut self, byte: u8) -> Result<char, Stop> {
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\x08',
            b'f' => '\x0C',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.escaped_number(),
            _ => return Err(self.wrong(Wrong::Escape)),
        })
    }

    /// The character of a number, or of two: some are written as a pair of surrogates.
    fn escaped_number(&mut self) -> Result<char, Stop> {
        let (lowest, highest, lowest_second) = SURROGATES;
        let mut number = self.hex_digits()?;
        if (lowest..lowest_second).contains(&number) {
            for expected in *b"\\u" {
                if self.next_in_string()? != expected {
                    return Err(self.lone_surrogate());
                }
            }
            let second = self.hex_digits()?;
            if !(lowest_second..=highest).contains(&second) {
                return Err(self.lone_surrogate());
            }
            number = 0x1_0000 + ((number - lowest) << 10) + (second - lowest_second);
        }
        char::from_u32(number).ok_or_else(|| self.lone_surrogate())
    }

    fn hex_digits(&mut self) -> Result<u32, Stop> {
        let Some(digits) = self.take::<4>()? else {
            let missing = self.window()?.len();
            self.skip(missing);
            return Err(self.wrong(Wrong::EndInString));
        };
        let value = |digit: u8| char::from(digit).to_digit(16);
        let add = |sum: u32, digit| Some(16 * sum + value(digit)?);
        let number = digits.into_iter().try_fold(0, add);
        number.ok_or_else(|| self.wrong(Wrong::Escape))
    }
}

/// How many bytes from the beginning on stand for themselves in a string.
fn num_plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (word, index) in words.iter().zip(0..) {
        let others = others_in(u64::from_le_bytes(*word));
        if others != 0 {
            return 8 * index + others.trailing_zeros() as usize / 8;
        }
    }
    let is_other = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let others = rest.iter().position(is_other);
    bytes.len() - rest.len() + others.unwrap_or(rest.len())
}

/// The high bit of the lowest byte of eight that does not stand for itself, and maybe of bytes above it;
/// 0 if there is none.
fn others_in(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    // Of bytes below 128, the high bit is set if the byte is below the limit, or one below was.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_bytes_are_counted_wherever_others_are() {
        for byte in 0..=u8::MAX {
            let is_plain = byte >= 0x20 && byte != b'"' && byte != b'\\';
            for (before, filler) in (0..20).flat_map(|n| [(n, b'a'), (n, 0xE9), (n, b' ')]) {
                let mut bytes = vec![filler; 20];
                bytes[before] = byte;
                assert_eq!(num_plain(&bytes), if is_plain { 20 } else { before });
            }
        }
    }
}
