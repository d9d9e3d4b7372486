//! The parallel loop: every engine spreads its work over threads through this module.
//!
//! Panics: a panic of a worker goes on in the thread that called, as if there were one thread.
//!
//! Cancellation: a worker that returns an error, [`Error::Interrupted`](crate::error::Error) for
//! one, ends the loop. Tasks are handed out in order and those that began are finished, so the error
//! returned is that of the first task that fails, whatever the number of threads.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::Result;

/// Call `work` once for each worker: the first on this thread, each other on a thread of its own.
pub(crate) fn with_each<W: Send>(
    workers: &mut [W],
    work: impl Fn(&mut W) -> Result<()> + Sync,
) -> Result<()> {
    let Some((first, others)) = workers.split_first_mut() else {
        return Ok(());
    };
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = others
            .iter_mut()
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let mut result = work(first);
        for thread in threads {
            let outcome = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            result = result.and(outcome);
        }
        result
    })
}

/// Call `work(worker, task)` for each task below `num_tasks`; workers take tasks as they are free.
pub(crate) fn for_each<W: Send>(
    workers: &mut [W],
    num_tasks: usize,
    work: impl Fn(&mut W, usize) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let num_workers = workers.len().min(num_tasks);
    let take = |_: &mut W| {
        let task = next.fetch_add(1, Ordering::Relaxed);
        (task, Ok(task < num_tasks))
    };
    for_each_taken(&mut workers[..num_workers], take, work)
}

/// Call `work(worker, task)` for each task that `take` prepares for a worker: it returns the number of
/// the task, which rises from call to call, and false if there is none.
pub(crate) fn for_each_taken<W: Send>(
    workers: &mut [W],
    take: impl Fn(&mut W) -> (usize, Result<bool>) + Sync,
    work: impl Fn(&mut W, usize) -> Result<()> + Sync,
) -> Result<()> {
    let failure = Mutex::new(None);
    let has_failed = AtomicBool::new(false);
    with_each(workers, |worker| {
        // After a failure no further task begins.
        while !has_failed.load(Ordering::Relaxed) {
            let (task, taken) = take(worker);
            let done = match taken {
                Ok(false) => return Ok(()),
                Ok(true) => work(worker, task),
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                has_failed.store(true, Ordering::Relaxed);
                let mut failure = lock(&failure);
                if failure.as_ref().is_none_or(|&(first, _)| task < first) {
                    *failure = Some((task, error));
                }
            }
        }
        Ok(())
    })?;
    match into_inner(failure) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Call `work(worker, task)` for each task that `take` prepares, numbered from 0, and `put` with the
/// results, in the order of the tasks. Few results wait for their turn: workers wait for a slow one.
pub(crate) fn for_each_in_order<W: Send, T: Send>(
    workers: &mut [W],
    take: impl Fn(&mut W) -> (usize, Result<bool>) + Sync,
    work: impl Fn(&mut W, usize) -> Result<T> + Sync,
    put: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let most_ahead = 2 * workers.len();
    let queue = Queue {
        state: Mutex::new((Turns::default(), put)),
        changed: Condvar::new(),
    };
    let take_in_time = |worker: &mut W| {
        let (task, taken) = take(worker);
        if taken != Ok(true) {
            return (task, taken);
        }
        let mut guard = lock(&queue.state);
        while task >= guard.0.next + most_ahead {
            // The task that failed is before this one. One that need not wait is done: it may be the
            // first that fails.
            if guard.0.is_broken {
                return (task, Ok(false));
            }
            let waited = queue.changed.wait(guard);
            guard = waited.unwrap_or_else(PoisonError::into_inner);
        }
        (task, Ok(true))
    };
    for_each_taken(workers, take_in_time, |worker, task| {
        let mut turn = Turn {
            queue: &queue,
            is_done: false,
        };
        let result = work(worker, task)?;
        let (turns, put) = &mut *lock(&queue.state);
        turns.waiting.insert(task, result);
        while let Some(result) = turns.waiting.remove(&turns.next) {
            put(result)?;
            turns.next += 1;
        }
        turn.is_done = true;
        Ok(())
    })
}

/// Results that wait for their turn, and what takes them.
struct Queue<T, P> {
    state: Mutex<(Turns<T>, P)>,
    changed: Condvar,
}

struct Turns<T> {
    /// The task whose result is next.
    next: usize,
    waiting: BTreeMap<usize, T>,
    /// Whether a result will never come.
    is_broken: bool,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self {
            next: 0,
            waiting: BTreeMap::new(),
            is_broken: false,
        }
    }
}

/// Wakes those that wait when a task ends, also by an error or a panic.
struct Turn<'q, T, P> {
    queue: &'q Queue<T, P>,
    is_done: bool,
}

impl<T, P> Drop for Turn<'_, T, P> {
    fn drop(&mut self) {
        if !self.is_done {
            lock(&self.queue.state).0.is_broken = true;
        }
        self.queue.changed.notify_all();
    }
}

/// The results of `work(task)` for each task below `num_tasks`, in order.
pub(crate) fn map<T: Send>(
    num_threads: usize,
    num_tasks: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let results: Vec<Mutex<Option<T>>> = (0..num_tasks).map(|_| Mutex::default()).collect();
    let mut workers = vec![(); num_threads.clamp(1, num_tasks.max(1))];
    for_each(&mut workers, num_tasks, |(), task| {
        *lock(&results[task]) = Some(work(task)?);
        Ok(())
    })?;
    Ok(results.into_iter().filter_map(into_inner).collect())
}

