//! The own merge of each token: the last of the merges that make its string, alone, that token.

use super::strings::Strings;
use super::{Merge, Merging, Number};
use crate::error::{Error, Result};
use crate::merges::{Ranks, merge_by_rank};

/// Tokens of more symbols are merged with a queue, in O(n log n); of fewer, by looking for the lowest
/// rank each time, which is faster.
const FEW_SYMBOLS: usize = 64;
const NO_RANK: u32 = u32::MAX;

/// Which pairs have a rank, as the vocabulary was given.
pub(super) enum Candidates<'v> {
    /// Pairs, each with its rank and the token it makes.
    Pairs(Ranks<Number>),
    /// A pair has the rank of the token it makes.
    Ranks {
        strings: &'v Strings,
        /// The rank of each token; `NO_RANK` if no pair makes it.
        ranks: Vec<u32>,
    },
}

/// A token's string while its symbols merge.
struct Spelling<'s> {
    string: &'s [u8],
    symbols: &'s [Number],
    /// Where each symbol begins in the string, and where the last one ends.
    starts: &'s [usize],
}

#[derive(Clone, Copy)]
struct Part {
    token: Number,
    /// The first of its symbols.
    cell: usize,
    /// Of the pair that this part and the next are: its rank and what it makes.
    rank: u32,
    product: Number,
}

impl<'v> Candidates<'v> {
    pub(super) fn new(strings: &'v Strings, merging: &Merging<'_>) -> Result<Self> {
        match merging {
            Merging::Pairs(pairs) => {
                let mut ranks = Ranks::with_capacity(pairs.len());
                let mut product = Vec::new();
                for (index, &(left, right, rank)) in pairs.iter().enumerate() {
                    let find = |string: &[u8]| {
                        strings.find(string).ok_or_else(|| Error::UnknownPart {
                            index,
                            string: string.to_vec(),
                        })
                    };
                    product.clear();
                    product.extend_from_slice(left);
                    product.extend_from_slice(right);
                    let product = find(&product)?;
                    ranks.add((find(left)?, find(right)?), rank, product);
                }
                Ok(Self::Pairs(ranks))
            }
            Merging::Ranks(tokens) => {
                let mut ranks = vec![NO_RANK; strings.len()];
                for &(token, rank) in tokens {
                    if rank == NO_RANK {
                        return Err(Error::TooManyTokens);
                    }
                    if let Some(number) = strings.find(token)
                        && ranks[number.index()] == NO_RANK
                    {
                        ranks[number.index()] = rank;
                    }
                }
                Ok(Self::Ranks { strings, ranks })
            }
        }
    }

    fn rank_of(
        &self,
        spelling: &Spelling<'_>,
        left: Number,
        right: Number,
        cells: std::ops::Range<usize>,
    ) -> Option<(u32, Number)> {
        match self {
            Self::Pairs(ranks) => ranks.get(left, right),
            Self::Ranks { strings, ranks } => {
                let bytes = spelling.starts[cells.start]..spelling.starts[cells.end];
                let product = strings.find(&spelling.string[bytes])?;
                let rank = ranks[product.index()];
                (rank != NO_RANK).then_some((rank, product))
            }
        }
    }
}

/// Finds own merges, one token after the other.
#[derive(Default)]
pub(super) struct Finder {
    starts: Vec<usize>,
    parts: Vec<Part>,
}

impl Finder {
    /// The own merge of the token `product` of these symbols, if it has one. The rank is that of
    /// the candidates.
    pub(super) fn find(
        &mut self,
        candidates: &Candidates<'_>,
        strings: &Strings,
        product: Number,
        symbols: &[Number],
    ) -> Option<Merge> {
        if symbols.len() < 2 {
            return None;
        }
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        for &symbol in symbols {
            end += strings.get(symbol).len();
            self.starts.push(end);
        }
        let spelling = Spelling {
            string: strings.get(product),
            symbols,
            starts: &self.starts,
        };
        let merge = if symbols.len() <= FEW_SYMBOLS {
            by_looking(candidates, &spelling, &mut self.parts)
        } else {
            by_queue(candidates, &spelling)
        };
        merge.filter(|merge| merge.product == product)
    }
}

/// The last of the merges that join all symbols.
fn by_looking(
    candidates: &Candidates<'_>,
    spelling: &Spelling<'_>,
    parts: &mut Vec<Part>,
) -> Option<Merge> {
    let num_cells = spelling.symbols.len();
    parts.clear();
    parts.extend((0..).zip(spelling.symbols).map(|(cell, &token)| Part {
        token,
        cell,
        rank: NO_RANK,
        product: Number::NONE,
    }));
    let rate = |parts: &mut [Part], index: usize| {
        let Some(&next) = parts.get(index + 1) else {
            parts[index].rank = NO_RANK;
            return;
        };
        let end = parts.get(index + 2).map_or(num_cells, |part| part.cell);
        let part = &mut parts[index];
        let found = candidates.rank_of(spelling, part.token, next.token, part.cell..end);
        (part.rank, part.product) = found.unwrap_or((NO_RANK, Number::NONE));
    };
    for index in 0..num_cells {
        rate(parts, index);
    }
    loop {
        let (index, lowest) = parts.iter().enumerate().min_by_key(|(_, part)| part.rank)?;
        let Part { rank, product, .. } = *lowest;
        if rank == NO_RANK {
            return None;
        }
        if let [left, right] = parts[..] {
            return Some(Merge {
                left: left.token,
                right: right.token,
                product,
                rank,
            });
        }
        parts[index].token = product;
        parts.remove(index + 1);
        rate(parts, index);
        if index > 0 {
            rate(parts, index - 1);
        }
    }
}

/// The same for many symbols.
fn by_queue(candidates: &Candidates<'_>, spelling: &Spelling<'_>) -> Option<Merge> {
    let mut last = None;
    let rank_of = |left, right, cells| candidates.rank_of(spelling, left, right, cells);
    let made = merge_by_rank(spelling.symbols.to_vec(), rank_of, |left, right| {
        last = Some((left, right));
        Ok(())
    });
    let (left, right) = last.filter(|_| made.is_ok_and(|made| made.len() == 1))?;
    let (rank, product) = rank_of(left, right, 0..spelling.symbols.len())?;
    Some(Merge {
        left,
        right,
        product,
        rank,
    })
}
