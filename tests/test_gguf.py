"""GGUF: headers of every kind are read, forged ones refused; gguf reads what is written."""

from __future__ import annotations

import os
import re
import struct
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import pytest
from vocabularies import vocabulary

import mergewise as mw
from mergewise.errors import ConversionError, FormatError
from mergewise.formats.gguf_cuts import SEQUENCES
from mergewise.formats.gguf_header import Header
from mergewise.formats.letters import to_letters
from mergewise.formats.reading import Reading

TEXTS = ["", "low lower  lowest\n\n", "it's 12345, isn't IT'S?", "é e\u0301 日本語 🙂", "<s>a</s>"]
LETTERS = [to_letters(bytes([byte])) for byte in range(256)]


def string(text: str, order: str = "<") -> bytes:
    return struct.pack(order + "Q", len(text.encode())) + text.encode()


def file_of(*pairs: bytes, number: int | None = None, order: str = "<", version: int = 3) -> bytes:
    """A file of these key-values and no tensors."""
    number = len(pairs) if number is None else number
    return struct.pack(order + "4sIQQ", b"GGUF", version, 0, number) + b"".join(pairs)


def read_header(path: Path, data: bytes) -> dict[str, Any]:
    path.write_bytes(data)
    return Header(Reading(path=path), lambda _: True).values


def written_by_peer(path: Path, fill: Callable[[Any], None]) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def byte_level(path: Path, *merges: str, pre: str = "gpt-2", **kinds: int) -> Path:
    """A small vocabulary of bytes, with more tokens of these kinds."""
    tokens = [*LETTERS, *(merge.replace(" ", "") for merge in merges), *kinds]
    numbers = [gguf.TokenType.NORMAL] * (256 + len(merges)) + list(kinds.values())

    def fill(writer: Any) -> None:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(tokens)
        writer.add_token_types(numbers)
        writer.add_token_merges(list(merges))
        writer.add_bos_token_id(len(tokens) - 1)
        writer.add_add_bos_token(value=True)
        writer.add_chat_template("{{ messages }}")

    return written_by_peer(path, fill)


def test_values_of_all_types(tmp_path: Path) -> None:
    for order in "<>":
        numbers: list[tuple[int, str, float]] = [
            (0, "B", 200),
            (1, "b", -3),
            (2, "H", 60000),
            (3, "h", -9),
            (4, "I", 2**32 - 1),
        ]
        numbers += [(5, "i", -1), (6, "f", 0.5), (7, "?", True), (10, "Q", 2**63), (11, "q", -5)]
        numbers += [(12, "d", 0.1)]
        pairs = [
            string(f"k{kind}", order) + struct.pack(f"{order}I{letter}", kind, value)
            for kind, letter, value in numbers
        ]
        strings = struct.pack(order + "IIQ", 9, 8, 2) + string("a", order) + string("é", order)
        nested = struct.pack(order + "IIQIQ2h", 9, 9, 1, 3, 2, 7, 8)
        pairs += [string("strings", order) + strings, string("nested", order) + nested]
        pairs += [string("last", order) + struct.pack(order + "I", 8) + string("end", order)]
        found = read_header(tmp_path / "x.gguf", file_of(*pairs, order=order))
        assert found == {
            **{f"k{kind}": value for kind, _, value in numbers},
            "strings": [b"a", "é".encode()],
            "nested": None,
            "last": b"end",
        }


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"GGUF", "8 bytes where at most 4 can follow"),
        (file_of(version=1), "GGUF of version 2 or 3"),
        (file_of(number=2**63), "8 bytes where at most 0"),
        (file_of(struct.pack("<Q", 2**62)), "4,611,686,018,427,387,904 bytes"),
        (file_of(string("k") + struct.pack("<I", 13)), "a value of type 13"),
        (file_of(string("k") + struct.pack("<IQ", 8, 2**40)), "1,099,511,627,776 bytes"),
        (file_of(string("k") + struct.pack("<IIQ", 9, 6, 2**61)), "bytes where at most 0"),
        (file_of(string("k") + struct.pack("<IIQ", 9, 8, 2**60)), "bytes where at most 0"),
        (file_of(string("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 20), "arrays in"),
        (file_of(*2 * [string("k") + struct.pack("<II", 4, 1)]), "the key 'k' again"),
        (file_of(struct.pack("<Q2sII", 2, b"\xff\xfe", 4, 1)), "expected UTF-8"),
    ],
)
def test_forged_headers_are_refused(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=re.escape(str(path))) as caught:
        mw.Tokenizer.from_file(path, format="gguf")
    assert found in str(caught.value)


def test_a_model_costs_its_header_alone(tmp_path: Path) -> None:
    path = byte_level(tmp_path / "x.gguf", "l o", "lo w")
    tok = mw.Tokenizer.from_file(path)
    os.truncate(path, 100 << 30)  # a sparse file, as if tensors followed
    tracemalloc.start()
    assert mw.Tokenizer.from_file(path) == tok
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    # An array that would reach far into the tensors is skipped, a string refused.
    for kind, size in ((6, 2**34), (8, 2**33)):
        forged = file_of(string("tokenizer.x") + struct.pack("<IIQ", 9, kind, size))
        path.write_bytes(forged)
        os.truncate(path, 100 << 30)
        with pytest.raises(FormatError):
            mw.Tokenizer.from_file(path)
    assert tracemalloc.get_traced_memory()[1] < 4 << 20
    tracemalloc.stop()


def test_a_vocabulary_of_bytes(tmp_path: Path) -> None:
    control, user = gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED
    path = byte_level(tmp_path / "x.gguf", "l o", "lo w", **{"<u>": user, "<s>": control})  # type: ignore[arg-type]
    tok = mw.Tokenizer.from_file(path)
    assert tok.encode("low<u>", add_special_tokens=False) == [257, 258]
    assert tok.encode("<s>low", allowed_special="all") == [259, 259, 257]
    assert tok.decode([257, 258]) == "low<u>"
    assert tok.config.bos_token == "<s>"
    assert tok.config.chat_templates == {"default": "{{ messages }}"}


def test_a_merge_of_what_is_no_token_is_refused(tmp_path: Path) -> None:
    path = byte_level(tmp_path / "x.gguf", "a b", "x lo")
    with pytest.raises(FormatError, match=r"x\.gguf: tokenizer\.ggml\.merges\[1\]: found 'x lo'"):
        mw.Tokenizer.from_file(path)


def test_unknown_cuts_and_other_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"tokenizer\.ggml\.pre: found 'new'"):
        mw.Tokenizer.from_file(byte_level(tmp_path / "x.gguf", pre="new"))
    path = written_by_peer(tmp_path / "y.gguf", lambda writer: writer.add_tokenizer_model("bert"))
    with pytest.raises(FormatError, match="which are BPE"):
        mw.Tokenizer.from_file(path)


