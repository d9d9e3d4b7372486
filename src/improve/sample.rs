//! A sample of the words, for a first look at what a draft would do.

use std::ops::Range;

use super::corpus::Corpus;

/// The words that are always looked at make up this part of the corpus.
const FREQUENT_SHARE: f64 = 0.8;
/// The part of the others that is looked at.
const SAMPLED_ONE_IN: u32 = 16;
/// They lie in so many blocks, which frequent and rare words fill alike.
const NUM_BLOCKS: u32 = 32;

/// The most frequent words and some blocks of others.
#[derive(Debug)]
pub(super) struct Sample {
    num_frequent: u32,
    /// The positions of its words.
    pub(super) spans: Vec<Range<u32>>,
    /// How many words each of the others stands for.
    others_per_sampled: u64,
}

impl Sample {
    pub(super) fn new(corpus: &Corpus) -> Self {
        let num_words = corpus.num_words() as u32;
        let num_frequent = num_frequent(corpus);
        let positions = |words: Range<u32>| {
            let at = |word: u32| corpus.range(word).start as u32;
            let end = if words.end < num_words {
                at(words.end)
            } else {
                corpus.num_symbols() as u32
            };
            at(words.start)..end
        };
        let others = num_words - num_frequent;
        let block = (others / (NUM_BLOCKS * SAMPLED_ONE_IN)).max(1);
        let starts = (num_frequent..num_words).step_by((block * SAMPLED_ONE_IN) as usize);
        let blocks: Vec<Range<u32>> = starts
            .map(|start| {
                let middle = start + block * (SAMPLED_ONE_IN / 2);
                middle.min(num_words)..(middle + block).min(num_words)
            })
            .filter(|block| !block.is_empty())
            .collect();
        let sampled: u32 = blocks.iter().map(|block| block.end - block.start).sum();
        let mut spans = Vec::new();
        if num_frequent > 0 {
            spans.push(positions(0..num_frequent));
        }
        spans.extend(blocks.into_iter().map(positions));
        Self {
            num_frequent,
            spans,
            others_per_sampled: u64::from(others.div_ceil(sampled.max(1))),
        }
    }

    /// How many words one of the sample stands for.
    pub(super) fn weight(&self, word: u32) -> u64 {
        if word < self.num_frequent {
            1
        } else {
            self.others_per_sampled
        }
    }
}

fn num_frequent(corpus: &Corpus) -> u32 {
    let num_words = corpus.num_words() as u32;
    let all: u64 = (0..num_words).map(|word| corpus.count(word)).sum();
    let mut sum = 0;
    let is_frequent = |&word: &u32| {
        sum += corpus.count(word);
        sum as f64 <= all as f64 * FREQUENT_SHARE
    };
    (0..num_words).take_while(is_frequent).count() as u32
}
