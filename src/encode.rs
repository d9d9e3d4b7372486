//! Texts to ids and back.
//!
//! A text is cut at its special tokens, what is between them is normalised and cut into words, and
//! each word becomes its tokens: out of a cache if it was seen before.

mod batches;
mod cache;
mod specials;
mod trie;
mod words;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use memchr::memmem;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::limits::Watch;
use crate::merges::Id;
use crate::normalize::normalize;
use crate::pattern::Pattern;
use crate::settings::Normalization;
use crate::vocabulary::{Symbols, Vocabulary};
use batches::{concatenate, in_groups, in_parallel};
use cache::{Cache, LONG, Packed, SHORT, short_key};
use specials::{Finders, Part, Specials};
use words::{Piece, Scratch, Words};

pub use batches::Encoded;
pub use specials::{Choice, Special};
pub use words::Unknown;

/// How many words are looked up together.
const BATCH: usize = 64;
/// The mark of `SentencePiece` for a space, U+2581.
const MARK: &[u8] = "\u{2581}".as_bytes();

/// Where a token begins and ends in its text, in bytes.
pub type Place = (usize, usize);

/// Is a space put before a text?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixSpace {
    /// No.
    Never,
    /// Before each stretch between special tokens that does not begin with one.
    UnlessSpace,
    /// Yes, before each stretch between special tokens that is not empty.
    Always,
    /// Yes, before a whole text that is not empty, special tokens and all.
    Once,
}

/// What happens to a text before it is cut into words.
#[derive(Debug, Clone, Copy)]
pub struct Preparation {
    /// How it is normalised.
    pub normalization: Normalization,
    /// Is a space put before it?
    pub prefix_space: PrefixSpace,
    /// Is U+2581 read as a space?
    pub mark_is_space: bool,
}

/// Encodes and decodes.
#[derive(Debug)]
pub struct Encoder {
    words: Words,
    pattern: Pattern,
    preparation: Preparation,
    specials: Specials,
    strings: FxHashMap<Id, Box<[u8]>>,
    /// Without a pattern: the pairs of bytes that stand side by side in some token.
    joins: Option<Box<[u64; 1024]>>,
    /// How many bits an id has in the cache.
    bits: u32,
    desks: Mutex<Vec<Desk>>,
}

impl Encoder {
    /// An encoder of these parts.
    #[must_use]
    pub fn new(
        vocabulary: Vocabulary,
        unknown: Unknown,
        whole_words: bool,
        pattern: Pattern,
        preparation: Preparation,
        specials: Vec<Special>,
    ) -> Self {
        let mut strings: FxHashMap<Id, Box<[u8]>> = FxHashMap::default();
        for number in 0..vocabulary.len() as u32 {
            if let Some(id) = vocabulary.id(number) {
                strings.insert(id, vocabulary.string(number).into());
            }
        }
        if let Unknown::Bytes(ids) = &unknown {
            strings.extend((0..=u8::MAX).map(|byte| (ids[usize::from(byte)], [byte].into())));
        }
        for special in &specials {
            strings.insert(special.id, special.text.as_bytes().into());
        }
        if let Unknown::Token { id, .. } = unknown {
            let replacement = char::REPLACEMENT_CHARACTER.to_string().into_bytes();
            strings.entry(id).or_insert_with(|| replacement.into());
        }
        let largest = strings.keys().copied().max().unwrap_or(0);
        let words = Words::new(vocabulary, unknown, whole_words);
        let joins = pattern.spec().is_none().then(|| joins(&words)).flatten();
        Self {
            words,
            pattern,
            preparation,
            specials: Specials::new(specials),
            strings,
            joins,
            bits: (u32::BITS - largest.leading_zeros()).max(1),
            desks: Mutex::default(),
        }
    }

