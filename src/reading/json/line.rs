//! The bytes of a line, a piece at a time.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

/// How many bytes of a line are usually read at once.
const PIECE_BYTES: usize = 1 << 16;

/// A line that is read as far as it is needed, and never held as a whole.
pub(in crate::reading) struct Line<R> {
    reader: R,
    /// How many bytes are read at once, and about as many of a string are unescaped.
    pub(super) piece_bytes: usize,
    piece: Vec<u8>,
    /// Where in the piece the next byte is, and where the line, or what is read of it, ends.
    at: usize,
    end: usize,
    /// The bytes of the line before the piece, and before its first column.
    num_before: u64,
    origin: u64,
    is_read: bool,
    has_newline: bool,
}

impl<R: Read> Line<R> {
    /// The line with which a reader begins; it ends with a newline, or with what is read.
    pub(in crate::reading) fn new(reader: R) -> Self {
        Self::in_pieces(reader, PIECE_BYTES)
    }

    /// The same, with so many bytes read at once.
    pub(super) fn in_pieces(reader: R, piece_bytes: usize) -> Self {
        Self {
            reader,
            piece_bytes,
            piece: Vec::new(),
            at: 0,
            end: 0,
            num_before: 0,
            origin: 0,
            is_read: false,
            has_newline: false,
        }
    }

    /// Where in the line the next byte is.
    pub(super) fn offset(&self) -> u64 {
        self.num_before + self.at as u64
    }

    /// How many columns are before the next byte.
    pub(super) fn column(&self) -> u64 {
        self.offset() - self.origin
    }

    /// The next byte is in the first column.
    pub(super) fn begin_columns(&mut self) {
        self.origin = self.offset();
    }

    /// The next bytes; none at the end of the line.
    pub(super) fn window(&mut self) -> io::Result<&[u8]> {
        self.need(1)?;
        Ok(&self.piece[self.at..self.end])
    }

    /// The next byte, if there is one.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.window()?.first().copied())
    }

    /// Whether these are the next bytes.
    pub(super) fn begins_with(&mut self, bytes: &[u8]) -> io::Result<bool> {
        self.need(bytes.len())?;
        Ok(self.piece[self.at..self.end].starts_with(bytes))
    }

    /// The next bytes, if there are so many, which are gone over.
    pub(super) fn take<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        self.need(N)?;
        let bytes = self.piece[self.at..self.end].first_chunk().copied();
        if bytes.is_some() {
            self.at += N;
        }
        Ok(bytes)
    }

    /// Go over the next bytes, which were seen.
    pub(super) fn skip(&mut self, num_bytes: usize) {
        self.at += num_bytes;
    }

    /// Go over the rest of the line. Returns how many bytes it has, with its newline; whether it has
    /// one; and what was read behind it.
    pub(in crate::reading) fn finish(mut self) -> io::Result<(u64, bool, Vec<u8>)> {
        while !self.window()?.is_empty() {
            self.at = self.end;
        }
        let num_bytes = self.offset() + u64::from(self.has_newline);
        let behind = self.end + usize::from(self.has_newline);
        Ok((num_bytes, self.has_newline, self.piece.split_off(behind)))
    }

    /// Have so many bytes in the piece, if the line has them.
    fn need(&mut self, num_bytes: usize) -> io::Result<()> {
        while self.end - self.at < num_bytes && !self.is_read {
            self.piece.drain(..self.at);
            self.num_before += self.at as u64;
            self.end -= self.at;
            self.at = 0;
            let mut next = (&mut self.reader).take(self.piece_bytes as u64);
            match next.read_to_end(&mut self.piece) {
                Ok(num_bytes) => self.is_read = num_bytes < self.piece_bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(error) => return Err(error),
            }
            let newline = memchr(b'\n', &self.piece[self.end..]);
            self.has_newline = newline.is_some();
            self.is_read |= self.has_newline;
            self.end = newline.map_or(self.piece.len(), |newline| self.end + newline);
        }
        Ok(())
    }
}
