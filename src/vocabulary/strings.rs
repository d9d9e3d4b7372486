//! Distinct strings, numbered from 0 in the order in which they were added, and found by content.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::vocabulary::Number;

/// All strings lie in one buffer. A slot of the hash table has a number in its low half and bits of
/// the string's hash in its high half, so that most strings that are not here are seen to be others
/// without a look at their bytes. Strings of one and two bytes, which most look-ups are about, are
/// found in a table of their own.
#[derive(Debug)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<u64>,
    short: Vec<Number>,
}

const EMPTY: u64 = u64::MAX;

impl Strings {
    pub(crate) fn with_capacity(num_strings: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(num_strings * 8),
            ends: Vec::with_capacity(num_strings),
            slots: vec![EMPTY; (num_strings * 2).next_power_of_two().max(16)],
            short: vec![[Number::NONE; 256]; 1 + 256].into_flattened(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a number.
    ///
    /// # Panics
    /// If there is no such number.
    pub(crate) fn get(&self, number: Number) -> &[u8] {
        let number = number.index();
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    pub(crate) fn find(&self, string: &[u8]) -> Option<Number> {
        match short_place(string) {
            Some(place) => Some(self.short[place]).filter(|&number| number != Number::NONE),
            None => self.slot_of(string).ok(),
        }
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
    pub(crate) fn add(&mut self, string: &[u8]) -> Result<Number> {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let number = Number::new(self.ends.len());
        // With a tag of ones it would be `EMPTY`.
        if number == Number::NONE {
            return Err(Error::TooManyTokens);
        }
        match short_place(string) {
            Some(place) if self.short[place] != Number::NONE => return Ok(self.short[place]),
            Some(place) => self.short[place] = number,
            None => match self.slot_of(string) {
                Ok(known) => return Ok(known),
                Err((slot, tag)) => self.slots[slot] = tag | number.index() as u64,
            },
        }
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        Ok(number)
    }

    fn grow(&mut self) {
        self.slots = vec![EMPTY; self.slots.len() * 2];
        for number in 0..self.ends.len() {
            let string = self.get(Number::new(number));
            if short_place(string).is_none()
                && let Err((slot, tag)) = self.slot_of(string)
            {
                self.slots[slot] = tag | number as u64;
            }
        }
    }
}

/// The place of a string of one or two bytes in the table of them.
fn short_place(string: &[u8]) -> Option<usize> {
    match *string {
        [byte] => Some(usize::from(byte)),
        [left, right] => Some(256 + (usize::from(left) << 8 | usize::from(right))),
        _ => None,
    }
}
