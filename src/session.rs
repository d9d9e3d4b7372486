//! Texts that grow: their ids at every moment, at the cost of what is added.
//!
//! A text is settled up to some place ([`Encoder::settle`]): the ids before it stay, whatever follows,
//! and only the rest is encoded again. What is settled is kept in chunks that are never changed, each
//! with a link to the one before it, so that sessions share their history. A chunk knows how much of
//! the text was needed to settle its end; where a text is cut off before that, the chunk goes too.

mod chunks;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::sync::Arc;

use crate::encode::{Call, Choice, Encoder, Unit, Ways};
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::tokenizer::Tokenizer;
use crate::watch::Watch;
use chunks::{Chunks, Settled};

/// A settled text of this many bytes becomes a chunk.
const CHUNK: usize = 1 << 12;
/// Long texts are settled in parts of this many bytes, or of more where that is not enough.
const PART: usize = 1 << 12;

/// A text that grows, and its ids: always those that the tokenizer makes of the whole text.
///
/// ```
/// use mergewise::{Choice, Session, Tokenizer, Watch, WordCounts};
///
/// let tokenizer = Tokenizer::train(&WordCounts::of(["abab", "ab"], None)?, 1)?;
/// let (mut session, watch) = (Session::new(&tokenizer, &Choice::default())?, Watch::default());
/// assert_eq!(session.append(b"aba", &watch)?, (0, vec![256, 97]));
/// let other = session.clone();
/// assert_eq!(session.append(b"b", &watch)?, (1, vec![256]));
/// assert_eq!((session.ids(), other.ids()), (vec![256, 256], vec![256, 97]));
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session<T> {
    tokenizer: T,
    call: Arc<Call>,
    growing: Growing,
}

impl<T: Borrow<Tokenizer>> Session<T> {
    /// An empty text. The choice's greatest length and padding are not used.
    pub fn new(tokenizer: T, choice: &Choice) -> Result<Self> {
        let call = tokenizer.borrow().encoder().call(choice)?;
        Ok(Self::with_call(tokenizer, Arc::new(call)))
    }

    pub(crate) fn with_call(tokenizer: T, call: Arc<Call>) -> Self {
        Self {
            tokenizer,
            call,
            growing: Growing::default(),
        }
    }

    /// Append a text; returns how many of the ids stay, and the ids that follow these. A text that is
    /// refused is not appended.
    pub fn append(&mut self, text: &[u8], watch: &Watch) -> Result<(usize, Vec<Id>)> {
        let mut growing = self.growing.clone();
        growing.append(self.tokenizer.borrow().encoder(), text, &self.call, watch)?;
        let old = std::mem::replace(&mut self.growing, growing);
        let frame = &self.call.frame;
        let num_settled = old.settled.num_ids;
        let before = old.ids_from(num_settled);
        let mut ids = self.growing.ids_from(num_settled);
        ids.extend(&frame.after);
        let before = before.iter().chain(&frame.after);
        let num_same = before.zip(&ids).take_while(|(old, new)| old == new).count();
        ids.drain(..num_same);
        Ok((frame.before.len() + num_settled + num_same, ids))
    }

    /// Cut the text off behind its first `length` bytes or characters. Nothing happens if it is not
    /// longer.
    pub fn truncate(&mut self, length: usize, unit: Unit, watch: &Watch) -> Result<()> {
        let encoder = self.tokenizer.borrow().encoder();
        let length = match unit {
            Unit::Bytes => length,
            Unit::Characters => self.growing.bytes_of(length),
        };
        if length < self.growing.num_bytes() {
            self.growing = self.growing.truncated(encoder, length, &self.call, watch)?;
        }
        Ok(())
    }

    /// The ids of the text.
    #[must_use]
    pub fn ids(&self) -> Vec<Id> {
        let (frame, growing) = (&self.call.frame, &self.growing);
        [&frame.before[..], &growing.ids_from(0), &frame.after].concat()
    }

