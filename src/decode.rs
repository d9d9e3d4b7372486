//! Ids to texts.
//!
//! What ids stand for is said by the steps of a decoder: the tokens' strings, as files write them, go
//! through a [`Chain`] of steps and come out as one text. For most decoders that is the same as one
//! string of bytes for each id, concatenated, but for a space at the start; those are recognised and
//! only copy bytes. Where the result is not UTF-8, libraries differ in what they write instead, so
//! then their own steps decide again.

mod chain;
mod characters;
mod memory;
mod pieces;
mod steps;
mod stream;
mod strings;

use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use chain::Chain;
#[cfg(feature = "python")]
pub(crate) use stream::Stream;

use crate::encode::{Encoder, Preparation, Special, Unknown};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::vocabulary::{Symbols, Vocabulary};
use crate::watch::Watch;
use chain::Opening;
use strings::{Spelling, Strings};

/// How ids become texts, besides their strings.
#[derive(Debug, Default)]
pub(crate) struct Rules<'a> {
    /// The steps, as a JSON list; `None`: a text is the strings of its tokens.
    pub(crate) steps: Option<&'a str>,
    /// What files write for tokens, where it does not follow from their strings.
    pub(crate) written: Vec<(Id, String)>,
}

/// The string of each id, and how strings become a text.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    strings: Strings,
    /// One more than the largest id.
    pub(crate) num_rows: usize,
    /// The ids that may be left out.
    special: FxHashSet<Id>,
    spelling: Spelling,
    /// What files write for tokens, where it does not follow from their strings.
    names: FxHashMap<Id, String>,
    /// The steps and their JSON.
    chain: Option<(Chain, String)>,
    written: Vec<(Id, String)>,
    joined: Option<Joined>,
}

/// How texts are made of one string for each id.
#[derive(Debug)]
struct Joined {
    /// The strings; `None`: those of the tokens.
    strings: Option<Strings>,
    opening: Opening,
    /// Whether a space at the end is left out: words end with one.
    ends_words: bool,
    /// Whether bytes that are not UTF-8 become U+FFFD as in other decoders of UTF-8.
    is_of_bytes: bool,
}

impl Decoder {
    /// Of two strings with one id, a special token's is decoded, else a byte's, else a token's.
    pub(crate) fn new(encoder: &Encoder, rules: Rules<'_>) -> Result<Self> {
        let (vocabulary, preparation) = (encoder.vocabulary(), encoder.preparation());
        let spelling = match vocabulary.symbols() {
            Symbols::Bytes => Spelling::Letters,
            Symbols::Chars if preparation.mark_is_space => Spelling::Marked,
            Symbols::Chars => Spelling::Plain,
        };
        let mut decoder = Self {
            strings: Strings::with_capacity(vocabulary.len()),
            spelling,
            ..Self::default()
        };
        if let Unknown::Token { id, .. } = encoder.unknown() {
            let replacement = char::REPLACEMENT_CHARACTER.to_string();
            decoder.set(*id, replacement.as_bytes());
            decoder.names.insert(*id, replacement);
        }
        for number in vocabulary.numbers() {
            if let Some(id) = vocabulary.id(number) {
                decoder.set(id, vocabulary.string(number));
            }
        }
        let byte_ids: Vec<Option<Id>> = match encoder.unknown() {
            Unknown::Bytes(ids) => ids.iter().copied().map(Some).collect(),
            Unknown::SomeBytes { ids, .. } => ids.clone(),
            _ => Vec::new(),
        };
        for (byte, id) in (0..=u8::MAX).zip(byte_ids) {
            if let Some(id) = id {
                decoder.set(id, &[byte]);
                decoder.names.insert(id, format!("<0x{byte:02X}>"));
            }
        }
        for (special, searched) in encoder.searched() {
            // One that is normalised is written as texts are then.
            decoder.set(special.id, special.text.as_bytes());
            decoder.names.insert(special.id, searched.to_owned());
        }
        for (id, text) in &rules.written {
            if decoder.strings.get(*id).is_none() {
                decoder.set(*id, text.as_bytes());
            }
            decoder.names.insert(*id, text.clone());
        }
        decoder.written = rules.written;
        decoder.set_special(encoder.specials());
        match rules.steps {
            Some(json) => decoder.set_steps(json)?,
            None => decoder.set_fields(vocabulary, preparation)?,
        }
        Ok(decoder)
    }

