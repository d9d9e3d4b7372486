//! Blocks of an input.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr_iter, memrchr};

use super::compression::Counted;
use super::cutter::{Cutter, End};
use super::json::{Line, Stop};
use super::long::{Home, Text};
use super::{Compression, Documents, Input, Part, Reading, io_error, key_of};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// A text is kept in memory if it is so many times as long as a record that is parsed as a whole.
const KEPT_IN_RECORDS: usize = 4;

/// A part of an input: whole documents, or a part of one that can be cut there.
pub(crate) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) content: Content,
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

/// What the text of a block is.
pub(super) enum Content {
    /// That of the input.
    Given,
    /// The text of a record, or a part of it.
    Record,
    /// Nothing: a record has no text, or something is wrong with it.
    Nothing(Option<Error>),
}

/// Where in an input a block begins.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: Arc<Path>,
    pub(super) documents: Documents,
    /// The bytes of text before it; of the record's text, if it is in one.
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
    place: Place,
    /// The record that is read in parts, if there is one.
    long: Option<Long<'a>>,
    /// How many bytes of its text may be in memory.
    most_kept: usize,
    scratch: PathBuf,
    is_done: bool,
    /// Whether the input is a file, so that how much of it was read says something.
    is_file: bool,
    /// Whether its text can be read again.
    is_plain: bool,
    num_read: Arc<AtomicU64>,
    /// How much of a file the blocks so far were read for; opening may read, too.
    num_told: u64,
    watch: &'a Watch,
}

/// The text of a record that is read in parts.
struct Long<'a> {
    reader: Counted<'a, Box<dyn Read + Send>>,
    cutter: Cutter,
    place: Place,
}

