"""Each step of tokenizers' normalizers and pre-tokenizers does here what it does there."""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sentencepiece
from sample_texts import varied_texts
from tokenizers import Regex
from tokenizers import normalizers as peer_normalizers
from tokenizers import pre_tokenizers as peer_cuts

from mergewise import _core

BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
# The characters of Han and Hangul, of private use, and those that are not assigned are alike: every
# 97th is tried, and every other character.
ALIKE = r"[\p{Han}\p{Hangul}\p{Co}\p{Cn}]"
CODE_POINTS = sorted(
    code
    for few in (True, False)
    for first, last in _core.class_ranges(ALIKE if few else f"[^{ALIKE}]")
    for code in range(first, last + 1)
    if (code % 97 == 0 or not few) and not 0xD800 <= code < 0xE000
)
# What inserts at the start of a text: steps behind it fail there, or put their text behind the old.
INSERTING = {"Prepend nothing", "Replace the empty string"}

NORMALIZERS: dict[str, Any] = {
    "NFC": peer_normalizers.NFC(),
    "NFD": peer_normalizers.NFD(),
    "NFKC": peer_normalizers.NFKC(),
    "NFKD": peer_normalizers.NFKD(),
    "Lowercase": peer_normalizers.Lowercase(),
    "Strip": peer_normalizers.Strip(),
    "Strip left": peer_normalizers.Strip(left=True, right=False),
    "Strip right": peer_normalizers.Strip(left=False, right=True),
    "StripAccents": peer_normalizers.StripAccents(),
    "Replace a string": peer_normalizers.Replace(" ", "▁"),
    "Replace by nothing": peer_normalizers.Replace("e", ""),
    "Replace by more": peer_normalizers.Replace("''", '"x"'),
    "Replace the empty string": peer_normalizers.Replace("", "-"),
    "Replace an expression": peer_normalizers.Replace(Regex(r"\s+"), " "),
    "Replace empty matches": peer_normalizers.Replace(Regex(r"(?<=\w)(?=\W)"), "|"),
    "Prepend": peer_normalizers.Prepend("▁"),
    "Prepend several": peer_normalizers.Prepend("ab "),
    "Prepend nothing": peer_normalizers.Prepend(""),
    "Nmt": peer_normalizers.Nmt(),
    "ByteLevel": peer_normalizers.ByteLevel(),
    "Sequence": peer_normalizers.Sequence(
        [peer_normalizers.Sequence([peer_normalizers.NFD()]), peer_normalizers.StripAccents()]
    ),
    **{
        f"BertNormalizer {options}": peer_normalizers.BertNormalizer(*options)
        for options in itertools.product(
            [True, False], [True, False], [None, True, False], [True, False]
        )
    },
}
CUTS: dict[str, Any] = {
    **{
        f"ByteLevel {prefixes} {uses_regex}": peer_cuts.ByteLevel(
            add_prefix_space=prefixes, use_regex=uses_regex
        )
        for prefixes, uses_regex in itertools.product([True, False], [True, False])
    },
    **{
        f"Split {behavior} {invert}": peer_cuts.Split(" ", behavior, invert=invert)
        for behavior, invert in itertools.product(BEHAVIORS, [True, False])
    },
    **{
        f"Split an expression {behavior} {invert}": peer_cuts.Split(
            Regex(r"\p{N}{1,2}|x*"), behavior, invert=invert
        )
        for behavior, invert in itertools.product(BEHAVIORS, [True, False])
    },
    "Split the empty string": peer_cuts.Split("", "isolated"),
    "Digits": peer_cuts.Digits(individual_digits=False),
    "Digits apart": peer_cuts.Digits(individual_digits=True),
    **{f"Punctuation {behavior}": peer_cuts.Punctuation(behavior) for behavior in BEHAVIORS},
    "UnicodeScripts": peer_cuts.UnicodeScripts(),
    "BertPreTokenizer": peer_cuts.BertPreTokenizer(),
    "CharDelimiterSplit": peer_cuts.CharDelimiterSplit("e"),
    "FixedLength": peer_cuts.FixedLength(5),
    "FixedLength 1": peer_cuts.FixedLength(1),
    "Whitespace": peer_cuts.Whitespace(),
    "WhitespaceSplit": peer_cuts.WhitespaceSplit(),
    **{
        f"Metaspace {scheme} {split}": peer_cuts.Metaspace(prepend_scheme=scheme, split=split)
        for scheme, split in itertools.product(["always", "never", "first"], [True, False])
    },
    "Metaspace of another mark": peer_cuts.Metaspace("_"),
}
# Expressions in which Oniguruma and our engine differ in some part.
EXPRESSIONS = [
    *(Path(__file__).parent / "data" / "oniguruma.txt").read_text("utf-8").splitlines(),
    "",
    "(?x: a\n s )k",
]
# What Oniguruma has and we refuse, each with a word of the reason.
REFUSED = {
    r"(?~a)": "absent",
    r"(a)(?(1)b|c)": "condition",
    r"(?<x>a)\g<x>": r"\g",
    r"\y": r"\y",
    r"(?i)(a)\1": "reference",
    r"\p{InBasic_Latin}": "InBasic_Latin",
    r"(*FAIL)": "call-out",
}
LETTERS = (
    "aAbBsSkKfFiIlLtT  \n\r\t0129_-.,'\"{}()[]^$&|\\/é²½Ⅷⓐ٣京あア한글𝔸😀👨\u200d👩🇩🇪"
    "ßẞſ\u212a\u212bΐΐΣσςι\u0345ᾳᾼŉǰﬀﬁﬂﬃﬄﬅﬆևﬓİıñ\u0303\u0301\u0308ʼ\u200c\u00a0\u2028\u0085\u0e49\u1f88\u1f80"
)


