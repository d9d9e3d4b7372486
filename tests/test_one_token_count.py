"""Every part of mergewise counts the tokens of a corpus alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command_line import MERGES, TOKENS

import mergewise as mw
from mergewise import _core
from mergewise.errors import CertificateError, InputError
from mergewise.optimize import Certificate
from mergewise.vocabulary import Vocabulary

TEXTS = ["low lower", " lowest low", "low\u2581low", "new  low", "a", ""]
# Words are letters alone: what lies between them is a gap.
LETTERS = r"\p{L}+"
OPTIONS = {
    "plain": {"pattern": "whitespace"},
    "whole texts": {"pattern": None},
    "dropped gaps": {"pattern": LETTERS, "drops_gaps": True},
    "kept gaps": {"pattern": LETTERS},
    "a space before whole texts": {"pattern": None, "prefix_space": "always"},
    "a space unless there is one": {"pattern": None, "prefix_space": "unless_space"},
    "one space before a text": {"pattern": None, "prefix_space": "once"},
    "marks for spaces": {"pattern": "whitespace", "mark_is_space": True},
}


def tokenizer_with(**options: object) -> mw.Tokenizer:
    return mw.Tokenizer(replace(Vocabulary(tokens=TOKENS, merges=MERGES), **options))  # type: ignore[arg-type]


def encoded(tok: mw.Tokenizer) -> int:
    return sum(len(tok.encode(text)) for text in TEXTS)


def counted(tok: mw.Tokenizer) -> mw.WordCounts:
    """The words of the texts, as the tokenizer cuts them: marks are spaces before that."""
    is_marked = tok.pattern and tok.vocabulary.mark_is_space
    texts = [text.replace("\u2581", " ") for text in TEXTS] if is_marked else TEXTS
    return mw.count(texts, pattern=tok.pattern)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_all_parts_count_alike(options: dict[str, object]) -> None:
    tok = tokenizer_with(**options)
    counts = counted(tok)
    expected = encoded(tok)
    assert sum(tok.count_tokens(text) for text in TEXTS) == expected
    assert tok.core.num_tokens(counts.core) == expected
    assert sum(tok.core.token_counts(counts.core).values()) == expected
    assert mw.report(tok, {"all": counts}, time_limit=0).subjects[0].total.num_tokens == expected
    certificate = mw.certify(tok, counts, num_steps=30)
    assert certificate.tokens == expected
    better = mw.improve(tok, counts, num_moves=200)
    assert encoded(better) == better.core.num_tokens(counts.core) <= expected


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_certificates_of_prepared_words_are_proved_and_kept(
    options: dict[str, object], tmp_path: object
) -> None:
    tok = tokenizer_with(**options)
    counts = counted(tok)
    certificate = mw.certify(tok, counts, num_steps=30)
    assert 0 <= certificate.utility <= certificate.bound
    path = f"{tmp_path}/x.certificate"
    certificate.save(path)
    read = Certificate.from_file(path)
    assert read == certificate
    for by in ("core", "formal"):
        read.verify(counts, tokenizer=tok, by=by)
    with pytest.raises(CertificateError):
        replace(read, bound=read.bound - 1).verify(counts)


def test_special_tokens_are_counted_as_they_are_encoded() -> None:
    tok = tokenizer_with(pattern=None, added_tokens={"<x>": 900}, special_tokens={"<y>": 901})
    texts = ["low<x>low", "low"]
    uncut = mw.count(texts, pattern=None)
    cut = mw.count(texts, pattern=None, special_tokens=["<x>"])
    assert tok.core.num_tokens(uncut.core) == sum(len(tok.encode(text)) for text in texts)
    assert tok.core.num_tokens(cut.core) == tok.core.num_tokens(uncut.core) - 1
    assert mw.certify(tok, cut, num_steps=10).tokens == tok.core.num_tokens(cut.core)
    with pytest.raises(ValueError, match="holds the special token '<x>'"):
        mw.certify(tok, uncut, num_steps=10)


def test_a_sum_that_does_not_fit_is_an_error() -> None:
    counts = mw.WordCounts(_core.WordCounts([(b"a", 2**64 - 1)]))
    plain = tokenizer_with(pattern=None)
    assert plain.core.num_tokens(counts.core) == 2**64 - 1
    prefixed = tokenizer_with(pattern=None, prefix_space="always")
    with pytest.raises(InputError, match="64 bits"):
        prefixed.core.num_tokens(counts.core)
