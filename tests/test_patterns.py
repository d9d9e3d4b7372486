"""The patterns cut texts into words as an independent regular-expression engine does."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from random import Random

import pytest
import regex
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tiktoken_ext import openai_public
from tokenizers import pre_tokenizers
from tokenizers.pre_tokenizers import Split

import mergewise as mw
from mergewise import _core
from mergewise.formal import split_words

GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
WHITESPACE = r"\s?\S+|\s+(?!\S)"
NAMED = ["gpt2", "cl100k", "o200k", "whitespace"]


def test_every_named_pattern_is_tested() -> None:
    assert [name for name, _, _ in _core.named_patterns()] == NAMED


# Sentences after article 1 of the declaration of human rights: from memory, some with an addition.
LANGUAGES = {
    "am": "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው።",
    "ar": "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق، وقد وهبوا عقلاً وضميراً.",
    "bn": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।",
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "en": "All human beings are born free; they're equal in dignity and rights, aren't they?",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "fa": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits, n'est-ce pas ?",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van.",
    "hy": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. L'uomo.",
    "ja": "すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ka": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren; 't is zo.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
    "ru": "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter.",
    "ta": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İstanbul'dan IŞIK.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах, чи пам'ять.",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền.",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
}


@cache
def tiktoken_pattern(name: str) -> str:
    """The regular expression that tiktoken itself uses, got without its download."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_args, **_options: {})
        encoding = getattr(openai_public, f"{name}_base")()
    pattern: str = encoding["pat_str"]
    return pattern


@cache
def compiled(name: str) -> regex.Pattern[str]:
    """A named pattern for the module regex, in whose dialect `$` also stands before a last \n."""
    if name == "gpt2":
        return regex.compile(GPT2)
    if name == "whitespace":
        return regex.compile(WHITESPACE)
    return regex.compile(tiktoken_pattern(name).replace("$", r"\Z"))


def words_by(expression: regex.Pattern[str], text: str) -> list[str]:
    """The matches that are not empty, and what lies between them."""
    words: list[str] = []
    end = 0
    for match in expression.finditer(text):
        if match.end() > match.start():
            words += [text[end : match.start()], match[0]]
            end = match.end()
    return [word for word in [*words, text[end:]] if word]


def counted(documents: Iterable[str | bytes], pattern: str | None) -> Counter[bytes]:
    counts = mw.count(documents, pattern=pattern, num_threads=1)
    return Counter(dict(counts.top(counts.num_unique)))


def expected_counts(name: str, documents: Iterable[str]) -> Counter[bytes]:
    expression = compiled(name)
    words: Counter[str] = Counter()
    for document in documents:
        words.update(expression.findall(document))
    return Counter({word.encode("utf-8", "surrogateescape"): n for word, n in words.items()})


def assert_same_words(name: str, documents: Sequence[str]) -> None:
    """Compare all documents at once, and one by one only to say which of them differs."""
    if counted(documents, name) == expected_counts(name, documents):
        return
    for document in documents:
        assert counted([document], name) == expected_counts(name, [document]), ascii(document)
    pytest.fail("the documents differ together, but none alone")


# Code points. mergewise, `regex` and this Python may know different versions of Unicode; where the
# oldest and the newest of the three say the same of a code point, so does the one between.

PROPERTIES = ["L", "N", "Lu", "Ll", "Lt", "Lm", "Lo", "M"]
ALL_CHARACTERS = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]


@cache
def agreed_characters() -> list[str]:
    text = "".join(ALL_CHARACTERS)
    known = {p: frozenset(regex.findall(rf"\p{{{p}}}", text)) for p in PROPERTIES}

    def is_agreed(character: str) -> bool:
        category = unicodedata.category(character)
        return all((character in known[p]) == category.startswith(p) for p in PROPERTIES)

    return [character for character in ALL_CHARACTERS if is_agreed(character)]


@cache
def examples_of_categories() -> list[str]:
    """The first three and the last two characters of each general category."""
    by_category: dict[str, list[str]] = {}
    for character in agreed_characters():
        by_category.setdefault(unicodedata.category(character), []).append(character)
    return [c for found in by_category.values() for c in (*found[:3], *found[-2:])]


