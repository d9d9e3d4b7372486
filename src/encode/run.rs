//! One prepared text on its way through the cache, a batch of words at a time.

use std::sync::Arc;

use super::cache::{Buffer, Cache, Copied, Miss, SharedWords, Word, no_ids};
use super::ends::{BATCH, Ends, MOST_WORDS};
use super::joins::{GROUP, Joins, Places};
use super::long::LongWords;
use super::search::Scratch;
use super::sink::Sink;
use super::words::{Piece, Words};
use crate::error::Result;
use crate::merges::Id;
use crate::pattern::{Processor, Scanner, TakeGroups, Work, on_this_processor};
use crate::watch::Watch;

/// Where so few words of a batch were known for each new one, all are copied again.
const LEAST_KNOWN: usize = 8;

/// What one thread encodes with: its cache and memory that is used again.
#[derive(Debug)]
pub(super) struct Desk {
    cache: Cache,
    ends: Ends,
    words: Vec<Word>,
    /// Which of them are not short.
    longer: [u16; MOST_WORDS],
    buffer: Box<Buffer>,
    misses: [Miss; MOST_WORDS],
    pub(super) seams: Seams,
    /// Short texts that are encoded together.
    pub(super) gathered: Gathered,
    pub(super) scratch: Scratch,
    long_words: LongWords,
    /// The tokens of one word.
    pieces: Vec<Piece>,
    ids: Vec<Id>,
}

impl Desk {
    pub(super) fn new(bits: u32) -> Self {
        Self {
            cache: Cache::new(bits),
            ends: Ends::NONE,
            words: vec![Word::default(); MOST_WORDS],
            longer: [0; MOST_WORDS],
            buffer: no_ids(),
            misses: [Miss::default(); MOST_WORDS],
            seams: Seams::default(),
            gathered: Gathered::default(),
            scratch: Scratch::default(),
            long_words: LongWords::default(),
            pieces: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// There are so many desks, which share the memory for caches, and words.
    pub(super) fn share(&mut self, num_desks: usize, words: Option<Arc<SharedWords>>) {
        self.cache.share(num_desks, words);
    }

    /// Copy the ids of those of the first `len` words that are in lines.
    fn copy_known(&mut self, text: &[u8], len: usize) -> Copied {
        let (words, buffer, misses) = (&self.words, &mut self.buffer, &mut self.misses);
        let (mut start, mut copied) = (0, Copied::default());
        self.seams.copied.clear();
        for &end in &self.seams.words {
            let numbers = start..end;
            self.cache
                .copy_known(text, words, numbers, buffer, misses, &mut copied);
            self.seams.copied.push(copied);
            start = end;
        }
        self.cache
            .copy_known(text, words, start..len, buffer, misses, &mut copied);
        copied
    }
}

/// Short texts one behind the other.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) text: Vec<u8>,
    /// Where each ends.
    pub(super) ends: Vec<usize>,
    pub(super) ids: Vec<Id>,
    /// How many bytes are gathered next: fewer where special tokens are near to one another.
    pub(super) num_bytes: usize,
}

/// Where texts end that lie one behind the other.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// How many words of the batch are before the end of each text that ends among them.
    words: Vec<usize>,
    /// What of the batch was copied before each of these.
    copied: Vec<Copied>,
    /// How many ids the sink had at the end of each text so far.
    pub(super) ids: Vec<usize>,
}

/// A prepared text that is encoded.
pub(super) struct Run<'a, 'i> {
    pub(super) encoder: &'a Words,
    pub(super) text: &'a [u8],
    /// Where the first word begins that is not encoded yet.
    pub(super) start: usize,
    pub(super) desk: &'a mut Desk,
    pub(super) sink: &'a mut Sink<'i>,
    pub(super) watch: &'a Watch,
    pub(super) result: Result<()>,
}

impl TakeGroups for Run<'_, '_> {
    #[inline(always)]
    fn take<P: Processor>(&mut self, processor: P, base: usize, ends: u64) {
        self.desk.ends.push_group(processor, base, ends);
        if self.desk.ends.are_full() {
            self.encode_ends();
        }
    }
}

impl Run<'_, '_> {
    /// Encode the words of a scanner, which come in groups.
    pub(super) fn encode_groups(mut self, scanner: &Scanner) -> Result<()> {
        // What an error in another text left.
        self.desk.ends.take();
        scanner.for_each_group(self.text, self.watch, &mut self)?;
        self.encode_ends();
        self.result
    }

    /// Encode texts that lie one behind the other, each up to one of `ends`. How many ids there were at
    /// the end of each is on the desk then.
    pub(super) fn encode_texts(mut self, scanner: &Scanner, ends: &[usize]) -> Result<()> {
        self.desk.ends.take();
        self.desk.seams.ids.clear();
        let mut start = 0;
        for &end in ends {
            scanner.scan(&self.text[..end], start, &mut self);
            self.desk.seams.words.push(self.desk.ends.len());
            start = end;
        }
        self.encode_ends();
        self.result
    }

    /// Encode the words up to the ends so far.
    #[inline(never)]
    fn encode_ends(&mut self) {
        let Desk {
            ends,
            cache,
            words,
            longer,
            ..
        } = &mut *self.desk;
        let ends = ends.take();
        self.start = cache.begin_all(self.text, self.start, ends, words, longer);
        let len = ends.len();
        self.encode_words(len);
        self.desk.seams.words.clear();
    }

