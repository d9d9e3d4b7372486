//! Steps of gradient descent, scaled as Adam does (Kingma and Ba, 2015).

use std::ops::Range;

const DECAY_OF_MEAN: f32 = 0.9;
const DECAY_OF_SQUARE: f32 = 0.95;
/// What no average falls below where nothing pulls: smaller than all that matters, but no subnormal
/// number, with which processors are slow.
const TINY: f32 = 1e-30;

/// The size of one step, and the corrections of its two averages, which begin at 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Adam {
    rate: f32,
    of_square: f32,
}

impl Adam {
    /// The step after `num_steps` steps.
    pub(crate) fn new(rate: f32, num_steps: usize) -> Self {
        let num_steps = i32::try_from(num_steps)
            .unwrap_or(i32::MAX)
            .saturating_add(1);
        Self {
            rate: rate / (1.0 - DECAY_OF_MEAN.powi(num_steps)),
            of_square: 1.0 / (1.0 - DECAY_OF_SQUARE.powi(num_steps)),
        }
    }

    /// Move one price.
    #[inline]
    fn follow(
        self,
        price: &mut f32,
        mean: &mut f32,
        square: &mut f32,
        pull: f32,
        least: f32,
        most: f32,
    ) {
        *mean += (1.0 - DECAY_OF_MEAN) * (pull + TINY - *mean);
        *square += (1.0 - DECAY_OF_SQUARE) * (pull * pull + TINY - *square);
        let scale = (*square * self.of_square).sqrt() + 1e-8;
        let moved = *price + self.rate * *mean / scale;
        let high = if moved > least { moved } else { least };
        *price = if high < most { high } else { most };
    }
}

/// Prices, with the averages of their gradients and of the squares of these.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    pub(crate) values: Vec<f32>,
    pub(crate) means: Vec<f32>,
    squares: Vec<f32>,
}

impl Prices {
    pub(crate) fn new(values: Vec<f32>) -> Self {
        Self {
            means: vec![0.0; values.len()],
            squares: vec![0.0; values.len()],
            values,
        }
    }

    /// Take over some prices of another search, with their averages.
    pub(crate) fn copy_from(&mut self, range: Range<usize>, other: &Self, theirs: Range<usize>) {
        self.values[range.clone()].copy_from_slice(&other.values[theirs.clone()]);
        self.means[range.clone()].copy_from_slice(&other.means[theirs.clone()]);
        self.squares[range].copy_from_slice(&other.squares[theirs]);
    }

    /// Move the prices of `range`, to 1 at most. The pull on a price is minus the gradient of the
    /// bound: positive if a higher price lowers the bound.
    #[inline]
    pub(crate) fn follow(&mut self, range: Range<usize>, pulls: &[f32], adam: Adam) {
        self.follow_within(range, pulls, adam, f32::NEG_INFINITY, 1.0);
    }

    /// The same, but to `least` at least and to `most` at most.
    #[inline]
    pub(crate) fn follow_within(
        &mut self,
        range: Range<usize>,
        pulls: &[f32],
        adam: Adam,
        least: f32,
        most: f32,
    ) {
        let prices = self.values[range.clone()].iter_mut();
        let means = self.means[range.clone()].iter_mut();
        let moments = means.zip(self.squares[range].iter_mut());
        for ((price, (mean, square)), &pull) in prices.zip(moments).zip(pulls) {
            adam.follow(price, mean, square, pull, least, most);
        }
    }

    /// The same for one price.
    #[inline]
    pub(crate) fn follow_one(
        &mut self,
        index: usize,
        pull: f32,
        adam: Adam,
        least: f32,
        most: f32,
    ) {
        let (mean, square) = (&mut self.means[index], &mut self.squares[index]);
        adam.follow(&mut self.values[index], mean, square, pull, least, most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_convex_function_is_minimised_below_1() {
        // (x - 1/4)^2 + (y - 3)^2, whose minimum with y of at most 1 is at (1/4, 1).
        let mut prices = Prices::new(vec![1.0, -1.0, 7.0]);
        let mut rate = 0.2;
        for num_steps in 0..400 {
            let pulls = [0.5 - 2.0 * prices.values[0], 6.0 - 2.0 * prices.values[1]];
            prices.follow(0..2, &pulls, Adam::new(rate, num_steps));
            rate *= 0.98;
        }
        for (price, expected) in prices.values.iter().zip([0.25, 1.0, 7.0]) {
            assert!((price - expected).abs() < 1e-3, "{prices:?}");
        }
    }
    #[test]
    fn prices_stay_within_their_limits() {
        for pull in [-1.0, 1.0] {
            let mut prices = Prices::new(vec![7.0]);
            prices.follow_within(0..1, &[pull], Adam::new(50.0, 0), 5.0, 9.0);
            assert!((prices.values[0] - 7.0 - 2.0 * pull).abs() < 1e-6);
        }
    }
}
