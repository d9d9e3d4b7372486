//! Rows of strings that are chains, or begin one.

use rustc_hash::FxHashMap;

use super::chains::LinkIndex;
use crate::error::Result;
use crate::parallel::Team;
use crate::prices::StringIndex;

/// The number of parts in which threads find rows.
const PARTS: usize = 32;

/// A row of strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Row(u32);

impl Row {
    /// Without any string.
    pub(super) const EMPTY: Self = Self(0);

    fn new(number: usize, part: usize) -> Self {
        Self((number * PARTS + part + 1) as u32)
    }

    /// Its number in its part, and the part.
    fn place(self) -> Option<(usize, usize)> {
        let index = (self.0 as usize).checked_sub(1)?;
        Some((index / PARTS, index % PARTS))
    }
}

/// The rows by which chains begin.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By their first strings.
    parts: Vec<Part>,
    /// Whether each string, up to the last that is, is in a chain.
    is_in_a_chain: Vec<bool>,
}

/// The part of a row that begins with this string.
fn part_of(string: StringIndex) -> usize {
    string.at() % PARTS
}

/// Some of the rows.
#[derive(Debug, Default)]
struct Part {
    /// Each row but the empty one, by the row without its last string, and that string.
    longer: FxHashMap<(Row, StringIndex), Row>,
    /// The link of each but the empty one, if it is a chain.
    links: Vec<Option<LinkIndex>>,
}

impl Part {
    /// Add a chain, in this direction, to the part of this number.
    fn add(&mut self, part: usize, chain: impl Iterator<Item = StringIndex>, link: LinkIndex) {
        let mut row = Row::EMPTY;
        for string in chain {
            let next = Row::new(self.links.len(), part);
            row = *self.longer.entry((row, string)).or_insert(next);
            if row == next {
                self.links.push(None);
            }
        }
        if let Some((number, _)) = row.place() {
            self.links[number] = Some(link);
        }
    }
}

impl Rows {
    /// Those of chains of two strings or more, in both directions, given how to find their links.
    pub(super) fn new(
        chains: &[&[StringIndex]],
        link: impl Fn(&[StringIndex]) -> LinkIndex + Sync,
        team: &Team,
    ) -> Result<Self> {
        let parts = team.map(PARTS, |number| {
            let mut part = Part::default();
            for &chain in chains {
                if part_of(chain[0]) == number {
                    part.add(number, chain.iter().copied(), link(chain));
                }
                if part_of(chain[chain.len() - 1]) == number {
                    part.add(number, chain.iter().rev().copied(), link(chain));
                }
            }
            Ok(part)
        })?;
        let strings = || chains.iter().copied().flatten();
        let num_strings = strings().max().map_or(0, |last| last.at() + 1);
        let mut is_in_a_chain = vec![false; num_strings];
        strings().for_each(|string| is_in_a_chain[string.at()] = true);
        Ok(Self {
            parts,
            is_in_a_chain,
        })
    }

    /// The row with one string more, if a chain begins so.
    pub(super) fn longer(&self, row: Row, string: StringIndex) -> Option<Row> {
        let part = row.place().map_or(part_of(string), |(_, part)| part);
        self.parts.get(part)?.longer.get(&(row, string)).copied()
    }

    /// The link of a row that is a chain.
    pub(super) fn link(&self, row: Row) -> Option<LinkIndex> {
        let (number, part) = row.place()?;
        *self.parts.get(part)?.links.get(number)?
    }

    pub(super) fn is_in_a_chain(&self, string: StringIndex) -> bool {
        let is_in = self.is_in_a_chain.get(string.at());
        is_in.copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_team;

    #[test]
    fn chains_are_found_string_by_string() {
        let strings = |chain: &[u32]| chain.iter().map(|&at| StringIndex(at)).collect();
        let chains: [Vec<StringIndex>; 4] =
            [&[3, 1][..], &[3, 1, 2], &[3, 7, 2, 35], &[35, 3]].map(strings);
        let all: Vec<&[StringIndex]> = chains.iter().map(Vec::as_slice).collect();
        let index = |chain: &[StringIndex]| all.iter().position(|known| *known == chain);
        let link = |chain: &[StringIndex]| LinkIndex(index(chain).unwrap_or(9) as u32);
        let rows = with_team(3, |team| Rows::new(&all, link, team)).expect("nothing fails");
        let find = |chain: &[StringIndex]| {
            let row = chain
                .iter()
                .try_fold(Row::EMPTY, |row, &at| rows.longer(row, at));
            row.and_then(|row| rows.link(row))
        };
        for (index, chain) in (0..).zip(&chains) {
            let back: Vec<StringIndex> = chain.iter().rev().copied().collect();
            assert_eq!(find(chain), Some(LinkIndex(index)));
            assert_eq!(find(&back), Some(LinkIndex(index)));
        }
        for other in [&[3, 7][..], &[3, 7, 2], &[7], &[1, 3, 7], &[2, 35, 3], &[]] {
            let other: Vec<StringIndex> = strings(other);
            assert_eq!(find(&other), None);
        }
        let known: Vec<u32> = (0..40)
            .filter(|&at| rows.is_in_a_chain(StringIndex(at)))
            .collect();
        assert_eq!(known, [1, 2, 3, 7, 35]);
    }
}