def state(step: Any) -> Any:
    """A step as its library writes it."""
    return json.loads(step.__getstate__())


def normalizer(*steps: Any) -> _core.Pipeline:
    return _core.Pipeline(json.dumps({"normalizer": [state(step) for step in steps]}))


def cutter(*steps: Any) -> _core.Pipeline:
    return _core.Pipeline(json.dumps({"pre_tokenizer": [state(step) for step in steps]}))


@cache
def all_characters() -> tuple[str, ...]:
    """Texts with every character, one after the other and between letters."""
    characters = [chr(code) for code in CODE_POINTS]
    parts = (characters[at : at + 20_000] for at in range(0, len(characters), 20_000))
    return tuple(text for part in parts for text in ("".join(part), f"e{'e'.join(part)}e"))


@cache
def letter_texts() -> tuple[str, ...]:
    """Short random texts of characters in which engines differ, and texts at which lines end."""
    draw = Random(5)  # noqa: S311
    lengths = [draw.randint(1, 30) for _ in range(150)]
    texts = ["".join(draw.choices(LETTERS, k=length)) for length in lengths]
    return ("", "\n", "a\n", "\na", "a\n\nb\n", "a\r\nb", "ss ß ſs", "ﬃ ffi ﬀi fﬁ", *texts)


def samples() -> Sequence[str]:
    return (*letter_texts(), *varied_texts()[::5])


def differences(here: Any, there: Any, texts: Sequence[str]) -> Iterator[tuple[str, Any, Any]]:
    """Texts that become different things here and there, from the shortest on, and these."""
    for text in sorted(texts, key=len):
        if (found := here(text)) != (expected := there(text)):
            yield text, found, expected


@pytest.mark.parametrize("name", NORMALIZERS)
def test_normalizers(name: str) -> None:
    step = NORMALIZERS[name]
    texts = [*all_characters(), *samples()]
    assert next(differences(normalizer(step).normalized, step.normalize_str, texts), None) is None


@pytest.mark.parametrize("name", CUTS)
def test_cuts(name: str) -> None:
    step = CUTS[name]
    texts = [*all_characters(), *samples()]
    assert next(differences(cutter(step).words, step.pre_tokenize_str, texts), None) is None


@pytest.mark.parametrize("regex", EXPRESSIONS)
def test_expressions(regex: str) -> None:
    """The matches alone, and with what lies between them."""
    expression = Regex(regex)
    matches = peer_cuts.Split(expression, "removed", invert=True)
    parts = peer_cuts.Split(expression, "isolated")
    for step in (matches, parts):
        here = cutter(step).words
        assert next(differences(here, step.pre_tokenize_str, letter_texts()), None) is None


