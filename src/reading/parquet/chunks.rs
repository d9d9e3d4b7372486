//! Parts of a file, as the library of Parquet asks for them.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use crate::error::Result;
use crate::reading::io_error;

/// The header of a page is looked for in so many bytes at first.
const HEADER_BYTES: usize = 1 << 10;

/// What is read anywhere, by several threads: a file, or an object of a store.
pub trait ReadAt: Send + Sync {
    /// How large it is.
    fn num_bytes(&self) -> io::Result<u64>;

    /// So many bytes from `start` on.
    fn read_at(&self, start: u64, num_bytes: usize) -> io::Result<Vec<u8>>;

    /// Whether each call takes so long that few should be made.
    fn is_far(&self) -> bool;
}

/// Why a source could not be read. Decompressors have errors of the same type as the system.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unread(io::Error);

/// Why the source could not be read, if that is what an error is about.
pub(super) fn unread(error: &ParquetError) -> Option<&io::Error> {
    let ParquetError::External(error) = error else {
        return None;
    };
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref::<Unread>().map(|Unread(error)| error)
}

fn read(source: &dyn ReadAt, start: u64, num_bytes: usize) -> io::Result<Vec<u8>> {
    let bytes = source.read_at(start, num_bytes);
    bytes.map_err(|error| io::Error::other(Unread(error)))
}

/// The file at a path.
pub(super) fn open(path: &Path) -> Result<Arc<dyn ReadAt>> {
    let file = File::open(path).map_err(|error| io_error(path, &error))?;
    Ok(Arc::new(file))
}

impl ReadAt for File {
    fn num_bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, start: u64, num_bytes: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; num_bytes];
        read_exact_at(self, &mut bytes, start)?;
        Ok(bytes)
    }

    fn is_far(&self) -> bool {
        false
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut start: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, start)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            num_read => {
                bytes = &mut bytes[num_read..];
                start += num_read as u64;
            }
        }
    }
    Ok(())
}

/// A source, and a part of it that was read at once if it is far.
pub(super) struct Chunks {
    source: Arc<dyn ReadAt>,
    num_bytes: u64,
    fetched: (u64, Bytes),
}

impl Chunks {
    pub(super) fn new(source: Arc<dyn ReadAt>, num_bytes: u64) -> Self {
        Self {
            source,
            num_bytes,
            fetched: (0, Bytes::new()),
        }
    }

    /// The same, where this part is read soon.
    pub(super) fn fetched(&self, start: u64, num_bytes: u64) -> ParquetResult<Self> {
        let mut chunks = Self::new(Arc::clone(&self.source), self.num_bytes);
        if self.source.is_far() {
            let num_bytes = num_bytes.min(self.num_bytes.saturating_sub(start));
            chunks.fetched = (start, self.get_bytes(start, num_bytes as usize)?);
        }
        Ok(chunks)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.num_bytes
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let num_left = self.num_bytes.saturating_sub(start);
        let first = self.get_bytes(start, num_left.min(HEADER_BYTES as u64) as usize)?;
        let rest = Rest {
            source: Arc::clone(&self.source),
            next: start + first.len() as u64,
            end: self.num_bytes,
        };
        Ok(Box::new(Cursor::new(first).chain(rest)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.num_bytes)
        {
            let message = format!(
                "expected {length} bytes at {start}, found a file of {} bytes",
                self.num_bytes
            );
            return Err(ParquetError::EOF(message));
        }
        let (first, fetched) = &self.fetched;
        if let Some(from) = start.checked_sub(*first)
            && from + length as u64 <= fetched.len() as u64
        {
            let from = from as usize;
            return Ok(fetched.slice(from..from + length));
        }
        Ok(read(&*self.source, start, length)?.into())
    }
}

/// What is behind the bytes in which a header was expected.
struct Rest {
    source: Arc<dyn ReadAt>,
    next: u64,
    end: u64,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_bytes = buffer.len().min(HEADER_BYTES) as u64;
        let num_bytes = num_bytes.min(self.end - self.next) as usize;
        let bytes = read(&*self.source, self.next, num_bytes)?;
        buffer[..num_bytes].copy_from_slice(&bytes);
        self.next += num_bytes as u64;
        Ok(num_bytes)
    }
}
