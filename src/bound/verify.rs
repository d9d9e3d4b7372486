//! What prices prove, in integers, from the words alone.
//!
//! The fast twin of `formal.bound`: it shares nothing with the search for prices but the words.
//! Strings are compared exactly: two of one length are equal if their prefixes and their suffixes one
//! symbol shorter are. Lengths are taken one after the other, so that only the prices of all spans
//! and the strings of one length are in memory. Cost: linear in the number of cuts of all spans.

use rustc_hash::{FxHashMap, FxHashSet};

use super::against::Against;
use super::cases::Case;
use super::claim::{Claim, Flaw, Rings};
use super::occurrences::{NONE, Occurrences, longer, pieces, rows, single_symbols};
use super::rings::Relief;
use super::words::Words;
use crate::merges::Id;

/// The most that M merges or M strings can save, in units of 1 / 2^bits.
pub fn verify(words: &Words, claim: &Claim, discounts: &[u32]) -> Result<i128, Flaw> {
    verify_cases(words, claim, &[Case::default()], discounts)
}

/// The same, by rings; behind the discounts are their credits, in the order that
/// [`FoundPrices`](super::FoundPrices) says.
pub fn verify_rings(
    words: &Words,
    claim: &Claim,
    rings: &Rings,
    numbers: &[u32],
) -> Result<i128, Flaw> {
    verify_all(words, claim, &[Case::default()], rings, numbers)
}

/// The same, by the discounts of each of some cases, one after the other; together these must be all.
pub fn verify_cases(
    words: &Words,
    claim: &Claim,
    cases: &[Case],
    discounts: &[u32],
) -> Result<i128, Flaw> {
    verify_all(words, claim, cases, &Rings::default(), discounts)
}

fn verify_all(
    words: &Words,
    claim: &Claim,
    cases: &[Case],
    rings: &Rings,
    numbers: &[u32],
) -> Result<i128, Flaw> {
    let pieces = pieces(words, claim);
    let sizes = [claim.num_merges, claim.longest, pieces.symbols.len()];
    let is_too_large = sizes.iter().any(|&size| size >= NONE as usize);
    if claim.bits > 30 || claim.longest < 2 || is_too_large {
        return Err(Flaw::Claim);
    }
    if cases.is_empty() || claim.against == Against::Vocabularies && cases.len() > 1 {
        return Err(Flaw::Cases);
    }
    if claim.against == Against::Vocabularies && !rings.is_empty() {
        return Err(Flaw::Rings);
    }
    let (rows, too_long) = rows(&pieces, claim);
    let num_prices = match claim.against {
        Against::Merges => rows[rows.len() - 1],
        Against::Vocabularies => rows.len() - 1,
    };
    let expected = num_prices.saturating_mul(cases.len());
    let found = numbers.len();
    if found < expected || rings.is_empty() && found > expected {
        return Err(Flaw::Number { found, expected });
    }
    let (discounts, credits) = numbers.split_at(expected);
    let relief = if rings.is_empty() {
        Relief::default()
    } else {
        Relief::of(rings, credits, &pieces, &rows)?
    };
    let mut most = 0;
    for (index, case) in cases.iter().enumerate() {
        let check = Check {
            claim,
            pieces: &pieces,
            rows: &rows,
            relief: &relief,
            one: 1 << claim.bits,
            prices: Vec::new(),
            losses: Vec::new(),
            certain: Vec::new(),
        };
        let discounts = &discounts[index * num_prices..(index + 1) * num_prices];
        most = most.max(check.total(case, discounts, too_long.clone()));
    }
    Ok(most)
}

/// A string that is too long for a price.
#[derive(Default)]
struct Long {
    count: u64,
    loss: i128,
    /// The symbol before its places; None at the beginning of a piece.
    before: Option<Id>,
    /// Whether that is not always the same. If it is, the string with it loses no less, and the same
    /// holds for every longer string that this one begins.
    is_left_maximal: bool,
}

