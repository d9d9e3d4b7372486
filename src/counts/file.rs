//! The file of word counts.
//!
//! Numbers are LEB128 unless said otherwise. The eight bytes `mwcounts`; the version 1; the length
//! of the pattern plus one and the pattern (0: no pattern); the normalisation (0 none, 1 NFC, 2
//! NFKC); the number of bytes left out by pruning; the number of words; then the words in ascending
//! order of bytes, each as the number of leading bytes it shares with the one before, the number of
//! further bytes, those bytes, and its count; last, eight bytes, little-endian: a checksum of all
//! before.
//!
//! A small file must not fill the memory: up to the end of any word, the words have at most
//! [`EXPANSION`] times as many bytes as the file, beyond the first [`FREE`]. Where sharing all leading
//! bytes would break that, the writer shares none.

use std::io::{ErrorKind, Read, Write};

use super::WordCounts;
use crate::error::{Error, Result};
use crate::pattern::Pattern;
use crate::settings::{Normalization, Settings};
use crate::varint;

const MAGIC: &[u8] = b"mwcounts";
const VERSION: u64 = 1;
const EXPANSION: u64 = 100;
const FREE: u64 = 1 << 26;

impl WordCounts {
    /// Write a file of word counts.
    pub fn write(&self, file: impl Write) -> std::io::Result<()> {
        let mut out = Summed::new(file);
        let mut bytes = MAGIC.to_vec();
        varint::push(&mut bytes, VERSION);
        let pattern = self.settings.pattern.as_deref();
        varint::push(&mut bytes, pattern.map_or(0, |spec| spec.len() as u64 + 1));
        bytes.extend_from_slice(pattern.unwrap_or_default().as_bytes());
        varint::push(&mut bytes, self.settings.normalization as u64);
        varint::push(&mut bytes, self.dropped);
        varint::push(&mut bytes, self.num_unique() as u64);
        out.write_all(&bytes)?;
        let (mut previous, mut num_bytes): (&[u8], u64) = (&[], 0);
        for (word, count) in self.sorted() {
            num_bytes += word.len() as u64;
            let may_share = may_expand(out.offset, num_bytes);
            let leading = word.iter().zip(previous).take_while(|(a, b)| a == b);
            let shared = if may_share { leading.count() } else { 0 };
            bytes.clear();
            varint::push(&mut bytes, shared as u64);
            varint::push(&mut bytes, (word.len() - shared) as u64);
            bytes.extend_from_slice(&word[shared..]);
            varint::push(&mut bytes, count);
            out.write_all(&bytes)?;
            previous = word;
        }
        let sum = out.sum;
        out.file.write_all(&sum.to_le_bytes())?;
        out.file.flush()
    }

    /// Read a file of word counts.
    pub fn read(file: impl Read) -> std::io::Result<Result<Self>> {
        let mut input = Summed::new(file);
        let (found, expected) = match Self::read_from(&mut input) {
            Ok(counts) => return Ok(Ok(counts)),
            Err(Problem::Io(error)) if error.kind() == ErrorKind::UnexpectedEof => (
                "the end of the file".into(),
                "more data: the file is cut short",
            ),
            Err(Problem::Io(error)) => return Err(error),
            Err(Problem::Found(found, expected)) => (found, expected),
        };
        Ok(Err(Error::Malformed {
            offset: input.offset,
            found,
            expected: expected.into(),
        }))
    }

