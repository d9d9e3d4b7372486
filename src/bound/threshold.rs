//! How much each string counts: wholly if its loss is among the largest, not at all if not.

use super::smooth::ramp;

const LANES: usize = 8;

/// The threshold at which strings count for `num_merges` in all, but at least `floor`. A string
/// counts from 0 to 1 as its loss goes from half a `slope` below the threshold to half of it above.
pub(super) fn find(losses: &[f32], num_merges: usize, slope: f32, floor: f32) -> f32 {
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
