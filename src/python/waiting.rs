//! Long-running work: other Python threads run, progress is reported, and Ctrl-C stops it.

use std::io::{self, Read};
use std::iter::Flatten;
use std::sync::mpsc::{self, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{Error, Result};
use crate::watch::Watch;

/// Work of less than this size is done before another Python thread would get its turn: letting it
/// run meanwhile takes longer than the work of a short text.
const SHORT: usize = 1 << 16;
/// Work of less than this size is done before anyone would want to interrupt it.
const QUICK: usize = 1 << 20;

/// Run `work`, on this thread if it is quick. Its size is that of a text, in bytes, of which each is
/// looked at a few times.
pub(super) fn run<T: Send>(
    py: Python<'_>,
    size: usize,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    if size < SHORT {
        Ok(work(&Watch::default())?)
    } else if size < QUICK {
        Ok(py.detach(|| work(&Watch::default()))?)
    } else {
        watched(py, None, work)
    }
}

/// Run `work` on a thread of its own. Meanwhile other Python threads run, `progress` is called with
/// the work done so far, and Ctrl-C, or whatever `progress` raises, stops the work.
pub(super) fn watched<'py, T: Send>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let status = || (watch.done(),);
    let outcome = attended(py, &watch, || Ok(()), progress, status, || work(&watch))?;
    raised_or_result(outcome)
}

/// Run `work` on a thread of its own with things that come in lots, the first of which is there. This thread
/// makes the others meanwhile.
pub(super) fn fed<I: Send, T: Send>(
    py: Python<'_>,
    first: Vec<I>,
    others: impl Iterator<Item = PyResult<Vec<I>>>,
    work: impl FnOnce(Flatten<mpsc::IntoIter<Vec<I>>>, &Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let (sender, receiver) = channel();
    let feed = || {
        // When the work has failed nobody takes them, but what is raised here comes first.
        sender.send(first).ok();
        for lot in others {
            sender.send(lot?).ok();
            py.check_signals()?;
        }
        drop(sender);
        Ok(())
    };
    let work = || work(receiver.into_iter().flatten(), &watch);
    raised_or_result(attended(py, &watch, feed, None, || (), work)?)
}

fn raised_or_result<T>((result, raised): (Result<T>, Option<PyErr>)) -> PyResult<T> {
    match raised {
        Some(error) => Err(error),
        None => Ok(result?),
    }
}

/// The same for work that has something to show whenever it is stopped: Ctrl-C ends it, and what it
/// has by then is the result. `progress` is called with what `status` returns.
pub(super) fn anytime<'py, T: Send, A: PyCallArgs<'py>>(
    py: Python<'py>,
    watch: &Watch,
    progress: Option<&Bound<'py, PyAny>>,
    status: impl Fn() -> A,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    match attended(py, watch, || Ok(()), progress, status, work)? {
        (_, Some(error)) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        (result, _) => Ok(result?),
    }
}

/// Run `work` on a thread of its own and `feed` on this one; what the former returned, and what was
/// raised meanwhile, by Ctrl-C, `feed` or `progress`, which stops it.
fn attended<'py, T: Send, A: PyCallArgs<'py>>(
    py: Python<'py>,
    watch: &Watch,
    feed: impl FnOnce() -> PyResult<()>,
    progress: Option<&Bound<'py, PyAny>>,
    status: impl Fn() -> A,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    const LOOK: Duration = Duration::from_millis(50);
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let work = move || sender.send(work());
        let worker = Builder::new().spawn_scoped(scope, work)?;
        let mut raised = feed().err();
        loop {
            if raised.is_some() {
                watch.stop();
            }
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
                let report = || progress.map_or(Ok(()), |call| call.call1(status()).map(drop));
                raised = py.check_signals().and_then(|()| report()).err();
            }
        }
    })
}

/// A reader that fails once the work is to stop.
pub(super) struct Watched<'w, R> {
    pub(super) reader: R,
    pub(super) watch: &'w Watch,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.check().map_err(io::Error::other)?;
        self.reader.read(buffer)
    }
}
