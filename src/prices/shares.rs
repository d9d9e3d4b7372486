//! How much each string counts: wholly if its loss is among the largest, not at all if not.

use super::smooth::ramp;

const LANES: usize = 8;

/// A string with a price, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StringIndex(pub(crate) u32);

impl StringIndex {
    /// In place of an index, in arrays so long that an `Option` would take too much memory.
    pub(crate) const NONE: Self = Self(u32::MAX);

    pub(crate) fn at(self) -> usize {
        self.0 as usize
    }
}

/// The loss of each string, and its share: how much it counts, from 0 to 1.
#[derive(Debug)]
pub(crate) struct Shares {
    pub(crate) losses: Vec<f32>,
    of_strings: Vec<f32>,
    /// The loss from which on a string counts.
    pub(crate) threshold: f32,
}

impl Shares {
    pub(crate) fn new(num_losses: usize) -> Self {
        Self {
            losses: vec![0.0; num_losses],
            of_strings: vec![0.0; num_losses],
            threshold: 0.0,
        }
    }

    /// Find the shares that belong to the losses: they sum to `num_merges`, or to less if the
    /// threshold would fall below `floor`. A share rises from 0 to 1 around the threshold, over
    /// `softness` times the threshold found last.
    pub(crate) fn update(&mut self, num_merges: usize, floor: f32, softness: f32) {
        let slope = softness * self.threshold.max(floor).max(1.0);
        self.threshold = threshold(&self.losses, num_merges, slope, floor);
        for (share, &loss) in self.of_strings.iter_mut().zip(&self.losses) {
            *share = ramp((loss - self.threshold) / slope);
        }
    }

    /// Share out what each string counts to its splits whose loss is near the largest, given where the
    /// splits of each string begin and what each loses, which becomes its share.
    pub(crate) fn share_out(&self, begins: &[u32], splits: &mut [f32], softness: f32) {
        for (string, ends) in begins.windows(2).enumerate() {
            let splits = &mut splits[ends[0] as usize..ends[1] as usize];
            let share = self.of_strings[string];
            if share == 0.0 {
                splits.fill(0.0);
                continue;
            }
            let largest = splits.iter().copied().fold(0.0, f32::max);
            let bottom = largest - softness * self.threshold.max(largest).max(1.0);
            let mut all = 0.0;
            for split in splits.iter_mut() {
                *split = (*split - bottom).max(0.0);
                all += *split;
            }
            for split in splits {
                *split *= share / all;
            }
        }
    }

    /// The shares of spans, with corners smoothed over `width`.
    pub(crate) fn of_spans(&self, width: f32) -> SpanShares<'_> {
        SpanShares {
            strings: &self.of_strings,
            width,
        }
    }
}

/// How much each span counts: as its string does, and 0 if it loses nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanShares<'a> {
    /// The share of each string.
    pub(crate) strings: &'a [f32],
    pub(crate) width: f32,
}

impl SpanShares<'_> {
    /// The share of a span of the string at `string` whose dearest parts cost `excess` more than it.
    pub(crate) fn of(&self, string: usize, excess: f32) -> f32 {
        self.strings[string] * ramp(excess / self.width)
    }
}

/// The threshold at which the shares sum to `num_merges`, but at least `floor`.
fn threshold(losses: &[f32], num_merges: usize, slope: f32, floor: f32) -> f32 {
    let counted = |threshold: f32| {
        let mut sums = [0.0_f32; LANES];
        for chunk in losses.chunks(LANES) {
            for (sum, &loss) in sums.iter_mut().zip(chunk) {
                *sum += ramp((loss - threshold) / slope);
            }
        }
        sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
    };
    let wanted = num_merges as f64;
    let mut low = floor;
    if counted(low) <= wanted {
        return low;
    }
    let mut high = losses.iter().copied().fold(low, f32::max) + slope;
    while high - low > 1e-4 * high {
        let middle = f32::midpoint(low, high);
        if counted(middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_number_of_merges_unless_the_floor_is_too_high() {
        let mut shares = Shares::new(100);
        shares.losses = (0..100_u8).map(f32::from).collect();
        for (num_merges, floor, expected) in [(10, 1.0, 10.0), (10, 95.5, 4.0), (100, 0.0, 100.0)] {
            shares.update(num_merges, floor, 0.01);
            let sum: f32 = shares.of_strings.iter().sum();
            assert!((sum - expected).abs() < 0.51, "{sum} {expected}");
            assert!(shares.threshold >= floor);
            assert!(shares.of_strings.is_sorted());
        }
    }
}
