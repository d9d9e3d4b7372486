//! Keys of short words, and hashes.
//!
//! The key of a word of up to 15 bytes holds all of it: the bytes, padded with zeros, and in the
//! highest byte the length.

/// The bytes of a key.
pub(crate) const KEY: usize = 16;
/// The longest word that a key holds.
pub(crate) const SHORT: usize = KEY - 1;

/// `MASKS[n]` keeps the first n of 16 bytes.
const MASKS: [u128; KEY] = {
    let mut masks = [0; KEY];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = u128::MAX >> (8 * (KEY - length));
        length += 1;
    }
    masks
};

/// The key of the short word `text[start..end]`.
#[inline]
pub(crate) fn short_key(text: &[u8], start: usize, end: usize) -> u128 {
    let length = end - start;
    let bytes = match text[start..].first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes) & MASKS[length],
        None => padded(&text[start..end]),
    };
    bytes | with_length(length)
}

/// A key without bytes, of this length.
pub(crate) fn with_length(length: usize) -> u128 {
    (length as u128) << (8 * SHORT)
}

/// The bytes of a word near the end of the text.
#[cold]
#[inline(never)]
fn padded(word: &[u8]) -> u128 {
    let mut bytes = [0; KEY];
    bytes[..word.len()].copy_from_slice(word);
    u128::from_le_bytes(bytes)
}

/// Both halves of a product, folded: every bit of the factors reaches every bit of the result.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a key.
#[inline]
pub(crate) fn hash(key: u128) -> u64 {
    fold(
        key as u64 ^ 0x9E37_79B9_7F4A_7C15,
        (key >> 64) as u64 ^ 0xD1B5_4A32_D192_ED03,
    )
}

/// The hash of a word of any length, the same on every machine: that of the key of a short one.
pub(crate) fn hash_word(word: &[u8]) -> u64 {
    // The last block may overlap the one before: no byte is copied.
    let Some(&last) = word.last_chunk() else {
        return hash(short_key(word, 0, word.len()));
    };
    let (blocks, _) = word.as_chunks::<KEY>();
    blocks
        .iter()
        .chain([&last])
        .fold(word.len() as u64, |sum, &block| {
            let hash = hash(u128::from_le_bytes(block));
            fold(sum ^ hash, 0xA076_1D64_78BD_642F)
        })
}

/// The hash of a pair of tokens that is packed in a number: 32 bits.
pub(crate) fn hash_pair(pair: u64) -> usize {
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

/// The first bytes of a string as a number: the order of the numbers is that of the strings, and is
/// decided without reading them again.
pub(crate) fn first_bytes(string: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = string.len().min(8);
    bytes[..length].copy_from_slice(&string[..length]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_word_wherever_it_stands() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..=SHORT {
            for start in 0..=text.len() - length {
                let word = &text[start..start + length];
                let key = short_key(&text, start, start + length);
                let mut expected = [0; KEY];
                expected[..length].copy_from_slice(word);
                expected[SHORT] = length as u8;
                assert_eq!(key.to_le_bytes(), expected, "{start}..{}", start + length);
                assert_eq!(short_key(word, 0, length), key);
            }
        }
    }

    #[test]
    fn zeros_and_lengths_change_hashes() {
        let zeros = [0; 3 * KEY];
        let mut hashes: Vec<u64> = (0..=zeros.len()).map(|n| hash_word(&zeros[..n])).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), zeros.len() + 1);
    }
}
