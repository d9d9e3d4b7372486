//! Word counts: how often each word occurs in a corpus, and how it was cut into words.
//!
//! Counts add, so any part of a corpus can be counted anywhere and the sums are the same. Counts
//! carry the settings that cut them; counts of different settings refuse to add.
//!
//! ## The file
//!
//! Numbers are LEB128 unless said otherwise. The eight bytes `mwcounts`; the version 1; the length
//! of the pattern plus one and the pattern (0: no pattern); the normalisation (0 none, 1 NFC, 2
//! NFKC); the mass dropped by pruning; the number of words; then the words in ascending order of
//! bytes, each as the number of leading bytes it shares with the one before, the number of further
//! bytes, those bytes, and its count; last, eight bytes, little-endian: a checksum of all before.

use std::io::{Read, Write};
use std::num::NonZeroU64;

use rustc_hash::FxHashSet;

use crate::error::{Error, Result};
use crate::keys::hash_word;
use crate::pattern::Pattern;
use crate::settings::{Normalization, Settings};
use crate::table::{Adder, Table};
use crate::watch::Watch;

/// How often each word occurs.
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    pub(crate) settings: Settings,
    table: Table,
    /// How many bytes the words have; below 2^64, so that no sum over them overflows.
    num_bytes: u64,
    dropped: u64,
}

impl WordCounts {
    /// No words yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The counts of a table, whose words were counted one by one.
    pub(crate) fn from_table(settings: Settings, table: Table) -> Result<Self> {
        let mut num_bytes = 0;
        for (word, count) in table.iter() {
            num_bytes = plus(num_bytes, count, word.len())?;
        }
        Ok(Self {
            settings,
            table,
            num_bytes,
            dropped: 0,
        })
    }

    /// How the words were cut.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many different words there are.
    #[must_use]
    pub fn num_unique(&self) -> usize {
        self.table.len()
    }

    /// How many words there are.
    #[must_use]
    pub fn num_words(&self) -> u64 {
        self.table.iter().map(|(_, count)| count).sum()
    }

    /// How many bytes the words have.
    #[must_use]
    pub fn num_bytes(&self) -> u64 {
        self.num_bytes
    }

    /// How many bytes pruning has left out.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Add `count` occurrences of `word`.
    pub fn add(&mut self, word: &[u8], count: u64) -> Result<()> {
        self.num_bytes = plus(self.num_bytes, count, word.len())?;
        if count > 0 && !word.is_empty() {
            self.table.add(word, count);
        }
        Ok(())
    }

    /// Add the rows of a table from number `first` on: words with their counts, or, where there is no
    /// word, bytes that pruning has left out. After an error the counts are worth nothing.
    pub fn add_rows<'r>(
        &mut self,
        first: u64,
        rows: impl Iterator<Item = (Option<&'r [u8]>, Option<i64>)>,
    ) -> Result<()> {
        let mut adder = Adder::new(&mut self.table);
        for (row, (word, found)) in (first..).zip(rows) {
            let count = found.and_then(|count| u64::try_from(count).ok());
            let count = count.filter(|&count| count > 0);
            let count = count.ok_or(Error::InvalidCount { row, found })?;
            match word {
                Some(word) => self.num_bytes = plus(self.num_bytes, count, word.len())?,
                None => self.dropped = plus(self.dropped, count, 1)?,
            }
            match word {
                Some(_) if adder.most_words() >= MOST_WORDS => return Err(Error::TooManyWords),
                Some(word) if !word.is_empty() => adder.add_times(word, count),
                _ => {}
            }
        }
        adder.finish();
        Ok(())
    }

    /// Add the counts of `other`, which must have the same settings.
    pub fn add_all(&mut self, other: &Self) -> Result<()> {
        if self.settings != other.settings {
            return Err(Error::SettingsDiffer {
                ours: Box::new(self.settings.clone()),
                theirs: Box::new(other.settings.clone()),
            });
        }
        let num_bytes = plus(self.num_bytes, other.num_bytes, 1)?;
        self.dropped = plus(self.dropped, other.dropped, 1)?;
        self.num_bytes = num_bytes;
        self.table.add_table(&other.table);
        Ok(())
    }

