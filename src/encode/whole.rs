//! Short words that are one token, found without merging.

use crate::keys::{SHORT, hash, short_key};
use crate::merges::Id;
use crate::prefetch::prefetch;
use crate::vocabulary::Vocabulary;

/// A slot holds the index of a key in the low bits, and above them some bits of its hash, so that few
/// other keys are compared.
const PLACE_BITS: u32 = 21;
const PLACE: u32 = (1 << PLACE_BITS) - 1;
const EMPTY: u32 = u32::MAX;

/// Finds the ids of words that are one token.
#[derive(Debug, Default)]
pub(super) struct WholeWords {
    slots: Vec<u32>,
    keys: Vec<u128>,
    ids: Vec<Id>,
}

impl WholeWords {
    /// The tokens of a vocabulary that has no mark at the end of words.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let merges = vocabulary.merges();
        let mut words = Self {
            slots: vec![EMPTY; (merges.len() * 2 + 1).next_power_of_two()],
            ..Self::default()
        };
        // The string of a product becomes that product.
        for merge in merges {
            let string = vocabulary.string(merge.product);
            if string.len() <= SHORT
                && words.keys.len() < PLACE as usize
                && let Some(id) = vocabulary.id(merge.product)
            {
                words.add(short_key(string, 0, string.len()), id);
            }
        }
        words
    }

    fn add(&mut self, key: u128, id: Id) {
        let (mut slot, tag) = self.slot(key);
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = tag | self.keys.len() as u32;
        self.keys.push(key);
        self.ids.push(id);
    }

    /// The slot where the search for a key begins, and the high bits that its slot has.
    #[inline]
    fn slot(&self, key: u128) -> (usize, u32) {
        let hash = hash(key);
        let slot = (hash >> 32) as usize & (self.slots.len() - 1);
        (slot, hash as u32 & !PLACE)
    }

    /// Begin to load the slot of a key that is looked up soon.
    #[inline]
    pub(super) fn expect(&self, key: u128) {
        prefetch(&self.slots[self.slot(key).0]);
    }

    /// The id of the word with this key, if it is one token.
    #[inline]
    pub(super) fn id(&self, key: u128) -> Option<Id> {
        let (mut slot, tag) = self.slot(key);
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return None;
            }
            let place = (found & PLACE) as usize;
            if found & !PLACE == tag && self.keys[place] == key {
                return Some(self.ids[place]);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}
