//! The cuts and chains of a batch that matter for some steps.
//!
//! A split that loses much less than another of its string, or whose string loses much less than the last
//! that counts, does not count in the next steps either. Nor do most chains have a credit, or get one. So
//! only now and then a step looks at all, and lists what matters; the steps behind it go through the
//! lists, the cuts of all pieces in one row. What other splits lose stays as it was.

use super::batch::{Batch, items_of};
use super::lists::{Cut, Dear};
use super::split_prices::{Spans, SplitShares};
use super::step::{self, Scratch, Step};
use crate::prices::{ramp, smooth_plus};

/// List what matters of a batch, of which all splits were weighed, given which splits of its section do.
pub(super) fn renew(batch: &mut Batch, is_active: &[bool]) {
    let mut lists = std::mem::take(&mut batch.lists);
    lists.cuts.clear();
    lists.places.clear();
    lists.pulls.clear();
    lists.pulls.resize(batch.prices.values.len(), 0.0);
    batch.chains.make_room(batch.prices.values.len());
    for piece in batch.pieces.iter().filter(|piece| !piece.by_symbol) {
        let rows = piece.rows(&batch.rows);
        let prices = piece.prices(rows);
        for row in &rows[..rows.len() - 1] {
            lists.pulls[prices.start + (row - rows[0]) as usize] = 1.0;
        }
        let spans = Spans {
            rows,
            strings: &batch.strings[items_of(rows)],
            begins: &batch.section.begins,
            prices: &batch.prices.values[prices.clone()],
            excess: (!piece.overlaps().is_empty()).then(|| &batch.excess[prices.clone()]),
            allowed: None,
        };
        let (first, weight) = (prices.start as u32, piece.weight as f32);
        spans.for_each(|span| {
            let mut split = spans.begins[span.string.at()];
            spans.for_each_cut(&span, |left, right, _| {
                if is_active[split as usize] {
                    lists.cuts.push(Cut {
                        span: first + span.item as u32,
                        left: first + left as u32,
                        right: first + right as u32,
                        split,
                        weight,
                    });
                }
                split += 1;
            });
        });
        let chains = &batch.chains;
        chains.list(piece.chains(), prices.start, weight, &mut lists.places);
    }
    batch.lists = lists;
}

/// Sum up the losses of the splits that matter.
pub(super) fn weigh(batch: &mut Batch, width: f32, most: f32, scratch: &mut Scratch) {
    step::weigh_light(batch, width, most, scratch);
    let lists = &mut batch.lists;
    for cut in &lists.cuts {
        batch.split_losses[cut.split as usize] = 0.0;
    }
    let allowed = batch.chains.add_up_places(&lists.places);
    let prices = batch.prices.values.as_slice();
    // Every place is written, and kept if the cut is dear: so there is nothing to predict.
    lists.dear.resize(lists.cuts.len(), Dear::default());
    let mut num_dear = 0;
    for (index, cut) in (0..).zip(&lists.cuts) {
        let [span, left, right] = [cut.span, cut.left, cut.right].map(|at| at as usize);
        let excess = prices[left] + prices[right] - (prices[span] + allowed[span]);
        let loss = smooth_plus(excess, width);
        batch.split_losses[cut.split as usize] += cut.weight * loss;
        lists.dear[num_dear] = Dear { cut: index, excess };
        num_dear += usize::from(loss > 0.0);
    }
    lists.dear.truncate(num_dear);
}

/// Move the prices of a batch, whose losses were weighed, and the credits.
pub(super) fn descend(batch: &mut Batch, step: &Step, shares: SplitShares, scratch: &mut Scratch) {
    let lists = &batch.lists;
    let Scratch { all, made, .. } = scratch;
    all.clear();
    all.extend_from_slice(&lists.pulls);
    made.clear();
    made.resize(all.len(), 0.0);
    let steepness = 1.0 / shares.width;
    // The others were no dearer than their spans over a wider corner, and are not over this.
    for dear in &lists.dear {
        let cut = &lists.cuts[dear.cut as usize];
        let [span, left, right] = [cut.span, cut.left, cut.right].map(|at| at as usize);
        let pulled = shares.splits[cut.split as usize] * ramp(dear.excess * steepness);
        all[left] -= pulled;
        all[right] -= pulled;
        made[span] += pulled;
    }
    for (pull, made) in all.iter_mut().zip(&*made) {
        *pull += made;
    }
    batch
        .chains
        .follow_places(&lists.places, made, step.links, step.adam);
    step::pull_light(batch, step, scratch);
    let all = 0..scratch.all.len();
    batch.prices.follow(all, &scratch.all, step.adam);
}
