//! A hash table from pairs to their slots: their places among the pairs that are kept.
//!
//! A merge changes the counts of all pairs that its neighbours were in, and most of them are
//! anywhere in memory. So they are looked up together: the first step of all look-ups has no branch
//! that depends on what it finds, and the processor runs the loads side by side.

/// In place of a slot: the pair is not kept.
pub(super) const NOT_KEPT: u32 = u32::MAX;
/// In place of a slot: another pair stands where this one is looked for first.
const UNKNOWN: u32 = u32::MAX - 1;
/// The key of no pair: the boundary is in none.
const EMPTY: u64 = 0;

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    /// `NOT_KEPT` if the pair was removed: the entry stays, for those that were put behind it.
    slot: u32,
}

const FREE: Entry = Entry {
    key: EMPTY,
    slot: NOT_KEPT,
};

/// The slots of the pairs that are kept.
#[derive(Debug)]
pub(super) struct Slots {
    /// Their number is a power of two, and at most half of them are used, so that the next free
    /// one is near.
    entries: Vec<Entry>,
    num_used: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            entries: vec![FREE; 1 << 10],
            num_used: 0,
        }
    }
}

impl Slots {
    pub(super) fn clear(&mut self) {
        self.entries.fill(FREE);
        self.num_used = 0;
    }

    pub(super) fn get(&self, key: u64) -> Option<u32> {
        let slot = self.entries[self.place(key)].slot;
        (slot != NOT_KEPT).then_some(slot)
    }

    /// Look up all `keys`: their slots, or `NOT_KEPT`, go to `found`.
    pub(super) fn get_all(&self, keys: impl Iterator<Item = u64> + Clone, found: &mut Vec<u32>) {
        found.clear();
        found.extend(keys.clone().map(|key| {
            let entry = self.entries[self.first_place(key)];
            let is_settled = entry.key == key || entry.key == EMPTY;
            if is_settled { entry.slot } else { UNKNOWN }
        }));
        for (slot, key) in found.iter_mut().zip(keys) {
            if *slot == UNKNOWN {
                *slot = self.entries[self.place(key)].slot;
            }
        }
    }

    pub(super) fn insert(&mut self, key: u64, slot: u32) {
        let place = self.place(key);
        self.num_used += usize::from(self.entries[place].key == EMPTY);
        self.entries[place] = Entry { key, slot };
        if self.num_used * 2 > self.entries.len() {
            self.grow();
        }
    }

    pub(super) fn remove(&mut self, key: u64) {
        let place = self.place(key);
        self.entries[place].slot = NOT_KEPT;
    }

    /// Double the number of entries, and leave out those that were removed.
    fn grow(&mut self) {
        let larger = vec![FREE; self.entries.len() * 2];
        let smaller = std::mem::replace(&mut self.entries, larger);
        self.num_used = 0;
        for entry in smaller {
            if entry.slot != NOT_KEPT {
                let place = self.place(entry.key);
                self.entries[place] = entry;
                self.num_used += 1;
            }
        }
    }

    /// Where the key is, or else where it would go.
    fn place(&self, key: u64) -> usize {
        let mut place = self.first_place(key);
        while self.entries[place].key != key && self.entries[place].key != EMPTY {
            place = (place + 1) & (self.entries.len() - 1);
        }
        place
    }

    /// The upper bits of the product depend on all bits of the key.
    #[inline]
    fn first_place(&self, key: u64) -> usize {
        let num_bits = self.entries.len().trailing_zeros();
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - num_bits)) as usize
    }
}
