//! Pieces in sections that take about the same time each, for threads.
//!
//! Where they are cut, and so what is summed up and in which order, does not depend on the number of
//! threads.
//!
//! A section has few of all strings. They have numbers of their own in it: so what a step sums up for them
//! and looks up of them lies together, and what all sections summed up is soon added up.

use std::ops::Range;

use super::words::Words;
use crate::prices::StringIndex;

/// The more sections the better for many threads: at the end of a step some wait for the last sections of
/// others. But each takes a little time of its own.
const MOST_SECTIONS: usize = 128;
/// The smallest number of cuts and symbols that is worth a section.
const LEAST_WORK: usize = 1 << 13;

/// The number of strings whose losses are added up at once.
pub(super) const STRINGS_OF_A_PART: usize = 1 << 8;

/// What stands for a string that a section has not.
const UNKNOWN: u32 = u32::MAX;

/// Some pieces of an instance.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) pieces: Range<usize>,
    pub(super) symbols: Range<usize>,
    pub(super) items: Range<usize>,
    /// What each of its numbers stands for in the instance, in ascending order: strings, then repeats,
    /// which are numbered behind all strings.
    names: Vec<u32>,
    /// Where those of each part of the strings begin, and where the last end.
    parts: Vec<u32>,
    /// Where the splits of each string begin, and where the last end.
    pub(super) begins: Vec<u32>,
}

/// Cut pieces into sections, given the rows of their symbols and which weights are light. Nothing is
/// numbered yet.
pub(super) fn cut(pieces: &Words, reach: &[u8], is_light: impl Fn(u64) -> bool) -> Vec<Section> {
    let work_of = |symbols: Range<usize>, weight: u64| -> usize {
        let rows = reach[symbols].iter();
        rows.map(|&reach| work_of_row(reach, is_light(weight)))
            .sum()
    };
    let symbols = |piece: usize| -> Range<usize> {
        let before = piece.checked_sub(1).map_or(0, |before| pieces.ends[before]);
        before..pieces.ends[piece]
    };
    let num_pieces = pieces.ends.len();
    let all = (0..num_pieces).map(|piece| work_of(symbols(piece), pieces.counts[piece]));
    let share = (all.clone().sum::<usize>() / MOST_SECTIONS).max(LEAST_WORK);
    let mut sections = Vec::new();
    let (mut work, mut first, mut first_symbol, mut first_item) = (0, 0, 0, 0);
    for (piece, of_piece) in all.enumerate() {
        work += of_piece;
        if work >= share || piece + 1 == num_pieces {
            let symbols = first_symbol..pieces.ends[piece];
            let rows = reach[symbols.clone()].iter();
            let num_items: usize = rows.map(|&reach| usize::from(reach)).sum();
            sections.push(Section {
                pieces: first..piece + 1,
                items: first_item..first_item + num_items,
                symbols: symbols.clone(),
                ..Section::default()
            });
            (work, first, first_symbol) = (0, piece + 1, symbols.end);
            first_item += num_items;
        }
    }
    sections
}

/// About how much work a symbol with this reach is in a step: the cuts of its spans.
fn work_of_row(reach: u8, by_symbol: bool) -> usize {
    let reach = usize::from(reach);
    if by_symbol {
        reach
    } else {
        reach + reach * (reach - 1) / 2
    }
}

impl Section {
    /// Number the strings of its items, and some repeats, by their names. It is told where the splits of
    /// all strings begin and where the last end, and how many repeats there are.
    pub(super) fn number(
        &mut self,
        items: &mut [StringIndex],
        repeats: impl Iterator<Item = usize>,
        begins: &[u32],
        num_repeats: usize,
    ) {
        let num_strings = begins.len() - 1;
        let mut numbers = vec![UNKNOWN; num_strings + num_repeats];
        let is_string = |string: &&mut StringIndex| **string != StringIndex::NONE;
        let strings = items.iter_mut().filter(is_string).map(|string| string.at());
        for name in strings.chain(repeats.map(|repeat| num_strings + repeat)) {
            numbers[name] = 0;
        }
        let mut num_splits = 0;
        self.begins.push(num_splits);
        for (name, number) in numbers.iter_mut().enumerate() {
            if name % STRINGS_OF_A_PART == 0 {
                self.parts.push(self.names.len() as u32);
            }
            if *number == UNKNOWN {
                continue;
            }
            *number = self.names.len() as u32;
            self.names.push(name as u32);
            if name < num_strings {
                num_splits += begins[name + 1] - begins[name];
                self.begins.push(num_splits);
            }
        }
        self.parts.push(self.names.len() as u32);
        for string in items.iter_mut().filter(is_string) {
            *string = StringIndex(numbers[string.at()]);
        }
    }

