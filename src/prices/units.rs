//! Prices and bounds in integers: in units of which the price 1 has a power of two.

/// The lowest price, in units: so low that it does not matter, and no sum of prices overflows.
const LOWEST: i64 = -(1 << 30);

/// The price nearest to `exact`, both in units of 1 / `one`.
pub(crate) fn round_price(exact: f64, one: i64) -> i64 {
    (exact.round() as i64).clamp(LOWEST, one)
}

/// What an amount in units of 1 / 2^`bits` allows in whole tokens.
pub(crate) fn whole_tokens(amount: i128, bits: u32) -> u64 {
    u64::try_from(amount.max(0) >> bits).unwrap_or(u64::MAX)
}

/// The sum of the `num_merges` largest losses, each taken as `floor` at least; and the smallest of
/// these.
pub(crate) fn largest_losses(
    mut losses: Vec<i128>,
    num_merges: usize,
    floor: i128,
) -> (i128, i128) {
    let num_counted = num_merges.min(losses.len());
    if num_counted < losses.len() {
        losses.select_nth_unstable_by(num_counted, |a, b| b.cmp(a));
    }
    let counted = losses[..num_counted].iter().map(|&loss| loss.max(floor));
    let num_others = num_merges - num_counted;
    let smallest = match num_others {
        0 => counted.clone().min().unwrap_or(floor),
        _ => floor,
    };
    (counted.sum::<i128>() + num_others as i128 * floor, smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_losses_are_summed_with_a_floor() {
        for (num_merges, floor, expected) in [
            (0, 4, (0, 4)),
            (1, 4, (9, 9)),
            (2, 4, (16, 7)),
            (3, 4, (20, 4)),
            (5, 4, (28, 4)),
            (3, 0, (19, 3)),
            (5, 2, (23, 2)),
        ] {
            assert_eq!(
                largest_losses(vec![1, 7, 3, 9], num_merges, floor),
                expected
            );
        }
    }

    #[test]
    fn bounds_are_rounded_down() {
        assert_eq!(whole_tokens((3 << 4) - 1, 4), 2);
        assert_eq!(whole_tokens(-1, 4), 0);
        assert_eq!(whole_tokens(i128::MAX, 4), u64::MAX);
        assert_eq!(
            [7.6, 20.0, -1e30].map(|price| round_price(price, 16)),
            [8, 16, LOWEST]
        );
    }
}
