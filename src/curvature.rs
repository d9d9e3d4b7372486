//! Curvature: what the paper's guarantee for greedy is worth, for one string and for all strings.
//!
//! Problem: σ compares what an optimal sequence saves behind other merges with what it saves alone;
//! its maximum runs over all prefixes, and there are many optimal sequences. Invariant: every value
//! is an exact fraction, and a string or a prefix is left out only where a bound shows that it
//! cannot matter ([`columns`]). Cost: exponential in the number of merges for one string; about
//! 0.1 µs for a string of an enumeration. Formal twin: `formal.curvature`, `formal.as_published`.

// Lengths and what is saved stay far below the limits of every type.
#![allow(clippy::cast_sign_loss, clippy::cast_possible_wrap)]
// `live` columns of a `line`, `values` of a `value`.
#![allow(clippy::similar_names)]

pub mod columns;
pub mod fraction;
mod line;
mod measure;
mod screen;
mod search;
mod sequences;
mod trees;
pub mod walk;

use crate::error::{Error, Result};
use crate::parallel;
use crate::watch::Watch;
use columns::{Column, Columns, Facts, NUM_COLUMNS, Values};
use fraction::Fraction;
pub use line::MAX_LENGTH;
use line::{Line, Run};
use measure::Measure;
use search::Searcher;
use trees::Forest;
use walk::{Level, Record, Records, Walk, num_letters_of};

/// What was measured of one string.
#[derive(Debug, Clone, Copy)]
pub struct Curvature {
    /// κ(μ*).
    pub optimum: i32,
    /// κ(μ†), ties by first occurrence.
    pub greedy: i32,
    /// The columns.
    pub values: Values,
}

/// Strings up to here are searched without remembering what was searched.
const SHORT: usize = 24;

fn measure_of<'a>(
    letters: &[u8],
    num_merges: usize,
    floors: &'a Values,
    watch: &'a Watch,
) -> Result<Measure<'a>> {
    let num_letters = num_letters_of(letters);
    // More merges than symbols never replace anything.
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
        floors,
        watch,
    })
}

/// The curvatures of a string of at most [`MAX_LENGTH`] letters, numbered by first occurrence.
pub fn curvature(
    letters: &[u8],
    num_merges: usize,
    columns: Columns,
    watch: &Watch,
) -> Result<Curvature> {
    let floors = [None; NUM_COLUMNS];
    let measure = measure_of(letters, num_merges, &floors, watch)?;
    let mut values = measure.values(columns)?;
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

/// κ(μ*), and σ of one sequence as if it were optimal. A merge names its parts: letters, or earlier
/// merges, counted from the number of letters on.
pub fn sigma_of(
    letters: &[u8],
    num_merges: usize,
    optimal: &[(u32, u32)],
    watch: &Watch,
) -> Result<(i32, Fraction)> {
    let floors = [None; NUM_COLUMNS];
    let measure = measure_of(letters, num_merges, &floors, watch)?;
    let mut forest = Forest::new(measure.num_letters);
    let mut merges: Vec<trees::Merge> = Vec::new();
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
        let (left, right) = (tree_of(left)?, tree_of(right)?);
        merges.push(forest.merge(left, right));
    }
    let sigma = measure.sigma_of(&merges, &mut forest)?;
    Ok((measure.facts.optimum, sigma))
}

/// The records that the strings beginning with each of these prefixes improve, prefix by prefix:
/// the same with any number of threads, because no walk knows of another.
pub fn walk_all(
    level: Level,
    prefixes: &[Vec<u8>],
    records: &Records,
    num_threads: usize,
    watch: &Watch,
) -> Result<Vec<Vec<(usize, Column, Record)>>> {
    parallel::map(num_threads, prefixes.len(), |index| {
        let prefix = &prefixes[index];
        let improved = Walk::new(level, records.clone(), watch).run(prefix)?;
        watch.advance(level.num_begun(prefix));
        Ok(improved)
    })
}