    /// The words that occur at least `min_count` times.
    pub fn pruned(&self, min_count: u64) -> Result<Self> {
        let mut kept = Self::new(self.settings.clone());
        for (word, count) in self.table.iter().filter(|&(_, count)| count >= min_count) {
            kept.add(word, count)?;
        }
        let left_out = self.num_bytes - kept.num_bytes;
        kept.dropped = plus(self.dropped, left_out, 1)?;
        Ok(kept)
    }

    /// The words of the words: each is cut as a document by another pattern.
    pub fn cut(&self, pattern: &Pattern, watch: &Watch) -> Result<Self> {
        let mut counts = Self::new(Settings {
            pattern: pattern.spec().map(str::to_owned),
            normalization: self.settings.normalization,
        });
        for (document, count) in self.iter() {
            watch.check()?;
            let mut added = Ok(());
            pattern.for_each_word(document, watch, |start, end| {
                let word = counts.add(&document[start..end], count);
                added = added.clone().and(word);
            })?;
            added?;
        }
        Ok(counts)
    }

    /// The code points in the words, each once.
    pub fn characters(&self) -> Result<FxHashSet<char>> {
        let mut characters = FxHashSet::default();
        for (word, _) in self.iter() {
            let word = std::str::from_utf8(word).map_err(|_| Error::NotText {
                word: word.to_vec(),
            })?;
            characters.extend(word.chars());
        }
        Ok(characters)
    }

    /// The words with their counts, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter()
    }

    /// The words with their counts from number `first` on, in no particular order.
    pub fn iter_from(&self, first: usize) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.iter_from(first)
    }

    /// The words with their counts, the most frequent first.
    pub fn by_count(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.table.by_count()
    }

    /// The words with their counts, in ascending order of their bytes.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut words: Vec<_> = self.iter().collect();
        words.sort_unstable();
        words
    }

    /// Write the file described at the top of this module.
    pub fn write(&self, file: impl Write) -> std::io::Result<()> {
        let mut out = Summed::new(file);
        out.write_all(MAGIC)?;
        write_number(&mut out, VERSION)?;
        match &self.settings.pattern {
            None => write_number(&mut out, 0)?,
            Some(pattern) => {
                write_number(&mut out, pattern.len() as u64 + 1)?;
                out.write_all(pattern.as_bytes())?;
            }
        }
        write_number(&mut out, self.settings.normalization as u64)?;
        write_number(&mut out, self.dropped)?;
        write_number(&mut out, self.num_unique() as u64)?;
        let mut previous: &[u8] = &[];
        for (word, count) in self.sorted() {
            let shared = word
                .iter()
                .zip(previous)
                .take_while(|(a, b)| a == b)
                .count();
            write_number(&mut out, shared as u64)?;
            write_number(&mut out, (word.len() - shared) as u64)?;
            out.write_all(&word[shared..])?;
            write_number(&mut out, count)?;
            previous = word;
        }
        let sum = out.sum;
        out.file.write_all(&sum.to_le_bytes())?;
        out.file.flush()
    }

    /// Read the file described at the top of this module.
    pub fn read(file: impl Read) -> std::io::Result<Result<Self>> {
        let mut input = Summed::new(file);
        match Self::read_from(&mut input) {
            Ok(counts) => Ok(Ok(counts)),
            Err(Problem::Io(error)) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
                Err(error)
            }
            Err(Problem::Io(_)) => Ok(Err(Error::Malformed {
                offset: input.offset,
                found: "the end of the file".into(),
                expected: "more data: the file is cut short".into(),
            })),
            Err(Problem::Found(found, expected)) => Ok(Err(Error::Malformed {
                offset: input.offset,
                found,
                expected: expected.into(),
            })),
        }
    }

    fn read_from(input: &mut Summed<impl Read>) -> std::result::Result<Self, Problem> {
        let magic = read_bytes(input, MAGIC.len() as u64)?;
        if magic != MAGIC {
            let found = format!("{:?}", String::from_utf8_lossy(&magic));
            return Err(Problem::Found(
                found,
                "a file of word counts, which begins with mwcounts",
            ));
        }
        let version = read_number(input)?;
        if version != VERSION {
            return Err(Problem::Found(format!("version {version}"), "version 1"));
        }
        let pattern = match read_number(input)? {
            0 => None,
            length => {
                let bytes = read_bytes(input, length - 1)?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| Problem::Found("other bytes".into(), "a pattern in UTF-8"))?;
                Pattern::new(Some(&text))
                    .map_err(|error| Problem::Found(error.to_string(), "a pattern"))?;
                Some(text)
            }
        };
        let normalization = match read_number(input)? {
            0 => Normalization::None,
            1 => Normalization::Nfc,
            2 => Normalization::Nfkc,
            other => {
                return Err(Problem::Found(
                    other.to_string(),
                    "a normalisation: 0, 1 or 2",
                ));
            }
        };
        let mut counts = Self::new(Settings {
            pattern,
            normalization,
        });
        counts.dropped = read_number(input)?;
        let num_unique = read_number(input)?;
        let mut word: Vec<u8> = Vec::new();
        for index in 0..num_unique {
            let shared = read_number(input)?;
            if shared > word.len() as u64 {
                return Err(Problem::Found(
                    shared.to_string(),
                    "a part of the word before",
                ));
            }
            let length = read_number(input)?;
            let rest = read_bytes(input, length)?;
            if index > 0 && rest.as_slice() <= &word[shared as usize..] {
                return Err(Problem::Found(
                    "a smaller word".into(),
                    "words in ascending order",
                ));
            }
            word.truncate(shared as usize);
            word.extend(rest);
            let count = read_number(input)?;
            if count == 0 {
                return Err(Problem::Found("the count 0".into(), "a count of 1 or more"));
            }
            counts
                .add(&word, count)
                .map_err(|error| Problem::Found(error.to_string(), "counts of 64 bits"))?;
        }
        let expected = input.sum;
        let mut sum = [0; 8];
        input.file.read_exact(&mut sum)?;
        if u64::from_le_bytes(sum) != expected {
            return Err(Problem::Found(
                "another checksum".into(),
                "that of the data before it",
            ));
        }
        if input.file.read(&mut [0])? != 0 {
            return Err(Problem::Found("more data".into(), "the end of the file"));
        }
        Ok(counts)
    }
}