    fn set(&mut self, id: Id, string: &[u8]) {
        self.strings.set(id, string);
        self.names.remove(&id);
        self.num_rows = self.num_rows.max(id as usize + 1);
    }

    /// A special token is known by its text: one that is written otherwise is none.
    fn set_special(&mut self, specials: &[Special]) {
        let specials = specials.iter().filter(|special| !special.always);
        let texts: FxHashSet<&str> = specials.clone().map(|special| &*special.text).collect();
        let ids = specials.map(|special| special.id);
        let is_known = |id: &Id| {
            self.names
                .get(id)
                .is_some_and(|name| texts.contains(&**name))
        };
        self.special = ids.filter(is_known).collect();
    }

    fn set_steps(&mut self, json: &str) -> Result<()> {
        let chain = Chain::from_json(json)?;
        if let Some(opening) = chain.opening() {
            let watch = Watch::default();
            let bytes =
                |id, string: &[u8]| chain.bytes(self.written(id, string), &mut true, &watch);
            self.joined = Some(Joined {
                strings: self.changed(bytes)?,
                opening,
                ends_words: false,
                is_of_bytes: chain.is_of_bytes(),
            });
        }
        self.chain = Some((chain, json.to_owned()));
        Ok(())
    }

    /// Without steps: a word that ends is followed by a space.
    fn set_fields(&mut self, vocabulary: &Vocabulary, preparation: Preparation) -> Result<()> {
        let ending = vocabulary.end_of_word();
        let spaced = |_, string: &[u8]| match string.strip_suffix(ending) {
            Some(word) if !ending.is_empty() => Ok([word, b" "].concat()),
            _ => Ok(string.to_vec()),
        };
        self.joined = Some(Joined {
            strings: self.changed(spaced)?,
            opening: if preparation.hides_first_space() {
                Opening::Stripped
            } else {
                Opening::Kept
            },
            ends_words: !ending.is_empty(),
            is_of_bytes: true,
        });
        Ok(())
    }

    /// The strings that `change` makes of those of all tokens; `None` if they are the same.
    fn changed(&self, change: impl Fn(Id, &[u8]) -> Result<Vec<u8>>) -> Result<Option<Strings>> {
        let mut changed = Strings::with_capacity(self.strings.len());
        let mut is_same = true;
        for (id, string) in self.strings.iter() {
            let made = change(id, string)?;
            is_same &= made == string;
            changed.set(id, &made);
        }
        Ok((!is_same).then_some(changed))
    }

    /// The steps, as a JSON list.
    pub(crate) fn steps(&self) -> Option<&str> {
        self.chain.as_ref().map(|(_, json)| &**json)
    }

    /// What files write for tokens, as it was given.
    pub(crate) fn given_names(&self) -> &[(Id, String)] {
        &self.written
    }

    pub(crate) fn num_ids(&self) -> usize {
        self.strings.len()
    }

    /// The string of a token, with the mark for the end of a word if it has one.
    pub(crate) fn string(&self, id: Id) -> Result<&[u8]> {
        self.strings.get(id).ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: Id) -> Error {
        Error::UnknownId {
            id,
            num_tokens: self.strings.len(),
        }
    }

    /// What files write for a token.
    fn written(&self, id: Id, string: &[u8]) -> String {
        let name = self.names.get(&id);
        name.map_or_else(|| self.spelling.write(string), String::clone)
    }
}
