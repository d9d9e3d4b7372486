//! A word's tokens.
//!
//! A word is encoded by [`Search`] from left to right, unless words have a mark at their end: those
//! are merged pair by pair. Most words of a text do not come here but are encoded many at a time:
//! short ones by [`ShortWords`], long ones, in windows, by [`Tools`].

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::encode::joins::Joins;
use crate::encode::long::Tools;
use crate::encode::search::{Begun, Scratch, Search, Ways};
use crate::encode::short::ShortWords;
use crate::encode::unused::Unused;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::vocabulary::{Number, Symbols, Vocabulary};
use crate::watch::Watch;

/// A longer word is encoded by windows even if it comes alone, unless its first tokens are known.
const LONGEST_SEARCHED: usize = 63;

/// What becomes of a character that is no token.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Unknown {
    /// An error.
    #[default]
    Refused,
    /// Nothing: it is left out before its neighbours merge.
    Dropped,
    /// The tokens of its bytes.
    #[serde(serialize_with = "write_ids", deserialize_with = "read_ids")]
    Bytes(Box<[Id; 256]>),
    /// The tokens of its bytes, if each of them has one.
    SomeBytes {
        /// The token of each byte.
        ids: Vec<Option<Id>>,
        /// What it becomes if one has none.
        otherwise: Box<Unknown>,
    },
    /// One token for all.
    Token {
        /// Its id.
        id: Id,
        /// Whether neighbouring characters become one token.
        fuse: bool,
    },
}

#[allow(clippy::borrowed_box, reason = "serde hands the field over")]
fn write_ids<S: Serializer>(ids: &Box<[Id; 256]>, out: S) -> std::result::Result<S::Ok, S::Error> {
    ids.as_slice().serialize(out)
}

fn read_ids<'d, D: Deserializer<'d>>(input: D) -> std::result::Result<Box<[Id; 256]>, D::Error> {
    let ids = Vec::deserialize(input)?;
    ids.try_into().map_err(|_| de::Error::custom("not 256 ids"))
}

impl Unknown {
    /// The ids of the tokens that stand for unknown characters.
    pub(crate) fn ids(&self) -> Vec<Id> {
        match self {
            Self::Refused | Self::Dropped => Vec::new(),
            Self::Bytes(ids) => ids.to_vec(),
            Self::SomeBytes { ids, otherwise } => {
                let ids = ids.iter().copied().flatten();
                ids.chain(otherwise.ids()).collect()
            }
            Self::Token { id, .. } => vec![*id],
        }
    }

    /// Whether what becomes of an unknown character depends on no other and changes no other, but for
    /// neighbours that are one token.
    pub(super) fn is_local(&self, vocabulary: &Vocabulary) -> bool {
        let ids = match self {
            Self::SomeBytes { ids, .. } => ids,
            // What is around a character that is left out may merge.
            Self::Dropped => return has_all_bytes(vocabulary),
            _ => return true,
        };
        // Bytes without a token do not matter where they are known characters.
        (0..=u8::MAX).zip(ids).all(|(byte, id)| {
            id.is_some() || byte.is_ascii() && vocabulary.number(&[byte]).is_some()
        })
    }
}

/// A token of a text: its id, and how many bytes of the text it stands for.
pub(super) type Piece = (Id, usize);

/// Encodes words.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) vocabulary: Vocabulary,
    pub(super) unknown: Unknown,
    /// Whether a word that is a token becomes that token, whatever its merges make of it.
    pub(super) looks_up_whole: bool,
    /// Tokens that are taken apart again.
    pub(super) unused: Unused,
    /// The length of the longest token.
    longest: usize,
    search: Option<Search>,
    /// None if short words need more than merging.
    pub(super) short: Option<ShortWords>,
    /// Where long words that are not ASCII are cut; none if they are not merged of bytes that all are
    /// tokens.
    joins: Option<Joins>,
}

impl Words {
    pub(super) fn new(
        vocabulary: Vocabulary,
        unknown: Unknown,
        whole_words: bool,
        unused: Vec<Id>,
    ) -> Self {
        // Where every token is what its string becomes, looking words up changes nothing; but a word
        // with a mark at its end is not encoded like its string without the mark.
        let has_other_tokens = vocabulary.unreachable().next().is_some();
        let looks_up_whole = whole_words && (has_other_tokens || vocabulary.marks_words());
        let search = Search::new(&vocabulary);
        let unused = Unused::new(unused, &vocabulary);
        let merges_alone = unused.is_empty() && !drops_parts(&vocabulary, &unknown);
        let short = merges_alone.then(|| ShortWords::new(&vocabulary, looks_up_whole));
        let lengths = vocabulary.numbers().map(|n| vocabulary.string(n).len());
        let is_cut = has_all_bytes(&vocabulary) && !vocabulary.marks_words();
        Self {
            joins: is_cut.then(|| Joins::new(&vocabulary, looks_up_whole)),
            unused,
            longest: lengths.max().unwrap_or(0),
            vocabulary,
            unknown,
            looks_up_whole,
            search,
            short: short.flatten(),
        }
    }

