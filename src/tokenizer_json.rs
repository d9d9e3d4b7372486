//! The tokens and merges of a tokenizer.json: most of the file, and all alike.
//!
//! What else it says is left as the text that it is. A file that is not as usual in any respect is
//! not read here at all: whoever then reads it the slow way finds out what is wrong with it.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::merges::Id;
use crate::pipeline::byte_of;

/// The mark for a space, U+2581.
const MARK: &str = "\u{2581}";

/// A file.
#[derive(Debug)]
pub struct TokenizerJson {
    texts: Vec<String>,
    ids: Vec<Id>,
    /// The index of each text.
    indices: FxHashMap<String, u32>,
    /// The indices of the two parts of each merge.
    merges: Vec<(u32, u32)>,
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
    /// The indices of the two tokens that each merge joins.
    pub merges: Vec<(u32, u32)>,
    /// What is written for ids where it does not follow from the string of a token.
    pub written: Vec<(Id, String)>,
}

impl TokenizerJson {
    /// The file with these bytes, unless something about it is unusual.
    pub fn parse(file: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(file).ok()?;
        let Model {
            vocab,
            merges,
            rest: model,
        } = document.model;
        let (mut texts, mut ids) = (Vec::new(), Vec::new());
        let mut indices = FxHashMap::default();
        indices.reserve(vocab.len());
        let mut largest = 0;
        for (text, id) in vocab {
            if indices.insert(text.clone(), texts.len() as u32).is_some() {
                return None;
            }
            largest = largest.max(id);
            texts.push(text);
            ids.push(id);
        }
        if has_repetition(&ids, largest) {
            return None;
        }
        let merges = merges.into_iter();
        let merges =
            merges.map(|(left, right)| Some((*indices.get(&*left)?, *indices.get(&*right)?)));
        let merges = merges.collect::<Option<_>>()?;
        Some(Self {
            texts,
            ids,
            indices,
            merges,
            rest: format!(
                "{{{}\"model\":{{{}\"vocab\":{{}},\"merges\":[]}}}}",
                document.rest, model
            ),
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
        Some(self.ids[*self.indices.get(text)? as usize])
    }

    /// The tokens that a text can have, without those that are only `added`, and the merges of these;
    /// `None` if a merge makes no token, or is listed twice.
    pub fn spelled(&self, spelling: Spelling<'_>, added: &[&str]) -> Option<Spelled> {
        let is_used = self.used(spelling.prefix.len())?;
        let is_added = {
            let mut is_added = vec![false; self.texts.len()];
            let indices = added.iter().filter_map(|&text| self.indices.get(text));
            indices.for_each(|&index| is_added[index as usize] = true);
            is_added
        };
        let mut spelled = Spelled::default();
        let mut numbers = vec![None; self.texts.len()];
        for (index, text) in self.texts.iter().enumerate() {
            let is_short = text.chars().nth(1).is_none();
            let is_byte = spelling.has_byte_names && is_byte_name(text);
            let is_left_out = is_added[index] && !is_used[index] && !is_short || is_byte;
            let start = spelled.bytes.len();
            if !is_left_out && spelling.spell(text, &mut spelled.bytes) {
                numbers[index] = Some(spelled.tokens.len() as u32);
                spelled.tokens.push((spelled.bytes.len(), self.ids[index]));
            } else {
                spelled.bytes.truncate(start);
            }
            let is_derived = numbers[index].is_some() && spelling.prefix.is_empty();
            if !is_derived && !is_added[index] && !is_byte {
                spelled.written.push((self.ids[index], text.clone()));
            }
        }
        let number = |index: u32| numbers[index as usize];
        for &(left, right) in &self.merges {
            let product = self.product(left, right, spelling.prefix.len())?;
            if let (Some(left), Some(right), Some(_)) =
                (number(left), number(right), number(product))
            {
                spelled.merges.push((left, right));
            }
        }
        Some(spelled)
    }

    /// Whether some merge has or makes each token; `None` as above.
    fn used(&self, prefix: usize) -> Option<Vec<bool>> {
        let mut is_used = vec![false; self.texts.len()];
        let mut pairs = rustc_hash::FxHashSet::default();
        pairs.reserve(self.merges.len());
        for &(left, right) in &self.merges {
            if !pairs.insert((left, right)) {
                return None;
            }
            for index in [left, right, self.product(left, right, prefix)?] {
                is_used[index as usize] = true;
            }
        }
        Some(is_used)
    }

    /// The token that a merge makes.
    fn product(&self, left: u32, right: u32, prefix: usize) -> Option<u32> {
        let mut text = self.texts[left as usize].clone();
        text.push_str(self.texts[right as usize].get(prefix..)?);
        self.indices.get(&text).copied()
    }
}

fn has_repetition(ids: &[Id], largest: Id) -> bool {
    if largest as usize >= ids.len().saturating_mul(4) + 1024 {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        return sorted.windows(2).any(|pair| pair[0] == pair[1]);
    }
    let mut is_taken = vec![false; largest as usize + 1];
    ids.iter()
        .any(|&id| std::mem::replace(&mut is_taken[id as usize], true))
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
        let text = match text.strip_prefix(self.prefix) {
            Some(rest) => rest,
            None => {
                bytes.extend_from_slice(self.start_of_word);
                text
            }
        };
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
struct Document {
    model: Model,
    rest: String,
}

struct Model {
    vocab: Vec<(String, Id)>,
    merges: Vec<(String, String)>,
    rest: String,
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
        self.json.push_str(&format!("{name}:{value},"));
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

impl<'d> Deserialize<'d> for Document {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Document;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tokenizer")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Document, A::Error> {
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

impl<'d> Deserialize<'d> for Model {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Model;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a model")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Model, A::Error> {
                let (mut vocab, mut merges, mut rest) = (None, None, Rest::default());
                while let Some(key) = map.next_key::<String>()? {
                    rest.note(&key)?;
                    match key.as_str() {
                        "vocab" => vocab = Some(map.next_value::<Entries>()?.0),
                        "merges" => merges = Some(map.next_value::<Vec<Pair>>()?),
                        _ => rest.keep(&key, &mut map)?,
                    }
                }
                let merges = merges.ok_or_else(|| A::Error::missing_field("merges"))?;
                Ok(Model {
                    vocab: vocab.ok_or_else(|| A::Error::missing_field("vocab"))?,
                    merges: merges.into_iter().map(|pair| pair.0).collect(),
                    rest: rest.json,
                })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The members of an object, in order.
struct Entries(Vec<(String, Id)>);

impl<'d> Deserialize<'d> for Entries {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'d> Visitor<'d> for Members {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tokens and ids")
            }

            fn visit_map<A: MapAccess<'d>>(self, mut map: A) -> Result<Entries, A::Error> {
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
struct Pair((String, String));

impl<'d> Deserialize<'d> for Pair {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'d> Visitor<'d> for Parts {
            type Value = Pair;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two tokens")
            }

            fn visit_str<E: serde::de::Error>(self, merge: &str) -> Result<Pair, E> {
                match merge.split_once(' ') {
                    Some((left, right)) if !right.contains(' ') => {
                        Ok(Pair((left.to_owned(), right.to_owned())))
                    }
                    _ => Err(E::custom("not two tokens")),
                }
            }

            fn visit_seq<A: SeqAccess<'d>>(self, mut parts: A) -> Result<Pair, A::Error> {
                let mut part = || parts.next_element::<String>();
                match (part()?, part()?, part()?) {
                    (Some(left), Some(right), None) => Ok(Pair((left, right))),
                    _ => Err(A::Error::custom("not two tokens")),
                }
            }
        }
        deserializer.deserialize_any(Parts)
    }
}
