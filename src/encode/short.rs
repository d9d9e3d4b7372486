//! The ids of short words of bytes, by merging their pairs, many words at a time.
//!
//! What takes time is waiting for the table of pairs, which is larger than the nearest caches. So a
//! merge in one word only asks for its new pairs, the other words have their turns, and by the time
//! the first word goes on, the answers are there.

use crate::merges::Id;
use crate::pages::in_large_pages;
use crate::prefetch::prefetch;
use crate::vocabulary::{Symbols, Vocabulary};

/// The longest word that is merged so; each place in it is a bit of a mask.
pub(super) const MOST_BYTES: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 4;
const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// How many words are merged at a time.
pub(super) const AT_ONCE: usize = 16;

/// The turn of a pair that does not merge.
const NEVER: u32 = u32::MAX;
/// A token that has no id, or one that is not told from that.
const NO_ID: Id = Id::MAX;

/// How many bits a number has: those of two parts and their product share a slot.
const BITS: u32 = 21;
const PAIR: u64 = (1 << (2 * BITS)) - 1;
const EMPTY: u64 = u64::MAX;
const FILTER_BITS: u32 = 20;

/// Merges short words.
///
/// Here the numbers of tokens are the bytes, then the products of the merges in their order: of two
/// pairs, the one with the smaller product merges first.
#[derive(Debug)]
pub(super) struct ShortWords {
    /// What pairs of bytes make: their turns, at the first place.
    first_turns: Vec<u32>,
    /// A bit for some pairs together, set if one of them merges: small enough to be near.
    filter: Vec<u64>,
    /// Pairs in the low bits, their products above.
    slots: Vec<u64>,
    ids: Vec<Id>,
}

impl ShortWords {
    /// None if words are not of bytes alone, merges have equal ranks, or there are too many.
    pub(super) fn new(vocabulary: &Vocabulary) -> Option<Self> {
        let merges = vocabulary.merges();
        let has_ties = merges.windows(2).any(|pair| pair[0].rank == pair[1].rank);
        if vocabulary.symbols() != Symbols::Bytes
            || !vocabulary.end_of_word().is_empty()
            || has_ties
            || vocabulary.len() >> BITS > 0
        {
            return None;
        }
        let mut numbers = vec![0; vocabulary.len()];
        let mut ids = Vec::with_capacity(256 + merges.len());
        for byte in 0..=u8::MAX {
            let token = vocabulary.number(&[byte])?;
            numbers[token as usize] = u32::from(byte);
            ids.push(vocabulary.id(token).unwrap_or(NO_ID));
        }
        for (number, merge) in (256..).zip(merges) {
            numbers[merge.product as usize] = number;
            ids.push(vocabulary.id(merge.product).unwrap_or(NO_ID));
        }
        let num_slots = (merges.len() * 2 + 1).next_power_of_two();
        let mut words = Self {
            first_turns: vec![NEVER; 1 << 16],
            filter: vec![0; (1 << FILTER_BITS) / 64],
            slots: vec![EMPTY; num_slots],
            ids,
        };
        for merge in merges {
            let [left, right, product] =
                [merge.left, merge.right, merge.product].map(|token| numbers[token as usize]);
            words.add(left, right, product);
        }
        words.slots = in_large_pages(&words.slots);
        Some(words)
    }

    fn add(&mut self, left: u32, right: u32, product: u32) {
        let bit = filter_bit(left, right);
        self.filter[bit / 64] |= 1 << (bit % 64);
        if left < 256 && right < 256 {
            self.first_turns[(left << 8 | right) as usize] = product << PLACE_BITS;
        }
        let mut slot = self.slot(left, right);
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = u64::from(product) << (2 * BITS) | packed(left, right);
    }

    #[inline]
    fn slot(&self, left: u32, right: u32) -> usize {
        (hash(left, right) >> 32) as usize & (self.slots.len() - 1)
    }

