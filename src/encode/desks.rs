//! What threads encode with, kept from call to call.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use super::cache::SharedWords;
use super::run::Desk;
use crate::merges::Id;
use crate::parallel::thread_number;
use crate::pool::Pool;

/// The desks of an encoder.
#[derive(Debug)]
pub(crate) struct Desks {
    kept: Pool<Box<Desk>>,
    /// How many bits an id has in the cache.
    bits: u32,
    /// How many share the memory for caches.
    num_sharing: AtomicUsize,
    /// The words that desks share. As in a pool, no one waits for the lock.
    words: RwLock<Option<Arc<SharedWords>>>,
}

impl Desks {
    /// For ids up to the largest.
    pub(super) fn new(largest: Id) -> Self {
        Self {
            kept: Pool::default(),
            bits: (u32::BITS - largest.leading_zeros()).max(1),
            num_sharing: AtomicUsize::new(1),
            words: RwLock::default(),
        }
    }

    /// Lend a desk for one piece of work.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        work(&mut self.lend())
    }

    /// Lend the desk of this thread of a loop; it is kept for the next call.
    pub(super) fn lend(&self) -> Lent<'_> {
        let number = thread_number();
        let kept = self.kept.take(number);
        let mut desk = kept.unwrap_or_else(|| Box::new(Desk::new(self.bits)));
        match self.num_sharing.load(Ordering::Relaxed) {
            1 => desk.share(1, None),
            num_sharing => {
                let words = self.words.try_read().ok();
                desk.share(num_sharing, words.and_then(|words| words.clone()));
            }
        }
        Lent {
            desk: Some(desk),
            number,
            desks: self,
        }
    }

    /// Let the desks of so many threads share the words they find until the result is dropped, and the
    /// memory for caches, of which there is room for `num_caches`.
    pub(crate) fn sharing(&self, num_threads: usize, num_caches: usize) -> impl Drop + use<'_> {
        self.num_sharing.store(num_caches, Ordering::Relaxed);
        self.set_words((num_threads > 1).then(Arc::default));
        Sharing(self)
    }

    fn set_words(&self, words: Option<Arc<SharedWords>>) {
        if let Ok(mut place) = self.words.try_write() {
            *place = words;
        }
    }
}

/// A desk that is lent; it is given back when this is dropped.
pub(super) struct Lent<'d> {
    /// Until then.
    desk: Option<Box<Desk>>,
    number: usize,
    desks: &'d Desks,
}

impl Deref for Lent<'_> {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        self.desk.as_ref().expect("not given back yet")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Desk {
        self.desk.as_mut().expect("not given back yet")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // After a panic nobody knows what is on it.
        if let Some(mut desk) = self.desk.take()
            && !std::thread::panicking()
        {
            desk.share(1, None);
            self.desks.kept.keep(self.number, desk);
        }
    }
}

struct Sharing<'d>(&'d Desks);

impl Drop for Sharing<'_> {
    fn drop(&mut self) {
        self.0.num_sharing.store(1, Ordering::Relaxed);
        self.0.set_words(None);
    }
}
