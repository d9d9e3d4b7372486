"""The comparisons of `test_interop` on 10 MB of each kind of text.

MERGEWISE_CORPORA names a folder with en.txt, code.txt and multi.txt.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from peers import (
    Encode,
    Peer,
    in_gpt2,
    in_sentencepiece,
    in_tekken,
    in_tiktoken,
    in_tokenizers,
    in_transformers,
)
from sample_texts import random_text
from test_interop import (
    SPECIALS,
    WORDS,
    assert_equal,
    by_mergewise,
    by_subword_nmt,
    ordinary,
    ranks,
    read,
    special,
    tiktokens,
)
from vocabularies import vocabulary

import mergewise as mw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

LOG = logging.getLogger(__name__)
NUM_BYTES = 10_000_000
DOCUMENT = 100_000  # characters
CORPORA = ("en", "code", "multi")
KINDS = (*CORPORA, "random")


@cache
def text_of(kind: str) -> str:
    """10 MB of a kind."""
    if kind == "random":
        draw = random.Random(4)  # noqa: S311 (not for secrets)
        text = "".join(random_text(draw, 1000) for _ in range(1700))
        assert len(text.encode()) > NUM_BYTES
        return text.encode()[:NUM_BYTES].decode(errors="ignore")
    folder = os.environ.get("MERGEWISE_CORPORA")
    if not folder:
        pytest.fail("MERGEWISE_CORPORA must name a folder with en.txt, code.txt and multi.txt")
    with (Path(folder) / f"{kind}.txt").open("rb") as file:
        head = file.read(NUM_BYTES)
    assert len(head) == NUM_BYTES, f"{kind}.txt is shorter than {NUM_BYTES:,} bytes"
    return head.decode(errors="ignore")


def documents(kind: str) -> Iterator[str]:
    text = text_of(kind)
    return (text[start : start + DOCUMENT] for start in range(0, len(text), DOCUMENT))


@dataclass(frozen=True)
class Pair:
    """A tokenizer here and there; texts have no other characters than these."""

    tok: mw.Tokenizer
    encode: Encode
    peer: Peer
    characters: frozenset[str] = frozenset()

    def compare(self, kind: str) -> int:
        """All documents have the same ids, and these the same text; how many ids."""
        number = 0
        for document in documents(kind):
            known = self.characters
            text = "".join(c for c in document if c in known) if known else document
            ids = self.peer.encode(text)
            if self.encode(text) != ids:
                assert_equal(self.encode, self.peer.encode, [text])
            assert self.tok.decode(ids) == self.peer.decode(ids)
            number += len(ids)
        return number


Make = Callable[[Path], Pair]  # in a folder


def found(tok: mw.Tokenizer, peer: Peer) -> Pair:
    """Both find special tokens in texts."""
    return Pair(tok, special(tok), peer)


def not_found(tok: mw.Tokenizer, peer: Peer) -> Pair:
    """Neither finds special tokens in texts."""
    return Pair(tok, ordinary(tok), peer)


@cache
def trained(pattern: str | None, alphabet: Any = "bytes") -> mw.Tokenizer:
    counts = mw.count([text_of(kind) for kind in CORPORA], pattern=pattern)
    return mw.train(counts, num_merges=20_000, alphabet=alphabet, special_tokens=SPECIALS)


def ours_in(load: Callable[[Path], Peer], name: str, pattern: str | None) -> Make:
    def make(folder: Path) -> Pair:
        tok = trained(pattern)
        tok.save(folder / name)
        return found(tok, load(folder / name))

    return make


def characters_in(load: Callable[[Path], Peer], name: str, pattern: str | None) -> Make:
    def make(folder: Path) -> Pair:
        tok = trained(pattern, "chars")
        tok.save(folder / name)
        known = frozenset(token.decode() for token in tok.vocabulary.tokens)
        encode = ordinary(tok) if load is in_sentencepiece else special(tok)
        return Pair(tok, encode, load(folder / name), known)

    return make


def converted_in(load: Callable[[Path], Peer], name: str, tok: Callable[[], mw.Tokenizer]) -> Make:
    """What a conversion makes of a file whose own library agrees with us elsewhere in this list."""

    def make(folder: Path) -> Pair:
        tok().save(folder / name)
        both = not_found if load is in_sentencepiece else found
        return both(tok(), load(folder / name))

    return make


def by_tiktoken(name: str) -> Make:
    return lambda _: found(ranks(name), tiktokens(name))


def by_tokenizers(name: str) -> Make:
    return lambda _: found(read(name), in_tokenizers(vocabulary(name)))


def by_sentencepiece(name: str) -> Make:
    return lambda _: not_found(read(name), in_sentencepiece(vocabulary(name)))


NAMED = ("gpt2", "cl100k", "o200k", "whitespace", None)
OPENAI = ("gpt2", "p50k", "cl100k", "o200k")
PAIRS: dict[str, Make] = {
    **{f"ours, {p}, tokenizers": ours_in(in_tokenizers, "x.json", p) for p in NAMED},
    **{f"ours, {p}, tiktoken": ours_in(in_tiktoken, "x.tiktoken", p) for p in NAMED},
    "ours, gpt2, transformers": ours_in(in_gpt2, "merges.txt", "gpt2"),
    "ours, cl100k, transformers": ours_in(in_transformers, "x.json", "cl100k"),
    "ours, characters, tokenizers": characters_in(in_tokenizers, "x.json", None),
    "ours, characters, sentencepiece": characters_in(in_sentencepiece, "x.model", None),
    "ours, words of characters, tokenizers": characters_in(in_tokenizers, "x.json", "whitespace"),
    **{f"{name}, tiktoken": by_tiktoken(name) for name in (*OPENAI, "qwen")},
    "gpt2's files, transformers": lambda _: found(
        read("gpt2-merges"), in_gpt2(vocabulary("gpt2-merges"))
    ),
    **{f"{name}, tokenizers": by_tokenizers(name) for name in ("qwen2.5", "llama3")},
    "tekken, tiktoken": lambda _: not_found(read("tekken"), in_tekken(vocabulary("tekken"))[0]),
    **{f"{name}, sentencepiece": by_sentencepiece(name) for name in ("mistral-v1", "mistral-v3")},
    **{
        f"{name} to tokenizer.json": converted_in(in_tokenizers, "x.json", partial(ranks, name))
        for name in ("cl100k", "o200k", "qwen")
    },
    "tekken to tokenizer.json": converted_in(in_tokenizers, "x.json", lambda: read("tekken")),
    "tekken to ranks": converted_in(in_tiktoken, "x.tiktoken", lambda: read("tekken")),
    "llama3 to ranks": converted_in(in_tiktoken, "x.tiktoken", lambda: read("llama3")),
    "gpt2's files to ranks": converted_in(in_tiktoken, "x.tiktoken", lambda: read("gpt2-merges")),
    "gpt2 to two files": converted_in(in_gpt2, "merges.txt", lambda: read("gpt2")),
    "mistral-v1 to tokenizer.json": converted_in(
        in_tokenizers, "x.json", lambda: read("mistral-v1")
    ),
    "mistral-v1 to model": converted_in(in_sentencepiece, "x.model", lambda: read("mistral-v1")),
}


@pytest.fixture(scope="module", params=PAIRS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return PAIRS[request.param](tmp_path_factory.mktemp("pair"))


@pytest.mark.parametrize("kind", KINDS)
def test_10_megabytes(pair: Pair, kind: str) -> None:
    LOG.info("%s ids are equal", f"{pair.compare(kind):,}")


@pytest.mark.parametrize("kind", KINDS)
def test_10_megabytes_in_subword_nmt(kind: str, tmp_path: Path) -> None:
    words = " ".join(" ".join(text_of(corpus).split()) for corpus in CORPORA)
    tok = mw.train(mw.count([words], pattern=WORDS), num_merges=20_000, alphabet="chars")
    tok = mw.Tokenizer(replace(tok.vocabulary, drops_gaps=True))
    tok.save(tmp_path / "x.codes")
    ours, theirs = by_mergewise(tok), by_subword_nmt(tmp_path / "x.codes")
    known = {" ", "\n", *(token.decode() for token in tok.vocabulary.tokens)}
    number = 0
    for document in documents(kind):
        text = "".join(c for c in document if c in known)
        pieces = ours(text)
        assert pieces == [piece.removesuffix("</w>") for piece in theirs(text)]
        number += len(pieces)
    LOG.info("%s pieces are equal", f"{number:,}")
