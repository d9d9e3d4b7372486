"""Texts that grow, come in parts, or are cut: the ids are those of whole texts."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
from pipelines import ROWS
from sample_texts import CODE, LANGUAGES, OPTICKS, varied_texts
from sessions import Operations, check
from tokenizers import AddedToken
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

import mergewise as mw
from mergewise.framing import Framing

TEXT = OPTICKS[3000:6000] + LANGUAGES + CODE


def trained(pattern: str | None) -> mw.Tokenizer:
    counts = mw.count(TEXT.splitlines(keepends=True), pattern=pattern)
    tok = mw.train(counts, num_merges=300)
    return tok.with_special_tokens(["<|end|>", "<|endoftext|>", "\n\n"])


@pytest.mark.parametrize("pattern", [None, "gpt2", "cl100k", "o200k", r"\w+|(?=.)\W(?<!x)"])
def test_random_operations(pattern: str | None) -> None:
    check(trained(pattern), 600, seed=1)


@pytest.mark.parametrize("name", list(ROWS)[::3])
def test_random_operations_with_pipelines(name: str, tmp_path: Path) -> None:
    ROWS[name].save(tmp_path / "tokenizer.json")
    try:
        tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    except ValueError:
        pytest.skip("an unsupported option")
    check(tok, 150, seed=2)


def test_streams_are_what_encode_makes_of_all() -> None:
    draw = random.Random(3)  # noqa: S311 (not for secrets)
    for pattern in (None, "cl100k"):
        tok = trained(pattern)
        operations = Operations(tok, draw)
        for _ in range(40):
            parts = [operations.part() for _ in range(draw.randrange(8))]
            found = list(tok.encode_stream(parts, allowed_special="all"))
            assert found == tok.encode("".join(parts), allowed_special="all")
            halves = [part for text in parts for part in in_two(text.encode(), draw)]
            assert list(tok.encode_stream(halves, allowed_special="all")) == found


FLAGS = ["lstrip", "rstrip", "single_word"]


@pytest.mark.parametrize("seed", range(40))
def test_added_tokens_that_look_around_do_so_wherever_a_text_is_cut(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)  # noqa: S311 (not for secrets)
    peer = tokenizers.Tokenizer(BPE({c: i for i, c in enumerate(sorted(ByteLevel.alphabet()))}, []))
    peer.pre_tokenizer = ByteLevel(add_prefix_space=False, use_regex=seed % 2 == 0)
    for text in draw.sample([" ", "\n", "\n\n", " \n", "a", "ab", "<s>", " a", "a "], 3):
        flags = {flag: draw.random() < 0.5 for flag in FLAGS}
        peer.add_tokens([AddedToken(text, normalized=draw.random() < 0.3, **flags)])
    peer.save(str(tmp_path / "tokenizer.json"))
    tok = mw.Tokenizer.from_file(tmp_path / "tokenizer.json")
    for _ in range(60):
        parts = ["".join(draw.choices([*"  \n\nab1.", "<s>"], k=3)) for _ in range(4)]
        halves = [half.decode() for part in parts for half in in_two(part.encode(), draw)]
        expected = tok.encode("".join(parts))
        assert list(tok.encode_stream(halves)) == expected, halves
        session = tok.session()
        for part in halves:
            session.append(part)
        assert session.ids == expected, halves


def in_two(data: bytes, draw: random.Random) -> list[bytes]:
    at = draw.randrange(len(data) + 1)
    return [data[:at], data[at:]]


def test_a_stream_gives_out_ids_before_its_end() -> None:
    encoder = trained("cl100k").stream_encoder(allowed_special="all")
    given = encoder.add(TEXT)
    assert len(encoder.finish()) < 60 < len(given)
    # Another text begins.
    text = "Light " * 20
    assert [*encoder.add(text), *encoder.finish()] == trained("cl100k").encode(text)


def test_reprs_say_how_far_they_are() -> None:
    tok = trained("cl100k")
    session, encoder, decoder = tok.session(), tok.stream_encoder(), tok.stream_decoder()
    session.append("a é")
    assert repr(session) == f"<Session: {len(session)} ids of 4 bytes>"
    text = "a word and another and the last one"
    given = encoder.add(text)
    num_waiting = len(text) - len(tok.decode(given))
    assert 0 < num_waiting < len(text)
    assert (
        repr(encoder) == f"<StreamEncoder: {len(given)} ids given out, {num_waiting} bytes waiting>"
    )
    decoder.add(*tok.encode("abc")[:1])
    assert repr(decoder) == "<StreamDecoder: 1 ids decoded>"


def test_ids_around_a_text_follow_it() -> None:
    tok = trained("gpt2")
    end = tok.special_tokens["<|end|>"]
    framing = Framing(before=(end, end), after=(end,))
    framed = mw.Tokenizer(replace(tok.vocabulary, framing=framing))
    session = framed.session()
    assert session.ids == framed.encode("") == [end, end, end]
    num_kept, following = session.append("a a")
    assert (num_kept, following) == (2, [*tok.encode("a a"), end])
    assert session.append("") == (len(session), [])
    with pytest.raises(ValueError, match="with_truncation"):
        framed.with_truncation(3).session()


def test_a_refused_text_changes_nothing() -> None:
    session = trained("gpt2").session()
    session.append("ab<|end")
    with pytest.raises(ValueError, match="special token"):
        session.append("|>")
    assert session.text == "ab<|end"


@pytest.mark.parametrize("overlap", [0, 1, 5])
def test_chunks_are_parts_of_the_ids_of_a_text(overlap: int) -> None:
    tok = trained("gpt2")
    for text in ["", "a", *varied_texts()[::60]]:
        ids = tok.encode(text, disallowed_special=())
        chunks = tok.chunk(text, 6, overlap=overlap, disallowed_special=())
        assert all(len(chunk.ids) == 6 for chunk in chunks[:-1])
        assert [i for chunk in chunks for i in chunk.ids[overlap:]] == ids[overlap:]
        assert [*chunks[0].ids, *[i for chunk in chunks[1:] for i in chunk.ids[overlap:]]] == ids
        for chunk in chunks:
            part = text[chunk.start : chunk.end].encode()
            assert tok.decode_bytes(chunk.ids) in part
        first = tok.truncate(text, 6, disallowed_special=())
        assert first == chunks[0]
    with pytest.raises(ValueError, match="overlap"):
        tok.chunk("a", 5, overlap=5)
