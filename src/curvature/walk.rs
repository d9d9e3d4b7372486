//! All strings of one length with one number of letters, depth first, letter by letter.
//!
//! Renaming letters changes nothing, so new letters come in order. Counts of pairs grow by one with
//! each letter; from them come an upper bound of the optimum and a lower bound of greedy, and a
//! prefix none of whose extensions can exceed what is known already is left with all of them. What
//! is left passes ever finer bounds; few strings are measured. Cost: about 0.1 µs for a string.

use super::columns::{Column, Columns, Facts, NUM_COLUMNS, Values};
use super::line::{Line, Run};
use super::measure::Measure;
use super::search::Searcher;
use crate::error::Result;
use crate::watch::Watch;

/// The longest strings, the largest alphabet and the most merges of an enumeration.
pub const MAX_WALK: (usize, usize, usize) = (24, 8, 8);

const MAX_COUNT: usize = MAX_WALK.0 + 1;
const MAX_PAIRS: usize = MAX_WALK.1 * MAX_WALK.1;

/// For each number of merges, the best values and the strings that have them.
#[derive(Debug, Clone, Default)]
pub struct Records(pub Vec<[Option<Record>; NUM_COLUMNS]>);

/// A value and the first string that attains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The value.
    pub value: super::fraction::Fraction,
    /// The string, as letters 0, 1, ...
    pub witness: Vec<u8>,
}

impl Records {
    fn floors(&self, num_merges: usize) -> Values {
        std::array::from_fn(|i| {
            self.0[num_merges - 1][i]
                .as_ref()
                .map(|record| record.value)
        })
    }
}

/// Which strings are walked through.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// Their length.
    pub length: usize,
    /// How many letters each has exactly.
    pub num_letters: usize,
    /// Every number of merges up to this.
    pub max_merges: usize,
    /// What is measured.
    pub columns: Columns,
    /// Are strings left out that cannot exceed what is known? If not, every one is measured.
    pub is_pruned: bool,
}

impl Level {
    fn num_strings(&self, length: usize, num_letters: usize) -> u64 {
        if length == self.length {
            return u64::from(num_letters == self.num_letters);
        }
        if self.num_letters > num_letters + self.length - length {
            return 0;
        }
        let old = num_letters as u64 * self.num_strings(length + 1, num_letters);
        old + if num_letters < self.num_letters {
            self.num_strings(length + 1, num_letters + 1)
        } else {
            0
        }
    }

    /// The prefixes that divide the strings into units of work, in order.
    #[must_use]
    pub fn units(&self) -> Vec<Vec<u8>> {
        self.prefixes(self.length.saturating_sub(6).min(8))
    }

    /// How many strings begin with a prefix.
    #[must_use]
    pub fn num_begun(&self, prefix: &[u8]) -> u64 {
        self.num_strings(prefix.len(), num_letters_of(prefix))
    }

    /// The prefixes of so many symbols that some string has, in order.
    fn prefixes(&self, length: usize) -> Vec<Vec<u8>> {
        let mut prefixes = vec![vec![]];
        for done in 0..length {
            let mut longer: Vec<Vec<u8>> = Vec::new();
            for prefix in prefixes {
                let used = num_letters_of(&prefix);
                for letter in 0..self.num_letters.min(used + 1) {
                    let needed = self.num_letters - used.max(letter + 1);
                    if needed < self.length - done {
                        let mut next = prefix.clone();
                        next.push(letter as u8);
                        longer.push(next);
                    }
                }
            }
            prefixes = longer;
        }
        prefixes
    }
}

pub(super) fn num_letters_of(string: &[u8]) -> usize {
    string
        .iter()
        .map(|&letter| usize::from(letter) + 1)
        .max()
        .unwrap_or(0)
}

/// The counts of the pairs of a prefix.
#[derive(Clone, Copy)]
struct Counts {
    /// How long the run of equal letters at the end is.
    run: u8,
    /// How often the most frequent pair can be replaced.
    largest: u8,
    /// How often the most frequent pair occurs.
    most_occurrences: u8,
    num_letters: u8,
}

