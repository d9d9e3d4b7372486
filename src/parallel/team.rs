//! Threads that stay for many short loops.
//!
//! To start a thread takes tens of microseconds, and so do some loops of certificates and of improving,
//! of which there are thousands. A team starts its threads once. Between two loops they wait: awake for
//! a moment, then asleep.

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock};
use std::thread::Builder;

use super::{Tasks, into_inner, lock};
use crate::error::Result;

/// How often a thread looks whether there is something to do before it sleeps: some hundred microseconds. To
/// wake a thread takes tens, and the one that leads does little alone between two loops of a step.
const LOOKS: u32 = 1 << 12;

/// What each thread does, given its number.
type Job<'a> = &'a (dyn Fn(usize) + Sync + 'a);

/// Threads that wait for loops. Only the thread that leads them may use it: so there is one loop at a
/// time, and none inside another.
pub(crate) struct Team<'a> {
    num_threads: usize,
    shared: &'a Shared,
    only_one: PhantomData<Cell<()>>,
}

/// What the threads of a team share.
struct Shared {
    /// How often a thread looks before it sleeps.
    looks: u32,
    /// What is to be done now. Written while all are idle, and read by all at once.
    post: RwLock<Post>,
    asleep: Mutex<()>,
    posted: Condvar,
    /// The number of jobs that were posted.
    num_posted: AtomicUsize,
    /// The number of threads at work on the last one, without the one that leads.
    num_busy: AtomicUsize,
    idle: Mutex<()>,
    is_idle: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// What is to be done.
#[derive(Clone, Copy, Default)]
struct Post {
    job: Option<Job<'static>>,
    is_last: bool,
}

/// Call `lead` with a team of `num_threads` threads, of which the calling one is the first; of fewer if the
/// system does not start so many.
pub(crate) fn with_team<T>(num_threads: usize, lead: impl FnOnce(&Team) -> T) -> T {
    let num_threads = num_threads.max(1);
    let num_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let shared = Shared {
        looks: if num_threads > num_cores { 0 } else { LOOKS },
        post: RwLock::default(),
        asleep: Mutex::default(),
        posted: Condvar::new(),
        num_posted: AtomicUsize::new(0),
        num_busy: AtomicUsize::new(0),
        idle: Mutex::default(),
        is_idle: Condvar::new(),
        panic: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let shared = &shared;
        // Also if `lead` panics: the scope waits for the threads.
        let _end = AtEnd(shared);
        let started = (1..num_threads).map_while(|number| {
            let serve = move || shared.serve(number);
            Builder::new().spawn_scoped(scope, serve).ok()
        });
        lead(&Team {
            num_threads: 1 + started.count(),
            shared,
            only_one: PhantomData,
        })
    })
}

/// Sends the threads home.
struct AtEnd<'a>(&'a Shared);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        let post = Post {
            job: None,
            is_last: true,
        };
        self.0.post(post);
    }
}

