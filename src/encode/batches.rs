//! Documents encoded by several threads, and their ids put together in order.
//!
//! A long document is cut where its ids do not change, so that one alone keeps all threads busy.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use super::desks::Lent;
use super::encoder::{Encoder, Given};
use super::run::Desk;
use super::sink::Sink;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::pages::{LARGE_PAGE, prefer_large_pages, take_at_once};
use crate::parallel::{Piece, for_each_of, group_bytes, groups, into_inner, lock};
use crate::specials::{Call, Finders};
use crate::watch::Watch;

/// The ids of documents, and where each document's begin and the last one's end.
pub type Encoded = (Vec<Id>, Vec<usize>);
/// The ids of some pieces, and where documents end in them.
type Group = (Vec<Id>, Vec<usize>);

/// Hardly any text has fewer ids than one for so many bytes.
const MOST_BYTES_PER_ID: usize = 8;

/// One thread takes the documents of so many bytes at once.
const MOST_BYTES_AT_ONCE: usize = 1 << 20;
/// So many groups for each worker hardly ever wait for one before them.
const MOST_WAITING: usize = 4;
/// For each group that a worker encodes it copies the ids of so many at most: one that was held up, so that
/// many waited for its group, is not held up further.
const MOST_COPIED: usize = 2;

/// How many ids there is room for: enough for most texts. The system gives memory only to those that are
/// written.
fn room_for(num_bytes: usize) -> usize {
    num_bytes / 2
}

/// How many documents there are, and about how many bytes they have.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How many documents.
    pub num_documents: usize,
    /// About how many bytes all of them have.
    pub num_bytes: usize,
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
        let extent = Extent {
            num_documents: documents.len(),
            num_bytes: documents.iter().map(|document| document.len()).sum(),
        };
        let documents = documents.iter().copied();
        self.encode_documents(documents, extent, call, num_threads, watch)
    }

    /// The same for documents that may be still to come: each is encoded soon after it is there.
    pub fn encode_documents<'t>(
        &self,
        documents: impl Iterator<Item = &'t [u8]> + Send,
        extent: Extent,
        call: &Call,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Encoded> {
        let mut encoded = extent.room();
        match group_bytes(extent.num_bytes, num_threads) {
            None => {
                // At most up to the first large page.
                let num_sure = extent.num_bytes / MOST_BYTES_PER_ID;
                take_at_once(&mut encoded.0, num_sure.min(LARGE_PAGE / size_of::<Id>()));
                let mut groups = groups(documents, MOST_BYTES_AT_ONCE, |_: &[u8]| None);
                self.desks.with(|desk| {
                    groups.try_for_each(|group| {
                        self.encode_pieces(&group, call, desk, &mut encoded, watch)
                    })
                })?;
            }
            Some(group_bytes) => {
                // What is cut off depends on all ids of a document.
                let is_cut = call.frame.limit.is_none();
                let last_cut = |text: &[u8]| is_cut.then(|| self.last_cut(text))?;
                let groups = groups(documents, group_bytes, last_cut);
                // A thread has the same desk and mostly the same groups in each call: their words are known.
                let num_desks = num_threads.min(extent.num_bytes.div_ceil(group_bytes));
                let desks: Vec<Option<Lent<'_>>> = (0..num_desks).map(|_| None).collect();
                let encode = |desk: &mut Option<_>, group: Vec<_>, encoded: &mut _| {
                    let desk = desk.get_or_insert_with(|| self.desks.lend());
                    self.encode_pieces(&group, call, desk, encoded, watch)
                };
                encode_in_groups(groups, desks, &mut encoded, encode)?;
            }
        }
        Ok(call.frame.fill(encoded))
    }

    /// Append the ids of pieces, and where the documents end that end with one of them.
    fn encode_pieces(
        &self,
        pieces: &[Piece<'_>],
        call: &Call,
        desk: &mut Desk,
        (ids, ends): &mut Group,
        watch: &Watch,
    ) -> Result<()> {
        let Call { finders, frame, .. } = call;
        let mut rest = pieces;
        while let Some(piece) = rest.first() {
            watch.check()?;
            let num_gathered = self.encode_gathered(rest, call, desk, (ids, ends), watch);
            if num_gathered > 0 {
                rest = &rest[num_gathered..];
                continue;
            }
            rest = &rest[1..];
            let mut start = ids.len();
            if piece.start == 0 {
                start = frame.open(ids);
            }
            let mut sink = Sink::keeping(ids);
            self.encode_given(Given::Text(piece.text), finders, desk, &mut sink, watch)
                .map_err(|error| self.error_of(piece, finders, error))?;
            if piece.is_last {
                frame.close(ids, start);
                ends.push(ids.len());
            }
        }
        Ok(())
    }

    /// The error of a piece as one of its document. What refuses a document as a whole comes first, also where
    /// threads share it.
    fn error_of(&self, piece: &Piece<'_>, finders: &Finders, error: Error) -> Error {
        let first = match self.specials.check(piece.whole, finders) {
            Err(refused) if error != Error::Interrupted => refused,
            _ => error.moved(piece.start, 0),
        };
        first.in_document(piece.document)
    }
}

impl Extent {
    /// The ids of no document yet, and room for those of all. If they had to move, the system would take
    /// apart the large pages of those that are there.
    fn room(self) -> Encoded {
        let mut ids = Vec::new();
        ids.try_reserve(room_for(self.num_bytes)).ok();
        prefer_large_pages(&mut ids);
        let mut offsets = vec![0];
        offsets.try_reserve(self.num_documents).ok();
        (ids, offsets)
    }
}

