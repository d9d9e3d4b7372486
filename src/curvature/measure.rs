//! The exact columns of one string; those that cannot exceed a floor are left out.
//!
//! Formal twin: `formal.curvature`, and `formal.as_published` for the authors' variants.

use rustc_hash::FxHashSet;

use super::columns::{Column, Columns, Facts, Fraction, NUM_COLUMNS, Values};
use super::sequences::{
    Forest, Merge, Optima, Order, Prefixes, Tree, gain, greedy_states, greedy_states_of_all_ties,
};
use crate::error::Result;
use crate::watch::Watch;

/// The columns that depend on all optimal sequences.
const WITH_OPTIMA: [Column; 6] = [
    Column::SigmaMax,
    Column::SigmaMin,
    Column::SigmaFullLength,
    Column::SigmaGreedy,
    Column::SigmaGreedyWorstTies,
    Column::SigmaGreedyAll,
];
/// The columns that depend on all ways of breaking greedy's ties.
const WITH_TIES: [Column; 4] = [
    Column::SigmaGreedyWorstTies,
    Column::SigmaGreedyAll,
    Column::RatioWorstTies,
    Column::RatioBestTies,
];
/// The columns of the authors' script.
const PUBLISHED: [Column; 2] = [Column::SigmaPublished, Column::SigmaGreedyPublished];

/// A string whose columns are measured.
pub(super) struct Measure<'a> {
    pub(super) letters: Vec<Tree>,
    pub(super) num_letters: usize,
    pub(super) facts: Facts,
    pub(super) wanted: Columns,
    /// A value that does not exceed its floor need not be exact.
    pub(super) floors: &'a Values,
    pub(super) watch: &'a Watch,
}

/// The prefixes of greedy, by column.
struct GreedyPrefixes {
    first_occurrence: Vec<Vec<Tree>>,
    columns: [(Column, Vec<Vec<Tree>>); 3],
}

