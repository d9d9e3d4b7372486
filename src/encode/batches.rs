//! Documents encoded by several threads, and their ids put together in order.
//!
//! A long document is cut where its ids do not change, so that one alone keeps all threads busy.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::encoder::{Encoder, Given};
use super::sink::Sink;
use crate::error::Result;
use crate::merges::Id;
use crate::pages::prefer_large_pages;
use crate::parallel::{for_each, into_inner, lock};
use crate::specials::Call;
use crate::watch::Watch;

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);

/// The bytes of a group, at least and at most.
const LEAST_BYTES: usize = 1 << 14;
const MOST_BYTES: usize = 1 << 20;

/// A document, or a part of one that is encoded by itself.
#[derive(Clone, Copy)]
struct Piece<'t> {
    document: usize,
    /// Where in the document it begins.
    start: usize,
    text: &'t [u8],
    is_last: bool,
}

impl Encoder {
    /// The ids of documents, one after the other, and where each document's begin; behind them,
    /// where the last one's end. The result does not depend on the number of threads.
    pub fn encode_batch(
        &self,
        documents: &[&[u8]],
        call: &Call,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Encoded> {
        let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
        // Enough for most texts. The system gives memory only to ids that are written.
        let mut ids = Vec::with_capacity(num_bytes / 2);
        prefer_large_pages(&mut ids);
        let group_bytes = (num_bytes / (num_threads * 8)).clamp(LEAST_BYTES, MOST_BYTES);
        let is_alone = num_threads == 1 || num_bytes <= LEAST_BYTES;
        // What is cut off depends on all ids of a document.
        let most_bytes = if is_alone || call.frame.limit.is_some() {
            usize::MAX
        } else {
            group_bytes
        };
        let pieces = self.pieces(documents, most_bytes);
        let offsets = if is_alone {
            self.encode_pieces(&pieces, call, &mut ids, watch)?
        } else {
            let groups = in_groups(&pieces, group_bytes);
            encode_in_groups(&groups, num_threads, &mut ids, |group, ids| {
                self.encode_pieces(group, call, ids, watch)
            })?
        };
        let offsets = [0].into_iter().chain(offsets).collect();
        Ok(call.frame.fill((ids, offsets)))
    }

    /// Documents, and parts of those that are longer than `most_bytes` and can be cut.
    fn pieces<'t>(&self, documents: &[&'t [u8]], most_bytes: usize) -> Vec<Piece<'t>> {
        let mut pieces = Vec::with_capacity(documents.len());
        for (document, &text) in documents.iter().enumerate() {
            let mut start = 0;
            while let Some(part) = text[start..].get(..most_bytes)
                && let Some(cut) = self.last_cut(part)
            {
                pieces.push(Piece {
                    document,
                    start,
                    text: &part[..cut],
                    is_last: false,
                });
                start += cut;
            }
            pieces.push(Piece {
                document,
                start,
                text: &text[start..],
                is_last: true,
            });
        }
        pieces
    }

    /// Append the ids of pieces; returns where the documents end that end with one of them.
    fn encode_pieces(
        &self,
        pieces: &[Piece<'_>],
        Call { finders, frame, .. }: &Call,
        ids: &mut Vec<Id>,
        watch: &Watch,
    ) -> Result<Vec<usize>> {
        let mut ends = Vec::with_capacity(pieces.len());
        self.desks.with(|desk| {
            for piece in pieces {
                watch.check()?;
                let mut start = ids.len();
                if piece.start == 0 {
                    start = frame.open(ids);
                }
                let mut sink = Sink::keeping(ids);
                self.encode_given(Given::Text(piece.text), finders, desk, &mut sink, watch)
                    .map_err(|error| error.moved(piece.start, 0).in_document(piece.document))?;
                if piece.is_last {
                    frame.close(ids, start);
                    ends.push(ids.len());
                }
            }
            Ok(ends)
        })
    }
}

/// Pieces in groups of at least `num_bytes`, but for the last.
fn in_groups<'p, 't>(pieces: &'p [Piece<'t>], num_bytes: usize) -> Vec<&'p [Piece<'t>]> {
    let mut groups = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        size += piece.text.len();
        if size >= num_bytes || index + 1 == pieces.len() {
            groups.push(&pieces[start..=index]);
            (start, size) = (index + 1, 0);
        }
    }
    groups
}

