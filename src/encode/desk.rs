//! What one thread encodes with: its cache and memory that is used again.

use super::cache::{Buffer, Cache, Miss, NO_IDS, Word};
use super::ends::{Ends, MOST_WORDS};
use super::long::LongWords;
use super::search::Scratch;
use super::words::Piece;
use crate::merges::Id;

#[derive(Debug)]
pub(super) struct Desk {
    pub(super) cache: Cache,
    pub(super) ends: Ends,
    pub(super) words: [Word; MOST_WORDS],
    pub(super) buffer: Buffer,
    pub(super) misses: [Miss; MOST_WORDS],
    pub(super) scratch: Scratch,
    pub(super) long_words: LongWords,
    /// The tokens of one word.
    pub(super) pieces: Vec<Piece>,
    pub(super) ids: Vec<Id>,
}

impl Desk {
    pub(super) fn new(bits: u32) -> Self {
        Self {
            cache: Cache::new(bits),
            ends: Ends::NONE,
            words: [Word::default(); MOST_WORDS],
            buffer: NO_IDS,
            misses: [Miss::default(); MOST_WORDS],
            scratch: Scratch::default(),
            long_words: LongWords::default(),
            pieces: Vec::new(),
            ids: Vec::new(),
        }
    }
}