    /// How many ids the text has.
    #[must_use]
    pub fn num_ids(&self) -> usize {
        let frame = &self.call.frame;
        frame.before.len() + self.growing.num_ids() + frame.after.len()
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        self.growing.text_from(0)
    }

    /// How many bytes the text has.
    #[must_use]
    pub fn num_bytes(&self) -> usize {
        self.growing.num_bytes()
    }
}

/// The ids of a text that comes in parts, as soon as nothing that follows changes them.
///
/// ```
/// use mergewise::{Choice, Tokenizer, Watch, WordCounts};
/// use mergewise::session::EncodingStream;
///
/// let tokenizer = Tokenizer::train(&WordCounts::of(["abab", "ab"], None)?, 1)?;
/// let (mut stream, watch) = (EncodingStream::new(&tokenizer, &Choice::default())?, Watch::default());
/// assert_eq!(stream.add(b"abba", &watch)?, [256, 98]);
/// assert_eq!(stream.finish(&watch)?, [97]);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug)]
pub struct EncodingStream<T> {
    tokenizer: T,
    call: Arc<Call>,
    growing: Growing,
    /// How many ids of the text were given out; `None`: nor were those before it.
    num_given: Option<usize>,
}

impl<T: Borrow<Tokenizer>> EncodingStream<T> {
    /// An empty text. The choice's greatest length and padding are not used.
    pub fn new(tokenizer: T, choice: &Choice) -> Result<Self> {
        let call = tokenizer.borrow().encoder().call(choice)?;
        Ok(Self::with_call(tokenizer, Arc::new(call)))
    }

    pub(crate) fn with_call(tokenizer: T, call: Arc<Call>) -> Self {
        Self {
            tokenizer,
            call,
            growing: Growing::default(),
            num_given: None,
        }
    }

    /// The ids that are sure when this text is added. A text that is refused is not added.
    pub fn add(&mut self, text: &[u8], watch: &Watch) -> Result<Vec<Id>> {
        let mut growing = self.growing.clone();
        growing.append(self.tokenizer.borrow().encoder(), text, &self.call, watch)?;
        self.growing = growing;
        let end = self.growing.settled.num_ids;
        let ids = self.give(end);
        self.growing.forget_settled();
        Ok(ids)
    }

    /// The other ids of the text, which ends. The next one begins.
    pub fn finish(&mut self, watch: &Watch) -> Result<Vec<Id>> {
        let mut ids = self.add(b"", watch)?;
        ids.extend(self.give(self.growing.num_ids()));
        ids.extend(&self.call.frame.after);
        (self.growing, self.num_given) = (Growing::default(), None);
        Ok(ids)
    }

    /// How many ids of the text were given out, with those before it.
    #[must_use]
    pub fn num_given(&self) -> usize {
        let num_before = self.call.frame.before.len();
        self.num_given.map_or(0, |number| num_before + number)
    }

    /// How many bytes of the text have come whose ids are not sure.
    #[must_use]
    pub fn num_waiting(&self) -> usize {
        self.growing.num_bytes() - self.growing.settled.num_bytes
    }

    /// The ids up to the one at `end` that were not given out.
    fn give(&mut self, end: usize) -> Vec<Id> {
        let start = self.num_given.unwrap_or(0);
        let mut ids = match self.num_given {
            None => self.call.frame.before.clone(),
            Some(_) => Vec::new(),
        };
        ids.extend(&self.growing.ids_from(start)[..end - start]);
        self.num_given = Some(end);
        ids
    }
}

/// A text and its ids.
#[derive(Debug, Clone, Default)]
struct Growing {
    /// What is settled, but for the last of it.
    chunks: Chunks,
    /// The text behind them, and its ids.
    text: Vec<u8>,
    ids: Vec<Id>,
    /// Up to where the text is settled.
    settled: Settled,
    /// What is known of the word behind that, as far as no special token can change it, and up to the
    /// end of the text.
    ways: Ways,
    rest_ways: Ways,
}

