//! Which pieces are light: their spans have no prices, but cost what their symbols do.

use super::words::Words;

/// With fewer items no piece is light.
const MANY_ITEMS: usize = 1 << 19;
/// A piece is light if its weight times this is at most the floor, and if the symbols of all light
/// pieces are at most some part of all symbols.
const LIGHT_BESIDE_FLOOR: u64 = 3;

/// The symbols of light pieces are at most these parts of all, by numerator and denominator.
#[derive(Debug, Clone, Copy)]
pub(super) struct LightPart(u128, u128);

impl LightPart {
    pub(super) const FIRST: Self = Self(2, 3);
    /// Prices of more spans are worth their time where most prices are nearly found.
    pub(super) const LATER: Self = Self(1, 2);

    /// The weight of the heaviest light pieces; 0 if there are none.
    pub(super) fn heaviest(self, pieces: &Words, num_items: usize, floor: u64) -> u64 {
        if num_items < MANY_ITEMS {
            return 0;
        }
        let mut symbols_of: Vec<(u64, u64)> = pieces
            .iter()
            .map(|(piece, weight)| (weight, weight.saturating_mul(piece.len() as u64)))
            .collect();
        symbols_of.sort_unstable();
        let sum_of = |pieces: &[(u64, u64)]| -> u128 {
            let symbols = pieces.iter().map(|&(_, symbols)| u128::from(symbols));
            symbols.sum()
        };
        let total = sum_of(&symbols_of);
        let mut sum = 0;
        let mut heaviest = 0;
        for same in symbols_of.chunk_by(|(a, _), (b, _)| a == b) {
            sum += sum_of(same);
            let weight = same[0].0;
            let is_rare = weight.saturating_mul(LIGHT_BESIDE_FLOOR) <= floor;
            if !is_rare || sum * self.1 > total * self.0 {
                break;
            }
            heaviest = weight;
        }
        heaviest
    }
}
