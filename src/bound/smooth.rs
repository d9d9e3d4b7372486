//! Corners, rounded.

/// From 0 to 1 as x goes from -1/2 to 1/2.
#[inline]
pub(super) fn ramp(x: f32) -> f32 {
    (x + 0.5).clamp(0.0, 1.0)
}

/// The positive part of x, its corner rounded over the given width: the integral of the ramp.
#[inline]
pub(super) fn smooth_plus(x: f32, width: f32) -> f32 {
    let inside = (x + width * 0.5).clamp(0.0, width);
    // For x beyond the corner, inside is the width, and the sum is x.
    inside * inside / (2.0 * width) + (x - width * 0.5).max(0.0)
}

/// The two averages of Adam, and the size of its steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Climb {
    rate: f32,
    of_mean: f32,
    of_square: f32,
}

const DECAY_OF_MEAN: f32 = 0.9;
const DECAY_OF_SQUARE: f32 = 0.95;

impl Climb {
    /// The step after `num_steps` steps.
    pub(super) fn new(rate: f32, num_steps: usize) -> Self {
        let num_steps = i32::try_from(num_steps)
            .unwrap_or(i32::MAX)
            .saturating_add(1);
        Self {
            rate: rate / (1.0 - DECAY_OF_MEAN.powi(num_steps)),
            of_mean: 1.0 - DECAY_OF_MEAN,
            of_square: 1.0 / (1.0 - DECAY_OF_SQUARE.powi(num_steps)),
        }
    }

    /// Move prices along their gradients, to 1 at most.
    #[inline]
    pub(super) fn climb(
        &self,
        prices: &mut [f32],
        means: &mut [f32],
        squares: &mut [f32],
        gradients: &[f32],
    ) {
        let moments = means.iter_mut().zip(squares.iter_mut());
        for ((price, (mean, square)), &gradient) in prices.iter_mut().zip(moments).zip(gradients) {
            *mean += self.of_mean * (gradient - *mean);
            *square += (1.0 - DECAY_OF_SQUARE) * (gradient * gradient - *square);
            let scale = (*square * self.of_square).sqrt() + 1e-8;
            let raised = *price + self.rate * *mean / scale;
            *price = if raised < 1.0 { raised } else { 1.0 };
        }
    }
}
