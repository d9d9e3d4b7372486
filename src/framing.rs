//! What a caller makes of the ids of each text: special tokens around them, a greatest length, and
//! padding.

use crate::merges::Id;

/// What is around the ids of a text.
///
/// ```
/// use mergewise::encode::{Frame, Side};
/// use mergewise::{Alphabet, Choice, MergeList, Tokenizer};
///
/// let bytes = MergeList::new(Alphabet::Bytes);
/// let tokenizer = Tokenizer::builder().merge_list(&bytes).special_token("<s>", 300).build()?;
/// let frame = Frame { before: vec![300], limit: Some((3, Side::Right)), ..Frame::default() };
/// let choice = Choice { frame, ..Choice::default() };
/// assert_eq!(tokenizer.encode_with("abc", &choice)?, [300, 97, 98]);
/// # Ok::<(), mergewise::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Ids before the text's.
    pub before: Vec<Id>,
    /// Ids behind them.
    pub after: Vec<Id>,
    /// The most ids that there may be, those around the text included, and where the text's are cut
    /// off.
    pub limit: Option<(usize, Side)>,
    /// What makes the ids of all texts of a batch equally many.
    pub padding: Option<Padding>,
}

/// An end of a sequence of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Its beginning.
    Left,
    /// Its end.
    Right,
}

/// An id that is put beside the ids of texts that have too few.
#[derive(Debug, Clone)]
pub struct Padding {
    /// The id.
    pub id: Id,
    /// How many ids a text then has; `None`: as many as the text of the batch that has the most.
    pub length: Option<usize>,
    /// Their number is a multiple of this.
    pub multiple_of: usize,
    /// Where it is put.
    pub side: Side,
}

impl Frame {
    /// How many of a text's ids are kept.
    fn most_kept(&self) -> usize {
        let around = self.before.len() + self.after.len();
        self.limit
            .map_or(usize::MAX, |(most, _)| most.saturating_sub(around))
    }

    /// Whether the ids of a text stay as they are, but for padding.
    pub(crate) fn is_bare(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.limit.is_none()
    }

    /// Append what is before a text's ids; where these will begin.
    pub(crate) fn open(&self, ids: &mut Vec<Id>) -> usize {
        ids.extend_from_slice(&self.before);
        ids.len()
    }

    /// Cut off what is too much of the ids from `start` on, and append what is behind them.
    pub(crate) fn close(&self, ids: &mut Vec<Id>, start: usize) {
        let excess = (ids.len() - start).saturating_sub(self.most_kept());
        match self.limit {
            Some((_, Side::Left)) => drop(ids.drain(start..start + excess)),
            _ => ids.truncate(ids.len() - excess),
        }
        ids.extend_from_slice(&self.after);
    }

    /// How many ids there are with a text of `count`, alone in its batch.
    pub(crate) fn total(&self, count: usize) -> usize {
        let total = count.min(self.most_kept()) + self.before.len() + self.after.len();
        let padded = self
            .padding
            .as_ref()
            .map_or(0, |padding| padding.length_of(total));
        total.max(padded)
    }

    /// The ids of a text that is alone in its batch, filled up if they are too few.
    pub(crate) fn fill_one(&self, ids: Vec<Id>) -> Vec<Id> {
        match &self.padding {
            Some(padding) => {
                let ends = vec![0, ids.len()];
                padding.fill((ids, ends)).0
            }
            None => ids,
        }
    }

    /// The ids of texts, and where each text's end, with those that are too few filled up.
    pub(crate) fn fill(&self, encoded: (Vec<Id>, Vec<usize>)) -> (Vec<Id>, Vec<usize>) {
        match &self.padding {
            Some(padding) => padding.fill(encoded),
            None => encoded,
        }
    }
}

impl Padding {
    /// How many ids each text has behind padding, if the longest has `longest`.
    fn length_of(&self, longest: usize) -> usize {
        let length = self.length.unwrap_or(longest);
        match self.multiple_of {
            0 => length,
            multiple => length.next_multiple_of(multiple),
        }
    }

    fn fill(&self, (ids, ends): (Vec<Id>, Vec<usize>)) -> (Vec<Id>, Vec<usize>) {
        let lengths = ends.windows(2).map(|ends| ends[1] - ends[0]);
        let length = self.length_of(lengths.max().unwrap_or(0));
        let mut filled = (Vec::with_capacity(length * ends.len()), vec![0]);
        for ends in ends.windows(2) {
            let own = &ids[ends[0]..ends[1]];
            let missing = std::iter::repeat_n(self.id, length.saturating_sub(own.len()));
            match self.side {
                Side::Left => {
                    filled.0.extend(missing);
                    filled.0.extend_from_slice(own);
                }
                Side::Right => {
                    filled.0.extend_from_slice(own);
                    filled.0.extend(missing);
                }
            }
            filled.1.push(filled.0.len());
        }
        filled
    }
}
