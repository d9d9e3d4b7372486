//! The compiled map of characters of SentencePiece's models: strings, and what replaces each.
//!
//! Its bytes are the size of a trie (32 bits, little-endian), the trie, and then the replacements,
//! each ended by a NUL. The trie is a double array as darts-clone writes it: units of 32 bits, in
//! which bits 0 to 7 are the byte that leads to a unit, bit 8 says that a string ends there, bit 9
//! that the offset counts in 256s, and bits 10 to 30 are the offset; a unit with bit 31 has a value
//! in the others, here a place among the replacements. Bytes may come from anywhere, so every place
//! is checked when it is looked at.

use crate::error::{Error, Result};

/// Strings, and what replaces each.
#[derive(Debug, Clone)]
pub(crate) struct CharsMap {
    units: Vec<u32>,
    replacements: String,
}

impl CharsMap {
    /// The map in these bytes.
    pub(crate) fn new(bytes: &[u8]) -> Result<Self> {
        let damaged = |message: &str| Error::InvalidSteps {
            message: format!("the compiled map of characters is damaged: {message}"),
        };
        let (size, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| damaged("it is shorter than 4 bytes"))?;
        let (trie, replacements) = rest
            .split_at_checked(u32::from_le_bytes(*size) as usize)
            .ok_or_else(|| damaged("its trie is longer than the map"))?;
        let (units, odd) = trie.as_chunks();
        if units.is_empty() || !odd.is_empty() {
            return Err(damaged("the size of its trie is no multiple of 4, or 0"));
        }
        let replacements = std::str::from_utf8(replacements)
            .map_err(|_| damaged("its replacements are not UTF-8"))?;
        Ok(Self {
            units: units.iter().map(|&unit| u32::from_le_bytes(unit)).collect(),
            replacements: replacements.to_owned(),
        })
    }

    /// The map in bytes that are written in base64.
    pub(crate) fn from_base64(text: &str) -> Result<Self> {
        let bytes = bytes_of_base64(text).ok_or_else(|| Error::InvalidSteps {
            message: "the compiled map of characters is not in base64".to_owned(),
        })?;
        Self::new(&bytes)
    }

    /// The longest string of the map that a text begins with: its length, and what replaces it.
    pub(crate) fn longest<'m>(&'m self, text: &[u8]) -> Option<(usize, &'m str)> {
        self.prefixes(text).last()
    }

    /// The shortest string of the map that a text begins with.
    pub(crate) fn shortest<'m>(&'m self, text: &[u8]) -> Option<(usize, &'m str)> {
        self.prefixes(text).next()
    }

    /// Whether each byte below 128 stays as it is before such a byte, and at the end: no string of the
    /// map is it, or begins with it and such a byte.
    pub(crate) fn staying_ascii(&self) -> [bool; 128] {
        let has_child = |node: usize, byte: u8| {
            let unit = self.units.get(node ^ usize::from(byte))?;
            (unit & (1 << 31 | 0xFF) == u32::from(byte)).then_some(*unit)
        };
        let root = offset(self.units[0]);
        std::array::from_fn(|first| {
            let Some(unit) = has_child(root, first as u8) else {
                return true;
            };
            let node = root ^ first ^ offset(unit);
            unit & (1 << 8) == 0 && (1..128).all(|second| has_child(node, second).is_none())
        })
    }

    /// The strings of the map that a text begins with, from the shortest on.
    fn prefixes<'m>(&'m self, text: &[u8]) -> impl Iterator<Item = (usize, &'m str)> {
        let mut node = offset(self.units[0]);
        let bytes = text.iter().take_while(|&&byte| byte != 0);
        let ends = bytes.enumerate().map_while(move |(index, &byte)| {
            node ^= usize::from(byte);
            let &unit = self.units.get(node)?;
            if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                return None;
            }
            node ^= offset(unit);
            let is_end = unit & (1 << 8) != 0;
            let replacement = is_end.then(|| self.replacement(node)).flatten();
            Some(replacement.map(|replacement| (index + 1, replacement)))
        });
        ends.flatten()
    }

    /// The string at the place that a unit has as its value, if both are there.
    fn replacement(&self, node: usize) -> Option<&str> {
        let place = self.units.get(node)? & !(1 << 31);
        let rest = self.replacements.get(place as usize..)?;
        rest.split('\0').next()
    }
}

/// From a unit to those that it leads to.
fn offset(unit: u32) -> usize {
    let shift = if unit & (1 << 9) == 0 { 0 } else { 8 };
    ((unit >> 10) as usize) << shift
}

/// The bytes of a text in base64, with or without padding.
fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut num_bits) = (0_u32, 0);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        num_bits += 6;
        if num_bits >= 8 {
            num_bits -= 8;
            bytes.push((bits >> num_bits) as u8);
            bits &= (1 << num_bits) - 1;
        }
    }
    (num_bits < 6 && bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trie of "a" and "ab", replaced by "x" and "yz".
    fn small() -> Vec<u8> {
        let mut units = [0_u32; 256];
        let ends = 1 << 8;
        units[0] = 4 << 10;
        let a = 4 ^ 0x61;
        units[a] = 0x61 | ends | 8 << 10;
        let value_of_a = a ^ 8;
        units[value_of_a] = 1 << 31;
        let ab = value_of_a ^ 0x62;
        units[ab] = 0x62 | ends | 16 << 10;
        units[ab ^ 16] = 1 << 31 | 2;
        let mut bytes = 1024_u32.to_le_bytes().to_vec();
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes.extend(b"x\0yz\0");
        bytes
    }

    #[test]
    fn prefixes_are_found() {
        let map = CharsMap::new(&small()).expect("a map");
        assert_eq!(map.longest(b"abc"), Some((2, "yz")));
        assert_eq!(map.shortest(b"abc"), Some((1, "x")));
        assert_eq!(map.longest(b"ac"), Some((1, "x")));
        assert_eq!(map.longest(b"b"), None);
        assert_eq!(map.longest(b"\0"), None);
        assert_eq!(map.longest(b""), None);
        let staying = map.staying_ascii();
        assert_eq!(
            (staying[b'a' as usize], staying[b'b' as usize]),
            (false, true)
        );
    }

    #[test]
    fn damaged_maps_are_refused_or_harmless() {
        let whole = small();
        for length in 0..whole.len() {
            if let Ok(map) = CharsMap::new(&whole[..length]) {
                map.longest(b"ab");
            }
        }
        for index in 0..whole.len() {
            for value in [0, 1, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[index] = value;
                if let Ok(map) = CharsMap::new(&bytes) {
                    map.longest(b"ab");
                }
            }
        }
    }

    #[test]
    fn base64_is_read() {
        assert_eq!(bytes_of_base64("TWFu").as_deref(), Some(&b"Man"[..]));
        assert_eq!(bytes_of_base64("TWE=").as_deref(), Some(&b"Ma"[..]));
        assert_eq!(bytes_of_base64("/+8").as_deref(), Some(&b"\xFF\xEF"[..]));
        assert_eq!(bytes_of_base64("T"), None);
        assert_eq!(bytes_of_base64("T W F"), None);
    }
}