def beside_others(character: str) -> list[str]:
    """Documents with a character alone, before and behind characters of each kind."""
    c = character
    return [c, f"{c}a{c}A{c}1{c} {c}\n{c}'{c}", f"a {c}s'{c}'s{c} {c} b{c}{c}12{c}\r\n{c}/ {c}"]


def test_few_code_points_are_skipped_because_versions_of_unicode_differ() -> None:
    skipped = set(ALL_CHARACTERS) - set(agreed_characters())
    old = sum(unicodedata.category(character) != "Cn" for character in skipped)
    assert len(skipped) < 60_000  # 27,045 with Python 3.11 (Unicode 14) and regex 2026.11
    assert old < 100  # all the others were not assigned in the older version


@pytest.mark.parametrize("name", NAMED)
def test_nearly_every_assigned_code_point_is_cut_as_the_expression_says(name: str) -> None:
    """Of Han, Hangul, Tangut, private and unassigned ones every 101st; the slow test takes all."""
    is_large = regex.compile(r"[\p{Han}\p{Hangul}\p{Tangut}\p{Co}\p{Cn}]").match
    large = [c for c in agreed_characters() if is_large(c)]
    others = [c for c in agreed_characters() if not is_large(c)]
    assert_same_words(name, [t for c in [*others, *large[::101]] for t in beside_others(c)])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_every_code_point_is_cut_as_the_expression_says(name: str) -> None:
    characters = agreed_characters()
    for start in range(0, len(characters), 50_000):
        part = characters[start : start + 50_000]
        assert_same_words(name, [text for c in part for text in beside_others(c)])


# Random texts.

CONTRACTIONS = ["s", "d", "m", "t", "ll", "ve", "re", "S", "D", "M", "T", "LL", "lL", "Ve", "rE"]
ASCII_PIECES = [
    *(f"'{letters}" for letters in CONTRACTIONS),
    *" \t\n\r\v\f'/.,!-\"",
    *[
        "a",
        "A",
        "zu",
        "Zu",
        "ZU",
        "s",
        "l",
        "e",
        "1",
        "22",
        "333",
        "\r\n",
        "  ",
        "\n\n",
        " '",
        "''",
    ],
    *["\x00", "\x1c", "\x1f", "\x7f", "word", "a" * 20, "1" * 7, " " * 9, "/" * 3],
]
UNICODE_PIECES = [
    *["'ſ", "ſ", "K", "İ", "ı", "é", "e\u0301", "\u0301", "\u0345", "ǅ", "ʰ", "ª", "²", "Ⅷ", "٣"],
    *["漢", "字", "か\u3099", "ก็", "한", "ᄒ\u1161", "ﷺ", "\u200d", "\ufe0f", "👩‍👩‍👧", "🇩🇪", "😀"],
    *["\u00a0", "\u0085", "\u2003", "\u2028", "\u3000", "\u200b", "\ufeff", "\ufffd", "\uffff"],
    *["\U00010400", "\U0001d400", "\U000e0100", "\U0010ffff", "’", "’s", "«", "—"],
]


def from_pieces(pieces: Sequence[str], max_size: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=max_size).map("".join)


def nasty_texts() -> st.SearchStrategy[str]:
    """Short texts of everything, and long ones that are mostly ASCII: the scanner's two ways."""
    everything = [*ASCII_PIECES, *UNICODE_PIECES, *examples_of_categories()]
    return st.one_of(
        from_pieces(everything, 25),
        from_pieces(ASCII_PIECES, 12),
        from_pieces([*ASCII_PIECES * 3, *UNICODE_PIECES], 120),
        from_pieces(ASCII_PIECES, 120),
        st.text(st.sampled_from(agreed_characters()), max_size=20),
    )


@pytest.mark.parametrize("name", NAMED)
@given(texts=st.lists(nasty_texts(), min_size=1, max_size=8))
def test_random_texts_are_cut_as_the_expression_says(name: str, texts: list[str]) -> None:
    assert_same_words(name, texts)


@pytest.mark.parametrize("name", NAMED)
def test_all_short_texts_of_one_letter_of_each_kind(name: str) -> None:
    kinds = "aA1 \n'.s/é\u0301"
    texts = [""]
    shorter = [""]
    for _ in range(5 if name in {"cl100k", "o200k"} else 4):
        shorter = [text + kind for text in shorter for kind in kinds]
        texts += shorter
    assert_same_words(name, texts)


