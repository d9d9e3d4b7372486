//! Documents encoded by several threads, and their ids put together in order.
//!
//! A long document is cut where its ids do not change, so that one alone keeps all threads busy.

use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::desks::Lent;
use super::encoder::{Encoder, Given};
use super::run::Desk;
use super::sink::Sink;
use crate::error::Result;
use crate::merges::Id;
use crate::pages::{LARGE_PAGE, prefer_large_pages, take_at_once};
use crate::parallel::{Piece, for_each, group_bytes, in_groups, into_inner, lock, pieces};
use crate::specials::Call;
use crate::watch::Watch;

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);
/// The ids of some pieces, and where documents end in them.
type Group = (Vec<Id>, Vec<usize>);

/// Hardly any text has fewer ids than one for so many bytes.
const MOST_BYTES_PER_ID: usize = 8;

/// How many ids there is room for: enough for most texts. The system gives memory only to those that are
/// written.
fn room_for(num_bytes: usize) -> usize {
    num_bytes / 2
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
        let mut encoded = (Vec::new(), vec![0]);
        self.append_batch(documents, call, num_threads, &mut encoded, watch)?;
        Ok(call.frame.fill(encoded))
    }

    /// The same for documents that come in lots, each of which is encoded as soon as it is there. All of
    /// them have about `num_bytes`.
    pub fn encode_lots<'t>(
        &self,
        lots: impl IntoIterator<Item = Vec<&'t [u8]>>,
        num_bytes: usize,
        call: &Call,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Encoded> {
        let mut encoded = (Vec::new(), vec![0]);
        // If they had to move, the system would take apart the large pages of those that are there.
        encoded.0.try_reserve(room_for(num_bytes)).ok();
        let mut num_before = 0;
        for lot in lots {
            self.append_batch(&lot, call, num_threads, &mut encoded, watch)
                .map_err(|error| error.renumbered(|index| num_before + index))?;
            num_before += lot.len();
        }
        Ok(call.frame.fill(encoded))
    }

    /// Append the ids of documents, and where each one's end.
    fn append_batch(
        &self,
        documents: &[&[u8]],
        call: &Call,
        num_threads: usize,
        encoded: &mut Encoded,
        watch: &Watch,
    ) -> Result<()> {
        let num_bytes: usize = documents.iter().map(|document| document.len()).sum();
        let (ids, offsets) = encoded;
        ids.reserve(room_for(num_bytes));
        prefer_large_pages(ids);
        // At most up to the first large page.
        let num_sure = num_bytes / MOST_BYTES_PER_ID;
        take_at_once(ids, num_sure.min(LARGE_PAGE / size_of::<Id>()));
        offsets.reserve(documents.len());
        match group_bytes(num_bytes, num_threads) {
            None => {
                let pieces = pieces(documents, usize::MAX, |_| None);
                let encode = |desk: &mut _| self.encode_pieces(&pieces, call, desk, encoded, watch);
                self.desks.with(encode)
            }
            Some(group_bytes) => {
                // What is cut off depends on all ids of a document.
                let is_cut = call.frame.limit.is_none();
                let last_cut = |text: &[u8]| is_cut.then(|| self.last_cut(text))?;
                let pieces = pieces(documents, group_bytes, last_cut);
                let groups = in_groups(&pieces, group_bytes);
                // A thread keeps its desk, which is in the caches of its processor.
                let num_desks = num_threads.min(groups.len());
                let desks: Vec<Option<Lent<'_>>> = (0..num_desks).map(|_| None).collect();
                let encode = |desk: &mut Option<_>, group, encoded: &mut _| {
                    let desk = desk.get_or_insert_with(|| self.desks.lend());
                    self.encode_pieces(group, call, desk, encoded, watch)
                };
                encode_in_groups(&groups, documents.len(), desks, encoded, encode)
            }
        }
    }

    /// Append the ids of pieces, and where the documents end that end with one of them.
    fn encode_pieces(
        &self,
        pieces: &[Piece<'_>],
        Call { finders, frame, .. }: &Call,
        desk: &mut Desk,
        (ids, ends): &mut Group,
        watch: &Watch,
    ) -> Result<()> {
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
        Ok(())
    }
}

