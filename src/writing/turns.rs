//! Pieces come in any order and are put in that of their blocks.
//!
//! Threads do not wait for one another: a piece that comes before its turn waits, in memory as long as
//! few do, else in a temporary file of its input. One thread at a time puts those whose turn it is.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::error::Result;
use crate::parallel::lock;
use crate::reading::Position;

use super::piece::{Piece, Store, Stored};

/// The pieces of inputs on their way to `put`, which is called with the input and the piece.
pub(super) struct Turns<'f, P> {
    state: Mutex<State>,
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
    /// Whether a thread puts pieces; after a failure, for ever.
    is_putting: bool,
}

enum Waiting {
    InMemory(Piece),
    Stored(Stored),
}

impl<'f, P: FnMut(usize, &Piece) -> Result<()>> Turns<'f, P> {
    pub(super) fn new(put: P, folder: &'f Path, most_memory: usize) -> Self {
        Self {
            state: Mutex::default(),
            stores: Mutex::default(),
            put: Mutex::new(put),
            folder,
            most_memory,
        }
    }

    /// Put the piece of a block, with which its input may end, or have it wait.
    pub(super) fn add(&self, position: Position, piece: Piece, is_last: bool) -> Result<()> {
        let memory = piece.memory();
        let mut state = lock(&self.state);
        let is_next = position == state.next;
        let waiting = if is_next || state.memory + memory <= self.most_memory {
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
        if std::mem::replace(&mut state.is_putting, true) {
            return Ok(());
        }
        let mut put = lock(&self.put);
        loop {
            let next = state.next;
            let Some((waiting, is_last)) = state.waiting.remove(&next) else {
                state.is_putting = false;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_each;
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
}
