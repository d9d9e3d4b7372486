//! Threads that share a tokenizer or a counter; `make tsan` looks for data races in these.

use std::io::Cursor;
use std::thread;

use mergewise::counting::{Counter, InvalidBytes};
use mergewise::encode::Extent;
use mergewise::reading::{Compression, Documents, Input};
use mergewise::settings::Settings;
use mergewise::{Choice, Id, Tokenizer, Watch, WordCounts};

const NUM_THREADS: usize = 4;

/// Texts that have words in common, and words of their own.
fn texts() -> Vec<String> {
    let words = |text: usize| (0..300).map(move |word| format!(" w{} x{}", word % 41, word * text));
    (0..24).map(|text| words(text).collect()).collect()
}

fn counter() -> Counter {
    let settings = Settings {
        pattern: Some("whitespace".to_owned()),
        ..Settings::default()
    };
    let specials = ["w7".to_owned()];
    Counter::new(settings, InvalidBytes::Keep, &specials, NUM_THREADS).expect("a counter")
}

#[test]
fn a_tokenizer_serves_many_threads() {
    let texts = texts();
    let counts = WordCounts::of(&texts, Some("whitespace")).expect("counts");
    let tokenizer = Tokenizer::train(&counts, 200).expect("merges");
    let tokenizer = tokenizer.to_builder().special_token("<s>", 9_000);
    let tokenizer = tokenizer.build().expect("a tokenizer");
    // Another one, whose cache knows nothing yet.
    let alone = Tokenizer::from_bytes(&tokenizer.to_bytes()).expect("the same");
    let encode = |text: &String| alone.encode(text).expect("ids");
    let expected: Vec<Vec<Id>> = texts.iter().map(encode).collect();
    thread::scope(|scope| {
        for first in 0..NUM_THREADS {
            let (tokenizer, texts, expected) = (&tokenizer, &texts, &expected);
            scope.spawn(move || {
                for index in (0..texts.len()).map(|index| (index + 7 * first) % texts.len()) {
                    let ids = tokenizer.encode(&texts[index]).expect("ids");
                    assert_eq!(ids, expected[index]);
                    assert_eq!(
                        tokenizer.decode(&ids).expect("text"),
                        texts[index].as_bytes()
                    );
                }
            });
        }
    });
    let batch: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let encoder = tokenizer.encoder();
    let call = encoder.call(&Choice::default()).expect("no special tokens");
    let found = encoder.encode_batch(&batch, &call, NUM_THREADS, &Watch::default());
    let found = found.expect("ids");
    assert_eq!(found.0, expected.concat());
    // What is known of documents that are still to come is right, or wrong by far.
    for num_bytes in [0, texts.concat().len(), usize::MAX] {
        for num_documents in [0, batch.len(), usize::MAX] {
            let extent = Extent {
                num_documents,
                num_bytes,
            };
            let coming = batch.iter().copied();
            let watch = Watch::default();
            let coming = encoder.encode_documents(coming, extent, &call, NUM_THREADS, &watch);
            assert_eq!(coming.as_ref(), Ok(&found));
        }
    }
}

#[test]
fn a_counter_serves_many_threads() {
    let texts = texts();
    let documents: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let one_by_one = counter();
    for document in &documents {
        one_by_one
            .add_documents(&[document], &Watch::default())
            .expect("counted");
        one_by_one
            .add_documents(&[document], &Watch::default())
            .expect("counted");
    }
    let together = counter();
    let watch = Watch::default();
    let (coming, num_bytes) = (documents.iter().copied(), texts.concat().len());
    together
        .add_coming(coming, num_bytes, &watch)
        .expect("counted");
    let inputs = documents.iter().map(|&document| Input {
        path: "text".into(),
        reader: Some(Box::new(Cursor::new(document))),
        compression: Compression::None,
        documents: Documents::File,
    });
    together
        .add_inputs(inputs.collect(), false, &watch)
        .expect("counted");
    let (found, expected) = (together.finish(), one_by_one.finish());
    assert_eq!(
        found.expect("counts").sorted(),
        expected.expect("counts").sorted()
    );
}

#[test]
fn work_is_stopped_by_another_thread() {
    let texts = texts();
    let documents: Vec<&[u8]> = texts
        .iter()
        .map(String::as_bytes)
        .cycle()
        .take(100_000)
        .collect();
    let (counter, watch) = (counter(), Watch::default());
    let result = thread::scope(|scope| {
        let counting = scope.spawn(|| counter.add_documents(&documents, &watch));
        while watch.done() == 0 {
            thread::yield_now();
        }
        watch.stop();
        counting.join().expect("no panic")
    });
    assert_eq!(result, Err(mergewise::Error::Interrupted));
}
