//! Good prices for the spans of a text, by gradient descent on the smoothed bound.

// Prices found in floating point are only a proposal: the bound is computed in integers.
#![allow(clippy::cast_precision_loss)]

use super::forest::{Forest, ONE, ProvedBound, dearest};
use super::text::{Pair, Text};
use crate::merges::Id;
use crate::prices::{Adam, Prices, Shares, round_price, smooth_plus};
use crate::watch::Watch;

/// The number of steps between two exact evaluations of the bound.
const STEPS_BETWEEN_EVALUATIONS: usize = 10;

/// The best bound that `num_steps` steps find, or the first that is at most `target`.
///
/// The descent begins with the prices that a path of merges, good ones if possible, suggests.
pub(super) fn best_bound(
    forest: &Forest,
    text: &Text,
    path: &[Pair],
    target: u64,
    num_steps: usize,
    watch: &Watch,
) -> ProvedBound {
    let mut descent = Descent::new(forest, first_prices(forest, text, path));
    let mut best = descent.evaluate();
    for step in 0..num_steps {
        if best.gain() <= target || watch.is_stopped() {
            break;
        }
        descent.step(step, num_steps);
        if (step + 1) % STEPS_BETWEEN_EVALUATIONS == 0 || step + 1 == num_steps {
            let found = descent.evaluate();
            if found.total < best.total {
                best = found;
            }
        }
    }
    best
}

/// The tokens that a merge joins share the price 1; a span costs what its tokens do, at most 1.
fn first_prices(forest: &Forest, text: &Text, path: &[Pair]) -> Vec<f32> {
    let mut prices = vec![1.0; forest.weights.len()];
    let merged = text.after(path);
    let lengths = lengths_of(path, text.next_id());
    let mut position = 0;
    for &token in merged.tokens() {
        let merge = token.wrapping_sub(text.next_id()) as usize;
        let length = lengths.get(merge).copied().unwrap_or(1);
        for item in forest.items[position..position + length].iter().flatten() {
            prices[item.at()] = 1.0 / length as f32;
        }
        position += length;
    }
    for (item, span) in forest.spans() {
        let (left, right) = forest.cuts_of(span)[0];
        prices[item.at()] = f32::min(1.0, prices[left.at()] + prices[right.at()]);
    }
    prices
}

/// The number of tokens of a text whose next id is `first` that each merge of a path joins.
fn lengths_of(path: &[Pair], first: Id) -> Vec<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(path.len());
    for &(left, right) in path {
        let length = |part: Id| match part.checked_sub(first) {
            Some(merge) => lengths[merge as usize],
            None => 1,
        };
        lengths.push(length(left) + length(right));
    }
    lengths
}

struct Descent<'a> {
    forest: &'a Forest,
    prices: Prices,
    /// What the dearest parts of each span cost more than it does; -infinity if another span of its
    /// string overlaps it and counts.
    excess: Vec<f32>,
    shares: Shares,
    pulls: Vec<f32>,
}

impl<'a> Descent<'a> {
    fn new(forest: &'a Forest, prices: Vec<f32>) -> Self {
        Self {
            forest,
            excess: vec![f32::NEG_INFINITY; prices.len()],
            pulls: vec![0.0; prices.len()],
            prices: Prices::new(prices),
            shares: Shares::new(forest.strings.len()),
        }
    }

    /// The bound of the current prices, which are lowered where that costs nothing.
    fn evaluate(&mut self) -> ProvedBound {
        let scaled = |&price: &f32| round_price(f64::from(price) * ONE as f64, ONE);
        let prices = &mut self.prices.values;
        let bound = self.forest.evaluate(prices.iter().map(scaled).collect());
        for (price, &exact) in prices.iter_mut().zip(&bound.prices) {
            *price = exact as f32 / ONE as f32;
        }
        bound
    }

    /// Take the step after `step` of `num_steps` steps.
    fn step(&mut self, step: usize, num_steps: usize) {
        let progress = step as f32 / num_steps as f32;
        let width = 0.2 * 0.005_f32.powf(progress);
        let softness = 0.5 * 0.06_f32.powf(progress);
        let rate = 0.2 * 0.01_f32.powf(progress);
        self.weigh_losses(width);
        let Forest {
            num_merges, floor, ..
        } = *self.forest;
        self.shares.update(num_merges, floor as f32, softness);
        self.pull(width);
        let all = 0..self.pulls.len();
        self.prices.follow(all, &self.pulls, Adam::new(rate, step));
    }

    /// Find the smoothed loss of each string.
    fn weigh_losses(&mut self, width: f32) {
        let forest = self.forest;
        let prices = &self.prices.values;
        for (item, span) in forest.spans() {
            self.excess[item.at()] = dearest(forest.cuts_of(span), prices) - prices[item.at()];
        }
        for (loss, spans) in self.shares.losses.iter_mut().zip(&forest.strings) {
            let (sum, is_chosen) = forest.heaviest(spans, |item| {
                forest.weights[item.at()] as f32 * smooth_plus(self.excess[item.at()], width)
            });
            *loss = sum;
            for (item, is_chosen) in spans.iter().zip(is_chosen) {
                if !is_chosen {
                    self.excess[item.at()] = f32::NEG_INFINITY;
                }
            }
        }
    }

    /// Find the pulls on the prices: a span that counts pulls its own price up and the prices of its
    /// dearest parts down; parts that are nearly as dear have a share in it.
    fn pull(&mut self, width: f32) {
        let forest = self.forest;
        let prices = &self.prices.values;
        let shares = self.shares.of_spans(width);
        let (tokens, spans) = self.pulls.split_at_mut(forest.num_tokens);
        tokens.fill(1.0);
        spans.fill(0.0);
        for (item, span) in forest.spans() {
            let excess = self.excess[item.at()];
            let share = shares.of(span.string.at(), excess);
            if share == 0.0 {
                continue;
            }
            self.pulls[item.at()] += share;
            let bottom = prices[item.at()] + excess - width;
            let near = |left: usize, right: usize| (prices[left] + prices[right] - bottom).max(0.0);
            let cuts = forest.cuts_of(span).iter();
            let cuts = cuts.map(|(left, right)| (left.at(), right.at()));
            let all: f32 = cuts.clone().map(|(left, right)| near(left, right)).sum();
            for (left, right) in cuts {
                let part = share * near(left, right) / all;
                self.pulls[left] -= part;
                self.pulls[right] -= part;
            }
        }
    }
}