    /// The tokens and their merges.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        self.words.vocabulary()
    }

    /// Would some text be encoded otherwise if merges of one rank came in the order of the list?
    /// True also where that is not known.
    #[must_use]
    pub fn ties_matter(&self) -> bool {
        self.words.ties_matter()
    }

    /// The ids of a text.
    pub fn encode(&self, text: &[u8], choice: &Choice, watch: &Watch) -> Result<Vec<Id>> {
        let mut ids = Vec::new();
        let finders = self.specials.finders(choice);
        self.with_desk(|desk| self.encode_text(text, &finders, desk, &mut ids, watch))?;
        Ok(ids)
    }

    /// How many ids a text has.
    pub fn count(&self, text: &[u8], choice: &Choice, watch: &Watch) -> Result<usize> {
        let mut count = Count(0);
        let finders = self.specials.finders(choice);
        self.with_desk(|desk| self.encode_text(text, &finders, desk, &mut count, watch))?;
        Ok(count.0)
    }

    /// The ids of a text, and where each token begins and ends in it.
    pub fn encode_with_offsets(
        &self,
        text: &[u8],
        choice: &Choice,
        watch: &Watch,
    ) -> Result<(Vec<Id>, Vec<Place>)> {
        let mut pieces = Vec::new();
        let prefixed = self.with_prefix(text);
        let finders = self.specials.finders(choice);
        self.specials
            .for_each_part(&prefixed, &finders, |part| match part {
                Part::Special(special) => {
                    pieces.push((special.id, special.text.len()));
                    Ok(())
                }
                Part::Ordinary(start, text) => self.place(start, text, &mut pieces, watch),
            })?;
        let mut at = 0;
        let mut hidden = prefixed.len() - text.len();
        let places = pieces.iter().map(|&(_, length)| {
            let shown = length.saturating_sub(hidden);
            hidden -= length - shown;
            let start = at;
            at += shown;
            (start, at)
        });
        let places = places.collect();
        Ok((pieces.into_iter().map(|(id, _)| id).collect(), places))
    }

    /// Append the tokens of a text without special ones, with the lengths that they have in it.
    fn place(
        &self,
        start: usize,
        text: &[u8],
        pieces: &mut Vec<Piece>,
        watch: &Watch,
    ) -> Result<()> {
        let prepared = self.prepare(text);
        let is_prefixed = prepared.len() == text.len() + 1 && prepared.ends_with(text);
        if !is_prefixed && *prepared != *text {
            return Err(Error::NoOffsets);
        }
        let (first, mut scratch, mut result) = (pieces.len(), Scratch::default(), Ok(()));
        self.for_each_word(&prepared, watch, |from, to| {
            if result.is_ok() {
                result = self
                    .words
                    .encode(&prepared[from..to], &mut scratch, pieces, watch)
                    .map_err(|error| error.after(start + from));
            }
        })?;
        result?;
        if let Some((_, length)) = pieces[first..].first_mut().filter(|_| is_prefixed) {
            *length -= 1;
        }
        self.fuse(first, pieces);
        Ok(())
    }

    /// The ids of documents, one after the other, and where each document's begin; behind them,
    /// where the last one's end. The result does not depend on the number of threads.
    pub fn encode_batch(
        &self,
        documents: &[&[u8]],
        choice: &Choice,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Encoded> {
        let finders = self.specials.finders(choice);
        let groups = in_groups(documents, num_threads);
        if num_threads <= 1 || groups.len() <= 1 {
            let mut ids = Vec::new();
            let offsets = self.encode_group(documents, 0, &finders, &mut ids, watch)?;
            return Ok((ids, offsets));
        }
        let encoded = in_parallel(num_threads, &groups, |&(start, end)| {
            let mut ids = Vec::new();
            let group = &documents[start..end];
            let offsets = self.encode_group(group, start, &finders, &mut ids, watch)?;
            Ok((ids, offsets))
        })?;
        let mut offsets = vec![0];
        for (_, ends) in &encoded {
            let before = offsets.last().copied().unwrap_or(0);
            offsets.extend(ends[1..].iter().map(|end| before + end));
        }
        Ok((concatenate(num_threads, &encoded), offsets))
    }

    fn encode_group(
        &self,
        documents: &[&[u8]],
        first: usize,
        finders: &Finders,
        ids: &mut Vec<Id>,
        watch: &Watch,
    ) -> Result<Vec<usize>> {
        let mut offsets = Vec::with_capacity(documents.len() + 1);
        offsets.push(0);
        self.with_desk(|desk| {
            for (index, document) in documents.iter().enumerate() {
                watch.check()?;
                self.encode_text(document, finders, desk, ids, watch)
                    .map_err(|error| error.of_document(first + index))?;
                offsets.push(ids.len());
                watch.advance(document.len() as u64);
            }
            Ok(offsets)
        })
    }

    /// Lend a desk; each thread has its own, and they are kept for the next call.
    fn with_desk<T>(&self, work: impl FnOnce(&mut Desk) -> Result<T>) -> Result<T> {
        let lock = || self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let mut desk = kept.unwrap_or_default();
        let result = work(&mut desk);
        lock().push(desk);
        result
    }

    fn encode_text<S: Sink>(
        &self,
        text: &[u8],
        finders: &Finders,
        desk: &mut Desk,
        sink: &mut S,
        watch: &Watch,
    ) -> Result<()> {
        self.specials
            .for_each_part(&self.with_prefix(text), finders, |part| match part {
                Part::Special(special) => {
                    sink.push(special.id);
                    Ok(())
                }
                Part::Ordinary(start, text) => self
                    .encode_ordinary(&self.prepare(text), desk, sink, watch)
                    .map_err(|error| error.after(start)),
            })
    }

    fn with_prefix<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.preparation.prefix_space == PrefixSpace::Once && !text.is_empty() {
            return Cow::Owned([b" ", text].concat());
        }
        Cow::Borrowed(text)
    }

    /// Encode a text that is prepared, a batch of words at a time.
    fn encode_ordinary<S: Sink>(
        &self,
        text: &[u8],
        desk: &mut Desk,
        sink: &mut S,
        watch: &Watch,
    ) -> Result<()> {
        let first = sink.mark();
        let (mut len, mut result) = (0, Ok(()));
        self.for_each_word(text, watch, |start, end| {
            desk.spans[len] = (start, end);
            len += 1;
            if len == BATCH {
                len = 0;
                if result.is_ok() {
                    result = self.encode_words(text, BATCH, desk, sink, watch);
                }
            }
        })?;
        result?;
        self.encode_words(text, len, desk, sink, watch)?;
        if let (Unknown::Token { id, fuse: true }, None) =
            (self.words.unknown(), self.pattern.spec())
        {
            sink.fuse(first, *id);
        }
        Ok(())
    }

    /// Encode the first `len` words on the desk.
    #[inline(never)]
    fn encode_words<S: Sink>(
        &self,
        text: &[u8],
        len: usize,
        desk: &mut Desk,
        sink: &mut S,
        watch: &Watch,
    ) -> Result<()> {
        const ROOM: usize = 128;
        watch.check()?;
        let (mut keys, mut lines) = ([0; BATCH], [0; BATCH]);
        for (index, &(start, end)) in desk.spans[..len].iter().enumerate() {
            keys[index] = short_key(text, start, end);
            lines[index] = desk.cache.line(keys[index]);
        }
        let mut buffer = [0; BATCH * 2 + ROOM];
        let mut used = 0;
        for index in 0..len {
            let found = match desk.cache.get_short(keys[index], lines[index]) {
                Some(found) => Some(found),
                None => self.encode_word(text, desk.spans[index], desk, watch)?,
            };
            let Some(found) = found else {
                sink.push_all(&buffer[..used]);
                desk.pieces.iter().for_each(|&(id, _)| sink.push(id));
                used = 0;
                continue;
            };
            let count = found.len();
            let [first, second] = found.first_two(self.bits);
            buffer[used] = first;
            buffer[used + 1] = second;
            for more in 2..count {
                buffer[used + more] = found.get(more, self.bits);
            }
            used += count;
            if used > BATCH * 2 {
                sink.push_all(&buffer[..used]);
                used = 0;
            }
        }
        sink.push_all(&buffer[..used]);
        Ok(())
    }

    /// The tokens of a word that is long or new (or whose line moved as the cache grew); None if
    /// they do not fit the cache: they are in the desk's `pieces` then.
    #[cold]
    fn encode_word(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        desk: &mut Desk,
        watch: &Watch,
    ) -> Result<Option<Packed>> {
        let word = &text[start..end];
        let is_long = word.len() > SHORT && word.len() <= LONG;
        if is_long && let Some(found) = desk.cache.get_long(word) {
            return Ok(Some(found));
        }
        desk.pieces.clear();
        self.words
            .encode(word, &mut desk.scratch, &mut desk.pieces, watch)
            .map_err(|error| error.after(start))?;
        let ids = desk.pieces.iter().map(|&(id, _)| id);
        let packed = Packed::new(ids, self.bits);
        match packed {
            Some(packed) if word.len() <= SHORT => {
                desk.cache.insert_short(short_key(text, start, end), packed);
            }
            Some(packed) if is_long => desk.cache.insert_long(word, packed),
            _ => {}
        }
        Ok(packed)
    }

    fn prepare<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut prepared = normalize(text, self.preparation.normalization);
        if self.preparation.mark_is_space && memmem::find(&prepared, MARK).is_some() {
            prepared = Cow::Owned(replace(&prepared, MARK, b" "));
        }
        let needs_space = match self.preparation.prefix_space {
            PrefixSpace::Never | PrefixSpace::Once => false,
            PrefixSpace::UnlessSpace => !prepared.starts_with(b" "),
            PrefixSpace::Always => true,
        };
        if needs_space && !prepared.is_empty() {
            prepared.to_mut().insert(0, b' ');
        }
        prepared
    }

    /// Calls `use_word` for each word.
    #[inline]
    fn for_each_word(
        &self,
        text: &[u8],
        watch: &Watch,
        mut use_word: impl FnMut(usize, usize),
    ) -> Result<()> {
        if self.joins.is_none() {
            return self.pattern.for_each_word(text, watch, use_word);
        }
        let mut start = 0;
        for (at, pair) in (1..).zip(text.windows(2)) {
            if self.is_cut(pair[0], pair[1]) {
                use_word(start, at);
                start = at;
            }
        }
        if start < text.len() {
            use_word(start, text.len());
        }
        Ok(())
    }

    /// Without a pattern, unknown characters side by side are one token wherever the text was cut.
    fn fuse(&self, first: usize, pieces: &mut Vec<Piece>) {
        if let (Unknown::Token { id, fuse: true }, None) =
            (self.words.unknown(), self.pattern.spec())
        {
            let mut kept = first;
            for index in first..pieces.len() {
                if kept > first && pieces[index].0 == *id && pieces[kept - 1].0 == *id {
                    pieces[kept - 1].1 += pieces[index].1;
                } else {
                    pieces[kept] = pieces[index];
                    kept += 1;
                }
            }
            pieces.truncate(kept);
        }
    }

    /// The last place after 0 where a text can be cut whatever follows it, if one is sure: the ids
    /// of both parts, encoded by themselves, are those of the whole.
    #[must_use]
    pub fn last_cut(&self, text: &[u8]) -> Option<usize> {
        let is_changed = self.preparation.normalization != Normalization::None
            || self.preparation.prefix_space != PrefixSpace::Never;
        if is_changed {
            return None;
        }
        // A special token may begin before the cut and end behind the text.
        let mut cut = text.len().checked_sub(self.specials.longest())?;
        loop {
            cut = self.last_ordinary_cut(&text[..cut])?;
            if !self.specials.stand_across(text, cut) {
                return Some(cut);
            }
        }
    }

    fn last_ordinary_cut(&self, text: &[u8]) -> Option<usize> {
        if self.joins.is_none() {
            return self.pattern.last_safe_cut(text);
        }
        let fuses = matches!(self.words.unknown(), Unknown::Token { fuse: true, .. });
        if fuses {
            return None;
        }
        (1..text.len())
            .rev()
            .find(|&at| self.is_cut(text[at - 1], text[at]))
    }

    /// Without a pattern: is a text cut between two bytes, because no token holds both?
    #[inline]
    fn is_cut(&self, left: u8, right: u8) -> bool {
        let key = usize::from(left) << 8 | usize::from(right);
        let in_char = self.vocabulary().symbols() == Symbols::Chars && right & 0xC0 == 0x80;
        let is_joined = |joins: &[u64; 1024]| joins[key / 64] >> (key % 64) & 1 == 1;
        !in_char && self.joins.as_deref().is_some_and(|joins| !is_joined(joins))
    }

    /// The bytes that ids stand for, one after the other.
    pub fn decode(&self, ids: &[Id]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        let end_of_word = self.vocabulary().end_of_word();
        for &id in ids {
            let string = self.strings.get(&id).ok_or(Error::UnknownId {
                id,
                num_tokens: self.strings.len(),
            })?;
            match string.strip_suffix(end_of_word) {
                Some(word) if !end_of_word.is_empty() => {
                    bytes.extend_from_slice(word);
                    bytes.push(b' ');
                }
                _ => bytes.extend_from_slice(string),
            }
        }
        Ok(bytes)
    }
}