impl Measure<'_> {
    pub(super) fn num_merges(&self) -> usize {
        self.facts.num_merges as usize
    }

    fn wants(&self, column: Column) -> bool {
        column.is_in(self.wanted)
    }

    fn wants_any(&self, columns: &[Column]) -> bool {
        columns.iter().any(|&column| self.wants(column))
    }

    fn saved(&self, tokens: &[Tree]) -> i32 {
        (self.letters.len() - tokens.len()) as i32
    }

    /// The values of the wanted columns.
    pub(super) fn values(&self) -> Result<Values> {
        let mut values = [None; NUM_COLUMNS];
        let mut forest = Forest::new(self.num_letters);
        let greedy = self.greedy(&mut forest, &mut values)?;
        if self.wants_any(&WITH_OPTIMA) {
            self.over_optima(&greedy, &mut forest, &mut values)?;
        }
        if self.wants_any(&PUBLISHED) {
            self.published(&greedy, &mut forest, &mut values)?;
        }
        Ok(values)
    }

    /// The prefixes of greedy; the ratios are put among the values.
    fn greedy(&self, forest: &mut Forest, values: &mut Values) -> Result<GreedyPrefixes> {
        let fixed = greedy_states(&self.letters, self.num_merges(), forest);
        let ratio = |saved: i32| (saved > 0).then(|| Fraction::new(self.facts.optimum, saved));
        values[Column::Ratio as usize] = ratio(self.saved(&fixed[fixed.len() - 1]));
        let last = fixed[(self.num_merges() - 1).min(fixed.len() - 1)].clone();
        let mut columns = [
            (Column::SigmaGreedy, vec![last]),
            (Column::SigmaGreedyWorstTies, Vec::new()),
            (Column::SigmaGreedyAll, Vec::new()),
        ];
        if self.wants_any(&WITH_TIES) {
            let num_merges = self.num_merges();
            let steps = greedy_states_of_all_ties(&self.letters, num_merges, forest, self.watch)?;
            let ends = steps[num_merges].iter().map(|tokens| self.saved(tokens));
            let (least, most) = ends.fold((i32::MAX, 0), |(a, b), s| (a.min(s), b.max(s)));
            values[Column::RatioWorstTies as usize] = ratio(least);
            values[Column::RatioBestTies as usize] = ratio(most);
            columns[1].1.extend(steps[num_merges - 1].iter().cloned());
            let all: FxHashSet<_> = steps[1..num_merges].iter().flatten().cloned().collect();
            columns[2].1.extend(all);
        }
        for (column, states) in &mut columns {
            let floor = self.floors[*column as usize];
            states.retain(|tokens| {
                let saved = self.saved(tokens);
                self.wants(*column)
                    && saved > 0
                    && floor.is_none_or(|floor| Fraction::new(self.facts.optimum, saved) > floor)
            });
        }
        Ok(GreedyPrefixes {
            first_occurrence: fixed,
            columns,
        })
    }

    /// The columns that look at every optimal sequence.
    fn over_optima(
        &self,
        greedy: &GreedyPrefixes,
        forest: &mut Forest,
        values: &mut Values,
    ) -> Result<()> {
        let mut prefixes = Prefixes::new(&self.letters, self.num_merges());
        let floor_of = |column: Column| self.floors[column as usize];
        let mut scratch = Vec::new();
        let mut min_is_dead = !self.wants(Column::SigmaMin);
        let wants_max = self.wants(Column::SigmaMax);
        let wants_full = self.wants(Column::SigmaFullLength);
        let mut visit = |forest: &mut Forest, optimal: &[Merge]| -> Result<bool> {
            if wants_max || !min_is_dead {
                // A value up to the smaller floor matters to neither.
                let max_floor = values[Column::SigmaMax as usize].max(floor_of(Column::SigmaMax));
                let floor = match (wants_max, min_is_dead) {
                    (true, true) => max_floor,
                    (false, _) => floor_of(Column::SigmaMin),
                    (true, false) => max_floor.min(floor_of(Column::SigmaMin)),
                };
                let found = self.over_prefixes(optimal, &mut prefixes, false, floor, forest)?;
                let found = found.unwrap_or(Fraction::ONE);
                let largest = &mut values[Column::SigmaMax as usize];
                *largest = (*largest).max(Some(found));
                let least = &mut values[Column::SigmaMin as usize];
                *least = Some(least.map_or(found, |least| least.min(found)));
                min_is_dead |= floor_of(Column::SigmaMin).is_some_and(|floor| found <= floor);
            }
            if wants_full {
                let largest = &mut values[Column::SigmaFullLength as usize];
                let floor = (*largest).max(floor_of(Column::SigmaFullLength));
                let found = self.over_prefixes(optimal, &mut prefixes, true, floor, forest)?;
                *largest = (*largest).max(found);
            }
            for (column, states) in &greedy.columns {
                for tokens in states {
                    let value = self.value(optimal, tokens, &mut scratch);
                    let best = &mut values[*column as usize];
                    *best = (*best).max(Some(value));
                }
            }
            let are_empty = greedy.columns.iter().all(|(_, states)| states.is_empty());
            Ok(min_is_dead && !wants_max && !wants_full && are_empty)
        };
        self.visit_optima(Order::NormalForm, forest, &mut visit)?;
        for column in WITH_OPTIMA {
            values[column as usize].get_or_insert(Fraction::ONE);
        }
        Ok(())
    }

    /// Call `visit` with optimal sequences until it returns true.
    fn visit_optima(
        &self,
        order: Order,
        forest: &mut Forest,
        visit: &mut dyn FnMut(&mut Forest, &[Merge]) -> Result<bool>,
    ) -> Result<()> {
        let mut optima = Optima {
            forest,
            order,
            optimum: self.facts.optimum,
            watch: self.watch,
            visit,
        };
        optima.search(&self.letters, self.num_merges(), 0, &mut Vec::new())?;
        Ok(())
    }

    /// 1 - (κ(μ μ*) - κ(μ*)) / κ(μ) of a prefix that saves something.
    fn value(&self, optimal: &[Merge], tokens: &[Tree], scratch: &mut Vec<Tree>) -> Fraction {
        let behind = gain(optimal, tokens, scratch);
        Fraction::new(self.facts.optimum - behind, self.saved(tokens))
    }

    /// The largest value over the prefixes, those of all lengths or, if `is_full`, of exactly M
    /// merges; the floor, if none exceeds it.
    pub(super) fn over_prefixes(
        &self,
        optimal: &[Merge],
        prefixes: &mut Prefixes,
        is_full: bool,
        floor: Option<Fraction>,
        forest: &mut Forest,
    ) -> Result<Option<Fraction>> {
        let mut best = floor;
        let mut scratch = Vec::new();
        for saved in 1..self.letters.len() {
            let most = Fraction::new(self.facts.optimum, saved as i32);
            if best.is_some_and(|best| best >= most) {
                break;
            }
            for state in prefixes.saving(saved, forest, self.watch)? {
                if is_full && state.num_merges < self.num_merges() {
                    continue;
                }
                let value = self.value(optimal, &state.tokens, &mut scratch);
                best = best.max(Some(value));
            }
            self.watch.check()?;
        }
        Ok(best)
    }

    /// The authors' variants, for the optimal sequence that their script finds.
    fn published(
        &self,
        greedy: &GreedyPrefixes,
        forest: &mut Forest,
        values: &mut Values,
    ) -> Result<()> {
        let states = &greedy.first_occurrence;
        let saved = self.saved(&states[states.len() - 1]);
        let last = &states[states.len().saturating_sub(2)];
        let mut prefixes = Prefixes::new(&self.letters, self.num_merges());
        let mut visit = |forest: &mut Forest, optimal: &[Merge]| -> Result<bool> {
            if self.wants(Column::SigmaPublished) {
                let floor = self.floors[Column::SigmaPublished as usize];
                values[Column::SigmaPublished as usize] =
                    self.over_prefixes(optimal, &mut prefixes, true, floor, forest)?;
            }
            if saved > 0 {
                let joined = self.saved(last) + gain(optimal, last, &mut Vec::new());
                let top = saved + self.facts.optimum - joined;
                values[Column::SigmaGreedyPublished as usize] = Some(Fraction::new(top, saved));
            }
            Ok(true)
        };
        self.visit_optima(Order::Authors, forest, &mut visit)?;
        for column in PUBLISHED {
            values[column as usize].get_or_insert(Fraction::ONE);
        }
        Ok(())
    }
}
