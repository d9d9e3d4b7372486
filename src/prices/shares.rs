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

/// The next threshold is first looked for where it differs from the last by at most this part.
const NEAR: f32 = 0.1;

/// At first it is looked for within this part of that from the last.
const NEAREST: f32 = 1.0 / 64.0;

/// A threshold is found up to this part of it.
const NARROW: f32 = 1e-4;

/// In place of the loss of a string that counts for certain, and of one that does not.
pub(crate) const CERTAIN: f32 = f32::MAX;
pub(crate) const NEVER: f32 = f32::NEG_INFINITY;

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
        let outlook = self.outlook(floor, softness);
        let near = outlook.near(&self.losses);
        self.find_threshold(&[near], num_merges, outlook);
        let threshold = self.threshold;
        for mut part in self.parts(usize::MAX) {
            part.update(threshold, outlook);
        }
    }

    /// Where the next threshold is looked for; see [`update`](Self::update).
    pub(crate) fn outlook(&self, floor: f32, softness: f32) -> Outlook {
        Outlook {
            floor,
            low: floor.max(self.threshold * (1.0 - NEAR)),
            high: if self.threshold > 0.0 {
                floor.max(self.threshold) * (1.0 + NEAR)
            } else {
                f32::INFINITY
            },
            slope: softness * self.threshold.max(floor).max(1.0),
        }
    }

    /// Find the threshold, given the losses that are near it, in parts. All threads wait for this.
    pub(crate) fn find_threshold(&mut self, near: &[Near], num_merges: usize, outlook: Outlook) {
        let Outlook {
            floor,
            low,
            high,
            slope,
        } = outlook;
        let open: Vec<&[f32]> = near.iter().map(|near| near.open.as_slice()).collect();
        let open = open.concat();
        let num_above: usize = near.iter().map(|near| near.num_above).sum();
        let wanted = num_merges as f64;
        let last = self.threshold;
        let found = threshold(&open, wanted - num_above as f64, slope, low, high, last);
        self.threshold = if found < high && (found > low || low <= floor) {
            found
        } else {
            threshold(&self.losses, wanted, slope, floor, f32::INFINITY, last)
        };
    }

    /// The strings in parts of `len`, each for one thread.
    pub(crate) fn parts(&mut self, len: usize) -> impl Iterator<Item = Part<'_>> {
        let shares = self.of_strings.chunks_mut(len);
        let losses = self.losses.chunks_mut(len);
        losses
            .zip(shares)
            .map(|(losses, shares)| Part { losses, shares })
    }

    /// The shares of spans, with corners smoothed over `width`.
    pub(crate) fn of_spans(&self, width: f32) -> SpanShares<'_> {
        SpanShares {
            strings: &self.of_strings,
            width,
        }
    }
}

/// Where a threshold is looked for: near the last one, if there is one there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    floor: f32,
    low: f32,
    high: f32,
    slope: f32,
}

impl Outlook {
    /// Those of some losses whose shares depend on where the threshold is.
    pub(crate) fn near(&self, losses: &[f32]) -> Near {
        let mut near = Near::default();
        for &loss in losses {
            if loss >= self.high + self.slope * 0.5 {
                near.num_above += 1;
            } else if loss > self.low - self.slope * 0.5 {
                near.open.push(loss);
            }
        }
        near
    }
}

/// Losses near the threshold.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// The number of those that count wholly wherever it is.
    num_above: usize,
    /// Those that may count.
    open: Vec<f32>,
}

/// Some of the strings.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) losses: &'a mut [f32],
    pub(crate) shares: &'a mut [f32],
}

impl Part<'_> {
    /// Find the shares that belong to the losses, given the threshold.
    pub(crate) fn update(&mut self, threshold: f32, outlook: Outlook) {
        for (share, &loss) in self.shares.iter_mut().zip(&*self.losses) {
            *share = ramp((loss - threshold) / outlook.slope);
        }
    }
}

/// Share out what a string counts to its splits whose loss is near the largest, given what each loses,
/// which becomes its share.
pub(crate) fn share_out(share: f32, splits: &mut [f32], threshold: f32, softness: f32) {
    if share == 0.0 {
        splits.fill(0.0);
        return;
    }
    let largest = splits.iter().copied().fold(0.0, f32::max);
    let bottom = largest - softness * threshold.max(largest).max(1.0);
    let mut all = 0.0;
    for split in splits.iter_mut() {
        *split = (*split - bottom).max(0.0);
        all += *split;
    }
    for split in splits {
        *split *= share / all;
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
    #[inline]
    pub(crate) fn of(&self, string: usize, excess: f32) -> f32 {
        self.strings[string] * ramp(excess / self.width)
    }
}

/// The sum of the shares at a threshold.
fn counted(losses: &[f32], threshold: f32, slope: f32) -> f64 {
    let steepness = 1.0 / slope;
    let mut sums = [0.0_f32; LANES];
    let chunks = losses.chunks_exact(LANES);
    let rest = chunks.remainder();
    // Whole chunks apart: so they are added up side by side.
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += ramp((chunk[lane] - threshold) * steepness);
        }
    }
    for (sum, &loss) in sums.iter_mut().zip(rest) {
        *sum += ramp((loss - threshold) * steepness);
    }
    sums.iter().map(|&sum| f64::from(sum)).sum::<f64>()
}

