//! Where a text without a pattern can be cut: between two bytes that no token holds side by side.

use crate::vocabulary::{Symbols, Vocabulary};

/// The pairs of bytes that stand side by side in some token.
#[derive(Debug)]
pub(super) struct Joins {
    bits: Box<[u64; 1024]>,
    has_chars: bool,
}

impl Joins {
    /// Those of a vocabulary that has no mark for the ends of words.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let mut bits = Box::new([0_u64; 1024]);
        for number in vocabulary.numbers() {
            for pair in vocabulary.string(number).windows(2) {
                let key = key(pair[0], pair[1]);
                bits[key / 64] |= 1 << (key % 64);
            }
        }
        Self {
            bits,
            has_chars: vocabulary.symbols() == Symbols::Chars,
        }
    }

    /// Whether a text is cut between two bytes.
    #[inline]
    pub(super) fn is_cut(&self, left: u8, right: u8) -> bool {
        let key = key(left, right);
        let is_in_char = self.has_chars && right & 0xC0 == 0x80;
        !is_in_char && self.bits[key / 64] >> (key % 64) & 1 == 0
    }

    /// The last place where a text is cut.
    pub(super) fn last_cut(&self, text: &[u8]) -> Option<usize> {
        (1..text.len())
            .rev()
            .find(|&at| self.is_cut(text[at - 1], text[at]))
    }

    /// Call `use_part` with where each part of a text begins and ends.
    #[inline]
    pub(super) fn for_each_part(&self, text: &[u8], mut use_part: impl FnMut(usize, usize)) {
        let mut start = 0;
        for (at, pair) in (1..).zip(text.windows(2)) {
            if self.is_cut(pair[0], pair[1]) {
                use_part(start, at);
                start = at;
            }
        }
        if start < text.len() {
            use_part(start, text.len());
        }
    }
}

fn key(left: u8, right: u8) -> usize {
    usize::from(left) << 8 | usize::from(right)
}
