//! Words that have been seen before, with their ids.
//!
//! Most words of a text have been seen before. A word of up to 15 bytes is looked up by one load of
//! a line of cache: two entries of a key (the bytes, padded, and the length) and a few ids. If that
//! line is full, the word may be in one of seven others ([`ShortLines`]). All other words, and the
//! ids of a short word that do not fit its entry, are in [`LongerWords`]. A new word replaces an
//! older one once the cache has its full size, so memory is bounded.

mod longer_words;
mod shared_words;
mod short_lines;

use std::ops::Range;
use std::sync::Arc;

use crate::encode::ends::MOST_WORDS;
use crate::keys::{SHORT, hash, hash_word, short_key, with_length};
use crate::merges::Id;
use longer_words::{LONG_IDS, LongerWords};
pub(super) use shared_words::SharedWords;
use short_lines::{MOST_PACKED, Packed, ShortLines};

/// Caches that share memory take as much as so many of the full size, 130 and 50 MB.
const FULL_SHORT: usize = 8;
const FULL_LONGER: usize = 2;

/// A cache that has so many words is shared with others. The first words most threads find by themselves as
/// soon, and for little text the memory takes longer than to find a word again.
const LEAST_SHARED: usize = 1 << 13;

/// Stands in place of the length in the key of a word that is not short.
const NOT_SHORT: usize = u8::MAX as usize;

/// A word to be looked up. The key of a short one holds its bytes and its length; that of another
/// one, where it ends.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    pub(super) key: u128,
    start: usize,
    pub(super) hash: u64,
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
    /// Whether it is a short word without an entry.
    pub(super) is_new: bool,
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

/// How many ids of a batch were copied, and how many words missed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Copied {
    pub(super) num_ids: usize,
    pub(super) num_misses: usize,
}

/// Room for the ids of a batch of words that are in lines.
pub(super) type Buffer = [Id; MOST_WORDS * MOST_IN_LINE];
/// The most ids of a word that is in a line, short or longer.
const MOST_IN_LINE: usize = if MOST_PACKED > LONG_IDS {
    MOST_PACKED
} else {
    LONG_IDS
};

/// A buffer that never was on the stack.
pub(super) fn no_ids() -> Box<Buffer> {
    let ids = vec![0; MOST_WORDS * MOST_IN_LINE].into_boxed_slice();
    ids.try_into().expect("as many")
}

/// Words with their ids.
#[derive(Debug)]
pub(super) struct Cache {
    short: ShortLines,
    longer: LongerWords,
    /// How many bits an id has.
    bits: u32,
    /// What other threads have found.
    shared: Option<Arc<SharedWords>>,
}

impl Cache {
    /// For ids of at most `bits` bits.
    pub(super) fn new(bits: u32) -> Self {
        Self {
            short: ShortLines::new(),
            longer: LongerWords::new(),
            bits,
            shared: None,
        }
    }

    /// Grow no further than leaves room for `num_caches` like this one, and share words with others once there
    /// are many.
    pub(super) fn share(&mut self, num_caches: usize, words: Option<Arc<SharedWords>>) {
        let num_words = self.short.len() + self.longer.len();
        self.shared = words.filter(|_| num_words >= LEAST_SHARED);
        self.short.keep_to(num_caches.div_ceil(FULL_SHORT));
        self.longer.keep_to(num_caches.div_ceil(FULL_LONGER));
    }

    /// Begin to look up the word `text[start..end]`.
    // Always inlined, or it goes through memory.
    #[inline(always)]
    pub(super) fn begin(&self, text: &[u8], start: usize, end: usize) -> Word {
        if end - start > SHORT {
            self.begin_longer(text, start, end)
        } else {
            self.begin_short(text, start, end)
        }
    }

    #[inline(always)]
    fn begin_short(&self, text: &[u8], start: usize, end: usize) -> Word {
        let key = short_key(text, start, end);
        let hash = hash(key);
        self.short.prefetch(hash);
        Word { key, start, hash }
    }

