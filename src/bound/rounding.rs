//! Prices as integers, and the bound that they prove.
//!
//! This is the optimiser's own claim; `verify` computes it again from the words.

// A discount is never negative.
#![allow(clippy::cast_sign_loss)]

use super::instance::{Against, Instance};
use super::part::{Part, items_of};

/// What a part adds to a bound.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// As a proof holds them.
    pub(super) discounts: Vec<u32>,
    /// The sum of what the symbols cost less than 1.
    rest: i128,
    losses: Vec<i128>,
    /// Against vocabularies, what an unpriced string can lose at most.
    floor: i128,
}

/// What all parts together prove, in units of 1 / 2^`bits`.
pub(super) fn total(instance: &Instance, shares: &[Share], bits: u32) -> i128 {
    let floor = match instance.against {
        Against::Merges => i128::from(instance.least()) << bits,
        Against::Vocabularies => shares.iter().map(|share| share.floor).max().unwrap_or(0),
    };
    let mut losses = vec![0; instance.num_strings + instance.repeats.number];
    for share in shares {
        for (sum, loss) in losses.iter_mut().zip(&share.losses) {
            *sum += loss;
        }
    }
    let long = losses.split_off(instance.num_strings);
    let floor = long.into_iter().fold(floor, i128::max);
    let num_counted = instance.num_merges.min(losses.len());
    if num_counted < losses.len() {
        losses.select_nth_unstable_by(num_counted, |a, b| b.cmp(a));
    }
    let counted: i128 = losses[..num_counted]
        .iter()
        .map(|&loss| loss.max(floor))
        .sum();
    let others = (instance.num_merges - num_counted) as i128 * floor;
    shares.iter().map(|share| share.rest).sum::<i128>() + counted + others
}

/// Round the prices of a part.
pub(super) fn round(part: &Part, instance: &Instance, bits: u32, scratch: &mut Exact) -> Share {
    let mut share = Share {
        discounts: Vec::with_capacity(match instance.against {
            Against::Merges => part.num_items(),
            Against::Vocabularies => part.rows.len() - 1,
        }),
        losses: vec![0; instance.num_strings + part.num_repeats],
        ..Share::default()
    };
    let one = 1 << bits;
    let mut overlaps = part.overlaps.pieces().iter().peekable();
    for (index, piece) in part.pieces.iter().enumerate() {
        let rows = piece.rows(&part.rows);
        let prices = &part.prices[piece.prices(rows)];
        match instance.against {
            Against::Merges => {
                if piece.by_symbol {
                    scratch.scale_symbols(rows, prices, one);
                } else {
                    scratch.scale_spans(rows, prices, one);
                }
                scratch.forest(rows, one, &mut share.discounts);
            }
            Against::Vocabularies => {
                scratch.spread(rows, prices, one, &mut share.discounts);
                let highest = heaviest_run(&scratch.prices) - i128::from(one);
                share.floor = share.floor.max(i128::from(piece.unpriced) * highest);
            }
        }
        if let Some((_, groups)) = overlaps.next_if(|(piece, _)| *piece == index) {
            let losses = scratch.losses.clone();
            let drop = |item: usize| scratch.losses[item] = 0;
            part.overlaps
                .drop_lighter(groups.clone(), |item| losses[item], drop);
        }
        let weight = i128::from(piece.weight);
        share.rest += weight * i128::from(scratch.rest);
        for (&name, &loss) in part.names[items_of(rows)].iter().zip(&scratch.losses) {
            if loss > 0 {
                share.losses[name as usize] += weight * i128::from(loss);
            }
        }
    }
    add_repeats(part, instance, one, &mut share);
    share
}

/// What long strings lose by the prices of their symbols.
fn add_repeats(part: &Part, instance: &Instance, one: i64, share: &mut Share) {
    if part.repeats.is_empty() {
        return;
    }
    let mut sums: Vec<i64> = vec![0];
    for symbol in 0..part.rows.len() - 1 {
        let item = match instance.against {
            Against::Merges => part.rows[symbol] as usize,
            Against::Vocabularies => symbol,
        };
        let price = one - i64::from(share.discounts[item]);
        sums.push(sums[symbol] + price.max(0));
    }
    for repeat in &part.repeats {
        let excess = sums[repeat.end as usize] - sums[repeat.start as usize] - one;
        let loss = match instance.against {
            Against::Merges => excess.clamp(0, one),
            Against::Vocabularies => excess.max(0),
        };
        share.losses[instance.num_strings + repeat.number as usize] +=
            i128::from(repeat.weight) * i128::from(loss);
    }
}