/// The threshold between `low` and `high` at which the shares sum to `wanted`; one of these if it is not
/// between them. The nearer it is to `guess`, the fewer times all losses are looked at.
fn threshold(losses: &[f32], wanted: f64, slope: f32, low: f32, high: f32, guess: f32) -> f32 {
    let too_many_at = |at: f32| counted(losses, at, slope) - wanted;
    let highest = if high == f32::INFINITY {
        // Here only those count that do for certain.
        let unknown = losses.iter().copied().filter(|&loss| loss < CERTAIN);
        unknown.fold(low, f32::max) + slope
    } else {
        high
    };
    // Next to the threshold: where too many count, and where too few do; and by how much.
    let (mut below, mut above) = (None, None);
    let (mut at, mut reach) = (guess.max(low).min(highest), (highest - low) * NEAREST);
    let ((mut low, mut more), (mut high, mut fewer)) = loop {
        let too_many = too_many_at(at);
        if too_many > 0.0 {
            if at >= highest {
                return highest;
            }
            below = Some((at, too_many));
            at = highest.min(at + reach);
        } else {
            if at <= low {
                return low;
            }
            above = Some((at, -too_many));
            at = low.max(at - reach);
        }
        if let (Some(below), Some(above)) = (below, above) {
            break (below, above);
        }
        reach *= 4.0;
    };
    // Where a straight line between the ends has it, a little beyond on the side of the farther end: so
    // that end comes near. In the middle if the last time that left more than half.
    let mut by_line = true;
    while high - low > NARROW * high {
        let (width, narrow) = (high - low, NARROW * high);
        let middle = if by_line {
            let part = (more / (more + fewer)) as f32;
            let beyond = if part < 0.5 { 0.4 } else { -0.4 } * narrow;
            (low + part * width + beyond).clamp(low + 0.1 * narrow, high - 0.1 * narrow)
        } else {
            f32::midpoint(low, high)
        };
        let too_many = too_many_at(middle);
        if too_many > 0.0 {
            (low, more) = (middle, too_many);
        } else {
            (high, fewer) = (middle, -too_many);
        }
        by_line = !by_line || high - low <= 0.5 * width;
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

    #[test]
    fn a_threshold_is_found_where_many_losses_are_equal_or_just_enough_count() {
        let few = [9.0_f32, 9.0, 9.0, 2.0, 2.0, 1e6];
        let many: Vec<f32> = (0..1000_u16)
            .map(|index| f32::from(index % 3) + 5.0)
            .collect();
        for losses in [&few[..], &many] {
            for wanted in [0.0, 1.0, 2.0, 3.0, 4.0, 333.0, 700.0] {
                for slope in [0.002, 0.05, 3.0] {
                    for guess in [0.0, 0.5, 5.01, 6.0, 9.0, 1e9] {
                        let found = threshold(losses, wanted, slope, 0.5, f32::INFINITY, guess);
                        let [above, below] = [1.0 + 2.0 * NARROW, 1.0 - 2.0 * NARROW];
                        assert!(counted(losses, found * above, slope) <= wanted, "{found}");
                        let is_lowest = found <= 0.5;
                        assert!(is_lowest || counted(losses, found * below, slope) >= wanted);
                    }
                }
            }
        }
    }

    #[test]
    fn the_threshold_is_that_of_all_losses_wherever_it_is_looked_for() {
        let mut shares = Shares::new(200);
        for (round, num_merges) in [5_u32, 150, 20, 190, 0, 60].into_iter().enumerate() {
            let scale = [1.0, 9.0, 0.1][round % 3];
            let losses = (0..200_u8).map(|index| f32::from(index ^ 0x55) * scale);
            shares.losses = losses.collect();
            let slope = shares.outlook(0.5, 0.1).slope;
            let expected = threshold(
                &shares.losses,
                f64::from(num_merges),
                slope,
                0.5,
                f32::INFINITY,
                0.5,
            );
            shares.update(num_merges as usize, 0.5, 0.1);
            let error = (shares.threshold - expected).abs();
            assert!(error <= 2e-4 * expected, "{} {expected}", shares.threshold);
        }
    }
}