    #[cold]
    #[inline(never)]
    fn begin_longer(&self, text: &[u8], start: usize, end: usize) -> Word {
        let key = with_length(NOT_SHORT) | end as u128;
        let hash = hash_word(&text[start..end]);
        self.longer.prefetch_group(hash);
        Word { key, start, hash }
    }

    /// Begin to look up the words between `start` and the first end, the first and the second, and
    /// so on; returns where the last one ends. `longer` is room for numbers.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn begin_all(
        &self,
        text: &[u8],
        mut start: usize,
        ends: &[usize],
        words: &mut [Word],
        longer: &mut [u16; MOST_WORDS],
    ) -> usize {
        let mut num_longer = 0;
        for (index, (word, &end)) in words.iter_mut().zip(ends).enumerate() {
            *word = if end - start > SHORT {
                longer[num_longer] = index as u16;
                num_longer += 1;
                self.begin_longer(text, start, end)
            } else {
                self.begin_short(text, start, end)
            };
            start = end;
        }
        for &index in &longer[..num_longer] {
            self.longer.prefetch_line(words[usize::from(index)].hash);
        }
        start
    }

    /// Write the ids of the words with these numbers that are in lines, and the others as misses, behind
    /// what is `copied`.
    // Not inlined, so that the loop has all registers.
    #[inline(never)]
    pub(super) fn copy_known(
        &mut self,
        text: &[u8],
        words: &[Word],
        numbers: Range<usize>,
        buffer: &mut Buffer,
        misses: &mut [Miss; MOST_WORDS],
        copied: &mut Copied,
    ) {
        let Copied {
            num_ids: mut at,
            mut num_misses,
        } = *copied;
        let bits = self.bits;
        let first = numbers.start;
        for (index, word) in words[numbers].iter().enumerate() {
            let packed = self.entry(word);
            if let Some(end) = packed.and_then(|packed| packed.write(buffer, at, bits)) {
                at = end;
                continue;
            }
            let is_new = packed.is_none() && word.is_short();
            if !is_new && let Some(end) = self.copy_longer(text, word, buffer, at) {
                at = end;
                continue;
            }
            misses[num_misses] = Miss {
                index: (first + index) as u16,
                at: at as u16,
                is_new,
            };
            num_misses += 1;
        }
        *copied = Copied {
            num_ids: at,
            num_misses,
        };
    }

    /// Write the ids of a word that is not short, or whose ids do not fit an entry, if it is in a line;
    /// returns where they end.
    #[cold]
    #[inline(never)]
    fn copy_longer(
        &self,
        text: &[u8],
        word: &Word,
        buffer: &mut Buffer,
        at: usize,
    ) -> Option<usize> {
        let place = word.place();
        let ids = self.longer.find_line(text, place, word.hash)?;
        buffer[at..at + LONG_IDS].copy_from_slice(&ids.all);
        Some(at + ids.len())
    }

    /// The entry of a short word.
    #[inline]
    fn entry(&mut self, word: &Word) -> Option<&Packed> {
        // Asked twice: what the first answer borrows could not be changed by the search for others.
        if self.short.first(word.key, word.hash).is_some() {
            return self.short.first(word.key, word.hash);
        }
        word.is_short()
            .then(|| self.short.find_further(word.key, word.hash))?
    }

    /// Put the short words without an entry into `misses`; returns their number.
    pub(super) fn find_new(&mut self, words: &[Word], misses: &mut [Miss; MOST_WORDS]) -> usize {
        let mut num_misses = 0;
        for (index, word) in words.iter().enumerate() {
            if word.is_short() && self.entry(word).is_none() {
                misses[num_misses] = Miss {
                    index: index as u16,
                    at: 0,
                    is_new: true,
                };
                num_misses += 1;
            }
        }
        num_misses
    }

    /// Take over the new short words that another thread has found: they are not new any more.
    pub(super) fn take_over(&mut self, words: &[Word], misses: &mut [Miss]) {
        let Self { short, shared, .. } = self;
        let Some(shared) = shared else {
            return;
        };
        for miss in misses.iter().filter(|miss| miss.is_new) {
            shared.short.prefetch(words[miss.index()].hash);
        }
        for miss in misses.iter_mut().filter(|miss| miss.is_new) {
            let word = &words[miss.index()];
            if let Some(found) = shared.short.find(&halves(word.key), word.hash) {
                short.insert(word.key, word.hash, Packed::from_shared(found));
                miss.is_new = false;
            }
        }
    }

    /// Append the ids of a word, if they are known.
    pub(super) fn find(&mut self, text: &[u8], word: &Word, ids: &mut Vec<Id>) -> bool {
        if word.is_short() {
            let mut buffer = [0; MOST_PACKED];
            match self.entry(word) {
                None => return false,
                Some(packed) => {
                    if let Some(end) = packed.write(&mut buffer, 0, self.bits) {
                        // So many as the compiler knows are copied without a call.
                        let len = ids.len();
                        ids.extend_from_slice(&buffer);
                        ids.truncate(len + end);
                        return true;
                    }
                }
            }
        }
        let shared = self.shared.as_deref().map(|shared| &shared.longer);
        let known = self
            .longer
            .find_or_take(text, word.place(), word.hash, shared);
        ids.extend_from_slice(known.unwrap_or_default());
        known.is_some()
    }

    /// Remember the ids of a word, unless they are known.
    pub(super) fn insert(&mut self, text: &[u8], word: &Word, ids: &[Id]) {
        if word.is_short() {
            let packed = Packed::new(ids, self.bits);
            let entry = packed.unwrap_or(Packed::ELSEWHERE);
            self.short.insert(word.key, word.hash, entry);
            if let Some(packed) = packed {
                if let Some(shared) = &self.shared {
                    let (key, ids) = (halves(word.key), packed.to_shared());
                    shared.short.insert(&key, word.hash, &ids);
                }
                return;
            }
        }
        let shared = self.shared.as_deref().map(|shared| &shared.longer);
        self.longer
            .insert(text, word.place(), word.hash, ids, shared);
    }
}

