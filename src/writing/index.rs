//! Where the ids of documents begin: an array of numpy, or Megatron's .idx.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::array::Array;
use super::{Format, Numbers};
use crate::error::{Error, Result};
use crate::reading::io_error;

/// What a file of Megatron's begins with, and its version.
const MAGIC: &[u8] = b"MMIDIDX\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00";
/// The magic, the type, the numbers of sequences and of ends of documents.
const HEADER_BYTES: usize = MAGIC.len() + 1 + 8 + 8;

/// Where documents begin, written as they end.
pub(super) enum Index {
    /// Where each begins and the last one ends, in ids.
    Offsets(Array, u64),
    Megatron(Megatron),
}

impl Index {
    pub(super) fn create(path: &Path, format: Format, numbers: Numbers) -> Result<Self> {
        if format == Format::Megatron {
            return Megatron::create(path, numbers).map(Self::Megatron);
        }
        let mut offsets = Array::create(path, Numbers::I64, true)?;
        offsets.write(&0_u64.to_le_bytes())?;
        Ok(Self::Offsets(offsets, 0))
    }

    /// The next documents have these numbers of ids.
    pub(super) fn push_all(&mut self, lengths: impl Iterator<Item = u64>) -> Result<()> {
        match self {
            Self::Offsets(offsets, end) => {
                let ends = lengths.map(|length| {
                    *end += length;
                    *end
                });
                let bytes: Vec<u8> = ends.flat_map(u64::to_le_bytes).collect();
                offsets.write(&bytes)
            }
            Self::Megatron(megatron) => megatron.push_all(lengths),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Offsets(offsets, _) => offsets.finish(),
            Self::Megatron(megatron) => {
                let path = megatron.path.clone();
                let finished = megatron.finish();
                finished.map_err(|error| io_error(&path, &error))
            }
        }
    }
}

/// A .idx file: a header, the length of each sequence, where each begins in the other file, in bytes,
/// and with which sequence each document begins and the last one ends. A document is one sequence.
pub(super) struct Megatron {
    file: BufWriter<File>,
    path: PathBuf,
    numbers: Numbers,
    num_documents: u64,
}

impl Megatron {
    fn create(path: &Path, numbers: Numbers) -> Result<Self> {
        let created = File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            file.write_all(&[0; HEADER_BYTES])?;
            Ok(file)
        });
        Ok(Self {
            file: created.map_err(|error| io_error(path, &error))?,
            path: path.to_owned(),
            numbers,
            num_documents: 0,
        })
    }

    fn push_all(&mut self, lengths: impl Iterator<Item = u64>) -> Result<()> {
        for num_ids in lengths {
            let length = i32::try_from(num_ids).map_err(|_| Error::DocumentTooLong)?;
            self.num_documents += 1;
            let written = self.file.write_all(&length.to_le_bytes());
            written.map_err(|error| io_error(&self.path, &error))?;
        }
        Ok(())
    }

    /// Write what follows from the lengths, which are read again: memory does not follow them.
    fn finish(mut self) -> std::io::Result<()> {
        self.file.flush()?;
        let mut lengths = BufReader::new(File::open(&self.path)?);
        lengths.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
        let mut pointer = 0_u64;
        for _ in 0..self.num_documents {
            let mut length = [0; 4];
            lengths.read_exact(&mut length)?;
            self.file.write_all(&pointer.to_le_bytes())?;
            pointer += u64::from(u32::from_le_bytes(length)) * self.numbers.width() as u64;
        }
        for document in 0..=self.num_documents {
            self.file.write_all(&document.to_le_bytes())?;
        }
        self.file.seek(SeekFrom::Start(0))?;
        // The codes of uint16 and of int32: Megatron has no uint32.
        let code = if self.numbers == Numbers::U16 { 8 } else { 4 };
        self.file.write_all(MAGIC)?;
        self.file.write_all(&[code])?;
        self.file.write_all(&self.num_documents.to_le_bytes())?;
        self.file
            .write_all(&(self.num_documents + 1).to_le_bytes())?;
        self.file.flush()
    }
}
