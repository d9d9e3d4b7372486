//! Pieces come in any order and are put in that of their blocks.
//!
//! A piece that comes before its turn waits, in memory as long as few do, else in a temporary file of its
//! input. One thread at a time puts those whose turn it is. Threads wait for one another only for that one,
//! if the memory is full: it makes room, and so a slow disk need not write temporary files as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::error::Result;
use crate::parallel::lock;
use crate::reading::Position;

use super::piece::{Piece, Store, Stored};

/// The pieces of inputs on their way to `put`, which is called with the input and the piece.
pub(super) struct Turns<'f, P> {
    state: Mutex<State>,
    /// Tells that there may be more room in memory.
    changed: Condvar,
    /// Of each input that has pieces in one.
    stores: Mutex<BTreeMap<usize, Arc<Mutex<Store>>>>,
    put: Mutex<P>,
    folder: &'f Path,
    /// How many bytes of pieces may wait in memory.
    most_memory: usize,
}

#[derive(Default)]
struct State {
    /// Whose turn it is.
    next: Position,
    /// What waits, and whether its input ends with it.
    waiting: BTreeMap<Position, (Waiting, bool)>,
    memory: usize,
    /// The pieces of threads that wait for room.
    held: BTreeSet<Position>,
    putting: Putting,
}

/// Whether a thread puts pieces.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Putting {
    #[default]
    Idle,
    Busy,
    /// No more are put.
    Failed,
}

impl State {
    /// Whether a thread puts pieces, or is about to: it has the next one.
    fn makes_room(&self) -> bool {
        let is_next_held = || self.held.contains(&self.next);
        self.putting == Putting::Busy || self.putting == Putting::Idle && is_next_held()
    }
}

enum Waiting {
    InMemory(Piece),
    Stored(Stored),
}

impl<'f, P: FnMut(usize, &Piece) -> Result<()>> Turns<'f, P> {
    pub(super) fn new(put: P, folder: &'f Path, most_memory: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            stores: Mutex::default(),
            put: Mutex::new(put),
            folder,
            most_memory,
        }
    }

    /// Put the piece of a block, with which its input may end, or have it wait.
    pub(super) fn add(&self, position: Position, piece: Piece, is_last: bool) -> Result<()> {
        let memory = piece.memory();
        let has_room =
            |state: &State| position == state.next || state.memory + memory <= self.most_memory;
        let mut state = lock(&self.state);
        while !has_room(&state) && state.makes_room() {
            state.held.insert(position);
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.held.remove(&position);
        if state.putting == Putting::Failed {
            return Ok(());
        }
        let waiting = if has_room(&state) {
            state.memory += memory;
            Waiting::InMemory(piece)
        } else {
            drop(state);
            let store = self.store(position.input)?;
            let stored = lock(&store).put(piece)?;
            state = lock(&self.state);
            Waiting::Stored(stored)
        };
        state.waiting.insert(position, (waiting, is_last));
        if state.putting != Putting::Idle {
            return Ok(());
        }
        state.putting = Putting::Busy;
        drop(state);
        self.put_all()
    }

    /// Put the pieces whose turn it is; this thread alone does.
    fn put_all(&self) -> Result<()> {
        let mut turn = Turn {
            state: &self.state,
            changed: &self.changed,
            is_over: false,
        };
        let mut put = lock(&self.put);
        let mut state = lock(&self.state);
        loop {
            let next = state.next;
            let Some((waiting, is_last)) = state.waiting.remove(&next) else {
                state.putting = Putting::Idle;
                turn.is_over = true;
                self.changed.notify_all();
                return Ok(());
            };
            drop(state);
            let num_freed = self.put(waiting, next.input, &mut *put)?;
            if is_last {
                lock(&self.stores).remove(&next.input);
            }
            state = lock(&self.state);
            state.memory -= num_freed;
            state.next = if is_last {
                Position {
                    input: next.input + 1,
                    block: 0,
                }
            } else {
                Position {
                    block: next.block + 1,
                    ..next
                }
            };
            self.changed.notify_all();
        }
    }

    /// Put a piece; returns how many bytes fewer wait in memory.
    fn put(&self, waiting: Waiting, input: usize, put: &mut P) -> Result<usize> {
        match waiting {
            Waiting::InMemory(piece) => put(input, &piece).map(|()| piece.memory()),
            Waiting::Stored(stored) => {
                let store = self.store(input)?;
                let piece = lock(&store).take(stored)?;
                put(input, &piece).map(|()| 0)
            }
        }
    }

    fn store(&self, input: usize) -> Result<Arc<Mutex<Store>>> {
        let mut stores = lock(&self.stores);
        if let Some(store) = stores.get(&input) {
            return Ok(Arc::clone(store));
        }
        let store = Arc::new(Mutex::new(Store::create(self.folder)?));
        stores.insert(input, Arc::clone(&store));
        Ok(store)
    }
}

