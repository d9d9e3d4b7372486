//! Expressions that cut one after the other.

use super::*;

/// The steps of `DeepSeek` V3.
#[rustfmt::skip]
const DEEPSEEK: [&str; 3] = [r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", EXPRESSIONS[2]];

/// The words that expressions leave one after the other, each by backtracking.
fn words_after(steps: &[Pattern], text: &[u8]) -> Vec<(usize, usize)> {
    let mut pieces = vec![(0, text.len())];
    for step in steps {
        let cut = |(start, end): (usize, usize)| {
            let found = words(step, &text[start..end]).into_iter();
            found.map(move |(from, to)| (start + from, start + to))
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    pieces
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn steps_are_one_expression() {
    let gpt2 = table::named("gpt2").expect("a name").expression;
    let mut random = Random(8);
    for expressions in [
        &DEEPSEEK[..],
        &[r"\p{N}", gpt2],
        &[r"\p{N}+", gpt2],
        &[
            r"[0-9]{1,2}",
            r"[a-s]",
            r"[\p{L}--[a-s]]+",
            r"\s+(?!\S)|\s+$| ?[^\s]+",
        ],
        &[r"\n", r"[aes]t?|'(?=s)|\d"],
    ] {
        let joined = Pattern::of_steps(expressions).unwrap_or_else(|| panic!("{expressions:?}"));
        let steps: Vec<Pattern> = expressions.iter().map(|step| backtracking(step)).collect();
        for _ in 0..rounds(4_000) {
            let text = random.text(60);
            assert_eq!(
                words(&joined, &text),
                words_after(&steps, &text),
                "{text:x?}"
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn the_name_of_a_model_is_one_expression_for_its_steps() {
    let named = pattern("deepseek3");
    assert!(named.scanner().is_some());
    let steps: Vec<Pattern> = DEEPSEEK.iter().map(|step| backtracking(step)).collect();
    let mut random = Random(9);
    // Of each class that the steps tell apart, and code points that are none of them.
    let pieces =
        "a É ! ・ 。 \u{301} \u{3099} ゛ ー ゠ 12 ½ 漢 ひ 龥 龦 \u{3040} \u{3097} \u{fffe}";
    let pieces: Vec<&str> = pieces.split(' ').chain([" ", "  ", "\n", "\r\n"]).collect();
    for _ in 0..rounds(20_000) {
        let text: String = (0..random.below(20))
            .map(|_| pieces[random.below(pieces.len())])
            .collect();
        let text = text.as_bytes();
        assert_eq!(words(&named, text), words_after(&steps, text), "{text:x?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn other_steps_are_not_one_expression() {
    for expressions in [
        // The second cuts what the first leaves, the first leaves characters that it cuts out, or
        // cuts out more than runs.
        [r"\p{N}+", r"\d\d|\s+"],
        [r"\p{N}{2,}", r"\s+"],
        [r"a+b", r"\s+"],
        [r"\p{N}+?", r"\d+"],
        [r"\s", r"(?<=a)b"],
    ] {
        assert!(Pattern::of_steps(&expressions).is_none(), "{expressions:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn gaps_are_words() {
    for (expression, has_groups) in [
        (EXPRESSIONS[2], true),
        (r"\w+|[^\w\s]", true),
        (r"a+b", false),
        (r"abc|bc", false),
    ] {
        let pattern = pattern(expression);
        assert_eq!(pattern.scanner().is_some(), has_groups, "{expression}");
        assert!(pattern.dropping_gaps(true).scanner().is_none());
    }
}
