//! Texts to ids and back.
//!
//! A text is cut at its special tokens, what is between them is normalised and cut into words, and
//! each word becomes its tokens: out of a cache if it was seen before.

mod batches;
mod cache;
mod ends;
mod long;
mod offsets;
mod search;
mod short;
#[cfg(test)]
mod tests;
mod trie;
mod whole;
mod words;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use memchr::memmem;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::merges::Id;
use crate::normalize::normalize;
use crate::pattern::{Name, Pattern, Processor, TakeGroups};
use crate::settings::Normalization;
use crate::specials::{Finders, Part, Specials};
use crate::vocabulary::{Symbols, Vocabulary};
use crate::watch::Watch;
use batches::{encode_in_groups, with_room_for};
use cache::{Buffer, Cache, Miss, NO_IDS, Word};
use ends::{BATCH, Ends, MOST_WORDS};
use long::LongWords;
use search::Scratch;
use words::{Piece, Words};

pub use crate::specials::{Choice, Special};
pub use batches::Encoded;
pub use offsets::Place;
pub use words::Unknown;

/// The mark of `SentencePiece` for a space, U+2581.
const MARK: &[u8] = "\u{2581}".as_bytes();

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
        for number in vocabulary.numbers() {
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
        let finders = self.specials.finders(choice)?;
        let mut sink = Keep::new(&mut ids);
        self.with_desk(|desk| self.encode_text(text, &finders, desk, &mut sink, watch))?;
        Ok(ids)
    }

    /// How many ids a text has.
    pub fn count(&self, text: &[u8], choice: &Choice, watch: &Watch) -> Result<usize> {
        let mut count = Count::default();
        let finders = self.specials.finders(choice)?;
        self.with_desk(|desk| self.encode_text(text, &finders, desk, &mut count, watch))?;
        Ok(count.num_ids)
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
        let finders = self.specials.finders(choice)?;
        if num_threads > 1 && documents.len() > 1 {
            return encode_in_groups(documents, num_threads, |(start, end), ids| {
                self.encode_group(&documents[start..end], start, &finders, ids, watch)
            });
        }
        let mut ids = with_room_for(documents);
        let offsets = self.encode_group(documents, 0, &finders, &mut ids, watch)?;
        Ok((ids, offsets))
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
                self.encode_text(document, finders, desk, &mut Keep::new(ids), watch)
                    .map_err(|error| error.in_document(first + index))?;
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
        let mut desk = kept.unwrap_or_else(|| Desk::new(self.bits));
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
        self.specials.check(text, finders)?;
        self.specials
            .for_each_part(&self.with_prefix(text), finders, |part| match part {
                Part::Special(special) => {
                    sink.push(special.id);
                    Ok(())
                }
                Part::Ordinary(start, text) => self
                    .encode_ordinary(&self.prepare(text), desk, sink, watch)
                    .map_err(|error| error.moved(start, self.hidden_bytes(text))),
            })
    }

    /// How many bytes are put before a stretch of text, or before the whole.
    fn hidden_bytes(&self, text: &[u8]) -> usize {
        usize::from(match self.preparation.prefix_space {
            PrefixSpace::Never => false,
            PrefixSpace::UnlessSpace => !text.starts_with(b" "),
            PrefixSpace::Always | PrefixSpace::Once => true,
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
        sink.begin(self.fused());
        match self.pattern.name() {
            Some(name) => self.encode_groups(name, text, desk, sink, watch)?,
            None => self.encode_singly(text, desk, sink, watch)?,
        }
        sink.end();
        Ok(())
    }

    /// Encode the words of a named pattern, which come in groups.
    fn encode_groups<S: Sink>(
        &self,
        name: Name,
        text: &[u8],
        desk: &mut Desk,
        sink: &mut S,
        watch: &Watch,
    ) -> Result<()> {
        let mut batches = Batches {
            encoder: self,
            text,
            start: 0,
            desk,
            sink,
            watch,
            result: Ok(()),
        };
        // What an error in another text left.
        batches.desk.ends.clear();
        name.for_each_group(text, watch, &mut batches)?;
        batches.encode();
        batches.result
    }

    /// Encode the words of any other pattern.
    fn encode_singly<S: Sink>(
        &self,
        text: &[u8],
        desk: &mut Desk,
        sink: &mut S,
        watch: &Watch,
    ) -> Result<()> {
        let (mut len, mut result) = (0, Ok(()));
        self.for_each_word(text, watch, |start, end| {
            desk.words[len] = desk.cache.begin(text, start, end);
            len += 1;
            if len == BATCH {
                len = 0;
                if result.is_ok() {
                    result = self.encode_words(text, BATCH, desk, sink, watch);
                }
            }
        })?;
        result?;
        self.encode_words(text, len, desk, sink, watch)
    }

    /// The unknown token, if neighbours are one wherever the text was cut: without a pattern.
    fn fused(&self) -> Option<Id> {
        match (self.words.unknown(), self.pattern.spec()) {
            (Unknown::Token { id, fuse: true }, None) => Some(*id),
            _ => None,
        }
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
        watch.check()?;
        let Desk {
            cache,
            words,
            buffer,
            misses,
            ..
        } = desk;
        let words = &mut words[..len];
        let (num_ids, num_misses) = cache.copy_known(words, buffer, misses);
        let misses = &misses[..num_misses];
        if let Some(short) = self.words.short()
            && misses.iter().any(|miss| words[miss.index()].is_short())
        {
            short.learn(text, words, misses, cache);
        }
        let long_words = &mut desk.long_words;
        if !misses.is_empty() {
            let found = (&mut *words, misses);
            long_words.find(
                self.words.tools(),
                text,
                found,
                cache,
                &mut desk.scratch,
                watch,
            )?;
        }
        let mut start = 0;
        for (index, miss) in misses.iter().enumerate() {
            sink.push_all(&buffer[start..miss.at()]);
            start = miss.at();
            if let Some(ids) = long_words.ids(index) {
                sink.push_all(ids);
                continue;
            }
            let word = &mut words[miss.index()];
            desk.ids.clear();
            if !cache.find(text, word, &mut desk.ids) {
                desk.pieces.clear();
                self.words
                    .encode(
                        &text[word.place()],
                        &mut desk.scratch,
                        &mut desk.pieces,
                        watch,
                    )
                    .map_err(|error| error.moved(word.place().start, 0))?;
                desk.ids.extend(desk.pieces.iter().map(|&(id, _)| id));
                cache.insert(text, word, &desk.ids);
            }
            sink.push_all(&desk.ids);
        }
        sink.push_all(&buffer[start..num_ids]);
        Ok(())
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

    /// The last place after 0 where a text can be cut whatever follows it, if one is sure: the ids
    /// of both parts, encoded by themselves, are those of the whole.
    #[must_use]
    pub fn last_cut(&self, text: &[u8]) -> Option<usize> {
        let is_changed = self.preparation.normalization != Normalization::None
            || self.preparation.prefix_space != PrefixSpace::Never;
        if is_changed {
            return None;
        }
        // What looks like a place to cut may be the inside of a mark that becomes a space.
        let text = match self.preparation.mark_is_space {
            true if memmem::find(text, MARK).is_some() => return None,
            true => [&MARK[..2], &MARK[..1]]
                .into_iter()
                .find_map(|half| text.strip_suffix(half))
                .unwrap_or(text),
            false => text,
        };
        self.specials
            .last_cut(text, |text| self.last_ordinary_cut(text))
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
    /// A stretch of ordinary text begins, in which neighbours with the id `fused` are one.
    fn begin(&mut self, fused: Option<Id>);
    fn push_all(&mut self, ids: &[Id]);
    /// The stretch is over.
    fn end(&mut self);
    /// A special token.
    fn push(&mut self, id: Id);
}

/// Keeps ids.
struct Keep<'i> {
    ids: &'i mut Vec<Id>,
    fused: Option<Id>,
    first: usize,
}

impl<'i> Keep<'i> {
    fn new(ids: &'i mut Vec<Id>) -> Self {
        let (fused, first) = (None, 0);
        Self { ids, fused, first }
    }
}

impl Sink for Keep<'_> {
    fn begin(&mut self, fused: Option<Id>) {
        (self.fused, self.first) = (fused, self.ids.len());
    }

    #[inline]
    fn push_all(&mut self, ids: &[Id]) {
        self.ids.extend_from_slice(ids);
    }

    fn end(&mut self) {
        if let Some(id) = self.fused {
            let mut stretch = self.ids.split_off(self.first);
            stretch.dedup_by(|a, b| *a == id && *b == id);
            self.ids.append(&mut stretch);
        }
    }

    fn push(&mut self, id: Id) {
        self.ids.push(id);
    }
}

/// Counts ids instead of keeping them.
#[derive(Default)]
struct Count {
    num_ids: usize,
    fused: Option<Id>,
    last: Option<Id>,
}

impl Sink for Count {
    fn begin(&mut self, fused: Option<Id>) {
        (self.fused, self.last) = (fused, None);
    }

    #[inline]
    fn push_all(&mut self, ids: &[Id]) {
        self.num_ids += ids.len();
        if self.fused.is_some() {
            for &id in ids {
                let is_fused = self.fused == Some(id) && self.last == Some(id);
                self.num_ids -= usize::from(is_fused);
                self.last = Some(id);
            }
        }
    }

    fn end(&mut self) {}

    fn push(&mut self, _: Id) {
        self.num_ids += 1;
    }
}

/// What a thread works with.
#[derive(Debug)]
struct Desk {
    cache: Cache,
    ends: Ends,
    words: [Word; MOST_WORDS],
    buffer: Buffer,
    misses: [Miss; MOST_WORDS],
    scratch: Scratch,
    long_words: LongWords,
    /// The tokens of one word.
    pieces: Vec<Piece>,
    ids: Vec<Id>,
}

impl Desk {
    fn new(bits: u32) -> Self {
        Self {
            cache: Cache::new(bits),
            ends: Ends::NONE,
            words: [Word::default(); MOST_WORDS],
            buffer: NO_IDS,
            misses: [Miss::default(); MOST_WORDS],
            scratch: Scratch::default(),
            long_words: LongWords::default(),
            pieces: Vec::new(),
            ids: Vec::new(),
        }
    }
}

/// Encodes groups of words as they come, a batch at a time.
struct Batches<'a, S> {
    encoder: &'a Encoder,
    text: &'a [u8],
    /// Where the first word begins that is not encoded yet.
    start: usize,
    desk: &'a mut Desk,
    sink: &'a mut S,
    watch: &'a Watch,
    result: Result<()>,
}

impl<S: Sink> TakeGroups for Batches<'_, S> {
    #[allow(clippy::inline_always, reason = "see `TakeGroups`")]
    #[inline(always)]
    fn take<P: Processor>(&mut self, processor: P, base: usize, ends: u64) {
        self.desk.ends.push_group(processor, base, ends);
        if self.desk.ends.are_full() {
            self.encode();
        }
    }
}

impl<S: Sink> Batches<'_, S> {
    /// Encode the words up to the ends so far, unless there was an error before.
    #[inline(never)]
    fn encode(&mut self) {
        let Desk {
            ends, cache, words, ..
        } = &mut *self.desk;
        let ends = ends.take();
        self.start = cache.begin_all(self.text, self.start, ends, words);
        let len = ends.len();
        if self.result.is_ok() {
            self.result =
                (self.encoder).encode_words(self.text, len, self.desk, self.sink, self.watch);
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
    for number in vocabulary.numbers() {
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
