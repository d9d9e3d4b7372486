//! Ways to rewrite a text that several steps share.

use super::aligned::{Aligned, Rewriter};
use super::letters::letter_of;
use crate::normalize::Form;

/// Bring a text into a normal form.
pub(super) fn normalize(text: &mut Aligned, form: Form) {
    if form.doubtful(text.text().as_bytes()).next().is_none() {
        return;
    }
    text.rewrite(|rewriter| {
        let mut end = 0;
        for (start, part) in form.doubtful(rewriter.rest().as_bytes()) {
            rewriter.keep(start - end);
            rewriter.apply(form.characters(part));
            end = start + part.len();
        }
        rewriter.keep(rewriter.rest().len());
    });
}

/// Write another character, or nothing, for each.
pub(super) fn map(rewriter: &mut Rewriter<'_>, map: impl Fn(char) -> Option<char>) {
    for character in rewriter.rest().chars() {
        match map(character) {
            Some(new) => rewriter.replace(new),
            None => rewriter.skip(1),
        }
    }
}

/// Write each character in lower case, which may be several.
pub(super) fn write_in_lower_case(rewriter: &mut Rewriter<'_>) {
    for character in rewriter.rest().chars() {
        for (index, lower) in character.to_lowercase().enumerate() {
            if index == 0 {
                rewriter.replace(lower);
            } else {
                rewriter.insert(lower);
            }
        }
    }
}

/// Write each byte's letter.
pub(super) fn write_letters(rewriter: &mut Rewriter<'_>) {
    for character in rewriter.rest().chars() {
        let mut bytes = [0; 4];
        for (index, byte) in character.encode_utf8(&mut bytes).bytes().enumerate() {
            if index == 0 {
                rewriter.replace(letter_of(byte));
            } else {
                rewriter.insert(letter_of(byte));
            }
        }
    }
}
