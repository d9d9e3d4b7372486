//! Classes of errors, and what may help against them.

/// The class of an [`Error`].
///
/// ```
/// let error = mergewise::Tokenizer::builder().special_token("", 0).build().unwrap_err();
/// assert_eq!(error.kind(), mergewise::ErrorKind::Input);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A merge list uses a token that does not exist.
    Merges,
    /// A character or an id that the vocabulary does not hold.
    UnknownToken,
    /// A file or a table that is not what it should be.
    Format,
    /// An argument, a text or a pattern that cannot be used.
    Input,
    /// The operating system refused to read or write.
    Io,
    /// A stop was asked for, or the time was over.
    Interrupted,
    /// A bug of this crate.
    Internal,
}

/// What may help against an [`Error`].
///
/// ```
/// let counts = mergewise::WordCounts::of([b"\xff"], None).unwrap();
/// assert_eq!(counts.characters().unwrap_err().hint(), Some(mergewise::Hint::CheckUtf8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// Allow the special token, or encode its characters like any other text.
    AllowSpecial,
    /// Count with invalid UTF-8 refused, to find it, or replaced.
    CheckUtf8,
    /// Count with a pattern.
    UsePattern,
    /// Leave rare words out where counts are summed.
    PruneSums,
    /// Count with a pattern, or leave rare words out.
    UsePatternOrPrune,
    /// Normalise the text before it is encoded.
    NormalizeFirst,
    /// Name the field of a record that holds the text.
    GiveField,
    /// A compressed file is damaged or was cut short.
    FileDamaged,
    /// Compress with a smaller window, or decompress the file first.
    UseSmallerWindow,
    /// A document that is read in parts cannot be left out.
    TooLongToSkip,
}

impl Hint {
    /// A name that does not change.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllowSpecial => "allow_special",
            Self::CheckUtf8 => "check_utf8",
            Self::UsePattern => "use_pattern",
            Self::PruneSums => "prune_sums",
            Self::UsePatternOrPrune => "use_pattern_or_prune",
            Self::NormalizeFirst => "normalize_first",
            Self::GiveField => "give_field",
            Self::FileDamaged => "file_damaged",
            Self::UseSmallerWindow => "use_smaller_window",
            Self::TooLongToSkip => "too_long_to_skip",
        }
    }
}
