//! The cases of `tests/cases`, by the public interface of the crate alone.
//!
//! `tests/test_cases.py` runs the same cases through the Python package and computes every expectation
//! anew; `tests/cases/README.md` describes the files.

#[path = "cases/reading.rs"]
mod reading;

use mergewise::bound::proof::{BITS, PriceSetting, Problem, SpelledRing, check, find};
use mergewise::bound::{Against, DescentOptions, DescentProgress};
use mergewise::counting::{Counter, InvalidBytes};
use mergewise::encode::{PrefixSpace, Unknown};
use mergewise::exact::{self, Method, SearchOptions, SearchProgress, Text};
use mergewise::greedy::{self, Overlaps, TrainOptions};
use mergewise::improve::{ImproveOptions, ImproveProgress, improve};
use mergewise::settings::Settings;
use mergewise::vocabulary::Symbols;
use mergewise::{Alphabet, Choice, Id, MergeList, Result, Tokenizer, Watch, WordCounts};
use reading::{
    bytes, check_error, counts_of, flag, for_each_case, id, list, normalization, number, pairs,
    size, text,
};
use serde_json::Value;

const SEED: u64 = 1;
const NUM_MOVES: u64 = 3000;
const NUM_STEPS: usize = 50;

// Counts.

fn count(case: &Value, num_threads: usize) -> Result<WordCounts> {
    let settings = Settings {
        pattern: case["pattern"].as_str().map(str::to_owned),
        normalization: normalization(&case["normalize"]),
    };
    let invalid_bytes = match case["errors"].as_str() {
        None => InvalidBytes::Keep,
        Some("strict") => InvalidBytes::Refuse,
        Some("replace") => InvalidBytes::Replace,
        Some(other) => panic!("{other}"),
    };
    let specials = list(&case["special_tokens"]).iter();
    let specials: Vec<String> = specials.map(|special| text(special).to_owned()).collect();
    let counter = Counter::new(settings, invalid_bytes, &specials, num_threads)?;
    let texts: Vec<Vec<u8>> = list(&case["texts"]).iter().map(bytes).collect();
    let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    counter.add_documents(&texts, &Watch::default())?;
    counter.finish()
}

#[test]
fn counts() {
    for_each_case("counts.json", |case| {
        for num_threads in [1, 3] {
            match count(case, num_threads) {
                Err(error) => check_error(&case["error"], &error),
                Ok(counts) => {
                    let expected = counts_of(case, None).expect("counts that fit");
                    assert!(case["error"].is_null());
                    assert_eq!(counts.sorted(), expected.sorted());
                }
            }
        }
    });
}

// Merges.

/// The greedy merges of a case, and how often each pair occurred.
fn train(case: &Value, counts: &WordCounts) -> (MergeList, Vec<u64>) {
    let alphabet = match case["alphabet"].as_str() {
        Some("chars") => Alphabet::of_chars(counts.characters().expect("UTF-8")),
        _ => Alphabet::Bytes,
    };
    let options = TrainOptions {
        num_merges: size(&case["num_merges"]),
        min_frequency: case["min_frequency"].as_u64().unwrap_or(1),
        max_token_length: match &case["max_token_length"] {
            Value::Null => usize::MAX,
            length => size(length),
        },
        overlaps: match case["overlaps"].as_str() {
            Some("count") => Overlaps::Count,
            _ => Overlaps::Skip,
        },
    };
    let mut merges = MergeList::new(alphabet);
    let gains = greedy::train(counts, &mut merges, &options, &Watch::default());
    (merges, gains.expect("nothing stops it"))
}

#[test]
fn greedy_merges() {
    for_each_case("greedy.json", |case| {
        let counts = counts_of(case, None).expect("counts that fit");
        let (merges, gains) = train(case, &counts);
        let string = |id| merges.token(id).to_vec();
        let found = merges.pairs().iter();
        let found: Vec<_> = found.map(|&(l, r)| (string(l), string(r))).collect();
        assert_eq!(found, pairs(&case["merges"], bytes));
        let expected: Vec<u64> = list(&case["counts"]).iter().map(number).collect();
        assert_eq!(gains, expected);
    });
}

