//! A file on its way to the disk while more of it is made: at the end, when somebody waits until all
//! of it is there, little is left to wait for.

use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// After so many bytes the disk is asked to write them.
const STEP_BYTES: usize = 1 << 24;

/// Has a file written to the disk from time to time, by a thread of its own: the disk may be slow. What
/// fails there is told to who waits for the disk at the end.
#[derive(Debug)]
pub(super) struct EarlyWriting {
    /// Whether it is a file on a disk: not a pipe.
    is_regular: bool,
    /// How many bytes were written since the thread was last called.
    num_bytes: usize,
    thread: Option<Thread>,
}

#[derive(Debug)]
struct Thread {
    call: SyncSender<()>,
    handle: JoinHandle<()>,
}

impl EarlyWriting {
    pub(super) fn new(file: &File) -> Self {
        Self {
            is_regular: file.metadata().is_ok_and(|metadata| metadata.is_file()),
            num_bytes: 0,
            thread: None,
        }
    }

    /// So many bytes were given to the file.
    pub(super) fn advance(&mut self, file: &File, num_bytes: usize) -> io::Result<()> {
        self.num_bytes += num_bytes;
        if self.num_bytes < STEP_BYTES || !self.is_regular {
            return Ok(());
        }
        self.num_bytes = 0;
        let thread = match &self.thread {
            Some(thread) => thread,
            None => match Thread::start(file.try_clone()?) {
                Ok(thread) => self.thread.insert(thread),
                // The system starts no more: the disk begins when it likes.
                Err(_) => return Ok(()),
            },
        };
        // If it is busy, it is called when there is more.
        thread.call.try_send(()).ok();
        Ok(())
    }

    /// Wait for the thread.
    pub(super) fn finish(&mut self) {
        if let Some(Thread { call, handle }) = self.thread.take() {
            drop(call);
            handle.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

impl Thread {
    fn start(file: File) -> io::Result<Self> {
        let (call, calls) = sync_channel(1);
        let handle = Builder::new().spawn(move || calls.iter().for_each(|()| write_out(&file)))?;
        Ok(Self { call, handle })
    }
}

/// Have the disk begin to write what it has not of a file.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "to sync the file would wait for its metadata each time"
)]
fn write_out(file: &File) {
    use std::os::fd::AsRawFd;

    // SAFETY: a call of the system with numbers alone; the descriptor is open.
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
fn write_out(file: &File) {
    file.sync_data().ok();
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::reading::nameless_file;

    #[test]
    fn the_disk_is_asked_whenever_there_is_a_step_more() {
        let mut file = nameless_file(&std::env::temp_dir()).expect("the system has a folder");
        let mut early = EarlyWriting::new(&file);
        let steps = [
            (1, 1, false),
            (STEP_BYTES - 1, 0, true),
            (3 * STEP_BYTES, 0, true),
            (5, 5, true),
        ];
        for (num_bytes, num_left, has_thread) in steps {
            file.write_all(b"some bytes").expect("there is room");
            assert!(early.advance(&file, num_bytes).is_ok());
            assert_eq!(
                (early.num_bytes, early.thread.is_some()),
                (num_left, has_thread)
            );
        }
        early.finish();
        assert!(early.thread.is_none());
    }
}
