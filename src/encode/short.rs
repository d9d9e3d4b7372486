//! The tokens of short words, by merging their pairs, many words at a time.
//!
//! Most of the time is spent waiting for the table of pairs, which is larger than the nearest caches.
//! So a merge in one word only begins to load its new pairs, then come merges of the other words, and
//! by the time the first word goes on, its pairs are loaded.

use crate::encode::cache::{Cache, Miss, Word};
use crate::encode::characters::{UNKNOWN, character_at, symbols_of};
use crate::encode::ends::MOST_WORDS;
use crate::encode::products::{BITS, NO_PAIR, NO_TOKEN, Products, packed};
use crate::encode::whole::WholeWords;
use crate::merges::Id;
use crate::prefetch::prefetch;
use crate::vocabulary::{Number, Vocabulary};

/// The bytes of a word, padded with zeros, and its length: 16 bytes or 32, as every place in a word is
/// a bit of a mask.
pub(super) type Key<const N: usize> = [u8; N];
const PLACE_BITS: u32 = 5;
const PLACE: u32 = (1 << PLACE_BITS) - 1;
/// The most words that are merged together.
pub(super) const AT_ONCE: usize = 24;

/// The turn of a pair that does not merge: this or a larger one.
const NEVER: u32 = NO_TOKEN << PLACE_BITS;
/// In place of the id of a token without one. A token with this id counts as one without.
const NO_ID: Id = Id::MAX;

/// Merges short words.
///
/// Here tokens are numbered anew: the bytes, or the characters of one byte; the other characters; then
/// the products of the merges in their order. So of two pairs the one with the smaller product merges
/// first.
#[derive(Debug)]
pub(super) struct ShortWords {
    /// The turns of pairs of bytes at the first place. The left byte is the low one.
    first_turns: Vec<u32>,
    products: Products,
    ids: Vec<Id>,
    /// The numbers of the tokens in the vocabulary.
    numbers: Vec<Number>,
    /// The tokens of characters by their code points; empty if symbols are bytes.
    characters: Vec<u32>,
    pub(super) whole: WholeWords,
}

impl ShortWords {
    /// None if words have marks, merges have equal ranks, or there are too many. With
    /// `looks_up_whole`, a word that is a token becomes that token, whatever its merges make of it.
    pub(super) fn new(vocabulary: &Vocabulary, looks_up_whole: bool) -> Option<Self> {
        let merges = vocabulary.merges();
        let has_ties = merges.windows(2).any(|pair| pair[0].rank == pair[1].rank);
        if vocabulary.marks_words() || has_ties || (256 + vocabulary.len()) >> BITS > 0 {
            return None;
        }
        let (mut numbers, characters) = symbols_of(vocabulary);
        numbers.extend(merges.iter().map(|merge| merge.product));
        let mut tokens = vec![0; vocabulary.len()];
        for (token, number) in (0..).zip(&numbers) {
            if let Some(known) = tokens.get_mut(number.index()) {
                *known = token;
            }
        }
        let id = |&number: &Number| vocabulary.id(number).unwrap_or(NO_ID);
        let merges = merges.iter().map(|merge| {
            [merge.left, merge.right, merge.product].map(|number| tokens[number.index()])
        });
        let mut first_turns = vec![[NEVER; 256]; 256].into_flattened();
        for [left, right, product] in merges.clone() {
            if left < 256 && right < 256 {
                first_turns[(right << 8 | left) as usize] = product << PLACE_BITS;
            }
        }
        Some(Self {
            first_turns,
            products: Products::new(merges),
            ids: numbers.iter().map(id).collect(),
            numbers,
            characters,
            whole: WholeWords::new(vocabulary, looks_up_whole),
        })
    }

    /// A pair whose left token is at a place; its turn begins to be loaded.
    #[inline(always)]
    fn pair(&self, place: u32, tokens: u64) -> Pair {
        let line = self.products.prefetch(tokens);
        Pair {
            place,
            line,
            tokens,
        }
    }

    /// The turn of a pair: turns that come first are smaller.
    #[inline(always)]
    fn turn(&self, pair: Pair) -> u32 {
        self.products.find(pair.tokens, pair.line) << PLACE_BITS | pair.place
    }

    #[cfg(test)]
    pub(super) fn merges(&self, left: u32, right: u32) -> bool {
        self.turn(self.pair(0, packed(left, right))) < NEVER
    }

