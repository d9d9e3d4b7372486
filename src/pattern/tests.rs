use std::fmt::Write;
use std::sync::LazyLock;

use super::block::{Any, Work};
use super::scan::Scan;
use super::*;

mod blocks;
mod emulated;
mod steps;
mod time;

/// Pieces that the patterns treat differently, or might.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "s", "t", "d", "m", "ll", "re", "ve", "l", "v", "r", "e", "S", "T", "LL", "Re", "vE",
    "lL", "A", "Z", "0", "7", "12", "345", "6789", " ", " ", "  ", "    ", "\t", "\n", "\n",
    "\r\n", "\r", "\x0b", "\x0c", "\x1c", "'", "'", "'s", "'LL", "'t'", ".", ",", "(", "/", "//",
    "\n/", "_", "-", "\0", "\x7f", "\u{85}", "\u{a0}", "\u{2028}", "\u{3000}", "\u{1680}",
    "\u{180e}", "\u{200b}", "’", "’s", "ſ", "\u{212a}", "'ſ", "é", "É", "ǅ", "ʰ", "ª", "中", "文",
    "ا", "д", "Д", "𝐀", "𝐚", "𐐀", "\u{301}", "\u{20dd}", "\u{903}", "٣", "²", "½", "Ⅷ", "𝟙", "。",
    "“", "☃", "👩", "\u{200d}", "\u{378}", "\u{e000}", "\u{10ffff}",
];

/// Bytes that are not UTF-8, or not yet.
#[rustfmt::skip]
const BROKEN: &[&[u8]] = &[
    b"\x80", b"\xbf", b"\xc0", b"\xc5", b"\xe4", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf0\x90\x90",
    b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xff",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % bound as u64) as usize
    }

    /// Some pieces, of few kinds, so that runs are common; of ASCII only every other time.
    fn text(&mut self, most_pieces: usize) -> Vec<u8> {
        let ascii = self.below(2) == 0;
        let allowed: Vec<&[u8]> = PIECES
            .iter()
            .map(|piece| piece.as_bytes())
            .chain(BROKEN.iter().copied())
            .filter(|piece| !ascii || piece.is_ascii())
            .collect();
        let kinds = 1 + self.below(12);
        let pool: Vec<&[u8]> = (0..kinds)
            .map(|_| allowed[self.below(allowed.len())])
            .collect();
        (0..self.below(most_pieces + 1))
            .flat_map(|_| pool[self.below(kinds)].to_vec())
            .collect()
    }
}

/// How many random inputs are tried; fewer without optimisation, and few under Miri, which is
/// thousands of times slower.
const fn rounds(number: usize) -> usize {
    if cfg!(miri) {
        number.div_ceil(5_000)
    } else if cfg!(debug_assertions) {
        number.div_ceil(20)
    } else {
        number
    }
}

fn pattern(spec: &str) -> Pattern {
    Pattern::new(Some(spec)).expect("a valid pattern")
}

fn words(pattern: &Pattern, text: &[u8]) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    pattern
        .for_each_word(text, &Watch::default(), |start, end| {
            words.push((start, end));
        })
        .expect("no failure");
    words
}

/// Expressions that tokenizers were published with, and others that need something special.
#[rustfmt::skip]
const EXPRESSIONS: &[&str] = &[
    // Llama 3, Qwen 2, DeepSeek V3, Tekken, Qwen 3.5, Kimi K2, nanochat.
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    // Gaps, lazy and possessive repetition, what is tried in vain, classes of few characters.
    r"\w+|[^\w\s]", r"[a-z]+?(?=[A-Z0-9 ])|\d{2,}?x|'", r"(?:ab|a)(?:bc|c)?|l{2,3}+l|[^\n]{4}+", r"a+b|.|\n",
    r"\p{N}{1,3}+|[^\p{N}]{1,2}?", r"(a|e|v)*?s|\S+$|\s", r"(?:the|t|re|ve)+|(?s:.)", r"[^'a]*+a|(?!')(?:..|.)|'",
    // Short words that their neighbours say little about.
    r"(?s:..?)", r"(?s:.{1,3})", r"\w{1,2}|\s|[^\w\s]", r"(?s:.)(?:\w\wx|\s\w'?)?",
    // White space with more than white space behind it: not ASCII, or the end.
    r"\p{L}\s[☃“]|\S{1,3}|\s+(?!\S)|\s", r"\p{L}\s$|\p{N}|.\s?|\s",
];

