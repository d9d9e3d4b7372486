"""`mergewise encode` and `mergewise decode`. The ids are worked out by hand; see `command_line`."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import MERGES, PROGRAM, TOKENS, call, low_tokenizer, start
from processes import HANGS

from mergewise import sources
from mergewise.cli import decode
from mergewise.tokenizer import Tokenizer
from mergewise.vocabulary import Vocabulary


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    return low_tokenizer(tmp_path)


def test_a_text_becomes_one_line(tokenizer: Path) -> None:
    done = call("encode", tokenizer, stdin=b"low lower\n low")
    assert (done.status, done.text) == (0, "257 258 101 114 10 258\n")


def test_lines_lose_their_newlines(tokenizer: Path) -> None:
    done = call("encode", tokenizer, "--lines", stdin=b"low\n\n lower\r\nlo")
    assert done.text == "257\n\n258 101 114 13\n256\n"
    assert call("encode", tokenizer, "--lines", stdin=b"low\n").text == "257\n"


def test_nothing_is_one_document_and_no_line(tokenizer: Path) -> None:
    assert call("encode", tokenizer).text == "\n"
    assert call("encode", tokenizer, "--json").text == "[]\n"
    assert call("encode", tokenizer, "--lines").text == ""


def test_each_file_and_each_record_has_a_line(tokenizer: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"low\nlow")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"lo"))
    (tmp_path / "c.jsonl").write_text('{"text": "low"}\n{"text": " low"}\n')
    files = [tmp_path / name for name in ("a.txt", "b.txt.gz", "c.jsonl")]
    assert call("encode", tokenizer, *files).text == "257 10 257\n256\n257\n258\n"
    assert call("encode", tokenizer, "--lines", *files).text == "257\n257\n256\n257\n258\n"


def test_pieces_can_be_told_apart(tokenizer: Path) -> None:
    done = call("encode", tokenizer, "--pieces", stdin="low lowé\n\\".encode())
    assert done.text == "low ▁low \\xc3 \\xa9 \\n \\\\\n"


def test_json(tokenizer: Path) -> None:
    done = call("encode", tokenizer, "--lines", "--json", stdin=b"lower\nlo")
    assert [json.loads(line) for line in done.text.splitlines()] == [[257, 101, 114], [256]]
    done = call("encode", tokenizer, "--pieces", "--json", stdin="low é".encode())
    assert json.loads(done.text) == ["low", " ", "\udcc3", "\udca9"]


def test_special_tokens_are_an_error_unless_chosen(tokenizer: Path) -> None:
    text = b"lo<|end|>"
    assert call("encode", tokenizer, "--allow-special", "all", stdin=text).text == "256 259\n"
    ordinary = [*b"<|end|>"]
    assert call("encode", tokenizer, "--ordinary", stdin=text).text == (
        " ".join(map(str, [256, *ordinary])) + "\n"
    )
    done = call("encode", tokenizer, stdin=text)
    assert (done.status, done.output) == (1, b"")
    assert done.errors.startswith(
        'mergewise: error: standard input: the text holds the special token "<|end|>" at byte 2'
    )
    assert "--allow-special" in done.errors
    assert "--ordinary" in done.errors
    assert "allowed" not in done.errors


def test_the_place_of_an_error_counts_from_the_beginning(
    tokenizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = call("encode", tokenizer, "--lines", stdin=b"lo\nlow\nx<|end|>\nlo\n")
    assert (done.status, done.text) == (1, "256\n257\n")
    assert "standard input: line 3: the text holds" in done.errors
    monkeypatch.setattr(sources, "BLOCK_BYTES", 16)
    path = tmp_path / "long.txt"
    path.write_bytes(b"lower " * 50 + b"<|end|> low" * 3)
    assert f"{path}: the text holds the special token" in call("encode", tokenizer, path).errors
    assert "at byte 300;" in call("encode", tokenizer, path).errors


def test_parts_of_a_text_are_one_line(tokenizer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 8)
    text = b"low lower " * 40
    ids = json.loads(call("encode", tokenizer, "--json", stdin=text).text)
    assert ids == [257, *[258, 101, 114, 258] * 39, 258, 101, 114, 32]


def test_arrays(tokenizer: Path, tmp_path: Path) -> None:
    text, array, bare = tmp_path / "a.txt", tmp_path / "a.npy", tmp_path / "a.bin"
    text.write_bytes(b"low\nlo")
    arguments: list[str | Path] = ["encode", tokenizer, text]
    arguments += ["--end-of-document", "<|end|>", "--documents", "lines"]
    done = call(*arguments, "-o", array, "--json", "-q")
    assert json.loads(done.text) == {"tokens": 5, "documents": 2, "dtype": "uint16"}
    assert done.errors == ""
    assert np.load(array).tolist() == [257, 10, 259, 256, 259]
    done = call(*arguments, "-o", bare, "--dtype", "uint32")
    assert done.text == "5 tokens, 2 documents\n"
    assert "encode:" in done.errors
    assert np.fromfile(bare, "<u4").tolist() == [257, 10, 259, 256, 259]


def test_files_for_training(tokenizer: Path, tmp_path: Path) -> None:
    records, out = tmp_path / "a.jsonl", tmp_path / "a.bin"
    lines = [json.dumps({"text": f"low lower {number}"}) for number in range(50)]
    records.write_text("\n".join([*lines, "no record"]))
    arguments: list[str | Path] = ["encode", tokenizer, records, "-o", out, "--format", "megatron"]
    arguments += ["--shard-tokens", "200", "--validation", "0.2", "-q"]
    done = call(*arguments)
    assert done.status == 1
    assert "a.jsonl: line 51: found no JSON" in done.errors
    done = call(*arguments, "--skip-bad", "--json")
    facts = json.loads(done.text)
    assert (facts["documents"], facts["skipped"]) == (50, 1)
    assert facts["files"] == len([*tmp_path.glob("*.idx")]) > 2
    assert "a.jsonl: line 51: found no JSON" in done.errors
    texts = call("decode", tokenizer, tmp_path / "a.json", "--lines").text.splitlines()
    expected = [f"low lower {number}" for number in range(50)]
    assert texts == [text for text in expected if text in texts]
    assert 30 < len(texts) < 50


@pytest.mark.parametrize(
    "arguments",
    [
        ["--lines", "-o", "x.npy"],
        ["--pieces", "-o", "x.npy"],
        ["--dtype", "uint16"],
        ["--documents", "lines"],
        ["--offsets"],
        ["--shard-tokens", "9"],
        ["--end-of-document", "<|end|>"],
        ["-o", "-", "--shards", "3"],
        ["-o", "-", "--manifest"],
        ["-o", "-", "--format", "megatron"],
    ],
)
def test_what_does_not_go_together_is_refused(tokenizer: Path, arguments: list[str]) -> None:
    done = call("encode", tokenizer, *arguments)
    assert (done.status, done.output) == (2, b"")
    assert "mergewise encode: error: " in done.errors


@pytest.mark.parametrize(
    "arguments",
    [["--split", "validation"], ["--split", "train", "-"], ["--dtype", "uint16", "--lines"]],
)
def test_what_decoding_standard_input_cannot_mean(tokenizer: Path, arguments: list[str]) -> None:
    done = call("decode", tokenizer, *arguments)
    assert (done.status, done.output) == (2, b"")
    assert "mergewise decode: error: " in done.errors


def test_a_line_is_answered_before_the_next_is_read(tokenizer: Path) -> None:
    with start("encode", tokenizer, "--lines") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, ids in ((b"low\n", b"257\n"), (b" lowlo\n", b"258 256\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == ids
        process.stdin.close()
        assert process.wait(timeout=HANGS) == 0


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="nothing says how much memory a process took")
def test_memory_does_not_grow_with_the_lines(tokenizer: Path, tmp_path: Path) -> None:
    text, peaks = tmp_path / "lines.txt", []
    for num_lines in (8_000, 24_000):
        text.write_bytes((b" low" * 250 + b"\n") * num_lines)
        with text.open("rb") as stdin, Path(os.devnull).open("wb") as stdout:
            arguments = [*PROGRAM, "encode", str(tokenizer), "--lines"]
            actions = [
                (os.POSIX_SPAWN_DUP2, file.fileno(), n) for n, file in enumerate((stdin, stdout))
            ]
            process = os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions)
            _, status, usage = os.wait4(process, 0)
        assert status == 0
        peaks.append(usage.ru_maxrss)
    assert peaks[1] < 1.3 * peaks[0]


def test_decoding(tokenizer: Path) -> None:
    done = call("decode", tokenizer, stdin=b"257 258\n\n\t101 114 10 195 169 255")
    assert (done.status, done.output) == (0, b"low lower\n\xc3\xa9\xff")
    assert call("decode", tokenizer).output == b""


def test_lines_come_back(tokenizer: Path) -> None:
    text = "low lower\n\n é lowest\n".encode()
    ids = call("encode", tokenizer, "--lines", stdin=text).output
    assert call("decode", tokenizer, "--lines", stdin=ids).output == text


@pytest.mark.parametrize("word", ["x", "-1", "+1", "1_0", "1.0", "٣", "4294967296", "9" * 5000])
@pytest.mark.parametrize("lines", [[], ["--lines"]])
def test_what_is_no_id_is_named(tokenizer: Path, word: str, lines: list[str]) -> None:
    done = call("decode", tokenizer, *lines, stdin=f"257 {word} 258".encode())
    assert (done.status, done.errors.count("\n")) == (1, 1)
    assert "expected an id" in done.errors


def test_an_id_that_no_token_has(tokenizer: Path) -> None:
    done = call("decode", tokenizer, stdin=b"257 260")
    assert done.status == 1
    assert "no token has the id 260" in done.errors


class Slow(io.BytesIO):
    """Standard input that comes id by id."""

    def read1(self, size: int | None = -1, /) -> bytes:
        del size
        return self.readline()


def decoded_one_by_one(
    tokenizer: Tokenizer, ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> list[bytes]:
    stdin = io.TextIOWrapper(Slow("".join(f"{i}\n" for i in ids).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    return list(decode.decoded_stream(tokenizer, decode.written_numbers()))


def test_half_a_character_waits_for_the_other(
    tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Tokenizer.from_file(tokenizer)
    parts = decoded_one_by_one(read, [257, 0xC3, 0xA9, 0xC3, 108, 0xE2], monkeypatch)
    assert parts == [b"low", b"", "é".encode(), b"", b"\xc3l", b"", b"\xe2"]


@pytest.mark.parametrize(
    "vocabulary",
    [
        Vocabulary(tokens=TOKENS, merges=MERGES, prefix_space="always"),
        Vocabulary(tokens=TOKENS, merges=MERGES, prefix_space="once"),
        Vocabulary(tokens=TOKENS, merges=MERGES, prefix_space="unless_space"),
        Vocabulary(
            tokens={b"l": 0, b"o": 1, b"w": 2, b"w</w>": 3, b"o</w>": 4, b"l</w>": 5},
            merges=[],
            alphabet="chars",
            end_of_word=b"</w>",
            pattern=r"\S+",
            drops_gaps=True,
        ),
    ],
)
def test_ids_that_come_singly_give_the_same_text(
    vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = Tokenizer(vocabulary)
    for text in ("low low", " low", "lo l"):
        ids = tokenizer.encode(text)
        parts = decoded_one_by_one(tokenizer, ids, monkeypatch)
        assert b"".join(parts) == tokenizer.decode_bytes(ids)