    /// Put the short words that the cache does not know into it, unless a token has no id.
    pub(super) fn learn(&self, text: &[u8], words: &[Word], misses: &[Miss], cache: &mut Cache) {
        /// Slots for words that were seen in this batch, by some bits of their hashes.
        const NUM_SEEN: usize = 1024;
        let mut indices = [0_u16; MOST_WORDS];
        let mut num_new = 0;
        let mut seen = [u16::MAX; NUM_SEEN];
        for miss in misses {
            let word = &words[miss.index()];
            // Most words that come twice in the batch are found here.
            let seen = &mut seen[word.hash as usize % NUM_SEEN];
            let last = words.get(usize::from(*seen));
            if miss.is_new && last.is_none_or(|last| last.key != word.key) {
                *seen = miss.index() as u16;
                self.whole.expect(word.hash);
                indices[num_new] = miss.index() as u16;
                num_new += 1;
            }
        }
        for &index in &indices[..num_new] {
            self.whole.expect_entry(words[usize::from(index)].hash);
        }
        let (mut keys, mut waiting, mut len) = ([[0; 16]; AT_ONCE], [0; AT_ONCE], 0);
        for (place, &index) in indices[..num_new].iter().enumerate() {
            let word = &words[usize::from(index)];
            if let Some(id) = self.whole.id(word.key, word.hash) {
                cache.insert(text, word, &[id]);
            } else {
                (keys[len], waiting[len]) = (word.key.to_le_bytes(), index);
                len += 1;
            }
            if len == AT_ONCE || place + 1 == num_new {
                self.merge(&keys[..len], |which, merged| {
                    if let Some((ids, len)) = self.ids(merged) {
                        let word = &words[usize::from(waiting[which])];
                        cache.insert(text, word, &ids[..len]);
                    }
                });
                len = 0;
            }
        }
    }

    /// The ids of a word that is merged and their number; None if a token has no id.
    #[inline]
    pub(super) fn ids<const N: usize>(&self, merged: &Merging<N>) -> Option<([Id; N], usize)> {
        let (mut ids, mut len) = ([NO_ID; N], 0);
        for place in Bits(merged.starts) {
            ids[len] = self.ids[merged.tokens[place] as usize];
            len += 1;
        }
        (!ids[..len].contains(&NO_ID)).then_some((ids, len))
    }

    /// The numbers, in the vocabulary, of the tokens of a word that is merged, from a place on.
    pub(super) fn numbers<const N: usize>(
        &self,
        merged: &Merging<N>,
        start: usize,
    ) -> impl Iterator<Item = Number> {
        let starts = Bits(merged.starts & u32::MAX << start);
        starts.map(|place| self.numbers[merged.tokens[place] as usize])
    }

