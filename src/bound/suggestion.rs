//! Which strings the linear program would choose as tokens.
//!
//! Towards the end of a descent, prices go to and fro around the best, and a string counts now and
//! then. How much it counts on average is about how much of it the linear program chooses.

use super::against::Against;
use super::branching::{MOST_CUTS, STEPS_OF_A_CASE};
use super::decided::Decided;
use super::descent::{Start, descend_in};
use super::found::DescentProgress;
use super::instance::{Instance, LONGEST};
use super::proof::BITS;
use super::schedule::DescentOptions;
use super::words::Words;
use crate::error::Result;
use crate::merges::Id;
use crate::watch::Watch;

/// At most `num_merges` strings that occur more than `floor` times and together would serve well as the
/// tokens of a merge list, if parts of strings could be chosen; None if there are too many words. The search
/// begins with `tokens`. [`Error::Interrupted`](crate::Error) if the watch stops it.
pub fn suggest(
    words: &Words,
    num_merges: usize,
    floor: u64,
    tokens: &[Vec<Id>],
    watch: &Watch,
) -> Result<Option<Vec<Vec<Id>>>> {
    if words.symbols.len() > MOST_CUTS {
        return Ok(None);
    }
    let instance = Instance::new(words, Against::Merges, num_merges, floor, LONGEST, 1, watch)?;
    if instance.num_cuts() > MOST_CUTS {
        return Ok(None);
    }
    let options = DescentOptions {
        num_steps: Some(STEPS_OF_A_CASE),
        deadline: None,
        bits: BITS,
        num_threads: 1,
        // With one, shares would not be noted.
        num_cases: 2,
    };
    let (all, progress) = (Decided::default(), DescentProgress::default());
    let start = Start::Tokens(tokens);
    let shares = descend_in(&instance, start, &all, &options, watch, &progress)?.shares;
    watch.check()?;
    let mut order: Vec<usize> = (0..shares.len()).filter(|&at| shares[at] > 0.0).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    let chosen = order.iter().take(num_merges);
    let chosen = chosen.map(|&at| instance.symbols_of(at).to_vec());
    Ok(Some(chosen.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equally_frequent_pairs_those_of_the_frequent_word_are_suggested() {
        let mut words = Words::default();
        for (word, count) in [([0, 1, 2], 9), ([3, 1, 4], 2), ([0, 5, 2], 2)] {
            words.push(&word, count);
        }
        let watch = Watch::default();
        let chosen = suggest(&words, 2, 1, &[], &watch).expect("nothing stops it");
        let mut chosen = chosen.expect("a small text");
        // Two merges make the first word one token, by either pair.
        chosen.sort_by_key(Vec::len);
        assert_eq!(chosen[1], [0, 1, 2]);
        assert!(chosen[0] == [0, 1] || chosen[0] == [1, 2]);
    }

    #[test]
    fn of_too_many_words_nothing_is_suggested() {
        let mut words = Words::default();
        words.push(&vec![0; MOST_CUTS + 1], 1);
        let watch = Watch::default();
        assert_eq!(suggest(&words, 2, 1, &[], &watch), Ok(None));
        words = Words::default();
        words.push(&[0, 1], 3);
        watch.stop();
        assert!(suggest(&words, 2, 1, &[], &watch).is_err());
    }
}
