//! Prices as integers, and the bound that they prove.
//!
//! This is the claim of the search; `verify` computes the bound again from the words.

// A discount is never negative.
#![allow(clippy::cast_sign_loss)]

use super::against::Against;
use super::batch::{Batch, Piece, items_of};
use super::decided::Decided;
use super::instance::Instance;
use super::rounded_rings::RoundedRings;
use crate::prices::{largest_losses, round_price};

/// What a batch adds to a bound, in units of 1 / 2^`bits`.
#[derive(Debug, Default)]
pub(super) struct RoundedBatch {
    /// As a proof holds them.
    pub(super) discounts: Vec<u32>,
    /// The sum of what the symbols cost less than 1, and of the credits that always count.
    rest: i128,
    /// Against vocabularies, the most that a string without a price can lose.
    floor: i128,
    /// The credits of the chains, as a proof holds them; and the sums for each link.
    pub(super) credits: Vec<u32>,
    of_links: Vec<i128>,
}

/// What all batches together prove, in units of 1 / 2^`bits`, given the losses that [`round`] summed.
pub(super) fn total(
    instance: &Instance,
    batches: &[RoundedBatch],
    losses: &[i128],
    decided: &Decided,
    rings: &RoundedRings,
    bits: u32,
) -> i128 {
    let floor = match instance.against {
        Against::Merges => i128::from(instance.least()) << bits,
        Against::Vocabularies => batches.iter().map(|batch| batch.floor).max().unwrap_or(0),
    };
    let (of_splits, long) = losses.split_at(instance.num_splits());
    let largest = |string: &usize| {
        let loss = of_splits[instance.splits_of(*string)].iter().copied().max();
        loss.map(|loss| loss + rings.of_string(*string))
    };
    let is_open = |string: &usize| !decided.has.contains(string) && !decided.lacks.contains(string);
    let others = (0..instance.num_strings).filter(is_open);
    let others: Vec<i128> = others.filter_map(|string| largest(&string)).collect();
    let floor = long.iter().copied().fold(floor, i128::max);
    let num_others = instance.num_merges.saturating_sub(decided.has.len());
    let (counted, _) = largest_losses(others, num_others, floor);
    let certain: i128 = decided.has.iter().filter_map(largest).sum();
    let mut credits = vec![0; rings.num_links()];
    for batch in batches {
        for (sum, credit) in credits.iter_mut().zip(&batch.of_links) {
            *sum += credit;
        }
    }
    let rest: i128 = batches.iter().map(|batch| batch.rest).sum();
    rest + counted + certain + rings.added(&credits)
}

/// Round the prices of a batch, and add what each split loses, then each repeat, to `losses`.
pub(super) fn round(
    batch: &Batch,
    instance: &Instance,
    rings: &RoundedRings,
    bits: u32,
    losses: &mut Vec<i128>,
) -> RoundedBatch {
    losses.resize(instance.num_splits() + instance.repeats.num_strings, 0);
    let mut rounded = RoundedBatch {
        discounts: Vec::with_capacity(match instance.against {
            Against::Merges => batch.num_items(),
            Against::Vocabularies => batch.rows.len() - 1,
        }),
        of_links: vec![0; rings.num_links()],
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
        take_off(batch, piece, rings, &mut exact, &mut rounded);
        rounded.rest += i128::from(piece.weight) * i128::from(exact.rest);
        add_losses(batch, piece, instance, &mut exact, losses);
    }
    add_repeats(batch, instance, one, &rounded.discounts, losses);
    rounded
}

/// Round the credits of a piece.
fn take_off(
    batch: &Batch,
    piece: &Piece,
    rings: &RoundedRings,
    exact: &mut RoundedPiece,
    rounded: &mut RoundedBatch,
) {
    exact.allowed.clear();
    exact.allowed.resize(exact.prices.len(), 0);
    for index in piece.chains() {
        let credit = rings.credit(&batch.chains, index);
        let chain = batch.chains.all[index];
        for item in chain.items() {
            exact.allowed[item] += i64::from(credit);
        }
        let counted = i128::from(piece.weight) * i128::from(credit);
        rounded.rest += counted * chain.certain() as i128;
        rounded.of_links[chain.link.at()] += counted;
        rounded.credits.push(credit);
    }
}

/// Add what the strings of a piece lose at each split.
fn add_losses(
    batch: &Batch,
    piece: &Piece,
    instance: &Instance,
    exact: &mut RoundedPiece,
    losses: &mut [i128],
) {
    let rows = piece.rows(&batch.rows);
    let strings = &batch.strings[items_of(rows)];
    let weight = i128::from(piece.weight);
    let name = |item: usize| batch.section.name(strings[item]);
    let splits = |item: usize| (1..).zip(instance.splits_of(name(item).at()));
    let loss = |exact: &RoundedPiece, start: usize, item: usize, cut: usize| match instance.against
    {
        Against::Merges => exact.loss(rows, start, item, cut),
        Against::Vocabularies => exact.losses[item],
    };
    let groups = piece.overlaps();
    batch
        .overlaps
        .for_each_group(groups.clone(), |item, weigh_disjoint| {
            for (cut, split) in splits(item) {
                let heaviest = weigh_disjoint(&|start, item| loss(exact, start, item, cut));
                losses[split] += weight * i128::from(heaviest);
            }
        });
    for item in batch.overlaps.items(groups) {
        exact.losses[item] = 0;
    }
    for (start, ends) in rows.windows(2).enumerate() {
        for item in (ends[0] - rows[0]) as usize..(ends[1] - rows[0]) as usize {
            if exact.losses[item] > 0 {
                for (cut, split) in splits(item) {
                    losses[split] += weight * i128::from(loss(exact, start, item, cut));
                }
            }
        }
    }
}

/// Add what long strings lose by the prices of their symbols.
fn add_repeats(
    batch: &Batch,
    instance: &Instance,
    one: i64,
    discounts: &[u32],
    losses: &mut [i128],
) {
    if batch.repeats.is_empty() {
        return;
    }
    let mut sums: Vec<i64> = vec![0];
    for symbol in 0..batch.rows.len() - 1 {
        let item = match instance.against {
            Against::Merges => batch.rows[symbol] as usize,
            Against::Vocabularies => symbol,
        };
        let price = one - i64::from(discounts[item]);
        sums.push(sums[symbol] + price.max(0));
    }
    for repeat in &batch.repeats {
        let symbols = repeat.symbols();
        let excess = sums[symbols.end] - sums[symbols.start] - one;
        let loss = match instance.against {
            Against::Merges => excess.clamp(0, one),
            Against::Vocabularies => excess.max(0),
        };
        losses[instance.num_splits() + repeat.index()] +=
            i128::from(repeat.weight) * i128::from(loss);
    }
}

/// The prices of a piece, and what they lose.
#[derive(Debug, Default)]
struct RoundedPiece {
    prices: Vec<i64>,
    /// Whether a span costs what its symbols do, if that is not more than 1.
    adds_up: bool,
    /// What is taken off the loss of each span.
    allowed: Vec<i64>,
    /// What each span loses at most.
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

    /// Against merges, what a span that begins at the symbol `start` loses if it is made of the two
    /// parts that `cut` says.
    fn loss(&self, rows: &[u32], start: usize, item: usize, cut: usize) -> i64 {
        let row = (rows[start] - rows[0]) as usize;
        let right = (rows[start + cut] - rows[0]) as usize + item - row - cut;
        let loss = self.prices[row + cut - 1] + self.prices[right] - self.prices[item];
        (loss - self.allowed[item]).max(0)
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
