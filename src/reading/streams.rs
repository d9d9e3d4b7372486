//! Blocks of several inputs, each read by the thread that works on it.
//!
//! A free thread reads a block of the first input that no other thread is reading, works on the block,
//! and looks again. So files are decompressed at the same time, one file keeps all threads busy if it
//! is read faster than its blocks are worked on, and there are no more blocks than threads.
//!
//! The error returned is that of the first block that fails, in the order of the inputs: after a
//! failure the inputs before it are still read, and nothing behind it.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::parallel::{into_inner, lock, with_each};
use crate::watch::Watch;

/// Which block: the index of its input, and its own in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Position {
    pub(crate) input: usize,
    pub(crate) block: u64,
}

/// In which order blocks are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    /// Any.
    Free,
    /// Nearly that of the inputs, since what is made of a block waits for the blocks before: threads
    /// wait for a text without compression rather than to begin the next one. The first blocks come
    /// strictly in order.
    Kept {
        /// How many.
        num_strict: u64,
    },
}

/// What is read of an input at once.
pub(crate) trait Part {
    /// Whether the input ends with it.
    fn is_last(&self) -> bool;
}

/// A block that was read.
pub(crate) struct Taken<B> {
    pub(crate) position: Position,
    /// How many blocks of all inputs are before it, if it is one of those strictly in order.
    pub(crate) number: Option<u64>,
    pub(crate) block: B,
}

/// An input: its blocks, and whether it is compressed.
pub(crate) type Compressible<I> = (bool, I);

/// The blocks of an input that is read.
struct Stream<I> {
    next: Position,
    is_compressed: bool,
    /// None while a thread reads.
    blocks: Option<I>,
}

struct State<S, I> {
    /// The inputs of which nothing was read, if any of them is to be.
    inputs: Option<S>,
    num_begun: usize,
    /// Those that were begun.
    begun: VecDeque<Stream<I>>,
    num_taken: u64,
    failure: Option<(Position, Error)>,
}

struct Streams<'w, S, I> {
    state: Mutex<State<S, I>>,
    changed: Condvar,
    order: Order,
    most_begun: usize,
    watch: &'w Watch,
}

/// Call `work` with each block of the inputs, until it says that this is enough; workers take blocks as
/// they are free. An input is asked for when its first block is read, and `most_begun` are read at once.
pub(crate) fn for_each_block<W: Send, B: Part, I: Iterator<Item = Result<B>> + Send>(
    inputs: impl Iterator<Item = Compressible<I>> + Send,
    order: Order,
    most_begun: usize,
    workers: &mut [W],
    watch: &Watch,
    work: impl Fn(&mut W, Taken<B>) -> Result<ControlFlow<()>> + Sync,
) -> Result<()> {
    let streams = Streams {
        state: Mutex::new(State {
            inputs: Some(inputs),
            num_begun: 0,
            begun: VecDeque::new(),
            num_taken: 0,
            failure: None,
        }),
        changed: Condvar::new(),
        order,
        most_begun,
        watch,
    };
    with_each(workers, |worker| {
        while let Some(taken) = streams.take() {
            let position = taken.position;
            match work(worker, taken) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => streams.leave(lock(&streams.state), 0),
                Err(error) => streams.fail(position, error),
            }
        }
        Ok(())
    })?;
    into_inner(streams.state)
        .failure
        .map_or(Ok(()), |(_, error)| Err(error))
}