/// The part of `num_parts` that a word belongs to; it depends on nothing else. The parts of many
/// words are about equally large.
#[must_use]
pub fn part_of(word: &[u8], num_parts: NonZeroU64) -> usize {
    // The high bits: a table of the words of one part looks at the low ones.
    let scaled = u128::from(hash_word(word)) * u128::from(num_parts.get());
    (scaled >> 64) as usize
}

/// `sum + count * length`, or an error if that is 2^64 or more.
fn plus(sum: u64, count: u64, length: usize) -> Result<u64> {
    let added = count.checked_mul(length as u64);
    let sum = added.and_then(|added| sum.checked_add(added));
    sum.ok_or(Error::CountsTooLarge)
}

/// A table numbers its words with 32 bits, and one number means none.
const MOST_WORDS: usize = u32::MAX as usize - 1;
const MAGIC: &[u8] = b"mwcounts";
const VERSION: u64 = 1;

enum Problem {
    Io(std::io::Error),
    Found(String, &'static str),
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

fn write_number(out: &mut Summed<impl Write>, mut number: u64) -> std::io::Result<()> {
    while number >= 0x80 {
        out.write_all(&[number as u8 | 0x80])?;
        number >>= 7;
    }
    out.write_all(&[number as u8])
}

fn read_number(input: &mut Summed<impl Read>) -> std::result::Result<u64, Problem> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = read_bytes(input, 1)?[0];
        let bits = u64::from(byte & 0x7F);
        if bits << shift >> shift != bits {
            break;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(Problem::Found(
        "a longer number".into(),
        "a number of 64 bits",
    ))
}

/// Exactly `length` bytes, without trusting `length` for memory that the file does not fill.
fn read_bytes(input: &mut Summed<impl Read>, length: u64) -> std::result::Result<Vec<u8>, Problem> {
    let mut bytes = Vec::with_capacity(length.min(1 << 16) as usize);
    input.file.by_ref().take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    input.update(&bytes);
    Ok(bytes)
}
