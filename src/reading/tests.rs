//! Inputs as documents, whatever the size of blocks.

use super::json::samples::Random;
use super::*;

/// Behind the last space.
fn last_cut(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|&byte| byte == b' ').map(|at| at + 1)
}

/// Where a text is read.
#[derive(Debug, Clone, Copy)]
enum Source<'t> {
    Memory(&'t [u8]),
    File(&'t Path),
}

/// What is read of an input: the documents, put together of their parts, with the keys of those of
/// which there are several; what is wrong with lines that were left out; and what fails.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    documents: Vec<Vec<u8>>,
    keys: Vec<(usize, u64)>,
    bad: Vec<Error>,
    failure: Option<Error>,
}

/// Read an input in blocks; a line of JSON longer than `most_record_bytes` in parts.
fn read(
    source: Source<'_>,
    documents: &Documents,
    (block_bytes, most_record_bytes): (usize, usize),
    skips_bad: bool,
) -> Found {
    let watch = Watch::default();
    let reading = Reading {
        block_bytes,
        most_record_bytes,
        scratch: std::env::temp_dir(),
        last_cut,
        watch: &watch,
    };
    let (path, reader) = match source {
        Source::Memory(text) => (Path::new("a"), Some(Box::new(text) as _)),
        Source::File(path) => (path, None),
    };
    let input = Input {
        path: path.to_owned(),
        reader,
        compression: Compression::None,
        documents: documents.clone(),
    };
    let (mut found, mut is_new, mut num_last) = (Found::default(), true, 0);
    for block in reading.blocks(input) {
        assert_eq!(num_last, 0, "nothing is behind the last block");
        num_last += usize::from(block.as_ref().is_ok_and(Block::is_last));
        let batch = match block.and_then(|block| block.into_batch(skips_bad)) {
            Ok(batch) => batch,
            Err(error) => {
                found.failure = Some(error);
                break;
            }
        };
        for document in batch.documents() {
            if std::mem::replace(&mut is_new, true) {
                let index = found.documents.len();
                found.keys.extend(batch.key().map(|key| (index, key)));
                found.documents.push(Vec::new());
            }
            let whole = found.documents.last_mut().expect("just pushed");
            let located = batch.located(Error::InvalidUtf8 { offset: 0 }, 0);
            if *documents != Documents::File && batch.key().is_some() {
                assert!(located.to_string().contains(": line "), "{located}");
            }
            whole.extend(document);
        }
        is_new = batch.documents().next().is_none() || batch.is_end();
        let num_bad = batch.bad_places().len();
        found
            .bad
            .extend((0..num_bad).map(|index| batch.bad_error(index)));
    }
    assert!(is_new, "the last document is whole");
    found
}

/// The documents of several inputs.
fn read_all(texts: &[&str], documents: &Documents, block_bytes: usize) -> Vec<Vec<u8>> {
    let sizes = (block_bytes, 100);
    let read = |text: &&str| read(Source::Memory(text.as_bytes()), documents, sizes, false);
    let found: Vec<Found> = texts.iter().map(read).collect();
    assert!(found.iter().all(|found| found.failure.is_none()));
    found
        .into_iter()
        .flat_map(|found| found.documents)
        .collect()
}

#[test]
fn blocks_make_up_the_documents() {
    let texts = [
        "",
        "a bc  def ",
        " \n",
        "abcdefghijklmnopq r\n\nx",
        "x y\n z",
    ];
    let lines = [" \n", "abcdefghijklmnopq r\n", "\n", "x", "x y\n", " z"];
    for block_bytes in 1..30 {
        let files = read_all(&texts, &Documents::File, block_bytes);
        assert_eq!(files, texts.map(|text| text.as_bytes().to_vec()));
        let found = read_all(&texts, &Documents::Lines, block_bytes);
        assert_eq!(found[0], b"a bc  def ");
        assert_eq!(found[1..], lines.map(|line| line.as_bytes().to_vec()));
    }
}

