//! Distinct strings, numbered from 0 in the order in which they were added, and found by content.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::vocabulary::Number;

/// All strings lie in one buffer. A slot of the hash table has a number in its low half and bits of
/// the string's hash in its high half, so that most strings that are not here are seen to be others
/// without a look at their bytes.
#[derive(Debug)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<u64>,
}

const EMPTY: u64 = u64::MAX;

impl Strings {
    pub(super) fn with_capacity(num_strings: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(num_strings * 8),
            ends: Vec::with_capacity(num_strings),
            slots: vec![EMPTY; (num_strings * 2).next_power_of_two().max(16)],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a number.
    ///
    /// # Panics
    /// If there is no such number.
    pub(super) fn get(&self, number: Number) -> &[u8] {
        let number = number.index();
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    pub(super) fn find(&self, string: &[u8]) -> Option<Number> {
        self.slot_of(string).ok()
    }

    /// The number of the string, or else the empty slot for it and what to put there beside its
    /// number.
    fn slot_of(&self, string: &[u8]) -> std::result::Result<Number, (usize, u64)> {
        let hash = FxBuildHasher.hash_one(string);
        let tag = hash & !u64::from(u32::MAX);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return Err((slot, tag));
            }
            let number = Number::new(found as u32 as usize);
            if (found ^ tag) >> 32 == 0 && self.get(number) == string {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The number of the string, which is added if it is new.
    pub(super) fn add(&mut self, string: &[u8]) -> Result<Number> {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        match self.slot_of(string) {
            Ok(number) => Ok(number),
            Err((slot, tag)) => {
                let number = self.ends.len();
                // `Number::NONE`, with a tag of ones, would be `EMPTY`.
                if number >= Number::NONE.index() {
                    return Err(Error::TooManyTokens);
                }
                self.slots[slot] = tag | number as u64;
                self.bytes.extend_from_slice(string);
                self.ends.push(self.bytes.len());
                Ok(Number::new(number))
            }
        }
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; self.slots.len() * 2];
        for number in 0..self.ends.len() {
            if let Err((slot, tag)) = self.slot_of(self.get(Number::new(number))) {
                self.slots[slot] = tag | number as u64;
            }
        }
    }
}