/// Append the ids of groups, each by one of the workers, and where the documents end. `encode` appends
/// the ids of a group, and where documents end in them.
fn encode_in_groups<W: Send, G: Send>(
    groups: impl Iterator<Item = G> + Send,
    workers: Vec<W>,
    (ids, offsets): &mut Encoded,
    encode: impl Fn(&mut W, G, &mut Group) -> Result<()> + Sync,
) -> Result<()> {
    let num_ids = ids.len();
    let num_workers = workers.len();
    let assembly = Mutex::new(Assembly {
        room: ids.spare_capacity_mut(),
        offsets,
        num_ids,
        without_room: Vec::new(),
        next: 0,
        waiting: VecDeque::with_capacity(MOST_WAITING * num_workers),
        placed: VecDeque::with_capacity(MOST_WAITING * num_workers),
        spare: Vec::with_capacity(MOST_WAITING * num_workers),
    });
    // A worker has an empty buffer of its own, unless its last one waits.
    let mut workers: Vec<_> = workers.into_iter().map(|worker| (worker, None)).collect();
    for_each_of(&mut workers, groups, |worker, index, group| {
        let (worker, buffer) = worker;
        let buffered = buffer.take().or_else(|| lock(&assembly).spare.pop());
        let mut encoded = buffered.unwrap_or_default();
        encode(worker, group, &mut encoded)?;
        lock(&assembly).add(index, encoded);
        // Threads copy at the same time, and the system gives each of them its memory.
        for _ in 0..MOST_COPIED {
            let Some(placed) = lock(&assembly).placed.pop_front() else {
                break;
            };
            if let Some(other) = buffer.replace(placed.fill()) {
                lock(&assembly).spare.push(other);
            }
        }
        Ok(())
    })?;
    let Assembly {
        num_ids,
        without_room,
        placed,
        ..
    } = into_inner(assembly);
    fill_all(placed, num_workers)?;
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

/// Copy the ids of groups to their places.
fn fill_all(placed: VecDeque<Placed<'_>>, num_threads: usize) -> Result<()> {
    let num_threads = num_threads.min(placed.len() / MOST_COPIED).max(1);
    for_each_of(
        &mut vec![(); num_threads],
        placed.into_iter(),
        |(), _, placed| {
            placed.fill();
            Ok(())
        },
    )
}

/// Finds the places of groups, as they come, in the order of the documents.
///
/// No memory is taken or given back by whoever has it: all threads would wait for the system, which is
/// busy in a first pass, while their caches grow.
struct Assembly<'r> {
    /// Where the next ids belong.
    room: &'r mut [MaybeUninit<Id>],
    /// Where the ends of documents belong.
    offsets: &'r mut Vec<usize>,
    num_ids: usize,
    /// The ids for which there was no room, and all behind them.
    without_room: Vec<Id>,
    /// The group whose place is next.
    next: usize,
    /// The groups from there on, as far as they are encoded.
    waiting: VecDeque<Option<Group>>,
    /// Those before, as far as nobody copies them yet.
    placed: VecDeque<Placed<'r>>,
    /// Empty buffers, to be used again.
    spare: Vec<Group>,
}

/// A group, and where its ids belong.
struct Placed<'r> {
    group: Group,
    room: &'r mut [MaybeUninit<Id>],
}

impl Assembly<'_> {
    /// Take over a group, and give places to those that can have them now.
    fn add(&mut self, index: usize, group: Group) {
        let place = index - self.next;
        if place >= self.waiting.len() {
            self.waiting.resize_with(place + 1, || None);
        }
        self.waiting[place] = Some(group);
        while let Some(mut group) = self.waiting.front_mut().and_then(Option::take) {
            self.waiting.pop_front();
            self.next += 1;
            let (ids, ends) = &mut group;
            let num_before = self.num_ids;
            self.num_ids += ids.len();
            self.offsets
                .extend(ends.drain(..).map(|end| num_before + end));
            let room = std::mem::take(&mut self.room);
            let room = if let Some((place, rest)) = room.split_at_mut_checked(ids.len()) {
                self.room = rest;
                place
            } else {
                self.without_room.append(ids);
                &mut []
            };
            self.placed.push_back(Placed { group, room });
        }
    }
}

impl Placed<'_> {
    /// Copy the ids to their place; returns the group, which is empty then.
    fn fill(self) -> Group {
        let (mut ids, ends) = self.group;
        for (slot, id) in self.room.iter_mut().zip(ids.drain(..)) {
            slot.write(id);
        }
        (ids, ends)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

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
                let groups = groups.iter().copied();
                assert!(encode_in_groups(groups, workers, &mut found, encode).is_ok());
                assert_eq!(found, expected, "{room} {num_threads}");
            }
        }
    }

    #[test]
    fn all_groups_may_wait_for_the_first() {
        let num_encoded = AtomicUsize::new(1);
        let encode = |(): &mut (), group: Id, (ids, ends): &mut Group| {
            ids.extend([group; 3]);
            ends.push(3);
            if group == 0 {
                while num_encoded.load(Ordering::Relaxed) < 40 {
                    std::thread::yield_now();
                }
            }
            num_encoded.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let mut found = (Vec::with_capacity(120), vec![0]);
        assert!(encode_in_groups(0..40, vec![(); 2], &mut found, encode).is_ok());
        let ids = (0..40).flat_map(|group| [group; 3]).collect();
        assert_eq!(found, (ids, (0..=120).step_by(3).collect()));
    }

    #[test]
    fn a_failure_is_that_of_the_first_group() {
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
        let found = encode_in_groups(0..40, vec![(); 3], &mut encoded, fail);
        assert!(matches!(found, Err(Error::InvalidUtf8 { offset: 9 })));
        assert!(encoded.0.is_empty());
    }
}
