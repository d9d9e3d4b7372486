//! A text on its way through the steps, and what each of its bytes stands for in the caller's text.
//!
//! A step rewrites a text from left to right with a [`Rewriter`]: it reads characters and writes
//! others for them. A character that is written for one that was read stands for what that one
//! stood for; one that is inserted stands for what was read last.

use std::ops::Range;

/// Where something begins and ends in the caller's text, in bytes.
pub type Place = (usize, usize);

/// A text, and where each of its bytes comes from if that is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aligned {
    text: String,
    places: Option<Vec<Place>>,
}

impl Aligned {
    /// A stretch of the caller's text that begins at `start`.
    pub(crate) fn new(text: &str, start: usize, is_tracked: bool) -> Self {
        let places = is_tracked.then(|| {
            let characters = text.char_indices();
            characters
                .flat_map(|(at, c)| {
                    let place = (start + at, start + at + c.len_utf8());
                    std::iter::repeat_n(place, c.len_utf8())
                })
                .collect()
        });
        Self {
            text: text.to_owned(),
            places,
        }
    }

    /// No text yet.
    pub(crate) fn with_capacity(num_bytes: usize, is_tracked: bool) -> Self {
        Self {
            text: String::with_capacity(num_bytes),
            places: is_tracked.then(|| Vec::with_capacity(num_bytes)),
        }
    }

    /// Append a string that stands for this place.
    pub(crate) fn push(&mut self, string: &str, place: Place) {
        self.text.push_str(string);
        if let Some(places) = &mut self.places {
            places.extend(std::iter::repeat_n(place, string.len()));
        }
    }

