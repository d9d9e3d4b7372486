//! Tasks as they come, each for the worker whose it is, or for one that has nothing to do.

use std::collections::VecDeque;
use std::iter::{Enumerate, Fuse};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Failures, lock};

/// So many tasks wait for a busy worker; others do the next ones.
const MOST_WAITING: usize = 2;

/// Tasks that come out of an iterator, with their numbers.
pub(super) struct Coming<I: Iterator> {
    tasks: Mutex<Enumerate<Fuse<I>>>,
    /// One for each worker. Every so manyth task is of this one.
    homes: Vec<Home<I::Item>>,
}

/// Where tasks wait for one worker.
struct Home<T> {
    waiting: Mutex<VecDeque<(usize, T)>>,
    /// Whether the worker is at a task.
    is_busy: AtomicBool,
}

impl<I: Iterator> Coming<I> {
    pub(super) fn new(tasks: I, num_workers: usize) -> Self {
        let home = |_| Home {
            waiting: Mutex::default(),
            is_busy: AtomicBool::new(false),
        };
        Self {
            tasks: Mutex::new(tasks.fuse().enumerate()),
            homes: (0..num_workers).map(home).collect(),
        }
    }

    /// The next task for a worker. After a failure no more come, but those that wait are given out: one of
    /// them may be before the one that failed.
    pub(super) fn next(&self, worker: usize, failures: &Failures) -> Option<(usize, I::Item)> {
        let home = &self.homes[worker];
        home.is_busy.store(false, Ordering::Relaxed);
        let task = home.next().or_else(|| self.next_coming(worker, failures));
        let task = task.or_else(|| self.homes.iter().find_map(Home::next));
        home.is_busy.store(true, Ordering::Relaxed);
        task
    }

    fn next_coming(&self, worker: usize, failures: &Failures) -> Option<(usize, I::Item)> {
        let mut tasks = lock(&self.tasks);
        // The one before may have brought it.
        if let Some(task) = self.homes[worker].next() {
            return Some(task);
        }
        while !failures.were_noted() {
            let (number, task) = tasks.next()?;
            let owner = number % self.homes.len();
            if owner == worker {
                return Some((number, task));
            }
            // Nobody waits for a worker that has nothing to do, or that never began.
            let other = &self.homes[owner];
            let mut waiting = lock(&other.waiting);
            if waiting.len() >= MOST_WAITING || !other.is_busy.load(Ordering::Relaxed) {
                return Some((number, task));
            }
            waiting.push_back((number, task));
        }
        None
    }
}

impl<T> Home<T> {
    fn next(&self) -> Option<(usize, T)> {
        lock(&self.waiting).pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn numbers(tasks: &Coming<std::ops::Range<usize>>, workers: &[usize]) -> Vec<Option<usize>> {
        let failures = Failures::default();
        let next = |&worker: &usize| Some(tasks.next(worker, &failures)?.0);
        workers.iter().map(next).collect()
    }

    #[test]
    fn a_task_waits_for_its_worker_while_that_is_busy() {
        let tasks = Coming::new(0..6, 2);
        // The second has not begun: nothing waits for it.
        assert_eq!(numbers(&tasks, &[0, 0]), [Some(0), Some(1)]);
        // 2 waits for the first.
        assert_eq!(numbers(&tasks, &[1, 0, 0]), [3, 2, 4].map(Some));
        assert_eq!(numbers(&tasks, &[1, 1, 0]), [Some(5), None, None]);
    }

    #[test]
    fn nobody_is_without_a_task_while_some_wait() {
        let tasks = Coming::new(0..9, 2);
        assert_eq!(numbers(&tasks, &[0, 1, 0, 0]), [0, 1, 2, 4].map(Some));
        // 3 and 5 wait for the second, no more.
        assert_eq!(numbers(&tasks, &[0, 0, 0]), [6, 7, 8].map(Some));
        assert_eq!(
            numbers(&tasks, &[0, 0, 0, 1]),
            [Some(3), Some(5), None, None]
        );
    }

    #[test]
    fn after_a_failure_only_those_that_wait_are_given_out() {
        let tasks = Coming::new(0..9, 2);
        assert_eq!(numbers(&tasks, &[0, 1, 0, 0]), [0, 1, 2, 4].map(Some));
        let failures = Failures::default();
        failures.note(4, Err(Error::WorkerPanicked));
        let next = |worker| Some(tasks.next(worker, &failures)?.0);
        assert_eq!([next(0), next(1)], [Some(3), None]);
    }
}
