//! Curvature: what the paper's guarantee for greedy is worth, for one string and for all strings.
//!
//! Problem: σ compares what an optimal sequence saves behind other merges with what it saves alone;
//! its maximum runs over all prefixes, and there are many optimal sequences. Invariant: every value
//! is an exact fraction, and a string or a prefix is left out only where a bound shows that it
//! cannot change the result ([`columns`]). Cost: exponential in the number of merges for one string; about
//! 0.1 µs for a string of an enumeration. Formal twin: `formal.curvature`, `formal.as_published`.

// Strings have at most MAX_LENGTH symbols, so lengths and what merges save fit every type.
#![allow(clippy::cast_sign_loss, clippy::cast_possible_wrap)]
// `live` columns of a `line`, `values` of a `value`.
#![allow(clippy::similar_names)]
// Without branches, where what comes next cannot be predicted.
#![allow(clippy::needless_bitwise_bool)]

pub mod columns;
mod line;
mod measure;
mod search;
mod sequences;
mod strings;
mod walk;

use crate::error::{Error, Result};
use crate::parallel;
use crate::watch::Watch;
use columns::{Column, Columns, Facts, Fraction, NUM_COLUMNS, Record, Records, Values};
pub use line::MAX_LENGTH;
use line::{Line, Run};
use measure::Measure;
use search::Searcher;
use sequences::{Forest, Prefixes};
use strings::num_letters_of;
pub use strings::{MAX_WALK_LENGTH, MAX_WALK_LETTERS, MAX_WALK_MERGES, WalkOptions};
use walk::Walk;

/// The curvatures of one string.
#[derive(Debug, Clone, Copy)]
pub struct Curvature {
    /// κ(μ*).
    pub optimum: i32,
    /// κ(μ†), ties by first occurrence.
    pub greedy: i32,
    /// The values of the columns; None for those that were not wanted or have none.
    pub values: Values,
}

/// The length of the longest strings that are searched without remembering states.
const SHORT: usize = 24;

fn measure_of<'a>(
    letters: &[u8],
    num_merges: usize,
    wanted: Columns,
    floors: &'a Values,
    watch: &'a Watch,
) -> Result<Measure<'a>> {
    let num_letters = num_letters_of(letters);
    // Merges beyond the number of symbols replace nothing.
    let num_merges = num_merges.min(letters.len().max(1));
    let line = Line::new(letters, num_letters as u8);
    let is_long = letters.len() > SHORT;
    let mut searcher = Searcher::new(num_letters + num_merges + 1, is_long, watch);
    let mut run = Run::default();
    searcher.greedy(&line, num_merges, &mut run);
    let greedy = run.after(num_merges);
    let (largest, most) = searcher.first_bounds(&line, num_merges);
    let optimum = searcher.optimum(&line, num_merges, greedy, most);
    watch.check()?;
    Ok(Measure {
        letters: letters.iter().copied().map(u32::from).collect(),
        num_letters,
        facts: Facts {
            length: letters.len() as i32,
            num_merges: num_merges as i32,
            largest,
            optimum,
            greedy: Some((greedy, 0)),
        },
        wanted,
        floors,
        watch,
    })
}

/// The curvatures of a string of at most [`MAX_LENGTH`] letters, numbered by first occurrence.
///
/// # Panics
/// If the string is longer.
///
/// # Example
///
/// ```
/// use mergewise::curvature::columns::{ALL, Column, Fraction};
/// use mergewise::curvature::curvature;
/// use mergewise::watch::Watch;
///
/// let found = curvature(&[0, 1, 0, 1], 2, ALL, &Watch::default())?; // abab
/// assert_eq!((found.optimum, found.greedy), (3, 3));
/// assert_eq!(found.values[Column::SigmaMax as usize], Some(Fraction::new(3, 1)));
/// # Ok::<(), mergewise::error::Error>(())
/// ```
pub fn curvature(
    letters: &[u8],
    num_merges: usize,
    columns: Columns,
    watch: &Watch,
) -> Result<Curvature> {
    let floors = [None; NUM_COLUMNS];
    let measure = measure_of(letters, num_merges, columns, &floors, watch)?;
    let mut values = measure.values()?;
    for column in Column::LIST {
        if !column.is_in(columns) {
            values[column as usize] = None;
        }
    }
    Ok(Curvature {
        optimum: measure.facts.optimum,
        greedy: measure.facts.greedy.map_or(0, |(saved, _)| saved),
        values,
    })
}

/// κ(μ*), and σ of one sequence as if it were optimal. The parts of a merge are letters, or earlier
/// merges, which are numbered from the number of letters on.
///
/// # Panics
/// If the string is longer than [`MAX_LENGTH`].
pub fn sigma_of(
    letters: &[u8],
    num_merges: usize,
    optimal: &[(u32, u32)],
    watch: &Watch,
) -> Result<(i32, Fraction)> {
    let floors = [None; NUM_COLUMNS];
    let measure = measure_of(letters, num_merges, 0, &floors, watch)?;
    let mut forest = Forest::new(measure.num_letters);
    let mut merges: Vec<sequences::Merge> = Vec::new();
    for (index, &(left, right)) in optimal.iter().enumerate() {
        let tree_of = |part: u32| match (part as usize).checked_sub(measure.num_letters) {
            None => Ok(part),
            Some(earlier) if earlier < index => Ok(merges[earlier].tree),
            Some(_) => Err(Error::InvalidMerge {
                index,
                part,
                num_tokens: measure.num_letters + index,
            }),
        };
        let parts = (tree_of(left)?, tree_of(right)?);
        merges.push(forest.merge(parts));
    }
    let mut prefixes = Prefixes::new(&measure.letters, measure.num_merges());
    let sigma = measure.over_prefixes(&merges, &mut prefixes, false, None, &mut forest)?;
    Ok((measure.facts.optimum, sigma.unwrap_or(Fraction::ONE)))
}

/// For each prefix, the records that the strings beginning with it improve: the number of merges,
/// the column and the record. They do not depend on the number of threads, because every walk begins
/// with the same records.
pub fn walk_all(
    options: WalkOptions,
    prefixes: &[Vec<u8>],
    records: &Records,
    num_threads: usize,
    watch: &Watch,
) -> Result<Vec<Vec<(usize, Column, Record)>>> {
    parallel::map(num_threads, prefixes.len(), |index| {
        let prefix = &prefixes[index];
        let improved = Walk::new(options, records.clone(), watch).run(prefix)?;
        watch.advance(options.num_strings(prefix));
        Ok(improved)
    })
}
