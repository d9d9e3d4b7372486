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

    /// Take out a value: the one at place `first` if it is there, else that of the next place that has one.
    pub(crate) fn take(&self, first: usize) -> Option<T> {
        self.places(first)
            .find_map(|place| place.try_write().ok()?.take())
    }

    /// Keep a value, at place `first` if that is free; if there is no room, in place of another.
    pub(crate) fn keep(&self, first: usize, value: T) {
        let mut free = self
            .places(first)
            .filter_map(|place| place.try_write().ok());
        let free = free.find(|place| place.is_none());
        if let Some(mut place) = free.or_else(|| self.0[MOST_KEPT - 1].try_write().ok()) {
            *place = Some(value);
        }
    }

    fn places(&self, first: usize) -> impl Iterator<Item = &RwLock<Option<T>>> {
        self.0
            .iter()
            .cycle()
            .skip(first % MOST_KEPT)
            .take(MOST_KEPT)
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
        assert_eq!(pool.take(0), None);
        pool.keep(0, 1);
        pool.keep(0, 2);
        let held = pool.0[0].try_write();
        assert_eq!(pool.find(|value| (*value > 0).then_some(*value)), Some(2));
        assert_eq!((pool.take(0), pool.take(0)), (Some(2), None));
        pool.keep(0, 3);
        drop(held);
        assert_eq!(pool.find(|value| (*value > 2).then_some(*value)), Some(3));
        assert_eq!(
            (pool.take(0), pool.take(0), pool.take(0)),
            (Some(1), Some(3), None)
        );
    }

    #[test]
    fn a_value_stays_at_its_place() {
        let pool = Pool::default();
        for number in [2, 0, 1] {
            pool.keep(number, number);
        }
        assert_eq!(
            [1, 2, 0].map(|number| pool.take(number)),
            [Some(1), Some(2), Some(0)]
        );
        pool.keep(5, 5);
        pool.keep(5, 6);
        assert_eq!(
            (pool.take(6), pool.take(6), pool.take(6)),
            (Some(6), Some(5), None)
        );
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let pool = Pool::default();
        (0..=MOST_KEPT).for_each(|value| pool.keep(0, value));
        let taken: Vec<usize> = std::iter::from_fn(|| pool.take(0)).collect();
        assert_eq!(taken.len(), MOST_KEPT);
        assert!(taken.contains(&MOST_KEPT), "the last one is kept");
    }
}
