//! The table of named patterns: the only place that lists them. Everything else that needs their
//! names or expressions reads this table.

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

/// The named patterns.
pub const NAMED_PATTERNS: &[NamedPattern] = &[
    // The words of GPT-2.
    NamedPattern {
        name: "gpt2",
        expression: r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        spellings: &[
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        ],
    },
    // The words of `cl100k_base` in tiktoken 0.14.0, which spells it with possessive quantifiers.
    NamedPattern {
        name: "cl100k",
        expression: concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
        ),
        spellings: &[concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+",
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        )],
    },
    // The words of `o200k_base` in tiktoken 0.14.0.
    NamedPattern {
        name: "o200k",
        expression: concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
        spellings: &[],
    },
    // Words that carry at most one leading character of white space.
    NamedPattern {
        name: "whitespace",
        expression: r"\s?\S+|\s+(?!\S)",
        spellings: &[],
    },
];

/// Other names that users know, and what each means: a named pattern or a regular expression.
pub(crate) const OTHER_NAMES: &[(&str, &str)] = &[
    ("r50k_base", "gpt2"),
    ("p50k_base", "gpt2"),
    ("cl100k_base", "cl100k"),
    ("o200k_base", "o200k"),
    (
        "llama3",
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
    ),
    // Digits are words of their own.
    (
        "qwen2",
        concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ),
    ),
    // Three expressions in one, the third of which cuts what the first two leave, and kanji and kana. For
    // it, their ends are ends of texts.
    (
        "deepseek3",
        concat!(
            r"\p{N}{1,3}",
            // Kanji and kana: letters, signs, and code points that are neither.
            r"|[\x{3040}\x{3097}\x{3098}]?[\p{L}\p{M}&&[一-龥぀-ゟ゠-ヿ]]+",
            r"|[\p{P}\p{S}&&[一-龥぀-ゟ゠-ヿ]]+",
            r"|[\x{3040}\x{3097}\x{3098}]+(?![\x{3040}\x{3097}\x{3098}[\p{L}\p{M}&&[一-龥぀-ゟ゠-ヿ]]])",
            r"|[\x{3040}\x{3097}\x{3098}]+(?=[\x{3040}\x{3097}\x{3098}])",
            r##"|[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
            r"|[^\r\n\p{L}\p{P}\p{S}\p{N}一-龥぀-ゟ゠-ヿ]?[\p{L}\p{M}&&[^一-龥぀-ゟ゠-ヿ]]+",
            r"| ?[\p{P}\p{S}&&[^一-龥぀-ゟ゠-ヿ]]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?![^\s\p{N}一-龥぀-ゟ゠-ヿ])|\s+",
        ),
    ),
];

/// What a user means who gives this: a named pattern or a regular expression.
pub(crate) fn meant(spec: &str) -> &str {
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == spec);
    other.map_or(spec, |(_, meaning)| meaning)
}

/// The pattern of that name.
pub(super) fn named(name: &str) -> Option<&'static NamedPattern> {
    NAMED_PATTERNS.iter().find(|named| named.name == name)
}
