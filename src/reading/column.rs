//! Columns of texts, which others decode and hand over a few rows at a time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{IntoIter, Receiver, SyncSender, channel, sync_channel};

use super::Part;
use crate::error::{Error, Result};
use crate::parallel::lock;

/// Strings, one after the other.
#[derive(Default)]
pub struct Strings {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Where each string ends, and whether it is there: if not, the row is null.
    pub ends: Vec<(usize, bool)>,
}

impl Strings {
    /// The string of each row; None for a null.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, is_valid)| {
            let from = std::mem::replace(&mut start, end);
            is_valid.then(|| &self.bytes[from..end])
        })
    }
}

/// Some rows of a column.
pub struct Rows {
    /// The file and the rows, for messages.
    pub place: PathBuf,
    /// The texts; nulls are no documents.
    pub texts: Strings,
    /// How many bytes of all inputs are before them.
    pub position: u64,
    /// How many bytes were read for them.
    pub num_read: u64,
    /// Whether the column, or the part of it that is read by itself, ends with them.
    pub is_last: bool,
}

/// How many columns are read at once. Each takes megabytes, and to decode it nearly half of the time.
pub(crate) fn most_columns(num_threads: usize) -> usize {
    num_threads.div_ceil(2)
}

/// Call `work` with columns whose rows are read by as many other threads as columns are read at once,
/// and a step ahead, so that who takes them need not wait; one thread alone reads them itself.
///
/// No column may be asked for while so many have rows that were not taken.
pub(crate) fn reading_ahead<I: Iterator<Item = Result<Rows>> + Send, T>(
    columns: impl Iterator<Item = I> + Send,
    num_threads: usize,
    work: impl FnOnce(&mut (dyn Iterator<Item = Column<I>> + Send)) -> T,
) -> T {
    if num_threads <= 1 {
        return work(&mut columns.map(Column::Here));
    }
    let (give, given) = channel::<Given<I>>();
    let given = Mutex::new(given);
    std::thread::scope(|scope| {
        for _ in 0..most_columns(num_threads) {
            scope.spawn(|| read_given(&given));
        }
        // Dropped here, also if `work` panics: then the threads end.
        let mut columns = columns.map(move |column| {
            let (put, rows) = sync_channel(1);
            give.send((column, put)).expect("they end later");
            Column::Elsewhere(rows.into_iter())
        });
        work(&mut columns)
    })
}

/// A column to be read, and where its rows go.
type Given<I> = (I, SyncSender<Result<Rows>>);

/// Read columns one after the other, while there are any.
fn read_given<I: Iterator<Item = Result<Rows>>>(given: &Mutex<Receiver<Given<I>>>) {
    let mut panic = None;
    while let Ok((column, put)) = { lock(given).recv() } {
        // After a panic columns are still taken, since somebody waits for their rows or their end.
        if panic.is_none() {
            let mut rows = column.map(|rows| put.send(rows));
            // Who needs no more of a column drops the other end.
            let read = AssertUnwindSafe(move || rows.all(|sent| sent.is_ok()));
            panic = catch_unwind(read).err();
        }
    }
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// The rows of a column, read by the thread that takes them or by another.
pub(crate) enum Column<I> {
    Here(I),
    Elsewhere(IntoIter<Result<Rows>>),
}

impl<I: Iterator<Item = Result<Rows>>> Iterator for Column<I> {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        match self {
            Self::Here(rows) => rows.next(),
            Self::Elsewhere(rows) => rows.next(),
        }
    }
}

impl Rows {
    /// The texts that are there.
    pub(crate) fn documents(&self) -> Vec<&[u8]> {
        self.texts.iter().flatten().collect()
    }

    /// The same error with its place, if it is one of a document.
    pub(crate) fn located(&self, error: Error) -> Error {
        match error {
            Error::InDocument { index, error } => {
                let mut rows = (0..)
                    .zip(self.texts.iter())
                    .filter(|(_, text)| text.is_some());
                let row = rows.nth(index).map_or(index, |(row, _)| row);
                error.in_document(row).in_file(&self.place)
            }
            other => other,
        }
    }
}

impl Part for Rows {
    fn is_last(&self) -> bool {
        self.is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of so many rows, each with its number; `wrong` is called with each row before it is read.
    fn columns<'w>(
        lengths: &'w [u64],
        wrong: impl Fn(usize, u64) -> Result<()> + Copy + Send + Sync + 'w,
    ) -> impl Iterator<Item = impl Iterator<Item = Result<Rows>> + Send + 'w> + Send + 'w {
        let row = |position, is_last| Rows {
            place: PathBuf::new(),
            texts: Strings::default(),
            position,
            num_read: 0,
            is_last,
        };
        lengths.iter().enumerate().map(move |(column, &length)| {
            let rows = (0..length).map(move |number| (number, number + 1 == length));
            rows.map(move |(number, is_last)| {
                wrong(column, number)?;
                Ok(row(1000 * column as u64 + number, is_last))
            })
        })
    }

    const LENGTHS: [u64; 7] = [3, 1, 0, 9, 2, 5, 4];

    #[test]
    fn rows_are_those_of_their_columns_whoever_reads_them() {
        let wrong = |column, row| match (column, row) {
            (3, 4..) => Err(Error::InvalidUtf8 { offset: 0 }),
            _ => Ok(()),
        };
        let position = |rows: Result<Rows>| rows.map(|rows| (rows.position, rows.is_last));
        let here: Vec<Vec<_>> = columns(&LENGTHS, wrong)
            .map(|rows| rows.map(position).collect())
            .collect();
        for num_threads in [1, 2, 5, 16] {
            let found: Vec<Vec<_>> =
                reading_ahead(columns(&LENGTHS, wrong), num_threads, |columns| {
                    columns.map(|rows| rows.map(position).collect()).collect()
                });
            assert_eq!(found, here, "{num_threads} threads");
        }
    }

    #[test]
    fn what_is_not_taken_is_not_waited_for() {
        for num_threads in [1, 2, 16] {
            let first = reading_ahead(columns(&LENGTHS, |_, _| Ok(())), num_threads, |columns| {
                let mut rows = columns.next()?;
                rows.next()
            });
            assert!(first.is_some_and(|rows| rows.is_ok_and(|rows| rows.position == 0)));
        }
    }

    #[test]
    fn a_panic_goes_on_in_the_calling_thread() {
        for num_threads in [1, 2, 16] {
            let wrong = |column, row| {
                assert!((column, row) != (3, 4), "column three");
                Ok(())
            };
            let caught = catch_unwind(|| {
                reading_ahead(columns(&LENGTHS, wrong), num_threads, |columns| {
                    columns.map(Iterator::count).sum::<usize>()
                })
            });
            assert!(caught.is_err());
        }
    }
}