impl Growing {
    fn num_bytes(&self) -> usize {
        self.chunks.end().num_bytes + self.text.len()
    }

    fn num_ids(&self) -> usize {
        self.chunks.end().num_ids + self.ids.len()
    }

    fn ids_from(&self, start: usize) -> Vec<Id> {
        self.chunks.ids_from(start, &self.ids)
    }

    fn text_from(&self, start: usize) -> Vec<u8> {
        self.chunks.text_from(start, &self.text)
    }

    /// How many bytes a number of characters has; all if there are fewer.
    fn bytes_of(&self, num_characters: usize) -> usize {
        let (start, num_characters) = self.chunks.before_character(num_characters);
        let text = self.text_from(start);
        let is_first = |byte: &u8| byte & 0xC0 != 0x80;
        let mut starts = (0..text.len()).filter(|&at| is_first(&text[at]));
        start + starts.nth(num_characters).unwrap_or(text.len())
    }

    fn append(&mut self, encoder: &Encoder, text: &[u8], call: &Call, watch: &Watch) -> Result<()> {
        self.text.extend_from_slice(text);
        self.ids
            .truncate(self.settled.num_ids - self.chunks.end().num_ids);
        let mut size = PART;
        loop {
            let Settled {
                num_bytes, context, ..
            } = self.settled;
            let rest = &self.text[num_bytes - self.chunks.end().num_bytes..];
            let part = &rest[..size.min(rest.len())];
            let moved = |error: Error| error.moved(num_bytes, 0);
            self.ways.begin(num_bytes);
            if let Some((end, after)) = encoder.settle(context, part, &mut self.ways, call, watch) {
                let settled = &rest[..end];
                encoder
                    .encode_between(context, settled, after, call, &mut self.ids, watch)
                    .map_err(moved)?;
                self.rest_ways.leave(end);
                self.settled = Settled {
                    num_bytes: num_bytes + end,
                    num_ids: self.chunks.end().num_ids + self.ids.len(),
                    context: after,
                    num_known: num_bytes + part.len(),
                };
                self.keep_settled(CHUNK);
                size = PART;
            } else if part.len() < rest.len() {
                size *= 2;
            } else {
                return encoder
                    .encode_behind(
                        context,
                        rest,
                        &mut self.rest_ways,
                        call,
                        &mut self.ids,
                        watch,
                    )
                    .map_err(moved);
            }
        }
    }

    /// Make a chunk of what is settled, if it is this long.
    fn keep_settled(&mut self, least: usize) {
        let end = self.chunks.end();
        let num_bytes = self.settled.num_bytes - end.num_bytes;
        if num_bytes >= least.max(1) {
            let ids = self.ids.drain(..self.settled.num_ids - end.num_ids);
            let text = self.text.drain(..num_bytes);
            self.chunks
                .push(text.collect(), ids.collect(), self.settled);
        }
    }

    /// Keep neither the text nor the ids of what is settled.
    fn forget_settled(&mut self) {
        self.keep_settled(0);
        self.chunks = Chunks::ending(self.settled);
    }

    /// The first bytes of the text, fewer than there are.
    fn truncated(
        &self,
        encoder: &Encoder,
        num_bytes: usize,
        call: &Call,
        watch: &Watch,
    ) -> Result<Self> {
        let mut first = self.clone();
        if num_bytes >= self.settled.num_known {
            first.text.truncate(num_bytes - self.chunks.end().num_bytes);
            first.append(encoder, b"", call, watch)?;
            return Ok(first);
        }
        let chunks = self.chunks.known_by(num_bytes);
        let settled = chunks.end();
        let mut text = self.text_from(settled.num_bytes);
        text.truncate(num_bytes - settled.num_bytes);
        let mut first = Self {
            chunks,
            settled,
            ..Self::default()
        };
        first.append(encoder, &text, call, watch)?;
        Ok(first)
    }
}
