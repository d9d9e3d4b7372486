//! A hash table from words to counts, for the words of a text.
//!
//! A key has 16 bytes. Words of up to 15 bytes, nearly all of them, have keys of [`crate::keys`]. The
//! key of a longer word is its hash and its number among the long ones, which lie in one arena. The
//! entries are in the order of first occurrence, so that the frequent ones are close together; the
//! slots hold the number of an entry. 32 to 40 bytes for each word, plus the bytes of long words.
//!
//! One word after the other, most of the time would be spent waiting for memory. So words are
//! gathered in a batch, and each step of the look-up is done for the whole batch before the next:
//! the loads of one step do not depend on each other, and the processor runs them in parallel.
//!
//! The caller keeps the sum of all counts below 2^64.

mod sum;

use crate::error::{Error, Result};
use crate::keys::{KEY, SHORT, hash, hash_word, short_key, with_length};

/// In place of the length in the key of a longer word.
const LONG: u8 = u8::MAX;
const EMPTY: u32 = u32::MAX;
/// Words are numbered with 32 bits, and one of these numbers stands for no word.
const MOST_WORDS: usize = EMPTY as usize;
/// How many words are looked up together.
const BATCH: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: [u8; KEY],
    count: u64,
}

/// Words and their counts.
///
/// Aligned, so that those of several threads share no line of cache.
#[derive(Debug, Clone)]
#[repr(align(128))]
pub(crate) struct Table {
    /// Numbers of entries, or `EMPTY`; a power of two of them, at most half full. None at all before
    /// words are looked up.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    /// The bytes of the long words, one after the other, and where each of them ends.
    arena: Vec<u8>,
    ends: Vec<usize>,
    most_words: usize,
    /// Whether a word was left out because there were `most_words` already.
    is_overfull: bool,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            entries: Vec::new(),
            arena: Vec::new(),
            ends: Vec::new(),
            most_words: MOST_WORDS,
            is_overfull: false,
        }
    }
}

/// How many slots so many words need at least.
fn num_slots_for(num_words: usize) -> usize {
    (num_words * 2).next_power_of_two().max(1 << 12)
}

/// Adds words to a table, a batch at a time; `finish` adds the last ones.
///
/// Aligned, so that those of several threads share no line of cache.
#[repr(align(128))]
pub(crate) struct Adder<'t> {
    table: &'t mut Table,
    keys: [u128; BATCH],
    hashes: [u64; BATCH],
    /// How often each occurs: once, unless all words come through `add_times`.
    counts: [u64; BATCH],
    len: usize,
}

impl<'t> Adder<'t> {
    pub(crate) fn new(table: &'t mut Table) -> Self {
        table.make_slots();
        Self {
            table,
            keys: [0; BATCH],
            hashes: [0; BATCH],
            counts: [1; BATCH],
            len: 0,
        }
    }

    /// Add one occurrence of the word `text[start..end]`.
    #[inline]
    pub(crate) fn add(&mut self, text: &[u8], start: usize, end: usize) {
        if end - start > SHORT {
            self.table.add_long(&text[start..end], 1);
            return;
        }
        self.push(short_key(text, start, end));
    }

    /// Add `count` occurrences of a word.
    pub(crate) fn add_times(&mut self, word: &[u8], count: u64) {
        if word.len() > SHORT {
            self.table.add_long(word, count);
        } else {
            self.counts[self.len] = count;
            self.push(short_key(word, 0, word.len()));
        }
    }

    /// Add the word of an entry of another table.
    #[inline]
    fn add_entry(&mut self, other: &Table, entry: &Entry) {
        if entry.is_long() {
            self.table
                .add_hashed(other.word(entry), entry.hash(), entry.count);
        } else {
            self.counts[self.len] = entry.count;
            self.push(entry.key());
        }
    }

    #[inline]
    fn push(&mut self, key: u128) {
        self.keys[self.len] = key;
        self.hashes[self.len] = hash(key);
        self.len += 1;
        if self.len == BATCH {
            self.flush();
        }
    }

