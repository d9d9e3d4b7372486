//! Texts normalised in parts against texts normalised whole, by the library.

use std::collections::BTreeSet;

use super::*;

const FORMS: [Form; 4] = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];

/// Characters and bytes that are part of none, each with the change that the library tells of.
type Changes = Vec<(Result<char, u8>, isize)>;

/// Append a text in a form, or as it is.
fn push(changes: &mut Changes, text: &[u8], form: Option<Form>) {
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        match form {
            Some(form) => changes.extend(form.characters(valid).map(|(c, n)| (Ok(c), n))),
            None => changes.extend(valid.chars().map(|c| (Ok(c), 0))),
        }
        changes.extend(chunk.invalid().iter().map(|&byte| (Err(byte), 0)));
    }
}

fn whole(form: Form, text: &[u8]) -> Changes {
    let mut changes = Changes::new();
    push(&mut changes, text, Some(form));
    changes
}

fn in_parts(form: Form, text: &[u8]) -> Changes {
    let mut changes = Changes::new();
    let mut end = 0;
    for (start, part) in form.doubtful(text) {
        push(&mut changes, &text[end..start], None);
        push(&mut changes, part.as_bytes(), Some(form));
        end = start + part.len();
    }
    push(&mut changes, &text[end..], None);
    changes
}

fn check(text: &[u8]) {
    for form in FORMS {
        let (found, expected) = (in_parts(form, text), whole(form, text));
        assert_eq!(found, expected, "{form:?} of {}", text.escape_ascii());
    }
    for (form, settings) in [
        (Form::Nfc, Normalization::Nfc),
        (Form::Nfkc, Normalization::Nfkc),
    ] {
        let mut expected = Vec::new();
        for (unit, _) in whole(form, text) {
            match unit {
                Ok(character) => expected.extend(character.to_string().bytes()),
                Err(byte) => expected.push(byte),
            }
        }
        let found = normalize(text, settings);
        assert_eq!(*found, *expected);
        assert_eq!(matches!(found, Cow::Borrowed(_)), *expected == *text);
    }
}

/// What composes, decomposes, moves or is no character, in several ways each.
const PIECES: &[&[u8]] = &[
    b"",
    "e".as_bytes(),
    "\u{e9}\u{304}".as_bytes(),
    "\u{44f}".as_bytes(),
    // Marks: those that compose, that do not, and that become two.
    "\u{301}".as_bytes(),
    "\u{323}".as_bytes(),
    "\u{316}".as_bytes(),
    "\u{344}".as_bytes(),
    "\u{f73}".as_bytes(),
    // Hangul.
    "\u{1100}".as_bytes(),
    "\u{1161}".as_bytes(),
    "\u{11a7}".as_bytes(),
    "\u{11a8}".as_bytes(),
    "\u{ac00}".as_bytes(),
    // Vowel signs that are starters and compose, and a letter that is always decomposed.
    "\u{9c7}".as_bytes(),
    "\u{9be}".as_bytes(),
    "\u{958}\u{94d}".as_bytes(),
    "\u{11099}\u{110ba}".as_bytes(),
    // Compatible characters.
    "\u{ff76}".as_bytes(),
    "\u{ff9e}".as_bytes(),
    "\u{304b}\u{3099}".as_bytes(),
    "\u{fb01}".as_bytes(),
    "\u{1d15e}".as_bytes(),
    // No characters.
    b"\xff",
    b"\xe4\xb8",
    b"\xed\xa0\x80",
];

#[test]
fn parts_are_normalised_as_the_whole() {
    for first in PIECES {
        for second in PIECES {
            for third in PIECES {
                check(&[*first, second, third].concat());
            }
        }
    }
}

/// Bytes are looked at eight at a time.
#[test]
fn parts_are_found_wherever_they_begin() {
    for plain in ["a", "\u{44f}", "\u{4e2d}", "\u{44f} "] {
        for length in 0..20 {
            for piece in PIECES {
                let before = plain.repeat(length);
                check(
                    &[
                        before.as_bytes(),
                        piece,
                        b"\xcc\x81",
                        before.as_bytes(),
                        piece,
                    ]
                    .concat(),
                );
            }
        }
    }
}

/// The characters that some form changes, and what they become.
fn changing() -> BTreeSet<char> {
    let stays = |character: &char| Form::Nfkd.class(*character) == STABLE;
    let changed: String = ('\0'..'\u{30000}').filter(|c| !stays(c)).collect();
    let decomposed = FORMS.map(|form| form.characters(&changed).map(|(character, _)| character));
    decomposed
        .into_iter()
        .flatten()
        .chain(changed.chars())
        .collect()
}

#[test]
fn characters_that_change_do_so_alike_between_others() {
    for character in changing() {
        let around = [
            'e', character, '\u{301}', '\u{316}', character, '\u{1161}', '\u{9be}',
        ];
        let text = String::from_iter(around);
        for form in FORMS {
            let text = text.as_bytes();
            assert_eq!(
                in_parts(form, text),
                whole(form, text),
                "{form:?} {character:?}"
            );
        }
    }
}

#[test]
fn stable_characters_end_no_composed_ones() {
    for character in changing() {
        if Form::Nfc.class(character) == DOUBTFUL {
            continue;
        }
        let string = character.to_string();
        for (second, _) in Form::Nfd.characters(&string).skip(1) {
            for form in [Form::Nfc, Form::Nfkc] {
                assert_ne!(form.class(second), STABLE, "{form:?} {character:?}");
            }
        }
    }
}

#[test]
fn plain_bytes_begin_stable_characters_only() {
    for form in FORMS {
        let mut is_plain = [true; 256];
        for character in '\0'..'\u{20000}' {
            let first = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
            let is_plain = &mut is_plain[usize::from(first)];
            *is_plain = *is_plain && form.class(character) == STABLE;
        }
        // No character begins with some of these, and few characters of texts with the others.
        is_plain[0xC0..0xC2].fill(false);
        is_plain[0xF1..].fill(false);
        assert_eq!(Classes::of(form).is_plain, is_plain, "{form:?}");
    }
}
