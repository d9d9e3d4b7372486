//! One step of the prices against merges.
//!
//! The loss of a span is what its dearest two parts cost more than it does. A span that counts takes
//! its dearest parts; prices of what is taken too little rise, of what is taken too much fall. With
//! the shares of the strings given, pieces are independent. The spans that begin at a symbol are
//! worked on side by side, a block of lengths at a time: the right parts of a cut lie in one row.

// The loops over cuts are the heart of a step: as calls they would be slower several times.
#![allow(clippy::inline_always)]

use super::part::{LANES, Part};
use super::smooth::{Climb, ramp, smooth_plus};

/// What a step needs to know of the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    /// How much each string counts: 1 if it is among the chosen, 0 if not.
    pub(super) shares: &'a [f32],
    /// Over which width corners are rounded.
    pub(super) width: f32,
    pub(super) climb: Climb,
    /// The loss from which on a string counts.
    pub(super) threshold: f32,
}

type Lanes = [f32; LANES];

/// -infinity for as many lanes as are too far left.
const MASKS: [f32; 2 * LANES] = {
    let mut masks = [0.0; 2 * LANES];
    let mut lane = 0;
    while lane < LANES {
        masks[lane] = f32::NEG_INFINITY;
        lane += 1;
    }
    masks
};

/// The spans of the lengths `first + 2`, `first + 3`, ... that begin at the first of some rows.
#[derive(Clone, Copy)]
struct Block<'a> {
    rows: &'a [u32],
    first: usize,
    /// How long the longest span is.
    reach: usize,
}

impl Block<'_> {
    fn row(&self) -> usize {
        self.rows[0] as usize
    }

    /// The first of the spans among the items.
    fn at(&self) -> usize {
        self.row() + self.first + 1
    }

    /// Call `visit(left, right, mask)` for each cut: the item of the left part, the first of the
    /// items of the right parts, and what to add to those that are none.
    #[inline(always)]
    fn for_each_cut(&self, mut visit: impl FnMut(usize, usize, Option<&Lanes>)) {
        let last = (self.reach - 1).min(self.first + LANES);
        let num_whole = last.min(self.first + 1);
        let row = self.row();
        for (cut, &right) in (1..).zip(&self.rows[1..=num_whole]) {
            visit(row + cut - 1, right as usize + self.first + 1 - cut, None);
        }
        for (cut, &right) in (num_whole + 1..).zip(&self.rows[num_whole + 1..=last]) {
            let masked = cut - self.first - 1;
            let mask = MASKS[LANES - masked..].first_chunk::<LANES>();
            visit(row + cut - 1, right as usize + self.first + 1 - cut, mask);
        }
    }
}

/// Call `visit` for each block of the spans of a piece.
#[inline(always)]
fn for_each_block(rows: &[u32], mut visit: impl FnMut(Block)) {
    for start in 0..rows.len() - 1 {
        let reach = (rows[start + 1] - rows[start]) as usize;
        let mut first = 0;
        while first + 1 < reach {
            visit(Block {
                rows: &rows[start..],
                first,
                reach,
            });
            first += LANES;
        }
    }
}

#[inline(always)]
fn lanes(items: &[f32], at: usize) -> &Lanes {
    items[at..].first_chunk().unwrap_or(&[0.0; LANES])
}

#[inline(always)]
fn parts_of(prices: &[f32], left: usize, right: usize, mask: Option<&Lanes>) -> Lanes {
    let left = prices[left];
    let right = lanes(prices, right);
    let mut parts = [0.0; LANES];
    match mask {
        None => {
            for lane in 0..LANES {
                parts[lane] = left + right[lane];
            }
        }
        Some(mask) => {
            for lane in 0..LANES {
                parts[lane] = left + right[lane] + mask[lane];
            }
        }
    }
    parts
}

/// Sum up the losses of the strings in a part.
pub(super) fn weigh(part: &mut Part, width: f32) {
    let num_strings = part.losses.len() - part.num_repeats;
    part.losses[..num_strings].fill(0.0);
    let mut overlaps = part.overlaps.pieces().iter().peekable();
    let mut start = 0;
    for (index, piece) in part.pieces.iter().enumerate() {
        let rows = &part.rows[start..=piece.end as usize];
        start = piece.end as usize;
        let items = rows[0] as usize..rows[rows.len() - 1] as usize;
        find_excess(rows, &part.prices, &mut part.excess);
        let excess = &mut part.excess[items.clone()];
        for row in rows {
            if let Some(e) = excess.get_mut((row - rows[0]) as usize) {
                *e = f32::NEG_INFINITY;
            }
        }
        if let Some((_, groups)) = overlaps.next_if(|(piece, _)| *piece == index) {
            let all = excess.to_vec();
            let weigh = |item: usize| smooth_plus(all[item], width);
            let drop = |item: usize| excess[item] = f32::NEG_INFINITY;
            part.overlaps.drop_lighter(groups.clone(), weigh, drop);
        }
        let weight = piece.weight as f32;
        let half = width / 2.0;
        for (&name, &excess) in part.names[items].iter().zip(&*excess) {
            if excess > -half {
                part.losses[name as usize] += weight * smooth_plus(excess, width);
            }
        }
    }
}