/// The key of a short word as two numbers, of which the second has the length.
fn halves(key: u128) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_takes_over_what_another_has_found() {
        let shared = Arc::new(SharedWords::default());
        let caches = [Some(Arc::clone(&shared)), Some(shared), None].map(|words| {
            let mut cache = Cache::new(20);
            cache.share(3, words.clone());
            assert!(cache.shared.is_none(), "it has no words yet");
            for number in 0..LEAST_SHARED {
                let text = (number as u64).to_le_bytes();
                let word = cache.begin(&text, 0, text.len());
                cache.insert(&text, &word, &[1]);
            }
            cache.share(3, words);
            cache
        });
        let [mut first, mut second, mut alone] = caches;
        let text: Vec<u8> = (1..=200).collect();
        // Short words whose ids fit an entry, and longer ones whose ids fit a line, are shared.
        let kinds = [
            (1, 1),
            (9, 4),
            (15, 2),
            (15, 9),
            (16, 1),
            (63, 15),
            (63, 16),
            (64, 2),
        ];
        for (place, (num_bytes, num_ids)) in kinds.into_iter().enumerate() {
            let word = first.begin(&text, place, place + num_bytes);
            let ids: Vec<Id> = (0..num_ids).map(|id| (1 << 20) - 1 - id).collect();
            first.insert(&text, &word, &ids);
            let is_shared = matches!((num_bytes, num_ids), (..=15, ..=4) | (16..=63, ..=15));
            for (cache, knows) in [(&mut second, is_shared), (&mut alone, false)] {
                let mut misses = [Miss::default(); MOST_WORDS];
                let num_new = cache.find_new(&[word], &mut misses);
                assert_eq!(num_new, usize::from(num_bytes <= 15));
                cache.take_over(&[word], &mut misses[..num_new]);
                let is_new = misses[..num_new].iter().any(|miss| miss.is_new);
                assert_eq!(is_new, num_new > 0 && !knows, "{num_bytes} {num_ids}");
                let mut found = Vec::new();
                assert_eq!(cache.find(&text, &word, &mut found), knows);
                assert_eq!(found, if knows { &ids[..] } else { &[] });
            }
        }
    }
}
