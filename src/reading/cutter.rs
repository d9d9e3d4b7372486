//! One text in blocks, cut where it can be cut.

use std::io::{ErrorKind, Read};

/// Reads one text in blocks.
pub(super) struct Cutter {
    num_bytes: usize,
    most_bytes: usize,
    /// Read, but behind the last cut.
    rest: Vec<u8>,
}

/// What a block ends with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Cut,
    /// The end of the text.
    Last,
    /// More bytes without a cut than a block may have, none of which is kept.
    TooLong,
}

impl Cutter {
    /// Blocks of about `num_bytes`, longer ones where there is no cut, but of `most_bytes` at most.
    pub(super) fn new(num_bytes: usize, most_bytes: usize) -> Self {
        Self {
            num_bytes: num_bytes.max(1),
            most_bytes,
            rest: Vec::new(),
        }
    }

    /// About how many bytes a block has.
    pub(super) fn num_bytes(&self) -> usize {
        self.num_bytes
    }

    /// What was read, but is behind the last cut.
    pub(super) fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Go on with these bytes, which were read.
    pub(super) fn go_on(&mut self, rest: Vec<u8>) {
        self.rest = rest;
    }

    /// Replace `block` by the next one. Where a reader has nothing yet,
    /// what it gave before is not held back.
    pub(super) fn next(
        &mut self,
        reader: &mut dyn Read,
        last_cut: impl Fn(&[u8]) -> Option<usize>,
        block: &mut Vec<u8>,
    ) -> std::io::Result<End> {
        block.clear();
        block.append(&mut self.rest);
        let mut num_bytes = self.num_bytes;
        loop {
            let goal = block.len() + num_bytes;
            block.reserve(num_bytes);
            let is_waiting = match reader.take(num_bytes as u64).read_to_end(block) {
                Ok(_) => false,
                Err(error) if error.kind() == ErrorKind::WouldBlock => true,
                Err(error) => return Err(error),
            };
            if block.len() < goal && !is_waiting {
                return Ok(End::Last);
            }
            if let Some(cut) = last_cut(block).filter(|&cut| cut > 0) {
                self.rest.extend_from_slice(&block[cut..]);
                block.truncate(cut);
                return Ok(End::Cut);
            }
            if block.len() > self.most_bytes {
                return Ok(End::TooLong);
            }
            num_bytes = match goal - block.len() {
                0 => block.len(),
                missing => missing,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_text_without_a_cut_is_searched_in_linear_time() {
        let (text, looked_at) = (vec![b'a'; 100_000], Cell::new(0));
        let last_cut = |text: &[u8]| {
            looked_at.set(looked_at.get() + text.len());
            None
        };
        let mut block = Vec::new();
        let is_last = Cutter::new(10, usize::MAX).next(&mut text.as_slice(), last_cut, &mut block);
        assert!(is_last.is_ok_and(|end| end == End::Last) && block == text);
        assert!(looked_at.get() <= 2 * text.len());
    }
}
