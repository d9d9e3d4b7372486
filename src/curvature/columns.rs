//! What is measured of a string, as exact fractions, the largest values that are known, and bounds that
//! show when a value cannot be large.
//!
//! An enumeration searches the maximum of every column. The bounds use only
//!
//! - κ(μ μ*) >= κ(μ), so that no prefix gives more than κ(μ*)/κ(μ);
//! - Lemma X: no merge saves more than the most frequent pair of the string counts, so the first
//!   merge of μ* saves at least κ(μ*) - (M - 1) c;
//! - a prefix covers at most 2κ(μ) letters, so the first merge of μ* still saves what it saved less
//!   2κ(μ) behind it;
//! - greedy's first merge saves c and each later one at least 1, unless one token is left.

use std::cmp::Ordering;

/// The number of columns.
pub const NUM_COLUMNS: usize = 11;

/// What is measured of a string; the names are those of `formal.Curvature`, where it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// σ of the worst optimal sequence.
    SigmaMax,
    /// σ of the best optimal sequence.
    SigmaMin,
    /// σ of the worst optimal sequence over prefixes of exactly M merges.
    SigmaFullLength,
    /// The same for the optimal sequence of the authors' script.
    SigmaPublished,
    /// σ' of the last greedy prefix, ties by first occurrence.
    SigmaGreedy,
    /// σ' of the last greedy prefix, worst ties.
    SigmaGreedyWorstTies,
    /// σ' of all greedy prefixes, worst ties.
    SigmaGreedyAll,
    /// σ' of the authors' script.
    SigmaGreedyPublished,
    /// Optimum over greedy, ties by first occurrence.
    Ratio,
    /// Optimum over greedy, worst ties.
    RatioWorstTies,
    /// Optimum over greedy, best ties.
    RatioBestTies,
}

/// A set of columns.
pub type Columns = u16;

/// All columns.
pub const ALL: Columns = (1 << NUM_COLUMNS) - 1;

/// A value for each column, if it has one.
pub type Values = [Option<Fraction>; NUM_COLUMNS];

impl Column {
    /// The columns in order.
    pub const LIST: [Self; NUM_COLUMNS] = [
        Self::SigmaMax,
        Self::SigmaMin,
        Self::SigmaFullLength,
        Self::SigmaPublished,
        Self::SigmaGreedy,
        Self::SigmaGreedyWorstTies,
        Self::SigmaGreedyAll,
        Self::SigmaGreedyPublished,
        Self::Ratio,
        Self::RatioWorstTies,
        Self::RatioBestTies,
    ];

    /// The set of this column alone.
    pub fn bit(self) -> Columns {
        1 << (self as u8)
    }

    /// Whether the column is in the set.
    pub fn is_in(self, columns: Columns) -> bool {
        columns & self.bit() != 0
    }
}

/// An exact fraction with a denominator above 0, not necessarily in lowest terms. Fractions are compared
/// in 64 bits.
#[derive(Debug, Clone, Copy)]
pub struct Fraction {
    /// The numerator.
    pub top: i32,
    /// The denominator; above 0.
    pub bottom: i32,
}

impl Fraction {
    /// 1, the curvature where no prefix is left.
    pub const ONE: Self = Self { top: 1, bottom: 1 };

    /// `top / bottom`.
    pub fn new(top: i32, bottom: i32) -> Self {
        debug_assert!(bottom > 0);
        Self { top, bottom }
    }

    /// The smallest whole number above this fraction times `factor`, or the largest of 32 bits.
    pub fn next_above(self, factor: i32) -> i32 {
        let product = i64::from(self.top) * i64::from(factor);
        let above = product.div_euclid(i64::from(self.bottom)) + 1;
        i32::try_from(above).unwrap_or(i32::MAX)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |top: i32, bottom: i32| i64::from(top) * i64::from(bottom);
        product(self.top, other.bottom).cmp(&product(other.top, self.bottom))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

/// A value and the first string that attains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The value.
    pub value: Fraction,
    /// The string, as letters 0, 1, ...
    pub witness: Vec<u8>,
}

/// For each number of merges, from 1 on, the records of all columns.
pub type Records = Vec<[Option<Record>; NUM_COLUMNS]>;

/// What is known of a string before its columns are measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) length: i32,
    pub(super) num_merges: i32,
    /// The number of times that its most frequent pair can be replaced.
    pub(super) largest: i32,
    /// κ(μ*), or a bound above it.
    pub(super) optimum: i32,
    /// What greedy saves by first occurrence, and what it saved before its last merge.
    pub(super) greedy: Option<(i32, i32)>,
}

impl Facts {
    /// The columns that can exceed their floors.
    pub(super) fn live(&self, wanted: Columns, floors: &Values) -> Columns {
        let is_live = |column: &&Column| {
            column.is_in(wanted)
                && floors[**column as usize].is_none_or(|floor| self.exceeds(**column, floor))
        };
        let live = Column::LIST.iter().filter(is_live);
        live.map(|column| column.bit()).sum()
    }

    fn exceeds(&self, column: Column, floor: Fraction) -> bool {
        if floor < Fraction::ONE {
            return true;
        }
        // Whether optimum / saved exceeds the floor; any floor, if `saved` is 0.
        let product = |one: i32, other: i32| i64::from(one) * i64::from(other);
        let above = |saved: i32| product(self.optimum, floor.bottom) > product(floor.top, saved);
        // What all greedy merges save, unless one token is left.
        let last = self.largest + self.num_merges - 1;
        let (greedy, before) = self.greedy.unwrap_or((last, last - 1));
        match column {
            Column::SigmaMax | Column::SigmaMin => self.a_prefix_exceeds(1, floor),
            Column::SigmaFullLength | Column::SigmaPublished => {
                self.a_prefix_exceeds(self.num_merges, floor)
            }
            Column::SigmaGreedy => self.num_merges > 1 && above(before),
            Column::SigmaGreedyWorstTies => self.num_merges > 1 && above(last - 1),
            Column::SigmaGreedyAll => self.num_merges > 1 && above(self.largest),
            Column::SigmaGreedyPublished => {
                let value = Fraction::new(greedy.max(1) + self.optimum - before, greedy.max(1));
                // Where one token is left, the last merge saved 1 of all.
                let whole = Fraction::new(self.length, (self.length - 1).max(1));
                self.num_merges > 1 && (value > floor || whole > floor)
            }
            Column::Ratio | Column::RatioBestTies => above(greedy),
            Column::RatioWorstTies => above(last),
        }
    }

    /// Whether a prefix that saves `saved` or more can exceed the floor.
    fn a_prefix_exceeds(&self, saved: i32, floor: Fraction) -> bool {
        let loss = floor.next_above(saved);
        if loss > self.optimum {
            return false;
        }
        // With a floor of 2 or more, prefixes that save more only lose by the second bound.
        floor < Fraction::new(2, 1) || loss - 2 * saved <= self.most_behind_first()
    }

    /// The most that the merges of μ* behind its first can save.
    fn most_behind_first(&self) -> i32 {
        (self.optimum - 1).min((self.num_merges - 1) * self.largest)
    }

    /// Whether only prefixes that save 1 may exceed the floor: single merges of single pairs.
    pub(super) fn only_single_pairs_exceed(&self, floor: Fraction) -> bool {
        floor >= Fraction::new(2, 1) && !self.a_prefix_exceeds(2, floor)
    }
}
