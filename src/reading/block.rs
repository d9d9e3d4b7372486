//! Blocks of an input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr_iter, memrchr};

use super::compression::Counted;
use super::cutter::{Cutter, End};
use super::{Compression, Documents, Input, Part, Reading, io_error, key_of};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// A part of an input: whole documents, or a part of one that can be cut there.
pub(crate) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    /// Whether a document ends with it.
    pub(super) is_end: bool,
    /// Whether the input ends with it.
    is_last: bool,
    /// How many bytes of the input's file were read before it, and for it.
    pub(crate) file_offset: u64,
    pub(crate) num_read: u64,
}

impl Part for Block {
    fn is_last(&self) -> bool {
        self.is_last
    }
}

/// Where in an input a block begins.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: Arc<Path>,
    pub(super) documents: Documents,
    /// The bytes of text before it.
    pub(super) offset: u64,
    /// The lines before it, if documents are lines.
    pub(super) num_lines: u64,
    /// Whether a document begins there.
    pub(super) is_start: bool,
    /// That of the document's beginning, if it does not end with the block with which it begins.
    pub(super) key: Option<u64>,
}

/// Reads the blocks of an input.
pub(super) struct Blocks<'a> {
    reader: Box<dyn Read + Send + 'a>,
    cutter: Cutter,
    block_bytes: usize,
    compression: Compression,
    place: Place,
    is_done: bool,
    /// Whether the input is a file, so that how much of it was read says something.
    is_file: bool,
    num_read: Arc<AtomicU64>,
    /// How much of a file the blocks so far were read for; opening may read, too.
    num_told: u64,
    watch: &'a Watch,
}

impl<'a> Blocks<'a> {
    /// Open an input.
    pub(super) fn open<C>(input: Input<'a>, reading: &Reading<'a, C>) -> Result<Self> {
        let Reading {
            block_bytes,
            most_record_bytes,
            watch,
            ..
        } = *reading;
        let Input {
            path,
            reader,
            compression,
            documents,
        } = input;
        let is_file = reader.is_none();
        let num_read = Arc::default();
        let place = Place {
            path: path.into(),
            documents,
            offset: 0,
            num_lines: 0,
            is_start: true,
            key: None,
        };
        let opened = match reader {
            Some(reader) => Ok(reader),
            None => File::open(&place.path).map(|file| Box::new(file) as _),
        };
        let reader = opened.and_then(|reader| {
            compression.decompress(Counted {
                reader,
                num_bytes: Arc::clone(&num_read),
                watch,
            })
        });
        let reader = reader.map_err(|error| {
            let num_read = num_read.load(Ordering::Relaxed);
            failure(&place.path, &error, compression, num_read, watch)
        })?;
        let most_bytes = match place.documents {
            Documents::JsonLines(_) => most_record_bytes,
            Documents::File | Documents::Lines => usize::MAX,
        };
        Ok(Self {
            reader,
            cutter: Cutter::new(block_bytes, most_bytes),
            block_bytes,
            compression,
            place,
            is_done: false,
            is_file,
            num_read,
            num_told: 0,
            watch,
        })
    }

    /// The next block, if there is one; `last_cut` says where a text can be cut whatever follows it.
    pub(super) fn next(
        &mut self,
        last_cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<Block>> {
        if self.is_done {
            return Ok(None);
        }
        let behind_line = |text: &[u8]| memrchr(b'\n', text).map(|at| at + 1);
        let documents = &self.place.documents;
        let cut = |text: &[u8]| match documents {
            Documents::File => last_cut(text),
            // A line that is too long for a block is cut as well.
            Documents::Lines => behind_line(text).or_else(|| last_cut(text)),
            Documents::JsonLines(_) => behind_line(text),
        };
        let mut text = Vec::new();
        let read = self.cutter.next(&mut self.reader, cut, &mut text);
        let num_read = self.num_read.load(Ordering::Relaxed);
        let (path, compression) = (&self.place.path, self.compression);
        let end = read.map_err(|error| failure(path, &error, compression, num_read, self.watch))?;
        if end == End::TooLong {
            return Err(self.too_long());
        }
        self.is_done = end == End::Last;
        let is_by_lines = *documents != Documents::File;
        let is_end = self.is_done || (is_by_lines && text.ends_with(b"\n"));
        if self.place.is_start {
            self.place.key = (!is_end).then(|| self.key_of_beginning(&text));
        }
        let place = self.place.clone();
        self.place.offset += text.len() as u64;
        if is_by_lines {
            self.place.num_lines += memchr_iter(b'\n', &text).count() as u64;
        }
        self.place.is_start = is_end;
        let file_offset = self.num_told;
        if self.is_file {
            self.num_told = num_read;
        }
        Ok(Some(Block {
            is_end,
            is_last: self.is_done,
            text,
            place,
            file_offset,
            num_read: self.num_told - file_offset,
        }))
    }
}

impl Blocks<'_> {
    /// The line of JSON that begins the next block is longer than one may be.
    fn too_long(&self) -> Error {
        let error = Error::InvalidRecord {
            message:
                "found a line that is too long to be parsed, expected a record of at most 1 GB"
                    .to_owned(),
            is_field_missing: false,
        };
        error
            .in_line(self.place.num_lines)
            .in_file(&self.place.path)
    }

