//! Trains, and proves how good the merges are: `cargo run --example certify`.

#![allow(clippy::print_stdout)]

use mergewise::bound::proof::{BITS, Problem, check, find};
use mergewise::bound::{Against, DescentOptions, DescentProgress};
use mergewise::{Alphabet, Tokenizer, Watch, WordCounts};

fn main() -> mergewise::Result<()> {
    let counts = WordCounts::of(["low low low lower lowest"], Some("whitespace"))?;
    let tokenizer = Tokenizer::train(&counts, 3)?;
    let problem = Problem {
        counts: &counts,
        alphabet: &Alphabet::Bytes,
        against: Against::Merges,
        num_merges: 3,
    };
    let options = DescentOptions {
        num_steps: Some(200),
        deadline: None,
        bits: BITS,
        num_threads: 2,
        num_cases: 1,
    };
    let (watch, progress) = (Watch::default(), DescentProgress::default());
    let proof = find(&problem, &options, &watch, &progress)?;
    // Whoever has the counts and the proof can check it; the search need not be trusted.
    let bound = check(
        &problem,
        &proof.setting,
        &proof.tree,
        &proof.rings,
        &proof.discounts,
        &watch,
    )?;
    let saved = counts.num_bytes() - tokenizer.num_tokens(&counts)?;
    println!("3 merges save {saved} tokens; no 3 merges save more than {bound}");
    Ok(())
}