impl Team<'_> {
    /// [`super::for_each`], by the threads of this team; at most as many as there are workers.
    pub(crate) fn for_each<W: Send>(
        &self,
        workers: &mut [W],
        num_tasks: usize,
        work: impl Fn(&mut W, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        let tasks = Tasks::new(num_tasks);
        let workers: Vec<Mutex<&mut W>> = workers.iter_mut().map(Mutex::new).collect();
        self.call(num_tasks, &|number| {
            if let Some(worker) = workers.get(number) {
                tasks.take(&mut **lock(worker), &work);
            }
        });
        tasks.failures.outcome()
    }

    /// The same, but a thread begins with the same tasks each time, whose data its processor may still
    /// hold, and takes those of others when it is done with them.
    pub(crate) fn for_each_at_home<W: Send>(
        &self,
        workers: &mut [W],
        num_tasks: usize,
        work: impl Fn(&mut W, usize) -> Result<()> + Sync,
    ) -> Result<()> {
        let num_homes = workers.len().min(self.num_threads()).max(1);
        let tasks = Tasks::new(num_tasks);
        let is_taken: Vec<AtomicBool> = (0..num_tasks).map(|_| AtomicBool::new(false)).collect();
        let workers: Vec<Mutex<&mut W>> = workers.iter_mut().map(Mutex::new).collect();
        self.call(num_tasks, &|number| {
            let Some(worker) = workers.get(number) else {
                return;
            };
            let worker = &mut **lock(worker);
            let home = number * num_tasks / num_homes..(number + 1) * num_tasks / num_homes;
            // Of others first what they would do last.
            let others = (home.end..num_tasks + home.start).rev();
            for task in home.chain(others).map(|task| task % num_tasks) {
                if !is_taken[task].swap(true, Ordering::Relaxed) {
                    tasks.failures.note(task, work(worker, task));
                }
                if tasks.failures.were_noted() {
                    return;
                }
            }
        });
        tasks.failures.outcome()
    }

    /// [`super::map`], by the threads of this team.
    pub(crate) fn map<T: Send>(
        &self,
        num_tasks: usize,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let results: Vec<Mutex<Option<T>>> = (0..num_tasks).map(|_| Mutex::default()).collect();
        let mut workers = vec![(); self.num_threads()];
        self.for_each(&mut workers, num_tasks, |(), task| {
            *lock(&results[task]) = Some(work(task)?);
            Ok(())
        })?;
        Ok(results.into_iter().filter_map(into_inner).collect())
    }

    /// Call `work` with each item, by the threads of this team.
    pub(crate) fn with_each<T: Send>(
        &self,
        items: &mut [T],
        work: impl Fn(&mut T) -> Result<()> + Sync,
    ) -> Result<()> {
        let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
        let mut workers = vec![(); self.num_threads()];
        self.for_each(&mut workers, items.len(), |(), item| {
            work(&mut **lock(&items[item]))
        })
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.num_threads
    }

    /// Call `job` once in each thread, with the number of the thread; with a single task in this one
    /// alone.
    fn call(&self, num_tasks: usize, job: Job) {
        let shared = self.shared;
        if self.num_threads == 1 || num_tasks <= 1 {
            return job(0);
        }
        #[allow(unsafe_code, reason = "several times as fast as new threads")]
        // SAFETY: only the lifetime changes. The threads call `job` until `num_busy` is 0, and this
        // function neither returns nor unwinds before. No other call changes `num_busy` meanwhile: a
        // team is not `Sync`, and so neither are jobs that have it.
        let job = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        shared
            .num_busy
            .store(self.num_threads - 1, Ordering::Relaxed);
        shared.post(Post {
            job: Some(job),
            is_last: false,
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| job(0)));
        shared.wait_for_all();
        let panic = lock(&shared.panic).take();
        if let Some(panic) = outcome.err().or(panic) {
            resume_unwind(panic);
        }
    }
}

impl Shared {
    fn post(&self, post: Post) {
        *self.post.write().unwrap_or_else(PoisonError::into_inner) = post;
        self.num_posted.fetch_add(1, Ordering::Release);
        // Whoever saw the old number under this lock is now waiting to be told.
        drop(lock(&self.asleep));
        self.posted.notify_all();
    }

    /// Do what is posted, until the last.
    fn serve(&self, number: usize) {
        for num_seen in 0.. {
            let is_posted = || self.num_posted.load(Ordering::Acquire) != num_seen;
            if !self.look(is_posted) {
                let mut asleep = lock(&self.asleep);
                while !is_posted() {
                    asleep = self
                        .posted
                        .wait(asleep)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
            let Post { job, is_last } = *self.post.read().unwrap_or_else(PoisonError::into_inner);
            if is_last {
                return;
            }
            if let Some(job) = job
                && let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(number)))
            {
                *lock(&self.panic) = Some(panic);
            }
            if self.num_busy.fetch_sub(1, Ordering::AcqRel) == 1 {
                drop(lock(&self.idle));
                self.is_idle.notify_one();
            }
        }
    }

