//! Words that have been seen before, with their ids.
//!
//! Most words of a text have been seen before. A word of up to 15 bytes is looked up by one load of
//! a line of cache: two entries of a key (the bytes, padded, and the length) and a few ids. If that
//! line is full, the word may be in one of seven others ([`ShortLines`]). All other words, and the
//! ids of a short word that do not fit its entry, are in [`LongerWords`]. A new word replaces an
//! older one once the cache has its full size, so memory is bounded.

mod longer_words;
mod short_lines;

use std::ops::Range;

use crate::encode::ends::MOST_WORDS;
use crate::keys::{SHORT, short_key, with_length};
use crate::merges::Id;
use longer_words::LongerWords;
use short_lines::{MOST_PACKED, Packed, ShortLines};

/// Stands in place of the length in the key of a word that is not short.
const NOT_SHORT: usize = u8::MAX as usize;

/// The lowest bit of the hash in the key of such a word.
const HASH_AT: u32 = 64;

/// A word to be looked up. The key of a short one holds its bytes and its length; that of another
/// one, where it ends and its hash.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) key: u128,
    start: usize,
    /// Where a short word is looked for in the cache: a hash.
    pub(super) line: usize,
}

impl Word {
    pub(super) fn is_short(&self) -> bool {
        self.length() != NOT_SHORT
    }

    /// The highest byte of the key.
    fn length(&self) -> usize {
        (self.key >> (8 * SHORT)) as usize
    }

    /// Where the word is in the text.
    pub(super) fn place(&self) -> Range<usize> {
        let end = if self.is_short() {
            self.start + self.length()
        } else {
            self.key as usize
        };
        self.start..end
    }
}

/// A word of a batch whose ids the cache could not write.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Miss {
    index: u16,
    at: u16,
}

impl Miss {
    /// Which word of the batch it is.
    pub(super) fn index(self) -> usize {
        self.index.into()
    }

    /// Where its ids belong in the buffer.
    pub(super) fn at(self) -> usize {
        self.at.into()
    }
}

/// Room for the ids of a batch of short words.
pub(super) type Buffer = [Id; MOST_WORDS * MOST_PACKED];
pub(super) const NO_IDS: Buffer = [0; MOST_WORDS * MOST_PACKED];

/// Words with their ids.
#[derive(Debug)]
pub(super) struct Cache {
    short: ShortLines,
    longer: LongerWords,
    /// How many bits an id has.
    bits: u32,
}

impl Cache {
    /// For ids of at most `bits` bits.
    pub(super) fn new(bits: u32) -> Self {
        Self {
            short: ShortLines::new(),
            longer: LongerWords::new(),
            bits,
        }
    }

    /// Begin to look up the word `text[start..end]`.
    // Always inlined, or it goes through memory.
    #[inline(always)]
    pub(super) fn begin(&self, text: &[u8], start: usize, end: usize) -> Word {
        if end - start > SHORT {
            let hash = self.longer.expect(&text[start..end]);
            let key = with_length(NOT_SHORT) | u128::from(hash) << HASH_AT | end as u128;
            let line = 0;
            return Word { key, start, line };
        }
        let key = short_key(text, start, end);
        let line = self.short.line(key);
        self.short.prefetch(line);
        Word { key, start, line }
    }

    /// Begin to look up the words between `start` and the first end, the first and the second, and
    /// so on; returns where the last one ends.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn begin_all(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        words: &mut [Word],
    ) -> usize {
        for (word, &end) in words.iter_mut().zip(ends) {
            *word = self.begin(text, start, end);
            start = end;
        }
        start
    }

    /// Write the ids of the short words that are known, and the others as misses; returns the
    /// numbers of ids and of misses.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn copy_known(
        &mut self,
        words: &[Word],
        buffer: &mut Buffer,
        misses: &mut [Miss; MOST_WORDS],
    ) -> (usize, usize) {
        let (mut at, mut num_misses, bits) = (0, 0, self.bits);
        for (index, word) in words.iter().enumerate() {
            let packed = self.entry(word);
            if let Some(end) = packed.and_then(|packed| packed.write(buffer, at, bits)) {
                at = end;
            } else {
                misses[num_misses] = Miss {
                    index: index as u16,
                    at: at as u16,
                };
                num_misses += 1;
            }
        }
        (at, num_misses)
    }

    /// Whether this is a short word without an entry.
    pub(super) fn is_new(&mut self, word: &Word) -> bool {
        word.is_short() && self.entry(word).is_none()
    }

    /// The entry of a short word.
    #[inline]
    fn entry(&mut self, word: &Word) -> Option<&Packed> {
        // Asked twice: what the first answer borrows could not be changed by the search for others.
        if self.short.first(word.key, word.line).is_some() {
            return self.short.first(word.key, word.line);
        }
        word.is_short()
            .then(|| self.short.find_further(word.key, word.line))?
    }

    /// Find the line of a word again, as the cache may have grown.
    fn locate(&self, word: &mut Word) {
        if word.is_short() {
            word.line = self.short.line(word.key);
        }
    }

    /// Append the ids of a word, if they are known.
    pub(super) fn find(&mut self, text: &[u8], word: &mut Word, ids: &mut Vec<Id>) -> bool {
        if word.is_short() {
            self.locate(word);
            let mut buffer = [0; MOST_PACKED];
            match self.entry(word) {
                None => return false,
                Some(packed) => {
                    if let Some(end) = packed.write(&mut buffer, 0, self.bits) {
                        ids.extend_from_slice(&buffer[..end]);
                        return true;
                    }
                }
            }
        }
        let known = self.longer.find(&text[word.place()], long_hash(text, word));
        ids.extend_from_slice(known.unwrap_or_default());
        known.is_some()
    }

    /// Remember the ids of a short word that had no entry when it was looked up.
    pub(super) fn insert_new(&mut self, text: &[u8], word: &mut Word, ids: &[Id]) {
        // The same word may have come since, or words that made the cache grow.
        self.locate(word);
        if self.is_new(word) {
            self.insert(text, word, ids);
        }
    }

    /// Remember the ids of a word.
    pub(super) fn insert(&mut self, text: &[u8], word: &Word, ids: &[Id]) {
        if word.is_short() {
            let packed = Packed::new(ids, self.bits);
            // If it has an entry already, that says the same.
            if packed.is_some() || self.entry(word).is_none() {
                self.short
                    .insert(word.key, packed.unwrap_or(Packed::ELSEWHERE));
            }
            if packed.is_some() {
                return;
            }
        }
        let hash = long_hash(text, word);
        self.longer.insert(&text[word.place()], hash, ids);
    }
}

/// The hash of a word among the longer ones, where short ones are only if their ids are many.
fn long_hash(text: &[u8], word: &Word) -> u32 {
    if word.is_short() {
        longer_words::hash_of(&text[word.place()])
    } else {
        (word.key >> HASH_AT) as u32
    }
}