    /// Whether some text would be encoded differently if merges of one rank came in the order of the
    /// list; true also where that is not known.
    pub(super) fn ties_matter(&self) -> bool {
        let merges = self.vocabulary.merges();
        let has_ties = merges.windows(2).any(|pair| pair[0].rank == pair[1].rank);
        let search = self.search.as_ref();
        has_ties && search.is_none_or(|search| search.ties_matter(&self.vocabulary))
    }

    /// The encoder of long words, if merging is all they need.
    pub(super) fn tools(&self) -> Option<Tools<'_>> {
        Some(Tools {
            vocabulary: &self.vocabulary,
            search: self.search.as_ref()?,
            short: self.short.as_ref()?,
            joins: self.joins.as_ref(),
        })
    }

    /// A word without the symbols that are left out.
    fn without_dropped<'w>(&self, word: &'w [u8]) -> Cow<'w, [u8]> {
        if self.unknown != Unknown::Dropped {
            return Cow::Borrowed(word);
        }
        let units = self.vocabulary.units_of(word);
        let kept = units.into_iter().zip(self.vocabulary.symbols_of(word));
        let kept = kept.filter(|(_, symbol)| !self.is_dropped(symbol));
        Cow::Owned(kept.flat_map(|(unit, _)| unit.iter().copied()).collect())
    }

    /// Whether a symbol is left out.
    fn is_dropped(&self, symbol: &std::result::Result<Number, &[u8]>) -> bool {
        let id = symbol.ok().and_then(|number| self.vocabulary.id(number));
        self.unknown == Unknown::Dropped && id.is_none()
    }

    /// What the tokens of a word stand for: the word without the symbols that are left out, unless it is
    /// looked up as a whole.
    pub(super) fn kept<'w>(&self, word: &'w [u8]) -> Cow<'w, [u8]> {
        match self.id_of_whole(word) {
            Some(_) => Cow::Borrowed(word),
            None => self.without_dropped(word),
        }
    }

    /// The id of the token that a whole word is, if words are looked up. A mark at the end of words is
    /// not looked up.
    fn id_of_whole(&self, word: &[u8]) -> Option<Id> {
        if !self.looks_up_whole {
            return None;
        }
        let start = self.vocabulary.start_of_word();
        let number = match start {
            [] => self.vocabulary.number(word),
            _ => self.vocabulary.number(&[start, word].concat()),
        };
        self.vocabulary.id(number?)
    }

    /// The ends of those tokens of a word's beginning that stay whatever follows it, the last first;
    /// none where that is not known. `ways` are what was found of it before.
    pub(super) fn settled_ends(&self, beginning: &[u8], ways: &mut Ways) -> Vec<usize> {
        let is_fused = matches!(self.unknown, Unknown::Token { fuse: true, .. });
        let Some(search) = &self.search else {
            return Vec::new();
        };
        if is_fused || !self.unknown.is_local(&self.vocabulary) {
            return Vec::new();
        }
        // Nothing merges with an unknown symbol.
        let mut start = 0;
        if self.vocabulary.symbols() == Symbols::Chars {
            let mut end = 0;
            let symbols = self.vocabulary.symbols_of(beginning);
            for (unit, symbol) in self.vocabulary.units_of(beginning).iter().zip(symbols) {
                end += unit.len();
                if symbol.is_err() {
                    start = end;
                }
            }
        }
        if start > 0 {
            ways.begin_anew();
        }
        let ends = search.settled_ends(&self.vocabulary, &beginning[start..], ways);
        let ends = ends.into_iter().map(|end| start + end);
        ends.chain((start > 0).then_some(start)).collect()
    }

    /// The tokens of a word, or of the most of it, if it is long; those of others are found as fast
    /// without. `ways` are what was found of it before.
    pub(super) fn begun(&self, word: &[u8], ways: &mut Ways) -> Begun {
        match &self.search {
            Some(search) if word.len() > LONGEST_SEARCHED => {
                search.begun(&self.vocabulary, word, ways)
            }
            _ => Begun::default(),
        }
    }

    /// Whether a word that begins with this many bytes may be a token that is looked up as a whole.
    pub(super) fn may_be_whole(&self, num_bytes: usize) -> bool {
        self.looks_up_whole && num_bytes <= self.longest
    }

    /// Append the tokens of a word.
    pub(super) fn encode(
        &self,
        word: &[u8],
        scratch: &mut Scratch,
        pieces: &mut Vec<Piece>,
        watch: &Watch,
    ) -> Result<()> {
        if let Some(id) = self.id_of_whole(word) {
            pieces.push((id, word.len()));
            return Ok(());
        }
        self.encode_part(word, scratch, pieces, watch)
    }

    /// Append the tokens of a word, or of a part of one between two of its tokens, that are not looked
    /// up as a whole.
    pub(super) fn encode_part(
        &self,
        word: &[u8],
        scratch: &mut Scratch,
        pieces: &mut Vec<Piece>,
        watch: &Watch,
    ) -> Result<()> {
        let mut writer = Writer {
            words: self,
            first: pieces.len(),
            pieces,
            pending: None,
        };
        if let Some(search) = &self.search
            && self.vocabulary.symbols() == Symbols::Bytes
        {
            let word = &*self.without_dropped(word);
            if let Some(tools) = self.tools()
                && word.len() > LONGEST_SEARCHED
                && !scratch.knows(word)
            {
                let push = |_, tokens: &[Number]| writer.push_all(tokens);
                tools.encode(&[word], scratch, watch, push)?;
            } else {
                search.encode(&self.vocabulary, word, scratch, watch)?;
                writer.push_all(&scratch.tokens)?;
            }
            writer.flush();
            return Ok(());
        }
        let mut symbols = self.vocabulary.symbols_of(word);
        // What is left out is left out before merging: its neighbours may merge. They keep the marks that
        // they have, or lack, in the whole word.
        symbols.retain(|symbol| !self.is_dropped(symbol));
        for run in symbols.chunk_by(|a, b| a.is_ok() && b.is_ok()) {
            if let [Err(unknown)] = run {
                writer.push_unknown(unknown)?;
                continue;
            }
            let numbers: Vec<Number> = run.iter().filter_map(|symbol| symbol.ok()).collect();
            if let Some(search) = &self.search {
                let strings = numbers.iter().map(|&n| self.vocabulary.string(n));
                let run = strings.collect::<Vec<_>>().concat();
                search.encode(&self.vocabulary, &run, scratch, watch)?;
            } else {
                let ranks = self.vocabulary.ranks();
                scratch.tokens = ranks.apply(numbers, |_, _| watch.check())?;
            }
            writer.push_all(&scratch.tokens)?;
        }
        writer.flush();
        Ok(())
    }
}

