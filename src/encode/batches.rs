//! Documents for several threads, and the results put together in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::merges::Id;
use crate::pages::prefer_large_pages;

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);

/// Room for the ids of documents, if a token has three bytes; more is made as it is needed.
pub(super) fn with_room_for(documents: &[&[u8]]) -> Vec<Id> {
    let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
    let mut ids = Vec::with_capacity(num_bytes / 3);
    prefer_large_pages(&mut ids);
    ids
}

/// Encode documents in groups, by several threads. `encode` appends the ids of the documents in a
/// range, and returns where each document's begin and the last one's end.
pub(super) fn encode_in_groups(
    documents: &[&[u8]],
    num_threads: usize,
    encode: impl Fn((usize, usize), &mut Vec<Id>) -> Result<Vec<usize>> + Sync,
) -> Result<Encoded> {
    let groups = in_groups(documents, num_threads);
    let next = AtomicUsize::new(0);
    let assembly = Mutex::new(Assembly::new(documents));
    let lock = || assembly.lock().unwrap_or_else(PoisonError::into_inner);
    let run = || -> Result<()> {
        let mut ids = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&group) = groups.get(index) else {
                return Ok(());
            };
            let offsets = encode(group, &mut ids)?;
            ids = lock().add(index, (ids, offsets));
        }
    };
    std::thread::scope(|scope| {
        let num_others = num_threads.min(groups.len()) - 1;
        let others: Vec<_> = (0..num_others).map(|_| scope.spawn(run)).collect();
        let mut result = run();
        for other in others {
            let outcome = other.join().unwrap_or(Err(Error::WorkerPanicked));
            result = result.and(outcome);
        }
        result
    })?;
    let assembly = assembly.into_inner();
    Ok(assembly.unwrap_or_else(PoisonError::into_inner).done)
}

/// Puts groups together as they come, in the order of the documents.
struct Assembly {
    done: Encoded,
    next: usize,
    waiting: BTreeMap<usize, Encoded>,
    /// Memory to be used again.
    spare: Vec<Vec<Id>>,
}

impl Assembly {
    fn new(documents: &[&[u8]]) -> Self {
        Self {
            done: (with_room_for(documents), vec![0]),
            next: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// Take over a group; memory for the next one.
    fn add(&mut self, index: usize, group: Encoded) -> Vec<Id> {
        self.waiting.insert(index, group);
        while let Some((mut ids, offsets)) = self.waiting.remove(&self.next) {
            let before = self.done.0.len();
            self.done.0.extend_from_slice(&ids);
            self.done
                .1
                .extend(offsets[1..].iter().map(|end| before + end));
            self.next += 1;
            ids.clear();
            self.spare.push(ids);
        }
        self.spare.pop().unwrap_or_default()
    }
}

/// Documents in groups of about a megabyte, smaller ones if that keeps the threads busy.
fn in_groups(documents: &[&[u8]], num_threads: usize) -> Vec<(usize, usize)> {
    let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
    let goal = (num_bytes / (num_threads * 8)).clamp(1 << 14, 1 << 20);
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
