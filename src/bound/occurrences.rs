//! The strings of a corpus as the verifier finds them, from the words alone.

use rustc_hash::FxHashMap;

use super::against::Against;
use super::claim::Claim;
use super::words::Words;
use crate::merges::Id;

/// No string.
pub(super) const NONE: u32 = u32::MAX;

/// Words of two symbols or more, against merges cut where two neighbours are no frequent pair; equal
/// ones added up, in ascending order.
pub(super) fn pieces(words: &Words, claim: &Claim) -> Words {
    let mut pairs: FxHashMap<(Id, Id), u64> = FxHashMap::default();
    for (word, count) in words.iter() {
        for pair in word.windows(2) {
            let sum = pairs.entry((pair[0], pair[1])).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    let is_joined = |a: &Id, b: &Id| match claim.against {
        Against::Merges => pairs.get(&(*a, *b)).is_some_and(|&sum| sum > claim.floor),
        Against::Vocabularies => true,
    };
    let mut cut: Vec<(&[Id], u64)> = Vec::new();
    for (word, count) in words.iter().filter(|&(_, count)| count > 0) {
        let long = word.chunk_by(is_joined).filter(|piece| piece.len() > 1);
        cut.extend(long.map(|piece| (piece, count)));
    }
    cut.sort_unstable();
    let mut pieces = Words::default();
    for same in cut.chunk_by(|a, b| a.0 == b.0) {
        let sum = same
            .iter()
            .fold(0_u64, |sum, piece| sum.saturating_add(piece.1));
        pieces.push(same[0].0, sum);
    }
    pieces
}

/// The strings of one length.
#[derive(Default, Clone)]
pub(super) struct Occurrences {
    /// Where they stand, piece by piece: the piece, the symbol, the number of the string.
    pub(super) places: Vec<(u32, u32, u32)>,
    pub(super) num_strings: usize,
}

/// The strings of one symbol.
pub(super) fn single_symbols(pieces: &Words) -> Occurrences {
    let mut strings = Occurrences::default();
    let mut symbol = 0;
    for (index, (piece, _)) in (0..).zip(pieces.iter()) {
        for &string in piece {
            strings.places.push((index, symbol, string));
            symbol += 1;
        }
    }
    strings
}

/// The strings one symbol longer that occur more than `floor` times.
pub(super) fn longer(pieces: &Words, strings: &Occurrences, floor: u64) -> Occurrences {
    let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut sums: Vec<u64> = Vec::new();
    let mut next = Occurrences::default();
    for pair in strings.places.windows(2) {
        let ((piece, symbol, prefix), (other, after, suffix)) = (pair[0], pair[1]);
        if piece == other && symbol + 1 == after {
            let new = sums.len() as u32;
            let number = *numbers.entry((prefix, suffix)).or_insert(new);
            if number == new {
                sums.push(0);
            }
            let sum = &mut sums[number as usize];
            *sum = sum.saturating_add(pieces.counts[piece as usize]);
            next.places.push((piece, symbol, number));
        }
    }
    let mut frequent = Vec::with_capacity(sums.len());
    for &sum in &sums {
        frequent.push(if sum > floor {
            next.num_strings as u32
        } else {
            NONE
        });
        next.num_strings += usize::from(sum > floor);
    }
    next.places.retain_mut(|(_, _, string)| {
        *string = frequent[*string as usize];
        *string != NONE
    });
    next
}

/// Where the prices of the spans of each symbol begin, and where the last end; and the strings that
/// are one symbol too long for a price.
pub(super) fn rows(pieces: &Words, claim: &Claim) -> (Vec<usize>, Occurrences) {
    let mut reach = vec![1; pieces.symbols.len()];
    let mut strings = single_symbols(pieces);
    for length in 2.. {
        strings = longer(pieces, &strings, claim.floor);
        if strings.num_strings == 0 || length > claim.longest {
            break;
        }
        for &(_, symbol, _) in &strings.places {
            reach[symbol as usize] = length;
        }
    }
    let mut end = 0;
    let mut rows = vec![0];
    rows.extend(reach.into_iter().map(|reach: usize| {
        end += reach;
        end
    }));
    (rows, strings)
}
