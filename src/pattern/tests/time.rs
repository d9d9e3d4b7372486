//! What it costs to find the words of a text.

use std::time::Duration;

use super::super::backtracking::Budget;
use super::*;

/// How many bytes the automaton of a pattern reads to find the words.
fn num_read(pattern: &Pattern, text: &[u8]) -> usize {
    let Kind::Expression(expression) = &pattern.kind else {
        return 0;
    };
    let scanner = expression.scanner().expect("an automaton");
    let (mut start, mut num_read) = (0, 0);
    while start < text.len() {
        let (end, read) = scanner.automaton().run(text, start);
        num_read += read - start;
        start = end.max(start + 1);
    }
    num_read
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn linear_time_is_proved() {
    for (pattern, _) in PAIRS.iter().take(NAMED_PATTERNS.len() + NUM_PUBLISHED) {
        assert!(pattern.is_linear(), "{:?}", pattern.spec());
    }
    // What is proved so is so: no text is read often, whatever is repeated in it.
    let mut random = Random(7);
    let is_linear = |(pattern, _): &&(Pattern, Pattern)| pattern.is_linear();
    for (pattern, _) in PAIRS.iter().filter(is_linear) {
        for _ in 0..rounds(200) {
            let text = [random.text(6).repeat(500), random.text(6)].concat();
            let num_read = num_read(pattern, &text);
            assert!(
                num_read <= 4 * text.len(),
                "{:?} {num_read} {text:?}",
                pattern.spec()
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn what_is_not_linear_has_a_budget() {
    for (expression, text) in [
        (r"a+b|(?s:.)", "a"),
        (r"a+b|a+c|.", "a"),
        (r"(?:ab)+c|[ab]", "ab"),
        (r"\s*x|\s\s?", " "),
        (r"a+b", "a"),
    ] {
        let pattern = pattern(expression);
        assert!(!pattern.is_linear(), "{expression}");
        let cut = pattern.for_each_word(
            &text.repeat(30_000).into_bytes(),
            &Watch::default(),
            |_, _| {},
        );
        assert!(
            matches!(cut, Err(Error::PatternFailed { .. })),
            "{expression}"
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "compiling expressions takes long there")]
fn what_a_text_may_cost_is_bounded() {
    let time = Duration::from_secs(600);
    let automaton = Expression::new(r"\w+(?=\s)|.").expect("valid");
    assert!(
        automaton
            .scanner()
            .is_some_and(|scanner| !scanner.is_linear())
    );
    // The engine steps through the second; the third is an automaton of its own, without steps.
    for (expression, budget) in [
        (
            automaton.clone(),
            Budget {
                steps: 1_000_000,
                time,
            },
        ),
        (
            automaton.backtracking(),
            Budget {
                steps: 1_000_000,
                time,
            },
        ),
        (
            Expression::new(r"\w+x|.").expect("valid").backtracking(),
            Budget {
                steps: u64::MAX,
                time: Duration::ZERO,
            },
        ),
    ] {
        let text = [b"ab ".repeat(30), vec![b'a'; 5000]].concat();
        let (watch, mut num_words) = (Watch::default(), 0);
        let mut cut = |budget, watch: &Watch| {
            expression
                .for_each_match_within(budget, &text, watch, false, &mut |_, _| num_words += 1)
        };
        let failed = cut(budget, &watch).expect_err("the text costs more");
        let is_right = matches!(
            failed,
            Error::PatternFailed { is_of_steps, .. } if is_of_steps == (budget.steps < u64::MAX)
        );
        assert!(is_right, "{failed}");
        assert!(failed.offset().is_some_and(|offset| offset < 5090));
        watch.stop();
        let steps = u64::MAX;
        assert_eq!(cut(Budget { steps, time }, &watch), Err(Error::Interrupted));
        assert!(num_words < 5000);
    }
}
