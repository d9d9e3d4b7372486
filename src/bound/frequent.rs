//! The frequent strings of one length, given those one symbol shorter.
//!
//! A string is the pair of its prefix and its suffix, both one symbol shorter and both frequent if
//! it is; so each string of a length has a key of 64 bits, and equal keys are equal strings. The
//! keys are split into a fixed number of shards by their hash, and threads take shards: the numbers
//! of the strings do not depend on the number of threads. Cost: one look-up for each place.

use rustc_hash::FxHashMap;

use super::words::Words;
use crate::error::Result;
use crate::parallel;
use crate::prices::StringIndex;
use crate::watch::Watch;

const NUM_SHARDS: usize = 4;

/// The frequent strings of one length.
#[derive(Debug, Clone, Default)]
pub(super) struct FrequentStrings {
    /// The symbols at which they begin, ascending, and which string begins there.
    pub(super) places: Vec<u32>,
    pub(super) strings: Vec<StringIndex>,
    pub(super) num_strings: usize,
}

impl FrequentStrings {
    /// The strings of one symbol, numbered by their symbols.
    pub(super) fn of_one_symbol(words: &Words) -> Self {
        let symbols = &words.symbols;
        Self {
            places: (0..symbols.len() as u32).collect(),
            strings: symbols.iter().map(|&symbol| StringIndex(symbol)).collect(),
            ..Self::default()
        }
    }

    /// The strings one symbol longer that occur more than `floor` times.
    pub(super) fn longer(
        &self,
        words: &Words,
        floor: u64,
        num_threads: usize,
        watch: &Watch,
    ) -> Result<Self> {
        let shards = parallel::map(num_threads, NUM_SHARDS, |index| {
            Shard::find(words, self, index, watch)
        })?;
        self.unite(words, floor, shards, watch)
    }

    /// Number the frequent strings of all shards.
    fn unite(&self, words: &Words, floor: u64, shards: Vec<Shard>, watch: &Watch) -> Result<Self> {
        let mut longer = Self::default();
        let mut united = Vec::new();
        for shard in shards {
            let mut numbers = vec![StringIndex::NONE; shard.counts.len()];
            for (number, count) in numbers.iter_mut().zip(shard.counts) {
                if count > floor {
                    *number = StringIndex(longer.num_strings as u32);
                    longer.num_strings += 1;
                }
            }
            united.push((shard.strings.into_iter(), numbers));
        }
        self.for_each_key(words, watch, |place, key, _| {
            let (strings, numbers) = &mut united[shard_of(key)];
            let string = strings.next().map(|string| numbers[string as usize]);
            if let Some(string) = string.filter(|&string| string != StringIndex::NONE) {
                longer.places.push(place);
                longer.strings.push(string);
            }
        })?;
        Ok(longer)
    }

    /// Call `visit(place, key, count)` for each place where a longer string may begin.
    fn for_each_key(
        &self,
        words: &Words,
        watch: &Watch,
        mut visit: impl FnMut(u32, u64, u64),
    ) -> Result<()> {
        let (ends, counts) = (&words.ends, &words.counts);
        let mut word = 0;
        let pairs = self.places.windows(2).zip(self.strings.windows(2));
        for (index, (places, strings)) in pairs.enumerate() {
            if index % (1 << 20) == 0 {
                watch.check()?;
            }
            let next = places[1] as usize;
            if next != places[0] as usize + 1 {
                continue;
            }
            if ends[word] < next {
                word += 1;
                if ends[word] < next {
                    word += ends[word..].partition_point(|&end| end < next);
                }
            }
            // A word may end between the two.
            if ends[word] > next {
                let key = u64::from(strings[0].0) << 32 | u64::from(strings[1].0);
                visit(places[0], key, counts[word]);
            }
        }
        Ok(())
    }
}

/// The strings of one shard, numbered from 0 in the order of their first places.
#[derive(Default)]
struct Shard {
    /// The string at each place of this shard.
    strings: Vec<u32>,
    counts: Vec<u64>,
}

impl Shard {
    fn find(words: &Words, shorter: &FrequentStrings, index: usize, watch: &Watch) -> Result<Self> {
        let mut shard = Self::default();
        let mut table: FxHashMap<u64, u32> = FxHashMap::default();
        shorter.for_each_key(words, watch, |_, key, count| {
            if shard_of(key) == index {
                let new = shard.counts.len() as u32;
                let string = *table.entry(key).or_insert(new);
                if string == new {
                    shard.counts.push(0);
                }
                let sum = &mut shard.counts[string as usize];
                *sum = sum.saturating_add(count);
                shard.strings.push(string);
            }
        })?;
        Ok(shard)
    }
}

fn shard_of(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % NUM_SHARDS
}