fn saved_by(merges: &MergeList, counts: &WordCounts) -> u64 {
    let tokenizer = Tokenizer::builder().merge_list(merges).build();
    let num_tokens = tokenizer.and_then(|tokenizer| tokenizer.num_tokens(counts));
    counts.num_bytes() - num_tokens.expect("a number that fits")
}

#[test]
fn what_greedy_and_improved_merges_save() {
    for_each_case("optimum.json", |case| {
        let counts = counts_of(case, None).expect("counts that fit");
        let (merges, _) = train(case, &counts);
        assert_eq!(saved_by(&merges, &counts), number(&case["greedy"]));
        let is_pinned = vec![false; merges.pairs().len()];
        for num_threads in [1, 2] {
            let options = ImproveOptions {
                seed: SEED,
                num_moves: Some(NUM_MOVES),
                deadline: None,
                num_threads,
                max_token_length: usize::MAX,
                true_counts: false,
            };
            let (watch, progress) = (Watch::default(), ImproveProgress::default());
            let better = improve(&counts, &merges, &is_pinned, &options, &watch, &progress);
            match better {
                Err(error) => check_error(&case["improve_error"], &error),
                Ok(better) => {
                    assert!(case["improve_error"].is_null());
                    assert_eq!(better.pairs().len(), merges.pairs().len());
                    assert_eq!(saved_by(&better, &counts), number(&case["best"]));
                }
            }
        }
    });
}

#[test]
fn what_the_best_merges_save() {
    for_each_case("optimum.json", |case| {
        let counts = counts_of(case, None).expect("counts that fit");
        let symbols = MergeList::new(Alphabet::Bytes);
        let best = number(&case["best"]);
        for (method, num_threads) in [
            (Method::BranchAndBound, 1),
            (Method::BranchAndBound, 2),
            (Method::Guarded, 1),
            (Method::BruteForce, 1),
        ] {
            let options = SearchOptions {
                num_merges: size(&case["num_merges"]),
                method,
                node_limit: None,
                memory_limit: 1 << 24,
                num_threads,
            };
            let (watch, progress) = (Watch::default(), SearchProgress::default());
            let words = Text::of(&counts, &symbols).expect("bytes");
            let found = exact::solve(&words, &options, &watch, &progress).expect("no thread fails");
            assert_eq!((found.utility, found.bound), (best, best), "{method:?}");
            let merges = MergeList::from_pairs(Alphabet::Bytes, found.merges).expect("a list");
            assert_eq!(saved_by(&merges, &counts), best);
        }
    });
}

// Bounds.

fn problem<'a>(case: &Value, counts: &'a WordCounts, against: Against) -> Problem<'a> {
    Problem {
        counts,
        alphabet: &Alphabet::Bytes,
        against,
        num_merges: size(&case["num_merges"]),
    }
}

#[test]
fn bounds() {
    for_each_case("optimum.json", |case| {
        let counts = counts_of(case, None).expect("counts that fit");
        let options = DescentOptions {
            num_steps: Some(NUM_STEPS),
            deadline: None,
            bits: BITS,
            num_threads: 2,
            num_cases: 1,
        };
        for against in [Against::Merges, Against::Vocabularies] {
            let problem = problem(case, &counts, against);
            let (watch, progress) = (Watch::default(), DescentProgress::default());
            let proof = find(&problem, &options, &watch, &progress).expect("nothing stops it");
            assert!(proof.gain >= number(&case["best"]), "{}", proof.gain);
            let proved = check(
                &problem,
                &proof.setting,
                &proof.tree,
                &proof.rings,
                &proof.discounts,
                &watch,
            );
            assert_eq!(proved, Ok(proof.gain));
        }
    });
}

