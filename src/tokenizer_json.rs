//! The tokens and merges of a tokenizer.json: most of the file, and all alike.
//!
//! What else it says is left as the text that it is. A file that is not as usual in any respect is
//! not read here at all: whoever then reads it the slow way finds out what is wrong with it.

use std::borrow::Cow;
use std::fmt;

use rustc_hash::FxHashSet;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::merges::Id;
use crate::pipeline::byte_of;
use crate::vocabulary::{Number, Strings};

/// The mark for a space, U+2581.
const MARK: &str = "\u{2581}";

/// A file.
#[derive(Debug)]
pub struct TokenizerJson {
    /// The tokens as they are written, by their numbers.
    texts: Strings,
    ids: Vec<Id>,
    merges: Vec<(Number, Number)>,
    /// Everything else, as JSON.
    rest: String,
}

/// How tokens are written, and which of them a text can have.
#[derive(Debug, Clone, Copy, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a property of the file"
)]
pub struct Spelling<'s> {
    /// Whether they are in letters that stand for bytes.
    pub has_letters: bool,
    /// Whether U+2581 stands for a space.
    pub mark_is_space: bool,
    /// What is before each token that does not begin a word; empty: nothing.
    pub prefix: &'s str,
    /// What such tokens are told by instead: it is put before those that begin one.
    pub start_of_word: &'s [u8],
    /// Whether names such as <0x41> stand for bytes, and are no tokens of texts.
    pub has_byte_names: bool,
}

/// Tokens and merges as the core has them.
#[derive(Debug, Default)]
pub struct Spelled {
    /// The strings of the tokens, one behind the other.
    pub bytes: Vec<u8>,
    /// Where each string ends, and its id.
    pub tokens: Vec<(usize, Id)>,
    /// The numbers of the two tokens that each merge joins, and of the one that it makes.
    pub merges: Vec<[u32; 3]>,
    /// What is written for ids where it does not follow from the string of a token.
    pub written: Vec<(Id, String)>,
}

impl TokenizerJson {
    /// The file with these bytes, unless something about it is unusual.
    pub fn parse(file: &[u8]) -> Option<Self> {
        let Document { model, rest } = serde_json::from_slice(file).ok()?;
        let mut texts = Strings::with_capacity(model.vocab.len());
        for (number, (text, _)) in model.vocab.iter().enumerate() {
            if texts.add(text.0.as_bytes()).ok()?.index() < number {
                return None;
            }
        }
        let ids: Vec<Id> = model.vocab.iter().map(|&(_, id)| id).collect();
        if has_repetition(&ids) {
            return None;
        }
        let find = |part: &str| texts.find(part.as_bytes());
        let merges = model.merges.iter();
        let merges = merges.map(|Pair(left, right)| Some((find(left)?, find(right)?)));
        let merges = merges.collect::<Option<_>>()?;
        let model = model.rest;
        Some(Self {
            texts,
            ids,
            merges,
            rest: format!("{{{rest}\"model\":{{{model}\"vocab\":{{}},\"merges\":[]}}}}"),
        })
    }

    /// The file without tokens and merges.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id of a token as it is written.
    pub fn id(&self, text: &str) -> Option<Id> {
        let number = self.texts.find(text.as_bytes())?;
        Some(self.ids[number.index()])
    }

    /// Whether a token has this id.
    pub fn has(&self, id: Id) -> bool {
        self.ids.contains(&id)
    }

