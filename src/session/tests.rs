use super::*;
use crate::counts::WordCounts;
use crate::encode::PrefixSpace;
use crate::error::Error;
use crate::settings::Normalization;

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

const PIECES: [&str; 24] = [
    "a", "b", "ab", "aab", " ", "  ", "\t", "\r", "\n", "'s", "'", "1", "234", "é", "e\u{301}",
    "\u{301}", "\u{327}", "漢", "<", "s>", "<s>", "<sep>", "▁", ".",
];

const TEXTS: [&str; 3] = [
    "abab aab aaab 's 1234 éé 漢漢  \t\r\n aaaa <sep",
    "ab ab aab b's 12 é a\n\nab.. ▁a ▁ab  ab",
    "aaaaaaaa babababab 234234 e\u{301}e\u{301} 漢漢漢",
];

fn tokenizers() -> Vec<Tokenizer> {
    let patterns = [
        None,
        Some("gpt2"),
        Some("cl100k"),
        Some("whitespace"),
        Some(r"a+(?=b)|\s+|."),
    ];
    let mut all = Vec::new();
    for (number, pattern) in patterns.into_iter().enumerate() {
        for prefix in [PrefixSpace::Never, PrefixSpace::Always, PrefixSpace::Once] {
            let counts = WordCounts::of(TEXTS, pattern).expect("a valid pattern");
            let trained = Tokenizer::train(&counts, 12 + 9 * number).expect("enough pairs");
            for normalization in [Normalization::None, Normalization::Nfc] {
                let builder = trained.to_builder().normalization(normalization);
                let builder = builder.prefix_space(prefix).special_token("<s>", 900);
                let builder = builder.added_token("<sep>", 901);
                all.push(builder.build().expect("valid parts"));
            }
        }
    }
    all
}

#[test]
fn the_ids_of_a_session_are_those_of_its_text() {
    let (mut random, watch) = (Random(1), Watch::default());
    for (number, tokenizer) in tokenizers().iter().enumerate() {
        let choice = Choice {
            allowed: vec![number % 4 > 0; 2],
            ..Choice::default()
        };
        for _ in 0..4 {
            let mut session = Session::new(tokenizer, &choice).expect("a valid choice");
            let mut stream = EncodingStream::new(tokenizer, &choice).expect("a valid choice");
            let (mut text, mut given) = (Vec::new(), Vec::new());
            for step in 0..30 {
                let piece = PIECES[random.below(PIECES.len())].as_bytes();
                let piece = piece.repeat(1 + random.below(3) * random.below(9));
                // Characters may be cut in two.
                let parts = piece.split_at(random.below(piece.len()));
                for part in [parts.0, parts.1] {
                    let before = session.ids();
                    let (num_kept, following) = session.append(part, &watch).expect("no error");
                    text.extend_from_slice(part);
                    let expected = tokenizer.encode_with(&text, &choice).expect("no error");
                    assert_eq!(
                        session.ids(),
                        expected,
                        "{number} {:?}",
                        String::from_utf8_lossy(&text)
                    );
                    assert_eq!([&before[..num_kept], &following].concat(), expected);
                    given.extend(stream.add(part, &watch).expect("no error"));
                    assert!(expected.starts_with(&given));
                }
                if step % 7 == 6 {
                    let mut other = session.clone();
                    let length = random.below(text.len() + 1);
                    other
                        .truncate(length, Unit::Bytes, &watch)
                        .expect("no error");
                    let expected = tokenizer.encode_with(&text[..length], &choice);
                    assert_eq!(Ok(other.ids()), expected);
                    assert_eq!(other.text(), &text[..length]);
                }
            }
            given.extend(stream.finish(&watch).expect("no error"));
            assert_eq!(given, session.ids());
        }
    }
}

#[test]
fn long_texts_are_kept_in_chunks_that_are_shared() {
    let watch = Watch::default();
    let counts = WordCounts::of(TEXTS, Some("gpt2")).expect("a valid pattern");
    let tokenizer = Tokenizer::train(&counts, 30).expect("enough pairs");
    let mut session = Session::new(&tokenizer, &Choice::default()).expect("a valid choice");
    let text = TEXTS.concat().repeat(1000);
    for part in text.as_bytes().chunks(70_001) {
        session.append(part, &watch).expect("no error");
    }
    assert!(session.growing.text.len() < 2 * CHUNK);
    assert_eq!(Ok(session.ids()), tokenizer.encode(&text));
    let mut other = session.clone();
    for num_characters in [100_000, 99_990, 4096, 1, 0] {
        let first: String = text.chars().take(num_characters).collect();
        let cut = other.truncate(num_characters, Unit::Characters, &watch);
        assert_eq!(cut, Ok(()));
        assert_eq!(
            Ok(other.ids()),
            tokenizer.encode(&first),
            "{num_characters}"
        );
    }
    assert_eq!(session.text(), text.as_bytes());
}

#[test]
fn an_endless_word_is_settled_up_to_its_last_tokens() {
    let watch = Watch::default();
    for (pattern, whole) in [(None, false), (Some("gpt2"), false), (Some("gpt2"), true)] {
        let counts = WordCounts::of(["aaaaaaab", "abab"], pattern).expect("a valid pattern");
        let tokenizer = Tokenizer::train(&counts, 6).expect("enough pairs");
        let tokenizer = tokenizer
            .to_builder()
            .whole_words(whole)
            .build()
            .expect("valid");
        let mut session = Session::new(&tokenizer, &Choice::default()).expect("a valid choice");
        for _ in 0..3000 {
            session.append(b"aab", &watch).expect("no error");
        }
        let growing = &session.growing;
        assert!(
            growing.num_bytes() - growing.settled.num_bytes < 40,
            "{pattern:?} {whole}"
        );
    }
}

#[test]
fn a_text_that_is_refused_is_not_appended() {
    let watch = Watch::default();
    let counts = WordCounts::of(TEXTS, None).expect("a valid pattern");
    let tokenizer = Tokenizer::train(&counts, 3).expect("enough pairs");
    let builder = tokenizer.to_builder().special_token("<s>", 900);
    let tokenizer = builder.build().expect("valid parts");
    let choice = Choice {
        refused: vec![true],
        ..Choice::default()
    };
    let mut session = Session::new(&tokenizer, &choice).expect("a valid choice");
    session.append(b"abab<s", &watch).expect("no special token");
    let ids = session.ids();
    let error = session.append(b">", &watch).expect_err("a special token");
    assert_eq!(
        error,
        Error::DisallowedSpecial {
            token: "<s>".into(),
            offset: 4
        }
    );
    assert_eq!((session.ids(), session.text()), (ids, b"abab<s".to_vec()));
}
