//! What threads encode with, kept from call to call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use super::cache::SharedWords;
use super::run::Desk;
use crate::merges::Id;
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

    /// Lend a desk; each thread has its own, and they are kept for the next call.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        let kept = self.kept.take();
        let mut desk = kept.unwrap_or_else(|| Box::new(Desk::new(self.bits)));
        match self.num_sharing.load(Ordering::Relaxed) {
            1 => desk.share(1, None),
            num_sharing => {
                let words = self.words.try_read().ok();
                desk.share(num_sharing, words.and_then(|words| words.clone()));
            }
        }
        let result = work(&mut desk);
        desk.share(1, None);
        self.kept.keep(desk);
        result
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

struct Sharing<'d>(&'d Desks);

impl Drop for Sharing<'_> {
    fn drop(&mut self) {
        self.0.num_sharing.store(1, Ordering::Relaxed);
        self.0.set_words(None);
    }
}
