//! A tokenizer of parts, as they stand in a file: `cargo run --example encode -- "a text"`.

#![allow(clippy::print_stdout)]

use std::env;

use mergewise::{Choice, Tokenizer};

fn main() -> mergewise::Result<()> {
    let bytes: Vec<[u8; 1]> = (0..=u8::MAX).map(|byte| [byte]).collect();
    let symbols = bytes.iter().zip(0..).map(|(byte, id)| (&byte[..], id));
    let tokenizer = Tokenizer::builder()
        .tokens(symbols.chain([(&b"th"[..], 256), (b"the", 257)]))
        .merges([(&b"t"[..], &b"h"[..]), (b"th", b"e")])
        .pattern(Some("gpt2"))
        .special_token("<|end|>", 258)
        .build()?;
    let text = env::args()
        .nth(1)
        .unwrap_or_else(|| "the end<|end|>".to_owned());
    let everything = Choice {
        allowed: vec![true],
        ..Choice::default()
    };
    let ids = tokenizer.encode_with(&text, &everything)?;
    println!("{ids:?}");
    assert_eq!(tokenizer.decode(&ids)?, text.as_bytes());
    Ok(())
}
