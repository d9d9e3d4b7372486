//! Documents for several threads, and the results put together in order.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::merges::Id;

/// Documents in groups of about a megabyte, smaller ones if that keeps the threads busy.
pub(super) fn in_groups(documents: &[&[u8]], num_threads: usize) -> Vec<(usize, usize)> {
    let total: usize = documents.iter().map(|document| document.len()).sum();
    let goal = (total / (num_threads.max(1) * 8)).clamp(1 << 14, 1 << 20);
    let mut groups = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, document) in documents.iter().enumerate() {
        size += document.len();
        if size >= goal || index + 1 == documents.len() {
            groups.push((start, index + 1));
            (start, size) = (index + 1, 0);
        }
    }
    groups
}

/// The results of `work` on each task, in order.
pub(super) fn in_parallel<T: Sync, R: Send>(
    num_threads: usize,
    tasks: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let run = || -> Result<Vec<(usize, R)>> {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(index) else {
                return Ok(results);
            };
            results.push((index, work(task)?));
        }
    };
    let mut results = Vec::with_capacity(tasks.len());
    std::thread::scope(|scope| {
        let count = num_threads.min(tasks.len());
        let others: Vec<_> = (1..count).map(|_| scope.spawn(run)).collect();
        let mut outcome = run().map(|some| results.extend(some));
        for other in others {
            let some = other.join().unwrap_or(Err(Error::WorkerPanicked));
            outcome = outcome.and(some.map(|some| results.extend(some)));
        }
        outcome
    })?;
    results.sort_unstable_by_key(|&(index, _)| index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The ids of all groups, copied side by side by the threads.
pub(super) fn concatenate(num_threads: usize, groups: &[Encoded]) -> Vec<Id> {
    let total = groups.iter().map(|(ids, _)| ids.len()).sum();
    let mut all: Vec<Id> = vec![0; total];
    let mut rest = all.as_mut_slice();
    let mut places = Vec::with_capacity(groups.len());
    for (ids, _) in groups {
        let (place, behind) = rest.split_at_mut(ids.len());
        places.push((place, ids));
        rest = behind;
    }
    std::thread::scope(|scope| {
        let share = places.len().div_ceil(num_threads);
        for some in places.chunks_mut(share) {
            scope.spawn(|| {
                for (place, ids) in some {
                    place.copy_from_slice(ids);
                }
            });
        }
    });
    all
}

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);
