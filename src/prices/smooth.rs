//! Functions with a corner, smoothed.

/// From 0 to 1 as x goes from -1/2 to 1/2.
#[inline]
pub(crate) fn ramp(x: f32) -> f32 {
    (x + 0.5).clamp(0.0, 1.0)
}

/// The positive part of x, its corner smoothed over `width`: the integral of the ramp.
#[inline]
pub(crate) fn smooth_plus(x: f32, width: f32) -> f32 {
    let inside = (x + width * 0.5).clamp(0.0, width);
    // For x beyond the corner, inside is the width, and the sum is x. One division is enough for many x.
    inside * inside * (0.5 / width) + (x - width * 0.5).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_the_smoothed_positive_part_is_the_ramp() {
        let (width, step) = (0.5, 1.0 / 64.0);
        for index in -64..64_i16 {
            let x = f32::from(index) * step;
            let rise = smooth_plus(x + step, width) - smooth_plus(x - step, width);
            assert!((rise / (2.0 * step) - ramp(x / width)).abs() < step / width);
        }
        for (x, expected) in [(-0.25, 0.0), (f32::NEG_INFINITY, 0.0), (0.75, 0.75)] {
            assert!((smooth_plus(x, width) - expected).abs() < f32::EPSILON);
        }
    }
}
