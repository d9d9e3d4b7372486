//! Good prices for the forest bound, by gradient ascent.
//!
//! The bound is concave in the prices, but has corners: a loss begins at 0, only the largest losses
//! count, and only the dearest parts of a span. Each corner is rounded by a width that shrinks as the
//! ascent goes on; the bound itself is evaluated exactly now and then, and the best is kept.

// Prices found in floating point are only a proposal: the bound is computed in integers.
#![allow(clippy::cast_precision_loss)]

use super::forest::{Bound, Forest, NONE, ONE};
use super::text::{Pair, Text};
use crate::merges::Id;
use crate::watch::Watch;

/// How many steps are taken between two looks at the exact bound.
const STEPS_BETWEEN_LOOKS: usize = 10;

/// The decay of the two averages that scale a step.
const DECAY_OF_MEAN: f64 = 0.9;
const DECAY_OF_SQUARE: f64 = 0.95;

/// The best bound that `num_steps` steps find, or the first that is at most `target`.
///
/// The ascent begins at the prices that a path of merges, good ones if possible, would suggest.
pub(super) fn best_bound(
    forest: &Forest,
    text: &Text,
    path: &[Pair],
    target: u64,
    num_steps: usize,
    watch: &Watch,
) -> Bound {
    let mut ascent = Ascent::new(forest, first_prices(forest, text, path));
    let mut best = ascent.look();
    for step in 0..num_steps {
        if best.gain() <= target || watch.is_stopped() {
            break;
        }
        ascent.step(step as f64 / num_steps as f64);
        if (step + 1) % STEPS_BETWEEN_LOOKS == 0 || step + 1 == num_steps {
            let found = ascent.look();
            if found.total() < best.total() {
                best = found;
            }
        }
    }
    best
}

/// A token costs its share of the token that it becomes; a span costs what its tokens do.
fn first_prices(forest: &Forest, text: &Text, path: &[Pair]) -> Vec<f64> {
    let mut prices = vec![1.0; forest.weights.len()];
    let merged = text.after(path);
    let lengths = lengths_of(path, text.next_id());
    let mut position = 0;
    for &token in merged.tokens() {
        let merge = token.wrapping_sub(text.next_id()) as usize;
        let length = lengths.get(merge).copied().unwrap_or(1);
        for &item in &forest.items[position..position + length] {
            if item != NONE {
                prices[item as usize] = 1.0 / length as f64;
            }
        }
        position += length;
    }
    for (item, span) in (forest.num_tokens..).zip(&forest.spans) {
        let (left, right) = forest.cuts[span.cuts.start as usize];
        prices[item] = f64::min(1.0, prices[left as usize] + prices[right as usize]);
    }
    prices
}

/// How many tokens of a text whose next id is `first` each merge of a path joins.
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

struct Ascent<'a> {
    forest: &'a Forest,
    prices: Vec<f64>,
    means: Vec<f64>,
    squares: Vec<f64>,
    /// What the dearest parts of each span cost more than it does.
    excess: Vec<f64>,
    /// Does the span count towards the loss of its string?
    is_chosen: Vec<bool>,
    losses: Vec<f64>,
    /// How much of each item is taken by the spans above it.
    taken: Vec<f64>,
    /// The loss from which on a string counts.
    threshold: f64,
    num_steps: i32,
}

impl<'a> Ascent<'a> {
    fn new(forest: &'a Forest, prices: Vec<f64>) -> Self {
        let num_items = prices.len();
        Self {
            forest,
            prices,
            means: vec![0.0; num_items],
            squares: vec![0.0; num_items],
            excess: vec![0.0; forest.spans.len()],
            is_chosen: vec![true; forest.spans.len()],
            losses: vec![0.0; forest.strings.len()],
            taken: vec![0.0; num_items],
            threshold: forest.floor as f64,
            num_steps: 0,
        }
    }

    /// The bound of the present prices, which are lowered where that costs nothing.
    fn look(&mut self) -> Bound {
        let scaled = |&price: &f64| (price * ONE as f64).min(ONE as f64) as i64;
        let bound = self
            .forest
            .evaluate(self.prices.iter().map(scaled).collect());
        for (price, &exact) in self.prices.iter_mut().zip(bound.prices()) {
            *price = exact as f64 / ONE as f64;
        }
        bound
    }

    /// One step, `progress` of the way from the first to the last.
    fn step(&mut self, progress: f64) {
        let width = 0.2 * 0.005_f64.powf(progress);
        let slope = self.threshold * 0.5 * 0.06_f64.powf(progress);
        let rate = 0.2 * 0.01_f64.powf(progress);
        self.weigh_losses(width);
        self.find_threshold(slope);
        self.share_out(width, slope);
        self.climb(rate);
    }

