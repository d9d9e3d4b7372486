//! Where the ids of texts go: they are kept, or only counted.

use crate::merges::Id;

/// Where ids go.
pub(super) trait Sink {
    /// A stretch of ordinary text begins, in which neighbours with the id `fused` are one.
    fn begin(&mut self, fused: Option<Id>);
    fn push_all(&mut self, ids: &[Id]);
    /// The stretch is over.
    fn end(&mut self);
    /// A special token.
    fn push(&mut self, id: Id);
}

/// Keeps ids.
pub(super) struct Keep<'i> {
    ids: &'i mut Vec<Id>,
    fused: Option<Id>,
    first: usize,
}

impl<'i> Keep<'i> {
    pub(super) fn new(ids: &'i mut Vec<Id>) -> Self {
        let (fused, first) = (None, 0);
        Self { ids, fused, first }
    }
}

impl Sink for Keep<'_> {
    fn begin(&mut self, fused: Option<Id>) {
        (self.fused, self.first) = (fused, self.ids.len());
    }

    #[inline]
    fn push_all(&mut self, ids: &[Id]) {
        self.ids.extend_from_slice(ids);
    }

    fn end(&mut self) {
        if let Some(id) = self.fused {
            let mut stretch = self.ids.split_off(self.first);
            stretch.dedup_by(|a, b| *a == id && *b == id);
            self.ids.append(&mut stretch);
        }
    }

    fn push(&mut self, id: Id) {
        self.ids.push(id);
    }
}

/// Counts ids instead of keeping them.
#[derive(Default)]
pub(super) struct Count {
    pub(super) num_ids: usize,
    fused: Option<Id>,
    last: Option<Id>,
}

impl Sink for Count {
    fn begin(&mut self, fused: Option<Id>) {
        (self.fused, self.last) = (fused, None);
    }

    #[inline]
    fn push_all(&mut self, ids: &[Id]) {
        self.num_ids += ids.len();
        if self.fused.is_some() {
            for &id in ids {
                let is_fused = self.fused == Some(id) && self.last == Some(id);
                self.num_ids -= usize::from(is_fused);
                self.last = Some(id);
            }
        }
    }

    fn end(&mut self) {}

    fn push(&mut self, _: Id) {
        self.num_ids += 1;
    }
}