@pytest.mark.parametrize("regex", REFUSED)
def test_expressions_that_are_refused(regex: str) -> None:
    peer_cuts.Split(Regex(regex), "isolated")
    with pytest.raises(ValueError, match=r"in a regular expression of Oniguruma") as error:
        _core.from_oniguruma(regex)
    assert REFUSED[regex] in str(error.value)


@pytest.mark.parametrize("seed", range(40))
def test_sequences(seed: int) -> None:
    """Several steps, one after the other: also what they do to places in the text."""
    draw = Random(seed)  # noqa: S311
    steps = [CUTS[name] for name in draw.choices(list(CUTS), k=draw.randint(2, 4))]
    sequence = peer_cuts.Sequence(steps)
    assert (
        next(differences(cutter(*steps).words, sequence.pre_tokenize_str, samples()), None) is None
    )
    names = [name for name in NORMALIZERS if name not in INSERTING]
    chosen = [NORMALIZERS[name] for name in draw.choices(names, k=draw.randint(2, 4))]
    normal = peer_normalizers.Sequence(chosen)
    here = normalizer(*chosen).normalized
    assert next(differences(here, normal.normalize_str, samples()), None) is None


def fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message of Protocol Buffers that are bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 2:
            length = varint()
            yield key >> 3, message[at : at + length]
            at += length
        elif key & 7 == 0:
            varint()
        else:
            at += {5: 4, 1: 8}[key & 7]


@cache
def compiled_map(rule: str) -> bytes:
    """The map of characters that SentencePiece compiles for a rule."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g h"] * 9),
        model_writer=model,
        vocab_size=12,
        model_type="bpe",
        normalization_rule_name=rule,
        minloglevel=2,
    )
    (spec,) = [value for number, value in fields(model.getvalue()) if number == 3]
    return dict(fields(spec))[2]


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"])
def test_compiled_maps(rule: str) -> None:
    step = peer_normalizers.Precompiled(compiled_map(rule))
    texts = [*all_characters(), *samples()]
    assert next(differences(normalizer(step).normalized, step.normalize_str, texts), None) is None


def test_damaged_maps_are_refused_or_harmless() -> None:
    whole = compiled_map("nfkc")
    draw = Random(3)  # noqa: S311
    text = "ﬁ ½ Å e\u0301 한 ㎡ " * 3
    for _ in range(200):
        damaged = bytearray(whole[: draw.choice([len(whole), draw.randrange(len(whole))])])
        for _ in range(draw.randint(0, 3000)):
            if damaged:
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        step = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(damaged).decode()}
        try:
            _core.Pipeline(json.dumps({"normalizer": step})).normalized(text)
        except ValueError as error:
            assert "normalizer step 1 (Precompiled): " in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"normalizer": {"type": "Shout"}}, "normalizer step 1 (Shout): no step of this name"),
        (
            {"normalizer": [{"type": "NFC"}, {}]},
            "normalizer step 2 (without a type): missing field `type`",
        ),
        (
            {"normalizer": {"type": "Strip"}},
            "normalizer step 1 (Strip): missing field `strip_left`",
        ),
        ({"normalizer": {"type": "Sequence"}}, "normalizer: a Sequence without normalizers"),
        ({"normalizer": 3}, "normalizer: 3 is no step"),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [
                        {"type": "WhitespaceSplit"},
                        {"type": "Split", "pattern": {"String": " "}, "behavior": "Kept"},
                    ],
                }
            },
            "pre_tokenizer step 2 (Split): unknown value `Kept`, expected one of `Removed`",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": "(?~a)"},
                    "behavior": "Isolated",
                }
            },
            "pre_tokenizer step 1 (Split): invalid pattern: an absent operator, (?~...), in a",
        ),
        ({"pre_tokenizer": {"type": "FixedLength", "length": 0}}, "(FixedLength): invalid value"),
        (
            {
                "pre_tokenizer": {
                    "type": "Metaspace",
                    "replacement": "_",
                    "prepend_scheme": "first",
                    "add_prefix_space": False,
                }
            },
            "(Metaspace): add_prefix_space is false",
        ),
        ({"decoder": None}, "unknown field `decoder`"),
    ],
)
def test_errors_name_the_step(steps: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="invalid steps: ") as error:
        _core.Pipeline(json.dumps(steps))
    assert message in str(error.value)
