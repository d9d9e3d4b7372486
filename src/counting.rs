//! Texts to word counts: documents handed over, or files read in blocks by several threads.
//!
//! A thread takes the next block of a file, cut where the pattern cuts any text (or at the end of a
//! line, or of the file), and counts its words into a table of its own; the tables are added at the
//! end. So the counts are the same with any number of threads, and memory follows the unique words.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use memchr::{memchr_iter, memrchr};

use crate::counts::WordCounts;
use crate::error::{Error, Result};
use crate::normalize::normalize;
use crate::pattern::Pattern;
use crate::settings::{Normalization, Settings};
use crate::specials::{Choice, Finders, Part, Specials};
use crate::table::{Adder, Table};
use crate::watch::Watch;

/// How much of a file is read at once: a block should fit the cache beside the frequent words.
const BLOCK: usize = 1 << 18;
/// How many bytes a thread counts in a tenth of a second at most, unless by a regular expression.
const QUICK: usize = 1 << 23;

/// Where a document ends in a file of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    /// At the end of the file.
    File,
    /// At the end of each line, which keeps its newline.
    Lines,
}

/// What becomes of bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidBytes {
    /// They stay, each a symbol of its own.
    Keep,
    /// They are an error.
    Refuse,
    /// They become U+FFFD.
    Replace,
}

/// Counts words.
#[derive(Debug)]
pub struct Counter {
    settings: Settings,
    pattern: Pattern,
    invalid_bytes: InvalidBytes,
    specials: Specials,
    finders: Finders,
    num_threads: usize,
    /// One for each thread, kept from call to call.
    tables: Vec<Mutex<Table>>,
}

impl Counter {
    /// A counter that has counted nothing yet. It cuts texts at the `special_tokens` and leaves
    /// them out.
    pub fn new(
        settings: Settings,
        invalid_bytes: InvalidBytes,
        special_tokens: &[String],
        num_threads: usize,
    ) -> Result<Self> {
        let pattern = Pattern::new(settings.pattern.as_deref())?;
        let specials = Specials::of_texts(special_tokens);
        Ok(Self {
            settings,
            pattern,
            invalid_bytes,
            finders: specials.finders(&Choice::default())?,
            specials,
            num_threads,
            tables: (0..num_threads.max(1)).map(|_| Mutex::default()).collect(),
        })
    }

    /// All that was counted.
    #[must_use]
    pub fn finish(self) -> WordCounts {
        let mut tables: Vec<Table> = self.tables.into_iter().map(into_inner).collect();
        while tables.len() > 1 {
            tables = add_in_pairs(tables);
        }
        WordCounts::from_table(self.settings, tables.pop().unwrap_or_default())
    }