#[test]
fn each_line_of_json_has_a_document() {
    let text = "{\"t\": \"a\\nb\"}\n\n{\"t\": null}\n{\"n\": [1, {}], \"t\": \"\"}\n{\"t\": \"c\"}";
    for block_bytes in 1..30 {
        let found = read_all(&[text], &Documents::JsonLines("t".into()), block_bytes);
        assert_eq!(found, [&b"a\nb"[..], b"", b"c"]);
    }
}

/// A file, which is gone with this.
struct Written(PathBuf);

impl Written {
    fn new(text: &[u8]) -> Self {
        let name = format!("mergewise-reading-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the system has a folder for files");
        Self(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// The same with another path in all errors.
fn with_path(found: Found, path: &Path) -> Found {
    let moved = |error: Error| match error {
        Error::InFile { error, .. } => error.in_file(path),
        other => other,
    };
    Found {
        bad: found.bad.into_iter().map(moved).collect(),
        failure: found.failure.map(moved),
        ..found
    }
}

#[test]
fn a_record_in_parts_is_the_same_as_a_whole_one() {
    let json = Documents::JsonLines("text".into());
    let (mut random, mut num_bad, mut num_parts) = (Random(2), 0, 0);
    for round in 0..150 {
        let lines: Vec<Vec<u8>> = (0..20).map(|_| random.line()).collect();
        let mut text = lines.join(&b'\n');
        if round % 2 == 0 {
            text.push(b'\n');
        }
        let file = Written::new(&text);
        for skips_bad in [true, false] {
            let whole = read(Source::Memory(&text), &json, (64, 1 << 20), skips_bad);
            assert!(whole.keys.is_empty());
            num_bad += whole.bad.len();
            for sizes in [(1, 1), (3, 8), (16, 16), (64, 40)] {
                for source in [Source::Memory(&text), Source::File(&file.0)] {
                    let mut parts = with_path(read(source, &json, sizes, skips_bad), "a".as_ref());
                    let keys = std::mem::take(&mut parts.keys);
                    num_parts += keys.len();
                    for (index, key) in keys {
                        let document = &parts.documents[index];
                        assert_eq!(key, key_of(&document[..document.len().min(sizes.0)]));
                    }
                    assert_eq!(parts.failure, whole.failure);
                    // A block that fails may have had other documents.
                    if whole.failure.is_none() {
                        assert_eq!(parts, whole, "{}", String::from_utf8_lossy(&text));
                    }
                }
            }
        }
    }
    assert!(num_bad > 500 && num_parts > 200);
}

#[test]
fn an_error_in_a_part_is_one_in_the_text_of_the_record() {
    let watch = Watch::default();
    let reading = Reading {
        block_bytes: 4,
        most_record_bytes: 4,
        scratch: std::env::temp_dir(),
        last_cut,
        watch: &watch,
    };
    let input = Input {
        path: "a".into(),
        reader: Some(Box::new(&b"\n{\"t\": \"\\u0061b cd efg h\"}\n"[..])),
        compression: Compression::None,
        documents: Documents::JsonLines("t".into()),
    };
    let batches = reading
        .blocks(input)
        .map(|block| block.and_then(|block| block.into_batch(false)));
    let located = |batch: Result<Batch>| {
        let batch = batch.expect("nothing is wrong");
        let part = batch.documents().next()?;
        let error = batch.located(Error::InvalidUtf8 { offset: 1 }, 0);
        Some((
            String::from_utf8_lossy(part).into_owned(),
            error.to_string(),
        ))
    };
    let found: Vec<_> = batches.filter_map(located).collect();
    let expected = [("ab ", 1), ("cd ", 4), ("efg h", 7)];
    let expected = expected.map(|(part, offset)| {
        let error = format!("a: line 2: invalid UTF-8 at byte {offset}");
        (part.to_owned(), error)
    });
    assert_eq!(found, expected);
}
