//! Arrays of numbers in files: .npy, or the bare numbers.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::early::EarlyWriting;
use crate::error::Result;
use crate::merges::Id;
use crate::reading::io_error;

/// The header of a .npy file, padded to a multiple of 64 bytes, with room for the length.
const HEADER_BYTES: usize = 128;
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// The type of a number in a file; all are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// 16 bits.
    U16,
    /// 32 bits.
    U32,
    /// 64 bits with a sign.
    I64,
}

impl Numbers {
    /// How many bytes one has.
    pub fn width(self) -> usize {
        match self {
            Self::U16 => 2,
            Self::U32 => 4,
            Self::I64 => 8,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::U16 => "<u2",
            Self::U32 => "<u4",
            Self::I64 => "<i8",
        }
    }

    /// Append ids, of which each must fit.
    pub(super) fn push_all(self, ids: &[Id], bytes: &mut Vec<u8>) {
        match self {
            Self::U16 => push_bytes(ids, bytes, |id| (id as u16).to_le_bytes()),
            Self::U32 => push_bytes(ids, bytes, u32::to_le_bytes),
            Self::I64 => push_bytes(ids, bytes, |id| u64::from(id).to_le_bytes()),
        }
    }
}

/// Append the bytes of ids; over chunks, which compiles to vector instructions.
fn push_bytes<const N: usize>(
    ids: &[Id],
    bytes: &mut Vec<u8>,
    bytes_of_id: impl Fn(Id) -> [u8; N],
) {
    let first = bytes.len();
    bytes.resize(first + N * ids.len(), 0);
    for (place, &id) in bytes[first..].as_chunks_mut().0.iter_mut().zip(ids) {
        *place = bytes_of_id(id);
    }
}

/// A file of numbers that is written from the beginning to the end.
#[derive(Debug)]
pub(super) struct Array {
    file: BufWriter<File>,
    path: PathBuf,
    numbers: Numbers,
    is_npy: bool,
    length: u64,
    early: EarlyWriting,
}

impl Array {
    /// Create the file. An array of .npy gets its header at the end, so that it must not be a pipe.
    pub(super) fn create(path: &Path, numbers: Numbers, is_npy: bool) -> Result<Self> {
        let failed = |error: std::io::Error| io_error(path, &error);
        let file = File::create(path).map_err(failed)?;
        let early = EarlyWriting::new(&file);
        let mut file = BufWriter::new(file);
        if is_npy {
            file.write_all(&[0; HEADER_BYTES]).map_err(failed)?;
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            numbers,
            is_npy,
            length: 0,
            early,
        })
    }

    /// Append numbers that are bytes already.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += (bytes.len() / self.numbers.width()) as u64;
        let written = self.file.write_all(bytes);
        let written = written.and_then(|()| self.early.advance(self.file.get_ref(), bytes.len()));
        written.map_err(|error| io_error(&self.path, &error))
    }

    /// How many bytes a number has.
    pub(super) fn width(&self) -> usize {
        self.numbers.width()
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Write what is left, and the header.
    pub(super) fn finish(mut self) -> Result<()> {
        let header = self.is_npy.then(|| header(self.numbers, self.length));
        let written = self.file.flush().and_then(|()| match header {
            Some(header) => {
                self.file.seek(SeekFrom::Start(0))?;
                self.file.write_all(&header)?;
                self.file.flush()
            }
            None => Ok(()),
        });
        self.early.finish();
        written.map_err(|error| io_error(&self.path, &error))
    }
}

/// The beginning of a .npy file, always of the same size.
fn header(numbers: Numbers, length: u64) -> Vec<u8> {
    let name = numbers.name();
    let fields = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({length},), }}");
    let room = HEADER_BYTES - MAGIC.len() - 2;
    let mut header = MAGIC.to_vec();
    header.extend((room as u16).to_le_bytes());
    header.extend(format!("{fields:<width$}\n", width = room - 1).bytes());
    header
}
