//! A tokenizer as bytes: what travels between processes and machines.
//!
//! After the magic come, as varints and strings (a length and bytes): the tokens with their ids;
//! symbols that are no tokens; the merges as numbers of both with their ranks; what they were made
//! of; and the parts of the builder, in its order.

use super::{Source, Tokenizer, TokenizerBuilder};
use crate::encode::{PrefixSpace, Unknown};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::settings::Normalization;
use crate::varint;
use crate::vocabulary::Symbols;

const MAGIC: &[u8] = b"mergewise tokenizer 1\n";

const SYMBOLS: [Symbols; 2] = [Symbols::Bytes, Symbols::Chars];
const NORMALIZATIONS: [Normalization; 3] =
    [Normalization::None, Normalization::Nfc, Normalization::Nfkc];
const PREFIX_SPACES: [PrefixSpace; 4] = [
    PrefixSpace::Never,
    PrefixSpace::UnlessSpace,
    PrefixSpace::Always,
    PrefixSpace::Once,
];

impl Tokenizer {
    /// All that the tokenizer is. The same version of this crate reads it anywhere.
    ///
    /// ```
    /// # use mergewise::{Tokenizer, WordCounts};
    /// let tokenizer = Tokenizer::train(&WordCounts::of(["abab"], None)?, 1)?;
    /// assert_eq!(Tokenizer::from_bytes(&tokenizer.to_bytes())?, tokenizer);
    /// # Ok::<(), mergewise::Error>(())
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (encoder, vocabulary) = (self.encoder(), self.vocabulary());
        let mut out = Writer(MAGIC.to_vec());
        let num_tokens = self.tokens().count();
        out.number(num_tokens);
        for (token, id) in self.tokens() {
            out.string(token);
            out.number(id as usize);
        }
        out.number(vocabulary.len() - num_tokens);
        for number in vocabulary.numbers().skip(num_tokens) {
            out.string(vocabulary.string(number));
        }
        out.number(vocabulary.merges().len());
        for merge in vocabulary.merges() {
            out.number(merge.left.index());
            out.number(merge.right.index());
            out.number(merge.rank as usize);
        }
        match self.source() {
            Source::Ranks => out.number(0),
            Source::Pairs(number) => out.number(number + 1),
        }
        out.choice(&SYMBOLS, &vocabulary.symbols());
        out.string(vocabulary.end_of_word());
        out.unknown(encoder.unknown());
        out.number(self.whole_words().into());
        out.optional(encoder.pattern().spec());
        out.number(encoder.pattern().drops_gaps().into());
        let preparation = encoder.preparation();
        out.choice(&NORMALIZATIONS, &preparation.normalization);
        out.choice(&PREFIX_SPACES, &preparation.prefix_space);
        out.number(preparation.mark_is_space.into());
        out.number(self.specials().count());
        for (text, id, always) in self.specials() {
            out.string(text.as_bytes());
            out.number(id as usize);
            out.number(always.into());
        }
        out.0
    }

    /// The tokenizer that [`Tokenizer::to_bytes`] wrote.
    ///
    /// ```
    /// # use mergewise::{ErrorKind, Tokenizer};
    /// let error = Tokenizer::from_bytes(b"another file").unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Format);
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader { bytes, at: 0 };
        if !bytes.starts_with(MAGIC) {
            return Err(input.malformed("other bytes", "a tokenizer of this version"));
        }
        input.at = MAGIC.len();
        let tokens = input.many(|input| Ok((input.string()?, input.id()?)))?;
        let symbols = input.many(Reader::string)?;
        let mut strings: Vec<&[u8]> = tokens.iter().map(|&(token, _)| token).collect();
        strings.extend(symbols);
        let merges = input.many(|input| {
            let mut part = || {
                let number = input.number()?;
                let string = strings.get(number as usize).copied();
                string.ok_or_else(|| input.malformed("another number", "that of a string"))
            };
            Ok((part()?, part()?, input.id()?))
        })?;
        let source = match input.number()? {
            0 => Source::Ranks,
            number => Source::Pairs(number as usize - 1),
        };
        let mut builder = TokenizerBuilder::default()
            .tokens(tokens)
            .ranked_merges(merges)
            .source(source)
            .symbols(input.choice(&SYMBOLS)?)
            .end_of_word(input.string()?)
            .unknown(input.unknown()?)
            .whole_words(input.flag()?)
            .pattern(input.optional()?)
            .drops_gaps(input.flag()?)
            .normalization(input.choice(&NORMALIZATIONS)?)
            .prefix_space(input.choice(&PREFIX_SPACES)?)
            .mark_is_space(input.flag()?);
        for (text, id, always) in
            input.many(|input| Ok((input.text()?, input.id()?, input.flag()?)))?
        {
            builder = builder.special(text, id, always);
        }
        if input.at < bytes.len() {
            return Err(input.malformed("more bytes", "the end"));
        }
        builder.build()
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: usize) {
        varint::push(&mut self.0, number as u64);
    }

    fn string(&mut self, string: &[u8]) {
        self.number(string.len());
        self.0.extend_from_slice(string);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.number(text.is_some().into());
        self.string(text.unwrap_or_default().as_bytes());
    }

    fn choice<T: PartialEq>(&mut self, choices: &[T], chosen: &T) {
        let place = choices.iter().position(|choice| choice == chosen);
        self.number(place.unwrap_or(choices.len()));
    }

    /// None, a token, a token for neighbours, or a token for each byte.
    fn unknown(&mut self, unknown: &Unknown) {
        self.number(match unknown {
            Unknown::Refused => 0,
            Unknown::Token { fuse, .. } => 1 + usize::from(*fuse),
            Unknown::Bytes(_) => 3,
        });
        for &id in unknown.ids() {
            self.number(id as usize);
        }
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn malformed(&self, found: &str, expected: &str) -> Error {
        Error::Malformed {
            offset: self.at as u64,
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn number(&mut self) -> Result<u64> {
        let number = varint::read(|| {
            let byte = self.bytes.get(self.at).copied();
            self.at += 1;
            byte.ok_or_else(|| self.malformed("the end", "more bytes"))
        })?;
        number.ok_or_else(|| self.malformed("a longer number", "a number of 64 bits"))
    }

    fn string(&mut self) -> Result<&'b [u8]> {
        let length = self.number()? as usize;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let string = rest
            .get(..length)
            .ok_or_else(|| self.malformed("the end", "more bytes"))?;
        self.at += length;
        Ok(string)
    }

    fn text(&mut self) -> Result<&'b str> {
        let string = self.string()?;
        std::str::from_utf8(string).map_err(|_| self.malformed("other bytes", "UTF-8"))
    }

    fn optional(&mut self) -> Result<Option<&'b str>> {
        let is_there = self.flag()?;
        Ok(Some(self.text()?).filter(|_| is_there))
    }

    fn id(&mut self) -> Result<Id> {
        let number = self.number()?;
        Id::try_from(number).map_err(|_| self.malformed("a longer number", "a number of 32 bits"))
    }

    fn choice<T: Copy>(&mut self, choices: &[T]) -> Result<T> {
        let place = self.number()? as usize;
        let choice = choices.get(place).copied();
        choice.ok_or_else(|| self.malformed("another number", "one of a few choices"))
    }

    fn flag(&mut self) -> Result<bool> {
        self.choice(&[false, true])
    }

    fn unknown(&mut self) -> Result<Unknown> {
        Ok(match self.choice(&[0, 1, 2, 3])? {
            0 => Unknown::Refused,
            3 => {
                let mut ids = Box::new([0; 256]);
                for id in ids.iter_mut() {
                    *id = self.id()?;
                }
                Unknown::Bytes(ids)
            }
            kind => Unknown::Token {
                id: self.id()?,
                fuse: kind == 2,
            },
        })
    }

    /// As many of something as the next number says, without trusting it for memory.
    fn many<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let number = self.number()?;
        let mut all = Vec::new();
        for _ in 0..number {
            all.push(read(self)?);
        }
        Ok(all)
    }
}
