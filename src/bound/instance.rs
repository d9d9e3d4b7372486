//! What has prices: pieces of words, and the strings in them.
//!
//! A string of two symbols or more has a price if it occurs more than `floor` times and is not too
//! long; then so has every string in it. Against merges, a piece is a part of a word: words are cut
//! where two neighbours are no pair with a price, and equal pieces are added up. Against
//! vocabularies, a piece is a whole word. The items of a symbol are the symbol itself and the strings
//! with a price that begin there, of the lengths 2, 3, ...; they lie in one row, in this order.

use std::ops::Range;

use super::against::Against;
use super::frequent::FrequentStrings;
use super::items;
use super::light::LightPart;
use super::repeats::{self, Place, Repeats};
use super::sections::{self, Section};
use super::words::Words;
use crate::error::{Error, Result};
use crate::merges::Id;
use crate::parallel::{Team, with_team};
use crate::prices::StringIndex;
use crate::watch::Watch;

/// The length of the longest string that may have a price.
pub const LONGEST: usize = 255;

/// How many cuts of spans are worth their time: for each symbol, and in any case. Where there would
/// be more, the longest strings have no price.
const CUTS_OF_A_SYMBOL: usize = 40;
const ROOM_FOR_CUTS: usize = 20_000_000;
/// So many times that room is worth its time if then every frequent string has a price: one without
/// weakens the bound much, and in words without spaces the longest strings are many, but rare.
const ROOM_FOR_ALL: usize = 2;

/// Symbols and strings are numbered with 32 bits; the last number is `StringIndex::NONE`.
const MOST: usize = u32::MAX as usize;

/// Pieces, and the strings in them that have a price.
#[derive(Debug)]
pub struct Instance {
    pub(super) against: Against,
    pub(super) num_merges: usize,
    /// Strings that occur at most this often have no price.
    pub(super) floor: u64,
    /// No longer string has a price: what was asked for, or less if there are too many long strings.
    pub(super) longest: usize,
    /// Distinct pieces in ascending order.
    pub(super) pieces: Words,
    /// The length of each symbol's row, which is that of the longest string with a price that
    /// begins there.
    pub(super) reach: Vec<u8>,
    /// The string of each item, row after row, by its number in its section; `NONE` for the symbols.
    pub(super) strings: Vec<StringIndex>,
    pub(super) sections: Vec<Section>,
    pub(super) num_strings: usize,
    /// The symbol at which each string begins somewhere, and its length.
    places: Vec<(u32, u8)>,
    /// Where the splits of each string begin, and where the last end: against merges one for each cut,
    /// the leftmost first; against vocabularies one.
    pub(super) splits: Vec<u32>,
    /// Frequent strings that are too long for a price.
    pub(super) repeats: Repeats,
}