#[test]
fn proofs() {
    for_each_case("proofs.json", |case| {
        let counts = counts_of(case, None).expect("counts that fit");
        let against = match text(&case["against"]) {
            "merges" => Against::Merges,
            "vocabularies" => Against::Vocabularies,
            other => panic!("{other}"),
        };
        let setting = PriceSetting {
            one: number(&case["one"]),
            floor: number(&case["floor"]),
            longest: size(&case["longest"]),
            counted: 0,
        };
        // A number below 128 is written as itself.
        let discounts: Vec<u8> = match &case["discounts"] {
            Value::Array(numbers) => numbers.iter().map(|n| number(n) as u8).collect(),
            written => bytes(written),
        };
        let strings = |strings: &Value| list(strings).iter().map(bytes).collect();
        let ring = |ring: &Value| -> SpelledRing {
            let by_both = list(&ring[2]).iter().map(size).collect();
            (strings(&ring[0]), number(&ring[1]), by_both)
        };
        let (rings, chains) = (case["rings"].as_array(), case["chains"].as_array());
        let rings = rings.into_iter().flatten().map(ring).collect();
        let rings = (rings, chains.into_iter().flatten().map(strings).collect());
        let (problem, watch) = (problem(case, &counts, against), Watch::default());
        match check(&problem, &setting, &[None], &rings, &discounts, &watch) {
            Ok(bound) => assert_eq!(bound, number(&case["bound"])),
            Err(error) => check_error(&case["error"], &error),
        }
    });
}

// Tokenizers.

/// The ids of the 256 bytes from a first one on.
fn byte_ids(first: &Value) -> Box<[Id; 256]> {
    let first = id(first);
    Box::new(std::array::from_fn(|byte| first + byte as Id))
}

/// The tokenizer that a case describes. Long because it has an arm for each part of the builder.
fn tokenizer_of(fields: &Value) -> Result<Tokenizer> {
    let is_chars = fields["alphabet"] == "chars";
    let first = match fields.get("byte_ids") {
        None if is_chars => &Value::Null,
        None => &Value::from(0),
        Some(first) => first,
    };
    let mut tokens = pairs(&fields["tokens"], id);
    if !first.is_null() {
        let bytes = (0..=u8::MAX).zip(*byte_ids(first));
        tokens.extend(bytes.map(|(byte, id)| (vec![byte], id)));
    }
    let (merges, ranks) = (pairs(&fields["merges"], bytes), pairs(&fields["ranks"], id));
    let end_of_word = fields.get("end_of_word").map(bytes).unwrap_or_default();
    let mut builder = Tokenizer::builder().tokens(tokens.iter().map(|(s, id)| (&s[..], *id)));
    for (name, value) in fields.as_object().expect("fields") {
        builder = match name.as_str() {
            "tokens" | "byte_ids" | "fuse_unknown" => builder,
            "merges" => builder.merges(merges.iter().map(|(l, r)| (&l[..], &r[..]))),
            "ranks" => builder.ranks(ranks.iter().map(|(s, rank)| (&s[..], *rank))),
            "alphabet" => builder.symbols(if is_chars {
                Symbols::Chars
            } else {
                Symbols::Bytes
            }),
            "byte_tokens" => builder.unknown(Unknown::Bytes(byte_ids(value))),
            "unknown_token" => builder.unknown(Unknown::Token {
                id: id(value),
                fuse: flag(&fields["fuse_unknown"]),
            }),
            "whole_words" => builder.whole_words(flag(value)),
            "end_of_word" => builder.end_of_word(&end_of_word),
            "pattern" => builder.pattern(value.as_str()),
            "drops_gaps" => builder.drops_gaps(flag(value)),
            "normalize" => builder.normalization(normalization(value)),
            "mark_is_space" => builder.mark_is_space(flag(value)),
            "prefix_space" => builder.prefix_space(match text(value) {
                "always" => PrefixSpace::Always,
                "once" => PrefixSpace::Once,
                "unless_space" => PrefixSpace::UnlessSpace,
                other => panic!("{other}"),
            }),
            "special_tokens" => list(value).iter().fold(builder, |builder, special| {
                builder.special_token(text(&special[0]), id(&special[1]))
            }),
            "added_tokens" => list(value).iter().fold(builder, |builder, special| {
                builder.added_token(text(&special[0]), id(&special[1]))
            }),
            other => panic!("{other}"),
        };
    }
    builder.build()
}

