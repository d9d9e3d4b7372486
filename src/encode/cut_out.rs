//! Which special tokens are only cut out of texts, and which not even that.
//!
//! Where special tokens are the runs of one byte up to some length, and no other token holds that byte,
//! merging cuts around runs itself. Only longer runs are cut, behind each longest token.

use memchr::memchr;
use rustc_hash::FxHashSet;

use crate::merges::Id;
use crate::specials::Special;
use crate::vocabulary::Vocabulary;

/// Special tokens that are only cut out.
#[derive(Debug, Default)]
pub(super) struct CutOut {
    pub(super) ids: FxHashSet<Id>,
    /// Bytes that are in no other tokens than runs of them.
    pub(super) runs: Vec<Runs>,
}

/// Runs of a byte. Those up to a length are special tokens, which merging makes of them.
#[derive(Debug)]
pub(super) struct Runs {
    byte: u8,
    longest: usize,
}

impl CutOut {
    /// Whether a special token need not be searched.
    pub(super) fn imply(&self, special: &Special) -> bool {
        let first = special.text.as_bytes().first();
        self.runs.iter().any(|runs| first == Some(&runs.byte))
    }
}

impl Runs {
    /// Those of a byte, if its runs in all tokens are such special tokens. `is_only_cut` says of a
    /// special token whether it is always found and only cut out.
    pub(super) fn new(
        byte: u8,
        vocabulary: &Vocabulary,
        specials: &[Special],
        is_only_cut: impl Fn(&Special) -> bool,
    ) -> Option<Self> {
        let is_run = |string: &[u8]| string.iter().all(|&other| other == byte);
        let holds = |string: &&[u8]| memchr(byte, string).is_some();
        let of_merging = vocabulary.numbers().map(|number| vocabulary.string(number));
        let mut lengths = FxHashSet::default();
        for special in specials.iter().filter(|it| holds(&it.text.as_bytes())) {
            if !is_run(special.text.as_bytes()) || !is_only_cut(special) {
                return None;
            }
            lengths.insert(special.text.len());
        }
        let longest = lengths.len();
        let are_all = longest > 0 && (1..=longest).all(|length| lengths.contains(&length));
        (are_all && of_merging.filter(holds).all(is_run)).then_some(Self { byte, longest })
    }

    /// Append where the runs of a text are cut that are longer than a token.
    pub(super) fn cut(&self, text: &[u8], cuts: &mut Vec<usize>) {
        let &Self { byte, longest } = self;
        // Each run that is longer goes across one of the places looked at.
        let mut at = longest;
        while at < text.len() {
            if text[at] != byte {
                at += longest + 1;
                continue;
            }
            let before = text[..at].iter().rposition(|&other| other != byte);
            let start = before.map_or(0, |before| before + 1);
            let length = text[at..].iter().position(|&other| other != byte);
            let end = length.map_or(text.len(), |length| at + length);
            cuts.extend((start + longest..end).step_by(longest));
            at = end + longest;
        }
    }
}
