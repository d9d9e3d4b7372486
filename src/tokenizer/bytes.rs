//! A tokenizer as bytes: what travels between processes and machines.
//!
//! After the magic come the parts of its builder, as postcard writes them.

use serde::Deserialize;

use super::{Tokenizer, TokenizerBuilder};
use crate::error::{Error, Result};

const MAGIC: [u8; 22] = *b"mergewise tokenizer 3\n";

impl Tokenizer {
    /// All that the tokenizer is. The same version of this crate reads it anywhere.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(Tokenizer::from_bytes(&tokenizer.to_bytes())?, tokenizer);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let never_fails = postcard::to_allocvec(&(MAGIC, self.to_builder()));
        never_fails.unwrap_or_default()
    }

    /// The tokenizer that [`Tokenizer::to_bytes`] wrote.
    ///
    /// ```
    /// # use mergewise::{ErrorKind, Tokenizer};
    /// let error = Tokenizer::from_bytes(b"another file").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Format);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let malformed = |rest: &[u8], found: &str, expected: &str| Error::Malformed {
            offset: (bytes.len() - rest.len()) as u64,
            found: found.into(),
            expected: expected.into(),
        };
        let parts = bytes
            .strip_prefix(&MAGIC)
            .ok_or_else(|| malformed(bytes, "other bytes", "a tokenizer of this version"))?;
        let mut reader = postcard::Deserializer::from_bytes(parts);
        let builder = TokenizerBuilder::deserialize(&mut reader);
        let rest = reader.finalize().unwrap_or_default();
        match builder {
            Err(_) => Err(malformed(rest, "damaged bytes", "the parts of a tokenizer")),
            Ok(_) if !rest.is_empty() => Err(malformed(rest, "more bytes", "the end")),
            Ok(builder) => builder.build(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{PrefixSpace, Unknown};
    use crate::error::ErrorKind;

    fn tokenizer(unknown: Unknown) -> Tokenizer {
        Tokenizer::builder()
            .tokens([(&b"a"[..], 0), (b"b", 1), (b"ab", 2)])
            .merges([(&b"a"[..], &b"b"[..])])
            .unknown(unknown)
            .pattern(Some("whitespace"))
            .prefix_space(PrefixSpace::Always)
            .special_token("<s>", 300)
            .build()
            .expect("a tokenizer")
    }

    #[test]
    fn a_beginning_or_more_is_refused() {
        let tokenizer = tokenizer(Unknown::Bytes(Box::new([7; 256])));
        let whole = tokenizer.to_bytes();
        let kind = |bytes: &[u8]| Tokenizer::from_bytes(bytes).map_err(|error| error.kind());
        for len in 0..whole.len() {
            assert_eq!(kind(&whole[..len]), Err(ErrorKind::Format), "{len} bytes");
        }
        assert_eq!(kind(&[&whole[..], b"a"].concat()), Err(ErrorKind::Format));
        assert_eq!(kind(&whole), Ok(tokenizer));
    }

    #[test]
    fn damaged_bytes_are_an_error_or_another_tokenizer() {
        let whole = tokenizer(Unknown::Token { id: 7, fuse: true }).to_bytes();
        let flips = (MAGIC.len()..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit)));
        let is_error = |(at, bit): (usize, u32)| {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            Tokenizer::from_bytes(&damaged).is_err()
        };
        assert!(flips.filter(|&flip| is_error(flip)).count() > 0);
    }

    #[test]
    fn two_tokens_with_one_id_are_refused() {
        let forged = Tokenizer::builder().tokens([(&b"a"[..], 7), (b"b", 1), (b"c", 7)]);
        let bytes = postcard::to_allocvec(&(MAGIC, forged)).expect("bytes");
        let error = Tokenizer::from_bytes(&bytes).err();
        let message = error.map(|error| error.to_string());
        assert_eq!(
            message.as_deref(),
            Some(r#"the id 7 is that of both "a" and "c""#)
        );
    }

    #[test]
    fn a_number_of_tokens_takes_no_memory() {
        let huge = [&MAGIC[..], &[0xFF; 9], &[1], b"a"].concat();
        let error = Tokenizer::from_bytes(&huge).map_err(|error| error.kind());
        assert_eq!(error, Err(ErrorKind::Format));
    }
}