    /// The tokens that a text can have, and the merges of these; `None` if a merge makes no token, or is
    /// listed twice. No word has the tokens that are `found_alone`, unless merges have them. What is
    /// written for `added` tokens is known.
    pub fn spelled(
        &self,
        spelling: Spelling<'_>,
        added: &[&str],
        found_alone: &[&str],
    ) -> Option<Spelled> {
        let products = self.products(spelling.prefix.len())?;
        let is_added = self.are_among(added);
        let is_found_alone = self.are_among(found_alone);
        let mut is_used = vec![false; self.len()];
        for (&(left, right), &product) in self.merges.iter().zip(&products) {
            for number in [left, right, product] {
                is_used[number.index()] = true;
            }
        }
        let mut spelled = Spelled::default();
        let mut numbers = vec![None; self.len()];
        for (index, &id) in self.ids.iter().enumerate() {
            let text = str::from_utf8(self.texts.get(Number::new(index))).ok()?;
            let is_byte = spelling.has_byte_names && is_byte_name(text);
            let is_no_word =
                is_found_alone[index] && !is_used[index] && text.chars().nth(1).is_some();
            let is_left_out = is_no_word || is_byte;
            let start = spelled.bytes.len();
            if !is_left_out && spelling.spell(text, &mut spelled.bytes) {
                numbers[index] = Some(spelled.tokens.len() as u32);
                spelled.tokens.push((spelled.bytes.len(), id));
            } else {
                spelled.bytes.truncate(start);
            }
            let is_derived = numbers[index].is_some() && spelling.prefix.is_empty();
            if !is_derived && !is_added[index] && !is_byte {
                spelled.written.push((id, text.to_owned()));
            }
        }
        let number = |number: Number| numbers[number.index()];
        let merges = self.merges.iter().zip(&products);
        // What begins a word stands behind nothing.
        let prefix = spelling.prefix.as_bytes();
        let merges = merges.filter(|&(&(_, right), _)| self.texts.get(right).starts_with(prefix));
        let merges = merges.filter_map(|(&(left, right), &product)| {
            Some([number(left)?, number(right)?, number(product)?])
        });
        spelled.merges = merges.collect();
        Some(spelled)
    }

    /// Whether each token is one of these.
    fn are_among(&self, texts: &[&str]) -> Vec<bool> {
        let mut are_among = vec![false; self.len()];
        for number in texts
            .iter()
            .filter_map(|text| self.texts.find(text.as_bytes()))
        {
            are_among[number.index()] = true;
        }
        are_among
    }

    /// The token that each merge makes; `None` if it makes none or is listed twice.
    fn products(&self, prefix: usize) -> Option<Vec<Number>> {
        let mut pairs = FxHashSet::default();
        pairs.reserve(self.merges.len());
        let mut text = Vec::new();
        let merges = self.merges.iter();
        merges
            .map(|&(left, right)| {
                text.clear();
                text.extend_from_slice(self.texts.get(left));
                text.extend_from_slice(self.texts.get(right).get(prefix..)?);
                let is_new = pairs.insert((left, right));
                self.texts.find(&text).filter(|_| is_new)
            })
            .collect()
    }
}

fn has_repetition(ids: &[Id]) -> bool {
    let mut sorted = ids.to_vec();
    // Most files list them in order.
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether a text is <0x00> to <0xFF>.
fn is_byte_name(text: &str) -> bool {
    let digits = text
        .strip_prefix("<0x")
        .and_then(|rest| rest.strip_suffix('>'));
    let is_digit = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
    digits.is_some_and(|digits| digits.len() == 2 && digits.chars().all(is_digit))
}

impl Spelling<'_> {
    /// Append the string of a token; whether a text can have it.
    fn spell(self, text: &str, bytes: &mut Vec<u8>) -> bool {
        let rest = text.strip_prefix(self.prefix);
        if rest.is_none() {
            bytes.extend_from_slice(self.start_of_word);
        }
        let text = rest.unwrap_or(text);
        if self.has_letters {
            let letters = text.chars().map(byte_of);
            let start = bytes.len();
            bytes.extend(letters.clone().map_while(|byte| byte));
            return bytes.len() > start && bytes.len() - start == letters.count();
        }
        if self.mark_is_space {
            bytes.extend(text.replace(MARK, " ").as_bytes());
            return !text.is_empty() && !text.contains(' ');
        }
        bytes.extend_from_slice(text.as_bytes());
        !text.is_empty()
    }
}

/// A file as it is parsed: its model, and its other members, each with a comma behind it.
struct Document<'d> {
    model: Model<'d>,
    rest: String,
}

struct Model<'d> {
    vocab: Vec<(Text<'d>, Id)>,
    merges: Vec<Pair<'d>>,
    rest: String,
}

/// A string of the file, as it lies there if no character of it is escaped.
struct Text<'d>(Cow<'d, str>);