@pytest.mark.parametrize("name", NAMED)
def test_the_edges_of_scanner_blocks_do_not_show(name: str) -> None:
    """Runs of one kind end at every offset of the 64 bytes that are scanned at once."""
    random = Random(64)  # noqa: S311
    texts = []
    for size in range(40, 700, 3):
        text = ""
        while len(text) < size:
            text += random.choice(" \n\r\t'/.aA1é") * random.randint(1, 9)
            text += random.choice(["", "'s", "'ll", "x", " "])
        texts += [text, text[1:], text[:-1]]
    assert_same_words(name, texts)


@pytest.mark.parametrize("name", NAMED)
def test_the_text_inside_the_package(name: str) -> None:
    text = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")
    assert_same_words(name, [text])


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("language", LANGUAGES)
def test_real_languages(name: str, language: str) -> None:
    text = LANGUAGES[language]
    decomposed = unicodedata.normalize("NFD", text)
    assert_same_words(name, [text, text.upper(), decomposed, "\n".join([text, decomposed] * 3)])


def test_the_paper_s_words_are_those_of_the_pattern_whitespace() -> None:
    text = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")[:50_000]
    expected = {word.encode(): count for word, count in split_words(text).items()}
    assert counted([text], "whitespace") == expected


def test_known_words() -> None:
    text = "I'LL pay 12345 Euro,  isn't?\n\n"
    assert counted([text], "cl100k") == Counter(
        [b"I", b"'LL", b" pay", b" ", b"123", b"45", b" Euro", b",", b" ", b" isn", b"'t", b"?\n\n"]
    )
    assert counted(["fooBar ISN'T it's"], "o200k") == Counter([b"foo", b"Bar", b" ISN'T", b" it's"])


# Other patterns.


@given(st.lists(nasty_texts(), max_size=6))
def test_without_a_pattern_a_document_is_a_word(texts: list[str]) -> None:
    assert counted(texts, None) == Counter(text.encode() for text in texts if text)