/// How many of them were published.
const NUM_PUBLISHED: usize = 7;

/// Automata, and the same expressions by backtracking.
static PAIRS: LazyLock<Vec<(Pattern, Pattern)>> = LazyLock::new(|| {
    let named = NAMED_PATTERNS.iter().map(|named| named.expression);
    let expressions = named.chain(EXPRESSIONS.iter().copied());
    expressions
        .map(|spec| (pattern(spec), backtracking(spec)))
        .collect()
});

/// The pattern of an expression by backtracking.
fn backtracking(spec: &str) -> Pattern {
    let expression = Expression::of_regex(spec).expect("a valid expression");
    assert!(expression.scanner().is_some(), "{spec} has no automaton");
    Pattern {
        kind: Kind::Expression(expression.backtracking()),
        ..pattern(spec)
    }
}

fn assert_equal(pairs: &[(Pattern, Pattern)], text: &[u8]) {
    for (automaton, backtracking) in pairs {
        assert_eq!(
            words(automaton, text),
            words(backtracking, text),
            "{:?} on {:?}",
            automaton.spec(),
            text.utf8_chunks().collect::<Vec<_>>()
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn automata_equal_backtracking_on_random_texts() {
    let mut random = Random(1);
    for round in 0..rounds(20_000) {
        let text = random.text([6, 20, 60, 200][round % 4]);
        assert_equal(&PAIRS, &text);
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn other_spellings_equal_the_named_patterns() {
    let named = NAMED_PATTERNS.iter();
    let pairs: Vec<(Pattern, Pattern)> = named
        .flat_map(|named| named.spellings.iter().map(|s| (named.name, *s)))
        .map(|(name, spelling)| (pattern(name), pattern(spelling)))
        .collect();
    let mut random = Random(7);
    for round in 0..rounds(2_000) {
        assert_equal(&pairs, &random.text([6, 20, 60, 200][round % 4]));
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn automata_equal_backtracking_at_every_place_in_a_block() {
    let mut random = Random(2);
    for round in 0..rounds(3_000) {
        let filler = [b'a', b'A', b'7', b'.', b' ', b'\n', b'\'', b'/'][round % 8];
        let mut text = vec![filler; round / 8 % 71];
        text.extend(random.text(8));
        text.resize(text.len() + random.below(71), filler);
        assert_equal(&PAIRS, &text);
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn automata_equal_backtracking_on_every_character() {
    // In builds without optimisation, only some beyond the first blocks.
    let step = if cfg!(debug_assertions) { 4999 } else { 1 };
    let first_step = if cfg!(debug_assertions) { 7 } else { 1 };
    let mut text = String::new();
    let first_blocks = (0..0x300).step_by(first_step);
    for c in first_blocks.chain((0x300..=0x10_ffff_u32).step_by(step)) {
        let Some(c) = char::from_u32(c) else { continue };
        write!(text, "a{c}A1{c}'s{c} {c}.\n{c}\n").expect("room");
        if c < '\u{3100}' {
            let more = format!("'{c} A{c}B1{c}2.{c}({c}{c}\n{c}/\n  {c}  '{c}'s'{c}\t{c}");
            text.push_str(&more);
            assert_equal(&PAIRS, c.to_string().as_bytes());
        }
        if text.len() > 4000 {
            assert_equal(&PAIRS, text.as_bytes());
            text.clear();
        }
    }
    assert_equal(&PAIRS, text.as_bytes());
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn a_safe_cut_is_safe_whatever_follows() {
    let mut random = Random(3);
    for NamedPattern { name, .. } in NAMED_PATTERNS {
        let pattern = pattern(name);
        let mut cuts = 0;
        for _ in 0..rounds(20_000) {
            let text = random.text(12);
            let Some(cut) = pattern.last_safe_cut(&text) else {
                continue;
            };
            cuts += 1;
            for more in 0..4 {
                let mut whole = text.clone();
                whole.extend(random.text(3 * more));
                let mut parts = words(&pattern, &whole[..cut]);
                let rest = words(&pattern, &whole[cut..]);
                parts.extend(rest.iter().map(|(start, end)| (start + cut, end + cut)));
                assert_eq!(
                    parts,
                    words(&pattern, &whole),
                    "{name}: {whole:x?} at {cut}"
                );
            }
        }
        assert!(cuts >= rounds(5_000), "{name} found only {cuts} cuts");
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn cuts_are_found_near_the_end_of_usual_texts() {
    let names = ["gpt2", "cl100k", "o200k", "whitespace"];
    for (text, cuts) in [
        ("the cat sa", [7, 7, 7, 7]),
        ("it is.\n    So", [6, 5, 5, 6]),
        ("some\nword", [4, 5, 5, 4]),
        ("中文。\n中文", [9, 10, 10, 9]),
        ("中文，中文\u{3000}中", [15, 15, 15, 15]),
        ("x1, f(y) don't", [12, 12, 8, 8]),
    ] {
        let found = names.map(|name| pattern(name).last_safe_cut(text.as_bytes()));
        assert_eq!(found, cuts.map(Some), "{text:?}");
    }
    for text in ["", "word", "\n \n", "\u{301}\u{301}"] {
        let found = names.map(|name| pattern(name).last_safe_cut(text.as_bytes()));
        assert_eq!(found, [None; 4], "{text:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn words_are_the_same_on_all_processors() {
    fn words_by(scanner: &Scanner, processor: impl Processor, text: &[u8]) -> Vec<(usize, usize)> {
        let mut words = Vec::new();
        let word = |start, end| words.push((start, end));
        let scan = Scan {
            scanner,
            text,
            start: 0,
            groups: &mut Singly { start: 0, word },
        };
        scan.run(processor);
        words
    }
    let mut random = Random(6);
    for _ in 0..rounds(2_000) {
        let text = random.text(200);
        for (pattern, _) in PAIRS.iter() {
            let Some(scanner) = pattern.scanner() else {
                continue;
            };
            let expected = words(pattern, &text);
            assert_eq!(words_by(scanner, Any, &text), expected, "{text:x?}");
            let emulated = words_by(scanner, emulated::Emulated, &text);
            assert_eq!(emulated, expected, "{text:x?}");
            #[cfg(target_arch = "x86_64")]
            if let Some(processor) = block::Avx2::detect() {
                assert_eq!(words_by(scanner, processor, &text), expected, "{text:x?}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn chains_are_for_short_words() {
    let is_chained = |spec: &str| pattern(spec).scanner().is_some_and(Scanner::is_chained);
    let chained = EXPRESSIONS.iter().filter(|spec| is_chained(spec));
    assert!(chained.count() >= 4);
    for spec in &EXPRESSIONS[..NUM_PUBLISHED] {
        assert!(!is_chained(spec), "{spec}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn expressions_lose_no_byte() {
    let letters = pattern("[a-z]+|(?=x)");
    assert_eq!(
        words(&letters, b"ab1 2cd!"),
        [(0, 2), (2, 5), (5, 7), (7, 8)]
    );
    assert_eq!(
        words(&letters, b"\xffa\x80\x80b"),
        [(0, 1), (1, 2), (2, 4), (4, 5)]
    );
    assert_eq!(words(&letters, b""), []);
    assert_eq!(letters.last_safe_cut(b"ab cd"), None);
    assert_eq!(letters.spec(), Some("[a-z]+|(?=x)"));
}

#[test]
fn no_pattern_makes_one_word() {
    let whole = Pattern::new(None).expect("valid");
    assert_eq!(words(&whole, b"ab cd"), [(0, 5)]);
    assert_eq!(words(&whole, b""), []);
    assert_eq!((whole.spec(), whole.last_safe_cut(b"ab cd")), (None, None));
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn failures_are_told() {
    assert!(matches!(
        Pattern::new(Some("(a")),
        Err(Error::InvalidPattern { message }) if !message.is_empty()
    ));
    let slow = backtracking(r"(?:a|aa)+(?!a)$");
    let mut text = vec![b'a'; 60];
    text.push(b'b');
    assert!(matches!(
        slow.for_each_word(&text, &Watch::default(), |_, _| {}),
        Err(Error::PatternFailed { .. })
    ));
}
