//! The table of named patterns: the only place that lists them. Everything else that needs their
//! names, expressions or scanners reads this table.
//!
//! A new named pattern is one new row. The tests compare each scanner with its expression.

use super::TakeGroups;
use super::scan::{for_each_group, last_safe_cut};
use super::scanners::{Gpt2, Tiktoken, Whitespace};
use crate::error::Result;
use crate::watch::Watch;

/// A pattern that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPattern {
    /// The name.
    pub name: &'static str,
    /// The regular expression that defines its words.
    pub expression: &'static str,
    /// Other regular expressions, published with tokenizers, that cut every text in the same way.
    pub spellings: &'static [&'static str],
}

macro_rules! table {
    ($($(#[$doc:meta])* $variant:ident {
        name: $name:literal,
        scanner: $scanner:ty,
        expression: $expression:expr,
        spellings: $spellings:expr,
    })+) => {
        /// The named patterns.
        pub const NAMED_PATTERNS: &[NamedPattern] = &[$(NamedPattern {
            name: $name,
            expression: $expression,
            spellings: &$spellings,
        }),+];

        /// One of the named patterns. All of them have scanners, so they take linear time and have
        /// safe cuts.
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum Name {
            $($(#[$doc])* $variant),+
        }

        impl Name {
            /// The pattern of that name.
            pub(super) fn of(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Hands over each group of neighbouring words.
            #[inline]
            pub(crate) fn for_each_group(
                self,
                text: &[u8],
                watch: &Watch,
                groups: &mut impl TakeGroups,
            ) -> Result<()> {
                match self {
                    $(Self::$variant => for_each_group::<$scanner>(text, watch, groups),)+
                }
            }

            /// See [`super::Pattern::last_safe_cut`].
            pub(super) fn last_safe_cut(self, text: &[u8]) -> Option<usize> {
                match self {
                    $(Self::$variant => last_safe_cut::<$scanner>(text),)+
                }
            }
        }
    };
}

table! {
    /// The words of GPT-2.
    Gpt2 {
        name: "gpt2",
        scanner: Gpt2,
        expression: r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        spellings: [
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        ],
    }

    /// The words of `cl100k_base` in tiktoken 0.14.0, which spells it with possessive quantifiers.
    Cl100k {
        name: "cl100k",
        scanner: Tiktoken<false>,
        expression: concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
        spellings: [concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        )],
    }

    /// The words of `o200k_base` in tiktoken 0.14.0.
    O200k {
        name: "o200k",
        scanner: Tiktoken<true>,
        expression: concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        spellings: [],
    }

    /// Words that carry at most one leading character of white space.
    Whitespace {
        name: "whitespace",
        scanner: Whitespace,
        expression: r"\s?\S+|\s+(?!\S)",
        spellings: [],
    }
}