/// Append the ids of groups, by several threads; returns where documents end. `encode` appends the ids
/// of a group, and returns where documents end in it.
fn encode_in_groups<G: Copy + Sync>(
    groups: &[G],
    num_threads: usize,
    ids: &mut Vec<Id>,
    encode: impl Fn(G, &mut Vec<Id>) -> Result<Vec<usize>> + Sync,
) -> Result<Vec<usize>> {
    let assembly = Mutex::new(Assembly {
        room: ids.spare_capacity_mut(),
        ends: Vec::new(),
        num_ids: 0,
        without_room: Vec::new(),
        next: 0,
        waiting: BTreeMap::new(),
        spare: Vec::new(),
    });
    let mut workers = vec![(); num_threads.min(groups.len())];
    for_each(&mut workers, groups.len(), |(), index| {
        let mut group = lock(&assembly).spare.pop().unwrap_or_default();
        let ends = encode(groups[index], &mut group)?;
        let placed = lock(&assembly).add(index, (group, ends));
        // Threads copy at the same time, and the system gives each of them its memory.
        for (place, mut group) in placed {
            for (slot, &id) in place.iter_mut().zip(&group) {
                slot.write(id);
            }
            group.clear();
            lock(&assembly).spare.push(group);
        }
        Ok(())
    })?;
    let Assembly {
        ends,
        num_ids,
        without_room,
        ..
    } = into_inner(assembly);
    let num_placed = num_ids - without_room.len();
    #[allow(
        unsafe_code,
        reason = "no second pass over all ids, and no zeros before"
    )]
    // SAFETY: that many ids were placed, one behind the other, and all of them were copied.
    unsafe {
        ids.set_len(num_placed);
    }
    ids.extend(without_room);
    Ok(ends)
}

/// Finds the places of groups, as they come, in the order of the documents.
struct Assembly<'r> {
    /// Where the next ids belong.
    room: &'r mut [MaybeUninit<Id>],
    /// Where documents end.
    ends: Vec<usize>,
    num_ids: usize,
    /// The ids for which there was no room, and all behind them.
    without_room: Vec<Id>,
    /// The group whose place is next.
    next: usize,
    waiting: BTreeMap<usize, Encoded>,
    /// Empty buffers, to be used again.
    spare: Vec<Vec<Id>>,
}

/// The ids of a group, and where they belong.
type Placed<'r> = (&'r mut [MaybeUninit<Id>], Vec<Id>);

impl<'r> Assembly<'r> {
    /// Take over the ids of a group; returns those that now have a place.
    fn add(&mut self, index: usize, group: Encoded) -> Vec<Placed<'r>> {
        self.waiting.insert(index, group);
        let mut placed = Vec::new();
        while let Some((ids, ends)) = self.waiting.remove(&self.next) {
            self.ends.extend(ends.iter().map(|end| self.num_ids + end));
            self.num_ids += ids.len();
            self.next += 1;
            let room = std::mem::take(&mut self.room);
            match room.split_at_mut_checked(ids.len()) {
                Some((place, rest)) => {
                    self.room = rest;
                    placed.push((place, ids));
                }
                None => self.without_room.extend(ids),
            }
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ids_are_in_order_whatever_room_there_is() {
        let groups: Vec<Id> = (0..40).collect();
        let encode = |group: Id, ids: &mut Vec<Id>| {
            ids.extend((0..group % 7).map(|_| group));
            Ok(vec![ids.len()])
        };
        let mut expected = Vec::new();
        let mut ends = Vec::new();
        for &group in &groups {
            expected.extend((0..group % 7).map(|_| group));
            ends.push(expected.len());
        }
        for room in [0, 1, 50, expected.len(), 1000] {
            for num_threads in [1, 3] {
                let mut ids = Vec::with_capacity(room);
                let found = encode_in_groups(&groups, num_threads, &mut ids, encode);
                assert!(found.is_ok_and(|found| found == ends));
                assert_eq!(ids, expected, "{room} {num_threads}");
            }
        }
    }

    #[test]
    fn a_failure_is_that_of_the_first_group() {
        let groups: Vec<Id> = (0..40).collect();
        let fail = |group: Id, ids: &mut Vec<Id>| {
            ids.push(group);
            if group % 10 == 9 {
                return Err(Error::InvalidUtf8 {
                    offset: group as usize,
                });
            }
            Ok(vec![1])
        };
        let mut ids = Vec::with_capacity(9);
        let found = encode_in_groups(&groups, 3, &mut ids, fail);
        assert!(matches!(found, Err(Error::InvalidUtf8 { offset: 9 })));
        assert!(ids.is_empty());
    }
}
