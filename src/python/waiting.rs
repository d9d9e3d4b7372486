//! Long-running work: other Python threads run, progress is reported, and Ctrl-C stops it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::watch::Watch;

/// Run `work` on a thread of its own. Meanwhile other Python threads run, `progress` is called with
/// the work done so far, and Ctrl-C, or whatever `progress` raises, stops the work.
pub(super) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let report = || match progress {
        Some(progress) => progress.call1((watch.done(),)).map(drop),
        None => Ok(()),
    };
    match attended(py, &watch, report, || work(&watch))? {
        (_, Some(error)) => Err(error),
        (result, None) => Ok(result?),
    }
}

/// The same for work that has something to show whenever it is stopped: Ctrl-C ends it, and what it
/// has by then is the result.
pub(super) fn anytime<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    report: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    match attended(py, watch, report, work)? {
        (_, Some(error)) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        (result, _) => Ok(result),
    }
}

/// Run `work` on a thread of its own; what it returned, and what was raised meanwhile, by Ctrl-C or
/// by `report`, which stops it.
pub(super) fn attended<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    report: impl Fn() -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    const LOOK: Duration = Duration::from_millis(50);
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let worker = scope.spawn(move || sender.send(work()));
        let mut raised = None;
        loop {
            let waiting = &mut receiver;
            match py.detach(move || waiting.recv_timeout(LOOK)) {
                Ok(result) => return Ok((result, raised)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Joined here, so that its panic ends as an exception.
                    worker.join().map(drop).ok();
                    return Err(Error::WorkerPanicked.into());
                }
            }
            if raised.is_none() {
                raised = py.check_signals().and_then(|()| report()).err();
            }
            if raised.is_some() {
                watch.stop();
            }
        }
    })
}
