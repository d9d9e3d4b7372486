//! The frequent strings of one length, given those one symbol shorter.
//!
//! A string is the pair of its prefix and its suffix, both one symbol shorter and both frequent if
//! it is; so each string of a length is known by two numbers. Threads first take chunks of the places,
//! and sort them into a fixed number of shards by the prefixes; then they take shards, and count. Strings
//! are numbered in the order of their first places, which does not depend on the number of threads. Cost:
//! one look-up for each place.

use rustc_hash::FxHashMap;

use super::words::Words;
use crate::error::Result;
use crate::parallel::Team;
use crate::prices::StringIndex;
use crate::watch::Watch;

const NUM_SHARDS: usize = 16;

/// The number of places that a thread looks at at once.
const PLACES_OF_A_CHUNK: usize = 1 << 15;

/// The frequent strings of one length.
#[derive(Debug, Clone, Default)]
pub(super) struct FrequentStrings {
    /// The symbols at which they begin, ascending, and which string begins there.
    pub(super) places: Vec<u32>,
    pub(super) strings: Vec<StringIndex>,
    /// The first place of each string, and how many it has.
    pub(super) first_places: Vec<u32>,
    pub(super) num_places: Vec<u32>,
}

/// A place where a longer string may begin.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    prefix: StringIndex,
    suffix: StringIndex,
    place: u32,
    word: u32,
}

/// Some places where longer strings may begin.
#[derive(Debug, Default)]
struct Chunk {
    /// The shard of each, in ascending order of the places.
    shards: Vec<u8>,
    /// Those of each shard.
    of_shards: [Vec<Occurrence>; NUM_SHARDS],
}

/// The strings of one shard, numbered from 0 in the order of their first places.
#[derive(Debug, Default)]
struct Shard {
    /// The string at each place of this shard, chunk after chunk, and where the chunks begin.
    strings: Vec<u32>,
    begins: Vec<usize>,
    counts: Vec<u64>,
    first_places: Vec<u32>,
    num_places: Vec<u32>,
}

impl FrequentStrings {
    /// The strings of one symbol, numbered by their symbols; without what is known of each.
    pub(super) fn of_one_symbol(words: &Words) -> Self {
        let symbols = &words.symbols;
        Self {
            places: (0..symbols.len() as u32).collect(),
            strings: symbols.iter().map(|&symbol| StringIndex(symbol)).collect(),
            ..Self::default()
        }
    }

    /// The same, but not where they are.
    pub(super) fn without_places(&self) -> Self {
        Self {
            places: Vec::new(),
            strings: self.strings.clone(),
            first_places: self.first_places.clone(),
            num_places: self.num_places.clone(),
        }
    }

    pub(super) fn num_strings(&self) -> usize {
        self.first_places.len()
    }

    /// The strings one symbol longer that occur more than `floor` times.
    pub(super) fn longer(
        &self,
        words: &Words,
        floor: u64,
        team: &Team,
        watch: &Watch,
    ) -> Result<Self> {
        let num_pairs = self.places.len().saturating_sub(1);
        let chunks = team.map(num_pairs.div_ceil(PLACES_OF_A_CHUNK), |index| {
            watch.check()?;
            let first = index * PLACES_OF_A_CHUNK;
            Ok(self.chunk(first, num_pairs.min(first + PLACES_OF_A_CHUNK), words))
        })?;
        let shards = team.map(NUM_SHARDS, |number| {
            watch.check()?;
            Ok(Shard::of(number, &chunks, words))
        })?;
        let mut longer = Self::default();
        let numbers = longer.number(&shards, floor);
        let parts = team.map(chunks.len(), |index| {
            Ok(kept(index, &chunks[index], &shards, &numbers))
        })?;
        let num_places = parts.iter().map(|(places, _)| places.len()).sum();
        longer.places.reserve_exact(num_places);
        longer.strings.reserve_exact(num_places);
        for (places, strings) in parts {
            longer.places.extend(places);
            longer.strings.extend(strings);
        }
        Ok(longer)
    }

    /// Where longer strings may begin among the places from the one at `first` to that before `end`, which
    /// is no later than the last.
    fn chunk(&self, first: usize, end: usize, words: &Words) -> Chunk {
        let mut chunk = Chunk::default();
        let ends = &words.ends;
        let mut word = 0;
        for index in first..end {
            let (place, next) = (self.places[index], self.places[index + 1]);
            if next != place + 1 {
                continue;
            }
            let next = next as usize;
            if ends[word] < next {
                word += 1;
                if ends[word] < next {
                    word += ends[word..].partition_point(|&end| end < next);
                }
            }
            // A word may end between the two.
            if ends[word] > next {
                let (prefix, suffix) = (self.strings[index], self.strings[index + 1]);
                let shard = prefix.at() % NUM_SHARDS;
                chunk.shards.push(shard as u8);
                chunk.of_shards[shard].push(Occurrence {
                    prefix,
                    suffix,
                    place,
                    word: word as u32,
                });
            }
        }
        chunk
    }