/// Whether symbols are bytes, and all of them are tokens.
fn has_all_bytes(vocabulary: &Vocabulary) -> bool {
    let id = |byte: u8| vocabulary.id(vocabulary.number(&[byte])?);
    vocabulary.symbols() == Symbols::Bytes && (0..=u8::MAX).all(|byte| id(byte).is_some())
}

/// Whether symbols are left out that would merge.
fn drops_parts(vocabulary: &Vocabulary, unknown: &Unknown) -> bool {
    let is_dropped = |number| vocabulary.id(number).is_none();
    let mut merges = vocabulary.merges().iter();
    *unknown == Unknown::Dropped
        && merges.any(|merge| is_dropped(merge.left) || is_dropped(merge.right))
}

/// Appends the tokens of a word.
struct Writer<'w> {
    words: &'w Words,
    pieces: &'w mut Vec<Piece>,
    /// Where the word's tokens begin.
    first: usize,
    /// The token of unknown characters; it comes before the next one that is known. Tokens for bytes
    /// are not: they pass it by, as in tokenizers.
    pending: Option<Piece>,
}

impl Writer<'_> {
    fn push_all(&mut self, tokens: &[Number]) -> Result<()> {
        self.pieces.reserve(tokens.len());
        let unused = &self.words.unused;
        if unused.is_empty() {
            return tokens.iter().try_for_each(|&token| self.push(token));
        }
        tokens.iter().try_for_each(|&token| {
            unused.take_apart(token, &mut |part| {
                if unused.is_unknown(part) {
                    self.push_unknown(self.words.vocabulary.text_of(part))
                } else {
                    self.push(part)
                }
            })
        })
    }

    fn push(&mut self, token: Number) -> Result<()> {
        let vocabulary = &self.words.vocabulary;
        let text = vocabulary.text_of(token);
        match vocabulary.id(token) {
            Some(id) => {
                self.flush();
                self.pieces.push((id, text.len()));
                Ok(())
            }
            None => self.push_unknown(text),
        }
    }

    fn flush(&mut self) {
        self.pieces.extend(self.pending.take());
    }

    /// Append what becomes of a character, or a byte, that is no token.
    fn push_unknown(&mut self, symbol: &[u8]) -> Result<()> {
        let mut unknown = &self.words.unknown;
        if let Unknown::SomeBytes { ids, otherwise } = unknown {
            let known = symbol
                .iter()
                .map(|&byte| Some((ids[usize::from(byte)]?, 1)));
            if let Some(bytes) = known.collect::<Option<Vec<Piece>>>() {
                self.pieces.extend(bytes);
                return Ok(());
            }
            unknown = otherwise;
        }
        match unknown {
            Unknown::Bytes(ids) => {
                let bytes = symbol.iter().map(|&byte| (ids[usize::from(byte)], 1));
                self.pieces.extend(bytes);
            }
            Unknown::Token { id, fuse } => match &mut self.pending {
                Some((_, length)) if *fuse => *length += symbol.len(),
                _ => {
                    self.flush();
                    self.pending = Some((*id, symbol.len()));
                }
            },
            Unknown::Dropped => {}
            Unknown::Refused | Unknown::SomeBytes { .. } => {
                let known = &self.pieces[self.first..];
                let offset = known.iter().map(|&(_, length)| length).sum();
                let text = std::str::from_utf8(symbol).ok();
                return Err(match text.and_then(|text| text.chars().next()) {
                    Some(character) => Error::UnknownCharacter { character, offset },
                    None => Error::InvalidUtf8 { offset },
                });
            }
        }
        Ok(())
    }
}
