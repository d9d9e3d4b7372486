//! Pages, whose dictionaries are looked at before they are decoded: the library makes room for as many texts
//! as a page says that its dictionary has.

use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::serialized_reader::SerializedPageReader;

use super::chunks::Chunks;

/// The bytes of an empty text in a dictionary: its length.
const LEAST_BYTES: u64 = 4;

/// The pages of a column.
pub(super) struct Pages(pub(super) SerializedPageReader<Chunks>);

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.0.get_next_page()?;
        if let Some(Page::DictionaryPage {
            buf, num_values, ..
        }) = &page
            && u64::from(*num_values) * LEAST_BYTES > buf.len() as u64
        {
            let message = "found a dictionary with more texts than bytes";
            return Err(ParquetError::General(message.to_owned()));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.0.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}
