//! The search for a word's tokens.
//!
//! A sequence of tokens is what its text becomes if and only if each token is what its own string
//! becomes and each two neighbours are what their joined string becomes: the first merge across a
//! boundary depends on its two neighbours alone, since no other boundary was crossed before. So a
//! word is encoded from left to right: always the longest token that can stand beside the one
//! before, a shorter one if that leads nowhere. A place that leads nowhere is remembered, for the
//! tokens up to a place do not depend on what follows it; so the time is linear in the length, on
//! any input.
//!
//! Whether two tokens can stand side by side is decided quickly where ranks rise from a token's parts
//! to the token, as those of trained vocabularies do; elsewhere their merging is tried.

mod ways;

use crate::error::Result;
use crate::keys::hash_pair;
use crate::merges::Ranks;
use crate::pages::in_large_pages;
use crate::trie::Trie;
use crate::vocabulary::{Number, Vocabulary};
use crate::watch::Watch;
pub(crate) use ways::Ways;

const NONE: Number = Number::NONE;

/// The state of a search; its memory is used again for the next word.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The tokens of the word up to `end`, taken alone.
    pub(super) tokens: Vec<Number>,
    pub(super) end: usize,
    /// A bit for each place of the word that is known not to be the end of one of its tokens.
    dead_ends: Vec<u64>,
    /// With which a search for the tokens of a word begins, if the word does.
    pub(super) begun: Begun,
}

/// A string, and what it becomes.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    text: Vec<u8>,
    tokens: Vec<Number>,
}

impl Scratch {
    /// Begin with a word of `length` bytes.
    pub(super) fn begin(&mut self, length: usize) {
        self.tokens.clear();
        self.end = 0;
        self.dead_ends.clear();
        self.dead_ends.resize(length / 64 + 1, 0);
    }

    /// Whether the first tokens of a word are known.
    pub(super) fn knows(&self, word: &[u8]) -> bool {
        !self.begun.tokens.is_empty() && word.starts_with(&self.begun.text)
    }
}

/// Finds the tokens of words.
#[derive(Debug)]
pub(super) struct Search {
    trie: Trie,
    tokens: Vec<Token>,
    pairs: PairTable,
    /// Whether ranks do not always rise from the parts of a token to the token; empty if they do for
    /// all tokens.
    is_odd: Vec<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Token {
    left: Number,
    right: Number,
    /// The rank of its merge plus 1; 0 for symbols.
    time: u32,
    length: u32,
    /// The longest other token that it begins with.
    shorter: Number,
}

impl Search {
    /// None if words have a mark at their end, or the vocabulary is huge.
    pub(super) fn new(vocabulary: &Vocabulary) -> Option<Self> {
        if vocabulary.marks_words() {
            return None;
        }
        let mut tokens: Vec<Token> = vocabulary
            .numbers()
            .map(|number| Token {
                left: NONE,
                right: NONE,
                time: 0,
                length: vocabulary.string(number).len() as u32,
                shorter: NONE,
            })
            .collect();
        for merge in vocabulary.merges() {
            let token = &mut tokens[merge.product.index()];
            token.left = merge.left;
            token.right = merge.right;
            token.time = merge.rank + 1;
        }
        let is_made = |&n: &Number| vocabulary.is_symbol(n) || tokens[n.index()].time > 0;
        let made: Vec<Number> = vocabulary.numbers().filter(is_made).collect();
        let strings = made
            .iter()
            .map(|&number| (vocabulary.string(number), number));
        let trie = Trie::new(strings, |token, shorter| {
            tokens[token.index()].shorter = shorter;
        })?;
        Some(Self {
            trie,
            pairs: PairTable::new(vocabulary),
            is_odd: odd_tokens(vocabulary, &tokens),
            tokens: in_large_pages(&tokens),
        })
    }

    /// Put the tokens of a word, all of whose symbols are known, into the scratch.
    pub(super) fn encode(
        &self,
        vocabulary: &Vocabulary,
        word: &[u8],
        scratch: &mut Scratch,
        watch: &Watch,
    ) -> Result<()> {
        scratch.begin(word.len());
        if scratch.knows(word) {
            scratch.tokens.extend_from_slice(&scratch.begun.tokens);
            scratch.end = scratch.begun.text.len();
        }
        self.go_on(vocabulary, word, scratch, watch, |_, _| false)
    }

