//! What training is asked for.

/// Which adjacent pairs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlaps {
    /// As many as can be replaced: `aaa` holds one `aa` (the paper's choice).
    Skip,
    /// Every adjacent pair: `aaa` holds two (Gage, Sennrich, most libraries).
    Count,
}

/// The limits of training and how it counts.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// The largest number of merges to add.
    pub num_merges: usize,
    /// Stop when no pair counts this much; at least 1.
    pub min_frequency: u64,
    /// The length of the longest token, in symbols.
    pub max_token_length: usize,
    /// How pairs of a token with itself count.
    pub overlaps: Overlaps,
}
