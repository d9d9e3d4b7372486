//! The ids of short words of bytes, by merging their pairs, many words at a time.
//!
//! What takes time is waiting for the table of pairs, which is larger than the nearest caches. So a
//! merge in one word only asks for its new pairs, the other words have their turns, and by the time
//! the first word goes on, the answers are there.

use crate::encode::cache::SHORT;
use crate::encode::whole::WholeWords;
use crate::merges::Id;
use crate::pages::in_large_pages;
use crate::prefetch::prefetch;
use crate::vocabulary::{Symbols, Vocabulary};

/// Each place in a word is a bit of a mask.
const NUM_PLACES: usize = 1 << PLACE_BITS;
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
/// A pair of numbers that no tokens have, at a place in no word: words are shorter.
const NOTHING_NEW: (u32, u64) = (PLACE, PAIR);
/// A slot without a pair.
const EMPTY: u64 = 0;

/// Slots that are loaded, and compared, together.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

/// Merges short words.
///
/// Here the numbers of tokens are the bytes, then the products of the merges in their order: of two
/// pairs, the one with the smaller product merges first.
#[derive(Debug)]
pub(super) struct ShortWords {
    /// What pairs of bytes make: their turns, at the first place. The left byte is the low one.
    first_turns: Vec<u32>,
    /// Pairs in the low bits, their products above. A pair is in the line that its hash names, or in
    /// one behind it if those before are full.
    lines: Vec<Line>,
    ids: Vec<Id>,
    whole: WholeWords,
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
        let num_lines = (merges.len() / 4 + 1).next_power_of_two();
        let mut words = Self {
            first_turns: vec![NEVER; 1 << 16],
            lines: vec![Line([EMPTY; 8]); num_lines],
            ids,
            whole: WholeWords::new(vocabulary),
        };
        for merge in merges {
            let [left, right, product] =
                [merge.left, merge.right, merge.product].map(|token| numbers[token as usize]);
            words.add(left, right, product);
        }
        words.lines = in_large_pages(&words.lines);
        Some(words)
    }

    fn add(&mut self, left: u32, right: u32, product: u32) {
        if left < 256 && right < 256 {
            self.first_turns[(right << 8 | left) as usize] = product << PLACE_BITS;
        }
        let pair = packed(left, right);
        let mut line = self.line(pair);
        loop {
            let mut slots = self.lines[line].0.iter_mut();
            if let Some(slot) = slots.find(|slot| **slot == EMPTY) {
                *slot = u64::from(product) << (2 * BITS) | pair;
                return;
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }

    #[inline]
    fn line(&self, pair: u64) -> usize {
        (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & (self.lines.len() - 1)
    }

    /// The turn of a pair at a place.
    #[allow(clippy::inline_always, reason = "see `merge`")]
    #[inline(always)]
    fn turn(&self, pair: u64, place: u32) -> u32 {
        let mut line = self.line(pair);
        loop {
            let slots = &self.lines[line].0;
            // All of them at once, without a branch: nobody can foresee where a pair is.
            let mut found = EMPTY;
            for &slot in slots {
                found |= if slot & PAIR == pair { slot } else { EMPTY };
            }
            let product = (found >> (2 * BITS)) as u32;
            let turn = product << PLACE_BITS | place;
            if slots[7] == EMPTY || found != EMPTY {
                return if found == EMPTY { NEVER } else { turn };
            }
            line = (line + 1) & (self.lines.len() - 1);
        }
    }

    #[cfg(test)]
    pub(super) fn merges(&self, left: u32, right: u32) -> bool {
        self.turn(packed(left, right), 0) != NEVER
    }

    /// Have a word ready that will be looked up soon.
    #[inline]
    pub(super) fn expect(&self, key: u128) {
        self.whole.expect(key);
    }

    /// The id of the word with this key, if it is one token.
    #[inline]
    pub(super) fn whole_word(&self, key: u128) -> Option<Id> {
        self.whole.id(key)
    }

    /// Calls `use_ids` with the index and the ids of each of at most `AT_ONCE` words, unless one of
    /// the ids is missing.
    pub(super) fn merge(&self, keys: &[u128], use_ids: impl FnMut(usize, &[Id])) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
        {
            #[allow(unsafe_code, reason = "twice as fast")]
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.merge_by_avx2(keys, use_ids) };
        }
        self.merge_by_any(keys, use_ids);
    }

    /// The same, compiled for these processors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_by_avx2(&self, keys: &[u128], use_ids: impl FnMut(usize, &[Id])) {
        self.merge_by_any(keys, use_ids);
    }

    #[allow(
        clippy::inline_always,
        reason = "compiled for the processor of its caller"
    )]
    #[inline(always)]
    pub(super) fn merge_by_any(&self, keys: &[u128], mut use_ids: impl FnMut(usize, &[Id])) {
        let mut states = [Merging::NOTHING; AT_ONCE];
        for (state, &key) in states.iter_mut().zip(keys) {
            self.begin(key, state);
        }
        let mut waiting = !(u32::MAX << keys.len());
        while waiting != 0 {
            // All are merged before the first is asked for its new pairs, and the other way round: a
            // load of all turns would wait for a store of one of them just before.
            for index in Bits(waiting) {
                let is_done = !self.go_on(&mut states[index]);
                waiting ^= u32::from(is_done) << index;
            }
            for index in Bits(waiting) {
                self.find_turns(&mut states[index]);
            }
        }
        for (index, state) in states[..keys.len()].iter().enumerate() {
            let mut ids = [NO_ID; NUM_PLACES];
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

    /// Begin to merge the word with this key.
    #[allow(clippy::inline_always, reason = "see `merge`")]
    #[inline(always)]
    fn begin(&self, key: u128, state: &mut Merging) {
        let bytes = key.to_le_bytes();
        let len = usize::from(bytes[SHORT]);
        state.starts = !(u32::MAX << len);
        for (token, byte) in state.tokens.iter_mut().zip(bytes) {
            *token = u32::from(byte);
        }
        for place in 0..SHORT - 1 {
            let pair = u16::from_le_bytes([bytes[place], bytes[place + 1]]);
            // NEVER stays what it is.
            let turn = self.first_turns[usize::from(pair)] | place as u32;
            state.turns[place] = if place + 1 < len { turn } else { NEVER };
        }
    }

    /// Find the turns of the new pairs.
    #[allow(clippy::inline_always, reason = "see `merge`")]
    #[inline(always)]
    fn find_turns(&self, state: &mut Merging) {
        for (place, pair) in state.new {
            state.turns[place as usize] = self.turn(pair, place);
        }
    }

    /// Merge one pair; false if there is none.
    #[allow(clippy::inline_always, reason = "see `merge`")]
    #[inline(always)]
    fn go_on(&self, state: &mut Merging) -> bool {
        let mut first = NEVER;
        for &turn in &state.turns {
            first = first.min(turn);
        }
        if first == NEVER {
            let mut starts = state.starts;
            while starts != 0 {
                prefetch(&self.ids[state.tokens[starts.trailing_zeros() as usize] as usize]);
                starts &= starts - 1;
            }
            return false;
        }
        let place = first & PLACE;
        let right = state.next(place);
        // The right part starts nothing any more.
        state.starts &= !(1 << right);
        state.turns[place as usize] = NEVER;
        state.turns[right as usize] = NEVER;
        let product = first >> PLACE_BITS;
        state.tokens[place as usize] = product;
        let starts_before = state.starts & !(u32::MAX << place);
        let before = (starts_before | 1).ilog2();
        let pair_before = (before, packed(state.tokens[before as usize], product));
        let after = state.next(place);
        let pair_after = (place, packed(product, state.tokens[after as usize]));
        let has_after = state.starts >> place > 1;
        state.new = [
            if starts_before == 0 {
                NOTHING_NEW
            } else {
                pair_before
            },
            if has_after { pair_after } else { NOTHING_NEW },
        ];
        for (_, pair) in state.new {
            prefetch(&self.lines[self.line(pair)]);
        }
        true
    }
}

/// A word that is being merged.
#[derive(Debug, Clone, Copy)]
struct Merging {
    /// The tokens, each at the place where it starts.
    tokens: [u32; NUM_PLACES],
    /// When each merges with the next: by the product, then by the place.
    turns: [u32; NUM_PLACES],
    /// Whether a token starts at a place.
    starts: u32,
    /// The places of two pairs whose turns are not known yet, and the pairs.
    new: [(u32, u64); 2],
}

impl Merging {
    const NOTHING: Self = Self {
        tokens: [0; NUM_PLACES],
        turns: [NEVER; NUM_PLACES],
        starts: 0,
        new: [NOTHING_NEW; 2],
    };

    /// Where the token behind the one at `place` starts.
    #[inline]
    fn next(&self, place: u32) -> u32 {
        (self.starts & (u32::MAX - 1) << place).trailing_zeros() & PLACE
    }
}

/// The bits of a set, from the lowest on.
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[allow(clippy::inline_always, reason = "see `merge`")]
    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lowest = self.0.trailing_zeros() as usize;
        let is_empty = self.0 == 0;
        self.0 &= self.0.wrapping_sub(1);
        (!is_empty).then_some(lowest)
    }
}

#[inline]
fn packed(left: u32, right: u32) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}
