//! Tokens of one string are disjoint: of overlapping spans only the heaviest disjoint ones count.

use std::ops::Add;

/// The most that disjoint spans of one string weigh, and which of the spans these are. The spans
/// have one length and come from left to right.
pub(crate) fn heaviest_disjoint<S, T>(
    spans: &[S],
    length: u32,
    start: impl Fn(&S) -> u32,
    weigh: impl Fn(&S) -> T,
) -> (T, Vec<bool>)
where
    T: Copy + Default + PartialOrd + Add<Output = T>,
{
    // best[i]: of the first i spans. before[i]: how many end where span i begins, or earlier.
    let mut best: Vec<T> = Vec::with_capacity(spans.len() + 1);
    best.push(T::default());
    let mut before: Vec<usize> = Vec::with_capacity(spans.len());
    let mut free = 0;
    for (index, span) in spans.iter().enumerate() {
        while start(&spans[free]) + length <= start(span) {
            free += 1;
        }
        before.push(free);
        let (with, without) = (best[free] + weigh(span), best[index]);
        best.push(if with > without { with } else { without });
    }
    let mut is_chosen = vec![false; spans.len()];
    let mut index = spans.len();
    while index > 0 {
        if best[index] > best[index - 1] {
            is_chosen[index - 1] = true;
            index = before[index - 1];
        } else {
            index -= 1;
        }
    }
    (best[spans.len()], is_chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_choice_of_disjoint_spans_is_heavier() {
        let spans: Vec<(u32, u32)> = vec![(0, 3), (1, 5), (2, 3), (4, 0), (5, 2), (6, 9), (8, 8)];
        for length in 1..5 {
            let chosen_in = |set: u32| {
                let spans = spans.iter().enumerate();
                let chosen = spans.filter(move |&(index, _)| set >> index & 1 == 1);
                chosen.map(|(_, &span)| span).collect::<Vec<_>>()
            };
            let is_disjoint =
                |chosen: &Vec<(u32, u32)>| chosen.windows(2).all(|w| w[0].0 + length <= w[1].0);
            let sum = |chosen: &Vec<(u32, u32)>| chosen.iter().map(|span| span.1).sum::<u32>();
            let sets = (0..1 << spans.len()).map(chosen_in).filter(is_disjoint);
            let most = sets.map(|chosen| sum(&chosen)).max();

            let (weight, is_chosen) =
                heaviest_disjoint(&spans, length, |span| span.0, |span| span.1);
            assert_eq!(Some(weight), most);
            let set = (0..)
                .zip(is_chosen)
                .map(|(i, chosen)| u32::from(chosen) << i);
            let chosen = chosen_in(set.sum());
            assert!(is_disjoint(&chosen) && sum(&chosen) == weight, "{chosen:?}");
        }
    }
}
