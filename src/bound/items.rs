//! The items of symbols: each symbol's row of the strings that begin there.

use std::cmp::Reverse;

use super::frequent::FrequentStrings;
use crate::error::Result;
use crate::parallel::{Team, concatenated};
use crate::prices::StringIndex;

/// The number of symbols whose rows one thread fills at once.
const SYMBOLS_OF_A_PART: usize = 1 << 14;

/// Number the strings of all lengths, two symbols first, as one: those with the most places first, so that
/// what a step looks up most often lies together. Returns for each the symbol at which it begins somewhere,
/// and its length.
pub(super) fn number(lengths: &mut [FrequentStrings], team: &Team) -> Result<Vec<(u32, u8)>> {
    let mut order: Vec<(Reverse<u32>, usize, usize)> = Vec::new();
    for (index, strings) in lengths.iter().enumerate() {
        let num_places = strings.num_places.iter().enumerate();
        order.extend(num_places.map(|(string, &number)| (Reverse(number), index, string)));
    }
    order.sort_unstable();
    let unknown = |strings: &FrequentStrings| vec![StringIndex::NONE; strings.num_strings()];
    let mut numbers: Vec<_> = lengths.iter().map(unknown).collect();
    let mut places = Vec::with_capacity(order.len());
    for (number, (_, index, string)) in (0..).zip(order) {
        numbers[index][string] = StringIndex(number);
        places.push((lengths[index].first_places[string], index as u8 + 2));
    }
    let mut renamed: Vec<_> = lengths.iter_mut().zip(numbers).collect();
    team.with_each(&mut renamed, |(length, numbers)| {
        for string in &mut length.strings {
            *string = numbers[string.at()];
        }
        Ok(())
    })?;
    Ok(places)
}

/// The items, row after row, given the length of each row. The strings of two symbols, of three and so on
/// come from left to right.
pub(super) fn fill(
    reach: &[u8],
    lengths: &[FrequentStrings],
    team: &Team,
) -> Result<Vec<StringIndex>> {
    let parts: Vec<&[u8]> = reach.chunks(SYMBOLS_OF_A_PART).collect();
    // How many strings of each length begin in each part, then in all parts before.
    let mut before = team.map(parts.len(), |part| {
        let mut numbers = vec![0; lengths.len()];
        for &reach in parts[part] {
            for number in &mut numbers[..usize::from(reach) - 1] {
                *number += 1;
            }
        }
        Ok(numbers)
    })?;
    let mut sums = vec![0; lengths.len()];
    for numbers in &mut before {
        for (number, sum) in numbers.iter_mut().zip(&mut sums) {
            let own = std::mem::replace(number, *sum);
            *sum += own;
        }
    }
    let rows = team.map(parts.len(), |part| {
        let strings = lengths.iter().zip(&before[part]);
        let mut strings: Vec<_> = strings
            .map(|(length, &before)| length.strings[before..].iter())
            .collect();
        let num_items = parts[part].iter().map(|&reach| usize::from(reach)).sum();
        let mut items = Vec::with_capacity(num_items);
        for &reach in parts[part] {
            items.push(StringIndex::NONE);
            let longer = strings.iter_mut().take(usize::from(reach) - 1);
            items.extend(longer.map(|next| next.next().copied().unwrap_or(StringIndex::NONE)));
        }
        Ok(items.into_iter())
    })?;
    Ok(concatenated(rows, team))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Dice;
    use crate::parallel::with_team;

    /// Strings of one length at the places of symbols that have rows so long.
    fn strings(dice: &mut Dice, reach: &[u8], length: u8) -> FrequentStrings {
        let places = (0..).zip(reach).filter(|(_, reach)| **reach >= length);
        let mut same = FrequentStrings {
            places: places.map(|(place, _)| place).collect(),
            ..FrequentStrings::default()
        };
        for &place in &same.places {
            let known = same.first_places.len() as u64;
            let string = dice.below((known + 1).min(50)) as u32;
            if u64::from(string) == known {
                same.first_places.push(place);
                same.num_places.push(0);
            }
            same.num_places[string as usize] += 1;
            same.strings.push(StringIndex(string));
        }
        same
    }

    #[test]
    fn rows_have_the_strings_of_all_lengths_and_the_most_frequent_come_first() {
        let mut dice = Dice(2);
        let num_symbols = 2 * SYMBOLS_OF_A_PART + 5;
        let reach: Vec<u8> = (0..num_symbols).map(|_| 1 + dice.below(4) as u8).collect();
        let before: Vec<_> = (2..=4).map(|l| strings(&mut dice, &reach, l)).collect();
        let mut lengths = before.clone();
        let (places, items) = with_team(3, |team| {
            let places = number(&mut lengths, team).expect("nothing fails");
            (places, fill(&reach, &lengths, team).expect("nothing fails"))
        });
        let mut num_places = vec![0; places.len()];
        let mut next = [0; 3];
        let mut items = items.into_iter();
        for &reach in &reach {
            assert_eq!(items.next(), Some(StringIndex::NONE));
            for index in 0..usize::from(reach) - 1 {
                let string = items.next().expect("a whole row").at();
                let own = before[index].strings[next[index]].at();
                let first = before[index].first_places[own];
                assert_eq!(places[string], (first, index as u8 + 2));
                num_places[string] += 1;
                next[index] += 1;
            }
        }
        assert_eq!(items.next(), None);
        assert!(num_places.is_sorted_by(|more, fewer| more >= fewer));
    }
}