/// Call `use_items` with the items of all iterators, one iterator after the other. As many threads as
/// `num_threads` iterate ahead, each over one iterator and by a few items; without them, this one does.
pub(crate) fn with_ahead<I: Iterator<Item: Send> + Send, R>(
    num_threads: usize,
    iterators: Vec<I>,
    use_items: impl FnOnce(&mut (dyn Iterator<Item = I::Item> + Send)) -> R,
) -> R {
    if num_threads == 0 {
        return use_items(&mut iterators.into_iter().flatten());
    }
    let num_threads = num_threads.min(iterators.len());
    // What takes the items of each iterator, in order; few wait, though iterators may be short.
    let (queue, waiting) = sync_channel(num_threads);
    let iterators = Mutex::new(iterators.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..num_threads {
            let (queue, iterators) = (queue.clone(), &iterators);
            scope.spawn(move || {
                while let Some((mut items, sender)) = begin_next(iterators, &queue) {
                    // An error says that nobody takes items any more.
                    if items.any(|item| sender.send(item).is_err()) {
                        return;
                    }
                }
            });
        }
        drop(queue);
        use_items(&mut waiting.into_iter().flatten())
    })
}

/// Take the next iterator, and put what takes its items behind those of the others; None if there is
/// none, or nobody takes items any more.
fn begin_next<I: Iterator>(
    iterators: &Mutex<impl Iterator<Item = I>>,
    queue: &SyncSender<Receiver<I::Item>>,
) -> Option<(I, SyncSender<I::Item>)> {
    const NUM_AHEAD: usize = 4;
    // Locked until it is put there, so that the order is kept.
    let mut iterators = lock(iterators);
    let items = iterators.next()?;
    let (sender, receiver) = sync_channel(NUM_AHEAD);
    queue.send(receiver).ok()?;
    Some((items, sender))
}

/// Lock a mutex whose data stays valid when a thread panics, as all data here does.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a mutex holds; see [`lock`].
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_come_in_order() {
        for num_threads in [1, 2, 7, 100] {
            let squares = map(num_threads, 50, |task| Ok(task * task));
            assert_eq!(squares, Ok((0..50).map(|task| task * task).collect()));
        }
        assert_eq!(map(3, 0, Ok), Ok(vec![]));
    }

    #[test]
    fn the_error_of_the_first_failing_task_is_returned() {
        for _ in 0..50 {
            let result = map(4, 100, |task| match task {
                30.. => Err(Error::InvalidUtf8 { offset: task }),
                _ => Ok(()),
            });
            assert_eq!(result, Err(Error::InvalidUtf8 { offset: 30 }));
        }
    }

    #[test]
    fn results_are_put_in_order_and_an_error_ends_the_loop() {
        for (num_threads, wrong) in [(1, 99), (3, 99), (3, 20), (8, 0)] {
            let tasks = Mutex::new(0..50);
            let take = |(): &mut ()| {
                let task = lock(&tasks).next();
                (task.unwrap_or(usize::MAX), Ok(task.is_some()))
            };
            let mut put = Vec::new();
            let mut workers = vec![(); num_threads];
            let work = |(): &mut (), task| {
                if task == wrong {
                    return Err(Error::Interrupted);
                }
                Ok(task)
            };
            let done = for_each_in_order(&mut workers, take, work, |task| {
                put.push(task);
                Ok(())
            });
            assert_eq!(done.is_ok(), wrong == 99);
            assert_eq!(put, (0..put.len()).collect::<Vec<_>>());
            assert_eq!(put.len(), wrong.min(50));
        }
    }

    #[test]
    fn items_come_in_order_though_iterated_ahead() {
        for num_threads in [0, 1, 3, 100] {
            let iterators: Vec<_> = (0..20).map(|i| (0..i).map(move |j| (i, j))).collect();
            let expected: Vec<_> = iterators.iter().cloned().flatten().collect();
            let found: Vec<_> = with_ahead(num_threads, iterators.clone(), |items| items.collect());
            assert_eq!(found, expected);
            let few = with_ahead(num_threads, iterators, |items| items.take(5).count());
            assert_eq!(few, 5);
        }
    }

    #[test]
    fn a_task_that_was_taken_before_another_failed_is_done() {
        let (tasks, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let take = |(): &mut ()| {
            let task = tasks.fetch_add(1, Ordering::Relaxed);
            while task == 0 && !has_failed.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            (task, Ok(true))
        };
        let work = |(): &mut (), task| -> Result<()> {
            has_failed.store(task > 0, Ordering::Relaxed);
            Err(Error::InvalidUtf8 { offset: task })
        };
        let done = for_each_in_order(&mut [(), ()], take, work, Ok);
        assert_eq!(done, Err(Error::InvalidUtf8 { offset: 0 }));
    }

    #[test]
    fn short_iterators_are_not_all_iterated_ahead() {
        let num_begun = AtomicUsize::new(0);
        let item = |number| {
            num_begun.fetch_add(1, Ordering::Relaxed);
            number
        };
        let iterators: Vec<_> = (0..1000).map(|n| std::iter::once(n).map(item)).collect();
        let first = with_ahead(3, iterators, |items| {
            let first = items.next();
            std::thread::sleep(std::time::Duration::from_millis(50));
            first
        });
        assert_eq!(first, Some(0));
        assert!(num_begun.into_inner() < 20);
    }

    #[test]
    fn a_panic_goes_on_in_the_calling_thread() {
        let caught = std::panic::catch_unwind(|| {
            map(3, 9, |task| {
                assert!(task != 5, "task five");
                Ok(())
            })
        });
        assert!(caught.is_err());
    }
}
