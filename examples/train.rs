//! Counts, trains and encodes: `cargo run --example train`.
#![allow(clippy::print_stdout)]
use mergewise::{Tokenizer, WordCounts};

fn main() -> mergewise::Result<()> {
    let counts = WordCounts::of(["low lower lowest", "new newer"], Some("cl100k"))?;
    let tokenizer = Tokenizer::train(&counts, 10)?;
    println!("{:?}", tokenizer.encode("the newest low")?);
    Ok(())
}
