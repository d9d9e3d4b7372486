//! Pieces in which only symbols have prices.
//!
//! The loss of a span is what its symbols cost more than 1; a span that counts pulls all of its
//! symbols down. Against merges no span loses more than 1: that one pulls no longer.

use std::ops::Range;

use crate::prices::{SpanShares, StringIndex};

/// Call `visit(symbols, item, excess)` for each span of two symbols or more that cost more than
/// `1 + beyond`: its symbols and its item, counted from the first of the piece, and what they cost
/// more than 1. Spans that begin with one that costs more than `1 + most` are left out.
///
/// Without its first symbol a span costs more only if that has a negative price. So the shortest such
/// span of a symbol ends no earlier than that of the symbol before, and shorter ones need no look.
#[inline]
pub(super) fn for_each_excess(
    rows: &[u32],
    prices: &[f32],
    beyond: f32,
    most: f32,
    mut visit: impl FnMut(Range<usize>, usize, f32),
) {
    let beyond = f64::from(beyond);
    // What the symbols from the present one to `end` cost more than 1.
    let (mut end, mut sum) = (0, -1.0);
    for (start, ends) in rows.windows(2).enumerate() {
        let last = start + (ends[1] - ends[0]) as usize;
        while end < last && (end < start + 2 || sum <= beyond) {
            sum += f64::from(prices[end]);
            end += 1;
        }
        if end >= start + 2 && end <= last && sum > beyond {
            let item = (ends[0] - rows[0]) as usize + end - start - 1;
            let mut excess = sum as f32;
            for (item, end) in (item..).zip(end..=last) {
                if excess > most {
                    break;
                }
                if f64::from(excess) > beyond {
                    visit(start..end, item, excess);
                }
                excess += prices.get(end).copied().unwrap_or(0.0);
            }
        }
        if prices[start] >= 0.0 && end > start + 1 {
            sum -= f64::from(prices[start]);
        } else {
            (end, sum) = (start + 1, -1.0);
        }
    }
}

/// What the symbols of each span cost more than 1, at most `most`, for all items of a piece.
pub(super) fn find_excess(rows: &[u32], prices: &[f32], most: f32, excess: &mut Vec<f32>) {
    excess.clear();
    excess.resize((rows[rows.len() - 1] - rows[0]) as usize, f32::NEG_INFINITY);
    for_each_excess(
        rows,
        prices,
        f32::NEG_INFINITY,
        f32::INFINITY,
        |_, item, found| {
            excess[item] = found.min(most);
        },
    );
}

/// The pulls on the prices. `excess_of(item, excess)` is what counts of the excess of a span, and `most`
/// the most that one loses.
#[inline]
pub(super) fn pull(
    rows: &[u32],
    strings: &[StringIndex],
    prices: &[f32],
    excess_of: impl Fn(usize, f32) -> f32,
    shares: SpanShares,
    most: f32,
    pulls: &mut Vec<f32>,
) {
    pulls.clear();
    pulls.resize(rows.len(), 0.0);
    // First the differences from symbol to symbol, then their sums.
    pulls[0] = 1.0;
    for_each_excess(
        rows,
        prices,
        -shares.width / 2.0,
        most,
        |span, item, excess| {
            let share = shares.of(strings[item].at(), excess_of(item, excess));
            pulls[span.start] -= share;
            pulls[span.end] += share;
        },
    );
    let mut sum = 0.0;
    for pull in pulls {
        sum += *pull;
        *pull = sum;
    }
}

/// Lower prices whose sum is larger than `most`.
pub(super) fn keep_below(prices: &mut [f32], most: f32) {
    let sum: f32 = prices.iter().map(|price| price.max(0.0)).sum();
    if sum > most {
        let scale = most / sum;
        for price in prices {
            *price = price.max(0.0) * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Dice;
    use crate::prices::Shares;

    #[test]
    fn spans_that_cost_more_are_found_whatever_the_prices() {
        let mut dice = Dice(7);
        let (beyond, most) = (-0.125, 1.0);
        for round in 0..200 {
            // Eighths, so that sums are exact; in every other round some are negative.
            let lowest = if round % 2 == 0 { 0 } else { 4 };
            let mut eighths = || dice.below(9 + lowest) as i16 - lowest as i16;
            let prices: Vec<f32> = (0..12).map(|_| f32::from(eighths()) / 8.0).collect();
            let mut rows = vec![0];
            for start in 0..12 {
                rows.push(rows[start] + 1 + dice.below(12 - start as u64) as u32);
            }
            let mut expected = Vec::new();
            for (start, ends) in rows.windows(2).enumerate() {
                for (length, item) in (1..).zip(ends[0]..ends[1]).skip(1) {
                    let excess = prices[start..start + length].iter().sum::<f32>() - 1.0;
                    if excess > most {
                        break;
                    }
                    if excess > beyond {
                        expected.push((start..start + length, item as usize, excess));
                    }
                }
            }
            let mut found = Vec::new();
            for_each_excess(&rows, &prices, beyond, most, |span, item, excess| {
                found.push((span, item, excess));
            });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn spans_that_lose_the_most_pull_no_longer() {
        // Four symbols of price 3/4, whose spans of two lose 1/2 and of three 5/4.
        let (rows, prices) = ([0, 4, 7, 9, 10], [0.75; 4]);
        let strings = [StringIndex(0); 10];
        let mut excess = Vec::new();
        find_excess(&rows, &prices, 1.0, &mut excess);
        let of_first: Vec<f32> = excess[1..4].to_vec();
        assert_eq!(of_first, [0.5, 1.0, 1.0]);
        let mut shares = Shares::new(1);
        shares.losses = vec![9.0];
        shares.update(1, 1.0, 0.1);
        let all = |_, excess| excess;
        let mut pulls = Vec::new();
        for (most, expected) in [
            (1.0, [0.0, -1.0, -1.0, 0.0]),
            (f32::INFINITY, [-2.0, -4.0, -4.0, -2.0]),
        ] {
            pull(
                &rows,
                &strings,
                &prices,
                all,
                shares.of_spans(0.01),
                most,
                &mut pulls,
            );
            assert_eq!(pulls[..4], expected);
        }
    }
}
