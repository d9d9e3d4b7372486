//! Decoding: all ids of a text at once, or as they come.

use std::borrow::Cow;

use super::chain::{Memories, Opening};
use super::characters::{Invalid, complete};
use super::{Decoder, Joined};
use crate::error::Result;
use crate::merges::Id;
use crate::watch::Watch;

/// After how many ids the watch is read.
const BATCH: usize = 1 << 16;

/// What is known of a text whose other ids are still to come.
#[derive(Debug)]
pub(crate) struct Stream {
    state: State,
    /// Whether special tokens are left out.
    skips_special: bool,
    /// The beginning of a character.
    rest: Vec<u8>,
}

#[derive(Debug)]
enum State {
    Joined(JoinedState),
    Chain(Memories),
}

#[derive(Debug, Clone, Copy, Default)]
struct JoinedState {
    /// Whether spaces are the text's own from here on.
    is_begun: bool,
    /// Whether a space is kept back that is not the text's own if this is its end.
    has_space: bool,
}

impl Decoder {
    /// The bytes of a text: those for which its tokens stand, where each stands for some.
    pub(crate) fn bytes(&self, ids: &[Id], skips_special: bool, watch: &Watch) -> Result<Vec<u8>> {
        let mut stream = self.stream(false, skips_special);
        self.add(&mut stream, ids, true, watch)
    }

    /// The text, with U+FFFD where it is not UTF-8, as the tokenizer's own library writes it.
    pub(crate) fn text(&self, ids: &[Id], skips_special: bool, watch: &Watch) -> Result<String> {
        let ids = self.kept(ids, skips_special);
        if let Some(joined) = &self.joined {
            let (mut state, mut empty) = (JoinedState::default(), Vec::new());
            let bytes = self.join(joined, &mut state, &ids, &mut empty, watch)?;
            match String::from_utf8(bytes) {
                // A token without bytes ends a run of bytes.
                Ok(text) if joined.is_of_bytes || is_whole(&text, &empty) => return Ok(text),
                Err(error) if joined.is_of_bytes => {
                    return Ok(String::from_utf8_lossy(error.as_bytes()).into_owned());
                }
                _ => {}
            }
        }
        let mut stream = self.stream(true, false);
        self.add_text(&mut stream, &ids, true, watch)
    }

    /// The start of a text. `as_text`: bytes that are not UTF-8 become U+FFFD where the library has a
    /// rule of its own for them.
    pub(crate) fn stream(&self, as_text: bool, skips_special: bool) -> Stream {
        let is_joined = self
            .joined
            .as_ref()
            .is_some_and(|joined| joined.is_of_bytes || !as_text);
        let state = match &self.chain {
            Some((chain, _)) if !is_joined => State::Chain(chain.begin()),
            _ => State::Joined(JoinedState::default()),
        };
        Stream {
            state,
            skips_special,
            rest: Vec::new(),
        }
    }

    /// The text that some more ids complete, with U+FFFD where it is not UTF-8; `is_end`: the last
    /// ones.
    pub(crate) fn add_text(
        &self,
        stream: &mut Stream,
        ids: &[Id],
        is_end: bool,
        watch: &Watch,
    ) -> Result<String> {
        let bytes = self.add(stream, ids, is_end, watch)?;
        if stream.rest.is_empty() {
            stream.rest = bytes;
        } else {
            stream.rest.extend(bytes);
        }
        Ok(complete(&mut stream.rest, Invalid::Sequences, is_end))
    }

    /// The bytes that some more ids complete; `is_end`: the last ones.
    pub(crate) fn add(
        &self,
        stream: &mut Stream,
        ids: &[Id],
        is_end: bool,
        watch: &Watch,
    ) -> Result<Vec<u8>> {
        let ids = self.kept(ids, stream.skips_special);
        match (&mut stream.state, &self.joined, &self.chain) {
            (State::Joined(state), Some(joined), _) => {
                let mut after = *state;
                let bytes = self.join(joined, &mut after, &ids, &mut Vec::new(), watch)?;
                *state = after;
                Ok(bytes)
            }
            (State::Chain(memories), _, Some((chain, _))) => {
                let mut text = String::new();
                let mut batches = ids.chunks(BATCH).peekable();
                loop {
                    watch.check()?;
                    let batch = batches.next().unwrap_or_default().iter();
                    let tokens = batch.map(|&id| Ok(self.written(id, self.string(id)?)));
                    let tokens = tokens.collect::<Result<_>>()?;
                    let is_last = batches.peek().is_none();
                    text += &chain.add(memories, tokens, is_end && is_last, watch)?;
                    if is_last {
                        return Ok(text.into_bytes());
                    }
                }
            }
            // A stream of another decoder.
            _ => Ok(Vec::new()),
        }
    }

    /// The ids without those of special tokens, if these are to be left out.
    fn kept<'i>(&self, ids: &'i [Id], skips_special: bool) -> Cow<'i, [Id]> {
        if !skips_special || self.special.is_empty() {
            return Cow::Borrowed(ids);
        }
        let is_kept = |id: &&Id| !self.special.contains(id);
        ids.iter().filter(is_kept).copied().collect()
    }

    /// The strings of ids, one after the other, and where ids stand for nothing.
    fn join(
        &self,
        joined: &Joined,
        state: &mut JoinedState,
        ids: &[Id],
        empty: &mut Vec<usize>,
        watch: &Watch,
    ) -> Result<Vec<u8>> {
        let strings = joined.strings.as_ref().unwrap_or(&self.strings);
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        if state.has_space {
            bytes.push(b' ');
        }
        for (index, &id) in ids.iter().enumerate() {
            if index % BATCH == 0 {
                watch.check()?;
            }
            let start = bytes.len();
            let length = strings.append(id, &mut bytes);
            let length = length.ok_or_else(|| self.unknown(id))?;
            if length == 0 {
                empty.push(start);
            }
            match joined.opening {
                Opening::Stripped if !state.is_begun => {
                    state.is_begun = length > 0;
                    if bytes.get(start) == Some(&b' ') {
                        bytes.remove(start);
                    }
                }
                Opening::Piece if !state.is_begun => {
                    bytes.truncate(start);
                    let piece = self.written(id, self.string(id)?);
                    if let Some((chain, _)) = &self.chain {
                        bytes.extend(chain.bytes(piece, &mut state.is_begun, watch)?);
                    }
                }
                _ => {}
            }
        }
        if joined.ends_words {
            state.has_space = bytes.last() == Some(&b' ');
            bytes.truncate(bytes.len() - usize::from(state.has_space));
        }
        Ok(bytes)
    }
}

/// Whether no character spans one of these places.
fn is_whole(text: &str, places: &[usize]) -> bool {
    places.iter().all(|&place| text.is_char_boundary(place))
}
