//! The tokens of long words: of their parts, or by windows.
//!
//! A new word that is not ASCII is cut where no token joins two characters ([`Joins`]). The parts of
//! many words are the same, above all in scripts without spaces, so most of them are in the cache. All
//! other words, and long parts, are encoded by windows.
//!
//! A search from left to right waits for memory at every token. But parts of a word can be encoded
//! independently, and joined exactly. Take the tokens of the word up to some place, and the tokens of
//! a window across that place. Where both have the same two bounds, they have the same tokens between
//! them: what that string becomes. So the tokens of the first up to the second bound, and those of
//! the window behind it, are the tokens of the word up to the end of the window, since each two
//! neighbours stand side by side in one of the two. Windows that overlap, of one word or of many, are
//! merged together by [`ShortWords`]; where a window shares no two bounds with the tokens before it,
//! the search goes on until it finds a token of the window.
//!
//! In a run of one character it may never find one. Where most windows could not be joined, the search
//! goes on without windows for a while, each time twice as long, so the time is linear in the length,
//! on any input.

use std::ops::Range;

use crate::encode::cache::{Cache, Miss, Word};
use crate::encode::ends::MOST_WORDS;
use crate::encode::joins::Joins;
use crate::encode::search::{Scratch, Search};
use crate::encode::short::{AT_ONCE, Merging, ShortWords};
use crate::error::Result;
use crate::merges::Id;
use crate::spelling::is_inside;
use crate::vocabulary::{Number, Symbols, Vocabulary};
use crate::watch::Watch;

const KEY: usize = 32;
/// How long a window is; a key holds its length too.
const WINDOW: usize = KEY - 1;
/// The distance from the beginning of a window to that of the next.
const STEP: usize = 18;
/// How many bytes the search goes on without windows, at first and at most.
const LEAST_ALONE: usize = 256;
const MOST_ALONE: usize = 1 << 16;

/// The ids of the long words of a batch that the cache could not write.
#[derive(Debug, Default)]
pub(super) struct LongWords {
    ids: Vec<Id>,
    /// Where the ids of each missed word are; empty if they are not here.
    places: Vec<Range<usize>>,
    /// Which missed words are new.
    new: Vec<usize>,
    /// Which are cut, and where the parts of each end among the parts of all.
    cut: Vec<(usize, usize)>,
    parts: Vec<Word>,
}

impl LongWords {
    /// The ids of the missed word with this index, if they were found.
    pub(super) fn ids(&self, index: usize) -> Option<&[Id]> {
        let place = self.places.get(index)?.clone();
        (!place.is_empty()).then(|| &self.ids[place])
    }

    /// Find the ids of long words: in the cache, of their parts, or by windows.
    pub(super) fn find(
        &mut self,
        tools: Option<Tools<'_>>,
        text: &[u8],
        (words, misses): (&[Word], &[Miss]),
        cache: &mut Cache,
        scratch: &mut Scratch,
        watch: &Watch,
    ) -> Result<()> {
        self.ids.clear();
        self.places.clear();
        self.new.clear();
        let Some(tools) = tools else {
            return Ok(());
        };
        for (index, miss) in misses.iter().enumerate() {
            let word = &words[miss.index()];
            let first = self.ids.len();
            if !word.is_short() && !cache.find(text, word, &mut self.ids) {
                let string = &text[word.place()];
                if let Some(id) = tools.id_of_whole(string, word.hash) {
                    self.ids.push(id);
                    cache.insert(text, word, &[id]);
                } else if tools.short.knows(string) {
                    self.new.push(index);
                }
            }
            self.places.push(first..self.ids.len());
        }
        if self.new.is_empty() {
            return Ok(());
        }
        let word_of = |index: usize| &words[misses[index].index()];
        self.cut(tools, text, word_of, cache);
        self.learn_parts(tools, text, cache, scratch, watch)?;
        self.join_parts(text, word_of, cache);
        let new: Vec<Word> = self.new.iter().map(|&index| *word_of(index)).collect();
        tools.learn(text, &new, cache, scratch, watch, |which, ids| {
            let first = self.ids.len();
            self.ids.extend_from_slice(ids);
            self.places[self.new[which]] = first..self.ids.len();
        })
    }

