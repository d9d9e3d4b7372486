//! Steps that change a text before it is cut.

use serde::Deserialize;

use super::aligned::Aligned;
use crate::error::Result;
use crate::watch::Watch;

/// A step of the normalizer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum Normalizer {
    /// Every character in lower case.
    Lowercase,
}

impl Normalizer {
    pub(super) fn apply(&self, text: &mut Aligned, watch: &Watch) -> Result<()> {
        watch.check()?;
        match self {
            Self::Lowercase => text.rewrite(|rewriter| {
                for character in rewriter.rest().chars() {
                    for (index, lower) in character.to_lowercase().enumerate() {
                        if index == 0 {
                            rewriter.replace(lower);
                        } else {
                            rewriter.insert(lower);
                        }
                    }
                }
            }),
        }
        Ok(())
    }
}
