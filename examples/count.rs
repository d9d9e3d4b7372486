//! Counts the words of files: `cargo run --example count -- README.md`.

#![allow(clippy::print_stdout)]

use std::env;

use mergewise::counting::{Counter, Documents, Input, InvalidBytes};
use mergewise::settings::Settings;

fn main() -> mergewise::Result<()> {
    let settings = Settings {
        pattern: Some("cl100k".to_owned()),
        ..Settings::default()
    };
    let counter = Counter::new(settings, InvalidBytes::Keep, &[], 2)?;
    let inputs = env::args_os().skip(1).map(Input::file).collect();
    counter.add_inputs(inputs, Documents::File, &mergewise::Watch::default())?;
    for (word, count) in counter.finish()?.by_count().take(20) {
        println!("{count:>9}  {:?}", String::from_utf8_lossy(word));
    }
    Ok(())
}
