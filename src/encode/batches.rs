//! Documents encoded by several threads, and their ids put together in order.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::error::Result;
use crate::merges::Id;
use crate::pages::prefer_large_pages;
use crate::parallel::{for_each, into_inner, lock};

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);

/// An empty vector with room for the ids of documents, if a token has three bytes.
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
    let assembly = Mutex::new(Assembly {
        done: (with_room_for(documents), vec![0]),
        ..Assembly::default()
    });
    let mut buffers = vec![Vec::new(); num_threads.min(groups.len())];
    for_each(&mut buffers, groups.len(), |buffer, index| {
        // Taken out, so that threads do not write to one line of cache.
        let mut ids = std::mem::take(buffer);
        let offsets = encode(groups[index], &mut ids)?;
        *buffer = lock(&assembly).add(index, (ids, offsets));
        Ok(())
    })?;
    Ok(into_inner(assembly).done)
}

/// Puts groups together as they come, in the order of the documents.
#[derive(Default)]
struct Assembly {
    done: Encoded,
    next: usize,
    waiting: BTreeMap<usize, Encoded>,
    /// Empty buffers, to be used again.
    spare: Vec<Vec<Id>>,
}

impl Assembly {
    /// Take over the ids of a group; returns an empty buffer for the next one.
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
