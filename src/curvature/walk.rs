//! All strings of one length with one number of letters, depth first, letter by letter.
//!
//! Renaming letters changes nothing, so new letters come in order. Counts of pairs grow by one with
//! each letter. From them come an upper bound of the optimum and a lower bound of greedy, and a
//! prefix none of whose extensions can exceed the records is left out with all of them. The other
//! strings pass ever finer bounds; few are measured. The finest looks at prefixes [a,b], where ab occurs
//! once: with a record of 2 or more, prefixes that save 1 are nearly always the only ones that can exceed
//! it. Each test is a necessary condition. Cost: about 0.1 µs for a string.

use super::columns::{Column, Columns, Facts, NUM_COLUMNS, Record, Records, Values};
use super::line::{Line, Run, saved_behind};
use super::measure::Measure;
use super::search::Searcher;
use super::strings::{CountedString, MAX_COUNT, Summary, WalkOptions};
use crate::error::Result;
use crate::watch::Watch;

/// By the count of the most frequent pair and the bound of the optimum, the columns that can exceed
/// their records.
type LiveColumns = [[Columns; MAX_COUNT]; MAX_COUNT];

/// Walks through the strings that begin with one prefix.
pub(super) struct Walk<'a> {
    options: WalkOptions,
    watch: &'a Watch,
    /// The records, by number of merges, and which of them the walk has improved.
    records: Records,
    is_improved: Vec<[bool; NUM_COLUMNS]>,
    /// The values of the records.
    floors: Vec<Values>,
    string: CountedString,
    /// For each number of merges, the columns that a string of these bounds can improve, and those
    /// that one with a larger count or a smaller bound can improve.
    live: Vec<LiveColumns>,
    live_around: Vec<LiveColumns>,
    searcher: Searcher<'a>,
    greedy: Run,
}

impl<'a> Walk<'a> {
    pub(super) fn new(options: WalkOptions, records: Records, watch: &'a Watch) -> Self {
        let (num_letters, max_merges) = (options.num_letters, options.max_merges);
        let mut walk = Self {
            options,
            watch,
            records,
            is_improved: vec![[false; NUM_COLUMNS]; max_merges],
            floors: Vec::new(),
            string: CountedString::default(),
            live: vec![[[0; MAX_COUNT]; MAX_COUNT]; max_merges],
            live_around: vec![[[0; MAX_COUNT]; MAX_COUNT]; max_merges],
            searcher: Searcher::new(num_letters + max_merges + 1, false, watch),
            greedy: Run::default(),
        };
        walk.update_tables();
        walk
    }

    /// Walk through the strings that begin with `prefix`; returns the records that were improved.
    pub(super) fn run(mut self, prefix: &[u8]) -> Result<Vec<(usize, Column, Record)>> {
        let mut summary = Summary::default();
        for &letter in prefix {
            summary = self.string.push(summary, letter);
        }
        self.extend(summary)?;
        let mut improved = Vec::new();
        for (index, (row, flags)) in self.records.into_iter().zip(self.is_improved).enumerate() {
            for ((column, record), is_improved) in Column::LIST.into_iter().zip(row).zip(flags) {
                if let Some(record) = record.filter(|_| is_improved) {
                    improved.push((index + 1, column, record));
                }
            }
        }
        Ok(improved)
    }

