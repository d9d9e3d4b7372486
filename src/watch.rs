//! Progress, deadlines and cancellation of long-running work.
//!
//! A worker adds to [`Watch::done`] as it goes and returns early once [`Watch::is_stopped`]; another
//! thread reads the progress and may stop the work. Nothing here blocks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::error::{Error, Result};

/// Shared by a worker and the thread that watches it.
///
/// ```
/// use mergewise::{ErrorKind, Watch};
///
/// let watch = Watch::default();
/// watch.advance(3);
/// assert_eq!((watch.done(), watch.check()), (3, Ok(())));
/// watch.stop();
/// assert_eq!(watch.check().unwrap_err().kind(), ErrorKind::Interrupted);
/// ```
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    stopped: AtomicBool,
    deadline: Option<Instant>,
}

impl Watch {
    /// A watch that stops the work at `deadline`, if there is one.
    pub fn until(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            ..Self::default()
        }
    }

    /// The work done so far, in units of the worker's choice.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Report `amount` more units of work as done.
    pub fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    /// Ask the worker to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Watch::stop`] was called or the deadline has passed.
    pub fn is_stopped(&self) -> bool {
        self.was_interrupted() || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether [`Watch::stop`] was called.
    pub fn was_interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// [`Error::Interrupted`] if the work is to stop.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}