/// Append the ids of groups, each by one of the workers, and where the documents end. `encode` appends
/// the ids of a group, and where documents end in them.
fn encode_in_groups<W: Send, G: Copy + Sync>(
    groups: &[G],
    num_documents: usize,
    workers: Vec<W>,
    (ids, offsets): &mut Encoded,
    encode: impl Fn(&mut W, G, &mut Group) -> Result<()> + Sync,
) -> Result<()> {
    let num_before = offsets.len();
    offsets.resize(num_before + num_documents, 0);
    let num_ids = ids.len();
    let assembly = Mutex::new(Assembly {
        room: ids.spare_capacity_mut(),
        ends: &mut offsets[num_before..],
        num_ids,
        without_room: Vec::new(),
        next: 0,
        waiting: groups.iter().map(|_| None).collect(),
        spare: Vec::with_capacity(groups.len()),
    });
    // A worker has an empty buffer of its own, unless its last one waits.
    let mut workers: Vec<_> = workers
        .into_iter()
        .map(|worker| (worker, None, Vec::new()))
        .collect();
    for_each(&mut workers, groups.len(), |worker, index| {
        let (worker, buffer, placed) = worker;
        let buffered = buffer.take().or_else(|| lock(&assembly).spare.pop());
        let mut group = buffered.unwrap_or_default();
        encode(worker, groups[index], &mut group)?;
        lock(&assembly).add(index, group, placed);
        // Threads copy at the same time, and the system gives each of them its memory.
        for place in placed.drain(..) {
            let emptied = place.fill();
            if let Some(other) = buffer.replace(emptied) {
                lock(&assembly).spare.push(other);
            }
        }
        Ok(())
    })?;
    drop(workers);
    let Assembly {
        num_ids,
        without_room,
        ..
    } = into_inner(assembly);
    let num_placed = num_ids - without_room.len();
    #[allow(
        unsafe_code,
        reason = "no second pass over all ids, and no zeros before"
    )]
    // SAFETY: that many ids were there or were placed, one behind the other, and all of them were copied.
    unsafe {
        ids.set_len(num_placed);
    }
    ids.extend(without_room);
    Ok(())
}

/// Finds the places of groups, as they come, in the order of the documents.
///
/// No memory is taken or given back by whoever has it: all threads would wait for the system, which is
/// busy in a first pass, while their caches grow.
struct Assembly<'r> {
    /// Where the next ids belong.
    room: &'r mut [MaybeUninit<Id>],
    /// Where the next ends of documents belong.
    ends: &'r mut [usize],
    num_ids: usize,
    /// The ids for which there was no room, and all behind them.
    without_room: Vec<Id>,
    /// The group whose place is next.
    next: usize,
    /// The groups that are encoded and have no place yet.
    waiting: Vec<Option<Group>>,
    /// Empty buffers, to be used again.
    spare: Vec<Group>,
}

/// A group, and where its ids and the ends of its documents belong.
struct Placed<'r> {
    group: Group,
    ids: &'r mut [MaybeUninit<Id>],
    ends: &'r mut [usize],
    /// How many ids are before it.
    num_before: usize,
}

impl<'r> Assembly<'r> {
    /// Take over a group; those that now have a place are appended to `placed`.
    fn add(&mut self, index: usize, group: Group, placed: &mut Vec<Placed<'r>>) {
        self.waiting[index] = Some(group);
        while let Some(mut group) = self.waiting.get_mut(self.next).and_then(Option::take) {
            let num_before = self.num_ids;
            self.num_ids += group.0.len();
            self.next += 1;
            let room = std::mem::take(&mut self.room);
            let ids = if let Some((place, rest)) = room.split_at_mut_checked(group.0.len()) {
                self.room = rest;
                place
            } else {
                self.without_room.append(&mut group.0);
                &mut []
            };
            let (ends, rest) = std::mem::take(&mut self.ends).split_at_mut(group.1.len());
            self.ends = rest;
            placed.push(Placed {
                group,
                ids,
                ends,
                num_before,
            });
        }
    }
}

impl Placed<'_> {
    /// Copy the group to its place; returns its buffer.
    fn fill(self) -> Group {
        let (mut ids, mut ends) = self.group;
        for (slot, id) in self.ids.iter_mut().zip(ids.drain(..)) {
            slot.write(id);
        }
        for (slot, end) in self.ends.iter_mut().zip(ends.drain(..)) {
            *slot = self.num_before + end;
        }
        (ids, ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn ids_are_in_order_whatever_room_there_is() {
        let groups: Vec<Id> = (0..40).collect();
        let encode = |(): &mut (), group: Id, (ids, ends): &mut Group| {
            ids.extend((0..group % 7).map(|_| group));
            ends.push(ids.len());
            Ok(())
        };
        let mut expected = (vec![7, 8], vec![0, 2]);
        for &group in &groups {
            expected.0.extend((0..group % 7).map(|_| group));
            expected.1.push(expected.0.len());
        }
        for room in [0, 1, 50, expected.0.len(), 1000] {
            for num_threads in [1, 3] {
                let mut found = (Vec::with_capacity(room), vec![0, 2]);
                found.0.extend([7, 8]);
                let workers = vec![(); num_threads];
                assert!(encode_in_groups(&groups, 40, workers, &mut found, encode).is_ok());
                assert_eq!(found, expected, "{room} {num_threads}");
            }
        }
    }

    #[test]
    fn a_failure_is_that_of_the_first_group() {
        let groups: Vec<Id> = (0..40).collect();
        let fail = |(): &mut (), group: Id, (ids, ends): &mut Group| {
            ids.push(group);
            ends.push(1);
            if group % 10 == 9 {
                return Err(Error::InvalidUtf8 {
                    offset: group as usize,
                });
            }
            Ok(())
        };
        let mut encoded = (Vec::with_capacity(9), vec![0]);
        let found = encode_in_groups(&groups, 40, vec![(); 3], &mut encoded, fail);
        assert!(matches!(found, Err(Error::InvalidUtf8 { offset: 9 })));
        assert!(encoded.0.is_empty());
    }
}
