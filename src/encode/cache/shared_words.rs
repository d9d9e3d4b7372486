//! Words that one thread has found, for the others: each has a cache of its own, and would find every
//! word again.
//!
//! An entry is written once, by the thread that has claimed it, and read when its last number is there.
//! Where there is no room a word is not shared, so memory is bounded.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pages::prefer_large_pages;
use crate::prefetch::prefetch;

/// Memory is taken in parts, as words come: by the thread that needs one first.
const PART_BYTES: usize = if cfg!(miri) { 1 << 16 } else { 1 << 22 };
/// How many parts there are for short words, 32 MB, and for longer ones, 16 MB.
const SHORT_PARTS: usize = 8;
const LONGER_PARTS: usize = 4;

/// Words that threads share, with their ids.
#[derive(Debug, Default)]
pub(crate) struct SharedWords {
    pub(super) short: Table<2, 2, 4, SHORT_PARTS>,
    pub(super) longer: SharedLonger,
}

/// Longer words, by the keys and with the ids of their lines.
pub(super) type SharedLonger = Table<8, 8, 2, LONGER_PARTS>;

/// A word and its ids, in so many numbers.
#[derive(Debug)]
struct Entry<const K: usize, const V: usize> {
    /// The last of them is never 0, and claims the entry.
    key: [AtomicU64; K],
    /// The last of them is never 0 either, and is written last.
    ids: [AtomicU64; V],
}

/// The entries of words with equal parts of their hashes.
#[derive(Debug)]
#[repr(align(128))]
struct Place<const K: usize, const V: usize, const E: usize>([Entry<K, V>; E]);

/// Keys of `K` numbers with ids in `V`, of which `E` have the same place, in `P` parts.
#[derive(Debug)]
pub(super) struct Table<const K: usize, const V: usize, const E: usize, const P: usize> {
    parts: [OnceLock<Vec<Place<K, V, E>>>; P],
}

impl<const K: usize, const V: usize, const E: usize, const P: usize> Default for Table<K, V, E, P> {
    fn default() -> Self {
        Self {
            parts: [const { OnceLock::new() }; P],
        }
    }
}

impl<const K: usize, const V: usize, const E: usize, const P: usize> Table<K, V, E, P> {
    const NUM_PLACES: usize = PART_BYTES / size_of::<Place<K, V, E>>();

    /// The part of a hash, by other bits than its place in there.
    fn part(&self, hash: u64) -> &OnceLock<Vec<Place<K, V, E>>> {
        &self.parts[(hash >> 48) as usize % P]
    }

    fn place(&self, hash: u64) -> Option<&Place<K, V, E>> {
        Some(&self.part(hash).get()?[hash as usize % Self::NUM_PLACES])
    }

    /// Begin to load the place of a hash that is looked up soon.
    pub(super) fn prefetch(&self, hash: u64) {
        for entry in self
            .place(hash)
            .iter()
            .flat_map(|place| place.0.iter())
            .step_by(2)
        {
            prefetch(entry);
        }
    }

    /// The ids of the word with this key.
    pub(super) fn find(&self, key: &[u64; K], hash: u64) -> Option<[u64; V]> {
        self.place(hash)?.0.iter().find_map(|entry| {
            let last = entry.ids[V - 1].load(Ordering::Acquire);
            let mut parts = entry.key.iter().zip(key);
            let is_it = last != 0 && parts.all(|(part, own)| part.load(Ordering::Relaxed) == *own);
            let ids = || entry.ids.each_ref().map(|id| id.load(Ordering::Relaxed));
            is_it.then(ids)
        })
    }

    /// Share a word, if there is room.
    pub(super) fn insert(&self, key: &[u64; K], hash: u64, ids: &[u64; V]) {
        if key[K - 1] == 0 || ids[V - 1] == 0 {
            return;
        }
        let part = self.part(hash).get_or_init(|| {
            let mut places = Vec::with_capacity(Self::NUM_PLACES);
            prefer_large_pages(&mut places);
            places.resize_with(Self::NUM_PLACES, Place::empty);
            places
        });
        for entry in &part[hash as usize % Self::NUM_PLACES].0 {
            let claim = &entry.key[K - 1];
            let is_free = claim.load(Ordering::Relaxed) == 0;
            let (old, new) = (Ordering::Relaxed, Ordering::Relaxed);
            if is_free && claim.compare_exchange(0, key[K - 1], new, old).is_ok() {
                for (place, part) in entry.key.iter().zip(key) {
                    place.store(*part, Ordering::Relaxed);
                }
                for (place, part) in entry.ids.iter().zip(ids) {
                    place.store(*part, Ordering::Release);
                }
                return;
            }
            // If its key is not written yet, the word may get another entry, which does no harm.
            let mut parts = entry.key.iter().zip(key);
            if parts.all(|(part, own)| part.load(Ordering::Relaxed) == *own) {
                return;
            }
        }
    }
}

impl<const K: usize, const V: usize, const E: usize> Place<K, V, E> {
    fn empty() -> Self {
        Self(std::array::from_fn(|_| Entry {
            key: [const { AtomicU64::new(0) }; K],
            ids: [const { AtomicU64::new(0) }; V],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_each;

    type Small = Table<2, 2, 4, 2>;

    /// Some differ in their first number alone, some in the second.
    fn entry(number: u64) -> ([u64; 2], u64, [u64; 2]) {
        let key = [number / 2, 1 + number % 2];
        let hash = (1 + number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (key, hash, [number, !number])
    }

    #[test]
    fn threads_find_what_others_have_found() {
        let num_words = if cfg!(miri) { 50 } else { 5000 };
        let shared = Small::default();
        let look = |num_found: &mut u64| {
            for number in 0..num_words {
                let (key, hash, ids) = entry(number);
                shared.prefetch(hash);
                match shared.find(&key, hash) {
                    Some(found) => {
                        assert_eq!(found, ids);
                        *num_found += 1;
                    }
                    None => shared.insert(&key, hash, &ids),
                }
            }
            Ok(())
        };
        assert_eq!(with_each(&mut [0; 4], look), Ok(()));
        let mut num_found = 0;
        assert_eq!(look(&mut num_found), Ok(()));
        assert_eq!(num_found, num_words, "there is room for all");
    }

    #[test]
    fn where_there_is_no_room_a_word_is_not_shared() {
        let shared = Small::default();
        for number in 0..8 {
            let (key, _, ids) = entry(number);
            for _ in 0..2 {
                shared.insert(&key, 7, &ids);
                assert_eq!(shared.find(&key, 7), (number < 4).then_some(ids));
            }
        }
    }
}
