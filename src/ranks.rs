//! tiktoken's files of ranks: a line for each token, its bytes in base64, a space and its id.

use crate::merges::Id;

/// The lines of a file, without the ends of lines.
pub fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let file = file.strip_suffix(b"\n").unwrap_or(file);
    file.split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Appends the token of a line to `token` and returns its id; `None` if the line is malformed.
///
/// A token without bytes is written as nothing or, in Whisper's files, as `=`.
pub fn parse_line(line: &[u8], token: &mut Vec<u8>) -> Option<Id> {
    let space = memchr::memchr(b' ', line)?;
    let (written, digits) = (&line[..space], &line[space + 1..]);
    if written != b"=" {
        decode_base64(written, token)?;
    }
    if digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let id: Id = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // Ids are ranks, and the last number stands for no rank.
    (id < Id::MAX).then_some(id)
}

/// The value of each byte as a digit of base64, [`NO_DIGIT`] for the others.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let written = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut value = 0;
    while value < 64 {
        digits[written[value] as usize] = value as u8;
        value += 1;
    }
    digits
};
const NO_DIGIT: u8 = 0x80;

/// Appends the bytes of padded base64; `None` if it is malformed.
fn decode_base64(written: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    if !written.len().is_multiple_of(4) {
        return None;
    }
    let mut digits = written;
    for _ in 0..2 {
        digits = digits.strip_suffix(b"=").unwrap_or(digits);
    }
    let mut seen = 0;
    for group in digits.chunks(4) {
        let mut values = [0; 4];
        for (value, &byte) in values.iter_mut().zip(group) {
            *value = DIGITS[byte as usize];
            seen |= *value;
        }
        let [a, b, c, d] = values;
        let decoded = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
        bytes.extend_from_slice(&decoded[..group.len() - 1]);
    }
    (seen & NO_DIGIT == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::{lines, parse_line};

    fn parsed(line: &str) -> Option<(Vec<u8>, u32)> {
        let mut token = b"before".to_vec();
        let id = parse_line(line.as_bytes(), &mut token)?;
        Some((token.split_off(6), id))
    }

    #[test]
    #[rustfmt::skip]
    fn lines_are_parsed_or_refused() {
        for (line, token, id) in [
            ("IA== 220", &b" "[..], 220), ("IHQ= 256", b" t", 256), ("= 50256", b"", 50256),
            ("IGFh 4294967294", b" aa", u32::MAX - 1), ("+/+/AP8= 7", b"\xfb\xff\xbf\x00\xff", 7),
            (" 5", b"", 5),
        ] {
            assert_eq!(parsed(line), Some((token.to_vec(), id)), "{line}");
        }
        for line in [
            "", "IA==", "IA== ", "IA==  1", "IA== 1 ", "IA== +1", "IA== -1", "IA== 1.0", "IA== x",
            "IA== 4294967295", "IA== 4294967296", "IA== 00000000001", "IA= 1", "IA 1", "I=== 1", "==== 1", "I 1",
            "IA==IA== 1", "=IA= 1", "IHQ-IHQ_ 1", "IA=\n 1", "IA== \u{663}",
        ] {
            assert_eq!(parsed(line), None, "{line:?}");
        }
    }

    #[test]
    fn lines_may_end_in_either_way() {
        let found: Vec<&[u8]> = lines(b"a 1\r\nb 2\n\nc 3\n").collect();
        assert_eq!(found, [&b"a 1"[..], b"b 2", b"", b"c 3"]);
    }
}
