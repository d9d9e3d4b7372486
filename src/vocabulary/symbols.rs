//! Words as symbols: their bytes or characters, with marks at the first and the last.

use std::borrow::Cow;

use super::{Number, Symbols, Vocabulary};
use crate::error::{Error, Result};

/// What is part of a word's first and of its last symbol; empty: nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks<'m> {
    /// At the start of each token that begins a word.
    pub start: &'m [u8],
    /// At the end of each token that ends a word. If it is a token by itself, it is a symbol of its
    /// own after the last.
    pub end: &'m [u8],
}

/// The symbols of each token, one token after the other.
#[derive(Default)]
pub(super) struct Spellings {
    pub(super) symbols: Vec<Number>,
    pub(super) ends: Vec<usize>,
}

impl Spellings {
    pub(super) fn of(&self, token: usize) -> &[Number] {
        let start = if token == 0 { 0 } else { self.ends[token - 1] };
        &self.symbols[start..self.ends[token]]
    }
}

impl Vocabulary {
    /// What is at the end of each token that ends a word.
    #[must_use]
    pub fn end_of_word(&self) -> &[u8] {
        &self.end_of_word
    }

    /// What is at the start of each token that begins a word.
    #[must_use]
    pub fn start_of_word(&self) -> &[u8] {
        &self.start_of_word
    }

    /// Whether a word's first or last symbol has a mark.
    #[must_use]
    pub fn marks_words(&self) -> bool {
        !self.start_of_word.is_empty() || !self.end_of_word.is_empty()
    }

    /// What a token stands for in a word: its string without marks.
    pub(crate) fn text_of(&self, number: Number) -> &[u8] {
        let string = self.string(number);
        if !self.marks_words() {
            return string;
        }
        let string = string.strip_prefix(&*self.start_of_word).unwrap_or(string);
        string.strip_suffix(&*self.end_of_word).unwrap_or(string)
    }

    /// The bytes or the characters of a text; what is not UTF-8 byte by byte.
    pub(crate) fn units_of<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        if self.symbols == Symbols::Bytes {
            return text.chunks(1).collect();
        }
        let mut units = Vec::new();
        for chunk in text.utf8_chunks() {
            let valid = chunk.valid();
            let ends = valid.char_indices().map(|(at, c)| at..at + c.len_utf8());
            units.extend(ends.map(|range| &valid.as_bytes()[range]));
            units.extend(chunk.invalid().chunks(1));
        }
        units
    }

    /// The symbols of a token's string.
    pub(super) fn spell<'t>(&self, token: &'t [u8]) -> Result<Vec<Cow<'t, [u8]>>> {
        let (body, is_start) = match token.strip_prefix(&*self.start_of_word) {
            Some(body) if !self.start_of_word.is_empty() => (body, true),
            _ => (token, false),
        };
        let (body, is_end) = match body.strip_suffix(&*self.end_of_word) {
            Some(body) if !self.end_of_word.is_empty() => (body, true),
            _ => (body, false),
        };
        if self.symbols == Symbols::Chars && std::str::from_utf8(body).is_err() {
            let word = token.to_vec();
            return Err(Error::NotText { word });
        }
        let units = self.units_of(body).into_iter();
        let mut symbols: Vec<Cow<'_, [u8]>> = units.map(Cow::Borrowed).collect();
        if let Some(first) = symbols.first_mut().filter(|_| is_start) {
            *first = Cow::Owned([&*self.start_of_word, first].concat());
        }
        if is_end {
            match symbols.last_mut() {
                Some(last) if !self.end_is_symbol => {
                    last.to_mut().extend_from_slice(&self.end_of_word);
                }
                _ => symbols.push(Cow::Owned(self.end_of_word.to_vec())),
            }
        }
        Ok(symbols)
    }

    /// The numbers of a word's symbols; of a symbol that has none, its string.
    #[must_use]
    pub fn symbols_of<'w>(&self, word: &'w [u8]) -> Vec<std::result::Result<Number, &'w [u8]>> {
        let units = self.units_of(word);
        if !self.marks_words() {
            let numbers = units.iter().map(|&unit| self.number(unit).ok_or(unit));
            return numbers.collect();
        }
        let end_of_last: &[u8] = if self.end_is_symbol {
            b""
        } else {
            &self.end_of_word
        };
        let last = units.len().saturating_sub(1);
        let marked = units.iter().enumerate().map(|(index, &unit)| {
            let start: &[u8] = if index == 0 { &self.start_of_word } else { b"" };
            let end = if index == last { end_of_last } else { b"" };
            self.number(&[start, unit, end].concat()).ok_or(unit)
        });
        let mut symbols: Vec<_> = marked.collect();
        if self.end_is_symbol {
            symbols.extend(self.number(&self.end_of_word).map(Ok));
        }
        symbols
    }
}
