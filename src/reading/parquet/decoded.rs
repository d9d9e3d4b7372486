//! Rows that were decoded, and are taken one by one.

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::{ParquetError, Result};

/// So many rows are decoded at once. Each refers to its text, which may be long.
const ROWS_AT_ONCE: usize = 512;

/// Some rows: their texts, which are parts of pages.
pub(super) struct Decoded {
    /// The definition level of a row that is there; 0 if none is null.
    max_level: i16,
    /// The texts of the rows that are there, and the next of them.
    texts: Vec<ByteArray>,
    next_text: usize,
    /// The level of each row, if some may be null.
    levels: Vec<i16>,
    next_row: usize,
    num_rows: usize,
}

impl Decoded {
    /// No rows, of which those with this level are not null.
    pub(super) fn new(max_level: i16) -> Self {
        Self {
            max_level,
            texts: Vec::new(),
            next_text: 0,
            levels: Vec::new(),
            next_row: 0,
            num_rows: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next_row == self.num_rows
    }

    /// The bytes of all texts.
    pub(super) fn num_bytes(&self) -> usize {
        self.texts.iter().map(ByteArray::len).sum()
    }

    /// Replace the rows by the next, at most so many; by none behind the last.
    pub(super) fn read(
        &mut self,
        reader: &mut ColumnReaderImpl<ByteArrayType>,
        most: usize,
    ) -> Result<()> {
        self.texts.clear();
        self.levels.clear();
        (self.next_text, self.next_row) = (0, 0);
        let levels = (self.max_level > 0).then_some(&mut self.levels);
        let most = most.min(ROWS_AT_ONCE);
        (self.num_rows, ..) = reader.read_records(most, levels, None, &mut self.texts)?;
        Ok(())
    }

    /// The text of the next row; None if it is null.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        let row = self.next_row;
        self.next_row += 1;
        if self.max_level > 0 && self.levels.get(row) != Some(&self.max_level) {
            return Ok(None);
        }
        let text = self.texts.get(self.next_text);
        self.next_text += 1;
        let missing = || ParquetError::EOF("found fewer texts than rows".to_owned());
        Ok(Some(text.ok_or_else(missing)?.data()))
    }
}