/// What the dearest parts of each span cost more than it does.
fn find_excess(rows: &[u32], prices: &[f32], excess: &mut [f32]) {
    for_each_block(rows, |block| {
        let mut dearest = [f32::NEG_INFINITY; LANES];
        block.for_each_cut(|left, right, mask| {
            let parts = parts_of(prices, left, right, mask);
            for lane in 0..LANES {
                dearest[lane] = if parts[lane] > dearest[lane] {
                    parts[lane]
                } else {
                    dearest[lane]
                };
            }
        });
        let at = block.at();
        let ours = lanes(prices, at);
        if let Some(excess) = excess[at..].first_chunk_mut::<LANES>() {
            for lane in 0..LANES {
                excess[lane] = dearest[lane] - ours[lane];
            }
        }
    });
}

/// Move the prices of a part, whose losses were weighed.
pub(super) fn climb(part: &mut Part, step: &Step, gradients: &mut Vec<f32>) {
    let mut start = 0;
    for piece in &part.pieces {
        let first = start;
        let rows = &part.rows[start..=piece.end as usize];
        start = piece.end as usize;
        let base = rows[0] as usize;
        let items = base..rows[rows.len() - 1] as usize;
        gradients.clear();
        gradients.resize(items.len() + LANES, 0.0);
        let pressure = &part.pressure[first..first + rows.len() - 1];
        for (row, pressure) in rows.iter().zip(pressure) {
            gradients[*row as usize - base] = 1.0 - pressure;
        }
        for_each_block(rows, |block| {
            share_out(
                &block,
                &part.prices,
                &part.excess,
                part.names,
                step,
                base,
                gradients,
            );
        });
        step.climb.climb(
            &mut part.prices[items.clone()],
            &mut part.means[items.clone()],
            &mut part.squares[items],
            gradients,
        );
    }
}

/// Spans that count take their dearest parts; those that are nearly as dear have a share in it.
#[inline(always)]
fn share_out(
    block: &Block,
    prices: &[f32],
    excess: &[f32],
    names: &[u32],
    step: &Step,
    base: usize,
    gradients: &mut [f32],
) {
    let at = block.at();
    let (excess, ours) = (lanes(excess, at), lanes(prices, at));
    let mut shares = [0.0; LANES];
    let mut bottoms = [f32::INFINITY; LANES];
    let (beyond, steepness) = (-step.width / 2.0, 1.0 / step.width);
    let mut any = 0.0;
    for (lane, &name) in names[at..block.row() + block.reach]
        .iter()
        .take(LANES)
        .enumerate()
    {
        if excess[lane] > beyond {
            let share = step.shares[name as usize] * ramp(excess[lane] * steepness);
            shares[lane] = share;
            any += share;
            bottoms[lane] = ours[lane] + excess[lane] - step.width;
        }
    }
    if any == 0.0 {
        return;
    }
    let mut all = [0.0; LANES];
    block.for_each_cut(|left, right, mask| {
        let parts = parts_of(prices, left, right, mask);
        for lane in 0..LANES {
            let near = parts[lane] - bottoms[lane];
            all[lane] += if near > 0.0 { near } else { 0.0 };
        }
    });
    let mut scales = [0.0; LANES];
    for lane in 0..LANES {
        scales[lane] = if shares[lane] > 0.0 {
            shares[lane] / all[lane]
        } else {
            0.0
        };
    }
    if let Some(ours) = gradients[at - base..].first_chunk_mut::<LANES>() {
        for lane in 0..LANES {
            ours[lane] += shares[lane];
        }
    }
    block.for_each_cut(|left, right, mask| {
        let mut parts = parts_of(prices, left, right, mask);
        let mut sum = 0.0;
        for lane in 0..LANES {
            let near = parts[lane] - bottoms[lane];
            parts[lane] = if near > 0.0 { near } else { 0.0 } * scales[lane];
        }
        if let Some(rights) = gradients[right - base..].first_chunk_mut::<LANES>() {
            for lane in 0..LANES {
                rights[lane] -= parts[lane];
            }
        }
        for lane in 0..LANES / 2 {
            sum += parts[lane] + parts[lane + LANES / 2];
        }
        gradients[left - base] -= sum;
    });
}
