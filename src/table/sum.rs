//! The sum of tables, by several threads.

use std::mem::take;

use super::{Adder, Entry, MOST_WORDS, Table, num_slots_for};
use crate::error::Result;
use crate::parallel::{Team, concatenated, with_team};
use crate::prefetch::prefetch;

/// So many words are added before threads have begun.
const FEW: usize = 1 << 12;
/// How many entries before its turn an entry begins to be loaded.
const AHEAD: usize = 16;

impl Table {
    /// Call `finish` with the sum of tables, by as many threads.
    pub(crate) fn with_sum<T>(
        tables: Vec<Self>,
        finish: impl FnOnce(Self, &Team) -> Result<T>,
    ) -> Result<T> {
        let num_words: usize = tables.iter().map(Self::len).sum();
        let num_threads = if num_words < FEW { 1 } else { tables.len() };
        with_team(num_threads, |team| finish(Self::sum(tables, team)?, team))
    }

    /// The sum of tables. Each thread adds, from all tables, the words whose hashes are in its part of all
    /// hashes, so that no two threads add the same word.
    fn sum(mut tables: Vec<Self>, team: &Team) -> Result<Self> {
        let num_parts = team.num_threads();
        if num_parts == 1 {
            let mut sum = tables.pop().unwrap_or_default();
            for table in &tables {
                sum.add_table(table);
            }
            return Ok(sum);
        }
        let parts = team.map(tables.len(), |table| Ok(tables[table].in_parts(num_parts)))?;
        let sums = team.map(num_parts, |part| {
            let mut sum = Self::default();
            sum.reserve(parts.iter().map(|parts| parts[part].len()).sum());
            for (table, parts) in tables.iter().zip(&parts) {
                sum.is_overfull |= table.is_overfull;
                sum.add_numbered(table, &parts[part]);
            }
            Ok(sum)
        })?;
        // To give memory back takes time as well.
        team.with_each(&mut tables, |table| {
            drop(take(table));
            Ok(())
        })?;
        Ok(joined(sums, team))
    }

    /// Make room for about so many words, of which some may be the same.
    fn reserve(&mut self, num_words: usize) {
        self.fill_slots(num_slots_for(num_words / 2));
        self.entries.reserve(num_words / 2);
    }

    /// The numbers of the entries in each part of all hashes.
    fn in_parts(&self, num_parts: usize) -> Vec<Vec<u32>> {
        let room = self.len() / num_parts * 9 / 8;
        let mut parts = vec![Vec::with_capacity(room); num_parts];
        for (number, entry) in (0..).zip(&self.entries) {
            let part = (u128::from(entry.hash()) * num_parts as u128) >> 64;
            parts[part as usize].push(number);
        }
        parts
    }

    /// Add the entries of another table that have these numbers.
    fn add_numbered(&mut self, other: &Self, numbers: &[u32]) {
        let mut adder = Adder::new(self);
        let mut ahead = numbers.iter().skip(AHEAD);
        for &number in numbers {
            // Another thread has written them.
            if let Some(&later) = ahead.next() {
                prefetch(&other.entries[later as usize]);
            }
            adder.add_entry(other, &other.entries[number as usize]);
        }
        adder.finish();
    }
}

/// The words of tables, none of which is in two of them.
fn joined(mut tables: Vec<Table>, team: &Team) -> Table {
    let num_words: usize = tables.iter().map(Table::len).sum();
    let is_overfull = num_words > MOST_WORDS || tables.iter().any(|table| table.is_overfull);
    let (mut entries, mut ends, mut arenas) = (vec![], vec![], vec![]);
    let (mut room, mut num_long, mut num_bytes) = (MOST_WORDS, 0, 0);
    for table in &mut tables {
        let mut own = take(&mut table.entries);
        own.truncate(room);
        room -= own.len();
        entries.push(own.into_iter().map(move |entry| moved(entry, num_long)));
        num_long += table.ends.len();
        ends.push(table.ends.iter().map(move |end| num_bytes + end));
        num_bytes += table.arena.len();
        arenas.push(table.arena.iter().copied());
    }
    Table {
        entries: concatenated(entries, team),
        arena: concatenated(arenas, team),
        ends: concatenated(ends, team),
        is_overfull,
        ..Table::default()
    }
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
            let sum = Table::with_sum(tables, |sum, _| Ok(sum))?;
            let found: BTreeMap<_, _> = sum.iter().map(|(w, n)| (w.to_vec(), n)).collect();
            assert_eq!((sum.len(), &found), (expected.len(), &expected));
            // Its words are found again.
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
        let sum = Table::with_sum(vec![Table::default(), overfull], |sum, _| sum.check());
        assert!(sum.is_err());
    }
}
