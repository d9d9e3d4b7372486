//! Unicode normalisation of texts that may contain any bytes, with the tables of Unicode 9: those of
//! the library tokenizers, so that files mean the same here and there.
//!
//! A character is stable in a form if it is a starter (of combining class 0) and the quick check says
//! Yes: it is its own normal form, and neither moves nor combines with what stands before it. So a
//! text may be cut before each stable character and the parts be normalised alone. Where the quick
//! check says Yes to all characters of a part and their classes are in order, it stays as it is; so
//! do nearly all parts of real texts. Only the others go to the library.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::iter;
use std::ops::RangeInclusive;
use std::sync::{LazyLock, OnceLock};

use unicode_normalization_alignments::char::canonical_combining_class;
use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use crate::settings::Normalization;

/// The text in a normal form. Bytes that are not valid UTF-8 are kept unchanged.
pub fn normalize(text: &[u8], form: Normalization) -> Cow<'_, [u8]> {
    let Some(form) = Form::of(form) else {
        return Cow::Borrowed(text);
    };
    let mut normal = Vec::new();
    // What `normal` stands for ends here.
    let mut end = 0;
    for (start, part) in form.doubtful(text) {
        let characters = form.characters(part).map(|(character, _)| character);
        let changed: String = characters.collect();
        if changed != part {
            // Nearly all of the rest stays as it is.
            normal.reserve(text.len() - end);
            normal.extend_from_slice(&text[end..start]);
            normal.extend_from_slice(changed.as_bytes());
            end = start + part.len();
        }
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    normal.extend_from_slice(&text[end..]);
    Cow::Owned(normal)
}

/// Where the last character of a text begins that is stable in a form; if there is none, where the
/// text begins or what is not UTF-8 ends. What is before it stays as it is, whatever follows the text.
pub(crate) fn last_stable(text: &[u8], form: Form) -> usize {
    Classes::of(form).last_stable(text, text.len())
}

/// Whether a text begins with a character that is stable in a form.
pub(crate) fn begins_stable(text: &[u8], form: Form) -> bool {
    let first = Classes::of(form).first(text);
    first.is_some_and(|(class, _)| class == STABLE)
}

/// A normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    /// The form of a setting, if it asks for one.
    pub(crate) fn of(normalization: Normalization) -> Option<Self> {
        match normalization {
            Normalization::None => None,
            Normalization::Nfc => Some(Self::Nfc),
            Normalization::Nfkc => Some(Self::Nfkc),
        }
    }

    /// The characters of a text in this form, each with how many were added before it (1: it is new)
    /// or removed behind it (-n).
    pub(crate) fn characters(self, text: &str) -> Box<dyn Iterator<Item = (char, isize)> + '_> {
        match self {
            Self::Nfc => Box::new(text.nfc()),
            Self::Nfd => Box::new(text.nfd()),
            Self::Nfkc => Box::new(text.nfkc()),
            Self::Nfkd => Box::new(text.nfkd()),
        }
    }

    /// The parts of a text that may not be in this form, from left to right, and where they begin.
    /// Each can be normalised alone; what lies between them stays as it is.
    pub(crate) fn doubtful(self, text: &[u8]) -> impl Iterator<Item = (usize, &str)> {
        let classes = Classes::of(self);
        let mut end = 0;
        iter::from_fn(move || {
            let start;
            (start, end) = classes.next_doubtful(text, end)?;
            let part = std::str::from_utf8(&text[start..end]);
            Some((start, part.expect("a part consists of whole characters")))
        })
    }

    /// The bytes behind ASCII with which only stable characters begin.
    fn plain_bytes(self) -> &'static [RangeInclusive<usize>] {
        match self {
            Self::Nfc => &[
                0xC2..=0xCB,
                0xCF..=0xD1,
                0xD3..=0xD5,
                0xDA..=0xDA,
                0xDE..=0xDE,
                0xE4..=0xE9,
                0xEB..=0xEE,
            ],
            Self::Nfd => &[
                0xC2..=0xC2,
                0xC9..=0xCB,
                0xD4..=0xD5,
                0xDA..=0xDA,
                0xDE..=0xDE,
                0xE4..=0xE9,
                0xEE..=0xEE,
            ],
            Self::Nfkc => &[
                0xC3..=0xC3,
                0xC6..=0xC6,
                0xC8..=0xC9,
                0xD0..=0xD1,
                0xD3..=0xD5,
                0xDA..=0xDA,
                0xDE..=0xDE,
                0xE4..=0xE9,
                0xEB..=0xEE,
            ],
            Self::Nfkd => &[
                0xC9..=0xC9,
                0xD4..=0xD5,
                0xDA..=0xDA,
                0xDE..=0xDE,
                0xE4..=0xE9,
                0xEE..=0xEE,
            ],
        }
    }

    /// The combining class of a character to which the quick check says Yes; else `DOUBTFUL`.
    fn class(self, character: char) -> u8 {
        let alone = iter::once(character);
        let check = match self {
            Self::Nfc => is_nfc_quick(alone),
            Self::Nfd => is_nfd_quick(alone),
            Self::Nfkc => is_nfkc_quick(alone),
            Self::Nfkd => is_nfkd_quick(alone),
        };
        match check {
            IsNormalized::Yes => canonical_combining_class(character),
            IsNormalized::No | IsNormalized::Maybe => DOUBTFUL,
        }
    }
}