    /// Append tokens of a word to those in the scratch until the word ends, or `is_last` is true for
    /// the start and the end of a token.
    pub(super) fn go_on(
        &self,
        vocabulary: &Vocabulary,
        word: &[u8],
        scratch: &mut Scratch,
        watch: &Watch,
        mut is_last: impl FnMut(usize, usize) -> bool,
    ) -> Result<()> {
        let Scratch {
            tokens,
            end: start,
            dead_ends,
            ..
        } = scratch;
        // Of the tokens from here on, the longer ones in their place are known to lead nowhere.
        let mut num_given = tokens.len();
        let mut candidate = self.trie.longest(&word[*start..]);
        while *start < word.len() {
            if candidate == NONE {
                // Nothing can follow the last token here.
                dead_ends[*start / 64] |= 1 << (*start % 64);
                let Some(last) = tokens.pop() else { break };
                let last = &self.tokens[last.index()];
                *start -= last.length as usize;
                if tokens.len() < num_given {
                    num_given = tokens.len();
                    candidate = self.trie.longest(&word[*start..]);
                } else {
                    candidate = last.shorter;
                }
                continue;
            }
            let token = &self.tokens[candidate.index()];
            let end = *start + token.length as usize;
            let leads_on = dead_ends[end / 64] >> (end % 64) & 1 == 0;
            if leads_on
                && tokens
                    .last()
                    .is_none_or(|&l| self.stand(vocabulary, l, candidate))
            {
                if tokens.len() % (1 << 16) == (1 << 16) - 1 {
                    watch.check()?;
                }
                tokens.push(candidate);
                if is_last(std::mem::replace(start, end), end) {
                    break;
                }
                candidate = self.trie.longest(&word[end..]);
            } else {
                candidate = token.shorter;
            }
        }
        Ok(())
    }

    /// Whether two tokens stay what they are, side by side.
    #[inline]
    fn stand(&self, vocabulary: &Vocabulary, left: Number, right: Number) -> bool {
        let is_odd = |token: Number| self.is_odd.get(token.index()) == Some(&true);
        if is_odd(left) || is_odd(right) {
            return self.stand_by_trial(vocabulary.ranks(), left, right);
        }
        stand(&self.tokens, &self.pairs, left, right)
    }

    /// The same, by merging their symbols.
    #[cold]
    fn stand_by_trial(&self, ranks: &Ranks<Number>, left: Number, right: Number) -> bool {
        let mut symbols = Vec::new();
        let mut waiting = vec![right, left];
        while let Some(number) = waiting.pop() {
            let token = &self.tokens[number.index()];
            if token.left == NONE {
                symbols.push(number);
            } else {
                waiting.extend([token.right, token.left]);
            }
        }
        let made = ranks.apply(symbols, |_, _| Ok(()));
        made.is_ok_and(|made| made == [left, right])
    }

    /// Whether the order of merges of one rank matters.
    ///
    /// Two orders of the same merges encode every text alike if the same neighbours stand. The order
    /// of equal ranks matters for neighbours only where two of these three hold such merges: the
    /// left token, the right one, and the pairs across their boundary.
    pub(super) fn ties_matter(&self, vocabulary: &Vocabulary) -> bool {
        const MOST_PAIRS: usize = 1 << 24;
        let merges = vocabulary.merges();
        let mut in_order = Ranks::with_capacity(merges.len());
        let mut is_tied = vec![false; self.tokens.len()];
        let (mut is_left, mut is_right) = (is_tied.clone(), is_tied.clone());
        for (index, merge) in merges.iter().enumerate() {
            in_order.add((merge.left, merge.right), index as u32, merge.product);
            let mut around = [index.wrapping_sub(1), index + 1].into_iter();
            if around.any(|i| merges.get(i).is_some_and(|other| other.rank == merge.rank)) {
                is_tied[merge.product.index()] = true;
                is_left[merge.left.index()] = true;
                is_right[merge.right.index()] = true;
            }
        }
        let tied = self.made_with(&is_tied, |token| [token.left, token.right]);
        let lefts = self.made_with(&is_left, |token| [token.right, NONE]);
        let rights = self.made_with(&is_right, |token| [NONE, token.left]);
        let differs = |left, right| {
            self.stand(vocabulary, left, right) != self.stand_by_trial(&in_order, left, right)
        };
        [(&tied, &tied), (&tied, &rights), (&lefts, &tied)]
            .into_iter()
            .any(|(lefts, rights)| {
                lefts.len().saturating_mul(rights.len()) > MOST_PAIRS
                    || lefts.iter().any(|&l| rights.iter().any(|&r| differs(l, r)))
            })
    }