    /// The smoothed loss of each string.
    fn weigh_losses(&mut self, width: f64) {
        let forest = self.forest;
        for (index, span) in forest.spans.iter().enumerate() {
            let dearest = dearest_parts(forest, &self.prices, span.cuts.clone());
            self.excess[index] = dearest - self.prices[forest.num_tokens + index];
        }
        for (string, spans) in forest.strings.iter().enumerate() {
            let weigh = |span: u32| {
                let weight = forest.weights[forest.num_tokens + span as usize] as f64;
                weight * smooth_plus(self.excess[span as usize], width)
            };
            let (loss, is_chosen) = forest.heaviest(spans, weigh);
            self.losses[string] = loss;
            for (&span, is_chosen) in spans.iter().zip(is_chosen) {
                self.is_chosen[span as usize] = is_chosen;
            }
        }
    }

    /// The threshold at which as many strings count as there are merges; never below the floor.
    fn find_threshold(&mut self, slope: f64) {
        let num_merges = self.forest.num_merges as f64;
        let excess = |threshold: f64| {
            let counted = self
                .losses
                .iter()
                .map(|&loss| ramp((loss - threshold) / slope));
            counted.sum::<f64>() - num_merges
        };
        let mut low = self.forest.floor as f64;
        let mut high = self.losses.iter().copied().fold(low, f64::max) + slope;
        if excess(low) <= 0.0 {
            high = low;
        }
        while high - low > 1e-4 * high {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.threshold = high;
    }

    /// How much of each item the spans above it take: a span that counts takes its dearest parts.
    fn share_out(&mut self, width: f64, slope: f64) {
        let forest = self.forest;
        self.taken.fill(0.0);
        for (index, span) in forest.spans.iter().enumerate() {
            let counts = ramp((self.losses[span.string as usize] - self.threshold) / slope);
            let share = counts * ramp(self.excess[index] / width);
            if share == 0.0 || !self.is_chosen[index] {
                continue;
            }
            let item = forest.num_tokens + index;
            self.taken[item] -= share;
            let cuts = &forest.cuts[span.cuts.start as usize..span.cuts.end as usize];
            let dearest = self.excess[index] + self.prices[item];
            let nearness = |&(left, right): &(u32, u32)| {
                let parts = self.prices[left as usize] + self.prices[right as usize];
                (1.0 - (dearest - parts) / width).max(0.0)
            };
            let all: f64 = cuts.iter().map(nearness).sum();
            for cut in cuts {
                let part = share * nearness(cut) / all;
                self.taken[cut.0 as usize] += part;
                self.taken[cut.1 as usize] += part;
            }
        }
    }

    /// Raise the prices of what is taken too little, lower those of what is taken too much.
    fn climb(&mut self, rate: f64) {
        self.num_steps += 1;
        let of_mean = 1.0 - DECAY_OF_MEAN.powi(self.num_steps);
        let of_square = 1.0 - DECAY_OF_SQUARE.powi(self.num_steps);
        for (item, price) in self.prices.iter_mut().enumerate() {
            let supply = if item < self.forest.num_tokens {
                1.0
            } else {
                0.0
            };
            let gradient = supply - self.taken[item];
            let (mean, square) = (&mut self.means[item], &mut self.squares[item]);
            *mean += (1.0 - DECAY_OF_MEAN) * (gradient - *mean);
            *square += (1.0 - DECAY_OF_SQUARE) * (gradient * gradient - *square);
            let step = rate * (*mean / of_mean) / ((*square / of_square).sqrt() + 1e-8);
            *price = (*price + step).min(1.0);
        }
    }
}

fn dearest_parts(forest: &Forest, prices: &[f64], cuts: std::ops::Range<u32>) -> f64 {
    forest.cuts[cuts.start as usize..cuts.end as usize]
        .iter()
        .map(|&(left, right)| prices[left as usize] + prices[right as usize])
        .fold(f64::NEG_INFINITY, f64::max)
}

/// From 0 to 1 as x goes from -1/2 to 1/2.
fn ramp(x: f64) -> f64 {
    (x + 0.5).clamp(0.0, 1.0)
}

/// The positive part of x, its corner rounded over the given width: the integral of the ramp.
fn smooth_plus(x: f64, width: f64) -> f64 {
    let inside = (x / width + 0.5).clamp(0.0, 1.0);
    width * inside * inside / 2.0 + (x - width / 2.0).max(0.0)
}
