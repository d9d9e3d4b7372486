//! Values of JSON that are gone over, whatever they hold.

use std::io::Read;

use super::line::Line;
use super::wrong::{Stop, Wrong};

/// The numbers that Python writes and JSON does not have; a minus may stand before them.
const PYTHON_NUMBERS: [&[u8]; 2] = [b"NaN", b"Infinity"];
/// How many lists and objects may lie in one another: each takes a bit of memory.
const MOST_DEPTH: usize = 1 << 30;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Bool,
    Int,
    Float,
    Str,
    List,
    Dict,
}

impl Kind {
    /// As Python names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Str => "str",
            Self::List => "list",
            Self::Dict => "dict",
        }
    }
}

/// The lists and objects around a value: a bit for each, 1 for an object.
#[derive(Default)]
struct Around {
    bits: Vec<u64>,
    depth: usize,
}

impl Around {
    fn push(&mut self, is_object: bool) {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.bits.resize(word + 1, 0);
        self.bits[word] &= !(1 << bit);
        self.bits[word] |= u64::from(is_object) << bit;
        self.depth += 1;
    }

    /// Whether the nearest is an object; None if there is none.
    fn nearest(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        Some(self.bits[last / 64] >> (last % 64) & 1 == 1)
    }
}

/// Whether a line of such bytes is blank; JSON does not have all of them.
pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

impl<R: Read> Line<R> {
    /// The next byte that is no space, if there is one.
    pub(super) fn next_byte(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let window = self.window()?;
            let is_space = |byte: &u8| b" \t\r\n".contains(byte);
            let num_spaces = window.iter().take_while(|byte| is_space(byte)).count();
            let (next, is_end) = (window.get(num_spaces).copied(), window.is_empty());
            self.skip(num_spaces);
            if next.is_some() || is_end {
                return Ok(next);
            }
        }
    }

    /// Go over a value.
    pub(super) fn value(&mut self) -> Result<Kind, Stop> {
        let whole = self.begin_value()?;
        let (mut around, mut kind) = (Around::default(), whole);
        loop {
            let is_begun = matches!(kind, Kind::List | Kind::Dict);
            if is_begun {
                if around.depth == MOST_DEPTH {
                    return Err(self.wrong(Wrong::TooDeep));
                }
                around.push(kind == Kind::Dict);
            }
            if !self.go_on(&mut around, is_begun)? {
                return Ok(whole);
            }
            kind = self.begin_value()?;
        }
    }

    /// Go over a value; of a list or object, over its bracket.
    fn begin_value(&mut self) -> Result<Kind, Stop> {
        let Some(byte) = self.next_byte()? else {
            return Err(self.wrong(Wrong::EndInValue));
        };
        match byte {
            b'n' => self.word(b"null").map(|()| Kind::None),
            b't' => self.word(b"true").map(|()| Kind::Bool),
            b'f' => self.word(b"false").map(|()| Kind::Bool),
            b'"' => {
                self.skip(1);
                self.skip_string().map(|()| Kind::Str)
            }
            b'[' | b'{' => {
                self.skip(1);
                Ok(if byte == b'[' { Kind::List } else { Kind::Dict })
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.python_number()?.is_some() => self.number(),
            _ => Err(self.wrong_next(Wrong::Value)),
        }
    }

    /// Go over what is behind a value, or behind a bracket, up to the next value; false if there is
    /// none, as nothing is around any more.
    fn go_on(&mut self, around: &mut Around, mut is_begun: bool) -> Result<bool, Stop> {
        while let Some(is_object) = around.nearest() {
            let (bracket, in_end, in_comma) = if is_object {
                (b'}', Wrong::EndInObject, Wrong::ObjectComma)
            } else {
                (b']', Wrong::EndInList, Wrong::ListComma)
            };
            match self.next_byte()? {
                None => return Err(self.wrong(in_end)),
                Some(byte) if byte == bracket => {
                    self.skip(1);
                    around.depth -= 1;
                    is_begun = false;
                    continue;
                }
                Some(_) if is_begun => {}
                Some(b',') => self.skip(1),
                Some(_) => return Err(self.wrong_next(in_comma)),
            }
            if is_object {
                match self.next_byte()? {
                    Some(b'"') => self.skip(1),
                    Some(_) => return Err(self.wrong_next(Wrong::Key)),
                    None => return Err(self.wrong(Wrong::EndInObject)),
                }
                self.skip_string()?;
                self.colon()?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Go over the colon behind a name.
    pub(super) fn colon(&mut self) -> Result<(), Stop> {
        match self.next_byte()? {
            Some(b':') => {
                self.skip(1);
                Ok(())
            }
            Some(_) => Err(self.wrong_next(Wrong::Colon)),
            None => Err(self.wrong(Wrong::EndInObject)),
        }
    }

    /// Go over a word, whose first byte was seen.
    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        self.skip(1);
        for &expected in &word[1..] {
            match self.take::<1>()? {
                None => return Err(self.wrong(Wrong::EndInValue)),
                Some([byte]) if byte != expected => return Err(self.wrong(Wrong::Word)),
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Kind, Stop> {
        let mut is_float = false;
        if self.peek()? == Some(b'-') {
            self.skip(1);
        }
        if self.first_digit(&mut is_float)? == b'0' {
            if matches!(self.peek()?, Some(b'0'..=b'9')) || self.python_number()?.is_some() {
                return Err(self.wrong_next(Wrong::Number));
            }
        } else {
            self.digits(&mut is_float)?;
        }
        if self.peek()? == Some(b'.') {
            self.skip(1);
            is_float = true;
            if self.digits(&mut is_float)? == 0 {
                return Err(self.wrong_next(Wrong::Number));
            }
        }
        if matches!(self.peek()?, Some(b'e' | b'E')) {
            self.skip(1);
            is_float = true;
            if matches!(self.peek()?, Some(b'+' | b'-')) {
                self.skip(1);
            }
            self.first_digit(&mut is_float)?;
            self.digits(&mut is_float)?;
        }
        Ok(if is_float { Kind::Float } else { Kind::Int })
    }

    /// Go over a digit, which has to be there.
    fn first_digit(&mut self, is_float: &mut bool) -> Result<u8, Stop> {
        if let Some(digit) = self.digit(is_float)? {
            return Ok(digit);
        }
        self.take::<1>()?;
        Err(self.wrong(Wrong::Number))
    }

    /// Go over digits; returns how many there are.
    fn digits(&mut self, is_float: &mut bool) -> Result<u64, Stop> {
        let mut num_digits = 0;
        while self.digit(is_float)?.is_some() {
            num_digits += 1;
        }
        Ok(num_digits)
    }

    /// Go over a digit, if one is next. A number that JSON does not have is as good as one.
    fn digit(&mut self, is_float: &mut bool) -> Result<Option<u8>, Stop> {
        if let Some(digit @ b'0'..=b'9') = self.peek()? {
            self.skip(1);
            return Ok(Some(digit));
        }
        let Some(number) = self.python_number()? else {
            return Ok(None);
        };
        self.skip(number.len());
        *is_float = true;
        Ok(Some(b'1'))
    }

    /// The number that JSON does not have with which the rest begins, if it does.
    fn python_number(&mut self) -> Result<Option<&'static [u8]>, Stop> {
        for number in PYTHON_NUMBERS {
            if self.begins_with(number)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}