    /// Remove a string from the end as often as it is there.
    pub(crate) fn trim_end(&mut self, string: &str) {
        let len = self.text.trim_end_matches(string).len();
        self.text.truncate(len);
        if let Some(places) = &mut self.places {
            places.truncate(len);
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What the bytes of a range stand for; `None` if the range is empty or nobody asked.
    pub(crate) fn place(&self, range: Range<usize>) -> Option<Place> {
        let places = self.places.as_ref()?.get(range)?;
        Some((places.first()?.0, places.last()?.1))
    }

    /// The text, and what each byte stands for, if that was asked.
    pub(crate) fn into_parts(self) -> (String, Option<Vec<Place>>) {
        (self.text, self.places)
    }

    /// A part of it.
    pub(crate) fn slice(&self, range: Range<usize>) -> Self {
        Self {
            text: self.text[range.clone()].to_owned(),
            places: self.places.as_ref().map(|places| places[range].to_vec()),
        }
    }

    /// Rewrite the whole text.
    pub(crate) fn rewrite(&mut self, write: impl FnOnce(&mut Rewriter<'_>)) {
        let whole = 0..self.text.len();
        let mut written = self.empty();
        written.append_rewritten(self, whole, write);
        *self = written;
    }

    /// No text, with places if this one has them.
    pub(crate) fn empty(&self) -> Self {
        Self::with_capacity(self.text.len(), self.places.is_some())
    }

    /// Append what `write` makes of a range of `source`.
    pub(crate) fn append_rewritten(
        &mut self,
        source: &Self,
        range: Range<usize>,
        write: impl FnOnce(&mut Rewriter<'_>),
    ) {
        let mut rewriter = Rewriter {
            source,
            at: range.start,
            range,
            text: std::mem::take(&mut self.text),
            places: self.places.take(),
        };
        write(&mut rewriter);
        (self.text, self.places) = (rewriter.text, rewriter.places);
    }
}

/// Reads a text from left to right and writes another.
pub(crate) struct Rewriter<'s> {
    source: &'s Aligned,
    range: Range<usize>,
    /// Everything before this byte was read.
    at: usize,
    text: String,
    places: Option<Vec<Place>>,
}

impl<'s> Rewriter<'s> {
    /// What is not read yet.
    pub(crate) fn rest(&self) -> &'s str {
        &self.source.text[self.at..self.range.end]
    }

    /// Read a character and write another for it.
    pub(crate) fn replace(&mut self, by: char) {
        let place = self.place(self.at);
        self.skip(1);
        self.write(by, place);
    }

    /// Write a character that stands for no other.
    pub(crate) fn insert(&mut self, new: char) {
        let place = match self.at.checked_sub(1) {
            Some(last) if last >= self.range.start => self.place(last),
            // Before the first character: nothing, at its place.
            _ => self.place(self.at).map(|(start, _)| (start, start)),
        };
        self.write(new, place);
    }

    /// Read this many characters and write nothing for them.
    pub(crate) fn skip(&mut self, count: usize) {
        let skipped = self.rest().chars().take(count);
        self.at += skipped.map(char::len_utf8).sum::<usize>();
    }

    /// Read this many bytes and write nothing for them.
    pub(crate) fn drop(&mut self, num_bytes: usize) {
        self.at += num_bytes;
    }

    /// Read this many bytes and write them as they are.
    pub(crate) fn keep(&mut self, num_bytes: usize) {
        let range = self.at..self.at + num_bytes;
        self.text.push_str(&self.source.text[range.clone()]);
        if let (Some(places), Some(known)) = (&mut self.places, &self.source.places) {
            places.extend_from_slice(&known[range]);
        }
        self.at += num_bytes;
    }

    /// Write characters, each with how many were added before it (1: it is new) or removed behind
    /// it (-n), as iterators over normal forms give them.
    pub(crate) fn apply(&mut self, changes: impl IntoIterator<Item = (char, isize)>) {
        for (character, change) in changes {
            if change > 0 {
                self.insert(character);
            } else {
                self.replace(character);
                self.skip(change.unsigned_abs());
            }
        }
    }

    /// Put a string before the text: it stands for the text's first character, if there is one.
    pub(crate) fn prepend(&mut self, string: &str) {
        let Some(first) = self.rest().chars().next() else {
            return;
        };
        for (index, character) in string.chars().enumerate() {
            if index == 0 {
                self.replace(character);
            } else {
                self.insert(character);
            }
        }
        if string.is_empty() {
            self.replace(first);
        } else {
            self.insert(first);
        }
    }

    fn place(&self, at: usize) -> Option<Place> {
        self.source.places.as_ref()?.get(at).copied()
    }

    fn write(&mut self, character: char, place: Option<Place>) {
        self.text.push(character);
        if let Some(places) = &mut self.places {
            let end = places.last().map_or(0, |place| place.1);
            let place = place.unwrap_or((end, end));
            places.extend(std::iter::repeat_n(place, character.len_utf8()));
        }
    }
}

/// A text that is cut into pieces. What lies between them is left out.
#[derive(Debug)]
pub(crate) struct Pieces {
    text: Aligned,
    ranges: Vec<Range<usize>>,
}

impl Pieces {
    /// The whole text as one piece; an empty one has none.
    pub(crate) fn new(text: Aligned) -> Self {
        let whole = 0..text.text.len();
        let ranges = if whole.is_empty() {
            Vec::new()
        } else {
            vec![whole]
        };
        Self { text, ranges }
    }

    pub(crate) fn text(&self) -> &Aligned {
        &self.text
    }

    pub(crate) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Cut each piece into those that `cut` pushes, as ranges of the piece; empty ones are left out.
    pub(crate) fn cut<E>(
        &mut self,
        mut cut: impl FnMut(&str, &mut Vec<Range<usize>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ranges = Vec::with_capacity(self.ranges.len());
        let mut found = Vec::new();
        for piece in &self.ranges {
            found.clear();
            cut(&self.text.text[piece.clone()], &mut found)?;
            let found = found.iter().filter(|range| !range.is_empty());
            ranges.extend(found.map(|range| piece.start + range.start..piece.start + range.end));
        }
        self.ranges = ranges;
        Ok(())
    }

    /// Rewrite each piece; `write` is told where the piece begins in the caller's text, if that is
    /// known.
    pub(crate) fn rewrite(&mut self, mut write: impl FnMut(&mut Rewriter<'_>, Option<usize>)) {
        let mut text = self.text.empty();
        for piece in &mut self.ranges {
            let start = text.text.len();
            let place = self.text.place(piece.clone());
            let begin = place.map(|place| place.0);
            text.append_rewritten(&self.text, piece.clone(), |rewriter| write(rewriter, begin));
            *piece = start..text.text.len();
        }
        self.ranges.retain(|range| !range.is_empty());
        self.text = text;
    }
}
