//! Which strings a prefix [a,b] can hurt, where ab occurs once: the finest sieve of an enumeration.
//!
//! With a record of 2 or more, prefixes that save 1 are nearly always the only ones that can exceed
//! it. Each test is a necessary condition; what passes is measured.

use super::columns::{Column, Columns, Facts};
use super::line::{Line, saved_behind};
use super::walk::{Walk, pair_key};

impl Walk<'_> {
    /// Leave out the columns that only prefixes which save 1 can improve, if `is_possible` says
    /// that none of them costs so much.
    pub(super) fn filter_single_pairs(
        &mut self,
        facts: &Facts,
        mut live: Columns,
        is_possible: impl Fn(&mut Self, i32, Column) -> bool,
    ) -> Columns {
        let floors = self.floors[facts.num_merges as usize - 1];
        let mut refuted = i32::MAX;
        for column in [Column::SigmaMax, Column::SigmaMin] {
            if let (true, Some(floor)) = (column.is_in(live), floors[column as usize])
                && facts.only_single_pairs_exceed(floor)
            {
                let loss = floor.next_above(1);
                if loss >= refuted || !is_possible(self, loss, column) {
                    refuted = refuted.min(loss);
                    live &= !column.bit();
                }
            }
        }
        live
    }

    fn count_at(&self, i: usize) -> i32 {
        i32::from(self.count[pair_key(self.string[i], self.string[i + 1])])
    }

    /// The places of the pairs that can be replaced once; in aaa it is the first.
    fn single_pairs(&self) -> impl Iterator<Item = usize> + '_ {
        let is_second = |at: usize| {
            at > 0
                && self.string[at] == self.string[at - 1]
                && self.string[at] == self.string[at + 1]
        };
        (0..self.string.len() - 1).filter(move |&at| self.count_at(at) == 1 && !is_second(at))
    }

    /// Can a prefix [a,b], where ab occurs once, cost so much, if κ(μ*) lies between what greedy
    /// saves and its bound? The first merge of μ* saves at least κ(μ*) - (M - 1) c, and behind the
    /// prefix at most κ(μ*) less the cost; it loses at most the places where it overlaps ab.
    pub(super) fn a_single_pair_may_exceed(&self, facts: &Facts, greedy: i32, loss: i32) -> bool {
        let behind_first = (facts.num_merges - 1) * facts.largest;
        let fits = |count: i32, lost: i32| {
            let least = greedy.max(loss).max(count - lost + loss);
            least <= facts.optimum.min(count + behind_first)
        };
        let last = self.string.len() - 2;
        if (0..=last).any(|i| fits(self.count_at(i), 0)) {
            return true;
        }
        self.single_pairs().any(|at| {
            let (left, right) = (at > 0, at < last);
            let is_same = left && right && self.string[at - 1..=at] == self.string[at + 1..at + 3];
            let lost = 1 + i32::from(is_same);
            left && fits(self.count_at(at - 1), lost) || right && fits(self.count_at(at + 1), lost)
        })
    }

    /// Does a prefix [a,b], where ab occurs once, cost the optimal sequence that was found so much?
    pub(super) fn a_single_pair_costs_the_found(
        &self,
        facts: &Facts,
        line: &Line,
        loss: i32,
    ) -> bool {
        let num_merges = (facts.num_merges as usize).min(self.greedy.merges.len());
        let found = match self.searcher.found.as_slice() {
            [] => &self.greedy.merges[..num_merges],
            found => found,
        };
        self.single_pairs()
            .any(|at| facts.optimum - saved_behind(line, at, found) >= loss)
    }

    /// Does a prefix [a,b], where ab occurs once, cost some sequence that saves `saved` so much?
    pub(super) fn a_single_pair_exceeds(
        &mut self,
        facts: &Facts,
        line: &Line,
        saved: i32,
        loss: i32,
    ) -> bool {
        let places: Vec<usize> = self.single_pairs().collect();
        let num_merges = facts.num_merges as usize;
        let searcher = &mut self.searcher;
        searcher.suffers_from(line, places.into_iter(), num_merges, saved, saved - loss)
    }
}
