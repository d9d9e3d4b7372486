//! One array of many parts, written by several threads.

use crate::pages::prefer_large_pages;
use crate::parallel::Team;

/// The items of all parts, one part behind the other, each written, and dropped, by one of the threads:
/// to make so much memory and to fill it takes one thread longer than what several do with it.
#[allow(
    unsafe_code,
    reason = "memory that is filled by one thread first is filled twice"
)]
pub(crate) fn concatenated<T: Send, I: ExactSizeIterator<Item = T> + Send>(
    parts: Vec<I>,
    team: &Team,
) -> Vec<T> {
    let num_items = parts.iter().map(ExactSizeIterator::len).sum();
    let mut items = Vec::with_capacity(num_items);
    prefer_large_pages(&mut items);
    let mut room = &mut items.spare_capacity_mut()[..num_items];
    let mut writers = Vec::with_capacity(parts.len());
    for part in parts {
        let (place, rest) = room.split_at_mut(part.len());
        writers.push((Some(part), place));
        room = rest;
    }
    let written = team.with_each(&mut writers, |(part, place)| {
        let mut num_written = 0;
        let part = part.take().expect("each is written once");
        for (slot, item) in place.iter_mut().zip(part) {
            slot.write(item);
            num_written += 1;
        }
        assert_eq!(num_written, place.len(), "as many as the part says");
        Ok(())
    });
    written.expect("no part fails");
    // SAFETY: the places of the parts are all of these items, and each part has filled its own.
    unsafe {
        items.set_len(num_items);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_team;

    #[test]
    fn parts_come_in_order() {
        for lengths in [vec![], vec![0], vec![3], vec![0, 2, 0, 5, 1]] {
            let parts = lengths
                .iter()
                .map(|&length| (0..length).map(|item| vec![item; 3]));
            let expected: Vec<_> = parts.clone().flatten().collect();
            let found = with_team(3, |team| concatenated(parts.collect(), team));
            assert_eq!(found, expected);
        }
    }
}
