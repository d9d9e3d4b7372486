//! A sample of the words, for a cheap estimate of the effect of a draft.

use std::ops::Range;

use super::corpus::{Corpus, Place, Word};

/// The frequent words, which are always sampled, make up this part of the corpus.
const FREQUENT_SHARE: f64 = 0.8;
/// Of the other words, one in this number is sampled.
const SAMPLED_ONE_IN: u32 = 16;
/// The number of blocks in which they lie, spread over frequent and rare words.
const NUM_BLOCKS: u32 = 32;

/// The most frequent words and some blocks of others.
#[derive(Debug)]
pub(super) struct Sample {
    num_frequent: u32,
    /// The places of its words.
    pub(super) spans: Vec<Range<Place>>,
    /// The number of words that each sampled word which is not frequent stands for.
    others_per_sampled: u64,
}

impl Sample {
    pub(super) fn new(corpus: &Corpus) -> Self {
        let num_words = corpus.num_words() as u32;
        let num_frequent = num_frequent(corpus);
        let places = |words: Range<u32>| {
            let (first, last) = (Word(words.start), Word(words.end - 1));
            let (start, end) = (corpus.range(first).start, corpus.range(last).end);
            Place(start as u32)..Place(end as u32)
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
            spans.push(places(0..num_frequent));
        }
        spans.extend(blocks.into_iter().map(places));
        Self {
            num_frequent,
            spans,
            others_per_sampled: u64::from(others.div_ceil(sampled.max(1))),
        }
    }

    /// The number of words that a sampled word stands for.
    pub(super) fn weight(&self, word: Word) -> u64 {
        if word.0 < self.num_frequent {
            1
        } else {
            self.others_per_sampled
        }
    }
}

fn num_frequent(corpus: &Corpus) -> u32 {
    let all: u64 = corpus.words().map(|word| corpus.count(word)).sum();
    let mut sum = 0;
    let is_frequent = |&word: &Word| {
        sum += corpus.count(word);
        sum as f64 <= all as f64 * FREQUENT_SHARE
    };
    corpus.words().take_while(is_frequent).count() as u32
}
