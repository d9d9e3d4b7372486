//! Where the ids of texts go: they are kept, or only counted.

use crate::merges::Id;

/// Where ids go.
#[derive(Default)]
pub(super) struct Sink<'i> {
    /// None: they are only counted.
    kept: Option<&'i mut Vec<Id>>,
    pub(super) num_ids: usize,
    /// Neighbours with this id are one.
    fused: Option<Id>,
    last: Option<Id>,
}

impl<'i> Sink<'i> {
    pub(super) fn keeping(ids: &'i mut Vec<Id>) -> Self {
        Self {
            kept: Some(ids),
            ..Self::default()
        }
    }

    /// A stretch of ordinary text begins, in which neighbours with the id `fused` are one.
    pub(super) fn begin(&mut self, fused: Option<Id>) {
        (self.fused, self.last) = (fused, None);
    }

    /// Ids of the stretch.
    #[inline]
    pub(super) fn push_all(&mut self, ids: &[Id]) {
        if self.fused.is_none() {
            return self.push_apart(ids);
        }
        for id in ids {
            if self.fused != Some(*id) || self.last != Some(*id) {
                self.push_apart(&[*id]);
            }
            self.last = Some(*id);
        }
    }

    /// Ids that are never one with their neighbours, such as those of special tokens.
    #[inline]
    pub(super) fn push_apart(&mut self, ids: &[Id]) {
        self.num_ids += ids.len();
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(ids);
        }
    }
}