    /// The key of a document that begins with this text, and goes on with what was read.
    fn key_of_beginning(&self, text: &[u8]) -> u64 {
        let most = self.block_bytes;
        let mut beginning = text[..text.len().min(most)].to_vec();
        let rest = self.cutter.rest();
        beginning.extend_from_slice(&rest[..rest.len().min(most - beginning.len())]);
        key_of(&beginning)
    }
}

/// Why an input could not be read.
fn failure(
    path: &Path,
    error: &io::Error,
    compression: Compression,
    num_read: u64,
    watch: &Watch,
) -> Error {
    if watch.is_stopped() {
        return Error::Interrupted;
    }
    // What the system refuses has a number; a decompressor has words alone.
    if compression == Compression::None || error.raw_os_error().is_some() {
        return io_error(path, error);
    }
    let damage = Error::DamagedFile {
        message: error.to_string(),
        offset: num_read,
    };
    damage.in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind the last space.
    fn last_cut(text: &[u8]) -> Option<usize> {
        text.iter().rposition(|&byte| byte == b' ').map(|at| at + 1)
    }

    /// The documents of inputs with these texts, put together of the parts in which they were read.
    fn read(texts: &[&'static str], documents: &Documents, block_bytes: usize) -> Vec<Vec<u8>> {
        let watch = Watch::default();
        let reading = Reading {
            block_bytes,
            most_record_bytes: 100,
            last_cut,
            watch: &watch,
        };
        let input = |text: &&'static str| Input {
            path: "a".into(),
            reader: Some(Box::new(text.as_bytes())),
            compression: Compression::None,
            documents: documents.clone(),
        };
        let blocks = texts.iter().flat_map(|text| reading.blocks(input(text)));
        let (mut found, mut is_new) = (Vec::new(), true);
        for block in blocks {
            let batch = block
                .and_then(|block| block.into_batch(false))
                .expect("nothing fails");
            for document in batch.documents() {
                if std::mem::replace(&mut is_new, true) {
                    found.push(Vec::new());
                }
                found.last_mut().expect("just pushed").extend(document);
            }
            is_new = batch.is_end();
        }
        found
    }

    #[test]
    fn blocks_make_up_the_documents() {
        let texts = [
            "",
            "a bc  def ",
            " \n",
            "abcdefghijklmnopq r\n\nx",
            "x y\n z",
        ];
        let lines = [" \n", "abcdefghijklmnopq r\n", "\n", "x", "x y\n", " z"];
        for block_bytes in 1..30 {
            let files = read(&texts, &Documents::File, block_bytes);
            assert_eq!(files, texts.map(|text| text.as_bytes().to_vec()));
            let found = read(&texts, &Documents::Lines, block_bytes);
            assert_eq!(found[0], b"a bc  def ");
            assert_eq!(found[1..], lines.map(|line| line.as_bytes().to_vec()));
        }
    }

    #[test]
    fn each_line_of_json_has_a_document() {
        let text =
            "{\"t\": \"a\\nb\"}\n\n{\"t\": null}\n{\"n\": [1, {}], \"t\": \"\"}\n{\"t\": \"c\"}";
        for block_bytes in 1..30 {
            let found = read(&[text], &Documents::JsonLines("t".into()), block_bytes);
            assert_eq!(found, [&b"a\nb"[..], b"", b"c"]);
        }
    }

    #[test]
    fn a_line_of_json_that_is_too_long_is_named() {
        let watch = Watch::default();
        let reading = Reading {
            block_bytes: 10,
            most_record_bytes: 100,
            last_cut,
            watch: &watch,
        };
        for (num_bytes, is_right) in [(80, true), (200, false)] {
            let text = format!(
                "{{\"t\": \"\"}}\n{{\"t\": \"{}\"}}\n",
                "a ".repeat(num_bytes / 2)
            );
            let input = Input {
                path: "a".into(),
                reader: Some(Box::new(text.as_bytes())),
                compression: Compression::None,
                documents: Documents::JsonLines("t".into()),
            };
            let blocks: Result<Vec<Block>> = reading.blocks(input).collect();
            let error = blocks.err().map(|error| error.to_string());
            assert_eq!(error.is_none(), is_right);
            assert!(error.is_none_or(|error| error.starts_with("a: line 2: found a line")));
        }
    }
}
