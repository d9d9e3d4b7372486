//! Which strings a prefix [a,b] can hurt, where ab occurs once: the finest sieve of an enumeration.
//!
//! With a record of 2 or more, prefixes that save 1 are nearly always the only ones that can exceed
//! it. Each test is a necessary condition; strings that pass all are measured.

use super::columns::{Column, Columns, Facts, Values};
use super::counted::CountedString;
use super::line::{Line, saved_behind};
use super::search::Searcher;

/// The `live` columns without those that only prefixes which save 1 can improve and for which
/// `is_possible(loss, column)` denies that one of these costs `loss`.
pub(super) fn filter_single_pairs(
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
pub(super) fn a_single_pair_may_cost(
    string: &CountedString,
    facts: &Facts,
    greedy: i32,
    loss: i32,
) -> bool {
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

/// Whether a prefix [a,b], where ab occurs once, costs the optimal sequence `merges` at least `loss`.
pub(super) fn a_single_pair_costs(
    string: &CountedString,
    line: &Line,
    merges: &[(u8, u8)],
    optimum: i32,
    loss: i32,
) -> bool {
    string
        .single_pairs()
        .any(|at| optimum - saved_behind(line, at, merges) >= loss)
}

/// Whether a prefix [a,b], where ab occurs once, costs some sequence that saves `saved` at least
/// `loss`.
pub(super) fn a_single_pair_costs_some(
    string: &CountedString,
    line: &Line,
    searcher: &mut Searcher<'_>,
    num_merges: i32,
    saved: i32,
    loss: i32,
) -> bool {
    let places: Vec<usize> = string.single_pairs().collect();
    searcher.suffers_from(line, &places, num_merges as usize, saved, saved - loss)
}
