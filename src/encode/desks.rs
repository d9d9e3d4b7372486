//! What threads encode with, kept from call to call.

use std::sync::atomic::{AtomicUsize, Ordering};

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
}

impl Desks {
    /// For ids up to the largest.
    pub(super) fn new(largest: Id) -> Self {
        Self {
            kept: Pool::default(),
            bits: (u32::BITS - largest.leading_zeros()).max(1),
            num_sharing: AtomicUsize::new(1),
        }
    }

    /// Lend a desk; each thread has its own, and they are kept for the next call.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        let kept = self.kept.take();
        let mut desk = kept.unwrap_or_else(|| Box::new(Desk::new(self.bits)));
        desk.share(self.num_sharing.load(Ordering::Relaxed));
        let result = work(&mut desk);
        self.kept.keep(desk);
        result
    }

    /// Let so many desks share the memory for caches until the result is dropped.
    pub(crate) fn sharing(&self, num_desks: usize) -> impl Drop + use<'_> {
        self.num_sharing.store(num_desks, Ordering::Relaxed);
        Sharing(&self.num_sharing)
    }
}

struct Sharing<'d>(&'d AtomicUsize);

impl Drop for Sharing<'_> {
    fn drop(&mut self) {
        self.0.store(1, Ordering::Relaxed);
    }
}
