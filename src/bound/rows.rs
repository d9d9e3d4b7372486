//! Rows of strings that are chains, or begin one.

use rustc_hash::FxHashMap;

use super::chains::LinkIndex;
use crate::prices::StringIndex;

/// A row of strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Row(u32);

impl Row {
    /// Without any string.
    pub(super) const EMPTY: Self = Self(0);
}

/// The rows by which chains begin.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Each row but the empty one, by the row without its last string, and that string.
    longer: FxHashMap<(Row, StringIndex), Row>,
    /// The link of each but the empty one, if it is a chain.
    links: Vec<Option<LinkIndex>>,
    /// Whether each string, up to the last that is, is in a chain.
    is_in_a_chain: Vec<bool>,
}

impl Rows {
    /// Add a chain with its link, in this direction.
    pub(super) fn add(&mut self, chain: &[StringIndex], link: LinkIndex) {
        let mut row = Row::EMPTY;
        for &string in chain {
            let next = Row(self.links.len() as u32 + 1);
            row = *self.longer.entry((row, string)).or_insert(next);
            if row == next {
                self.links.push(None);
            }
            let num_strings = self.is_in_a_chain.len().max(string.at() + 1);
            self.is_in_a_chain.resize(num_strings, false);
            self.is_in_a_chain[string.at()] = true;
        }
        self.links[row.0 as usize - 1] = Some(link);
    }

    /// The row with one string more, if a chain begins so.
    pub(super) fn longer(&self, row: Row, string: StringIndex) -> Option<Row> {
        self.longer.get(&(row, string)).copied()
    }

    /// The link of a row that is a chain.
    pub(super) fn link(&self, row: Row) -> Option<LinkIndex> {
        *self.links.get((row.0 as usize).checked_sub(1)?)?
    }

    pub(super) fn is_in_a_chain(&self, string: StringIndex) -> bool {
        let is_in = self.is_in_a_chain.get(string.at());
        is_in.copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_found_string_by_string() {
        let mut rows = Rows::default();
        let strings = |chain: &[u32]| chain.iter().map(|&at| StringIndex(at)).collect();
        let chains: [Vec<StringIndex>; 4] =
            [&[3, 1][..], &[3, 1, 2], &[3, 7, 2, 1], &[1, 3]].map(strings);
        for (index, chain) in (0..).zip(&chains) {
            rows.add(chain, LinkIndex(index));
        }
        let find = |chain: &[StringIndex]| {
            let row = chain
                .iter()
                .try_fold(Row::EMPTY, |row, &at| rows.longer(row, at));
            row.and_then(|row| rows.link(row))
        };
        for (index, chain) in (0..).zip(&chains) {
            assert_eq!(find(chain), Some(LinkIndex(index)));
        }
        for other in [&[3, 7][..], &[3, 7, 2], &[7], &[1, 3, 7], &[2, 1], &[]] {
            let other: Vec<StringIndex> = strings(other);
            assert_eq!(find(&other), None);
        }
        let known: Vec<u32> = (0..9)
            .filter(|&at| rows.is_in_a_chain(StringIndex(at)))
            .collect();
        assert_eq!(known, [1, 2, 3, 7]);
    }
}
