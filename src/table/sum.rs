//! The sum of tables, by several threads.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{EMPTY, Entry, MOST_WORDS, Table, num_slots_for};
use crate::error::Result;
use crate::parallel::with_each;

/// So many words are added before threads have begun.
const FEW: usize = 1 << 12;

impl Table {
    /// The sum of tables, by as many threads: each adds, from all tables, the words whose hashes are
    /// in its part of all hashes, so that no two threads add the same word.
    pub(crate) fn sum(mut tables: Vec<Self>) -> Result<Self> {
        let num_words: usize = tables.iter().map(Self::len).sum();
        if tables.len() == 1 || num_words < FEW {
            let mut sum = tables.pop().unwrap_or_default();
            for table in &tables {
                sum.add_table(table);
            }
            return Ok(sum);
        }
        let num_parts = tables.len() as u128;
        let mut parts: Vec<_> = (0..num_parts).map(|n| (n, Self::default())).collect();
        with_each(&mut parts, |(part, sum)| {
            let is_in = |entry: &Entry| (u128::from(entry.hash()) * num_parts) >> 64 == *part;
            for table in &tables {
                sum.add_entries(table, is_in);
            }
            Ok(())
        })?;
        drop(tables);
        joined(parts.into_iter().map(|(_, sum)| sum).collect())
    }
}

/// The words of tables, none of which is in two of them, by as many threads.
fn joined(tables: Vec<Table>) -> Result<Table> {
    let num_threads = tables.len();
    let num_words: usize = tables.iter().map(Table::len).sum();
    let mut all = Table {
        is_overfull: num_words > MOST_WORDS || tables.iter().any(|table| table.is_overfull),
        ..Table::default()
    };
    all.entries.reserve_exact(num_words.min(MOST_WORDS));
    for table in tables {
        let room = MOST_WORDS - all.entries.len();
        let (num_long, num_bytes) = (all.ends.len(), all.arena.len());
        let entries = table.entries.into_iter().take(room);
        all.entries
            .extend(entries.map(|entry| moved(entry, num_long)));
        all.ends
            .extend(table.ends.iter().map(|end| num_bytes + end));
        all.arena.extend_from_slice(&table.arena);
    }
    all.slots = slots_of(&all.entries, num_threads)?;
    Ok(all)
}

/// Slots for entries. Where several want the same slot, any of them may get it: all are found.
fn slots_of(entries: &[Entry], num_threads: usize) -> Result<Vec<u32>> {
    let mask = num_slots_for(entries.len()) - 1;
    let slots: Vec<_> = (0..=mask).map(|_| AtomicU32::new(EMPTY)).collect();
    let part = entries.len().div_ceil(num_threads).max(1);
    let mut parts: Vec<_> = (0..).step_by(part).zip(entries.chunks(part)).collect();
    with_each(&mut parts, |&mut (first, entries)| {
        for (number, entry) in (first..).zip(entries) {
            let mut slot = entry.hash() as usize & mask;
            let relaxed = Ordering::Relaxed;
            while let Err(_taken) = slots[slot].compare_exchange(EMPTY, number, relaxed, relaxed) {
                slot = (slot + 1) & mask;
            }
        }
        Ok(())
    })?;
    Ok(slots.into_iter().map(AtomicU32::into_inner).collect())
}

/// An entry of a table whose long words come behind `num_long` others.
fn moved(entry: Entry, num_long: usize) -> Entry {
    if !entry.is_long() {
        return entry;
    }
    let key = entry.key() + ((num_long as u128) << 64);
    Entry {
        key: key.to_le_bytes(),
        ..entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_sum_has_every_word_once() -> Result<()> {
        for num_tables in [1, 2, 3, 16] {
            let mut expected = BTreeMap::new();
            let mut tables = vec![Table::default(); num_tables];
            for i in 0..20_000_usize {
                // Short and long words, many of them in several tables.
                let word = format!("{}{}", i * i % 7001, "-".repeat(i % 23));
                tables[i * 7 % num_tables].add(word.as_bytes(), i as u64);
                *expected.entry(word.into_bytes()).or_insert(0) += i as u64;
            }
            let sum = Table::sum(tables)?;
            let found: BTreeMap<_, _> = sum.iter().map(|(w, n)| (w.to_vec(), n)).collect();
            assert_eq!((sum.len(), &found), (expected.len(), &expected));
            // Its slots find all of them again.
            let mut twice = sum.clone();
            twice.add_table(&sum);
            assert_eq!(twice.len(), sum.len());
        }
        Ok(())
    }

    #[test]
    fn a_table_without_room_for_a_word_is_told_in_the_sum() {
        let overfull = Table {
            is_overfull: true,
            ..Table::default()
        };
        let sum = Table::sum(vec![Table::default(), overfull]);
        assert!(sum.and_then(|sum| sum.check()).is_err());
    }
}