EXPRESSIONS = [
    r"\p{L}+",
    r"[a-z]+|[A-Z]|\d{2}",
    r" ?\S+",
    r"(?<=a)\s|'(?=s)",
    r"(\S)\1",
    r"(?i:ZU|'re)",
    r"x*",
    r".",
    r"(?s:.{3})",
    r"\p{M}|\p{Lu}\p{Ll}*",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@given(text=nasty_texts())
def test_the_words_of_an_expression_are_its_matches_and_what_lies_between(
    expression: str, text: str
) -> None:
    expected = words_by(regex.compile(expression), text)
    assert counted([text], expression) == Counter(word.encode() for word in expected)


@pytest.mark.parametrize("name", NAMED)
def test_a_named_pattern_equals_its_expression_in_the_user_s_engine(name: str) -> None:
    expression = {"gpt2": GPT2, "whitespace": WHITESPACE}.get(name) or tiktoken_pattern(name)
    text = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")[:100_000]
    assert counted([text], name) == counted([text], expression)


@pytest.mark.parametrize("name", ["r50k", "p50k", "cl100k", "o200k"])
def test_tiktoken_s_names_mean_its_patterns(name: str) -> None:
    counts = mw.count(LANGUAGES.values(), pattern=f"{name}_base")
    assert counts.pattern in NAMED
    texts = list(LANGUAGES.values())
    assert counted(texts, f"{name}_base") == counted(texts, tiktoken_pattern(name))


# As the tokenizer.json of Llama 3 and of Qwen 2 have them.
MODELS = {
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_name_of_a_model_means_its_expression(name: str, tmp_path: Path) -> None:
    counts = mw.count(LANGUAGES.values(), pattern=name)
    assert counts == mw.count(LANGUAGES.values(), pattern=MODELS[name])
    mw.train(counts, num_merges=9).save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in LANGUAGES.values():
        assert ours.encode(text) == theirs.encode(text).ids


# The three steps of DeepSeek V3's tokenizer.json.
THIRD_STEP = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK3 = pre_tokenizers.Sequence(
    [
        Split(tokenizers.Regex(step), "isolated")
        for step in (r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", THIRD_STEP)
    ]
)
# Characters of each class that these steps tell apart, in pieces that texts are made of.
MIXED = [
    *"aÉ!・。、 \t\n\r\u0301\u3099゛ー12½漢ひカ龥龦\u3040\u3097\ufffe",
    "Ab",
    "12345",
    "  ",
    "\r\n",
    "'s",
    "漢字かな",
]


@given(text=st.lists(st.sampled_from(MIXED), max_size=30).map("".join))
def test_the_words_of_deepseek3_are_those_of_its_three_steps(text: str) -> None:
    words = DEEPSEEK3.pre_tokenize_str(text)
    assert counted([text], "deepseek3") == Counter(word.encode() for word, _ in words)


def test_a_file_with_the_words_of_deepseek3_is_read_by_tokenizers(tmp_path: Path) -> None:
    texts = [*LANGUAGES.values(), "".join(MIXED), "".join(MIXED[::-1])]
    tok = mw.train(mw.count(texts, pattern="deepseek3"), num_merges=200)
    tok.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts:
        assert tok.encode(text) == theirs.encode(text).ids
    # Another spelling in the file, read as the same expression.
    again = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert again.pattern == tok.pattern
    assert "pattern='deepseek3'" in repr(again)


def test_intersections_are_read_as_they_are_written(tmp_path: Path) -> None:
    pattern = r"[\p{Lu}\p{Lt}&&[^\p{Han}]]+|[\s\S]"
    tok = mw.train(mw.count(["Aa Bb AB 漢字 AB"], pattern=pattern), num_merges=1)
    for _ in range(2):
        tok.save(tmp_path / "tokenizer.json")
        tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
        assert tok.pattern == pattern


# Bytes that are not UTF-8.

BROKEN_PIECES = [
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
]
BROKEN_PIECES += [b"\xf5\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"a", b" ", b"1"]
BROKEN_PIECES += [b"'s", b"\n", "é".encode(), "漢".encode(), "😀".encode(), b"word and word"]


def broken_texts() -> st.SearchStrategy[bytes]:
    pieces = st.lists(st.sampled_from(BROKEN_PIECES), max_size=40).map(b"".join)
    return st.one_of(st.binary(max_size=200), pieces)


@pytest.mark.parametrize("name", NAMED)
@given(text=broken_texts())
def test_a_byte_that_is_not_utf8_is_a_symbol(name: str, text: bytes) -> None:
    """In `regex`, such a byte is a lone surrogate: neither letter, number, mark nor space."""
    decoded = text.decode("utf-8", "surrogateescape")
    assert counted([text], name) == expected_counts(name, [decoded])


@pytest.mark.parametrize("pattern", [*NAMED, None, r"\p{L}+", r"\S+", r".", r"\x{FFFD}", r"a|\n"])
@given(text=broken_texts())
def test_no_byte_is_lost(pattern: str | None, text: bytes) -> None:
    words = counted([text], pattern)
    assert sum(len(word) * count for word, count in words.items()) == len(text)
    assert all(word in text for word in words)


@given(text=broken_texts())
def test_to_an_expression_a_byte_that_is_not_utf8_is_the_replacement_character(text: bytes) -> None:
    decoded = text.decode("utf-8", "surrogateescape")
    expected = words_by(regex.compile(r"\p{L}+|[\ud800-\udfff�]{2}"), decoded)
    words = Counter(word.encode("utf-8", "surrogateescape") for word in expected)
    assert counted([text], r"\p{L}+|\x{FFFD}{2}") == words


# What is refused.


@pytest.mark.parametrize("expression", ["(", "[a", r"\p{Nonsense}", "(?<a", "*"])
def test_a_wrong_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)pattern|regular expression"):
        mw.count(["a"], pattern=expression)


def test_an_expression_that_takes_too_long_is_an_error_not_a_wait() -> None:
    with pytest.raises(ValueError, match=r"(?i)backtrack"):
        mw.count(["a" * 60], pattern=r"(?:(a)|aa?)*\1(?!a)b")


def test_other_types_are_no_pattern() -> None:
    with pytest.raises(TypeError):
        mw.count(["a"], pattern=b"gpt2")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        mw.count(["a"], pattern=1)  # type: ignore[arg-type]