struct Check<'a> {
    claim: &'a Claim,
    pieces: &'a Words,
    rows: &'a [usize],
    relief: &'a Relief,
    one: i64,
    /// Against merges those of all items, against vocabularies those of the symbols. That of a span is
    /// its discount until `set_price` computes the price.
    prices: Vec<i64>,
    /// Of each string that a list may have or lack.
    losses: Vec<i128>,
    /// Of the strings with a price that it has for certain.
    certain: Vec<i128>,
}

impl Check<'_> {
    /// The most that the lists of a case can save.
    fn total(mut self, case: &Case, discounts: &[u32], too_long: Occurrences) -> i128 {
        self.read(discounts);
        let rest = self.rest();
        self.weigh_all(case);
        let (long, too_long) = self.weigh_long(too_long);
        let floor = match self.claim.against {
            Against::Merges => i128::from(self.claim.floor.max(too_long)) << self.claim.bits,
            Against::Vocabularies => self.unpriced(too_long),
        };
        let floor = floor.max(long);
        // What a list has for certain; of strings without a price as much as any of them loses.
        let unpriced = (distinct(&case.has).len() - self.certain.len()) as i128;
        let certain = unpriced.saturating_mul(floor);
        let certain = self
            .certain
            .iter()
            .copied()
            .fold(certain, i128::saturating_add);
        let num_others = self
            .claim
            .num_merges
            .saturating_sub(distinct(&case.has).len());
        let mut losses = self.losses;
        losses.sort_unstable_by(|a, b| b.cmp(a));
        let num_counted = num_others.min(losses.len());
        let counted = losses[..num_counted].iter().map(|&loss| loss.max(floor));
        let others = ((num_others - num_counted) as i128).saturating_mul(floor);
        // A claimed floor can be so high that the sum exceeds 128 bits; then every bound holds.
        let rest = rest.saturating_add(self.relief.added);
        let least = rest.saturating_add(others).saturating_add(certain);
        counted.fold(least, i128::saturating_add)
    }

    fn read(&mut self, discounts: &[u32]) {
        self.prices = discounts.iter().map(|&number| number.into()).collect();
        for symbol in 0..self.rows.len() - 1 {
            let item = match self.claim.against {
                Against::Merges => self.rows[symbol],
                Against::Vocabularies => symbol,
            };
            self.prices[item] = self.one - self.prices[item];
        }
    }

    /// The sum of what the symbols cost less than 1.
    fn rest(&self) -> i128 {
        let mut rest = 0;
        let mut symbol = 0;
        for (piece, count) in self.pieces.iter() {
            for _ in piece {
                rest += i128::from(count) * i128::from(self.one - self.price_of_symbol(symbol));
                symbol += 1;
            }
        }
        rest
    }

    fn price_of_symbol(&self, symbol: usize) -> i64 {
        match self.claim.against {
            Against::Merges => self.prices[self.rows[symbol]],
            Against::Vocabularies => self.prices[symbol],
        }
    }

    /// The losses of all strings, one length after the other.
    fn weigh_all(&mut self, case: &Case) {
        let mut strings = single_symbols(self.pieces);
        for length in 2..=self.claim.longest {
            strings = longer(self.pieces, &strings, self.claim.floor);
            if strings.num_strings == 0 {
                return;
            }
            let num_splits = match self.claim.against {
                Against::Merges => length - 1,
                Against::Vocabularies => 1,
            };
            // Of each string the loss at each split.
            let mut losses = vec![0; strings.num_strings * num_splits];
            let mut found: Vec<(u32, usize)> = Vec::new();
            let mut places: Vec<(usize, i64)> = Vec::new();
            for in_piece in strings.places.chunk_by(|a, b| a.0 == b.0) {
                found.clear();
                for &(_, symbol, string) in in_piece {
                    self.set_price(symbol as usize, length);
                    found.push((string, symbol as usize));
                }
                found.sort_unstable();
                let count = i128::from(self.pieces.counts[in_piece[0].0 as usize]);
                for same in found.chunk_by(|a, b| a.0 == b.0) {
                    for split in 0..num_splits {
                        let loss = |&(_, at): &(u32, usize)| (at, self.loss(at, length, split + 1));
                        places.clear();
                        places.extend(same.iter().map(loss));
                        losses[same[0].0 as usize * num_splits + split] +=
                            count * heaviest(&places, length);
                    }
                }
            }
            let of_strings = losses.chunks(num_splits);
            let largest = of_strings.map(|splits| splits.iter().copied().max().unwrap_or(0));
            let mut largest: Vec<i128> = largest.collect();
            for (place, toll) in self.relief.tolls(length) {
                if let Ok(at) = strings
                    .places
                    .binary_search_by_key(&place, |p| p.1 as usize)
                {
                    let loss = &mut largest[strings.places[at].2 as usize];
                    *loss = loss.saturating_add(toll);
                }
            }
            let has = self.numbers(&strings, length, &case.has);
            let lacks = self.numbers(&strings, length, &case.lacks);
            for (number, loss) in (0..).zip(largest) {
                if has.contains(&number) {
                    self.certain.push(loss);
                } else if !lacks.contains(&number) {
                    self.losses.push(loss);
                }
            }
        }
    }

    /// The numbers of those strings of one length that are among `wanted`.
    fn numbers(&self, strings: &Occurrences, length: usize, wanted: &[Vec<Id>]) -> FxHashSet<u32> {
        let mut wanted = distinct(wanted);
        wanted.retain(|string| string.len() == length);
        if wanted.is_empty() {
            return FxHashSet::default();
        }
        let is_wanted = |&&(_, symbol, _): &&(u32, u32, u32)| {
            let start = symbol as usize;
            wanted.contains(&self.pieces.symbols[start..start + length])
        };
        let places = strings.places.iter().filter(is_wanted);
        places.map(|&(_, _, number)| number).collect()
    }

    /// Against merges, the price of a span from its discount; those of the spans inside it must have
    /// been computed before.
    fn set_price(&mut self, symbol: usize, length: usize) {
        if self.claim.against == Against::Merges {
            let costs = (1..length).map(|cut| self.cost_of_parts(symbol, length, cut));
            let price = costs.max().unwrap_or(0).min(self.one);
            let item = self.rows[symbol] + length - 1;
            self.prices[item] = price - self.prices[item];
        }
    }

    fn cost_of_parts(&self, symbol: usize, length: usize, cut: usize) -> i64 {
        let (left, right) = (self.rows[symbol], self.rows[symbol + cut]);
        self.prices[left + cut - 1] + self.prices[right + length - cut - 1]
    }

    /// What a span loses, against merges if it is made of the two parts that `cut` says.
    fn loss(&self, symbol: usize, length: usize, cut: usize) -> i64 {
        let loss = match self.claim.against {
            Against::Merges => {
                let item = self.rows[symbol] + length - 1;
                let loss = self.cost_of_parts(symbol, length, cut) - self.prices[item];
                loss.saturating_sub(self.relief.taken(item))
            }
            Against::Vocabularies => {
                let sum: i64 = self.prices[symbol..symbol + length].iter().sum();
                sum - self.one
            }
        };
        loss.max(0)
    }

    /// The most that a string too long for a price loses, up to the length `counted`; and how often
    /// a longer one occurs at most. Given are the shortest of them.
    fn weigh_long(&self, mut strings: Occurrences) -> (i128, u64) {
        let mut sums = vec![0];
        for symbol in 0..self.rows.len() - 1 {
            sums.push(sums[symbol] + self.price_of_symbol(symbol).max(0));
        }
        let counted = self.claim.counted.max(self.claim.longest);
        let mut most = 0;
        for length in self.claim.longest + 1.. {
            let long = self.long_strings(&strings, length, &sums);
            let is_kept = |long: &Long| long.is_left_maximal && long.count > self.claim.floor;
            if length > counted {
                let kept = long.iter().filter(|long| is_kept(long));
                return (most, kept.map(|long| long.count).max().unwrap_or(0));
            }
            for string in long.iter().filter(|long| is_kept(long)) {
                most = most.max(string.loss);
            }
            strings
                .places
                .retain(|place| is_kept(&long[place.2 as usize]));
            if strings.places.is_empty() {
                break;
            }
            strings = self.with_the_next_symbol(&strings, length);
        }
        (most, 0)
    }

    fn long_strings(&self, strings: &Occurrences, length: usize, sums: &[i64]) -> Vec<Long> {
        let most = match self.claim.against {
            Against::Merges => self.one,
            Against::Vocabularies => i64::MAX,
        };
        let mut long: Vec<Long> = Vec::new();
        long.resize_with(strings.num_strings, Long::default);
        for &(piece, symbol, string) in &strings.places {
            let (string, start) = (&mut long[string as usize], symbol as usize);
            let first = match piece {
                0 => 0,
                _ => self.pieces.ends[piece as usize - 1],
            };
            let before = (start > first).then(|| self.pieces.symbols[start - 1]);
            string.is_left_maximal |=
                before.is_none() || (string.count > 0 && before != string.before);
            string.before = before;
            let count = self.pieces.counts[piece as usize];
            string.count = string.count.saturating_add(count);
            let loss = (sums[start + length] - sums[start] - self.one).clamp(0, most);
            string.loss += i128::from(count) * i128::from(loss);
        }
        long
    }

    fn with_the_next_symbol(&self, strings: &Occurrences, length: usize) -> Occurrences {
        let mut numbers: FxHashMap<(u32, Id), u32> = FxHashMap::default();
        let mut next = Occurrences::default();
        for &(piece, symbol, string) in &strings.places {
            let after = symbol as usize + length;
            if after < self.pieces.ends[piece as usize] {
                let new = numbers.len() as u32;
                let key = (string, self.pieces.symbols[after]);
                let number = *numbers.entry(key).or_insert(new);
                next.places.push((piece, symbol, number));
            }
        }
        next.num_strings = numbers.len();
        next
    }

    /// Against vocabularies, the most that a string without a price can lose: it occurs at most
    /// `floor` times, so all words that hold it do too, or it is too long, and so are these words.
    /// Negative prices are taken as 0: so a string that `weigh_long` leaves out, because with its left
    /// neighbour it is too long, loses no more than this.
    fn unpriced(&self, too_long: u64) -> i128 {
        let mut most = 0;
        let mut start = 0;
        for (piece, count) in self.pieces.iter() {
            let prices = &self.prices[start..start + piece.len()];
            let cost: i64 = prices.iter().map(|&price| price.max(0)).sum();
            let highest = i128::from((cost - self.one).max(0));
            if count <= self.claim.floor {
                most = most.max(highest * i128::from(self.claim.floor));
            }
            if piece.len() > self.claim.counted.max(self.claim.longest) {
                most = most.max(highest * i128::from(too_long));
            }
            start += piece.len();
        }
        most
    }
}

fn distinct(strings: &[Vec<Id>]) -> FxHashSet<&[Id]> {
    strings.iter().map(Vec::as_slice).collect()
}

/// The largest sum of losses over disjoint places of one string of `length` symbols, given from left
/// to right.
fn heaviest(places: &[(usize, i64)], length: usize) -> i128 {
    if let [place] = places {
        return place.1.into();
    }
    // best[i]: of the first i places.
    let mut best: Vec<i128> = vec![0];
    let mut free = 0;
    for (index, &(start, loss)) in places.iter().enumerate() {
        while places[free].0 + length <= start {
            free += 1;
        }
        best.push(best[index].max(best[free] + i128::from(loss)));
    }
    best[places.len()]
}