    /// Cut the new words that can be cut; the others stay new.
    fn cut<'w>(
        &mut self,
        tools: Tools<'_>,
        text: &[u8],
        word_of: impl Fn(usize) -> &'w Word,
        cache: &Cache,
    ) {
        self.cut.clear();
        self.parts.clear();
        let Some(joins) = tools.joins else {
            return;
        };
        let (cut, parts) = (&mut self.cut, &mut self.parts);
        self.new.retain(|&index| {
            let Range { start, end } = word_of(index).place();
            if text[start..end].is_ascii() {
                return true;
            }
            let first = parts.len();
            let mut from = start;
            joins.for_each_part_within(text, start, end, |_, to| {
                let mut part = cache.begin(text, from, to);
                if joins.may_be_passed_over(part.hash) && (from, to) != (start, end) {
                    // It would be looked up. Together with a neighbour it is not: no token holds both.
                    if from == start {
                        return;
                    }
                    let before = parts.pop().map_or(start, |part| part.place().start);
                    part = cache.begin(text, before, to);
                }
                parts.push(part);
                from = to;
            });
            let is_whole = parts.len() == first + 1;
            if is_whole {
                parts.truncate(first);
            } else {
                cut.push((index, parts.len()));
            }
            is_whole
        });
    }

    /// Put the parts that the cache does not know into it.
    fn learn_parts(
        &self,
        tools: Tools<'_>,
        text: &[u8],
        cache: &mut Cache,
        scratch: &mut Scratch,
        watch: &Watch,
    ) -> Result<()> {
        let mut misses = [Miss::default(); MOST_WORDS];
        let (mut long, mut ids) = (Vec::new(), Vec::new());
        for parts in self.parts.chunks(MOST_WORDS) {
            let num_new = cache.find_new(parts, &mut misses);
            cache.take_over(parts, &mut misses[..num_new]);
            tools.short.learn(text, parts, &misses[..num_new], cache);
            long.extend(parts.iter().filter(|part| !part.is_short()));
        }
        long.retain(|part| {
            ids.clear();
            !cache.find(text, part, &mut ids)
        });
        tools.learn(text, &long, cache, scratch, watch, |_, _| {})
    }

    /// Join the ids of the parts of each word that was cut, if the cache has them.
    fn join_parts<'w>(
        &mut self,
        text: &[u8],
        word_of: impl Fn(usize) -> &'w Word,
        cache: &mut Cache,
    ) {
        let mut start = 0;
        for &(index, end) in &self.cut {
            let first = self.ids.len();
            let mut parts = self.parts[start..end].iter();
            if parts.all(|part| cache.find(text, part, &mut self.ids)) {
                cache.insert(text, word_of(index), &self.ids[first..]);
            } else {
                self.ids.truncate(first);
            }
            self.places[index] = first..self.ids.len();
            start = end;
        }
    }
}

/// The parts of the encoder that encode long words.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) search: &'a Search,
    pub(super) short: &'a ShortWords,
    pub(super) joins: Option<&'a Joins>,
}

impl Tools<'_> {
    /// The id of a word that is not short, if it is one token.
    fn id_of_whole(self, word: &[u8], hash: u64) -> Option<Id> {
        self.short.whole.id_of_longer(self.vocabulary, word, hash)
    }

    /// Put words into the cache, by windows, unless a token has no id; calls `use_ids` with the index
    /// and the ids of each.
    fn learn(
        self,
        text: &[u8],
        words: &[Word],
        cache: &mut Cache,
        scratch: &mut Scratch,
        watch: &Watch,
        mut use_ids: impl FnMut(usize, &[Id]),
    ) -> Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let strings: Vec<&[u8]> = words.iter().map(|word| &text[word.place()]).collect();
        let mut ids = Vec::new();
        self.encode(&strings, scratch, watch, |which, tokens| {
            ids.clear();
            ids.extend(tokens.iter().map_while(|&token| self.vocabulary.id(token)));
            // If a byte has no id, `Words::encode` encodes this word.
            if ids.len() == tokens.len() {
                cache.insert(text, &words[which], &ids);
                use_ids(which, &ids);
            }
            Ok(())
        })
    }

    /// The last place up to `at` that is not inside a symbol of a word.
    fn symbol_end(self, word: &[u8], at: usize) -> usize {
        if at >= word.len() {
            return word.len();
        }
        let is_bound =
            |&at: &usize| self.vocabulary.symbols() != Symbols::Chars || !is_inside(word[at]);
        (0..=at).rev().find(is_bound).unwrap_or(0)
    }

    /// Calls `use_tokens` with the index and the tokens of each word, from the first to the last.
    pub(super) fn encode(
        self,
        words: &[&[u8]],
        scratch: &mut Scratch,
        watch: &Watch,
        use_tokens: impl FnMut(usize, &[Number]) -> Result<()>,
    ) -> Result<()> {
        let windows = Windows {
            tools: self,
            words,
            index: 0,
            scratch,
            tail: Bounds::NONE,
            watch,
            use_tokens,
        };
        windows.encode()
    }
}

/// Encodes words by windows.
struct Windows<'a, F> {
    tools: Tools<'a>,
    words: &'a [&'a [u8]],
    /// The current word.
    index: usize,
    /// Its first tokens, and the bounds of the last of these.
    scratch: &'a mut Scratch,
    tail: Bounds,
    watch: &'a Watch,
    use_tokens: F,
}

