//! The documents of blocks.

use memchr::memchr_iter;

use super::block::{Block, Content, Place};
use super::{Documents, json};
use crate::error::{Error, Result};

/// Documents of an input, one after the other; the last one may go on in the next batch.
pub(crate) struct Batch {
    text: Vec<u8>,
    /// Where each document, or part of one, ends in the text.
    ends: Vec<usize>,
    /// Whether a document ends with the last.
    is_end: bool,
    place: Place,
    /// The lines of the documents, if they are not simply the lines of the text.
    lines: Vec<u64>,
    bad: BadLines,
}

/// Lines that were left out because they are no records. They may be many, so what is wrong with one is
/// found anew when it is asked for.
#[derive(Default)]
struct BadLines {
    /// How many documents are before each, and where it begins in the text of the block, in order.
    places: Vec<(usize, usize)>,
    /// That text.
    text: Vec<u8>,
    /// What is wrong with the only one, which was not in memory as a whole.
    known: Option<Error>,
}

impl Block {
    /// The documents of the block; of JSON, this parses it, and lines that are no records are errors
    /// or are left out.
    pub(crate) fn into_batch(self, skips_bad: bool) -> Result<Batch> {
        let Self {
            text,
            content,
            place,
            is_end,
            ..
        } = self;
        let (mut lines, mut bad) = (Vec::new(), BadLines::default());
        let ends = match (content, &place.documents) {
            (Content::Record, _) => {
                lines.push(place.num_lines);
                vec![text.len()]
            }
            (Content::Nothing(Some(error)), _) if !skips_bad => return Err(error),
            (Content::Nothing(error), _) => {
                bad.places.extend(error.as_ref().map(|_| (0, 0)));
                bad.known = error;
                Vec::new()
            }
            (Content::Given, Documents::File) => vec![text.len()],
            (Content::Given, Documents::Lines) => {
                let ends = memchr_iter(b'\n', &text).map(|at| at + 1);
                let begun = (!text.is_empty() && !text.ends_with(b"\n")).then_some(text.len());
                ends.chain(begun).collect()
            }
            (Content::Given, Documents::JsonLines(field)) => {
                return records(text, field, &place, skips_bad);
            }
        };
        Ok(Batch {
            text,
            ends,
            is_end,
            place,
            lines,
            bad,
        })
    }
}

/// The documents of lines of JSON.
fn records(text: Vec<u8>, field: &str, place: &Place, skips_bad: bool) -> Result<Batch> {
    let mut batch = Batch {
        text: Vec::with_capacity(text.len()),
        ends: Vec::new(),
        is_end: true,
        place: Place {
            offset: 0,
            ..place.clone()
        },
        lines: Vec::new(),
        bad: BadLines::default(),
    };
    let lines = lines_of(&text).zip(place.num_lines..);
    let lines = lines.filter(|((_, line), _)| !json::is_blank(line));
    let objects = lines.clone().map(|((_, line), _)| line);
    if let Some(ends) = json::push_fields(&text, objects, field, &mut batch.text) {
        let found = lines
            .zip(ends)
            .filter_map(|((_, number), end)| end.map(|end| (number, end)));
        (batch.lines, batch.ends) = found.unzip();
        return Ok(batch);
    }
    batch.text.clear();
    for ((start, line), number) in lines {
        match json::push_field(line, field, &mut batch.text) {
            Ok(true) => {
                batch.ends.push(batch.text.len());
                batch.lines.push(number);
            }
            Ok(false) => {}
            Err(_) if skips_bad => {
                let end = batch.ends.last().copied().unwrap_or(0);
                batch.text.truncate(end);
                batch.bad.places.push((batch.ends.len(), start));
            }
            Err(error) => return Err(error.in_line(number).in_file(&place.path)),
        }
    }
    if !batch.bad.places.is_empty() {
        batch.bad.text = text;
    }
    Ok(batch)
}

/// The lines of a text, and where each begins.
fn lines_of(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> + Clone {
    let mut next = 0;
    let ends = memchr_iter(b'\n', text).chain([text.len()]);
    ends.map(move |end| {
        let start = std::mem::replace(&mut next, end + 1);
        (start, &text[start..end])
    })
}

impl Batch {
    /// The documents, or parts of them.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let document = &self.text[start..end];
            start = end;
            document
        })
    }

    /// How many documents are before each line that was left out, in order.
    pub(crate) fn bad_places(&self) -> impl ExactSizeIterator<Item = usize> {
        self.bad.places.iter().map(|&(index, _)| index)
    }

    /// What is wrong with one of these lines.
    pub(crate) fn bad_error(&self, index: usize) -> Error {
        let BadLines {
            places,
            text,
            known,
        } = &self.bad;
        if let Some(error) = known {
            return error.clone();
        }
        let (before, rest) = text.split_at(places[index].1);
        let (_, line) = lines_of(rest).next().unwrap_or_default();
        let Documents::JsonLines(field) = &self.place.documents else {
            unreachable!("all other lines are documents");
        };
        let found = json::push_field(line, field, &mut Vec::new());
        let error = found.expect_err("it was no record");
        let number = self.place.num_lines + memchr_iter(b'\n', before).count() as u64;
        error.in_line(number).in_file(&self.place.path)
    }

    /// The key of the first document, if it is a part of one.
    pub(crate) fn key(&self) -> Option<u64> {
        self.place.key
    }

    /// Whether a document begins with the first of these.
    pub(crate) fn is_start(&self) -> bool {
        self.place.is_start
    }

    /// Whether a document ends with the last of these.
    pub(crate) fn is_end(&self) -> bool {
        self.is_end
    }

    /// The same error with its place in the input, if it is one of the document `index`.
    pub(crate) fn located(&self, error: Error, index: usize) -> Error {
        let Place {
            path,
            documents,
            offset,
            num_lines,
            ..
        } = &self.place;
        let (before, start) = (*offset as usize, index.checked_sub(1));
        let start = before + start.map_or(0, |before| self.ends[before]);
        let located = match documents {
            Documents::File => error.moved(start, 0),
            Documents::Lines => error.moved(start, 0).in_line(num_lines + index as u64),
            // Places are those of the record's text.
            Documents::JsonLines(_) => error.moved(before, 0).in_line(self.lines[index]),
        };
        located.in_file(path)
    }
}