/// Which special tokens are found, and which are refused: all others, unless the case says so.
fn choice_of(tokenizer: &Tokenizer, case: &Value) -> Choice {
    let names = |value| list(value).iter().map(text).collect::<Vec<_>>();
    let allowed = names(&case["allowed"]);
    let disallowed = case.get("disallowed").map(names);
    let is_refused = |name: &str| match &disallowed {
        Some(names) => names.contains(&name),
        None => !allowed.contains(&name),
    };
    let specials = || tokenizer.specials();
    Choice {
        allowed: specials()
            .map(|(name, ..)| allowed.contains(&name))
            .collect(),
        refused: specials()
            .map(|(name, _, always)| !always && is_refused(name))
            .collect(),
        ..Choice::default()
    }
}

fn check_text(tokenizer: &Tokenizer, case: &Value) {
    let (text, watch) = (bytes(&case["text"]), Watch::default());
    let choice = choice_of(tokenizer, case);
    let found = tokenizer.encode_with(&text, &choice);
    let encoder = tokenizer.encoder();
    let call = encoder.call(&choice).expect("automata");
    let count = encoder.count(&text, &call, &watch);
    if let Err(error) = &found {
        assert_eq!(count.as_ref(), Err(error));
        return check_error(&case["error"], error);
    }
    let expected: Vec<Id> = list(&case["ids"]).iter().map(id).collect();
    assert!(case["error"].is_null());
    assert_eq!(found.as_ref(), Ok(&expected));
    assert_eq!(count, Ok(expected.len()));
    if case["allowed"].is_null() && case["disallowed"].is_null() {
        assert_eq!(tokenizer.encode(&text), found);
    }
    let batch = [&text[..], &text[..]];
    let batch_ids = encoder.encode_batch(&batch, &call, 2, &watch);
    assert_eq!(
        batch_ids.expect("texts that can be encoded").0,
        expected.repeat(2)
    );
    let decoded = case.get("decoded").unwrap_or(&case["text"]);
    assert_eq!(tokenizer.decode(&expected), Ok(bytes(decoded)));
}

#[test]
fn encode() {
    for_each_case("encode.json", |case| {
        let tokenizer = match tokenizer_of(&case["tokenizer"]) {
            Err(error) => return check_error(&case["error"], &error),
            Ok(tokenizer) => tokenizer,
        };
        assert!(case["error"].is_null());
        let read = Tokenizer::from_bytes(&tokenizer.to_bytes()).expect("its own bytes");
        let built = tokenizer.to_builder().build().expect("its own parts");
        for copy in [&tokenizer, &read, &built] {
            assert_eq!(copy, &tokenizer);
            for text in list(&case["texts"]) {
                check_text(copy, text);
            }
        }
    });
}

#[test]
fn num_tokens() {
    for_each_case("num_tokens.json", |case| {
        let tokenizer = tokenizer_of(&case["tokenizer"]).expect("a tokenizer");
        let pattern = case["tokenizer"]["pattern"].as_str();
        let texts: Vec<Vec<u8>> = list(&case["texts"]).iter().map(bytes).collect();
        let counts = if texts.is_empty() {
            counts_of(case, pattern)
        } else {
            WordCounts::of(&texts, pattern)
        };
        let num_tokens = counts.and_then(|counts| {
            let num_tokens = tokenizer.num_tokens(&counts)?;
            let uses = tokenizer.token_counts(&counts, 2, &Watch::default())?;
            assert_eq!(uses.values().sum::<u64>(), num_tokens);
            Ok(num_tokens)
        });
        if let Err(error) = &num_tokens {
            return check_error(&case["error"], error);
        }
        assert_eq!(num_tokens, Ok(number(&case["num_tokens"])));
        if !texts.is_empty() {
            let encoded = texts
                .iter()
                .map(|text| tokenizer.encode(text).expect("ids").len());
            assert_eq!(num_tokens, Ok(encoded.sum::<usize>() as u64));
        }
    });
}
