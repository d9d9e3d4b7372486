//! Files without names.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::io_error;
use crate::error::Result;

/// A file that nobody else sees, and that is gone when it is closed: in a folder, or in that of the
/// system where the folder is not one for files.
pub(crate) fn nameless_file(folder: &Path) -> Result<File> {
    let file = create(folder).or_else(|_| create(&std::env::temp_dir()));
    file.map_err(|error| io_error(folder, &error))
}

fn create(folder: &Path) -> io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!(".mergewise-{}-{number}", std::process::id());
    let path = folder.join(name);
    let mut options = File::options();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}
