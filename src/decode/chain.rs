//! The steps of a decoder, one after the other.

use super::characters::byte_named;
use super::memory::Memory;
use super::steps::{Step, bytes_of_letters};
use crate::error::Result;
use crate::pipeline::read_json;
use crate::watch::Watch;

/// The steps of a decoder.
#[derive(Debug)]
pub(crate) struct Chain {
    steps: Vec<Step>,
    /// The steps that work as tokens come; those after them see one text, and wait for its end.
    num_flowing: usize,
}

/// What a chain remembers of the tokens before.
#[derive(Debug)]
pub(super) struct Memories {
    of_steps: Vec<Memory>,
    /// The text that waits for its end.
    waiting: String,
}

/// Which space at the start of a text is not its own, where the text is the strings of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// None.
    Kept,
    /// The first character, if it is one.
    Stripped,
    /// The one of which the step `SentencePiece` says so.
    Piece,
}

impl Chain {
    /// The steps in JSON, as tokenizer.json has them: one, a list, or those of a sequence.
    pub(crate) fn from_json(steps: &str) -> Result<Self> {
        let mut steps: Vec<Step> = read_json(steps, "decoder", "decoders")?;
        for at in 1..steps.len() {
            if let Step::Strip {
                content,
                start,
                stop: 0,
            } = steps[at]
                && steps[at - 1].fuses()
            {
                steps[at] = Step::StripText { content, start };
            }
        }
        let before = steps.iter().take_while(|step| !step.fuses()).count();
        let fused = steps[before..].iter().skip(1);
        let flows = |step: &&Step| matches!(step, Step::Fuse {} | Step::StripText { .. });
        let num_flowing = (before + 1 + fused.take_while(flows).count()).min(steps.len());
        Ok(Self { steps, num_flowing })
    }

    /// The text of tokens.
    #[cfg(feature = "python")]
    pub(crate) fn text(&self, tokens: Vec<String>) -> Result<String> {
        self.add(&mut self.begin(), tokens, true, &Watch::default())
    }

    pub(super) fn begin(&self) -> Memories {
        Memories {
            of_steps: self.steps.iter().map(|_| Memory::default()).collect(),
            waiting: String::new(),
        }
    }

    /// The text that some more tokens complete; `is_end`: the last ones.
    pub(super) fn add(
        &self,
        memories: &mut Memories,
        mut tokens: Vec<String>,
        is_end: bool,
        watch: &Watch,
    ) -> Result<String> {
        let mut steps = self.steps.iter().zip(&mut memories.of_steps);
        for (step, memory) in steps.by_ref().take(self.num_flowing) {
            tokens = step.apply(memory, tokens, is_end, watch)?;
        }
        if self.num_flowing == self.steps.len() {
            return Ok(tokens.concat());
        }
        memories.waiting.extend(tokens);
        if !is_end {
            return Ok(String::new());
        }
        let mut tokens = vec![std::mem::take(&mut memories.waiting)];
        for (step, memory) in steps {
            tokens = step.apply(memory, tokens, true, watch)?;
        }
        Ok(tokens.concat())
    }

    /// If the text of tokens is [`Chain::bytes`] of each, concatenated, wherever that is UTF-8: what
    /// becomes of its first space.
    pub(super) fn opening(&self) -> Option<Opening> {
        let num_local = self.steps.iter().take_while(|step| step.is_local()).count();
        let rest = match &self.steps[num_local..] {
            [Step::ByteLevel {}] | [Step::ByteLevel {}, Step::Fuse {}] => {
                return Some(Opening::Kept);
            }
            [Step::SentencePiece(_)] if num_local == 0 => return Some(Opening::Piece),
            rest => rest,
        };
        let rest = match rest {
            [Step::ByteFallback {}, rest @ ..] => rest,
            _ => rest,
        };
        match rest {
            [] | [Step::Fuse {}] => Some(Opening::Kept),
            [
                Step::Fuse {},
                Step::StripText {
                    content: ' ',
                    start: 1,
                },
            ] => Some(Opening::Stripped),
            _ => None,
        }
    }

    /// Whether bytes that are not UTF-8 become U+FFFD as in other decoders of UTF-8.
    pub(super) fn is_of_bytes(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, Step::ByteLevel {}))
    }

    /// The bytes of one token, if there is an [`Chain::opening`]; `is_begun`: whether spaces are the
    /// text's own from here on.
    pub(super) fn bytes(
        &self,
        mut token: String,
        is_begun: &mut bool,
        watch: &Watch,
    ) -> Result<Vec<u8>> {
        for step in &self.steps {
            let byte = match step {
                Step::ByteLevel {} => return Ok(bytes_of_letters(&token)),
                Step::SentencePiece(step) => step.byte(&token),
                Step::ByteFallback {} => byte_named(&token),
                _ => None,
            };
            if let Some(byte) = byte {
                *is_begun = true;
                return Ok(vec![byte]);
            }
            token = match step {
                Step::SentencePiece(step) => step.surface(&token, is_begun),
                step if step.is_local() => {
                    let tokens = step.apply(&mut Memory::default(), vec![token], true, watch)?;
                    tokens.concat()
                }
                _ => token,
            };
        }
        Ok(token.into_bytes())
    }
}
