//! Names for the frequent strings of one length, given those one symbol shorter.
//!
//! A string is the pair of its prefix and its suffix, both one symbol shorter and both frequent if
//! it is; so each string of a level has a key of 64 bits, and equal keys are equal strings. The keys
//! are split into a fixed number of shares by their hash, and threads take shares: names do not
//! depend on the number of threads. Cost: one look-up for each place.

use rustc_hash::FxHashMap;

use super::words::Words;
use crate::error::Result;
use crate::parallel;

/// In place of a name.
pub(super) const NONE: u32 = u32::MAX;

const NUM_SHARES: usize = 4;

/// The frequent strings of one length.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// Where they begin, ascending, and their names.
    pub(super) places: Vec<u32>,
    pub(super) names: Vec<u32>,
    pub(super) num_names: usize,
}

/// The strings of one symbol.
pub(super) fn symbols(words: &Words) -> Level {
    Level {
        places: (0..words.symbols().len() as u32).collect(),
        names: words.symbols().to_vec(),
        ..Level::default()
    }
}

/// The strings one symbol longer than those of `level` that occur more than `floor` times.
pub(super) fn longer(
    words: &Words,
    level: &Level,
    floor: u64,
    num_threads: usize,
) -> Result<Level> {
    let shares = parallel::map(num_threads, NUM_SHARES, |index| {
        Ok(Share::find(words, level, index))
    })?;
    Ok(unite(words, level, floor, shares))
}

/// The strings of one share, named from 0 in the order of their first places.
#[derive(Default)]
struct Share {
    /// The string at each place of this share.
    places: Vec<u32>,
    counts: Vec<u64>,
}

impl Share {
    fn find(words: &Words, level: &Level, index: usize) -> Self {
        let mut share = Self::default();
        let mut table: FxHashMap<u64, u32> = FxHashMap::default();
        for_each_key(words, level, |_, key, count| {
            if share_of(key) == index {
                let new = share.counts.len() as u32;
                let name = *table.entry(key).or_insert(new);
                if name == new {
                    share.counts.push(0);
                }
                let sum = &mut share.counts[name as usize];
                *sum = sum.saturating_add(count);
                share.places.push(name);
            }
        });
        share
    }
}

/// Name the frequent strings of all shares.
fn unite(words: &Words, shorter: &Level, floor: u64, shares: Vec<Share>) -> Level {
    let mut level = Level::default();
    let mut united = Vec::new();
    for share in shares {
        let new_names: Vec<u32> = share
            .counts
            .iter()
            .map(|&count| {
                let name = level.num_names as u32;
                level.num_names += usize::from(count > floor);
                if count > floor { name } else { NONE }
            })
            .collect();
        united.push((share.places.into_iter(), new_names));
    }
    let Level {
        places: found,
        names,
        ..
    } = &mut level;
    for_each_key(words, shorter, |place, key, _| {
        let (places, new_names) = &mut united[share_of(key)];
        let name = places
            .next()
            .map_or(NONE, |number| new_names[number as usize]);
        if name != NONE {
            found.push(place);
            names.push(name);
        }
    });
    level
}

fn share_of(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % NUM_SHARES
}

/// Call `visit(place, key, count)` for each place where a longer string may begin.
fn for_each_key(words: &Words, level: &Level, mut visit: impl FnMut(u32, u64, u64)) {
    let (ends, counts) = (words.ends(), words.counts());
    let mut word = 0;
    let pairs = level.places.windows(2).zip(level.names.windows(2));
    for (places, names) in pairs {
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
            let key = u64::from(names[0]) << 32 | u64::from(names[1]);
            visit(places[0], key, counts[word]);
        }
    }
}