    /// Calls `use_word` with the index of each of at most `AT_ONCE` words, and the word merged.
    pub(super) fn merge<const N: usize>(
        &self,
        keys: &[Key<N>],
        use_word: impl FnMut(usize, &Merging<N>),
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
        {
            #[allow(unsafe_code, reason = "twice as fast")]
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.merge_by_avx2(keys, use_word) };
        }
        self.merge_by_any(keys, use_word);
    }

    /// The same, compiled for processors with AVX2, BMI and LZCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
    fn merge_by_avx2<const N: usize>(
        &self,
        keys: &[Key<N>],
        use_word: impl FnMut(usize, &Merging<N>),
    ) {
        self.merge_by_any(keys, use_word);
    }

    // Always inlined: compiled for the processor of its caller. So are its parts.
    #[inline(always)]
    pub(super) fn merge_by_any<const N: usize>(
        &self,
        keys: &[Key<N>],
        mut use_word: impl FnMut(usize, &Merging<N>),
    ) {
        let mut states = [Merging::NOTHING; AT_ONCE];
        let mut in_characters = 0;
        for (index, key) in keys.iter().enumerate() {
            if self.characters.is_empty() || key.is_ascii() {
                self.begin(key, &mut states[index]);
            } else {
                self.begin_characters(key, &mut states[index]);
                in_characters |= 1 << index;
            }
        }
        for index in Bits(in_characters) {
            self.find_first_turns(&mut states[index]);
        }
        let mut waiting = !(u32::MAX << keys.len());
        while waiting != 0 {
            // First a merge in each word, then the new pairs of each word: the load of all turns of a
            // word would wait for a store to one of them just before it.
            for index in Bits(waiting) {
                let is_done = !self.go_on(&mut states[index]);
                waiting ^= u32::from(is_done) << index;
            }
            for index in Bits(waiting) {
                self.find_turns(&mut states[index]);
            }
        }
        for (index, state) in states[..keys.len()].iter().enumerate() {
            use_word(index, state);
        }
    }

    /// Whether all symbols of a word have a token.
    pub(super) fn knows(&self, word: &[u8]) -> bool {
        let mut at = 0;
        while !self.characters.is_empty() && at < word.len() {
            let (token, length) = self.symbol_at(word, at);
            if self.numbers[token as usize] == Number::NONE {
                return false;
            }
            at += length;
        }
        true
    }

    /// The token of the character at a place, and its length.
    #[inline(always)]
    fn symbol_at(&self, word: &[u8], at: usize) -> (u32, usize) {
        let (character, length) = character_at(word, at);
        let token = self.characters.get(character as usize);
        (token.copied().unwrap_or(UNKNOWN), length)
    }

    /// Begin to merge the word with this key, which is not ASCII, by its characters; their pairs are
    /// only loaded.
    #[inline(always)]
    fn begin_characters<const N: usize>(&self, key: &Key<N>, state: &mut Merging<N>) {
        let word = &key[..usize::from(key[N - 1])];
        let (mut at, mut before) = (0, None);
        while at < word.len() {
            let (token, length) = self.symbol_at(word, at);
            state.tokens[at] = token;
            state.starts |= 1 << at;
            if let Some(left) = before.replace(token) {
                self.pair(at as u32, packed(left, token));
            }
            at += length;
        }
    }

    /// Find the turns of the pairs of characters.
    #[inline(always)]
    fn find_first_turns<const N: usize>(&self, state: &mut Merging<N>) {
        let mut before = None;
        for place in Bits(state.starts) {
            let token = state.tokens[place];
            if let Some((place, left)) = before.replace((place, token)) {
                state.turns[place] = self.turn(self.pair(place as u32, packed(left, token)));
            }
        }
    }

    /// Begin to merge the word with this key, by its bytes.
    #[inline(always)]
    fn begin<const N: usize>(&self, key: &Key<N>, state: &mut Merging<N>) {
        let len = usize::from(key[N - 1]);
        state.starts = !(u32::MAX << len);
        for (token, &byte) in state.tokens.iter_mut().zip(key) {
            *token = u32::from(byte);
        }
        for place in 0..N - 2 {
            let pair = u16::from_le_bytes([key[place], key[place + 1]]);
            state.turns[place] =
                self.first_turns[usize::from(pair)] | Merging::<N>::PLACES[len][place];
        }
    }

    /// Find the turns of the new pairs.
    #[inline(always)]
    fn find_turns<const N: usize>(&self, state: &mut Merging<N>) {
        for pair in state.new {
            state.turns[pair.place as usize % N] = self.turn(pair);
        }
    }

    /// Merge one pair; false if there is none.
    #[inline(always)]
    fn go_on<const N: usize>(&self, state: &mut Merging<N>) -> bool {
        let mut first = NEVER;
        for &turn in &state.turns {
            first = first.min(turn);
        }
        if first >= NEVER {
            for place in Bits(state.starts) {
                prefetch(&self.ids[state.tokens[place] as usize]);
            }
            return false;
        }
        let place = (first & PLACE) % N as u32;
        let right = state.next(place);
        // The right part is no token any more.
        state.starts &= !(1 << right);
        state.turns[right as usize] = NEVER;
        let product = first >> PLACE_BITS;
        state.tokens[place as usize] = product;
        let starts_before = state.starts & !(u32::MAX << place);
        let before = (starts_before | 1).ilog2() % N as u32;
        let after = state.next(place);
        let (left, right) = (state.tokens[before as usize], state.tokens[after as usize]);
        let pair_before = if starts_before > 0 {
            packed(left, product)
        } else {
            NO_PAIR
        };
        let pair_after = if state.starts >> place > 1 {
            packed(product, right)
        } else {
            NO_PAIR
        };
        // At the beginning of the word both have the same place, and the second one counts.
        state.new = [self.pair(before, pair_before), self.pair(place, pair_after)];
        true
    }
}

/// Two neighbours.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Where the left one starts.
    place: u32,
    /// The line of the products where the pair is looked up.
    line: u32,
    tokens: u64,
}

impl Pair {
    const NONE: Self = Self {
        place: 0,
        line: 0,
        tokens: NO_PAIR,
    };
}

/// A word of fewer than N bytes that is being merged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merging<const N: usize> {
    /// The tokens, each at the place where it starts.
    tokens: [u32; N],
    /// The turn of each with the next: its product, then its place.
    turns: [u32; N],
    /// Where tokens start, a bit for each place.
    pub(super) starts: u32,
    /// The pairs whose turns are not known yet; none if the tokens are `NO_PAIR`.
    new: [Pair; 2],
}

impl<const N: usize> Merging<N> {
    const NOTHING: Self = Self {
        tokens: [0; N],
        turns: [NEVER; N],
        starts: 0,
        new: [Pair::NONE; 2],
    };

    /// For each length of a word its places, from the last one on with the bits of `NEVER`.
    const PLACES: [[u32; N]; N] = {
        let (mut places, mut length) = ([[0; N]; N], 0);
        while length < N {
            let mut place = 0;
            while place < N {
                let is_last = place + 1 >= length;
                places[length][place] = if is_last { NEVER } else { 0 } | place as u32;
                place += 1;
            }
            length += 1;
        }
        places
    };

    /// Where the token behind the one at `place` starts.
    fn next(&self, place: u32) -> u32 {
        (self.starts & (u32::MAX - 1) << place).trailing_zeros() % N as u32
    }
}

/// The bits of a set, from the lowest on.
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let lowest = self.0.trailing_zeros() as usize;
        let is_empty = self.0 == 0;
        self.0 &= self.0.wrapping_sub(1);
        (!is_empty).then_some(lowest)
    }
}