impl Instance {
    /// The strings of `words` that occur more than `floor` times and have at most `longest` symbols.
    pub fn new(
        words: &Words,
        against: Against,
        num_merges: usize,
        floor: u64,
        longest: usize,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Self> {
        with_team(num_threads, |team| {
            Self::find(words, against, num_merges, floor, longest, team, watch)
        })
    }

    fn find(
        words: &Words,
        against: Against,
        num_merges: usize,
        floor: u64,
        longest: usize,
        team: &Team,
        watch: &Watch,
    ) -> Result<Self> {
        watch.check()?;
        let words = words.iter().filter(|word| word.0.len() > 1 && word.1 > 0);
        let words = Words::united(words);
        if words.symbols.len() >= MOST {
            return Err(Error::CorpusTooLarge);
        }
        let pieces = match against {
            Against::Vocabularies => words,
            Against::Merges => cut(&words, floor, team, watch)?,
        };
        let mut instance = Self {
            against,
            num_merges,
            floor,
            longest: longest.clamp(2, LONGEST),
            reach: vec![1; pieces.symbols.len()],
            pieces,
            strings: Vec::new(),
            sections: Vec::new(),
            num_strings: 0,
            places: Vec::new(),
            splits: Vec::new(),
            repeats: Repeats::default(),
        };
        let room = CUTS_OF_A_SYMBOL * instance.pieces.symbols.len() + ROOM_FOR_CUTS;
        instance.find_strings(room, team, watch)?;
        instance.make_sections(team)?;
        Ok(instance)
    }

    /// Find the strings that have a price, given how many cuts are worth their time.
    fn find_strings(&mut self, room: usize, team: &Team, watch: &Watch) -> Result<()> {
        // The strings of two symbols, of three and so on, each length from left to right.
        let mut lengths: Vec<FrequentStrings> = Vec::new();
        let mut frequent = FrequentStrings::of_one_symbol(&self.pieces);
        let mut num_cuts = 0;
        // The first strings for which there is no room.
        let mut beyond: Option<Beyond> = None;
        for length in 2..=self.longest + 1 {
            watch.check()?;
            frequent = frequent.longer(&self.pieces, self.floor, team, watch)?;
            if frequent.num_strings() == 0 {
                beyond = None;
                break;
            }
            num_cuts += frequent.places.len() * (length - 1);
            if beyond.is_none() && (length > self.longest || num_cuts > room) {
                beyond = Some(Beyond {
                    length,
                    strings: frequent.clone(),
                    num_shorter: self.num_strings,
                });
            }
            if length > self.longest || num_cuts > ROOM_FOR_ALL * room {
                break;
            }
            self.num_strings += frequent.num_strings();
            if self.num_strings >= MOST {
                return Err(Error::CorpusTooLarge);
            }
            for &place in &frequent.places {
                self.reach[place as usize] = length as u8;
            }
            lengths.push(frequent.without_places());
        }
        if let Some(beyond) = beyond {
            self.longest = beyond.length - 1;
            self.num_strings = beyond.num_shorter;
            lengths.truncate(self.longest - 1);
            for reach in &mut self.reach {
                *reach = (*reach).min(self.longest as u8);
            }
            let (strings, length) = (beyond.strings, beyond.length);
            self.repeats = repeats::find(&self.pieces, strings, length, self.floor, watch)?;
        }
        self.places = items::number(&mut lengths, team)?;
        self.strings = items::fill(&self.reach, &lengths, team)?;
        self.number_splits()
    }

    /// The symbols of a string.
    pub(super) fn symbols_of(&self, string: usize) -> &[Id] {
        let (symbol, length) = self.places[string];
        &self.pieces.symbols[symbol as usize..][..length.into()]
    }

    fn number_splits(&mut self) -> Result<()> {
        self.splits = vec![0];
        let mut end = 0;
        for &(_, length) in &self.places {
            end += match self.against {
                Against::Merges => usize::from(length) - 1,
                Against::Vocabularies => 1,
            };
            if end >= MOST {
                return Err(Error::CorpusTooLarge);
            }
            self.splits.push(end as u32);
        }
        Ok(())
    }

    /// Cut the pieces into sections, and number the strings anew in each.
    fn make_sections(&mut self, team: &Team) -> Result<()> {
        let heaviest_light = self.heaviest_light(LightPart::FIRST);
        let is_light = |weight| self.against == Against::Vocabularies || weight <= heaviest_light;
        let sections = sections::cut(&self.pieces, &self.reach, is_light);
        let mut strings = std::mem::take(&mut self.strings);
        let mut rest = strings.as_mut_slice();
        let mut tasks = Vec::with_capacity(sections.len());
        for section in sections {
            let items;
            (items, rest) = rest.split_at_mut(section.items.len());
            tasks.push((section, items));
        }
        team.with_each(&mut tasks, |(section, items)| {
            let repeats = self.repeats_in(&section.symbols).iter();
            let repeats = repeats.map(|place| place.repeat as usize);
            section.number(items, repeats, &self.splits, self.repeats.num_strings);
            Ok(())
        })?;
        self.sections = tasks.into_iter().map(|(section, _)| section).collect();
        self.strings = strings;
        Ok(())
    }

    /// The weight of the heaviest light pieces; 0 if there are none.
    pub(super) fn heaviest_light(&self, part: LightPart) -> u64 {
        part.heaviest(&self.pieces, self.strings.len(), self.floor)
    }

    /// The places of repeats in some pieces, which have these symbols.
    pub(super) fn repeats_in(&self, symbols: &Range<usize>) -> &[Place] {
        let places = &self.repeats.places;
        let [start, end] = [symbols.start, symbols.end]
            .map(|symbol| places.partition_point(|place| (place.start as usize) < symbol));
        &places[start..end]
    }

    /// The splits of a string.
    pub(super) fn splits_of(&self, string: usize) -> Range<usize> {
        self.splits[string] as usize..self.splits[string + 1] as usize
    }

    pub(super) fn num_splits(&self) -> usize {
        self.splits[self.num_strings] as usize
    }

    /// The number of cuts of all spans with a price, and of symbols: a measure for the work of a step.
    pub(super) fn num_cuts(&self) -> usize {
        let of_row = |&reach: &u8| usize::from(reach) * (usize::from(reach) + 1) / 2;
        self.reach.iter().map(of_row).sum()
    }

    /// The number of prices of a certificate.
    pub fn num_prices(&self) -> usize {
        match self.against {
            Against::Merges => self.strings.len(),
            Against::Vocabularies => self.reach.len(),
        }
    }

    /// Longer strings than that, up to this length, cost as much as their symbols.
    pub fn counted(&self) -> usize {
        self.repeats.counted.max(self.longest)
    }

    /// Against merges, what each merge counts as at least: the floor, or how often a string beyond
    /// [`counted`](Self::counted) occurs.
    pub fn least(&self) -> u64 {
        self.floor.max(self.repeats.too_long)
    }

    /// The number of strings with a price and of repeats.
    pub(super) fn num_losses(&self) -> usize {
        self.num_strings + self.repeats.num_strings
    }
}

/// Frequent strings of the first length that has no price.
struct Beyond {
    length: usize,
    strings: FrequentStrings,
    /// The number of shorter strings.
    num_shorter: usize,
}

/// The words cut at every pair that is not frequent, without pieces of one symbol.
fn cut(words: &Words, floor: u64, team: &Team, watch: &Watch) -> Result<Words> {
    let symbols = FrequentStrings::of_one_symbol(words);
    let pairs = symbols.longer(words, floor, team, watch)?;
    let mut is_joined = vec![false; words.symbols.len()];
    for &place in &pairs.places {
        is_joined[place as usize] = true;
    }
    let mut pieces: Vec<(&[Id], u64)> = Vec::new();
    let mut place = 0;
    for (word, count) in words.iter() {
        let mut start = 0;
        for end in 1..=word.len() {
            if !is_joined[place + end - 1] {
                if end - start > 1 {
                    pieces.push((&word[start..end], count));
                }
                start = end;
            }
        }
        place += word.len();
    }
    Ok(Words::united(pieces.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_strings_have_a_price_or_those_for_which_there_is_room() {
        let mut words = Words::default();
        words.push(&[0, 1, 2, 3, 4, 5], 3);
        words.push(&[0, 1, 2, 3, 4, 6], 3);
        let watch = Watch::default();
        let of_length = |longest: usize| {
            let instance = Instance::new(&words, Against::Merges, 2, 1, longest, 1, &watch);
            instance.expect("nothing stops it")
        };
        let (all, short) = (of_length(9), of_length(3));
        // Two words with n - 1 cuts of each of their 7 - n strings of n symbols: 10, 16, 18, 16, 10.
        for (room, expected) in [(70, &all), (35, &all), (34, &short), (26, &short)] {
            let mut found = of_length(9);
            found.reach.fill(1);
            found.num_strings = 0;
            let done = with_team(1, |team| found.find_strings(room, team, &watch));
            assert_eq!(done, Ok(()));
            assert_eq!(found.longest, expected.longest);
            assert_eq!(found.reach, expected.reach);
            assert_eq!(found.strings, expected.strings);
            assert_eq!(found.splits, expected.splits);
            assert_eq!(found.repeats.places, expected.repeats.places);
        }
    }
}