    /// Compute the live columns for all bounds from the current records.
    fn update_tables(&mut self) {
        let value = |record: &Option<Record>| record.as_ref().map(|record| record.value);
        let rows = self.records.iter();
        self.floors = rows.map(|row| row.each_ref().map(value)).collect();
        let most = self.options.length.saturating_sub(1);
        for (index, floors) in self.floors.iter().enumerate() {
            for largest in (0..=most).rev() {
                for optimum in 0..=most {
                    let facts = Facts {
                        length: self.options.length as i32,
                        num_merges: index as i32 + 1,
                        largest: largest as i32,
                        optimum: optimum.min((index + 1) * largest) as i32,
                        greedy: None,
                    };
                    let live = facts.live(self.options.columns, floors);
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

    /// Walk through all strings that begin with the current one.
    fn extend(&mut self, summary: Summary) -> Result<()> {
        let left = self.options.length - self.string.letters.len();
        if left == 0 {
            return self.finish(summary);
        }
        let is_long = self.string.letters.len() > 2;
        if self.options.is_pruned && is_long && !self.is_promising(summary, left) {
            return Ok(());
        }
        if left == 3 {
            self.watch.check()?;
        }
        let (length, used) = (self.string.letters.len(), usize::from(summary.num_letters));
        for letter in self.options.next_letters(length, used) {
            let longer = self.string.push(summary, letter);
            self.extend(longer)?;
            self.string.pop(longer);
        }
        Ok(())
    }

    /// Whether the current string and `left` further letters may improve a record. Each letter adds
    /// at most 1 to the bound.
    fn is_promising(&self, summary: Summary, left: usize) -> bool {
        let most = self.options.length - 1;
        let bounds = self.string.bounds(summary, self.options.max_merges);
        self.live_around.iter().zip(bounds).any(|(live, bound)| {
            live[usize::from(summary.largest)][(usize::from(bound) + left).min(most)] != 0
        })
    }

    /// Test a whole string, and measure it if it passes.
    fn finish(&mut self, summary: Summary) -> Result<()> {
        let (length, max_merges) = (self.options.length, self.options.max_merges);
        let bounds = self.string.bounds(summary, max_merges);
        let largest = usize::from(summary.largest);
        let mut greedy_is_known = false;
        let line = Line::new(&self.string.letters, summary.num_letters);
        for (index, bound) in bounds.into_iter().enumerate().take(max_merges) {
            let bound = usize::from(bound).min(length.saturating_sub(1));
            let live = self.live[index][largest][bound];
            if self.options.is_pruned && live == 0 {
                continue;
            }
            if !greedy_is_known {
                self.searcher.greedy(&line, max_merges, &mut self.greedy);
                greedy_is_known = true;
            }
            let mut facts = Facts {
                length: length as i32,
                num_merges: index as i32 + 1,
                largest: largest as i32,
                optimum: bound.min((index + 1) * largest) as i32,
                greedy: Some((self.greedy.after(index + 1), self.greedy.after(index))),
            };
            let wanted = self.still_live(&mut facts, live, &line);
            if wanted != 0 {
                self.measure(facts, wanted)?;
            }
        }
        Ok(())
    }

    /// The columns that pass the finer bounds; if any does, `facts` gets the exact optimum.
    fn still_live(&mut self, facts: &mut Facts, live: Columns, line: &Line) -> Columns {
        let num_merges = facts.num_merges as usize;
        let greedy = facts.greedy.map_or(0, |(saved, _)| saved);
        if !self.options.is_pruned {
            let most = facts.optimum;
            facts.optimum = self.searcher.optimum(line, num_merges, greedy, most);
            return self.options.columns;
        }
        let (string, searcher) = (&self.string, &mut self.searcher);
        // Whether a prefix [a,b], where ab occurs once, costs some sequence that saves `saved` at least
        // `loss`.
        let costs_some = |searcher: &mut Searcher<'_>, saved: i32, loss: i32| {
            let places: Vec<usize> = string.single_pairs().collect();
            searcher.suffers_from(line, &places, num_merges, saved, saved - loss)
        };
        let floors = &self.floors[num_merges - 1];
        let mut live = facts.live(live, floors);
        live = filter_single_pairs(facts, live, floors, |loss, _| {
            let mut saved = greedy.max(loss)..=facts.optimum;
            a_single_pair_may_cost(string, facts, greedy, loss)
                && saved.any(|saved| costs_some(searcher, saved, loss))
        });
        if live == 0 {
            return 0;
        }
        searcher.found.clear();
        if greedy < facts.optimum {
            let is_live = |&optimum: &i32| Facts { optimum, ..*facts }.live(live, floors) != 0;
            let least = (greedy..=facts.optimum).find(is_live);
            let least = least.unwrap_or(facts.optimum);
            let known = greedy.max(least - 1);
            facts.optimum = searcher.optimum(line, num_merges, known, facts.optimum);
            if facts.optimum < least {
                return 0;
            }
        }
        live = facts.live(live, floors);
        let greedy_merges = &self.greedy.merges[..num_merges.min(self.greedy.merges.len())];
        filter_single_pairs(facts, live, floors, |loss, column| {
            let found = match searcher.found.as_slice() {
                [] => greedy_merges,
                found => found,
            };
            let costs = |at| facts.optimum - saved_behind(line, at, found) >= loss;
            string.single_pairs().any(costs)
                || column == Column::SigmaMax && costs_some(searcher, facts.optimum, loss)
        })
    }

    /// Measure the current string, and put what is larger among the records.
    fn measure(&mut self, facts: Facts, wanted: Columns) -> Result<()> {
        let num_merges = facts.num_merges as usize;
        let no_floors = [None; NUM_COLUMNS];
        let letters = &self.string.letters;
        let measure = Measure {
            letters: letters.iter().copied().map(u32::from).collect(),
            num_letters: self.options.num_letters,
            facts,
            wanted,
            floors: if self.options.is_pruned {
                &self.floors[num_merges - 1]
            } else {
                &no_floors
            },
            watch: self.watch,
        };
        let values = measure.values()?;
        let mut is_better = false;
        for column in Column::LIST {
            let record = &mut self.records[num_merges - 1][column as usize];
            if column.is_in(wanted)
                && let Some(value) = values[column as usize]
                && record.as_ref().is_none_or(|known| value > known.value)
            {
                let witness = letters.clone();
                *record = Some(Record { value, witness });
                self.is_improved[num_merges - 1][column as usize] = true;
                is_better = true;
            }
        }
        if is_better {
            self.update_tables();
        }
        Ok(())
    }
}

/// The `live` columns without those that only prefixes which save 1 can improve and for which
/// `is_possible(loss, column)` denies that one of these costs `loss`.
fn filter_single_pairs(
    facts: &Facts,
    mut live: Columns,
    floors: &Values,
    mut is_possible: impl FnMut(i32, Column) -> bool,
) -> Columns {
    let mut refuted = i32::MAX;
    for column in [Column::SigmaMax, Column::SigmaMin] {
        if let (true, Some(floor)) = (column.is_in(live), floors[column as usize])
            && facts.only_single_pairs_exceed(floor)
        {
            let loss = floor.next_above(1);
            if loss >= refuted || !is_possible(loss, column) {
                refuted = refuted.min(loss);
                live &= !column.bit();
            }
        }
    }
    live
}

/// Whether a prefix [a,b], where ab occurs once, may cost `loss`, if κ(μ*) lies between what greedy
/// saves and its bound. The first merge of μ* saves at least κ(μ*) - (M - 1) c, and behind the
/// prefix at most κ(μ*) less the cost; it loses at most the places where it overlaps ab.
fn a_single_pair_may_cost(string: &CountedString, facts: &Facts, greedy: i32, loss: i32) -> bool {
    let behind_first = (facts.num_merges - 1) * facts.largest;
    let fits = |count: i32, lost: i32| {
        let least = greedy.max(loss).max(count - lost + loss);
        least <= facts.optimum.min(count + behind_first)
    };
    let letters = &string.letters;
    let last = letters.len() - 2;
    if (0..=last).any(|i| fits(string.count_at(i), 0)) {
        return true;
    }
    string.single_pairs().any(|at| {
        let (left, right) = (at > 0, at < last);
        let is_same = left && right && letters[at - 1..=at] == letters[at + 1..at + 3];
        let lost = 1 + i32::from(is_same);
        left && fits(string.count_at(at - 1), lost) || right && fits(string.count_at(at + 1), lost)
    })
}
