//! The settled part of a text, in chunks that several texts share.

use std::sync::Arc;

use crate::encode::Context;
use crate::merges::Id;

/// A place up to which a text is settled.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Settled {
    /// How much of the text is before it.
    pub(super) num_bytes: usize,
    pub(super) num_ids: usize,
    pub(super) context: Context,
    /// How many bytes of the text have to be known for that.
    pub(super) num_known: usize,
}

/// A part of a text, and its ids.
#[derive(Debug)]
pub(super) struct Chunk {
    before: Chunks,
    text: Box<[u8]>,
    ids: Box<[Id]>,
    end: Settled,
    /// How many characters begin before its end.
    num_characters: usize,
}

/// The last of some chunks, each of which knows the one before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Chunks(Option<Arc<Chunk>>);

impl Chunks {
    /// One chunk that stands for all before a place, without their text and ids.
    pub(super) fn ending(end: Settled) -> Self {
        Self(Some(Arc::new(Chunk {
            before: Self(None),
            text: Box::default(),
            ids: Box::default(),
            end,
            num_characters: 0,
        })))
    }

    /// Where the last one ends.
    pub(super) fn end(&self) -> Settled {
        self.0.as_ref().map(|chunk| chunk.end).unwrap_or_default()
    }

    pub(super) fn push(&mut self, text: Box<[u8]>, ids: Box<[Id]>, end: Settled) {
        let before = std::mem::take(self);
        let begins = |byte: &&u8| *byte & 0xC0 != 0x80;
        let num_before = before.0.as_ref().map_or(0, |chunk| chunk.num_characters);
        self.0 = Some(Arc::new(Chunk {
            num_characters: num_before + text.iter().filter(begins).count(),
            before,
            text,
            ids,
            end,
        }));
    }

    /// All of them, from the last to the first.
    fn iter(&self) -> impl Iterator<Item = &Chunk> {
        std::iter::successors(self.0.as_deref(), |chunk| chunk.before.0.as_deref())
    }

    /// The chunks whose ends are settled by the first `num_bytes` of the text.
    pub(super) fn known_by(&self, num_bytes: usize) -> Self {
        let mut known = self;
        while let Some(chunk) = &known.0
            && chunk.end.num_known > num_bytes
        {
            known = &chunk.before;
        }
        known.clone()
    }

    /// Where the last chunk ends that has at most this many characters, with those before it, and how
    /// many characters are left.
    pub(super) fn before_character(&self, num_characters: usize) -> (usize, usize) {
        let mut chunks = self.iter();
        let last = chunks.find(|chunk| chunk.num_characters <= num_characters);
        last.map_or((0, num_characters), |chunk| {
            (chunk.end.num_bytes, num_characters - chunk.num_characters)
        })
    }

    /// The ids from `start` on, and `rest`, which follows them.
    pub(super) fn ids_from(&self, start: usize, rest: &[Id]) -> Vec<Id> {
        let chunks = self.iter().map(|chunk| (&*chunk.ids, chunk.end.num_ids));
        joined(start, self.end().num_ids, chunks, rest)
    }

    /// The text from `start` on, and `rest`, which follows it.
    pub(super) fn text_from(&self, start: usize, rest: &[u8]) -> Vec<u8> {
        let chunks = self.iter().map(|chunk| (&*chunk.text, chunk.end.num_bytes));
        joined(start, self.end().num_bytes, chunks, rest)
    }
}

/// What is from `start` on in chunks, the last of which ends at `end`, and in `rest` behind them. Each
/// chunk comes with its end, the last one first.
fn joined<'c, T: Copy + 'c>(
    start: usize,
    end: usize,
    chunks: impl Iterator<Item = (&'c [T], usize)>,
    rest: &'c [T],
) -> Vec<T> {
    let mut parts = vec![&rest[start.saturating_sub(end)..]];
    for (chunk, end) in chunks.take_while(|&(_, end)| end > start) {
        parts.push(&chunk[chunk.len().saturating_sub(end - start)..]);
    }
    parts.reverse();
    parts.concat()
}

impl Drop for Chunk {
    /// One chunk after the other: however many there are, the stack is enough.
    fn drop(&mut self) {
        let mut before = self.before.0.take();
        while let Some(mut chunk) = before.and_then(Arc::into_inner) {
            before = chunk.before.0.take();
        }
    }
}
