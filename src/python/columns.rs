//! Columns of texts that Python reads, as inputs of the core.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyIterator;

use super::arrow_tables::strings_of;
use super::reader::raised_error;
use crate::error::{Error, Result};
use crate::parallel::lock;
use crate::reading::{Rows, Strings};

/// What was raised, by the column in which it was.
type Failures = Arc<Mutex<BTreeMap<usize, PyErr>>>;

/// The columns of a Python iterable of iterables of `Texts`, each asked for when it is its turn.
pub(super) struct PyColumns {
    /// None behind the end.
    columns: Option<Py<PyIterator>>,
    num_begun: usize,
    failures: Failures,
}

/// The rows of one column, which are read one step ahead, so that the last are known as such.
pub(super) struct PyColumn {
    number: usize,
    /// None behind the end.
    texts: Option<Py<PyIterator>>,
    ahead: Option<Result<Rows>>,
    is_begun: bool,
    failures: Failures,
}

impl PyColumns {
    pub(super) fn new(columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            columns: Some(columns.try_iter()?.unbind()),
            num_begun: 0,
            failures: Arc::default(),
        })
    }

    /// Use the columns, and raise what the first that could not be read raised, if that is why it fails.
    pub(super) fn raising<T>(
        self,
        use_them: impl FnOnce(Self) -> PyResult<Result<T>>,
    ) -> PyResult<Result<T>> {
        let failures = Arc::clone(&self.failures);
        let used = use_them(self)?;
        let is_raised = matches!(&used, Err(error) if *error == raised_error());
        match lock(&failures).pop_first().filter(|_| is_raised) {
            Some((_, raised)) => Err(raised),
            None => Ok(used),
        }
    }
}

impl Iterator for PyColumns {
    type Item = PyColumn;

    fn next(&mut self) -> Option<PyColumn> {
        let found = next_of(self.columns.as_ref()?, |texts| {
            Ok(texts.try_iter()?.unbind())
        });
        let mut column = PyColumn {
            number: self.num_begun,
            texts: None,
            ahead: None,
            is_begun: false,
            failures: Arc::clone(&self.failures),
        };
        match found {
            Some(Ok(texts)) => column.texts = Some(texts),
            Some(Err(raised)) => {
                self.columns = None;
                column.ahead = Some(Err(column.failed(raised)));
            }
            None => {
                self.columns = None;
                return None;
            }
        }
        self.num_begun += 1;
        Some(column)
    }
}

impl PyColumn {
    fn failed(&self, raised: PyErr) -> Error {
        lock(&self.failures).insert(self.number, raised);
        raised_error()
    }

    fn read(&mut self) -> Option<Result<Rows>> {
        let read = next_of(self.texts.as_ref()?, |texts| rows_of(&texts));
        match read {
            Some(Ok(rows)) => Some(Ok(rows)),
            Some(Err(raised)) => {
                self.texts = None;
                Some(Err(self.failed(raised)))
            }
            None => {
                self.texts = None;
                None
            }
        }
    }
}

impl Iterator for PyColumn {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Result<Rows>> {
        if !std::mem::replace(&mut self.is_begun, true) && self.ahead.is_none() {
            self.ahead = Some(self.read().unwrap_or_else(|| Ok(no_rows())));
        }
        let next = self.ahead.take()?;
        Some(next.map(|mut rows| {
            self.ahead = self.read();
            rows.is_last = self.ahead.is_none();
            rows
        }))
    }
}

/// Those of a column without rows, which still has to end.
fn no_rows() -> Rows {
    Rows {
        place: PathBuf::new(),
        texts: Strings::default(),
        position: 0,
        num_read: 0,
        is_last: true,
    }
}

/// What `read` makes of the next item; None behind the last.
fn next_of<T>(
    iterator: &Py<PyIterator>,
    read: impl FnOnce(Bound<'_, PyAny>) -> PyResult<T>,
) -> Option<PyResult<T>> {
    Python::attach(|py| {
        let item = iterator.bind(py).clone().next()?;
        Some(item.and_then(read))
    })
}

/// The rows of a `Texts` of the package.
fn rows_of(texts: &Bound<'_, PyAny>) -> PyResult<Rows> {
    let extent = texts.getattr("extent")?;
    let (start, end): (u64, u64) = (
        extent.getattr("start")?.extract()?,
        extent.getattr("stop")?.extract()?,
    );
    Ok(Rows {
        place: PathBuf::from(texts.getattr("place")?.extract::<String>()?),
        texts: strings_of(&texts.getattr("array")?)?,
        position: start,
        num_read: end - start,
        is_last: false,
    })
}