/// The largest sum of neighbours.
fn heaviest_run(prices: &[i64]) -> i128 {
    let (mut best, mut here) = (0, 0);
    for &price in prices {
        here = 0.max(here + i128::from(price));
        best = best.max(here);
    }
    best
}

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct Exact {
    prices: Vec<i64>,
    /// Does a span cost what its symbols do, if that is not more than 1?
    adds_up: bool,
    losses: Vec<i64>,
    rest: i64,
}

impl Exact {
    /// The prices of a piece in which every span has one.
    fn scale_spans(&mut self, rows: &[u32], prices: &[f32], one: i64) {
        self.prices.clear();
        self.prices
            .extend(prices.iter().map(|&price| scaled(price, one)));
        self.adds_up = false;
        let mut carry = Carry::default();
        for row in &rows[..rows.len() - 1] {
            let item = (row - rows[0]) as usize;
            self.prices[item] = carry.scaled(prices[item], one);
        }
    }

    /// The prices of a piece in which only symbols have one; any span may cost 1.
    fn scale_symbols(&mut self, rows: &[u32], prices: &[f32], one: i64) {
        self.prices.clear();
        self.prices.resize(items_of(rows).len(), one);
        self.adds_up = true;
        let mut carry = Carry::default();
        for (row, &price) in rows.iter().zip(prices) {
            let price = carry.scaled(price, one);
            self.prices[(row - rows[0]) as usize] = price;
            self.adds_up &= price >= 0;
        }
    }

    /// The losses of a piece against merges. A span costs at most what its parts do.
    fn forest(&mut self, rows: &[u32], one: i64, out: &mut Vec<u32>) {
        let base = rows[0] as usize;
        self.losses.clear();
        self.losses.resize(self.prices.len(), 0);
        self.rest = 0;
        let from = out.len();
        out.resize(from + self.prices.len(), 0);
        // From right to left, so that the parts of a span come before it.
        for start in (0..rows.len() - 1).rev() {
            let row = rows[start] as usize - base;
            let end = rows[start + 1] as usize - base;
            self.rest += one - self.prices[row];
            out[from + row] = (one - self.prices[row]) as u32;
            let mut sum = self.prices[row];
            for item in row + 1..end {
                let length = item - row + 1;
                if self.adds_up {
                    sum += self.prices[rows[start + length - 1] as usize - base];
                    if sum <= one {
                        self.prices[item] = sum;
                        continue;
                    }
                }
                let mut dearest = i64::MIN;
                for cut in 1..length {
                    let right = rows[start + cut] as usize - base + length - cut - 1;
                    dearest = dearest.max(self.prices[row + cut - 1] + self.prices[right]);
                }
                let most = dearest.min(one);
                let price = self.prices[item].min(most);
                self.prices[item] = price;
                self.losses[item] = dearest - price;
                out[from + item] = (most - price) as u32;
            }
        }
    }

    /// The losses of a piece against vocabularies.
    fn spread(&mut self, rows: &[u32], prices: &[f32], one: i64, out: &mut Vec<u32>) {
        let mut carry = Carry::default();
        self.prices.clear();
        self.prices
            .extend(prices.iter().map(|&price| carry.scaled(price, one)));
        out.extend(self.prices.iter().map(|price| (one - price) as u32));
        self.rest = self.prices.iter().map(|price| one - price).sum();
        self.losses.clear();
        for (start, ends) in rows.windows(2).enumerate() {
            self.losses.push(0);
            let mut sum = self.prices[start] - one;
            for index in 1..(ends[1] - ends[0]) as usize {
                sum += self.prices[start + index];
                self.losses.push(sum.max(0));
            }
        }
    }
}

/// What rounding the prices of neighbours took away so far: given to the next, so that the sum over
/// a long span is nearly right.
#[derive(Default)]
struct Carry(f64);

impl Carry {
    fn scaled(&mut self, price: f32, one: i64) -> i64 {
        let exact = f64::from(price) * one as f64 + self.0;
        let rounded = (exact.round() as i64).clamp(-(1 << 30), one);
        self.0 = (exact - rounded as f64).clamp(-0.5, 0.5);
        rounded
    }
}

/// A price as an integer, small enough that no sum of prices overflows.
fn scaled(price: f32, one: i64) -> i64 {
    let scaled = (f64::from(price) * one as f64).round();
    (scaled as i64).clamp(-(1 << 30), one)
}