    fn read_from(input: &mut Summed<impl Read>) -> Reading<Self> {
        let magic = read_bytes(input, MAGIC.len() as u64)?;
        if magic != MAGIC {
            let found = format!("{:?}", String::from_utf8_lossy(&magic));
            return wrong(found, "a file of word counts, which begins with mwcounts");
        }
        let version = read_number(input)?;
        if version != VERSION {
            return wrong(format!("version {version}"), "version 1");
        }
        let mut counts = Self::new(read_settings(input)?);
        counts.dropped = read_number(input)?;
        let num_unique = read_number(input)?;
        let (mut word, mut num_bytes) = (Vec::new(), 0);
        for index in 0..num_unique {
            read_word(input, &mut word, index == 0)?;
            num_bytes += word.len() as u64;
            if !may_expand(input.offset, num_bytes) {
                let found = format!("words of {num_bytes} bytes");
                return wrong(
                    found,
                    "at most 100 bytes of words for each byte of the file",
                );
            }
            let count = read_number(input)?;
            if count == 0 {
                return wrong("the count 0", "a count of 1 or more");
            }
            counts
                .add(&word, count)
                .or_else(|error| wrong(error.to_string(), "counts of 64 bits"))?;
        }
        let expected = input.sum;
        let mut sum = [0; 8];
        input.file.read_exact(&mut sum)?;
        if u64::from_le_bytes(sum) != expected {
            return wrong("another checksum", "that of the data before it");
        }
        if input.file.read(&mut [0])? != 0 {
            return wrong("more data", "the end of the file");
        }
        Ok(counts)
    }
}

fn read_settings(input: &mut Summed<impl Read>) -> Reading<Settings> {
    let pattern = match read_number(input)? {
        0 => None,
        length => {
            let bytes = read_bytes(input, length - 1)?;
            let Ok(text) = String::from_utf8(bytes) else {
                return wrong("other bytes", "a pattern in UTF-8");
            };
            if let Err(error) = Pattern::new(Some(&text)) {
                return wrong(error.to_string(), "a pattern");
            }
            Some(text)
        }
    };
    let normalization = match read_number(input)? {
        0 => Normalization::None,
        1 => Normalization::Nfc,
        2 => Normalization::Nfkc,
        other => return wrong(other.to_string(), "a normalisation: 0, 1 or 2"),
    };
    Ok(Settings {
        pattern,
        normalization,
    })
}

/// Replace a word by the next one.
fn read_word(input: &mut Summed<impl Read>, word: &mut Vec<u8>, is_first: bool) -> Reading<()> {
    let shared = read_number(input)?;
    if shared > word.len() as u64 {
        return wrong(shared.to_string(), "a part of the word before");
    }
    let length = read_number(input)?;
    let rest = read_bytes(input, length)?;
    if !is_first && rest.as_slice() <= &word[shared as usize..] {
        return wrong("a smaller word", "words in ascending order");
    }
    word.truncate(shared as usize);
    word.extend(rest);
    Ok(())
}

/// Whether words may have so many bytes in the first `offset` bytes of a file.
fn may_expand(offset: u64, num_bytes: u64) -> bool {
    num_bytes <= FREE + offset.saturating_mul(EXPANSION)
}

/// Why a file could not be read.
enum Problem {
    Io(std::io::Error),
    /// What was found, and what was expected.
    Found(String, &'static str),
}

type Reading<T> = std::result::Result<T, Problem>;

fn wrong<T>(found: impl Into<String>, expected: &'static str) -> Reading<T> {
    Err(Problem::Found(found.into(), expected))
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// A file with a running checksum (64-bit FNV-1a) of what went through.
struct Summed<F> {
    file: F,
    sum: u64,
    offset: u64,
}

impl<F> Summed<F> {
    fn new(file: F) -> Self {
        Self {
            file,
            sum: 0xCBF2_9CE4_8422_2325,
            offset: 0,
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        self.offset += bytes.len() as u64;
    }
}

impl<F: Write> Summed<F> {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.update(bytes);
        self.file.write_all(bytes)
    }
}

fn read_number(input: &mut Summed<impl Read>) -> Reading<u64> {
    let number = varint::read(|| read_bytes(input, 1).map(|bytes| bytes[0]))?;
    number.map_or_else(|| wrong("a longer number", "a number of 64 bits"), Ok)
}

/// Exactly `length` bytes, without trusting `length` for memory that the file does not fill.
fn read_bytes(input: &mut Summed<impl Read>, length: u64) -> Reading<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length.min(1 << 16) as usize);
    input.file.by_ref().take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
    }
    input.update(&bytes);
    Ok(bytes)
}
