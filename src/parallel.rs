//! The parallel loop: every engine spreads its work over threads through this module.
//!
//! Panics: a panic of a worker goes on in the thread that called, as if there were one thread.
//!
//! Cancellation: a worker that returns an error, [`Error::Interrupted`](crate::error::Error) for
//! one, ends the loop: no task behind the one that failed begins. Tasks mostly begin in order, but one may
//! wait for its worker while those behind it begin. Such a task is still done if it is before the one that
//! failed, so the error returned is that of the first task that fails, whatever the number of threads.
//!
//! A [`Team`] is for many short loops: its threads stay from one to the next.

mod coming;
mod concatenating;
mod documents;
mod team;

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use self::coming::Coming;
pub(crate) use self::concatenating::concatenated;
pub(crate) use self::documents::{Piece, group_bytes, groups};
pub(crate) use self::team::{Team, with_team};
use crate::error::{Error, Result};

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Which of the threads of a loop this is; 0 for the one that called it. What is kept for this number was last
/// used by the same thread, and its processor may still hold it.
pub(crate) fn thread_number() -> usize {
    NUMBER.get()
}

/// Call `work` once for each worker: the first on this thread, each other on a thread of its own. If the
/// system starts no more threads, those that there are do all: workers take what the others leave.
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
            .zip(1..)
            .map_while(|(worker, number)| {
                let work = move || {
                    NUMBER.set(number);
                    work(worker)
                };
                Builder::new().spawn_scoped(scope, work).ok()
            })
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
    let tasks = Tasks::new(num_tasks);
    let num_workers = workers.len().min(num_tasks);
    with_each(&mut workers[..num_workers], |worker| {
        tasks.take(worker, &work);
        Ok(())
    })?;
    tasks.failures.outcome()
}

/// Call `work(worker, number, task)` for tasks as they come. Each has a worker that mostly does it, the same in
/// the next call: what that one remembers of a task is of use again.
pub(crate) fn for_each_of<W: Send, T: Send>(
    workers: &mut [W],
    tasks: impl Iterator<Item = T> + Send,
    work: impl Fn(&mut W, usize, T) -> Result<()> + Sync,
) -> Result<()> {
    let coming = Coming::new(tasks, workers.len());
    let failures = Failures::default();
    let mut workers: Vec<_> = workers.iter_mut().enumerate().collect();
    with_each(&mut workers, |(home, worker)| {
        while let Some((number, task)) = coming.next(*home, &failures) {
            if failures.may_be_first(number) {
                failures.note(number, work(worker, number, task));
            }
        }
        Ok(())
    })?;
    failures.outcome()
}

/// Tasks that workers take in order, until one fails.
struct Tasks {
    number: usize,
    next: AtomicUsize,
    failures: Failures,
}

impl Tasks {
    fn new(number: usize) -> Self {
        Self {
            number,
            next: AtomicUsize::new(0),
            failures: Failures::default(),
        }
    }

    /// Do tasks while there are any; after a failure no further task begins.
    fn take<W>(&self, worker: &mut W, work: &impl Fn(&mut W, usize) -> Result<()>) {
        while !self.failures.were_noted() {
            let task = self.next.fetch_add(1, Ordering::Relaxed);
            if task >= self.number {
                return;
            }
            self.failures.note(task, work(worker, task));
        }
    }
}

/// Which task has failed, if one has.
#[derive(Default)]
struct Failures {
    first: Mutex<Option<(usize, Error)>>,
    were_noted: AtomicBool,
}

impl Failures {
    fn note(&self, task: usize, result: Result<()>) {
        if let Err(error) = result {
            self.were_noted.store(true, Ordering::Relaxed);
            let mut failure = lock(&self.first);
            if failure.as_ref().is_none_or(|&(first, _)| task < first) {
                *failure = Some((task, error));
            }
        }
    }

    /// Whether no task before this one has failed.
    fn may_be_first(&self, task: usize) -> bool {
        !self.were_noted()
            || lock(&self.first)
                .as_ref()
                .is_none_or(|&(first, _)| task < first)
    }

    fn were_noted(&self) -> bool {
        self.were_noted.load(Ordering::Relaxed)
    }

    /// The error of the first task that failed.
    fn outcome(self) -> Result<()> {
        match into_inner(self.first) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
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
    fn tasks_that_come_are_all_done_until_one_fails() {
        for num_threads in [1, 3] {
            let done: Vec<Mutex<char>> = (0..26).map(|_| Mutex::default()).collect();
            let note = |(): &mut (), number: usize, letter| {
                *lock(&done[number]) = letter;
                Ok(())
            };
            assert_eq!(
                for_each_of(&mut vec![(); num_threads], 'a'..='z', note),
                Ok(())
            );
            assert!(done.into_iter().map(into_inner).eq('a'..='z'));
            let fail = |(): &mut (), offset, _| match offset {
                9.. => Err(Error::InvalidUtf8 { offset }),
                _ => Ok(()),
            };
            let failed = for_each_of(&mut vec![(); num_threads], 'a'..='z', fail);
            assert_eq!(failed, Err(Error::InvalidUtf8 { offset: 9 }));
        }
    }

    #[test]
    fn each_thread_of_a_loop_has_its_number() {
        let mut numbers = [usize::MAX; 5];
        let note = |number: &mut usize| {
            *number = thread_number();
            Ok(())
        };
        assert_eq!(with_each(&mut numbers, note), Ok(()));
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
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
