//! Words that are one token, found without merging.

use crate::keys::{SHORT, hash, hash_word, short_key};
use crate::merges::Id;
use crate::prefetch::prefetch;
use crate::vocabulary::{Number, Vocabulary};

/// Finds the ids of words that are one token.
#[derive(Debug)]
pub(super) struct WholeWords {
    /// The keys of short tokens, and their ids.
    entries: Vec<Entry>,
    /// The places of entries.
    short: Slots,
    /// The numbers of the tokens that are longer.
    long: Slots,
}

/// In one line of cache.
#[derive(Debug)]
#[repr(align(32))]
struct Entry {
    key: u128,
    id: Id,
}

impl WholeWords {
    /// The tokens that the merges of a vocabulary without marks make; with `others`, those that none
    /// makes, too. They are fewer than 2^21.
    pub(super) fn new(vocabulary: &Vocabulary, others: bool) -> Self {
        // The string of a product becomes that product.
        let products = vocabulary.merges().iter().map(|merge| merge.product);
        let others = others.then(|| vocabulary.unreachable());
        let numbers = products.chain(others.into_iter().flatten());
        let (short, long): (Vec<Number>, Vec<Number>) = numbers
            .filter(|&number| vocabulary.id(number).is_some())
            .partition(|&number| vocabulary.string(number).len() <= SHORT);
        let entry = |&number: &Number| {
            let string = vocabulary.string(number);
            let key = short_key(string, 0, string.len());
            vocabulary.id(number).map(|id| Entry { key, id })
        };
        let entries: Vec<Entry> = short.iter().filter_map(entry).collect();
        let places = entries.iter().enumerate();
        let hash_of = |number: Number| hash_word(vocabulary.string(number));
        Self {
            short: Slots::new(places.map(|(place, entry)| (hash(entry.key), place as u32))),
            long: Slots::new(long.iter().map(|&n| (hash_of(n), n.index() as u32))),
            entries,
        }
    }

    /// Begin to load the slot of a short word that is looked up soon.
    #[inline]
    pub(super) fn expect(&self, hash: u64) {
        prefetch(&self.short.0[self.short.place(hash)]);
    }

    /// Begin to load the entry of a short word, whose slot is loaded.
    #[inline]
    pub(super) fn expect_entry(&self, hash: u64) {
        let slot = self.short.0[self.short.place(hash)];
        if let Some(entry) = self.entries.get((slot & Slots::NUMBER) as usize) {
            prefetch(entry);
        }
    }

    /// The id of a short word, if it is one token.
    #[inline]
    pub(super) fn id(&self, key: u128, hash: u64) -> Option<Id> {
        let is_word = |place: usize| self.entries[place].key == key;
        Some(self.entries[self.short.find(hash, is_word)?].id)
    }

    /// The id of a longer word, if it is one token of the vocabulary.
    pub(super) fn id_of_longer(
        &self,
        vocabulary: &Vocabulary,
        word: &[u8],
        hash: u64,
    ) -> Option<Id> {
        let is_word = |number| vocabulary.string(Number::new(number)) == word;
        vocabulary.id(Number::new(self.long.find(hash, is_word)?))
    }
}

/// Numbers of things that are found by hashes: in the low bits of a slot, and above them some bits of
/// the hash, so that few other things are compared.
#[derive(Debug)]
struct Slots(Vec<u32>);

impl Slots {
    const BITS: u32 = 21;
    const NUMBER: u32 = (1 << Self::BITS) - 1;
    const EMPTY: u32 = u32::MAX;

    /// The slots of hashes and numbers.
    fn new(things: impl ExactSizeIterator<Item = (u64, u32)>) -> Self {
        let num_slots = (things.len() * 2 + 1).next_power_of_two();
        let mut slots = Self(vec![Self::EMPTY; num_slots]);
        for (hash, number) in things {
            let mut place = slots.place(hash);
            while slots.0[place] != Self::EMPTY {
                place = slots.next(place);
            }
            slots.0[place] = hash as u32 & !Self::NUMBER | number;
        }
        slots
    }

    /// Where the search for a hash begins.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.0.len() - 1)
    }

    #[inline]
    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.0.len() - 1)
    }

    /// The number with this hash for which `is_it` is true.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut place = self.place(hash);
        loop {
            let slot = self.0[place];
            if slot == Self::EMPTY {
                return None;
            }
            let number = (slot & Self::NUMBER) as usize;
            if (slot ^ hash as u32) & !Self::NUMBER == 0 && is_it(number) {
                return Some(number);
            }
            place = self.next(place);
        }
    }
}