    /// The tokens that are chosen, or that have a chosen one among their `parts`, the parts of these,
    /// and so on.
    fn made_with(&self, is_chosen: &[bool], parts: impl Fn(&Token) -> [Number; 2]) -> Vec<Number> {
        let numbers = (0..self.tokens.len()).map(Number::new);
        let holds = |&number: &Number| {
            let mut waiting = vec![number];
            while let Some(number) = waiting.pop() {
                if is_chosen[number.index()] {
                    return true;
                }
                let parts = parts(&self.tokens[number.index()]);
                waiting.extend(parts.into_iter().filter(|&part| part != NONE));
            }
            false
        };
        numbers.filter(holds).collect()
    }
}

/// For each token, whether ranks do not always rise from its parts to it; empty if they do for all.
fn odd_tokens(vocabulary: &Vocabulary, tokens: &[Token]) -> Vec<bool> {
    let mut is_odd = vec![false; tokens.len()];
    // Parts may come behind their products in the list: it is read until nothing changes.
    loop {
        let mut changes = false;
        for merge in vocabulary.merges() {
            let [product, left, right] =
                [merge.product, merge.left, merge.right].map(Number::index);
            let rises = tokens[left].time.max(tokens[right].time) < tokens[product].time;
            if !is_odd[product] && (!rises || is_odd[left] || is_odd[right]) {
                is_odd[product] = true;
                changes = true;
            }
        }
        if !changes {
            return if is_odd.contains(&true) {
                is_odd
            } else {
                Vec::new()
            };
        }
    }
}

/// Whether two tokens stay what they are, side by side, if ranks rise in both. Their merges are undone,
/// the latest first; if a pair across the boundary merges before one of the two is made, they do not.
#[inline]
fn stand(tokens: &[Token], pairs: &PairTable, mut left: Number, mut right: Number) -> bool {
    let (mut left_ends, mut right_ends) = (u32::MAX, u32::MAX);
    loop {
        // Of merges with one rank the left one comes first.
        if let Some(time) = pairs.time(left, right, tokens)
            && time < left_ends
            && time <= right_ends
        {
            return false;
        }
        let (l, r) = (&tokens[left.index()], &tokens[right.index()]);
        if l.time > r.time {
            left_ends = l.time;
            left = l.right;
        } else if r.time > 0 {
            right_ends = r.time;
            right = r.left;
        } else {
            return true;
        }
    }
}

/// The tokens that pairs make.
///
/// A slot holds only the number of the product, so that the table stays in the cache; whether it is
/// the product of a pair is seen from its parts.
#[derive(Debug)]
struct PairTable {
    slots: Vec<Number>,
}

impl PairTable {
    fn new(vocabulary: &Vocabulary) -> Self {
        let num_slots = (vocabulary.merges().len() * 2 + 1).next_power_of_two();
        let mut slots = vec![NONE; num_slots];
        for merge in vocabulary.merges() {
            let mut slot = hash(merge.left, merge.right) & (num_slots - 1);
            while slots[slot] != NONE {
                slot = (slot + 1) & (num_slots - 1);
            }
            slots[slot] = merge.product;
        }
        Self { slots }
    }

    /// The time of the token that the pair makes, if it merges.
    #[inline]
    fn time(&self, left: Number, right: Number, tokens: &[Token]) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(left, right) & mask;
        loop {
            let token = tokens.get(self.slots[slot].index())?;
            if token.left == left && token.right == right {
                return Some(token.time);
            }
            slot = (slot + 1) & mask;
        }
    }
}

fn hash(left: Number, right: Number) -> usize {
    hash_pair((left.index() as u64) << 32 | right.index() as u64)
}