impl<B: Part, I, S> Streams<'_, S, I>
where
    I: Iterator<Item = Result<B>>,
    S: Iterator<Item = Compressible<I>>,
{
    /// Read a block; None if there are no more.
    fn take(&self) -> Option<Taken<B>> {
        loop {
            if let Err(error) = self.watch.check() {
                self.fail(Position::default(), error);
            }
            let (reading, mut blocks) = self.begin()?;
            let position = reading.next;
            match blocks.next() {
                Some(Ok(block)) => {
                    let number = reading.end((!block.is_last()).then_some(blocks));
                    return Some(Taken {
                        position,
                        number,
                        block,
                    });
                }
                Some(Err(error)) => self.fail(position, error),
                None => {
                    reading.end(None);
                }
            }
        }
    }

    /// Wait for an input that can be read, and take its blocks out; None if there are no more.
    fn begin(&self) -> Option<(Reading<'_, '_, S, I>, I)> {
        let mut state = lock(&self.state);
        loop {
            let is_strict = self.is_strict(&state);
            if let Some(found) = state.find(self.order, is_strict, self.most_begun) {
                let reading = Reading {
                    streams: self,
                    next: found.next,
                };
                return found.blocks.take().map(|blocks| (reading, blocks));
            }
            if state.begun.is_empty() {
                return None;
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<S, I> Streams<'_, S, I> {
    fn is_strict(&self, state: &State<S, I>) -> bool {
        matches!(self.order, Order::Kept { num_strict } if state.num_taken < num_strict)
    }

    /// A block failed, or could not be read.
    fn fail(&self, position: Position, error: Error) {
        let mut state = lock(&self.state);
        let first = state.failure.as_ref().map(|&(first, _)| first);
        if first.is_none_or(|first| position < first) {
            state.failure = Some((position, error));
        }
        self.leave(state, position.input);
    }

    /// Read nothing of an input and those behind it any more.
    fn leave(&self, mut state: MutexGuard<'_, State<S, I>>, input: usize) {
        state.inputs = None;
        state.begun.retain(|stream| stream.next.input < input);
        self.notify(state);
    }

    fn notify(&self, state: MutexGuard<'_, State<S, I>>) {
        drop(state);
        self.changed.notify_all();
    }
}

impl<I, S: Iterator<Item = Compressible<I>>> State<S, I> {
    /// The first input that can be read now; None if there is none, or it has to be waited for.
    fn find(&mut self, order: Order, is_strict: bool, most_begun: usize) -> Option<&mut Stream<I>> {
        let is_kept = matches!(order, Order::Kept { .. });
        for (index, stream) in self.begun.iter().enumerate() {
            if stream.blocks.is_some() {
                return self.begun.get_mut(index);
            }
            let is_short = stream.next.block == 0;
            if is_strict || (is_kept && !stream.is_compressed && !is_short) {
                return None;
            }
        }
        if self.begun.len() >= most_begun {
            return None;
        }
        let (is_compressed, blocks) = self.inputs.as_mut()?.next()?;
        let next = Position {
            input: self.num_begun,
            block: 0,
        };
        self.num_begun += 1;
        self.begun.push_back(Stream {
            next,
            is_compressed,
            blocks: Some(blocks),
        });
        self.begun.back_mut()
    }
}

/// An input whose next block is being read.
struct Reading<'s, 'w, S, I> {
    streams: &'s Streams<'w, S, I>,
    next: Position,
}

impl<S, I> Reading<'_, '_, S, I> {
    /// A block was read, and others can be read if there are more; returns its number if it is known.
    fn end(self, more: Option<I>) -> Option<u64> {
        let mut state = lock(&self.streams.state);
        let was_strict = self.streams.is_strict(&state);
        let number = was_strict.then_some(state.num_taken);
        state.num_taken += 1;
        let same = |stream: &Stream<I>| stream.next.input == self.next.input;
        // After a failure before it, it is not there any more.
        let index = state.begun.iter().position(same);
        let has_more = more.is_some();
        match (index, more) {
            (Some(index), Some(blocks)) => {
                state.begun[index].next.block += 1;
                state.begun[index].blocks = Some(blocks);
            }
            (Some(index), None) => drop(state.begun.remove(index)),
            (None, _) => {}
        }
        if has_more && was_strict == self.streams.is_strict(&state) {
            drop(state);
            self.streams.changed.notify_one();
        } else {
            self.streams.notify(state);
        }
        number
    }
}

impl<S, I> Drop for Reading<'_, '_, S, I> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.streams.fail(Position::default(), Error::Interrupted);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::reading::{Block, Compression, Documents, Input, Reading as Files};

    /// The lines of inputs, one for each block, with their positions and numbers, sorted; the text of
    /// input `wrong` is not JSON, though only behind its first line.
    fn positions(
        num_threads: usize,
        order: Order,
        wrong: usize,
    ) -> (Result<()>, Vec<(Position, Option<u64>)>) {
        let watch = Watch::default();
        let files = Files {
            block_bytes: 1,
            most_record_bytes: 1000,
            scratch: std::env::temp_dir(),
            last_cut: |_: &[u8]| None,
            watch: &watch,
        };
        let text = |input| match input {
            _ if input >= wrong => "{\"t\": \"a\"}\nno\n".repeat(3),
            _ => "{\"t\": \"a\"}\n".repeat(3 * input + 1),
        };
        let texts: Vec<String> = (0..9).map(text).collect();
        let inputs = texts.iter().zip(0..).map(|(text, number)| Input {
            path: format!("{number}").into(),
            reader: Some(Box::new(text.as_bytes())),
            compression: Compression::None,
            documents: Documents::JsonLines("t".into()),
        });
        let found = Mutex::new(Vec::new());
        let mut workers = vec![(); num_threads];
        let streams = files.streams(inputs.collect());
        let done = for_each_block(streams, order, 4, &mut workers, &watch, |(), taken| {
            if taken.position.input < wrong {
                lock(&found).push((taken.position, taken.number));
            }
            let batch = taken.block.into_batch(false);
            batch.map(|_| ControlFlow::Continue(()))
        });
        let mut found = into_inner(found);
        found.sort_unstable();
        (done, found)
    }

    const ORDERS: [Order; 3] = [
        Order::Free,
        Order::Kept { num_strict: 0 },
        Order::Kept { num_strict: 20 },
    ];

    #[test]
    fn each_block_is_taken_once_and_the_first_have_numbers() {
        for order in ORDERS {
            let (done, alone) = positions(1, order, 9);
            assert_eq!(done, Ok(()));
            // Each line is a block.
            assert_eq!(
                alone.len(),
                (0..9).map(|input| 3 * input + 1).sum::<usize>()
            );
            let num_strict = match order {
                Order::Kept { num_strict } => num_strict,
                Order::Free => 0,
            };
            let numbers = alone.iter().filter_map(|(_, number)| *number);
            assert!(numbers.eq(0..num_strict));
            for num_threads in [2, 5, 20] {
                assert_eq!(positions(num_threads, order, 9), (Ok(()), alone.clone()));
            }
        }
    }

    #[test]
    fn the_first_failure_is_returned_and_all_before_it_is_done() {
        for order in ORDERS {
            for wrong in [0, 3, 8] {
                let (expected, alone) = positions(1, order, wrong);
                let message = expected.as_ref().expect_err("it is wrong").to_string();
                assert!(
                    message.starts_with(&format!("{wrong}: line 2")),
                    "{message}"
                );
                for _ in 0..20 {
                    assert_eq!(
                        positions(6, order, wrong),
                        (expected.clone(), alone.clone())
                    );
                }
            }
        }
    }

    #[test]
    fn a_panic_while_reading_ends_all() {
        let num_read = AtomicUsize::new(0);
        let blocks = std::iter::from_fn(|| {
            num_read.fetch_add(1, Ordering::Relaxed);
            panic!("cannot be read")
        });
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let inputs = [(true, blocks)].into_iter();
            let mut workers = [(); 4];
            for_each_block(
                inputs,
                Order::Free,
                usize::MAX,
                &mut workers,
                &Watch::default(),
                |(), _: Taken<Block>| Ok(ControlFlow::Continue(())),
            )
        }));
        assert!(caught.is_err() && num_read.into_inner() == 1);
    }
}
