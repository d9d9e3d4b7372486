"""Files to arrays on disk: the ids of the documents, whatever the format and wherever it is cut."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from processes import HANGS, interrupt, run_python
from strategies import texts
from test_encode import OPTICKS, over_bytes, over_chars, trained
from test_patterns import LANGUAGES

import mergewise as mw
from mergewise import sources
from mergewise.errors import FormatError, UnknownTokenError
from mergewise.vocabulary import Vocabulary

END = "<|end|>"
TEXT = OPTICKS[:30_000] + "\n".join(LANGUAGES.values()) + "\r\n\n  last line"
DOCUMENTS = ["first one", "", "é☃ second\nof two lines", OPTICKS[:5000], "last"]
per_function = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def with_end(vocabulary: Vocabulary) -> mw.Tokenizer:
    """A tokenizer with a token to put behind documents."""
    size = mw.Tokenizer(vocabulary).vocab_size
    return mw.Tokenizer(replace(vocabulary, special_tokens={END: size}))


TOK = with_end(trained().vocabulary)
END_ID = TOK.special_tokens[END]


@pytest.fixture
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read and cut in parts as small as can be."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", 16)


def encoded(tok: mw.Tokenizer, text: bytes, folder: Path, **options: Any) -> list[int]:
    """The ids of a file with this text."""
    (folder / "in.txt").write_bytes(text)
    tok.encode_files(folder / "in.txt", folder / "out.npy", **options)
    ids: list[int] = np.load(folder / "out.npy").tolist()
    return ids


def expected(documents: Sequence[str | bytes], *, end: bool) -> list[int]:
    ids: list[int] = []
    for document in documents:
        ids += TOK.encode(document) + [END_ID] * end
    return ids


def write(folder: Path, name: str, documents: Sequence[str]) -> Path:
    path = folder / name
    lines = "".join(json.dumps({"text": d, "other": 1}) + "\n" for d in documents).encode()
    if name.endswith(".jsonl"):
        path.write_bytes(lines)
    elif name.endswith(".jsonl.gz"):
        path.write_bytes(gzip.compress(lines))
    elif name.endswith(".parquet"):
        pq.write_table(pa.table({"text": documents}), path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress("".join(documents).encode()))
    else:
        path.write_bytes("".join(documents).encode())
    return path


# What is written.


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_records_are_documents(*, name: str, end: bool, tmp_path: Path) -> None:
    path, out = write(tmp_path, name, DOCUMENTS), tmp_path / "out.npy"
    written = TOK.encode_files(path, out, end_of_document=END if end else None)
    ids = np.load(out)
    assert ids.tolist() == expected(DOCUMENTS, end=end)
    assert (written.path, written.dtype) == (out, "uint16")
    assert (written.num_tokens, written.num_documents) == (len(ids), len(DOCUMENTS))


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_a_column_need_not_be_utf8(kind: str, tmp_path: Path) -> None:
    documents = [b"good", None, b"b\xffd \xc3", b""]
    binary = pa.binary() if kind == "string" else pa.large_binary()
    table = pa.table({"text": pa.array(documents, binary).view(kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    TOK.encode_files(tmp_path / "a.parquet", tmp_path / "out.npy")
    there = [document for document in documents if document is not None]
    assert np.load(tmp_path / "out.npy").tolist() == expected(there, end=False)


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a"])
def test_a_text_file_is_one_document(*, name: str, end: bool, tmp_path: Path) -> None:
    path, out = write(tmp_path, name, [TEXT]), tmp_path / "out.npy"
    written = TOK.encode_files(path, out, end_of_document=END if end else None)
    assert np.load(out).tolist() == expected([TEXT], end=end)
    assert written.num_documents == 1


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_or_each_line_is(*, name: str, end: bool, tmp_path: Path) -> None:
    path, out = write(tmp_path, name, [TEXT]), tmp_path / "out.npy"
    lines = TEXT.encode().split(b"\n")
    lines = [line + b"\n" for line in lines[:-1]] + lines[-1:]
    written = TOK.encode_files(path, out, documents="lines", end_of_document=END if end else None)
    assert np.load(out).tolist() == expected(lines, end=end)
    assert written.num_documents == len(lines)


def test_several_files_come_in_order(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "b.txt", ["of text"]),
        write(tmp_path, "a.jsonl", DOCUMENTS),
        write(tmp_path, "c.txt.gz", ["compressed"]),
    ]
    TOK.encode_files(paths, tmp_path / "out.npy", end_of_document=END)
    documents = ["of text", *DOCUMENTS, "compressed"]
    assert np.load(tmp_path / "out.npy").tolist() == expected(documents, end=True)


@pytest.mark.parametrize("name", ["out.bin", "out", "out.NPY.raw"])
@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_other_names_get_the_bare_numbers(
    name: str, dtype: Literal["uint16", "uint32"], tmp_path: Path
) -> None:
    path = write(tmp_path, "a.txt", [TEXT])
    written = TOK.encode_files(path, tmp_path / name, dtype=dtype)
    kind = {"uint16": "<u2", "uint32": "<u4"}[dtype]
    assert written.dtype == dtype
    assert np.fromfile(tmp_path / name, dtype=kind).tolist() == expected([TEXT], end=False)


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_arrays_can_be_mapped(dtype: Literal["uint16", "uint32"], tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.txt", [TEXT]), tmp_path / "out.npy"
    TOK.encode_files(path, out, dtype=dtype)
    ids = np.load(out, mmap_mode="r")
    assert (ids.dtype, ids.ndim) == (np.dtype(dtype), 1)
    assert ids.tolist() == expected([TEXT], end=False)


@pytest.mark.parametrize(("largest", "dtype"), [(65_535, "uint16"), (65_536, "uint32")])
def test_the_smallest_type_that_holds_all_ids(largest: int, dtype: str, tmp_path: Path) -> None:
    tok = mw.Tokenizer(over_bytes([], merges=[], special_tokens={END: largest}))
    path, out = write(tmp_path, "a.txt", ["a"]), tmp_path / "out.npy"
    assert tok.encode_files(path, out, end_of_document=END).dtype == dtype
    assert np.load(out).tolist() == [97, largest]
    if dtype == "uint32":
        with pytest.raises(ValueError, match="uint16"):
            tok.encode_files(path, out, dtype="uint16")


@pytest.mark.parametrize(("documents", "count"), [("file", 1), ("lines", 0)])
def test_an_empty_file(documents: Literal["file", "lines"], count: int, tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.txt", []), tmp_path / "out.npy"
    written = TOK.encode_files(path, out, documents=documents, end_of_document=END)
    assert np.load(out).tolist() == [END_ID] * count
    assert (written.num_documents, written.num_tokens) == (count, count)
    TOK.encode_files(path, out, documents=documents)
    assert np.load(out).shape == (0,)


@pytest.mark.parametrize("num_threads", [1, 2, 7])
def test_threads_do_not_change_the_file(num_threads: int, tmp_path: Path) -> None:
    path, out = write(tmp_path, "a.txt", [OPTICKS] * 3), tmp_path / "out.bin"
    TOK.encode_files(path, out, num_threads=num_threads)
    assert np.fromfile(out, dtype="<u2").tolist() == expected([OPTICKS * 3], end=False)


# Where it is cut.


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "whitespace", None, r"\w+|\W"])
def test_small_reads_give_the_ids_of_the_whole(pattern: str | None, tmp_path: Path) -> None:
    vocabulary = replace(trained("o200k").vocabulary, pattern=pattern)
    tok = with_end(vocabulary)
    text = (TEXT[-3000:] + "   \n\n\t x's 12345" + TEXT[:2000]).encode()
    assert encoded(tok, text, tmp_path) == tok.encode(text)


ANY = ["a", "B", "7", " ", "  ", "\n", "\r\n", "'", "'s", ".", "/", "é", "☃", "\u3000"]
pieces = st.lists(st.sampled_from([b"\xe2\x98", *(part.encode() for part in ANY)]), max_size=120)


@per_function
@given(pieces.map(b"".join), st.sampled_from(["gpt2", "cl100k", "o200k", "whitespace", None]))
@pytest.mark.usefixtures("small_reads")
def test_small_reads_of_white_space_and_broken_bytes(
    tmp_path: Path, text: bytes, pattern: str | None
) -> None:
    tok = whitespace_tokens(pattern)
    assert encoded(tok, text, tmp_path) == tok.encode(text)


WHITESPACE_TOKENS: dict[str | None, mw.Tokenizer] = {}


def whitespace_tokens(pattern: str | None) -> mw.Tokenizer:
    """Many pairs merge, so that a wrong cut is seen."""
    if pattern not in WHITESPACE_TOKENS:
        symbols = [b" ", b"\n", b"\r", b"'", b"s", b".", b"/", b"a", b"B", b"7"]
        pairs = [(left, right) for left in symbols for right in symbols]
        strings = [left + right for left, right in pairs]
        vocabulary = over_bytes(strings, merges=pairs, pattern=pattern)
        WHITESPACE_TOKENS[pattern] = mw.Tokenizer(vocabulary)
    return WHITESPACE_TOKENS[pattern]


SPECIALS = {"<s>": 900, "<s>  <s>": 901, "  x": 902, "é.": 903}
special_pieces = st.lists(
    st.sampled_from(["<s>", "<s", ">", " ", "  ", "x", "é", ".", "a", "7", "\n", "é."]),
    max_size=100,
).map("".join)


@per_function
@given(
    text=special_pieces,
    pattern=st.sampled_from(["gpt2", "cl100k", "whitespace", None]),
    added=st.booleans(),
)
@pytest.mark.usefixtures("small_reads")
def test_small_reads_cut_no_special_token(
    *, tmp_path: Path, text: str, pattern: str | None, added: bool
) -> None:
    vocabulary = whitespace_tokens(pattern).vocabulary
    kind = {"added_tokens": SPECIALS} if added else {"special_tokens": SPECIALS}
    tok = mw.Tokenizer(replace(vocabulary, **kind))  # type: ignore[arg-type]
    ids = encoded(tok, text.encode(), tmp_path, allowed_special="all")
    assert ids == tok.encode(text, allowed_special="all")
    ids = encoded(tok, text.encode(), tmp_path, disallowed_special=())
    assert ids == tok.encode(text, disallowed_special=())


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("shift", range(0, 70, 3))
def test_a_refused_special_token_is_seen_across_a_cut(shift: int, tmp_path: Path) -> None:
    text = "a " * 20 + "b" * shift + END + " c" * 30
    with pytest.raises(ValueError, match="special token"):
        encoded(TOK, text.encode(), tmp_path)
    assert not (tmp_path / "out.npy").exists()


OPTIONS: list[dict[str, Any]] = [
    {"unknown_token": 2},
    {"unknown_token": 2, "fuse_unknown": True},
    {"unknown_token": 2, "fuse_unknown": True, "pattern": "whitespace"},
    {"byte_tokens": tuple(range(1000, 1256))},
    {"byte_tokens": tuple(range(1000, 1256)), "mark_is_space": True},
    {"byte_tokens": tuple(range(1000, 1256)), "mark_is_space": True, "pattern": "gpt2"},
    {"unknown_token": 2, "prefix_space": "always"},
    {"unknown_token": 2, "prefix_space": "unless_space", "pattern": "whitespace"},
    {"unknown_token": 2, "normalize": "nfc"},
    {"unknown_token": 2, "normalize": "nfkc", "pattern": "whitespace"},
    {"unknown_token": 2, "pattern": r"[^ ]+", "drops_gaps": True},
    {"unknown_token": 2, "whole_words": True},
    {"unknown_token": 2, "end_of_word": b"b"},
]


@per_function
@given(texts("ab1 éx▁e\u0301\n", max_size=120), st.sampled_from(OPTIONS))
@pytest.mark.usefixtures("small_reads")
def test_small_reads_with_other_options(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    strings = ["a", "b", "1", " ", "é", "aa", "a b", " 1", "  ", " a", "bé"]
    ranks = {string.encode(): i for i, string in enumerate(strings)}
    tok = mw.Tokenizer(over_chars(strings, ranks=ranks, **options))
    assert encoded(tok, text.encode(), tmp_path) == tok.encode(text)


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("pattern", [None, "gpt2"])
def test_a_mark_for_a_space_is_not_cut_off(pattern: str | None, tmp_path: Path) -> None:
    """Where a text is cut depends on what it becomes: here a space."""
    tokens = ["a", "1", " ", "a 1", " 1"]
    merges = [(b" ", b"1"), (b"a", b" 1")]
    tok = mw.Tokenizer(over_chars(tokens, merges=merges, mark_is_space=True, pattern=pattern))
    for shift in range(6):
        text = "a" * shift + "a▁1" * 50
        assert encoded(tok, text.encode(), tmp_path) == tok.encode(text)


@pytest.mark.skipif(sys.platform == "win32", reason="needs select on pipes")
@pytest.mark.parametrize(("documents", "count"), [("file", 1), ("lines", 3)])
def test_standard_input_may_come_slowly(documents: str, count: int, tmp_path: Path) -> None:
    """Nothing is lost, and no line is cut, where the writer pauses."""
    code = (
        "import sys, mergewise as mw\n"
        "tok = mw.train(mw.count(['ab']), num_merges=0)\n"
        "print('ready', flush=True)\n"
        "written = tok.encode_files('-', sys.argv[1], documents=sys.argv[2])\n"
        "print(written.num_documents)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "out"), documents]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        with suppress(BrokenPipeError):  # it did not wait for all
            for part in (b"a\nb", b"c\nd\n"):
                time.sleep(0.3)
                process.stdin.write(part)
                process.stdin.flush()
        output, _ = process.communicate(timeout=HANGS)
    assert np.fromfile(tmp_path / "out", dtype="<u2").tolist() == list(b"a\nbc\nd\n")
    assert output == f"{count}\n".encode()


# Failures and progress.


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    tok = mw.Tokenizer(over_chars("ab\n", merges=[]))
    good, bad = write(tmp_path, "a.txt", ["ab\n" * 9]), write(tmp_path, "b.txt", ["abx"])
    out = tmp_path / "out.npy"
    with pytest.raises(UnknownTokenError, match="'x'"):
        tok.encode_files([good, bad], out)
    assert not out.exists()
    out.write_bytes(b"old")
    with pytest.raises(UnknownTokenError):
        tok.encode_files([good, bad], out)
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "out.npy"]


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.jsonl", b'{"text": "a"}\n{"text": 5}\n', FormatError),
        ("a.jsonl", b"no json\n", FormatError),
        ("a.txt.gz", gzip.compress(b"some text" * 999, mtime=0)[:-20], FormatError),
        ("a.txt.gz", b"not compressed", FormatError),
    ],
)
def test_damaged_files_are_refused(
    name: str, content: bytes, error: type[Exception], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=name):
        TOK.encode_files(tmp_path / name, tmp_path / "out.npy")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_error_says_in_which_file_it_is(tmp_path: Path) -> None:
    tok = mw.Tokenizer(over_chars("ab\n", merges=[]))
    paths = [write(tmp_path, "a.txt", ["ab"]), write(tmp_path, "b.txt", ["abx"])]
    with pytest.raises(UnknownTokenError, match=r"b\.txt"):
        tok.encode_files(paths, tmp_path / "out.npy")


@pytest.mark.usefixtures("small_reads")
def test_the_error_says_where_in_the_file_it_is(tmp_path: Path) -> None:
    tok = mw.Tokenizer(over_chars("ab ", merges=[], pattern="whitespace"))
    with pytest.raises(UnknownTokenError, match=r"byte 301$"):
        encoded(tok, b"ab " * 100 + b"ax" + b" a" * 100, tmp_path)


@pytest.mark.parametrize(
    ("name", "documents", "content", "place"),
    [
        ("a.txt", "lines", b"ab\nb\nax\n", r"a\.txt: line 3: .*'x' at byte 6$"),
        (
            "a.txt.gz",
            "lines",
            gzip.compress(b"ab\nb\nax\n", mtime=0),
            r"a\.txt\.gz: line 3: .*byte 6$",
        ),
        ("a.jsonl", "file", b'\n{"text": "ab"}\n{"text": "\\nax"}', r"jsonl: line 3: .*byte 2$"),
        (
            "a.txt.gz",
            "file",
            gzip.compress(b"ab" * 99, mtime=0)[:-9],
            r"byte \d+ of the compressed file",
        ),
    ],
)
@pytest.mark.usefixtures("small_reads")
def test_an_error_names_the_line_and_the_byte(
    name: str, documents: Literal["file", "lines"], content: bytes, place: str, tmp_path: Path
) -> None:
    tok = mw.Tokenizer(over_chars("ab\n", merges=[]))
    (tmp_path / name).write_bytes(content)
    for num_threads in (1, 3):
        with pytest.raises((UnknownTokenError, FormatError), match=place):
            tok.encode_files(
                tmp_path / name,
                tmp_path / "out.npy",
                documents=documents,
                num_threads=num_threads,
            )


@pytest.mark.skipif(sys.platform == "win32", reason="nothing says how much memory was used")
@pytest.mark.parametrize(
    ("name", "before", "behind"),
    [("a.txt.gz", b"", b""), ("a.jsonl.gz", b'{"n": NaN, "text": "', b'"}\n')],
)
def test_a_long_line_is_not_held_in_memory(
    name: str, before: bytes, behind: bytes, tmp_path: Path
) -> None:
    """200 MB without a newline, in a file of a few kilobytes."""
    words = gzip.compress(b"word " * 2_000_000, 1) * 20
    content = gzip.compress(before) + words + gzip.compress(behind)
    (tmp_path / name).write_bytes(content)
    code = (
        "import resource\n"
        "tok = mw.train(mw.count(['word word']), num_merges=3)\n"
        "tok.encode('word')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"made = tok.encode_files({name!r}, 'out.npy', documents='lines')\n"
        "print(made.num_documents, made.num_tokens)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    num_documents, num_tokens, peak = run_python(code, folder=tmp_path).split()
    assert int(num_documents) == 1
    assert int(num_tokens) > 40_000_000
    assert int(peak) * (1 if sys.platform == "darwin" else 1024) < 80e6


# Longer than what is parsed as a whole, and than what is kept in memory.
LONG_TEXT = TEXT * 80


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("num_threads", [1, 3])
def test_a_long_record_has_the_ids_of_its_text(name: str, num_threads: int, tmp_path: Path) -> None:
    documents = ["first", LONG_TEXT, "", LONG_TEXT[:1_500_000], "last"]
    fields = [
        f'"text": {json.dumps(text)}, "n": [{{"text": 1}}, NaN], "text": {json.dumps(text)}'
        for text in documents
    ]
    fields.insert(2, f'"text": {json.dumps(LONG_TEXT)}, "text": null')
    content = "".join(f"{{{field}}}\n" for field in fields).encode()
    path, out = tmp_path / name, tmp_path / "out.npy"
    path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    made = TOK.encode_files(path, out, end_of_document=END, num_threads=num_threads)
    assert np.load(out).tolist() == expected(documents, end=True)
    assert made.num_documents == len(documents)
    assert mw.count_files(path, num_threads=num_threads) == mw.count(documents)
    assert set(tmp_path.iterdir()) == {path, out}


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ('\\ud83d"}', "line 2: found a lone surrogate at column 2"),
        ('", 1', "line 2: found no JSON .key must be a string at column 2"),
        ('"}, {}', "line 2: found no JSON .trailing characters at column 2"),
        ('", "text": 1}', "line 2: 'text' is a int, expected a string"),
    ],
)
def test_a_long_record_that_is_wrong_is_left_out_as_a_whole(
    end: str, message: str, tmp_path: Path
) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "out.npy"
    long = json.dumps({"text": LONG_TEXT}, ensure_ascii=False)
    path.write_text(f'{{"text": "a"}}\n{long[:-2]}{end}\n{{"text": "b"}}\n', encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        TOK.encode_files(path, out)
    made = TOK.encode_files(path, out, skip_bad=True)
    assert np.load(out).tolist() == expected(["a", "b"], end=False)
    assert (made.num_documents, made.num_skipped) == (2, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "int8"}, "dtype"),
        ({"documents": "pages"}, "documents"),
        ({"end_of_document": "<x>"}, "'<x>' is not a special token"),
        ({"num_threads": -1}, "num_threads"),
        ({"allowed_special": {"<x>"}}, "allowed_special"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", ["a"])
    with pytest.raises(ValueError, match=message):
        TOK.encode_files(path, tmp_path / "out.npy", **options)
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TOK.encode_files(tmp_path / "none.txt", tmp_path / "out.npy")
    with pytest.raises(FileNotFoundError):
        TOK.encode_files(write(tmp_path, "a.txt", ["a"]), tmp_path / "none" / "out.npy")


@pytest.mark.usefixtures("small_reads")
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("documents", ["file", "lines"])
def test_progress_rises_to_the_size_of_the_files(
    name: str, documents: Literal["file", "lines"], tmp_path: Path
) -> None:
    paths = [write(tmp_path, name, [TEXT[:4000]]), write(tmp_path, "2" + name, [TEXT[:3000]])]
    seen: list[tuple[int, int]] = []
    TOK.encode_files(
        paths,
        tmp_path / "out.npy",
        documents=documents,
        progress=lambda done, total: seen.append((done, total)),
    )
    size = sum(path.stat().st_size for path in paths)
    amounts = [done for done, _ in seen]
    assert {total for _, total in seen} == {size}
    assert amounts == sorted(amounts)
    assert amounts[-1] == size


def test_the_bar_shows_how_fast_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.txt", [TEXT])
    TOK.encode_files(path, tmp_path / "out.npy", progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"encode: [\d.]+ kB, [\d.]+ [kM]B/s, [\d,]+ tokens/s in [\d.]+ s\n", shown)


def test_what_a_callback_raises_stops_the_work(tmp_path: Path) -> None:
    def fail(*_: int) -> None:
        raise RuntimeError("enough")

    path = write(tmp_path, "a.txt", [TEXT])
    with pytest.raises(RuntimeError, match="enough"):
        TOK.encode_files(path, tmp_path / "out.npy", progress=fail)
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(OPTICKS * 4)
    code = (
        "tok = mw.train(mw.count([words(1000)]), num_merges=200)\n"
        "try:\n"
        "    ready()\n"
        "    tok.encode_files(['a.txt'] * 2000, 'out.npy')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = interrupt(code, tmp_path)
    assert (done.output, done.status) == ("interrupted\n", 0)
    assert done.cpu_seconds < 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