    /// Number the frequent strings of all shards; returns the number of each string of each shard, `NONE`
    /// for those that are not frequent.
    fn number(&mut self, shards: &[Shard], floor: u64) -> Vec<Vec<StringIndex>> {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (index, shard) in shards.iter().enumerate() {
            let frequent = (0..shard.counts.len()).filter(|&string| shard.counts[string] > floor);
            order.extend(frequent.map(|string| (shard.first_places[string], index, string)));
        }
        order.sort_unstable();
        let unknown = |shard: &Shard| vec![StringIndex::NONE; shard.counts.len()];
        let mut numbers: Vec<_> = shards.iter().map(unknown).collect();
        for (number, (first_place, shard, string)) in (0..).zip(order) {
            numbers[shard][string] = StringIndex(number);
            self.first_places.push(first_place);
            self.num_places.push(shards[shard].num_places[string]);
        }
        numbers
    }
}

impl Shard {
    fn of(number: usize, chunks: &[Chunk], words: &Words) -> Self {
        let mut shard = Self::default();
        let mut table: FxHashMap<(StringIndex, StringIndex), u32> = FxHashMap::default();
        // For each prefix the suffix that was seen last, and the string: often the next is the same.
        let mut last: Vec<(StringIndex, u32)> = Vec::new();
        for chunk in chunks {
            shard.begins.push(shard.strings.len());
            for occurrence in &chunk.of_shards[number] {
                let (prefix, suffix) = (occurrence.prefix, occurrence.suffix);
                let at = prefix.at() / NUM_SHARDS;
                if at >= last.len() {
                    last.resize(at + 1, (StringIndex::NONE, 0));
                }
                if last[at].0 != suffix {
                    let new = shard.counts.len() as u32;
                    last[at] = (suffix, *table.entry((prefix, suffix)).or_insert(new));
                    if last[at].1 == new {
                        shard.counts.push(0);
                        shard.first_places.push(occurrence.place);
                        shard.num_places.push(0);
                    }
                }
                let string = last[at].1;
                let sum = &mut shard.counts[string as usize];
                *sum = sum.saturating_add(words.counts[occurrence.word as usize]);
                shard.num_places[string as usize] += 1;
                shard.strings.push(string);
            }
        }
        shard
    }
}

/// The places of frequent strings in the chunk at `index`, and the strings there, given their numbers.
fn kept(
    index: usize,
    chunk: &Chunk,
    shards: &[Shard],
    numbers: &[Vec<StringIndex>],
) -> (Vec<u32>, Vec<StringIndex>) {
    let mut done = [0; NUM_SHARDS];
    let (mut places, mut strings) = (Vec::new(), Vec::new());
    for &shard in &chunk.shards {
        let shard = shard as usize;
        let own = shards[shard].strings[shards[shard].begins[index] + done[shard]];
        let string = numbers[shard][own as usize];
        if string != StringIndex::NONE {
            places.push(chunk.of_shards[shard][done[shard]].place);
            strings.push(string);
        }
        done[shard] += 1;
    }
    (places, strings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greedy::tests::Dice;
    use crate::parallel::with_team;

    #[test]
    fn strings_are_those_that_occur_more_often_than_the_floor() {
        let mut dice = Dice(11);
        let mut words = Words::default();
        while words.symbols.len() < 2 * PLACES_OF_A_CHUNK {
            let word: Vec<u32> = (0..=dice.below(9)).map(|_| dice.below(6) as u32).collect();
            words.push(&word, 1 + dice.below(3));
        }
        let (floor, watch) = (60, Watch::default());
        let by = |num_threads| {
            with_team(num_threads, |team| {
                let mut all = vec![FrequentStrings::of_one_symbol(&words)];
                while all[all.len() - 1].places.len() > 1 {
                    let longer = all[all.len() - 1].longer(&words, floor, team, &watch);
                    all.push(longer.expect("nothing stops it"));
                }
                all
            })
        };
        let (all, by_three) = (by(1), by(3));
        assert!(all.len() > 3);
        for (length, (strings, same)) in (1..).zip(all.iter().zip(&by_three)).skip(1) {
            assert_eq!(strings.places, same.places);
            assert_eq!(strings.strings, same.strings);
            let mut counts: FxHashMap<&[u32], u64> = FxHashMap::default();
            let mut places: FxHashMap<&[u32], Vec<u32>> = FxHashMap::default();
            let mut start = 0;
            for (word, count) in words.iter() {
                for (place, string) in (start..).zip(word.windows(length)) {
                    *counts.entry(string).or_default() += count;
                    places.entry(string).or_default().push(place);
                }
                start += word.len() as u32;
            }
            counts.retain(|_, count| *count > floor);
            assert_eq!(strings.num_strings(), counts.len());
            let mut found = vec![Vec::new(); counts.len()];
            for (&place, string) in strings.places.iter().zip(&strings.strings) {
                found[string.at()].push(place);
            }
            assert!(strings.first_places.is_sorted());
            for (string, found) in found.iter().enumerate() {
                let symbols = &words.symbols[found[0] as usize..][..length];
                assert!(counts.contains_key(symbols));
                assert_eq!(found, &places[symbols]);
                assert_eq!(strings.first_places[string], found[0]);
                assert_eq!(strings.num_places[string] as usize, found.len());
            }
        }
    }
}
