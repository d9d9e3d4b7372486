//! The largest values that are known, and the strings that have them.

use super::columns::{Column, NUM_COLUMNS, Values};
use super::fraction::Fraction;

/// A value and the first string that attains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The value.
    pub value: Fraction,
    /// The string, as letters 0, 1, ...
    pub witness: Vec<u8>,
}

/// For each number of merges, from 1 on, the records of all columns.
#[derive(Debug, Clone, Default)]
pub struct Records(pub Vec<[Option<Record>; NUM_COLUMNS]>);

impl Records {
    /// The values of the records.
    pub(super) fn floors(&self) -> Vec<Values> {
        let value = |record: &Option<Record>| record.as_ref().map(|record| record.value);
        self.0.iter().map(|row| row.each_ref().map(value)).collect()
    }

    /// Put in a value if it is larger than the record; whether it was.
    pub(super) fn improve(
        &mut self,
        num_merges: usize,
        column: Column,
        value: Fraction,
        string: &[u8],
    ) -> bool {
        let record = &mut self.0[num_merges - 1][column as usize];
        let is_better = record.as_ref().is_none_or(|known| value > known.value);
        if is_better {
            *record = Some(Record {
                value,
                witness: string.to_vec(),
            });
        }
        is_better
    }
}
