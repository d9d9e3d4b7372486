//! The text of a line of JSON that is too long to be parsed as a whole.
//!
//! The line is read once to find the text and what may be wrong; a text that is not short is read again
//! then, from the file, or from a temporary one if the input can be read but once.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::json::{Keeper, Line, Stop};
use super::{io_error, nameless_file};
use crate::error::Result;

/// Where a text is that is not kept in memory.
pub(super) enum Home {
    /// On the line that begins at this byte of a file.
    Line { path: PathBuf, offset: u64 },
    /// In a temporary file, best in this folder.
    Folder(PathBuf),
}

/// Keeps a text.
pub(super) struct Text {
    home: Home,
    most_memory: usize,
    memory: Vec<u8>,
    /// Where on the line it begins.
    start: u64,
    is_in_memory: bool,
    /// Once one was needed.
    file: Option<File>,
}

impl Text {
    /// No text; the next one is kept in memory if it has at most `most_memory` bytes.
    pub(super) fn new(home: Home, most_memory: usize) -> Self {
        Self {
            home,
            most_memory,
            memory: Vec::new(),
            start: 0,
            is_in_memory: true,
            file: None,
        }
    }

    /// Read what was kept.
    pub(super) fn into_reader(self) -> Result<Box<dyn Read + Send>> {
        if self.is_in_memory {
            return Ok(Box::new(Cursor::new(self.memory)));
        }
        match (self.home, self.file) {
            (Home::Line { path, offset }, _) => {
                let opened = File::open(&path).and_then(|mut file| {
                    file.seek(SeekFrom::Start(offset + self.start))?;
                    Ok(file)
                });
                let file = opened.map_err(|error| io_error(&path, &error))?;
                Ok(Box::new(Unescaped {
                    line: Line::new(file),
                    text: Vec::new(),
                    at: 0,
                    is_end: false,
                }))
            }
            (Home::Folder(folder), Some(mut file)) => {
                let rewound = file.rewind();
                rewound.map_err(|error| io_error(&folder, &error))?;
                Ok(Box::new(file))
            }
            (Home::Folder(_), None) => Ok(Box::new(io::empty())),
        }
    }

    /// Append to the temporary file in a folder; what was in memory comes first.
    fn store(&mut self, folder: &Path, text: &[u8]) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(nameless_file(folder)?);
        }
        let memory = std::mem::take(&mut self.memory);
        let written = self.file.as_mut().map_or(Ok(()), |file| {
            file.write_all(&memory)?;
            file.write_all(text)
        });
        written.map_err(|error| io_error(folder, &error))
    }
}

impl Keeper for Text {
    fn begin(&mut self, offset: u64) -> Result<()> {
        self.start = offset;
        self.memory.clear();
        self.is_in_memory = true;
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        let folder = match &self.home {
            Home::Line { path, .. } => path,
            Home::Folder(folder) => folder,
        };
        emptied.map_err(|error| io_error(folder, &error))
    }

    fn push(&mut self, text: &[u8]) -> Result<()> {
        self.is_in_memory &= self.memory.len() + text.len() <= self.most_memory;
        match &self.home {
            _ if self.is_in_memory => self.memory.extend_from_slice(text),
            Home::Line { .. } => self.memory = Vec::new(),
            Home::Folder(folder) => {
                let folder = folder.clone();
                self.store(&folder, text)?;
            }
        }
        Ok(())
    }
}

/// The text of a string on a line that is known to be right.
struct Unescaped {
    line: Line<File>,
    text: Vec<u8>,
    /// How much of the text was read.
    at: usize,
    is_end: bool,
}

impl Read for Unescaped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() && !self.is_end {
            self.text.clear();
            self.at = 0;
            let read = self.line.unescape(&mut self.text);
            self.is_end = read.map_err(|stop| match stop {
                Stop::Unread(error) => error,
                // Another wrote to the file.
                _ => ErrorKind::InvalidData.into(),
            })?;
        }
        let num_bytes = buffer.len().min(self.text.len() - self.at);
        buffer[..num_bytes].copy_from_slice(&self.text[self.at..][..num_bytes]);
        self.at += num_bytes;
        Ok(num_bytes)
    }
}