impl<'d> Deserialize<'d> for Text<'d> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'d> Visitor<'d> for Borrowed {
            type Value = Text<'d>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'d str) -> Result<Text<'d>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'d>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowed)
    }
}

/// The members of an object that are not parsed.
#[derive(Default)]
struct Rest {
    keys: Vec<String>,
    json: String,
}

impl Rest {
    /// Take a member that is not parsed.
    fn keep<'d, A: MapAccess<'d>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let value: &RawValue = map.next_value()?;
        let name = serde_json::to_string(key).map_err(A::Error::custom)?;
        self.json.extend([&name, ":", value.get(), ","]);
        Ok(())
    }

    /// Note a key; an error if it was there before.
    fn note<E: serde::de::Error>(&mut self, key: &str) -> Result<(), E> {
        if self.keys.iter().any(|known| known == key) {
            return Err(E::custom("a key twice in one object"));
        }
        self.keys.push(key.to_owned());
        Ok(())
    }
}

impl<'d> Deserialize<'d> for Document<'d> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Document<'d>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tokenizer")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Document<'d>, A::Error> {
                let (mut model, mut rest) = (None, Rest::default());
                while let Some(key) = map.next_key::<String>()? {
                    rest.note(&key)?;
                    match key.as_str() {
                        "model" => model = Some(map.next_value()?),
                        _ => rest.keep(&key, &mut map)?,
                    }
                }
                let model = model.ok_or_else(|| A::Error::missing_field("model"))?;
                let rest = rest.json;
                Ok(Document { model, rest })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'d> Deserialize<'d> for Model<'d> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Model<'d>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a model")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Model<'d>, A::Error> {
                let (mut vocab, mut merges, mut rest) = (None, None, Rest::default());
                while let Some(key) = map.next_key::<String>()? {
                    rest.note(&key)?;
                    match key.as_str() {
                        "vocab" => vocab = Some(map.next_value::<Entries<'d>>()?.0),
                        "merges" => merges = Some(map.next_value::<Vec<Pair<'d>>>()?),
                        _ => rest.keep(&key, &mut map)?,
                    }
                }
                Ok(Model {
                    vocab: vocab.ok_or_else(|| A::Error::missing_field("vocab"))?,
                    merges: merges.ok_or_else(|| A::Error::missing_field("merges"))?,
                    rest: rest.json,
                })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The members of an object, in order.
struct Entries<'d>(Vec<(Text<'d>, Id)>);

impl<'d> Deserialize<'d> for Entries<'d> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Entries<'d>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tokens and ids")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Entries<'d>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Two tokens: as a list, or as a string with a space between them.
struct Pair<'d>(Cow<'d, str>, Cow<'d, str>);

impl<'d> Deserialize<'d> for Pair<'d> {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'d> Visitor<'d> for Parts {
            type Value = Pair<'d>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two tokens")
            }

            fn visit_borrowed_str<E: serde::de::Error>(
                self,
                merge: &'d str,
            ) -> Result<Pair<'d>, E> {
                let (left, right) = halves(merge)?;
                Ok(Pair(left.into(), right.into()))
            }

            fn visit_str<E: serde::de::Error>(self, merge: &str) -> Result<Pair<'d>, E> {
                let (left, right) = halves(merge)?;
                Ok(Pair(left.to_owned().into(), right.to_owned().into()))
            }

            fn visit_seq<A: SeqAccess<'d>>(self, mut parts: A) -> Result<Pair<'d>, A::Error> {
                let mut part = || parts.next_element::<Text<'d>>();
                match (part()?, part()?, part()?) {
                    (Some(left), Some(right), None) => Ok(Pair(left.0, right.0)),
                    _ => Err(A::Error::custom("not two tokens")),
                }
            }
        }
        deserializer.deserialize_any(Parts)
    }
}

/// What is on the two sides of the only space.
fn halves<E: serde::de::Error>(merge: &str) -> Result<(&str, &str), E> {
    let halves = merge.split_once(' ');
    let halves = halves.filter(|(_, right)| !right.contains(' '));
    halves.ok_or_else(|| E::custom("not two tokens"))
}
