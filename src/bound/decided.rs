//! Which strings merge lists have, and which they lack, in the search for prices.

use rustc_hash::FxHashSet;

use super::instance::Instance;

/// A string that counts less than this, or more than the rest, is taken as chosen or not.
const LEAST_SHARE: f32 = 0.1;
/// The number of strings that are tried before a case is divided by one.
pub(super) const MOST_TRIED: usize = 8;

/// The strings that some lists have, and those that they lack, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Decided {
    pub(super) has: Vec<usize>,
    pub(super) lacks: Vec<usize>,
}

impl Decided {
    /// The lists that have a string, and those that lack it.
    pub(super) fn divided_by(&self, string: usize) -> [Self; 2] {
        let (mut with, mut without) = (self.clone(), self.clone());
        with.has.push(string);
        without.lacks.push(string);
        [with, without]
    }

    /// Strings that are worth a decision, given how much each counts: frequent ones that are chosen by
    /// half, the most promising first. Of strings that occur equally often, as those of one frequent
    /// word do, one is enough.
    pub(super) fn open(
        &self,
        instance: &Instance,
        shares: impl Iterator<Item = f32>,
    ) -> Vec<usize> {
        let counts = occurrences(instance);
        let mut halves: Vec<(f32, usize)> = Vec::new();
        for (string, share) in shares.enumerate() {
            let half = share.min(1.0 - share);
            let is_open = !self.has.contains(&string) && !self.lacks.contains(&string);
            if half > LEAST_SHARE && is_open {
                halves.push((counts[string] as f32 * half, string));
            }
        }
        halves.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut seen = FxHashSet::default();
        halves.retain(|&(_, string)| seen.insert(counts[string]));
        let strings = halves.iter().map(|&(_, string)| string);
        strings.take(MOST_TRIED).collect()
    }
}

/// How often each string occurs.
fn occurrences(instance: &Instance) -> Vec<u64> {
    let mut counts = vec![0_u64; instance.num_strings];
    for section in &instance.sections {
        let mut items = instance.strings[section.items.clone()].iter();
        let mut start = section.symbols.start;
        for piece in section.pieces.clone() {
            let (end, count) = (instance.pieces.ends[piece], instance.pieces.counts[piece]);
            for &reach in &instance.reach[start..end] {
                // The first item is the symbol.
                for &string in items.by_ref().take(reach.into()).skip(1) {
                    let sum = &mut counts[section.name(string).at()];
                    *sum = sum.saturating_add(count);
                }
            }
            start = end;
        }
    }
    counts
}