    /// Encode a text without words, cut where no merge can join and at `cuts`, which are inside of it,
    /// from the first on.
    pub(super) fn encode_joined(self, joins: &Joins, cuts: &[usize]) -> Result<()> {
        on_this_processor(Joined {
            run: self,
            joins,
            cuts,
        })
    }

    /// Encode the words whose places `for_each_word` calls its argument with.
    pub(super) fn encode_singly(
        mut self,
        for_each_word: impl FnOnce(&mut dyn FnMut(usize, usize)) -> Result<()>,
    ) -> Result<()> {
        let mut len = 0;
        for_each_word(&mut |start, end| {
            self.desk.words[len] = self.desk.cache.begin(self.text, start, end);
            len += 1;
            if len == BATCH {
                self.encode_words(BATCH);
                len = 0;
            }
        })?;
        self.encode_words(len);
        self.result
    }

    /// Encode what is left of a word, with which the text begins.
    pub(super) fn finish_word(&mut self, end: usize) -> Result<()> {
        if end == 0 {
            return Ok(());
        }
        let (rest, text) = self.text.split_at(end);
        let desk = &mut *self.desk;
        desk.pieces.clear();
        let (scratch, pieces) = (&mut desk.scratch, &mut desk.pieces);
        self.encoder
            .encode_part(rest, scratch, pieces, self.watch)?;
        desk.ids.clear();
        desk.ids.extend(pieces.iter().map(|&(id, _)| id));
        self.sink.push_all(&desk.ids);
        self.text = text;
        Ok(())
    }

    /// Encode the text as one word.
    pub(super) fn encode_one(mut self) -> Result<()> {
        self.desk.words[0] = self.desk.cache.begin(self.text, 0, self.text.len());
        self.encode_words(1);
        self.result
    }

    /// Encode the first `len` words on the desk, unless there was an error before.
    #[inline(never)]
    fn encode_words(&mut self, len: usize) {
        if self.result.is_ok() {
            self.result = self.look_up(len);
        }
    }

    /// Write the ids of the first `len` words: those in the cache are copied, the others are found
    /// many at a time where that is possible, and singly where it is not.
    fn look_up(&mut self, len: usize) -> Result<()> {
        self.watch.check()?;
        let (text, encoder, desk) = (self.text, self.encoder, &mut *self.desk);
        let mut copied = desk.copy_known(text, len);
        let (cache, words, misses) = (&mut desk.cache, &desk.words[..len], &mut desk.misses);
        let new = misses[..copied.num_misses].iter();
        let num_new = new.filter(|miss| miss.is_new).count();
        if let Some(short) = &encoder.short
            && num_new > 0
        {
            cache.take_over(words, &mut misses[..copied.num_misses]);
            short.learn(text, words, &misses[..copied.num_misses], cache);
            // Most words are copied faster than one is found alone.
            if num_new * LEAST_KNOWN > len {
                copied = desk.copy_known(text, len);
            }
        }
        let (cache, words, buffer) = (&mut desk.cache, &desk.words[..len], &desk.buffer);
        let misses = &desk.misses[..copied.num_misses];
        let (long_words, scratch) = (&mut desk.long_words, &mut desk.scratch);
        if !misses.is_empty() {
            let found = (words, misses);
            long_words.find(encoder.tools(), text, found, cache, scratch, self.watch)?;
        }
        let mut start = 0;
        let Seams {
            copied: seams,
            ids: ends,
            ..
        } = &mut desk.seams;
        let mut seams = seams.iter().peekable();
        for index in 0..=misses.len() {
            while let Some(seam) = seams.next_if(|seam| seam.num_misses == index) {
                ends.push(self.sink.num_ids + seam.num_ids - start);
            }
            let Some(miss) = misses.get(index) else {
                break;
            };
            self.sink.push_all(&buffer[start..miss.at()]);
            start = miss.at();
            if let Some(ids) = long_words.ids(index) {
                self.sink.push_all(ids);
                continue;
            }
            let word = &words[miss.index()];
            desk.ids.clear();
            if !cache.find(text, word, &mut desk.ids) {
                desk.pieces.clear();
                encoder
                    .encode(&text[word.place()], scratch, &mut desk.pieces, self.watch)
                    .map_err(|error| error.moved(word.place().start, 0))?;
                desk.ids.extend(desk.pieces.iter().map(|&(id, _)| id));
                cache.insert(text, word, &desk.ids);
            }
            self.sink.push_all(&desk.ids);
        }
        self.sink.push_all(&buffer[start..copied.num_ids]);
        Ok(())
    }
}

/// A text without words that is encoded.
struct Joined<'a, 'i, 'j> {
    run: Run<'a, 'i>,
    joins: &'j Joins,
    cuts: &'j [usize],
}

impl Work for Joined<'_, '_, '_> {
    type Output = Result<()>;

    #[inline(always)]
    fn run<P: Processor>(self, processor: P) -> Result<()> {
        let Self {
            mut run,
            joins,
            cuts,
        } = self;
        run.desk.ends.take();
        if run.start == run.text.len() {
            return Ok(());
        }
        let mut places = Places::new(run.text, run.start, run.text.len());
        let mut cuts = cuts.iter().peekable();
        while let Some((base, mut group)) = joins.next_group(processor, run.text, &mut places) {
            while let Some(cut) = cuts.next_if(|&&cut| cut < base + GROUP) {
                group |= 1 << (cut - base);
            }
            run.take(processor, base, group);
        }
        run.take(processor, run.text.len(), 1);
        run.encode_ends();
        run.result
    }
}