    /// How many bytes of memory the words counted so far take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.tables.iter().map(|table| lock(table).memory()).sum()
    }

    /// Are documents counted so soon that nobody needs to watch?
    #[must_use]
    pub fn is_quick(&self, documents: &[&[u8]]) -> bool {
        let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
        num_bytes <= QUICK && self.pattern.is_linear()
    }

    /// Count documents. An error names the document by its index.
    pub fn add_documents(&self, documents: &[&[u8]], watch: &Watch) -> Result<()> {
        let next = AtomicUsize::new(0);
        self.in_parallel(documents.len(), |adder| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(document) = documents.get(index) else {
                    return Ok(());
                };
                watch.check()?;
                self.add_text(document, adder, watch).map_err(|problem| {
                    problem.located(|offset| Error::InvalidDocument { index, offset })
                })?;
                watch.advance(document.len() as u64);
            }
        })
    }

    /// Count texts that are read, files or others.
    pub fn add_inputs(
        &self,
        inputs: Vec<Input<'_>>,
        documents: Documents,
        watch: &Watch,
    ) -> Result<()> {
        let blocks = Mutex::new(Blocks::new(inputs, documents, self));
        self.in_parallel(usize::MAX, |adder| {
            let mut block = Block::default();
            loop {
                watch.check()?;
                if !lock(&blocks).next(&mut block)? {
                    return Ok(());
                }
                let text = &block.text;
                let counted = match documents {
                    Documents::File => self.add_text(text, adder, watch),
                    Documents::Lines => self.add_lines(text, adder, watch),
                };
                counted.map_err(|problem| {
                    problem.located(|offset| Error::InvalidFile {
                        path: block.path.clone(),
                        offset: block.offset + offset as u64,
                    })
                })?;
                watch.advance(text.len() as u64);
            }
        })
    }

    /// Run `work` for each table in a thread of its own, on this thread if one is enough.
    fn in_parallel(
        &self,
        num_tasks: usize,
        work: impl Fn(&mut Adder) -> Result<()> + Sync,
    ) -> Result<()> {
        let run = |table: &Mutex<Table>| {
            let mut table = lock(table);
            let mut adder = Adder::new(&mut table);
            work(&mut adder)?;
            adder.finish();
            Ok(())
        };
        let num_threads = self.num_threads.min(num_tasks).max(1);
        std::thread::scope(|scope| {
            let others: Vec<_> = self.tables[1..num_threads]
                .iter()
                .map(|table| scope.spawn(move || run(table)))
                .collect();
            let mut result = run(&self.tables[0]);
            for other in others {
                let outcome = other.join().unwrap_or(Err(Error::WorkerPanicked));
                result = result.and(outcome);
            }
            result
        })
    }

    fn add_lines(&self, text: &[u8], adder: &mut Adder, watch: &Watch) -> Counted {
        let mut start = 0;
        let ends = memchr_iter(b'\n', text).map(|at| at + 1);
        for end in ends.chain([text.len()]) {
            self.add_text(&text[start..end], adder, watch)
                .map_err(|problem| problem.after(start))?;
            start = end;
        }
        Ok(())
    }

    /// Count the words of a document, or of a part that the pattern cuts off.
    fn add_text(&self, text: &[u8], adder: &mut Adder, watch: &Watch) -> Counted {
        self.specials
            .for_each_part(text, &self.finders, |part| match part {
                Part::Ordinary(start, text) => self
                    .add_ordinary(text, adder, watch)
                    .map_err(|problem| problem.after(start)),
                Part::Special(_) => Ok(()),
            })
    }

    fn add_ordinary(&self, text: &[u8], adder: &mut Adder, watch: &Watch) -> Counted {
        let text = self.prepare(text)?;
        self.pattern
            .for_each_word(&text, watch, |start, end| adder.add(&text, start, end))
            .map_err(Problem::Pattern)
    }

    /// Where `text` can be cut whatever follows it.
    fn last_cut(&self, text: &[u8], documents: Documents) -> Option<usize> {
        if documents == Documents::Lines {
            return memrchr(b'\n', text).map(|at| at + 1);
        }
        self.specials
            .last_cut(text, |text| self.last_ordinary_cut(text))
    }

    fn last_ordinary_cut(&self, text: &[u8]) -> Option<usize> {
        let cut = self.pattern.last_safe_cut(text)?;
        if self.settings.normalization == Normalization::None {
            return Some(cut);
        }
        // Normalisation may join characters across a cut, or change what they are: only these
        // neighbours stay what they are, and every named pattern cuts between them.
        let is_cut = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && b" \n".contains(&pair[1]);
        text.windows(2).rposition(is_cut).map(|at| at + 1)
    }

    fn prepare<'t>(&self, text: &'t [u8]) -> std::result::Result<Cow<'t, [u8]>, Problem> {
        let text = match self.invalid_bytes {
            InvalidBytes::Keep => Cow::Borrowed(text),
            InvalidBytes::Refuse => {
                std::str::from_utf8(text).map_err(|error| Problem::Invalid(error.valid_up_to()))?;
                Cow::Borrowed(text)
            }
            InvalidBytes::Replace => match String::from_utf8_lossy(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        };
        Ok(match text {
            Cow::Borrowed(text) => normalize(text, self.settings.normalization),
            Cow::Owned(text) => Cow::Owned(normalize(&text, self.settings.normalization).into()),
        })
    }
}

