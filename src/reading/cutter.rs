//! One text in blocks, cut where it can be cut.

use std::io::{ErrorKind, Read};

/// Reads one text in blocks.
pub(super) struct Cutter {
    num_bytes: usize,
    /// Read, but behind the last cut.
    rest: Vec<u8>,
}

impl Cutter {
    /// Blocks of about `num_bytes`, longer ones where there is no cut.
    pub(super) fn new(num_bytes: usize) -> Self {
        Self {
            num_bytes: num_bytes.max(1),
            rest: Vec::new(),
        }
    }

    /// What was read, but is behind the last cut.
    pub(super) fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Replace `block` by the next one; true if the text ends with it. Where a reader has nothing yet,
    /// what it gave before is not held back.
    pub(super) fn next(
        &mut self,
        reader: &mut dyn Read,
        last_cut: impl Fn(&[u8]) -> Option<usize>,
        block: &mut Vec<u8>,
    ) -> std::io::Result<bool> {
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
                return Ok(true);
            }
            if let Some(cut) = last_cut(block).filter(|&cut| cut > 0) {
                self.rest.extend_from_slice(&block[cut..]);
                block.truncate(cut);
                return Ok(false);
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
        let is_last = Cutter::new(10).next(&mut text.as_slice(), last_cut, &mut block);
        assert!(is_last.is_ok_and(|is_last| is_last) && block == text);
        assert!(looked_at.get() <= 2 * text.len());
    }
}
