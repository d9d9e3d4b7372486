//! What is left out of a block: how much, and what is wrong with the first.
//!
//! It may be nearly all of a block, so errors are kept for a few alone.

use crate::error::Error;

/// How many of all that are left out are told.
pub(super) const MOST_TOLD: usize = 10;
/// About how many bytes of memory one that is told takes.
const TOLD_BYTES: usize = 512;

/// Lines that are no records, and documents that cannot be encoded.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Of each split: documents of the block, in order, and how many each is, or is before. Lines are of the
    /// first split.
    pub(super) numbers: [Vec<(u64, u64)>; 2],
    /// Those that may be told, in order: enough of them wherever a shard begins.
    pub(super) told: Vec<Told>,
}

/// One of them.
pub(super) struct Told {
    pub(super) split: usize,
    /// Which document of the block it is, or is before.
    pub(super) document: u64,
    /// What is wrong with it.
    pub(super) error: Error,
}

impl LeftOut {
    /// Leave the next document out.
    pub(super) fn add_document(
        &mut self,
        split: usize,
        document: u64,
        error: impl FnOnce() -> Error,
    ) {
        self.numbers[split].push((document, 1));
        // The first may be of a shard that is made elsewhere.
        if self.told.len() <= MOST_TOLD {
            self.told.push(Told {
                split,
                document,
                error: error(),
            });
        }
    }

    /// Leave lines out, in order: which, and the document behind each. Those before documents up to `first`
    /// may be of a shard that is made elsewhere. No documents are added afterwards.
    pub(super) fn add_lines(
        &mut self,
        lines: impl Iterator<Item = (usize, u64)>,
        first: u64,
        error: impl Fn(usize) -> Error,
    ) {
        let (mut numbers, mut told) = (Vec::<(u64, u64)>::new(), Vec::new());
        let mut num_told = [0; 2];
        for (index, document) in lines {
            match numbers.last_mut() {
                Some((last, number)) if *last == document => *number += 1,
                _ => numbers.push((document, 1)),
            }
            let num_told = &mut num_told[usize::from(document > first)];
            if *num_told < MOST_TOLD {
                *num_told += 1;
                let error = error(index);
                told.push(Told {
                    split: 0,
                    document,
                    error,
                });
            }
        }
        // The sorts are stable, and a line is before its document.
        numbers.append(&mut self.numbers[0]);
        numbers.sort_by_key(|&(document, _)| document);
        self.numbers[0] = numbers;
        told.append(&mut self.told);
        told.sort_by_key(|told| told.document);
        self.told = told;
    }

    /// About how many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        let numbers: usize = self.numbers.iter().map(Vec::len).sum();
        numbers * size_of::<(u64, u64)>() + self.told.len() * TOLD_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(left_out: &LeftOut) -> Vec<(u64, Option<u64>)> {
        let told = left_out.told.iter();
        told.map(|told| (told.document, told.error.offset()))
            .collect()
    }

    #[test]
    fn a_line_is_before_its_document() {
        let mut left_out = LeftOut::default();
        let error = |offset| move || Error::InvalidUtf8 { offset };
        left_out.add_document(1, 3, error(0));
        left_out.add_document(0, 4, error(1));
        let lines = [(2, 3), (3, 4), (4, 4), (5, 9)];
        left_out.add_lines(lines.into_iter(), 0, |offset| error(offset)());
        let told = [(3, 2), (3, 0), (4, 3), (4, 4), (4, 1), (9, 5)];
        let told = told.map(|(document, offset)| (document, Some(offset)));
        assert_eq!(offsets(&left_out), told);
        let numbers = [vec![(3, 1), (4, 2), (4, 1), (9, 1)], vec![(3, 1)]];
        assert_eq!(left_out.numbers, numbers);
    }

    #[test]
    fn few_errors_are_kept_but_enough_wherever_a_shard_begins() {
        let mut left_out = LeftOut::default();
        for document in 0..1000 {
            left_out.add_document(0, document, || Error::WorkerPanicked);
        }
        // Of a thousand lines each is before the first document, or before the third.
        let lines = (0..2000).map(|index| (index, 2 * (index as u64 / 1000)));
        left_out.add_lines(lines, 0, |offset| Error::InvalidUtf8 { offset });
        let told = offsets(&left_out);
        assert_eq!(told.len(), 3 * MOST_TOLD + 1);
        assert!((0..10).all(|n| told[n] == (0, Some(n as u64))));
        let behind = told.iter().filter(|&&(document, _)| document > 0);
        let expected = [(1, None)]
            .into_iter()
            .chain((1000..1009).map(|n| (2, Some(n))));
        assert!(behind.take(MOST_TOLD).copied().eq(expected));
        let numbers: u64 = left_out.numbers[0].iter().map(|&(_, number)| number).sum();
        assert_eq!((numbers, left_out.numbers[0].len()), (3000, 1002));
    }
}
