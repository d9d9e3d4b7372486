//! The own merge of each token: the last of the merges that make its string, alone, that token.

use super::strings::Strings;
use super::{Merge, Merging, Number};
use crate::error::{Error, Result};
use crate::merges::Ranks;

/// Tokens of more symbols are merged with a queue, in O(n log n); of fewer, by looking for the lowest
/// rank each time, which is faster.
const FEW_SYMBOLS: usize = 64;
const NO_RANK: u32 = u32::MAX;

/// Finds own merges, those of shorter tokens first.
///
/// All merges inside a token are own merges of shorter tokens. So where tokens have the ranks, the own
/// merges found so far are all the pairs that have to be known.
pub(super) struct Finder {
    pairs: Ranks<Number>,
    /// If tokens have the ranks: that of each token; `NO_RANK` if no pair makes it.
    token_ranks: Option<Vec<u32>>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy)]
struct Part {
    token: Number,
    /// Of the pair that this part and the next are: its rank and what it makes.
    rank: u32,
    product: Number,
}

impl Finder {
    pub(super) fn new(strings: &Strings, merging: &Merging<'_>) -> Result<Self> {
        let (pairs, token_ranks) = match merging {
            Merging::Pairs(pairs) => (ranks_of_pairs(strings, pairs)?, None),
            Merging::Numbers(merges) => (ranks_of_numbers(strings, merges)?, None),
            Merging::Ranks(tokens) => {
                let token_ranks = ranks_of_tokens(strings, tokens)?;
                (Ranks::with_capacity(tokens.len()), Some(token_ranks))
            }
        };
        Ok(Self {
            pairs,
            token_ranks,
            parts: Vec::new(),
        })
    }

    /// The own merge of the token `product` of these symbols, if it has one. The rank is the given
    /// one.
    pub(super) fn find(&mut self, product: Number, symbols: &[Number]) -> Option<Merge> {
        if symbols.len() < 2 {
            return None;
        }
        let (left, right) = if symbols.len() <= FEW_SYMBOLS {
            self.last_pair_by_looking(symbols)?
        } else {
            self.last_pair_by_queue(symbols)?
        };
        let rank = match &self.token_ranks {
            None => self.pairs.get(left, right)?.0,
            Some(ranks) => {
                let rank = ranks[product.index()];
                if rank == NO_RANK {
                    return None;
                }
                self.pairs.add((left, right), rank, product);
                rank
            }
        };
        Some(Merge {
            left,
            right,
            product,
            rank,
        })
    }

    /// What the symbols are when two parts are left, if they become so few.
    fn last_pair_by_looking(&mut self, symbols: &[Number]) -> Option<(Number, Number)> {
        let Self { pairs, parts, .. } = self;
        parts.clear();
        parts.extend(symbols.iter().map(|&token| Part {
            token,
            rank: NO_RANK,
            product: Number::NONE,
        }));
        let rate = |parts: &mut [Part], index: usize| {
            let next = parts.get(index + 1);
            let found = next.and_then(|next| pairs.get(parts[index].token, next.token));
            let part = &mut parts[index];
            (part.rank, part.product) = found.unwrap_or((NO_RANK, Number::NONE));
        };
        if parts.len() > 2 {
            (0..parts.len()).for_each(|index| rate(parts, index));
        }
        while parts.len() > 2 {
            let (index, lowest) = parts.iter().enumerate().min_by_key(|(_, part)| part.rank)?;
            if lowest.rank == NO_RANK {
                return None;
            }
            parts[index].token = lowest.product;
            parts.remove(index + 1);
            rate(parts, index);
            if index > 0 {
                rate(parts, index - 1);
            }
        }
        Some((parts[0].token, parts[1].token))
    }

    /// The same for many symbols.
    fn last_pair_by_queue(&self, symbols: &[Number]) -> Option<(Number, Number)> {
        let mut last = None;
        let merged = self.pairs.apply(symbols.to_vec(), |left, right| {
            last = Some((left, right));
            Ok(())
        });
        match merged.ok()?[..] {
            [_] => last,
            [left, right] => Some((left, right)),
            _ => None,
        }
    }
}

fn ranks_of_pairs(strings: &Strings, pairs: &[(&[u8], &[u8], u32)]) -> Result<Ranks<Number>> {
    let mut ranks = Ranks::with_capacity(pairs.len());
    for (index, &(left, right, rank)) in pairs.iter().enumerate() {
        let find = |string: &[u8]| {
            strings.find(string).ok_or_else(|| Error::UnknownPart {
                index,
                string: string.to_vec(),
            })
        };
        let product = find(&[left, right].concat())?;
        ranks.add((find(left)?, find(right)?), rank, product);
    }
    Ok(ranks)
}

fn ranks_of_numbers(strings: &Strings, merges: &[[u32; 3]]) -> Result<Ranks<Number>> {
    let mut ranks = Ranks::with_capacity(merges.len());
    for (&numbers, rank) in merges.iter().zip(0..) {
        if numbers
            .iter()
            .any(|&number| number as usize >= strings.len())
        {
            return Err(Error::TooManyTokens);
        }
        let [left, right, product] = numbers.map(|number| Number::new(number as usize));
        ranks.add((left, right), rank, product);
    }
    Ok(ranks)
}

fn ranks_of_tokens(strings: &Strings, tokens: &[(&[u8], u32)]) -> Result<Vec<u32>> {
    let mut ranks = vec![NO_RANK; strings.len()];
    for (index, &(token, rank)) in tokens.iter().enumerate() {
        if rank == NO_RANK {
            return Err(Error::TooManyTokens);
        }
        // Most files list the ranks in the order of the tokens.
        let same_place = Some(Number::new(index)).filter(|_| index < strings.len());
        let number = same_place.filter(|&number| strings.get(number) == token);
        if let Some(number) = number.or_else(|| strings.find(token))
            && ranks[number.index()] == NO_RANK
        {
            ranks[number.index()] = rank;
        }
    }
    Ok(ranks)
}
