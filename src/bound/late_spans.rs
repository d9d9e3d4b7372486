//! Prices for the spans of more pieces, behind most of the way.
//!
//! While prices are far from good, those of light pieces' spans would hardly improve the bound, and steps
//! without them are fast. In the last steps they improve it, and it is few steps that take longer.

use std::sync::Mutex;

use super::batch::Batch;
use super::instance::Instance;
use super::light::LightPart;
use super::start;
use crate::error::Result;
use crate::parallel::{Team, lock};

/// The fraction of the way behind which fewer pieces are light, at the latest.
pub(super) const LATER: f64 = 0.6;
/// As long as how many steps without them a step with them takes, on 4.5 MB of Japanese.
pub(super) const TIME: f64 = 1.3;

/// Whether it is time to. Where the splits of strings are told apart it is, and so before there are rings:
/// chains are not carried over.
pub(super) fn is_due(progress: f64, by_split: bool) -> bool {
    progress >= LATER || by_split
}

/// The weight of the heaviest light pieces then; None if no fewer pieces are light.
pub(super) fn heaviest_light_later(instance: &Instance) -> Option<u64> {
    let [now, later] = [LightPart::FIRST, LightPart::LATER].map(|p| instance.heaviest_light(p));
    (now != later).then_some(later)
}

/// The pieces of `before` in new batches, with the prices that they have, and fewer light pieces among
/// them; None if these are as few as they may be.
pub(super) fn price_more<'a>(
    before: &[Mutex<Batch<'a>>],
    instance: &'a Instance,
    team: &Team,
) -> Result<Option<Vec<Mutex<Batch<'a>>>>> {
    let Some(later) = heaviest_light_later(instance) else {
        return Ok(None);
    };
    let batches = team.map(before.len(), |index| {
        let before = lock(&before[index]);
        let mut batch = Batch::new(instance, before.section, later);
        carry_over(&before, &mut batch);
        Ok(Mutex::new(batch))
    })?;
    Ok(Some(batches))
}

/// Set the prices of a batch, given another of the same pieces.
fn carry_over(old: &Batch, batch: &mut Batch) {
    for (piece, was) in batch.pieces.iter().zip(&old.pieces) {
        let rows = piece.rows(&batch.rows);
        let (prices, old_prices) = (piece.prices(rows), was.prices(was.rows(&old.rows)));
        if piece.by_symbol == was.by_symbol {
            batch.prices.copy_from(prices, &old.prices, old_prices);
            continue;
        }
        let of_symbols = &old.prices.values[old_prices.clone()];
        start::set_spans(rows, of_symbols, &mut batch.prices.values[prices.clone()]);
        for (row, from) in rows.iter().zip(old_prices) {
            let price = prices.start + (row - rows[0]) as usize;
            let symbol = price..price + 1;
            batch.prices.copy_from(symbol, &old.prices, from..from + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::against::Against;
    use crate::bound::batch::Piece;
    use crate::bound::words::Words;
    use crate::greedy::tests::Dice;
    use crate::parallel::with_team;
    use crate::watch::Watch;
    use std::sync::MutexGuard;

    /// Words so many that the rarest are light.
    fn instance() -> Instance {
        let mut dice = Dice(3);
        let mut words = Words::default();
        for number in 0..24_000 {
            let word: Vec<u32> = (0..12).map(|_| dice.below(4) as u32).collect();
            words.push(&word, [1, 1, 1, 2, 4][number % 5]);
        }
        let watch = Watch::default();
        Instance::new(&words, Against::Merges, 50, 12, 4, 1, &watch).expect("nothing stops it")
    }

    /// The first batches.
    fn batches(instance: &Instance) -> Vec<Batch<'_>> {
        let light = instance.heaviest_light(LightPart::FIRST);
        let sections = instance.sections.iter();
        sections
            .map(|section| Batch::new(instance, section, light))
            .collect()
    }

    #[test]
    fn spans_of_pieces_that_were_light_cost_what_their_symbols_do() {
        let instance = instance();
        let mut before = batches(&instance);
        let mut dice = Dice(8);
        for batch in &mut before {
            batch
                .prices
                .values
                .fill_with(|| dice.below(100) as f32 / 100.0);
        }
        let before: Vec<Mutex<Batch>> = before.into_iter().map(Mutex::new).collect();
        let more = with_team(2, |team| price_more(&before, &instance, team));
        let batches = more.expect("nothing fails").expect("some were light");
        let before: Vec<MutexGuard<Batch>> = before.iter().map(lock).collect();
        let mut was = before.iter().flat_map(|batch| {
            let prices =
                |piece: &Piece| &batch.prices.values[piece.prices(piece.rows(&batch.rows))];
            batch.pieces.iter().map(move |piece| (piece, prices(piece)))
        });
        let mut changed = 0;
        for batch in &batches {
            let batch = lock(batch);
            for piece in &batch.pieces {
                let (old, of_old) = was.next().expect("as many pieces");
                assert_eq!(piece.weight, old.weight);
                let rows = piece.rows(&batch.rows);
                let prices = &batch.prices.values[piece.prices(rows)];
                if piece.by_symbol == old.by_symbol {
                    assert_eq!(prices, of_old);
                    continue;
                }
                changed += 1;
                for (start, ends) in rows.windows(2).enumerate() {
                    for (length, item) in (1..).zip(ends[0] - rows[0]..ends[1] - rows[0]) {
                        let sum: f32 = of_old[start..start + length].iter().sum();
                        assert!((prices[item as usize] - sum.min(1.0)).abs() < 1e-6);
                    }
                }
            }
        }
        assert!(was.next().is_none() && changed > 0);
    }

    #[test]
    fn without_light_pieces_nothing_changes() {
        let mut words = Words::default();
        words.push(&[0, 1, 2], 1);
        let watch = Watch::default();
        let instance = Instance::new(&words, Against::Merges, 2, 1, 4, 1, &watch);
        let instance = instance.expect("nothing stops it");
        let before = batches(&instance);
        let before: Vec<Mutex<Batch>> = before.into_iter().map(Mutex::new).collect();
        let priced = with_team(1, |team| {
            price_more(&before, &instance, team).map(|more| more.is_none())
        });
        assert_eq!(priced, Ok(true));
    }
}
