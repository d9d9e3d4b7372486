//! Words cut into as few tokens of a vocabulary as possible: not byte-pair encoding.
//!
//! The tokens need not be made by merges, so that a vocabulary can be better than any merge list of
//! its size. Cost: for each byte one look-up for each length up to that of the longest token.

use rustc_hash::FxHashSet;

use crate::counts::WordCounts;
use crate::error::Result;
use crate::watch::Watch;

/// How often a stop is looked for, in words.
const WORDS_BETWEEN_LOOKS: usize = 1 << 12;

/// How many tokens the words of a corpus have at least, if each is one of `tokens` or a byte.
pub fn fewest_tokens(
    counts: &WordCounts,
    tokens: &[impl AsRef<[u8]>],
    watch: &Watch,
) -> Result<u64> {
    let known: FxHashSet<&[u8]> = tokens.iter().map(AsRef::as_ref).collect();
    let longest = known.iter().map(|token| token.len()).max().unwrap_or(0);
    let mut total = 0;
    let mut fewest = Vec::new();
    for (index, (word, count)) in counts.iter().enumerate() {
        if index % WORDS_BETWEEN_LOOKS == 0 {
            watch.check()?;
        }
        fewest.clear();
        fewest.resize(word.len() + 1, u64::MAX);
        fewest[0] = 0;
        for start in 0..word.len() {
            let next = fewest[start] + 1;
            fewest[start + 1] = fewest[start + 1].min(next);
            for end in start + 2..=word.len().min(start + longest) {
                if fewest[end] > next && known.contains(&word[start..end]) {
                    fewest[end] = next;
                }
            }
        }
        total += count * fewest[word.len()];
    }
    Ok(total)
}