    /// The number of its strings, without repeats.
    pub(super) fn num_strings(&self) -> usize {
        self.begins.len() - 1
    }

    /// The number of its strings and repeats.
    pub(super) fn num_losses(&self) -> usize {
        self.names.len()
    }

    pub(super) fn num_splits(&self) -> usize {
        self.begins[self.num_strings()] as usize
    }

    /// The number of a string or repeat that it has.
    pub(super) fn number_of(&self, name: usize) -> usize {
        self.names.partition_point(|&other| (other as usize) < name)
    }

    /// What a number stands for in the instance; `NONE` for none.
    pub(super) fn name(&self, string: StringIndex) -> StringIndex {
        match string {
            StringIndex::NONE => string,
            string => StringIndex(self.names[string.at()]),
        }
    }

    /// The same for some items.
    pub(super) fn names<'n>(
        &self,
        strings: &[StringIndex],
        names: &'n mut Vec<StringIndex>,
    ) -> &'n [StringIndex] {
        names.clear();
        names.extend(strings.iter().map(|&string| self.name(string)));
        names
    }

    /// Find what is known of its strings and repeats, given what is known of all.
    pub(super) fn look_up(&self, all: &[f32], own: &mut Vec<f32>) {
        own.clear();
        own.extend(self.names.iter().map(|&name| all[name as usize]));
    }

    /// The same of its splits, given where those of all strings begin.
    pub(super) fn look_up_splits<T: Copy>(&self, begins: &[u32], all: &[T], own: &mut Vec<T>) {
        own.clear();
        for &name in &self.names[..self.num_strings()] {
            let [start, end] = [name, name + 1].map(|at| begins[at as usize] as usize);
            own.extend(&all[start..end]);
        }
    }

    /// Add what is known of its strings and repeats in a part to the sums of that part.
    pub(super) fn add_up(&self, part: usize, own: &[f32], sums: &mut [f32]) {
        let first = part * STRINGS_OF_A_PART;
        let part = self.parts[part] as usize..self.parts[part + 1] as usize;
        for (&name, number) in self.names[part.clone()].iter().zip(&own[part]) {
            sums[name as usize - first] += number;
        }
    }

    /// The same of the splits in a part, given where those of its strings begin, and the last end.
    pub(super) fn add_up_splits(&self, part: usize, begins: &[u32], own: &[f32], sums: &mut [f32]) {
        let first = part * STRINGS_OF_A_PART;
        let end = self.num_strings().min(self.parts[part + 1] as usize);
        for number in self.parts[part] as usize..end {
            let own = &own[self.begins[number] as usize..self.begins[number + 1] as usize];
            let start = begins[self.names[number] as usize - first] - begins[0];
            for (sum, number) in sums[start as usize..].iter_mut().zip(own) {
                *sum += number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Dice;

    const NUM_STRINGS: usize = 3 * STRINGS_OF_A_PART - 7;
    const NUM_REPEATS: usize = 30;

    #[test]
    fn sections_are_of_all_pieces_in_their_order() {
        let mut dice = Dice(5);
        let mut pieces = Words::default();
        for _ in 0..4000 {
            let piece: Vec<u32> = (0..2 + dice.below(9)).map(|_| 0).collect();
            pieces.push(&piece, 1 + dice.below(3));
        }
        let symbols = pieces.symbols.iter();
        let reach: Vec<u8> = symbols.map(|_| 1 + dice.below(20) as u8).collect();
        let sections = cut(&pieces, &reach, |weight| weight == 1);
        assert!(sections.len() > 8 && sections.len() <= MOST_SECTIONS + 1);
        let mut ends = [0; 3];
        for section in &sections {
            let Section {
                pieces: ours,
                symbols,
                items,
                ..
            } = section;
            assert_eq!([ours.start, symbols.start, items.start], ends);
            assert_eq!(symbols.end, pieces.ends[ours.end - 1]);
            let rows = reach[symbols.clone()].iter();
            let num_items: usize = rows.map(|&reach| usize::from(reach)).sum();
            assert_eq!(items.len(), num_items);
            ends = [ours.end, symbols.end, items.end];
        }
        assert_eq!(ends[..2], [pieces.ends.len(), pieces.symbols.len()]);
    }

    /// Where splits begin, and a section with its items by the numbers of the instance and by its own.
    fn numbered(dice: &mut Dice) -> (Vec<u32>, Section, Vec<StringIndex>, Vec<StringIndex>) {
        let mut begins = vec![0];
        for string in 0..NUM_STRINGS {
            begins.push(begins[string] + 1 + string as u32 % 4);
        }
        let mut string = |at: u32| match at % 5 {
            0 => StringIndex::NONE,
            _ => StringIndex(dice.below(NUM_STRINGS as u64) as u32),
        };
        let strings: Vec<StringIndex> = (0..500).map(&mut string).collect();
        let mut items = strings.clone();
        let mut section = Section::default();
        section.number(
            &mut items,
            (0..NUM_REPEATS).step_by(3),
            &begins,
            NUM_REPEATS,
        );
        (begins, section, strings, items)
    }

    #[test]
    fn numbers_of_sections_have_names() {
        let (_, section, strings, items) = numbered(&mut Dice(6));
        assert_eq!(section.names(&items, &mut Vec::new()), strings);
        assert!(section.num_strings() < NUM_STRINGS);
        for repeat in (0..NUM_REPEATS).step_by(3) {
            let number = section.number_of(NUM_STRINGS + repeat);
            assert!(number >= section.num_strings());
            assert_eq!(section.names[number] as usize, NUM_STRINGS + repeat);
        }
    }

    #[test]
    fn what_sections_have_is_added_up_as_it_is_looked_up() {
        let mut dice = Dice(7);
        let (mut sums, mut split_sums) = (vec![0.0; NUM_STRINGS + NUM_REPEATS], Vec::new());
        let (mut expected, mut expected_of_splits) = (0.0, 0.0);
        let (mut found, mut found_of_splits) = (0.0, 0.0);
        for _ in 0..3 {
            let (begins, section, ..) = numbered(&mut dice);
            let num_splits = begins[NUM_STRINGS] as usize;
            split_sums.resize(num_splits, 0.0);
            // Its name is known of each.
            let all: Vec<f32> = (0..sums.len()).map(|name| name as f32).collect();
            let all_splits: Vec<f32> = (0..num_splits).map(|name| name as f32).collect();
            let (mut own, mut own_splits) = (Vec::new(), Vec::new());
            section.look_up(&all, &mut own);
            section.look_up_splits(&begins, &all_splits, &mut own_splits);
            assert_eq!(
                [own.len(), own_splits.len()],
                [section.num_losses(), section.num_splits()]
            );
            expected += own.iter().sum::<f32>();
            expected_of_splits += own_splits.iter().sum::<f32>();
            for (part, sums) in sums.chunks_mut(STRINGS_OF_A_PART).enumerate() {
                section.add_up(part, &own, sums);
                let first = part * STRINGS_OF_A_PART;
                if first < NUM_STRINGS {
                    let begins = &begins[first..=NUM_STRINGS.min(first + STRINGS_OF_A_PART)];
                    let splits = begins[0] as usize..begins[begins.len() - 1] as usize;
                    section.add_up_splits(part, begins, &own_splits, &mut split_sums[splits]);
                }
            }
        }
        // What is known was added to the sums of that name, once for each section that has it.
        for (sums, found) in [(&sums, &mut found), (&split_sums, &mut found_of_splits)] {
            for (name, sum) in sums.iter().enumerate().skip(1) {
                let times = sum / name as f32;
                assert!([0.0, 1.0, 2.0, 3.0].contains(&times));
            }
            *found = sums.iter().sum::<f32>();
        }
        assert!(
            (found - expected).abs() < 1.0 && (found_of_splits - expected_of_splits).abs() < 1.0
        );
    }
}