/// The class of stable characters.
const STABLE: u8 = 0;
/// The class of characters to which the quick check does not say Yes; no combining class is so high.
const DOUBTFUL: u8 = 255;
/// How many characters differ only in the last byte of their UTF-8.
const BLOCK: usize = 64;

/// The classes of all characters in a form. Those of a block are asked of the library when a text
/// first has a character of it, since most texts have characters of few blocks.
struct Classes {
    form: Form,
    /// Whether a byte is ASCII, is inside a character, or begins stable characters only.
    is_plain: [bool; 256],
    blocks: Vec<OnceLock<Box<[u8; BLOCK]>>>,
}

impl Classes {
    fn of(form: Form) -> &'static Self {
        static CLASSES: [LazyLock<Classes>; 4] = [
            LazyLock::new(|| Classes::new(Form::Nfc)),
            LazyLock::new(|| Classes::new(Form::Nfd)),
            LazyLock::new(|| Classes::new(Form::Nfkc)),
            LazyLock::new(|| Classes::new(Form::Nfkd)),
        ];
        &CLASSES[form as usize]
    }

    fn new(form: Form) -> Self {
        let num_blocks = char::MAX as usize / BLOCK + 1;
        let blocks = iter::repeat_with(OnceLock::new).take(num_blocks).collect();
        let mut is_plain = [false; 256];
        is_plain[..0xC0].fill(true);
        for range in form.plain_bytes() {
            is_plain[range.clone()].fill(true);
        }
        Self {
            form,
            is_plain,
            blocks,
        }
    }

    /// Where the first doubtful part from `at` on begins and ends. What stands before `at` does not
    /// matter to it.
    fn next_doubtful(&self, text: &[u8], mut at: usize) -> Option<(usize, usize)> {
        let mut last_class = STABLE;
        while let Some(&byte) = text.get(at) {
            if self.is_plain[usize::from(byte)] {
                at += self.plain_run(&text[at..]);
                last_class = STABLE;
                continue;
            }
            // Nothing combines across an invalid byte.
            let (class, length) = self.first(&text[at..]).unwrap_or((STABLE, 1));
            if class == DOUBTFUL || class < last_class && class != STABLE {
                let start = self.last_stable(text, at);
                return Some((start, at + self.unstable_run(&text[at..])));
            }
            last_class = class;
            at += length;
        }
        None
    }

    /// How many plain bytes a text begins with.
    fn plain_run(&self, text: &[u8]) -> usize {
        let is_plain = |byte: &u8| self.is_plain[usize::from(*byte)];
        let mut at = 0;
        while let Some(bytes) = text[at..].first_chunk::<8>() {
            // Without a branch for each byte: it would often be predicted wrongly.
            let is_run =
                bytes.is_ascii() || bytes.iter().fold(true, |all, byte| all & is_plain(byte));
            if !is_run {
                break;
            }
            at += 8;
        }
        at + text[at..].iter().take_while(|byte| is_plain(byte)).count()
    }

    /// Where the last stable character before `at` begins, or the first one behind what is not UTF-8.
    fn last_stable(&self, text: &[u8], mut at: usize) -> usize {
        loop {
            let last = (1..=at.min(4)).find_map(|length| {
                let (class, found) = self.first(&text[at - length..at])?;
                (found == length).then_some((class, length))
            });
            let Some((class, length)) = last else {
                return at;
            };
            at -= length;
            if class == STABLE {
                return at;
            }
        }
    }

    /// How many bytes of a text come before the first stable character, or what is not UTF-8.
    fn unstable_run(&self, text: &[u8]) -> usize {
        let mut at = 0;
        while let Some((class, length)) = self.first(&text[at..])
            && class != STABLE
        {
            at += length;
        }
        at
    }

    /// The class of a text's first character, and its length; `None` if it begins with none.
    #[inline]
    fn first(&self, text: &[u8]) -> Option<(u8, usize)> {
        // The six bits of a byte inside a character; more than six of any other.
        let bits = |byte: u8| usize::from(byte ^ 0x80);
        let (block, last, length) = match *text {
            [..0x80, ..] => return Some((STABLE, 1)),
            [first @ 0xC2..0xE0, last, ..] => (usize::from(first & 0x1F), bits(last), 2),
            // Longer than needed, surrogates, and above all characters.
            [0xE0, ..0xA0, ..]
            | [0xED, 0xA0..=0xFF, ..]
            | [0xF0, ..0x90, ..]
            | [0xF4, 0x90..=0xFF, ..] => {
                return None;
            }
            [first @ 0xE0..0xF0, b, last, ..] if bits(b) < BLOCK => {
                (usize::from(first & 0x0F) << 6 | bits(b), bits(last), 3)
            }
            [first @ 0xF0..0xF5, b, c, last, ..] if bits(b) | bits(c) < BLOCK => {
                let high = usize::from(first & 0x07) << 12;
                (high | bits(b) << 6 | bits(c), bits(last), 4)
            }
            _ => return None,
        };
        let classes = self.blocks[block].get_or_init(|| Box::new(self.classes_of(block)));
        classes.get(last).map(|&class| (class, length))
    }

    /// What the library knows of the characters of a block.
    #[cold]
    fn classes_of(&self, block: usize) -> [u8; BLOCK] {
        std::array::from_fn(|last| {
            let character = char::from_u32((block * BLOCK + last) as u32);
            character.map_or(DOUBTFUL, |character| self.form.class(character))
        })
    }
}
