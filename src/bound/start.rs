//! Prices to begin with.
//!
//! Given tokens, each piece is cut into as few of them as possible, and a symbol costs its share of
//! the token that it is in; without, all symbols cost the same. A span costs what its symbols do, but
//! at most 1.

use rustc_hash::FxHashMap;

use super::instance::Instance;
use super::naming::NONE;
use super::part::{Part, items_of};
use crate::merges::Id;

/// What a symbol costs if nothing is known.
const USUAL: f32 = 0.35;

/// Which of the strings of an instance are among `tokens`.
pub(super) fn known(instance: &Instance, tokens: &[Vec<Id>]) -> Vec<bool> {
    let mut names: FxHashMap<&[Id], u32> = FxHashMap::default();
    for (name, string) in (0..).zip(strings(instance)) {
        names.insert(string, name);
    }
    let mut is_known = vec![false; instance.num_strings];
    for token in tokens {
        if let Some(&name) = names.get(token.as_slice()) {
            is_known[name as usize] = true;
        }
    }
    is_known
}

/// The symbols of each string.
pub(super) fn strings(instance: &Instance) -> Vec<&[Id]> {
    let mut strings: Vec<&[Id]> = vec![&[]; instance.num_strings];
    let symbols = instance.pieces.symbols();
    let mut row = 0;
    for (symbol, &reach) in instance.reach.iter().enumerate() {
        let names = &instance.names[row..row + reach as usize];
        for (length, &name) in (1..).zip(names).skip(1) {
            if name != NONE && strings[name as usize].is_empty() {
                strings[name as usize] = &symbols[symbol..symbol + length];
            }
        }
        row += reach as usize;
    }
    strings
}

/// Set the prices of a part by the strings that are tokens.
pub(super) fn from_tokens(part: &mut Part, is_token: &[bool]) {
    let has_tokens = is_token.contains(&true);
    let mut symbol_prices = Vec::new();
    for piece in &part.pieces {
        let rows = piece.rows(&part.rows);
        symbol_prices.clear();
        symbol_prices.resize(rows.len() - 1, USUAL);
        if has_tokens {
            let names = &part.names[items_of(rows)];
            share_tokens(rows, names, is_token, &mut symbol_prices);
        }
        let prices = &mut part.prices[piece.prices(rows)];
        if piece.by_symbol {
            prices.copy_from_slice(&symbol_prices);
            continue;
        }
        for (symbol, ends) in rows.windows(2).enumerate() {
            let mut sum = 0.0;
            let row = (ends[0] - rows[0]) as usize..(ends[1] - rows[0]) as usize;
            for (price, symbol_price) in prices[row].iter_mut().zip(&symbol_prices[symbol..]) {
                sum += symbol_price;
                *price = f32::min(sum, 1.0);
            }
        }
    }
}

/// Cut a piece into as few tokens as possible; each symbol costs its share of its token.
fn share_tokens(rows: &[u32], names: &[u32], is_token: &[bool], prices: &mut [f32]) {
    // For each symbol: how many tokens from there on, and how long the first is.
    let mut best: Vec<(u32, usize)> = vec![(0, 1); rows.len()];
    for start in (0..rows.len() - 1).rev() {
        let row = (rows[start] - rows[0]) as usize..(rows[start + 1] - rows[0]) as usize;
        let names = &names[row];
        let lengths = (1..)
            .zip(names)
            .filter(|&(length, &name)| length == 1 || is_token[name as usize]);
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
