//! The compiled map of characters, as tokenizers applies it: to grapheme clusters, each replaced as a
//! whole by what replaces the shortest string of the map with which it begins. SentencePiece itself
//! takes the longest at each place.

use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

use super::aligned::Aligned;
use super::charsmap::CharsMap;
use crate::error::{Error, Result};

/// Clusters of fewer bytes than this are looked up as a whole, others character by character.
const LONG: usize = 6;

/// A compiled map of characters.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Spelling")]
pub(crate) struct Precompiled(CharsMap);

/// How tokenizer.json writes it.
#[derive(Deserialize)]
struct Spelling {
    precompiled_charsmap: String,
}

impl TryFrom<Spelling> for Precompiled {
    type Error = Error;

    fn try_from(spelling: Spelling) -> Result<Self> {
        CharsMap::from_base64(&spelling.precompiled_charsmap).map(Self)
    }
}

impl Precompiled {
    pub(super) fn apply(&self, text: &mut Aligned) {
        let mut changes = Vec::with_capacity(text.text().len());
        for cluster in text.text().graphemes(true) {
            let whole = (cluster.len() < LONG).then(|| self.replacement(cluster));
            if let Some(new) = whole.flatten() {
                replace(&mut changes, cluster, new);
                continue;
            }
            for (at, character) in cluster.char_indices() {
                let single = &cluster[at..at + character.len_utf8()];
                match self.replacement(single) {
                    Some(new) => replace(&mut changes, single, new),
                    None => changes.push((character, 0)),
                }
            }
        }
        text.rewrite(|rewriter| rewriter.apply(changes));
    }

    fn replacement(&self, text: &str) -> Option<&str> {
        let (_, replacement) = self.0.shortest(text.as_bytes())?;
        Some(replacement)
    }
}

/// Characters for others. The last ones are new if there are more; if there are fewer, the last one
/// before has those that are missing removed behind it, also if it is one of a replacement before.
fn replace(changes: &mut Vec<(char, isize)>, old: &str, new: &str) {
    let (num_old, num_new) = (old.chars().count(), new.chars().count());
    let kept = num_old.min(num_new);
    changes.extend(
        new.chars()
            .enumerate()
            .map(|(index, character)| (character, isize::from(index >= kept))),
    );
    if let Some((_, change)) = changes.last_mut()
        && num_new < num_old
    {
        *change -= (num_old - num_new).cast_signed();
    }
}