/// Half as many tables: the sums of two each, the smaller added to the larger.
fn add_in_pairs(mut tables: Vec<Table>) -> Vec<Table> {
    let alone = if tables.len() % 2 == 1 {
        tables.pop()
    } else {
        None
    };
    tables.sort_by_key(Table::len);
    let small = tables.drain(..tables.len() / 2).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for (larger, smaller) in tables.iter_mut().zip(&small) {
            scope.spawn(|| larger.add_table(smaller));
        }
    });
    tables.extend(alone);
    tables
}

type Counted = std::result::Result<(), Problem>;

/// Why a text could not be counted.
enum Problem {
    /// Invalid UTF-8 at this offset, which was to be refused.
    Invalid(usize),
    /// The regular expression failed, or the watch was stopped.
    Pattern(Error),
}

impl Problem {
    fn after(self, start: usize) -> Self {
        match self {
            Self::Invalid(offset) => Self::Invalid(start + offset),
            Self::Pattern(error) => Self::Pattern(error),
        }
    }

    fn located(self, locate: impl FnOnce(usize) -> Error) -> Error {
        match self {
            Self::Invalid(offset) => locate(offset),
            Self::Pattern(error) => error,
        }
    }
}

/// A thread that panicked has been reported; its data is still what it was.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Something to read, with a name for messages.
pub struct Input<'a> {
    /// Its name; a file's path.
    pub path: PathBuf,
    /// Where to read; None: the file at `path`.
    pub reader: Option<Box<dyn Read + Send + 'a>>,
}

/// A part of an input that can be cut into words on its own.
#[derive(Default)]
struct Block {
    text: Vec<u8>,
    path: PathBuf,
    offset: u64,
}

/// Reads inputs one after the other, in blocks.
struct Blocks<'a> {
    /// The inputs still to be read, the next one last.
    inputs: Vec<Input<'a>>,
    documents: Documents,
    counter: &'a Counter,
    offset: u64,
    /// Read, but not yet handed out.
    rest: Vec<u8>,
}

impl<'a> Blocks<'a> {
    fn new(mut inputs: Vec<Input<'a>>, documents: Documents, counter: &'a Counter) -> Self {
        inputs.reverse();
        Self {
            inputs,
            documents,
            counter,
            offset: 0,
            rest: Vec::new(),
        }
    }

    /// Put the next block into `block`; false if there is none.
    fn next(&mut self, block: &mut Block) -> Result<bool> {
        while let Some(Input { path, reader }) = self.inputs.pop() {
            let failed = |error: std::io::Error| Error::Io {
                path: path.clone(),
                kind: error.kind(),
                code: error.raw_os_error(),
            };
            let mut reader = match reader {
                Some(reader) => reader,
                None => Box::new(File::open(&path).map_err(failed)?),
            };
            block.text.clear();
            block.text.append(&mut self.rest);
            block.path.clone_from(&path);
            block.offset = self.offset;
            if self.fill(&mut reader, &mut block.text).map_err(failed)? {
                self.offset = 0;
            } else {
                self.offset += block.text.len() as u64;
                let reader = Some(reader);
                self.inputs.push(Input { path, reader });
            }
            if !block.text.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Read until `text` can be cut; what is behind the cut goes to `rest`. True at the end.
    fn fill(&mut self, reader: &mut dyn Read, text: &mut Vec<u8>) -> std::io::Result<bool> {
        let mut goal = BLOCK;
        loop {
            let before = text.len();
            reader.take(goal as u64).read_to_end(text)?;
            if text.len() < before + goal {
                return Ok(true);
            }
            if let Some(cut) = self
                .counter
                .last_cut(text, self.documents)
                .filter(|&cut| cut > 0)
            {
                self.rest.extend_from_slice(&text[cut..]);
                text.truncate(cut);
                return Ok(false);
            }
            goal = text.len();
        }
    }
}