/// The turn of a thread to put pieces. If it ends before it is over, nobody waits for that thread for ever.
struct Turn<'t> {
    state: &'t Mutex<State>,
    changed: &'t Condvar,
    is_over: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            lock(self.state).putting = Putting::Failed;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use super::*;
    use crate::error::Error;
    use crate::parallel::{into_inner, with_each};
    use crate::writing::piece::Part;

    #[test]
    fn pieces_are_put_in_order_whatever_waits_in_memory() {
        let positions = (0..6).flat_map(|input| (0..=input as u64).map(move |b| (input, b)));
        let expected: Vec<(usize, u64)> = positions.collect();
        let folder = std::env::temp_dir();
        for most_memory in [0, 40, 1 << 20] {
            for num_threads in [1, 4] {
                let found = Mutex::new(Vec::new());
                let put = |input, piece: &Piece| {
                    let bytes = &piece.parts[0].bytes;
                    assert_eq!(input, usize::from(bytes[0]));
                    lock(&found).push((usize::from(bytes[0]), u64::from(bytes[1])));
                    Ok(())
                };
                let turns = Turns::new(put, &folder, most_memory);
                // The last come first.
                let left = Mutex::new(expected.clone());
                let done = with_each(&mut vec![(); num_threads], |()| {
                    while let Some((input, block)) = { lock(&left).pop() } {
                        let mut piece = Piece::default();
                        piece.parts[0] = Part {
                            bytes: vec![input as u8, block as u8],
                            ends: vec![],
                        };
                        turns.add(Position { input, block }, piece, block == input as u64)?;
                    }
                    Ok(())
                });
                assert_eq!(done, Ok(()));
                assert!(lock(&turns.stores).is_empty() && lock(&turns.state).memory == 0);
                assert_eq!(*lock(&found), expected);
            }
        }
    }

    /// Adds three pieces, the last two while the first is put, which ends once both wait, with what `end`
    /// returns; there is no room in memory. Returns what was put, and whether any was stored.
    fn put_while_others_wait(end: impl Fn() -> Result<()> + Sync) -> (Result<()>, Vec<u64>, bool) {
        let wait_for = |is_so: &dyn Fn() -> bool| {
            let began = Instant::now();
            while !is_so() && began.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
        };
        let (is_put, others_wait) = (AtomicBool::new(false), AtomicBool::new(false));
        let found = Mutex::new(Vec::new());
        let put = |_, piece: &Piece| {
            let block = piece.extent.position;
            lock(&found).push(block);
            if block > 0 {
                return Ok(());
            }
            is_put.store(true, Ordering::Relaxed);
            wait_for(&|| others_wait.load(Ordering::Relaxed));
            end()
        };
        let folder = std::env::temp_dir();
        let turns = Turns::new(put, &folder, 0);
        let done = with_each(&mut [0, 1, 2, 3], |&mut block| {
            if block == 3 {
                wait_for(&|| lock(&turns.state).held.len() == 2);
                others_wait.store(true, Ordering::Relaxed);
                return Ok(());
            }
            if block > 0 {
                wait_for(&|| is_put.load(Ordering::Relaxed));
            }
            let mut piece = Piece::default();
            piece.parts[0].bytes = vec![7];
            piece.extent.position = block;
            turns.add(Position { input: 0, block }, piece, false)
        });
        let is_stored = !lock(&turns.stores).is_empty();
        drop(turns);
        (done, into_inner(found), is_stored)
    }

    #[test]
    fn nothing_is_stored_while_a_thread_makes_room() {
        let found = put_while_others_wait(|| Ok(()));
        assert_eq!(found, (Ok(()), vec![0, 1, 2], false));
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_failed() {
        let failed = Error::InvalidUtf8 { offset: 3 };
        let found = put_while_others_wait(|| Err(failed.clone()));
        assert_eq!(found, (Err(failed.clone()), vec![0], false));
        let caught = catch_unwind(|| put_while_others_wait(|| panic!("a bug")));
        assert!(caught.is_err());
    }
}