/// Walks through the strings of a level that begin with one prefix.
pub(super) struct Walk<'a> {
    level: Level,
    watch: &'a Watch,
    records: Records,
    is_improved: Vec<[bool; NUM_COLUMNS]>,
    pub(super) floors: Vec<Values>,
    pub(super) string: Vec<u8>,
    pub(super) count: [u8; MAX_PAIRS],
    occurrences: [u8; MAX_PAIRS],
    /// How many pairs occur 0, 1, 2, ... times.
    histogram: [u8; MAX_COUNT],
    /// The columns that a string of these bounds can improve, and those that one with a larger
    /// count or a smaller bound can improve.
    live: Vec<[[Columns; MAX_COUNT]; MAX_COUNT]>,
    live_around: Vec<[[Columns; MAX_COUNT]; MAX_COUNT]>,
    pub(super) searcher: Searcher<'a>,
    pub(super) greedy: Run,
    num_strings: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(level: Level, records: Records, watch: &'a Watch) -> Self {
        let mut walk = Self {
            level,
            watch,
            records,
            is_improved: vec![[false; NUM_COLUMNS]; level.max_merges],
            floors: Vec::new(),
            string: Vec::new(),
            count: [0; MAX_PAIRS],
            occurrences: [0; MAX_PAIRS],
            histogram: [0; MAX_COUNT],
            live: vec![[[0; MAX_COUNT]; MAX_COUNT]; level.max_merges],
            live_around: vec![[[0; MAX_COUNT]; MAX_COUNT]; level.max_merges],
            searcher: Searcher::new(level.num_letters + level.max_merges + 1, false, watch),
            greedy: Run::default(),
            num_strings: 0,
        };
        walk.update_tables();
        walk
    }

    /// Walk through the strings that begin with `prefix`; the records that were improved.
    pub(super) fn run(mut self, prefix: &[u8]) -> Result<Vec<(usize, Column, Record)>> {
        let mut counts = Counts {
            run: 0,
            largest: 0,
            most_occurrences: 0,
            num_letters: 0,
        };
        for &letter in prefix {
            counts = self.push(counts, letter);
        }
        self.extend(counts)?;
        let mut improved = Vec::new();
        for (index, flags) in self.is_improved.iter().enumerate() {
            for column in Column::LIST {
                if let (true, Some(record)) = (
                    flags[column as usize],
                    &self.records.0[index][column as usize],
                ) {
                    improved.push((index + 1, column, record.clone()));
                }
            }
        }
        Ok(improved)
    }

    /// What bounds leave alive, for every bound, from what is known now.
    fn update_tables(&mut self) {
        let merges = 1..=self.level.max_merges;
        self.floors = merges.map(|m| self.records.floors(m)).collect();
        let most = self.level.length.saturating_sub(1);
        for (index, floors) in self.floors.iter().enumerate() {
            for largest in (0..=most).rev() {
                for optimum in 0..=most {
                    let facts = Facts {
                        length: self.level.length as i32,
                        num_merges: index as i32 + 1,
                        largest: largest as i32,
                        optimum: optimum.min((index + 1) * largest) as i32,
                        greedy: None,
                    };
                    let live = facts.live(self.level.columns, floors);
                    self.live[index][largest][optimum] = live;
                    let mut around = live;
                    if largest < most {
                        around |= self.live_around[index][largest + 1][optimum];
                    }
                    if optimum > 0 {
                        around |= self.live_around[index][largest][optimum - 1];
                    }
                    self.live_around[index][largest][optimum] = around;
                }
            }
        }
    }

    fn push(&mut self, before: Counts, letter: u8) -> Counts {
        let mut counts = before;
        counts.num_letters = before.num_letters.max(letter + 1);
        counts.run = 1;
        if let Some(&last) = self.string.last() {
            let key = pair_key(last, letter);
            if last == letter {
                counts.run = before.run + 1;
            }
            let old = self.occurrences[key];
            self.occurrences[key] = old + 1;
            self.histogram[usize::from(old)] = self.histogram[usize::from(old)].wrapping_sub(1);
            self.histogram[usize::from(old) + 1] += 1;
            self.count[key] += u8::from(last != letter || counts.run.is_multiple_of(2));
            counts.largest = before.largest.max(self.count[key]);
            counts.most_occurrences = before.most_occurrences.max(old + 1);
        }
        self.string.push(letter);
        counts
    }

    fn pop(&mut self, counts: Counts) {
        let letter = self.string.pop();
        if let (Some(&last), Some(letter)) = (self.string.last(), letter) {
            let key = pair_key(last, letter);
            let new = usize::from(self.occurrences[key]);
            self.occurrences[key] -= 1;
            self.histogram[new] -= 1;
            self.histogram[new - 1] = self.histogram[new - 1].wrapping_add(1);
            self.count[key] -= u8::from(last != letter || counts.run.is_multiple_of(2));
        }
    }

    /// The sums of the largest 1, 2, ... numbers of occurrences.
    fn bounds(&self, counts: Counts) -> [u8; MAX_WALK.2] {
        let mut sums = [0; MAX_WALK.2];
        let (mut sum, mut taken) = (0, 0);
        let mut occurrences = usize::from(counts.most_occurrences);
        let num_sums = self.level.max_merges;
        while occurrences > 0 && taken < num_sums {
            let number = usize::from(self.histogram[occurrences]).min(num_sums - taken);
            for to in &mut sums[taken..taken + number] {
                sum += occurrences as u8;
                *to = sum;
            }
            taken += number;
            occurrences -= 1;
        }
        for to in &mut sums[taken..] {
            *to = sum;
        }
        sums
    }

    fn extend(&mut self, counts: Counts) -> Result<()> {
        let left = self.level.length - self.string.len();
        if left == 0 {
            return self.finish(counts);
        }
        if self.level.is_pruned && self.string.len() > 2 && !self.is_promising(counts, left) {
            return Ok(());
        }
        if left == 3 {
            self.watch.check()?;
        }
        let used = usize::from(counts.num_letters);
        for letter in 0..self.level.num_letters.min(used + 1) {
            if self.level.num_letters - used.max(letter + 1) < left {
                let longer = self.push(counts, letter as u8);
                self.extend(longer)?;
                self.pop(longer);
            }
        }
        Ok(())
    }

    /// Can a string that begins so improve a record? Each letter adds at most 1 to the bound.
    fn is_promising(&self, counts: Counts, left: usize) -> bool {
        let most = self.level.length - 1;
        let bounds = self.bounds(counts);
        self.live_around.iter().zip(bounds).any(|(live, bound)| {
            live[usize::from(counts.largest)][(usize::from(bound) + left).min(most)] != 0
        })
    }

    /// Look at a whole string.
    fn finish(&mut self, counts: Counts) -> Result<()> {
        self.num_strings += 1;
        let bounds = self.bounds(counts);
        let length = self.level.length;
        let mut greedy_is_known = false;
        let line = Line::new(&self.string, counts.num_letters);
        for (index, bound) in bounds.into_iter().enumerate().take(self.level.max_merges) {
            let bound = usize::from(bound).min(length.saturating_sub(1));
            let live = self.live[index][usize::from(counts.largest)][bound];
            if self.level.is_pruned && live == 0 {
                continue;
            }
            if !greedy_is_known {
                let max_merges = self.level.max_merges;
                self.searcher.greedy(&line, max_merges, &mut self.greedy);
                greedy_is_known = true;
            }
            let mut facts = Facts {
                length: length as i32,
                num_merges: index as i32 + 1,
                largest: i32::from(counts.largest),
                optimum: bound.min((index + 1) * usize::from(counts.largest)) as i32,
                greedy: Some((self.greedy.after(index + 1), self.greedy.after(index))),
            };
            let wanted = self.still_live(&mut facts, live, &line);
            if wanted != 0 {
                self.measure(facts, wanted)?;
            }
        }
        Ok(())
    }

    /// The columns that pass the finer bounds; the optimum is made exact if there may be any.
    fn still_live(&mut self, facts: &mut Facts, live: Columns, line: &Line) -> Columns {
        let index = facts.num_merges as usize - 1;
        let greedy = facts.greedy.map_or(0, |(saved, _)| saved);
        if !self.level.is_pruned {
            facts.optimum = self
                .searcher
                .optimum(line, index + 1, greedy, facts.optimum);
            return self.level.columns;
        }
        let mut live = facts.live(live, &self.floors[index]);
        live = self.filter_single_pairs(facts, live, |walk, loss, _| {
            walk.a_single_pair_may_exceed(facts, greedy, loss)
                && (greedy.max(loss)..=facts.optimum)
                    .any(|saved| walk.a_single_pair_exceeds(facts, line, saved, loss))
        });
        if live == 0 {
            return 0;
        }
        self.searcher.found.clear();
        if greedy < facts.optimum {
            let is_live =
                |&optimum: &i32| Facts { optimum, ..*facts }.live(live, &self.floors[index]) != 0;
            let least = (greedy..=facts.optimum)
                .find(is_live)
                .unwrap_or(facts.optimum);
            let known = greedy.max(least - 1);
            facts.optimum = self.searcher.optimum(line, index + 1, known, facts.optimum);
            if facts.optimum < least {
                return 0;
            }
        }
        live = facts.live(live, &self.floors[index]);
        self.filter_single_pairs(facts, live, |walk, loss, column| {
            walk.a_single_pair_costs_the_found(facts, line, loss)
                || column == Column::SigmaMax
                    && walk.a_single_pair_exceeds(facts, line, facts.optimum, loss)
        })
    }

    fn measure(&mut self, facts: Facts, wanted: Columns) -> Result<()> {
        let index = facts.num_merges as usize - 1;
        let no_floors = [None; NUM_COLUMNS];
        let measure = Measure {
            letters: self.string.iter().copied().map(u32::from).collect(),
            num_letters: self.level.num_letters,
            facts,
            floors: if self.level.is_pruned {
                &self.floors[index]
            } else {
                &no_floors
            },
            watch: self.watch,
        };
        let values = measure.values(wanted)?;
        let mut is_better = false;
        for column in Column::LIST
            .into_iter()
            .filter(|column| column.is_in(wanted))
        {
            let Some(value) = values[column as usize] else {
                continue;
            };
            let known = &mut self.records.0[index][column as usize];
            if known.as_ref().is_none_or(|known| value > known.value) {
                *known = Some(Record {
                    value,
                    witness: self.string.clone(),
                });
                self.is_improved[index][column as usize] = true;
                is_better = true;
            }
        }
        if is_better {
            self.update_tables();
        }
        Ok(())
    }
}

pub(super) fn pair_key(left: u8, right: u8) -> usize {
    usize::from(left) * MAX_WALK.1 + usize::from(right)
}
