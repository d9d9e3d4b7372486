//! Pieces in which only symbols have prices.
//!
//! The loss of a span is what its symbols cost more than 1; a span that counts pulls all of its
//! symbols down. Against merges no span loses more than 1: that one pulls no longer.
//!
//! Spans are looked for once in a step, and listed: when it is known how much each string counts, they pull from
//! the list.

use std::ops::Range;

use crate::prices::{SpanShares, StringIndex, ramp};

/// A span whose symbols cost more than it may, in a list of those of many pieces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DearSpan {
    /// Where the prices of its symbols are.
    start: u32,
    end: u32,
    pub(super) string: StringIndex,
    /// What its symbols cost more than 1.
    pub(super) excess: f32,
}

/// Call `visit(symbols, item, excess)` for each span of two symbols or more that cost more than
/// `1 + beyond`: its symbols and its item, counted from the first of the piece, and what they cost
/// more than 1.
///
/// Without its first symbol a span costs more only if that has a negative price. So the shortest such
/// span of a symbol ends no earlier than that of the symbol before, and shorter ones need no look.
#[inline]
fn for_each_excess(
    rows: &[u32],
    prices: &[f32],
    beyond: f32,
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

/// List the spans of a piece that cost more than `1 + beyond`, given where its prices begin.
pub(super) fn list(
    rows: &[u32],
    strings: &[StringIndex],
    prices: &[f32],
    first_price: u32,
    beyond: f32,
    dear: &mut Vec<DearSpan>,
) {
    for_each_excess(rows, prices, beyond, |symbols, item, excess| {
        dear.push(DearSpan {
            start: first_price + symbols.start as u32,
            end: first_price + symbols.end as u32,
            string: strings[item],
            excess,
        });
    });
}

/// What the symbols of each span cost more than 1, at most `most`, for all items of a piece.
pub(super) fn find_excess(rows: &[u32], prices: &[f32], most: f32, excess: &mut Vec<f32>) {
    excess.clear();
    excess.resize((rows[rows.len() - 1] - rows[0]) as usize, f32::NEG_INFINITY);
    for_each_excess(rows, prices, f32::NEG_INFINITY, |_, item, found| {
        excess[item] = found.min(most);
    });
}

/// Set the excess of the listed spans of a piece to what counts of it, given that of all items.
pub(super) fn set_excess(rows: &[u32], first_price: u32, of_items: &[f32], dear: &mut [DearSpan]) {
    for span in dear {
        let row = rows[(span.start - first_price) as usize] - rows[0];
        span.excess = of_items[(row + span.end - span.start - 1) as usize];
    }
}

/// The pulls on the prices of a piece, given where these are, and the listed spans of the piece and of those
/// behind it. `most` is the most that a span loses. Returns the spans of the pieces behind it.
pub(super) fn pull<'d>(
    prices: Range<usize>,
    mut dear: &'d [DearSpan],
    shares: SpanShares,
    most: f32,
    pulls: &mut Vec<f32>,
) -> &'d [DearSpan] {
    pulls.clear();
    pulls.resize(prices.len() + 1, 0.0);
    // First the differences from symbol to symbol, then their sums.
    pulls[0] = 1.0;
    let steepness = 1.0 / shares.width;
    while let Some((span, behind)) = dear.split_first() {
        let [start, end] = [span.start, span.end].map(|at| at as usize);
        if start >= prices.end {
            break;
        }
        let share = shares.strings[span.string.at()];
        if share > 0.0 && span.excess < most {
            let share = share * ramp(span.excess * steepness);
            pulls[start - prices.start] -= share;
            pulls[end - prices.start] += share;
        }
        dear = behind;
    }
    let mut sum = 0.0;
    for pull in pulls {
        sum += *pull;
        *pull = sum;
    }
    dear
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
    fn spans_that_cost_more_are_listed_whatever_the_prices() {
        let mut dice = Dice(7);
        let (beyond, first_price) = (-0.125, 5);
        for round in 0..200 {
            // Eighths, so that sums are exact; in every other round some are negative.
            let lowest = if round % 2 == 0 { 0 } else { 4 };
            let mut eighths = || dice.below(9 + lowest) as i16 - lowest as i16;
            let prices: Vec<f32> = (0..12).map(|_| f32::from(eighths()) / 8.0).collect();
            let mut rows = vec![3];
            for start in 0..12 {
                rows.push(rows[start] + 1 + dice.below(12 - start as u64) as u32);
            }
            let strings: Vec<StringIndex> = (0..rows[12] - 3).map(StringIndex).collect();
            let mut expected = Vec::new();
            for (start, ends) in rows.windows(2).enumerate() {
                for (length, item) in (1..).zip(ends[0] - 3..ends[1] - 3).skip(1) {
                    let excess = prices[start..start + length].iter().sum::<f32>() - 1.0;
                    if excess > beyond {
                        expected.push(DearSpan {
                            start: first_price + start as u32,
                            end: first_price + (start + length) as u32,
                            string: StringIndex(item),
                            excess,
                        });
                    }
                }
            }
            let mut found = Vec::new();
            list(&rows, &strings, &prices, first_price, beyond, &mut found);
            assert_eq!(found, expected);
            let mut of_items = Vec::new();
            find_excess(&rows, &prices, 0.5, &mut of_items);
            set_excess(&rows, first_price, &of_items, &mut found);
            for (span, expected) in found.iter().zip(&expected) {
                let excess = expected.excess.min(0.5);
                assert_eq!(
                    *span,
                    DearSpan {
                        excess,
                        ..*expected
                    }
                );
            }
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
        // Two pieces: the spans of the second are left for it.
        let mut dear = Vec::new();
        for first_price in [7, 11] {
            list(&rows, &strings, &prices, first_price, 0.0, &mut dear);
        }
        let mut pulls = Vec::new();
        for (most, expected) in [
            (1.0, [0.0, -1.0, -1.0, 0.0]),
            (f32::INFINITY, [-2.0, -4.0, -4.0, -2.0]),
        ] {
            let mut left = dear.as_slice();
            for prices in [7..11, 11..15] {
                left = pull(prices, left, shares.of_spans(0.01), most, &mut pulls);
                assert_eq!(pulls[..4], expected);
            }
            assert_eq!(left, []);
        }
        // What counts of the excess of spans that overlap is at most the most.
        let of_both = dear.len();
        set_excess(&rows, 7, &excess, &mut dear[..of_both / 2]);
        pull(7..11, &dear, shares.of_spans(0.01), 1.0, &mut pulls);
        assert_eq!(pulls[..4], [0.0, -1.0, -1.0, 0.0]);
    }
}