    pub(crate) fn finish(mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        let table = &mut *self.table;
        let mask = table.slots.len() - 1;
        let mut numbers = [EMPTY; BATCH];
        for (number, hash) in numbers.iter_mut().zip(self.hashes) {
            *number = table.slots[hash as usize & mask];
        }
        let mut is_found = [false; BATCH];
        for (i, is_found) in is_found.iter_mut().enumerate() {
            if let Some(entry) = table.entries.get(numbers[i] as usize) {
                *is_found = entry.key() == self.keys[i];
            }
        }
        for i in 0..self.len {
            if is_found[i] {
                table.entries[numbers[i] as usize].count += self.counts[i];
            } else {
                table.add_short(self.keys[i], self.hashes[i], self.counts[i]);
            }
        }
        self.len = 0;
    }
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// An error if there were more words than can be numbered.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_overfull {
            return Err(Error::TooManyWords);
        }
        Ok(())
    }

    /// Add `count` occurrences of `word`; see [`Table::check`].
    pub(crate) fn add(&mut self, word: &[u8], count: u64) {
        self.make_slots();
        if word.len() > SHORT {
            self.add_long(word, count);
        } else {
            let key = short_key(word, 0, word.len());
            self.add_short(key, hash(key), count);
        }
    }

    /// Add all words of another table.
    pub(crate) fn add_table(&mut self, other: &Self) {
        self.is_overfull |= other.is_overfull;
        let mut adder = Adder::new(self);
        for entry in &other.entries {
            adder.add_entry(other, entry);
        }
        adder.finish();
    }

    fn add_short(&mut self, key: u128, hash: u64, count: u64) {
        let mut slot = self.first_slot(hash);
        while let Some(entry) = self.entries.get_mut(self.slots[slot] as usize) {
            if entry.key() == key {
                entry.count += count;
                return;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.insert(slot, key, count);
    }

    #[cold]
    fn add_long(&mut self, word: &[u8], count: u64) {
        self.add_hashed(word, hash_word(word), count);
    }

    /// Add a long word that has this hash.
    fn add_hashed(&mut self, word: &[u8], hash: u64, count: u64) {
        let mut slot = self.first_slot(hash);
        while let Some(entry) = self.entries.get(self.slots[slot] as usize) {
            if entry.is_long() && entry.hash() == hash && self.word(entry) == word {
                self.entries[self.slots[slot] as usize].count += count;
                return;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let number = self.ends.len() as u128;
        let key = u128::from(hash) | number << 64 | with_length(LONG.into());
        if self.insert(slot, key, count) {
            self.arena.extend_from_slice(word);
            self.ends.push(self.arena.len());
        }
    }

    /// Whether there was room for it.
    fn insert(&mut self, slot: usize, key: u128, count: u64) -> bool {
        if self.entries.len() >= self.most_words {
            self.is_overfull = true;
            return false;
        }
        self.slots[slot] = self.entries.len() as u32;
        let key = key.to_le_bytes();
        self.entries.push(Entry { key, count });
        if self.entries.len() * 2 > self.slots.len() {
            self.fill_slots(self.slots.len() * 2);
        }
        true
    }

    fn first_slot(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Make slots for the entries, unless there are any.
    fn make_slots(&mut self) {
        if self.slots.is_empty() {
            self.fill_slots(num_slots_for(self.len()));
        }
    }

    /// Make so many slots.
    fn fill_slots(&mut self, num_slots: usize) {
        let mask = num_slots - 1;
        self.slots = vec![EMPTY; num_slots];
        for (number, entry) in (0..).zip(&self.entries) {
            let mut slot = entry.hash() as usize & mask;
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number;
        }
    }

    fn word<'t>(&'t self, entry: &'t Entry) -> &'t [u8] {
        if !entry.is_long() {
            return &entry.key[..entry.key[SHORT].into()];
        }
        let number = (entry.key() >> 64) as usize & 0xFF_FFFF_FFFF_FFFF;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.arena[start..self.ends[number]]
    }

    /// How many bytes of memory this takes.
    pub(crate) fn memory(&self) -> usize {
        self.slots.len() * size_of::<u32>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.arena.capacity()
            + self.ends.capacity() * size_of::<usize>()
    }

    /// The words with their counts, in the order of first occurrence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.iter_from(0)
    }

    /// The same without the first `first` words.
    pub(crate) fn iter_from(&self, first: usize) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries
            .get(first..)
            .unwrap_or_default()
            .iter()
            .map(|entry| (self.word(entry), entry.count))
    }

    /// The words with their counts, the most frequent first.
    pub(crate) fn by_count(&self) -> impl Iterator<Item = (&[u8], u64)> {
        // Most words are rare: they are counted into buckets, and only the others are sorted.
        const RARE: u64 = 1 << 10;
        let mut buckets = vec![0_usize; RARE as usize];
        let mut order: Vec<u32> = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.count < RARE {
                buckets[entry.count as usize] += 1;
            } else {
                order.push(number as u32);
            }
        }
        order.sort_unstable_by_key(|&n| std::cmp::Reverse(self.entries[n as usize].count));
        let mut next = order.len();
        for bucket in buckets.iter_mut().rev() {
            next += std::mem::replace(bucket, next);
        }
        order.resize(self.len(), 0);
        for (number, entry) in self.entries.iter().enumerate() {
            if entry.count < RARE {
                let place = &mut buckets[entry.count as usize];
                order[*place] = number as u32;
                *place += 1;
            }
        }
        order.into_iter().map(|number| {
            let entry = &self.entries[number as usize];
            (self.word(entry), entry.count)
        })
    }
}

impl Entry {
    fn key(&self) -> u128 {
        u128::from_le_bytes(self.key)
    }

    fn is_long(&self) -> bool {
        self.key[SHORT] == LONG
    }

    fn hash(&self) -> u64 {
        if self.is_long() {
            self.key() as u64
        } else {
            hash(self.key())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beyond_the_last_number_are_told() {
        let long = "a word that is longer than a key";
        for last in ["c", long] {
            let mut table = Table {
                most_words: 2,
                ..Table::default()
            };
            for word in ["a", long, "a", "a"] {
                table.add(word.as_bytes(), 1);
            }
            let mut sum = Table::default();
            sum.add_table(&table);
            assert_eq!((table.check(), sum.check()), (Ok(()), Ok(())));
            table.add(&[last.as_bytes(), b"!"].concat(), 1);
            sum.add_table(&table);
            let told = Err(Error::TooManyWords);
            assert_eq!((table.check(), sum.check()), (told.clone(), told));
            let words: Vec<_> = table.iter().collect();
            assert_eq!(words, [(&b"a"[..], 3), (long.as_bytes(), 1)]);
        }
    }
}
