//! How long work is watched from outside: progress reported, a stop asked for.
//!
//! A worker adds to [`Watch::done`] as it goes and leaves early once [`Watch::is_stopped`]; whoever
//! started it reads the one and sets the other from its own thread. Nothing here blocks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::error::{Error, Result};

/// What a worker and its watcher share.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    stopped: AtomicBool,
    deadline: Option<Instant>,
}

impl Watch {
    /// A watch that stops the work at a moment; None: never.
    #[must_use]
    pub fn until(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            ..Self::default()
        }
    }

    /// The work done so far, in units of the caller's choice.
    #[must_use]
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

    /// Was a stop asked for, or is the time over?
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.was_interrupted() || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Was a stop asked for?
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// An error once a stop was asked for.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}