impl<F: FnMut(usize, &[Number]) -> Result<()>> Windows<'_, F> {
    fn encode(mut self) -> Result<()> {
        let mut alone = LEAST_ALONE;
        self.begin();
        while self.index < self.words.len() {
            self.watch.check()?;
            if self.encode_some()? {
                alone = LEAST_ALONE;
            } else if self.scratch.end > 0 {
                let until = self.scratch.end + alone;
                self.search_until(|_, end| end >= until)?;
                self.finish()?;
                alone = MOST_ALONE.min(alone * 2);
            }
        }
        Ok(())
    }

    fn begin(&mut self) {
        let word = self.words.get(self.index);
        self.scratch.begin(word.map_or(0, |word| word.len()));
        self.tail = Bounds::NONE;
    }

    /// If all tokens of the word are found, hand them out and begin with the next word.
    fn finish(&mut self) -> Result<()> {
        if self.scratch.end == self.words[self.index].len() {
            (self.use_tokens)(self.index, &self.scratch.tokens)?;
            self.index += 1;
            self.begin();
        }
        Ok(())
    }

    /// Go on by the next windows; returns whether most of them could be joined.
    fn encode_some(&mut self) -> Result<bool> {
        let (mut keys, mut places) = ([[0; KEY]; AT_ONCE], [(0, 0, 0); AT_ONCE]);
        let (mut index, mut start, mut len) = (self.index, self.tail.at, 0);
        while len < AT_ONCE
            && let Some(word) = self.words.get(index)
        {
            let end = self.tools.symbol_end(word, start + WINDOW);
            keys[len][..end - start].copy_from_slice(&word[start..end]);
            keys[len][WINDOW] = (end - start) as u8;
            places[len] = (index, start, end);
            len += 1;
            (index, start) = if end < word.len() {
                (index, self.tools.symbol_end(word, start + STEP))
            } else {
                (index + 1, 0)
            };
        }
        let (mut num_joined, mut result) = (0, Ok(()));
        let short = self.tools.short;
        short.merge(&keys[..len], |which, window| {
            let (index, start, end) = places[which];
            let is_needed = index == self.index && end > self.scratch.end;
            if is_needed && result.is_ok() {
                result = self
                    .join(window, start, end)
                    .map(|is_joined| num_joined += usize::from(is_joined))
                    .and_then(|()| self.finish());
            }
        });
        result?;
        Ok(num_joined * 2 > len)
    }

    /// Go on by a window of the word; returns whether it could be joined without a search.
    fn join(&mut self, window: &Merging<KEY>, start: usize, end: usize) -> Result<bool> {
        let bounds = Bounds {
            at: start,
            bits: u64::from(window.starts) | 1 << (end - start),
        };
        let mut seam = if self.scratch.end == 0 {
            Some(0)
        } else {
            self.tail.end_of_shared(bounds)
        };
        let is_joined = seam.is_some();
        if !is_joined {
            self.search_until(|token, token_end| {
                seam = token.end_of_shared(bounds);
                seam.is_some() || token_end >= end
            })?;
        }
        let Some(seam) = seam else { return Ok(false) };
        let tokens = &mut self.scratch.tokens;
        tokens.truncate(tokens.len() - self.tail.num_behind(seam));
        let numbers = self.tools.short.numbers(window, seam - start);
        tokens.extend(numbers);
        self.scratch.end = end;
        self.tail = self.tail.joined(bounds, seam);
        Ok(is_joined)
    }

    /// Search on until `is_last` is true for the bounds and the end of a token, or the word ends.
    fn search_until(&mut self, mut is_last: impl FnMut(Bounds, usize) -> bool) -> Result<()> {
        let Tools {
            vocabulary, search, ..
        } = self.tools;
        let word = self.words[self.index];
        search.go_on(vocabulary, word, self.scratch, self.watch, |start, end| {
            self.tail = Bounds::of_token(start, end);
            is_last(self.tail, end)
        })
    }
}

/// Where tokens begin and end: a bit for each of 64 places.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    at: usize,
    bits: u64,
}

impl Bounds {
    /// The bounds of no token, at the beginning of a word.
    const NONE: Self = Self { at: 0, bits: 1 };

    /// The bounds of one token; only where it begins, if it is longer than any window.
    fn of_token(start: usize, end: usize) -> Self {
        let last = 1_u64.checked_shl((end - start) as u32).unwrap_or(0);
        Self {
            at: start,
            bits: 1 | last,
        }
    }

    /// The bits from the place `at` on, which is not before the first.
    fn from(self, at: usize) -> u64 {
        self.bits.checked_shr((at - self.at) as u32).unwrap_or(0)
    }

    /// The end of the last token that both have.
    fn end_of_shared(self, other: Self) -> Option<usize> {
        let at = self.at.max(other.at);
        let both = self.from(at) & other.from(at);
        (both.count_ones() > 1).then(|| at + both.ilog2() as usize)
    }

    /// The number of tokens behind a bound.
    fn num_behind(self, bound: usize) -> usize {
        self.from(bound).count_ones() as usize - 1
    }

    /// The bounds of `self` up to a bound that both have, and those of `other` behind it.
    fn joined(self, other: Self, bound: usize) -> Self {
        let at = self.at.max(other.at);
        let behind = u64::MAX << (bound - at);
        Self {
            at,
            bits: self.from(at) & !behind | other.from(at) & behind,
        }
    }
}