    fn wait_for_all(&self) {
        let are_done = || self.num_busy.load(Ordering::Acquire) == 0;
        if self.look(are_done) {
            return;
        }
        let mut idle = lock(&self.idle);
        while !are_done() {
            idle = self
                .is_idle
                .wait(idle)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wait a moment for a condition; whether it is met.
    fn look(&self, is_met: impl Fn() -> bool) -> bool {
        for _ in 0..self.looks {
            if is_met() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn loops_follow_one_another() {
        let num_rounds = if cfg!(miri) { 8 } else { 200 };
        for num_threads in [1, 2, 3, 7] {
            let sums = with_team(num_threads, |team| {
                let mut sums = vec![0_usize; team.num_threads()];
                for round in 0..num_rounds {
                    let squares = team.map(round, |task| Ok(task * task));
                    assert_eq!(squares, Ok((0..round).map(|task| task * task).collect()));
                    let added = team.for_each(&mut sums, round, |sum, task| {
                        *sum += task;
                        Ok(())
                    });
                    assert_eq!(added, Ok(()));
                }
                sums.iter().sum::<usize>()
            });
            assert_eq!(
                sums,
                (0..num_rounds)
                    .map(|round| round * (round.max(1) - 1) / 2)
                    .sum::<usize>()
            );
        }
    }

    #[test]
    fn fewer_workers_than_threads_do_all() {
        let add = |sum: &mut usize, task: usize| {
            *sum += task;
            Ok(())
        };
        let (mut one, mut at_home) = ([0], [0]);
        let outcomes = with_team(3, |team| {
            [
                team.for_each(&mut one, 10, add),
                team.for_each_at_home(&mut at_home, 10, add),
            ]
        });
        assert_eq!(outcomes, [Ok(()), Ok(())]);
        assert_eq!([one, at_home], [[45], [45]]);
    }

    #[test]
    fn every_task_is_done_once_wherever_threads_begin() {
        for (num_threads, num_tasks) in [(1, 9), (2, 9), (3, 2), (7, 64), (4, 1), (5, 0)] {
            with_team(num_threads, |team| {
                for _ in 0..if cfg!(miri) { 3 } else { 50 } {
                    let mut done = vec![Vec::new(); num_threads];
                    let outcome = team.for_each_at_home(&mut done, num_tasks, |done, task| {
                        done.push(task);
                        Ok(())
                    });
                    let mut done = done.concat();
                    done.sort_unstable();
                    assert_eq!(outcome, Ok(()));
                    assert_eq!(done, (0..num_tasks).collect::<Vec<usize>>());
                }
                let mut nothing = vec![(); num_threads];
                let failed = team.for_each_at_home(&mut nothing, 9, |(), task| match task {
                    4 => Err(Error::InvalidUtf8 { offset: task }),
                    _ => Ok(()),
                });
                assert_eq!(failed, Err(Error::InvalidUtf8 { offset: 4 }));
            });
        }
    }

    #[test]
    fn after_an_error_or_a_panic_the_team_goes_on() {
        with_team(4, |team| {
            for _ in 0..if cfg!(miri) { 3 } else { 20 } {
                let failed = team.map(100, |task| match task {
                    30.. => Err(Error::InvalidUtf8 { offset: task }),
                    _ => Ok(()),
                });
                assert_eq!(failed, Err(Error::InvalidUtf8 { offset: 30 }));
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    team.map(9, |task| {
                        assert!(task != 5, "task five");
                        Ok(())
                    })
                }));
                assert!(caught.is_err());
                assert_eq!(team.map(3, Ok), Ok(vec![0, 1, 2]));
            }
        });
    }

    #[test]
    fn a_panic_of_the_leader_ends_the_team() {
        let caught = catch_unwind(|| with_team(3, |_| panic!("the leader")));
        assert!(caught.is_err());
    }
}
