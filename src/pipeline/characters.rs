//! Sets of characters that steps ask for. Some of tokenizers' tables are older than ours: they are
//! those of Unicode 8 and 9, with exceptions.

use crate::pattern::class_ranges;

/// Characters, each with a label, as sorted ranges.
#[derive(Debug, Clone)]
pub(crate) struct Characters(Vec<(char, char, u8)>);

/// Punctuation, and all signs of ASCII.
pub(super) fn punctuation() -> Characters {
    Characters::of(&[r"[!-/:-@\[-`{-~[\p{P}&&\p{Age=8.0}]\x{166D}\x{111C9}]"])
}

/// Control and format characters and those of private use.
pub(super) fn controls() -> Characters {
    Characters::of(&[r"[[\p{Cc}\p{Cf}\p{Co}]&&\p{Age=8.0}]"])
}

/// Marks that take no space.
pub(super) fn nonspacing_marks() -> Characters {
    Characters::of(&[
        r"[[[\p{Mn}&&\p{Age=8.0}]--[\x{1885}\x{1886}\x{A9BD}\x{111C9}]]\x{1734}\x{1171E}]",
    ])
}

/// The scripts of Unicode 9; those of Japanese are one.
pub(super) fn scripts() -> Characters {
    let sets = SCRIPTS.split_whitespace().map(|names| {
        let names = names.split('+').map(|name| format!(r"\p{{sc={name}}}"));
        format!(r"[[{}]&&\p{{Age=9.0}}]", names.collect::<String>())
    });
    let sets: Vec<String> = sets.collect();
    Characters::of(&sets.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The number of a character's script; `None` if it has none and goes with any.
pub(super) fn script(scripts: &Characters, character: char) -> Option<u8> {
    let alike = match character {
        ' ' => return None,
        // The mark of a long vowel, which is Common in Unicode.
        '\u{30FC}' => '\u{4E00}',
        // Where scripts have changed since: Common, and Devanagari.
        '\u{589}' | '\u{61C}' => '!',
        '\u{953}' | '\u{954}' => '\u{905}',
        other => other,
    };
    scripts.label(alike)
}

const SCRIPTS: &str = "\
    Adlam Ahom AnatolianHieroglyphs Arabic Armenian Avestan Balinese Bamum BassaVah Batak \
    Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid CanadianAboriginal Carian \
    CaucasianAlbanian Chakma Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret \
    Devanagari Duployan EgyptianHieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha \
    Greek Gujarati Gurmukhi Han+Hiragana+Katakana Hangul Hanunoo Hatran Hebrew ImperialAramaic \
    Inherited InscriptionalPahlavi InscriptionalParthian Javanese Kaithi Kannada KayahLi \
    Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu LinearA LinearB Lisu Lycian Lydian \
    Mahajani Malayalam Mandaic Manichaean Marchen MeeteiMayek MendeKikakui MeroiticCursive \
    MeroiticHieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean NewTaiLue Newa Nko \
    Ogham OlChiki OldHungarian OldItalic OldNorthArabian OldPermic OldPersian OldSouthArabian \
    OldTurkic Oriya Osage Osmanya PahawhHmong Palmyrene PauCinHau PhagsPa Phoenician \
    PsalterPahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala \
    SoraSompeng Sundanese SylotiNagri Syriac Tagalog Tagbanwa TaiLe TaiTham TaiViet Takri Tamil \
    Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai WarangCiti Yi";

impl Characters {
    /// The characters of these sets, which have none in common, each with its place in the list.
    fn of(sets: &[&str]) -> Self {
        let mut ranges = Vec::new();
        for (label, set) in (0..).zip(sets) {
            let found = class_ranges(set)
                .unwrap_or_else(|error| unreachable!("{set} is a set of characters: {error}"));
            ranges.extend(found.iter().map(|&(first, last)| (first, last, label)));
        }
        ranges.sort_unstable();
        Self(ranges)
    }

    /// The label of a character, if it has one.
    pub(super) fn label(&self, character: char) -> Option<u8> {
        let behind = self.0.partition_point(|&(first, _, _)| first <= character);
        let &(_, last, label) = self.0.get(behind.checked_sub(1)?)?;
        (character <= last).then_some(label)
    }

    pub(super) fn contains(&self, character: char) -> bool {
        self.label(character).is_some()
    }
}