/// Where ids go.
trait Sink {
    fn push(&mut self, id: Id);
    fn push_all(&mut self, buffer: &[Id]);
    fn mark(&self) -> usize;
    fn fuse(&mut self, first: usize, id: Id);
}

impl Sink for Vec<Id> {
    fn push(&mut self, id: Id) {
        self.push(id);
    }

    #[inline]
    fn push_all(&mut self, buffer: &[Id]) {
        self.extend_from_slice(buffer);
    }

    fn mark(&self) -> usize {
        self.len()
    }

    fn fuse(&mut self, first: usize, id: Id) {
        let mut tail = self.split_off(first);
        tail.dedup_by(|a, b| *a == id && *b == id);
        self.append(&mut tail);
    }
}

/// Counts ids instead of keeping them.
struct Count(usize);

impl Sink for Count {
    fn push(&mut self, _: Id) {
        self.0 += 1;
    }

    #[inline]
    fn push_all(&mut self, buffer: &[Id]) {
        self.0 += buffer.len();
    }

    fn mark(&self) -> usize {
        self.0
    }

    fn fuse(&mut self, _: usize, _: Id) {}
}

/// What a thread works with.
#[derive(Debug)]
struct Desk {
    cache: Cache,
    /// Words that are looked up together, so that their loads from memory overlap.
    spans: [(usize, usize); BATCH],
    scratch: Scratch,
    pieces: Vec<Piece>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            cache: Cache::new(),
            spans: [(0, 0); BATCH],
            scratch: Scratch::default(),
            pieces: Vec::new(),
        }
    }
}

/// The pairs of bytes that stand side by side in some token, if texts may be cut between others.
fn joins(words: &Words) -> Option<Box<[u64; 1024]>> {
    let vocabulary = words.vocabulary();
    if words.looks_up_whole_words() || !vocabulary.end_of_word().is_empty() {
        return None;
    }
    let mut joins = Box::new([0_u64; 1024]);
    for number in 0..vocabulary.len() as u32 {
        for pair in vocabulary.string(number).windows(2) {
            let key = usize::from(pair[0]) << 8 | usize::from(pair[1]);
            joins[key / 64] |= 1 << (key % 64);
        }
    }
    Some(joins)
}

fn replace(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    let mut start = 0;
    for at in memmem::find_iter(text, what) {
        replaced.extend_from_slice(&text[start..at]);
        replaced.extend_from_slice(by);
        start = at + what.len();
    }
    replaced.extend_from_slice(&text[start..]);
    replaced
}
