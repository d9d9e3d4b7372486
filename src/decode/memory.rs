//! What a step remembers of the batches of tokens before.

/// What a step remembers.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Whether a token has come, or of a text a character that stays.
    pub(super) is_begun: bool,
    /// How many characters of a text were left out.
    num_stripped: usize,
    /// The last token.
    pub(super) last: Option<String>,
    /// The bytes of characters that are not complete yet, or of a run that may go on.
    pub(super) bytes: Vec<u8>,
}

impl Memory {
    /// Whether no token has come before this one.
    pub(super) fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.is_begun, true)
    }

    /// Whether the token differs from the last one.
    pub(super) fn is_new(&mut self, token: &str) -> bool {
        let is_new = self.last.as_deref() != Some(token);
        if is_new {
            self.last = Some(token.to_owned());
        }
        is_new
    }

    /// A part of a text, which loses at most `start` such characters at its start.
    pub(super) fn strip<'t>(&mut self, mut part: &'t str, content: char, start: usize) -> &'t str {
        while !self.is_begun && self.num_stripped < start {
            match part.strip_prefix(content) {
                Some(rest) => part = rest,
                None => break,
            }
            self.num_stripped += 1;
        }
        self.is_begun |= !part.is_empty();
        part
    }
}