    /// The turn of a pair at a place.
    #[inline]
    fn turn(&self, left: u32, right: u32, place: usize) -> u32 {
        let mut slot = self.slot(left, right);
        loop {
            let found = self.slots[slot];
            if found & PAIR == packed(left, right) {
                return ((found >> (2 * BITS)) as u32) << PLACE_BITS | place as u32;
            }
            if found == EMPTY {
                return NEVER;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Calls `use_ids` with the index and the ids of each of at most `AT_ONCE` words, unless one of
    /// the ids is missing; no word is empty or longer than `MOST_BYTES`.
    pub(super) fn merge(&self, words: &[&[u8]], mut use_ids: impl FnMut(usize, &[Id])) {
        let mut states = [Merging::NOTHING; AT_ONCE];
        let mut waiting = 0_u32;
        for (index, (state, word)) in states.iter_mut().zip(words).enumerate() {
            *state = self.begin(word);
            waiting |= 1 << index;
        }
        while waiting != 0 {
            let mut others = waiting;
            while others != 0 {
                let index = others.trailing_zeros() as usize;
                others &= others - 1;
                if !self.go_on(&mut states[index]) {
                    waiting ^= 1 << index;
                }
            }
        }
        for (index, state) in states[..words.len()].iter().enumerate() {
            let mut ids = [NO_ID; MOST_BYTES];
            let (mut starts, mut len) = (state.starts, 0);
            while starts != 0 {
                ids[len] = self.ids[state.tokens[starts.trailing_zeros() as usize] as usize];
                starts &= starts - 1;
                len += 1;
            }
            if !ids[..len].contains(&NO_ID) {
                use_ids(index, &ids[..len]);
            }
        }
    }

    fn begin(&self, word: &[u8]) -> Merging {
        let mut state = Merging::NOTHING;
        state.starts = u32::MAX >> (32 - word.len());
        for (token, &byte) in state.tokens.iter_mut().zip(word) {
            *token = u32::from(byte);
        }
        for (place, pair) in word.windows(2).enumerate() {
            let turn = self.first_turns[usize::from(pair[0]) << 8 | usize::from(pair[1])];
            // NEVER stays what it is.
            state.turns[place] = turn | place as u32;
        }
        state
    }

    /// Merge one pair; false if there is none.
    #[inline]
    fn go_on(&self, state: &mut Merging) -> bool {
        let mut new = std::mem::take(&mut state.new);
        while new != 0 {
            let left = new.trailing_zeros() as usize;
            new &= new - 1;
            let right = state.next(left) as usize;
            state.turns[left] = self.turn(state.tokens[left], state.tokens[right], left);
        }
        let first = state.turns.iter().copied().fold(NEVER, u32::min);
        if first == NEVER {
            let mut starts = state.starts;
            while starts != 0 {
                prefetch(&self.ids[state.tokens[starts.trailing_zeros() as usize] as usize]);
                starts &= starts - 1;
            }
            return false;
        }
        let place = (first & PLACE) as usize;
        let right = state.next(place) as usize;
        state.tokens[place] = first >> PLACE_BITS;
        // The right part starts nothing any more.
        state.starts &= !(1 << right);
        state.turns[right] = NEVER;
        state.turns[place] = NEVER;
        let before = state.starts & !(u32::MAX << place);
        if before != 0 {
            self.ask(state, before.ilog2() as usize, place);
        }
        if state.starts >> place > 1 {
            self.ask(state, place, state.next(place) as usize);
        }
        true
    }

    /// Have a pair ready for the next turn, if it may merge.
    #[inline]
    fn ask(&self, state: &mut Merging, left: usize, right: usize) {
        state.turns[left] = NEVER;
        let (left_token, right_token) = (state.tokens[left], state.tokens[right]);
        let bit = filter_bit(left_token, right_token);
        if self.filter[bit / 64] >> (bit % 64) & 1 == 1 {
            prefetch(&self.slots[self.slot(left_token, right_token)]);
            state.new |= 1 << left;
        }
    }
}

/// A word that is being merged; for each place in it
#[derive(Debug, Clone, Copy)]
struct Merging {
    /// the token that starts there, if one does,
    tokens: [u32; MOST_BYTES],
    /// when its pair with the next one merges: by the product, then by the place,
    turns: [u32; MOST_BYTES],
    /// whether a token starts there,
    starts: u32,
    /// and whether its pair is new.
    new: u32,
}

impl Merging {
    const NOTHING: Self = Self {
        tokens: [0; MOST_BYTES],
        turns: [NEVER; MOST_BYTES],
        starts: 0,
        new: 0,
    };

    /// Where the token behind the one at `place` starts.
    #[inline]
    fn next(&self, place: usize) -> u32 {
        (self.starts & (u32::MAX - 1) << place).trailing_zeros() & PLACE
    }
}

#[inline]
fn packed(left: u32, right: u32) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}

#[inline]
fn hash(left: u32, right: u32) -> u64 {
    packed(left, right).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
fn filter_bit(left: u32, right: u32) -> usize {
    (hash(left, right) >> (64 - FILTER_BITS)) as usize
}
