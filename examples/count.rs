//! Counts the words of files: `cargo run --example count -- README.md`.

#![allow(clippy::print_stdout)]

use std::env;

use mergewise::counting::{Counter, InvalidBytes};
use mergewise::reading::{Documents, Input};
use mergewise::settings::Settings;

fn main() -> mergewise::Result<()> {
    let settings = Settings {
        pattern: Some("cl100k".to_owned()),
        ..Settings::default()
    };
    let counter = Counter::new(settings, InvalidBytes::Keep, &[], 2)?;
    let paths = env::args_os().skip(1);
    let inputs = paths
        .map(|path| Input::file(path, Documents::File))
        .collect();
    counter.add_inputs(inputs, false, &mergewise::Watch::default())?;
    for (word, count) in counter.finish()?.by_count().take(20) {
        println!("{count:>9}  {:?}", String::from_utf8_lossy(word));
    }
    Ok(())
}