impl<'a> Blocks<'a> {
    /// Open an input.
    pub(super) fn open<C>(input: Input<'a>, reading: &Reading<'a, C>) -> Result<Self> {
        let Reading {
            block_bytes,
            most_record_bytes,
            watch,
            ref scratch,
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
        let mut is_plain = false;
        let opened = reader.map_or_else(|| open_file(&place.path), |reader| Ok((reader, false)));
        let reader = opened.and_then(|(reader, is_regular)| {
            is_plain = is_regular && compression == Compression::None;
            compression.decompress(Counted {
                reader,
                num_bytes: Arc::clone(&num_read),
                watch,
            })
        });
        let reader = reader.map_err(|error| failure(&place.path, &error, watch))?;
        let most_bytes = match place.documents {
            Documents::JsonLines(_) => most_record_bytes,
            Documents::File | Documents::Lines => usize::MAX,
        };
        Ok(Self {
            reader,
            cutter: Cutter::new(block_bytes, most_bytes),
            block_bytes,
            place,
            long: None,
            most_kept: most_bytes.saturating_mul(KEPT_IN_RECORDS),
            scratch: scratch.clone(),
            is_done: false,
            is_file,
            is_plain,
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
        if let Some(long) = self.long.take() {
            return self.next_part(long, last_cut).map(Some);
        }
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
        let end = read.map_err(|error| self.failure(&error))?;
        if let (End::TooLong, Documents::JsonLines(field)) = (&end, documents) {
            let field = Arc::clone(field);
            return self.begin_record(text, &field, last_cut).map(Some);
        }
        self.is_done = end == End::Last;
        let is_by_lines = *documents != Documents::File;
        let is_end = self.is_done || (is_by_lines && text.ends_with(b"\n"));
        if self.place.is_start {
            let beginning = (!is_end).then(|| key_of_beginning(&text, &self.cutter));
            self.place.key = beginning;
        }
        let place = self.place.clone();
        self.place.offset += text.len() as u64;
        if is_by_lines {
            self.place.num_lines += memchr_iter(b'\n', &text).count() as u64;
        }
        self.place.is_start = is_end;
        Ok(Some(self.block(text, Content::Given, place, is_end)))
    }

    /// Find the text of a record that begins with these bytes, and read its first part.
    fn begin_record(
        &mut self,
        beginning: Vec<u8>,
        field: &str,
        last_cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Block> {
        let home = if self.is_plain {
            Home::Line {
                path: self.place.path.to_path_buf(),
                offset: self.place.offset,
            }
        } else {
            Home::Folder(self.scratch.clone())
        };
        let mut text = Text::new(home, self.most_kept);
        let mut line = Line::new(Cursor::new(beginning).chain(&mut self.reader));
        let found = line.find(field, &mut text);
        // An input that is damaged further on is not read at all, as one with short lines.
        let finished = line.finish();
        let (num_bytes, has_newline, rest) = finished.map_err(|error| self.failure(&error))?;
        let place = Place {
            offset: 0,
            ..self.place.clone()
        };
        self.cutter.go_on(rest);
        self.place.offset += num_bytes;
        self.place.num_lines += 1;
        self.is_done = !has_newline;
        let wrong = match found {
            Ok(true) => {
                let reader = Counted {
                    reader: text.into_reader()?,
                    num_bytes: Arc::default(),
                    watch: self.watch,
                };
                let long = Long {
                    reader,
                    cutter: Cutter::new(self.block_bytes, usize::MAX),
                    place,
                };
                return self.next_part(long, last_cut);
            }
            Ok(false) => None,
            Err(Stop::Wrong(error)) => Some(error.in_line(place.num_lines).in_file(&place.path)),
            Err(Stop::Unkept(error)) => return Err(error),
            Err(Stop::Unread(error)) => return Err(self.failure(&error)),
        };
        Ok(self.block(Vec::new(), Content::Nothing(wrong), place, true))
    }

    /// The next part of a record.
    fn next_part(
        &mut self,
        mut long: Long<'a>,
        last_cut: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Block> {
        let mut text = Vec::new();
        let read = long.cutter.next(&mut long.reader, last_cut, &mut text);
        let end = read.map_err(|error| failure(&long.place.path, &error, self.watch))?;
        let is_end = end == End::Last;
        if long.place.is_start && !is_end {
            long.place.key = Some(key_of_beginning(&text, &long.cutter));
        }
        let place = long.place.clone();
        long.place.offset += text.len() as u64;
        long.place.is_start = false;
        if !is_end {
            self.long = Some(long);
        }
        Ok(self.block(text, Content::Record, place, is_end))
    }

    /// A block of what was read since the last one.
    fn block(&mut self, text: Vec<u8>, content: Content, place: Place, is_end: bool) -> Block {
        let file_offset = self.num_told;
        if self.is_file {
            self.num_told = self.num_read.load(Ordering::Relaxed);
        }
        Block {
            text,
            content,
            place,
            is_end,
            is_last: self.is_done && self.long.is_none(),
            file_offset,
            num_read: self.num_told - file_offset,
        }
    }

    /// Why the input could not be read.
    fn failure(&self, error: &io::Error) -> Error {
        failure(&self.place.path, error, self.watch)
    }
}

/// The key of a document that begins with this text, and goes on with what was read.
fn key_of_beginning(text: &[u8], cutter: &Cutter) -> u64 {
    let most = cutter.num_bytes();
    let mut beginning = text[..text.len().min(most)].to_vec();
    let rest = cutter.rest();
    beginning.extend_from_slice(&rest[..rest.len().min(most - beginning.len())]);
    key_of(&beginning)
}

/// A file, and whether it can be read again: a pipe cannot.
fn open_file(path: &Path) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let file = File::open(path)?;
    let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
    Ok((Box::new(file), is_regular))
}

/// Why an input could not be read.
fn failure(path: &Path, error: &io::Error, watch: &Watch) -> Error {
    if watch.is_stopped() {
        return Error::Interrupted;
    }
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    inner.map_or_else(
        || io_error(path, error),
        |undecompressed: &Error| undecompressed.clone().in_file(path),
    )
}
