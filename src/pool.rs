//! Values that threads keep for one another, without ever waiting.
//!
//! A child of `fork` has one thread. A lock that another thread held at that moment is never
//! released in the child, so nothing that outlives a call may wait for one. Here each value has a
//! lock of its own, which is only tried: a value that is in use, or was when the process was forked,
//! is passed over, and the caller makes another.

use std::sync::RwLock;

/// How many values are kept.
const MOST_KEPT: usize = 64;

/// A few values of one kind.
#[derive(Debug)]
pub(crate) struct Pool<T>([RwLock<Option<T>>; MOST_KEPT]);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self([const { RwLock::new(None) }; MOST_KEPT])
    }

    /// Take out a value.
    pub(crate) fn take(&self) -> Option<T> {
        self.0
            .iter()
            .find_map(|place| place.try_write().ok()?.take())
    }

    /// Keep a value; if there is no room, in place of another.
    pub(crate) fn keep(&self, value: T) {
        let mut free = self.0.iter().filter_map(|place| place.try_write().ok());
        let free = free.find(|place| place.is_none());
        if let Some(mut place) = free.or_else(|| self.0[MOST_KEPT - 1].try_write().ok()) {
            *place = Some(value);
        }
    }

    /// What `find` returns for the first value for which it returns something.
    pub(crate) fn find<R>(&self, find: impl Fn(&T) -> Option<R>) -> Option<R> {
        let mut places = self.0.iter();
        places.find_map(|place| find(place.try_read().ok()?.as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_locked_is_passed_over() {
        let pool = Pool::default();
        assert_eq!(pool.take(), None);
        pool.keep(1);
        pool.keep(2);
        let held = pool.0[0].try_write();
        assert_eq!(pool.find(|value| (*value > 0).then_some(*value)), Some(2));
        assert_eq!((pool.take(), pool.take()), (Some(2), None));
        pool.keep(3);
        drop(held);
        assert_eq!(pool.find(|value| (*value > 2).then_some(*value)), Some(3));
        assert_eq!(
            (pool.take(), pool.take(), pool.take()),
            (Some(1), Some(3), None)
        );
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let pool = Pool::default();
        (0..=MOST_KEPT).for_each(|value| pool.keep(value));
        let taken: Vec<usize> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(taken.len(), MOST_KEPT);
        assert!(taken.contains(&MOST_KEPT), "the last one is kept");
    }
}
