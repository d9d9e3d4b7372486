//! Prices as integers, and the bound that they prove.
//!
//! This is the claim of the search; `verify` computes the bound again from the words.

// A discount is never negative.
#![allow(clippy::cast_sign_loss)]

use super::against::Against;
use super::batch::{Batch, items_of};
use super::instance::Instance;
use crate::prices::{largest_losses, round_price};

/// What a batch adds to a bound, in units of 1 / 2^`bits`.
#[derive(Debug, Default)]
pub(super) struct RoundedBatch {
    /// As a proof holds them.
    pub(super) discounts: Vec<u32>,
    /// The sum of what the symbols cost less than 1.
    rest: i128,
    /// Of each string, then of each repeat.
    losses: Vec<i128>,
    /// Against vocabularies, the most that a string without a price can lose.
    floor: i128,
}

/// What all batches together prove, in units of 1 / 2^`bits`.
pub(super) fn total(instance: &Instance, batches: &[RoundedBatch], bits: u32) -> i128 {
    let floor = match instance.against {
        Against::Merges => i128::from(instance.least()) << bits,
        Against::Vocabularies => batches.iter().map(|batch| batch.floor).max().unwrap_or(0),
    };
    let mut losses = vec![0; instance.num_losses()];
    for batch in batches {
        for (sum, loss) in losses.iter_mut().zip(&batch.losses) {
            *sum += loss;
        }
    }
    let long = losses.split_off(instance.num_strings);
    let floor = long.into_iter().fold(floor, i128::max);
    let (counted, _) = largest_losses(losses, instance.num_merges, floor);
    batches.iter().map(|batch| batch.rest).sum::<i128>() + counted
}

/// Round the prices of a batch.
pub(super) fn round(batch: &Batch, instance: &Instance, bits: u32) -> RoundedBatch {
    let mut rounded = RoundedBatch {
        discounts: Vec::with_capacity(match instance.against {
            Against::Merges => batch.num_items(),
            Against::Vocabularies => batch.rows.len() - 1,
        }),
        losses: vec![0; instance.num_losses()],
        ..RoundedBatch::default()
    };
    let one = 1 << bits;
    let mut exact = RoundedPiece::default();
    for piece in &batch.pieces {
        let rows = piece.rows(&batch.rows);
        let prices = &batch.prices.values[piece.prices(rows)];
        match instance.against {
            Against::Merges => {
                if piece.by_symbol {
                    exact.scale_symbols(rows, prices, one);
                } else {
                    exact.scale_spans(rows, prices, one);
                }
                exact.against_merges(rows, one, &mut rounded.discounts);
            }
            Against::Vocabularies => {
                exact.against_vocabularies(rows, prices, one, &mut rounded.discounts);
                let cost: i64 = exact.prices.iter().map(|&price| price.max(0)).sum();
                let highest = i128::from(cost - one);
                rounded.floor = rounded.floor.max(i128::from(piece.unpriced) * highest);
            }
        }
        if !piece.overlaps().is_empty() {
            let losses = exact.losses.clone();
            let drop = |item: usize| exact.losses[item] = 0;
            let overlaps = &batch.overlaps;
            overlaps.drop_lighter(piece.overlaps(), |item| losses[item], drop);
        }
        let weight = i128::from(piece.weight);
        rounded.rest += weight * i128::from(exact.rest);
        for (string, &loss) in batch.strings[items_of(rows)].iter().zip(&exact.losses) {
            if loss > 0 {
                rounded.losses[string.at()] += weight * i128::from(loss);
            }
        }
    }
    add_repeats(batch, instance, one, &mut rounded);
    rounded
}

/// Add what long strings lose by the prices of their symbols.
fn add_repeats(batch: &Batch, instance: &Instance, one: i64, rounded: &mut RoundedBatch) {
    if batch.repeats.is_empty() {
        return;
    }
    let mut sums: Vec<i64> = vec![0];
    for symbol in 0..batch.rows.len() - 1 {
        let item = match instance.against {
            Against::Merges => batch.rows[symbol] as usize,
            Against::Vocabularies => symbol,
        };
        let price = one - i64::from(rounded.discounts[item]);
        sums.push(sums[symbol] + price.max(0));
    }
    for repeat in &batch.repeats {
        let symbols = repeat.symbols();
        let excess = sums[symbols.end] - sums[symbols.start] - one;
        let loss = match instance.against {
            Against::Merges => excess.clamp(0, one),
            Against::Vocabularies => excess.max(0),
        };
        rounded.losses[instance.num_strings + repeat.index()] +=
            i128::from(repeat.weight) * i128::from(loss);
    }
}

/// The prices of a piece, and what they lose.
#[derive(Debug, Default)]
struct RoundedPiece {
    prices: Vec<i64>,
    /// Whether a span costs what its symbols do, if that is not more than 1.
    adds_up: bool,
    losses: Vec<i64>,
    /// The sum of what the symbols cost less than 1.
    rest: i64,
}

impl RoundedPiece {
    /// The prices of a piece in which every span has one.
    fn scale_spans(&mut self, rows: &[u32], prices: &[f32], one: i64) {
        self.prices.clear();
        let scaled = |&price: &f32| round_price(f64::from(price) * one as f64, one);
        self.prices.extend(prices.iter().map(scaled));
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

    /// The losses of a piece against merges. A span costs at most what its dearest parts do.
    fn against_merges(&mut self, rows: &[u32], one: i64, out: &mut Vec<u32>) {
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
    fn against_vocabularies(&mut self, rows: &[u32], prices: &[f32], one: i64, out: &mut Vec<u32>) {
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

/// What rounding the prices of neighbours has taken away so far: given to the next, so that the sum
/// over a long span is nearly right.
#[derive(Default)]
struct Carry(f64);

impl Carry {
    fn scaled(&mut self, price: f32, one: i64) -> i64 {
        let exact = f64::from(price) * one as f64 + self.0;
        let rounded = round_price(exact, one);
        self.0 = (exact - rounded as f64).clamp(-0.5, 0.5);
        rounded
    }
}
