//! Prices to begin with.
//!
//! Given tokens, each piece is cut into as few of them as possible, and the symbols of a token share
//! the price 1; without tokens, all symbols cost the same. A span costs what its symbols do, but at
//! most 1.

use rustc_hash::FxHashSet;

use super::batch::{Batch, items_of};
use super::instance::Instance;
use crate::merges::Id;
use crate::prices::StringIndex;

/// What a symbol costs without tokens.
const USUAL: f32 = 0.35;

/// Which of the strings of an instance are among `tokens`.
pub(super) fn known(instance: &Instance, tokens: &[Vec<Id>]) -> Vec<bool> {
    let tokens: FxHashSet<&[Id]> = tokens.iter().map(Vec::as_slice).collect();
    let strings = 0..instance.num_strings;
    strings
        .map(|string| tokens.contains(instance.symbols_of(string)))
        .collect()
}

/// Set the prices of a batch by the strings that are tokens.
pub(super) fn from_tokens(batch: &mut Batch, is_token: &[bool]) {
    let has_tokens = is_token.contains(&true);
    let is_token = |string: StringIndex| is_token[batch.section.name(string).at()];
    let mut symbol_prices = Vec::new();
    for piece in &batch.pieces {
        let rows = piece.rows(&batch.rows);
        symbol_prices.clear();
        symbol_prices.resize(rows.len() - 1, USUAL);
        if has_tokens {
            let strings = &batch.strings[items_of(rows)];
            share_tokens(rows, strings, is_token, &mut symbol_prices);
        }
        let prices = &mut batch.prices.values[piece.prices(rows)];
        if piece.by_symbol {
            prices.copy_from_slice(&symbol_prices);
        } else {
            set_spans(rows, &symbol_prices, prices);
        }
    }
}

/// Set the prices of all spans of a piece to what their symbols cost, but at most 1.
pub(super) fn set_spans(rows: &[u32], of_symbols: &[f32], prices: &mut [f32]) {
    for (symbol, ends) in rows.windows(2).enumerate() {
        let mut sum = 0.0;
        let row = (ends[0] - rows[0]) as usize..(ends[1] - rows[0]) as usize;
        for (price, of_symbol) in prices[row].iter_mut().zip(&of_symbols[symbol..]) {
            sum += of_symbol;
            *price = f32::min(sum, 1.0);
        }
    }
}

/// Cut a piece into as few tokens as possible; the symbols of a token share the price 1.
fn share_tokens(
    rows: &[u32],
    strings: &[StringIndex],
    is_token: impl Fn(StringIndex) -> bool,
    prices: &mut [f32],
) {
    // For each symbol: the number of tokens from there on, and the length of the first.
    let mut best: Vec<(u32, usize)> = vec![(0, 1); rows.len()];
    for start in (0..rows.len() - 1).rev() {
        let row = (rows[start] - rows[0]) as usize..(rows[start + 1] - rows[0]) as usize;
        let lengths = (1..)
            .zip(&strings[row])
            .filter(|&(length, string)| length == 1 || is_token(*string));
        best[start] = lengths
            .map(|(length, _)| (best[start + length].0 + 1, length))
            .min()
            .unwrap_or_default();
    }
    let mut start = 0;
    while start < prices.len() {
        let length = best[start].1.max(1);
        prices[start..start + length].fill(1.0 / length as f32);
        start += length;
    }
}
