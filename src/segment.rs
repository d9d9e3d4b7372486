//! The fewest tokens of a vocabulary into which words can be cut: not byte-pair encoding.
//!
//! The tokens need not be made by merges, so a vocabulary can be better than any merge list of its
//! size. Cost: for each byte one look-up for each length up to that of the longest token.

use rustc_hash::FxHashSet;

use crate::counts::WordCounts;
use crate::error::Result;
use crate::watch::Watch;

/// The number of words between two checks for interruption.
const WORDS_BETWEEN_CHECKS: usize = 1 << 12;

/// The smallest number of tokens into which the words of a corpus can be cut, if each is one of
/// `tokens` or a byte.
///
/// # Example
///
/// ```
/// use mergewise::counts::WordCounts;
/// use mergewise::watch::Watch;
/// use mergewise::segment::fewest_tokens;
///
/// let mut counts = WordCounts::default();
/// counts.add(b"abcd", 3)?; // a and bcd, not ab, c and d
/// assert_eq!(fewest_tokens(&counts, &["ab", "bcd"], &Watch::default())?, 6);
/// # Ok::<(), mergewise::error::Error>(())
/// ```
pub fn fewest_tokens(
    counts: &WordCounts,
    tokens: &[impl AsRef<[u8]>],
    watch: &Watch,
) -> Result<u64> {
    let known: FxHashSet<&[u8]> = tokens.iter().map(AsRef::as_ref).collect();
    let max_token_length = known.iter().map(|token| token.len()).max().unwrap_or(0);
    let mut total = 0;
    let mut fewest = Vec::new();
    for (index, (word, count)) in counts.iter().enumerate() {
        if index % WORDS_BETWEEN_CHECKS == 0 {
            watch.check()?;
        }
        fewest.clear();
        fewest.resize(word.len() + 1, u64::MAX);
        fewest[0] = 0;
        for start in 0..word.len() {
            let next = fewest[start] + 1;
            fewest[start + 1] = fewest[start + 1].min(next);
            for end in start + 2..=word.len().min(start + max_token_length) {
                if fewest[end] > next && known.contains(&word[start..end]) {
                    fewest[end] = next;
                }
            }
        }
        // A word has no more tokens than bytes, and `WordCounts` hold fewer than 2^64 bytes in all.
        total += count * fewest[word.len()];
    }
    Ok(total)
}
