//! Texts that are read in blocks, cut where their words or ids do not change.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A text to read, with a name for messages.
pub struct Input<'a> {
    /// Its name; a file's path.
    pub path: PathBuf,
    /// Where to read; None: the file at `path`.
    pub reader: Option<Box<dyn Read + Send + 'a>>,
}

impl Input<'_> {
    /// The file at a path.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            reader: None,
        }
    }
}

/// A part of an input that is cut off.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) text: Vec<u8>,
    pub(crate) path: PathBuf,
    /// Where in the input it begins, in bytes.
    pub(crate) offset: u64,
}

/// Reads inputs one after the other, in blocks; `last_cut` says where a text can be cut whatever
/// follows it.
pub(crate) struct Blocks<'a, C> {
    /// The inputs still to be read, the next one last.
    inputs: Vec<Input<'a>>,
    last_cut: C,
    cutter: Cutter,
    offset: u64,
}

impl<'a, C: Fn(&[u8]) -> Option<usize>> Blocks<'a, C> {
    /// Blocks of about `num_bytes`.
    pub(crate) fn new(mut inputs: Vec<Input<'a>>, num_bytes: usize, last_cut: C) -> Self {
        inputs.reverse();
        Self {
            inputs,
            last_cut,
            cutter: Cutter::new(num_bytes),
            offset: 0,
        }
    }

    /// Put the next block into `block`; false if there is none.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool> {
        let Some(Input { path, reader }) = self.inputs.pop() else {
            return Ok(false);
        };
        let failed = |error: std::io::Error| io_error(&path, &error);
        let mut reader = match reader {
            Some(reader) => reader,
            None => Box::new(File::open(&path).map_err(failed)?),
        };
        let is_last = self
            .cutter
            .next(&mut reader, &self.last_cut, &mut block.text)
            .map_err(failed)?;
        block.path.clone_from(&path);
        block.offset = self.offset;
        if is_last {
            self.offset = 0;
        } else {
            self.offset += block.text.len() as u64;
            let reader = Some(reader);
            self.inputs.push(Input { path, reader });
        }
        Ok(true)
    }
}

/// Why a file could not be read or written.
pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        kind: error.kind(),
        code: error.raw_os_error(),
    }
}

/// Reads one text in blocks.
pub(crate) struct Cutter {
    num_bytes: usize,
    /// Read, but behind the last cut.
    rest: Vec<u8>,
}

impl Cutter {
    /// Blocks of about `num_bytes`, longer ones where there is no cut.
    pub(crate) fn new(num_bytes: usize) -> Self {
        Self {
            num_bytes: num_bytes.max(1),
            rest: Vec::new(),
        }
    }

    /// Replace `block` by the next one; true if the text ends with it.
    pub(crate) fn next(
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
            reader.take(num_bytes as u64).read_to_end(block)?;
            if block.len() < goal {
                return Ok(true);
            }
            if let Some(cut) = last_cut(block).filter(|&cut| cut > 0) {
                self.rest.extend_from_slice(&block[cut..]);
                block.truncate(cut);
                return Ok(false);
            }
            num_bytes = block.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Behind the last space.
    fn last_cut(text: &[u8]) -> Option<usize> {
        text.iter().rposition(|&byte| byte == b' ').map(|at| at + 1)
    }

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

    #[test]
    fn blocks_are_cut_and_make_up_their_inputs() {
        let texts = ["", "a bc  def ", " ", "abcdefghijklmnopq r", "x y"];
        for num_bytes in 1..20 {
            let input = |text: &&'static str| Input {
                path: text.into(),
                reader: Some(Box::new(text.as_bytes())),
            };
            let inputs = texts.iter().map(input).collect();
            let mut blocks = Blocks::new(inputs, num_bytes, last_cut);
            let mut found: Vec<(PathBuf, Vec<u8>)> = Vec::new();
            let mut block = Block::default();
            while blocks.next(&mut block).expect("nothing fails") {
                match found.last_mut().filter(|(path, _)| *path == block.path) {
                    Some((_, text)) => {
                        assert_eq!(
                            (text.len() as u64, text.last()),
                            (block.offset, Some(&b' '))
                        );
                        text.extend_from_slice(&block.text);
                    }
                    None => found.push((block.path.clone(), block.text.clone())),
                }
            }
            let expected = texts.map(|text| (PathBuf::from(text), text.into()));
            assert_eq!(found, expected);
        }
    }
}