@pytest.mark.parametrize("name", [names.split()[0] for names in SEQUENCES.values()])
def test_cuts_can_be_used(tmp_path: Path, name: str) -> None:
    tok = mw.Tokenizer.from_file(byte_level(tmp_path / "x.gguf", "l o", "1 2", "12 3", pre=name))
    for text in TEXTS:
        assert tok.decode(tok.encode(text, add_special_tokens=False)) == text


def test_what_is_written_is_read_by_gguf(tmp_path: Path) -> None:
    counts = mw.count(["low low lower lowest it's"], pattern="gpt2")
    tok = mw.train(counts, num_merges=4, special_tokens=["<|endoftext|>", "<pad>"])
    tok.save(tmp_path / "x.gguf")
    fields = gguf.GGUFReader(tmp_path / "x.gguf").fields
    names = tok.get_vocab()
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert {text: i for i, text in enumerate(tokens)} == names
    assert fields["tokenizer.ggml.pre"].contents() == "gpt-2"
    kinds = fields["tokenizer.ggml.token_type"].contents()
    assert [kinds[names[text]] for text in ("Ġ", "<pad>")] == [1, 3]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    assert merges == [(to_letters(left), to_letters(right)) for left, right in tok.merges]
    assert mw.Tokenizer.from_file(tmp_path / "x.gguf") == tok


@pytest.mark.parametrize("name", ["gguf-llama-spm", "gguf-gpt-2", "gguf-starcoder"])
def test_real_vocabularies_go_round(tmp_path: Path, name: str) -> None:
    tok = mw.Tokenizer.from_file(vocabulary(name))
    tok.save(tmp_path / "again.gguf")
    again = mw.Tokenizer.from_file(tmp_path / "again.gguf")
    assert again.config == tok.config
    for text in TEXTS:
        assert again.encode(text, allowed_special="all") == tok.encode(text, allowed_special="all")


def test_a_plain_token_that_llama_cpp_finds_is_refused(tmp_path: Path) -> None:
    tok = mw.train(mw.count(["</s> </s>"], pattern=r"\S+|\s+"), num_merges=3)
    plain = replace(tok.vocabulary, pattern="gpt2")
    assert b"</s>" in plain.tokens
    with pytest.raises(ConversionError, match=r"of these texts otherwise .'</s>'"):
        mw.Tokenizer(plain).save(tmp_path / "x.gguf")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"pattern": "gpt2", "normalize": "nfc"}, "texts are normalised"),
        ({"pattern": r"\w+|\W"}, "llama.cpp has no name"),
        ({"pattern": "cl100k"}, "llama.cpp has no name"),
    ],
)
def test_what_cannot_be_said_is_refused(
    tmp_path: Path, options: dict[str, Any], reason: str
) -> None:
    tok = mw.train(mw.count(["low low lower"], **options), num_merges=2)
    with pytest.raises(ConversionError, match=reason):
        tok.save(tmp_path / "x.gguf")
    tok.save(tmp_path / "x.gguf", lossy=True)
    assert mw.Tokenizer.from_file(tmp_path / "x.gguf").merges == tok.merges
