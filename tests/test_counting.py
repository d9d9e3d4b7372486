"""Counting: the same counts from any source, by any number of threads."""

from __future__ import annotations

import gzip
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any, Literal
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from normal_forms import Form, normalized
from processes import run_python
from test_patterns import LANGUAGES, NAMED, nasty_texts

import mergewise as mw
from mergewise.errors import FormatError, InputError
from mergewise.sources import Source, StandardInput, classify
from mergewise.training import make_counter

BLOCK = 1 << 18  # how much of a file the core reads at once
OPTICKS = (resources.files(mw) / "data" / "opticks.txt").read_text(encoding="utf-8")
PATTERNS = [*NAMED, None, r"\p{L}+|\s+"]


def words_of(counts: mw.WordCounts) -> Counter[bytes]:
    return Counter(dict(counts.top(counts.num_unique)))


def write_text(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# Threads, orders, splits.


@pytest.fixture(scope="module")
def documents() -> list[str]:
    """A few thousand documents of different sizes and languages, some of them empty or equal."""
    random = Random(1)  # noqa: S311
    paragraphs = OPTICKS.split("\n\n")
    return [
        *paragraphs,
        *(random.choice([*LANGUAGES.values()]) * random.randint(0, 5) for _ in range(2000)),
        OPTICKS[:300_000],
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_threads_and_order_change_nothing(documents: list[str], pattern: str | None) -> None:
    expected = mw.count(documents, pattern=pattern, num_threads=1)
    assert expected.num_symbols == sum(len(document.encode()) for document in documents)
    shuffled = documents[:]
    Random(2).shuffle(shuffled)  # noqa: S311
    for num_threads in (2, 16, 0):
        assert mw.count(documents, pattern=pattern, num_threads=num_threads) == expected
        assert mw.count(iter(shuffled), pattern=pattern, num_threads=num_threads) == expected


@pytest.mark.parametrize("pattern", PATTERNS)
def test_files_count_as_documents_do(
    documents: list[str], pattern: str | None, tmp_path: Path
) -> None:
    documents = documents[::20]
    paths = [write_text(tmp_path / f"{i}.txt", text) for i, text in enumerate(documents)]
    expected = mw.count(documents, pattern=pattern)
    for num_threads in (1, 2, 16):
        assert mw.count_files(paths, pattern=pattern, num_threads=num_threads) == expected
    assert mw.count_files(reversed(paths), pattern=pattern) == expected
    assert mw.count_files(tmp_path, pattern=pattern) == expected
    parts = [mw.count_files(part, pattern=pattern) for part in (paths[:7], paths[7:20], paths[20:])]
    assert parts[0] + parts[1] + parts[2] == expected


def test_lines_may_be_split_into_files_in_any_way(tmp_path: Path) -> None:
    lines = OPTICKS[:200_000].splitlines(keepends=True)
    expected = mw.count(lines, pattern="o200k")
    for size in (1, 7, 1000):
        paths = [
            write_text(tmp_path / f"{size}-{i}.txt", "".join(lines[i : i + size]))
            for i in range(0, len(lines) if size > 1 else 0, size)
        ]
        if paths:
            assert mw.count_files(paths, pattern="o200k", documents="lines") == expected
    everything = write_text(tmp_path / "all.txt", "".join(lines))
    assert mw.count_files(everything, pattern="o200k", documents="lines") == expected
    assert mw.count_files(everything, pattern="o200k") != expected


# Files larger than a block.


def awkward_texts() -> dict[str, str]:
    """Texts of more than two blocks in which it is hard to find a place to cut."""
    random = Random(3)  # noqa: S311
    size = 2 * BLOCK + 999
    some = [*" \n\r\t'/.aA1sé", "'ll", "漢", "\u0301", "\u3000", "😀", "\r\n", "  ", "K", "ſ"]
    words = ["the", "cat's", "12345", "HOUSE", "isn't", "fooBar,", "étude\r\n\r\n"]
    return {
        "no spaces": "abcdefghij" * (size // 10),
        "one word of 3 MB": "x" * 3_000_000,
        "digits": "1234567" * (size // 7),
        "symbols": "!?" * (size // 2),
        "slashes and newlines": "!\n/\n//\r\n" * (size // 8),
        "apostrophes": "a's'll'" * (size // 7),
        "CRLF": "\r\n" * (size // 2),
        "lines with CRLF": "".join(random.choice(words) + "\r\n" for _ in range(size // 6)),
        "CJK": "漢字かな混じり文、" * (size // 27),
        "Thai": LANGUAGES["th"] * (size // 100),
        "spaces": " " * size,
        "newlines": "\n" * size,
        "spaces at the border": "a" * (BLOCK - 50) + " " * 100 + "b" * BLOCK + "\n" * 70 + "c ",
        "white spaces of all kinds": "".join(random.choices(" \t\n\r\u3000\u00a0\u2028", k=size)),
        "spaces and words": "".join(
            random.choice(" \n\t") * random.randint(0, 300) + "w" for _ in range(size // 100)
        ),
        "marks": "e\u0301" * (size // 3),
        "random": "".join(random.choices(some, k=size)),
        "languages": "\n".join([*LANGUAGES.values()] * (size // 3000)),
        "capitals": "ABCdefGHI" * (size // 9),
    }


AWKWARD = awkward_texts()


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("pattern", NAMED)
def test_blocks_of_a_file_do_not_show(pattern: str, name: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "text.txt", AWKWARD[name])
    expected = mw.count([AWKWARD[name]], pattern=pattern)
    assert mw.count_files(path, pattern=pattern, num_threads=2) == expected


@pytest.mark.parametrize("pattern", [None, r"\p{L}+|\s+"])
def test_blocks_do_not_show_where_a_pattern_cannot_be_cut(
    pattern: str | None, tmp_path: Path
) -> None:
    for name in ("random", "lines with CRLF", "one word of 3 MB"):
        path = write_text(tmp_path / "text.txt", AWKWARD[name])
        expected = mw.count([AWKWARD[name]], pattern=pattern)
        assert mw.count_files(path, pattern=pattern) == expected


@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_a_border_may_fall_anywhere(shift: int, tmp_path: Path) -> None:
    """The text around the first border, moved byte by byte."""
    around = "he's got 12345 things,  isn't\r\n\r\n  fooBAR'll 漢字 é/\n/ "
    text = "x" * (BLOCK - 30 - shift) + around * 3 + "y" * 100
    path = write_text(tmp_path / "text.txt", text)
    for pattern in NAMED:
        assert mw.count_files(path, pattern=pattern) == mw.count([text], pattern=pattern)


@pytest.mark.parametrize("normalize", ["nfc", "nfkc"])
@pytest.mark.parametrize("pattern", NAMED)
@pytest.mark.parametrize("name", ["marks", "random", "languages", "compatible"])
def test_blocks_do_not_show_when_texts_are_normalized(
    name: str, pattern: str, normalize: Form, tmp_path: Path
) -> None:
    compatible = "ﬁ１２①½ ´ﷺ…＇ｓㇰ\u3099a\u0327\u0301.K\u00a0Ⅷ℃1\u2044２"
    text = compatible * 15_000 if name == "compatible" else AWKWARD[name]
    text = unicodedata.normalize("NFD", text) if name == "languages" else text
    path = write_text(tmp_path / "text.txt", text)
    expected = mw.count([normalized(normalize, text)], pattern=pattern)
    counts = mw.count_files(path, pattern=pattern, normalize=normalize)
    assert words_of(counts) == words_of(expected)


@pytest.mark.parametrize("errors", ["keep", "replace"])
@pytest.mark.parametrize("pattern", NAMED)
def test_blocks_do_not_show_in_bytes_that_are_not_utf8(
    pattern: str, errors: Literal["keep", "replace"], tmp_path: Path
) -> None:
    random = Random(4)  # noqa: S311
    pieces = [
        b"\xff",
        b"\x80",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"a",
        b" ",
        b"1",
        "漢".encode(),
        b"\n",
    ]
    for text in (b"".join(random.choices(pieces, k=2 * BLOCK)), b"\xe2\x82" * BLOCK):
        path = write_text(tmp_path / "text.txt", text)
        expected = mw.count([text], pattern=pattern, errors=errors)
        assert mw.count_files(path, pattern=pattern, errors=errors) == expected


# Documents in files of text.


def test_a_document_for_each_line_keeps_its_newline(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.txt", "a b\n\na b\r\nlast")
    counts = mw.count_files(path, documents="lines", pattern=None)
    assert words_of(counts) == {b"a b\n": 1, b"\n": 1, b"a b\r\n": 1, b"last": 1}


@given(st.lists(nasty_texts(), max_size=5), st.sampled_from(PATTERNS))
def test_lines_are_documents(texts: list[str], pattern: str | None) -> None:
    text = "\n".join(texts)
    lines = [line + "\n" for line in text.split("\n")[:-1]] + [text.split("\n")[-1]]
    with_reader = mw.count(lines, pattern=pattern)
    core = make_counter(pattern, None, (), "keep", 2)
    with mock.patch.object(Source, "reader", Bytes(text.encode())):
        core.add_sources(
            [classify(Path("-"))], documents="lines", field="text", skip_bad=False, progress=None
        )
    assert mw.WordCounts(core.finish()) == with_reader


class Bytes(StandardInput):
    """Hands out its bytes a few at a time, and between them has none yet."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_ready = False

    def read(self, size: int, /) -> bytes | None:
        self.is_ready = not self.is_ready
        if not self.is_ready:
            return None
        size = min(size, 3)
        part, self.data = self.data[:size], self.data[size:]
        return part


def test_long_lines_and_many_lines(tmp_path: Path) -> None:
    lines = ["x" * 700_000 + "\n", "y\n", *(f"line {i}\n" for i in range(60_000)), "z" * 300_000]
    path = write_text(tmp_path / "a.txt", "".join(lines))
    for pattern in (None, "gpt2"):
        expected = mw.count(lines, pattern=pattern)
        for num_threads in (1, 2, 16):
            counts = mw.count_files(
                path, documents="lines", pattern=pattern, num_threads=num_threads
            )
            assert counts == expected


# Special tokens.

SPECIALS = ["<|endoftext|>", "<|x y|>", "<|x", "\n\n\n", "é's"]


def cut_at(text: str, specials: Sequence[str]) -> Iterator[str]:
    """The texts between special tokens; of two at one place the longer one counts."""
    start = position = 0
    while position < len(text):
        found = [special for special in specials if text.startswith(special, position)]
        if found:
            yield text[start:position]
            start = position = position + len(max(found, key=lambda token: len(token.encode())))
        else:
            position += 1
    yield text[start:]


@given(
    st.lists(st.sampled_from([*SPECIALS, "a", " ", "\n", "word", "'s", "<|", "12", "é"])),
    st.sampled_from(PATTERNS),
)
def test_special_tokens_cut_texts_and_are_not_counted(
    pieces: list[str], pattern: str | None
) -> None:
    text = "".join(pieces)
    counts = mw.count([text], pattern=pattern, special_tokens=SPECIALS)
    assert counts == mw.count(cut_at(text, SPECIALS), pattern=pattern)


@pytest.mark.parametrize("pattern", NAMED)
def test_special_tokens_at_the_borders_of_blocks(pattern: str, tmp_path: Path) -> None:
    special = "<|a b\n c'd 12|>"
    for shift in range(-len(special) - 2, 4):
        for filler in ("x", " ", "1 "):
            before = (filler * BLOCK)[: BLOCK + shift]
            path = write_text(tmp_path / "text.txt", f"{before}{special}and {special}more")
            expected = mw.count([before, "and ", "more"], pattern=pattern)
            assert mw.count_files(path, pattern=pattern, special_tokens=[special]) == expected


def test_many_special_tokens_in_a_large_file(tmp_path: Path) -> None:
    random = Random(5)  # noqa: S311
    pieces = [*SPECIALS, "a", " ", "\n", "word ", "'s", "<|", "12", "é", " <|endoftext"]
    text = "".join(random.choices(pieces, k=200_000))
    path = write_text(tmp_path / "text.txt", text)
    for pattern in ("gpt2", "o200k"):
        expected = mw.count(cut_at(text, SPECIALS), pattern=pattern)
        counts = mw.count_files(path, pattern=pattern, special_tokens=SPECIALS, num_threads=2)
        assert counts == expected


def test_special_tokens_may_not_be_empty_equal_or_one_string() -> None:
    with pytest.raises(ValueError, match="not empty"):
        mw.count(["a"], special_tokens=[""])
    with pytest.raises(ValueError, match="twice"):
        mw.count(["a"], special_tokens=["<a>", "<a>"])
    with pytest.raises(TypeError, match="list of strings"):
        mw.count(["a"], special_tokens="<a>")


# Normalisation and invalid bytes.


@pytest.mark.parametrize("normalize", ["nfc", "nfkc"])
@given(text=st.one_of(nasty_texts(), st.text("e\u0301\u0327ﬁ½Å…한ᄒ\u1161\u11ab １K")))
def test_normalized_texts_count_as_those_of_unicodedata(normalize: Form, text: str) -> None:
    for pattern in ("cl100k", "o200k", None):
        counts = mw.count([text], pattern=pattern, normalize=normalize)
        expected = mw.count([normalized(normalize, text)], pattern=pattern)
        assert words_of(counts) == words_of(expected)
        assert counts.normalize == normalize


def test_bytes_that_are_not_utf8_are_not_normalized() -> None:
    counts = mw.count([b"\xffe\xcc\x81\xcc"], pattern=None, normalize="nfc")
    assert words_of(counts) == {b"\xff\xc3\xa9\xcc": 1}


def test_strict_names_the_document_and_the_offset() -> None:
    texts = [b"good", b"gut", b"caf\xc3\xa9 \xff bad"]
    with pytest.raises(ValueError, match=r"document 2.*\b6\b"):
        mw.count(texts, errors="strict", num_threads=1)
    assert mw.count(texts[:2], errors="strict") == mw.count(texts[:2])


@pytest.mark.parametrize("offset", [0, 5, 16_384, 99_999])
def test_strict_names_the_document_and_the_offset_by_any_thread(offset: int) -> None:
    good = b"one t\xc3\xb6o\nthree " * 6_000
    text = good[:offset].decode("utf-8", "ignore").encode().ljust(offset) + b"\xe2\x82 on" + good
    for num_threads in (1, 2, 16):
        with pytest.raises(ValueError, match=rf"\b1\b.*\b({offset}|{offset:,})\b"):
            mw.count([good, text, b"\xff"], errors="strict", num_threads=num_threads)


@pytest.mark.parametrize("offset", [0, 5, BLOCK - 1, BLOCK, BLOCK + 77, 2 * BLOCK + 1])
@pytest.mark.parametrize("documents", ["file", "lines"])
@pytest.mark.parametrize("special_tokens", [[], ["<|x|>"]])
def test_strict_names_the_file_and_the_offset(
    offset: int, documents: Literal["file", "lines"], special_tokens: list[str], tmp_path: Path
) -> None:
    good = b"one <|x|> t\xc3\xb6o\nthree "
    text = (good * BLOCK)[:offset].decode("utf-8", "ignore").encode().ljust(offset) + b"\xe2\x82 on"
    write_text(tmp_path / "a.txt", good)
    path = write_text(tmp_path / "b.txt", text)
    with pytest.raises(ValueError, match=rf"b\.txt.*\b({offset}|{offset:,})\b"):
        mw.count_files(
            tmp_path, errors="strict", documents=documents, special_tokens=special_tokens
        )
    zipped = path.with_suffix(".gz")
    zipped.write_bytes(gzip.compress(text, 1))
    with pytest.raises(ValueError, match=rf"b\.gz.*\b({offset}|{offset:,})\b"):
        mw.count_files(zipped, errors="strict", documents=documents, special_tokens=special_tokens)


@given(st.lists(st.sampled_from([b"\xff", b"\xe2\x82", b"a", b" ", "é".encode()])).map(b"".join))
def test_replace_counts_what_python_would_decode(text: bytes) -> None:
    for pattern in ("gpt2", None):
        expected = mw.count([text.decode("utf-8", "replace")], pattern=pattern)
        assert mw.count([text], pattern=pattern, errors="replace") == expected


# Sources.

TEXTS = ["The first document.\n", "Das zweite, mit Ümläuten", "", "第三", 'with "quotes"\tand\\']


def jsonl(texts: Sequence[str | None], field: str = "text") -> bytes:
    records = [{"id": i, field: text, "more": [1, {}]} for i, text in enumerate(texts)]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


WRITERS: dict[str, Callable[[Path], object]] = {
    "a.jsonl": lambda path: path.write_bytes(jsonl(TEXTS)),
    "a.ndjson": lambda path: path.write_bytes(b"\n" + jsonl(TEXTS) + b"  \n"),
    "a.jsonl.gz": lambda path: path.write_bytes(gzip.compress(jsonl(TEXTS))),
    "a.jsonl.zst": lambda path: path.write_bytes(zstandard.compress(jsonl(TEXTS))),
    "a.JSONL.GZ": lambda path: path.write_bytes(gzip.compress(jsonl(TEXTS))),
    "a.parquet": lambda path: pq.write_table(pa.table({"text": TEXTS}), path, row_group_size=2),
    "b.parquet": lambda path: pq.write_table(
        pa.table({"id": range(5), "text": pa.array(TEXTS, pa.large_string())}), path
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_records(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    for pattern in ("cl100k", None):
        expected = mw.count(TEXTS, pattern=pattern)
        assert mw.count_files(tmp_path / name, pattern=pattern) == expected
        assert mw.count_files(str(tmp_path), pattern=pattern) == expected


@pytest.mark.parametrize("documents", ["file", "lines"])
@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_text(
    suffix: str, frames: int, documents: Literal["file", "lines"], tmp_path: Path
) -> None:
    text = (OPTICKS + AWKWARD["lines with CRLF"]).encode()
    size = len(text) // frames + 1
    compress = gzip.compress if suffix == "gz" else zstandard.compress
    parts = [compress(text[i : i + size]) for i in range(0, len(text), size)]
    path = write_text(tmp_path / f"text.txt.{suffix}", b"".join(parts))
    plain = write_text(tmp_path / "plain.txt", text)
    for num_threads in (1, 16):
        counts = mw.count_files(path, documents=documents, num_threads=num_threads)
        assert counts == mw.count_files(plain, documents=documents)


def test_records_that_python_writes(tmp_path: Path) -> None:
    """Numbers that JSON does not have, a mark at the beginning, characters with and without \\u."""
    records: list[dict[str, Any]] = [
        {"score": float("nan"), "text": 'NaN "Infinity" é'},
        {"text": "\U0001f600\u2028\x00", "n": [-float("inf"), 10**400]},
    ]
    lines = [json.dumps(record) for record in records]
    lines += [json.dumps(record, ensure_ascii=False) for record in records]
    write_text(tmp_path / "a.jsonl", "\ufeff" + "\r\n".join(lines))
    expected = mw.count([record["text"] for record in records * 2], pattern=None)
    assert mw.count_files(tmp_path, pattern=None) == expected


def test_another_field(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(jsonl(TEXTS, "content"))
    pq.write_table(pa.table({"content": TEXTS}), tmp_path / "b.parquet")
    assert mw.count_files(tmp_path, field="content") == mw.count(TEXTS + TEXTS)


def test_an_arrow_array_of_nulls_has_no_words() -> None:
    for nulls in (pa.nulls(3), pa.nulls(0), pa.chunked_array([pa.nulls(2), pa.nulls(1)])):
        assert mw.count(nulls).num_words == 0
    tok = mw.train(mw.count(["a a"]), num_merges=0)
    assert tok.encode_batch(pa.nulls(3)) == tok.encode_batch(pa.array([None] * 3, pa.string()))


def test_null_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(jsonl(["a", None, "b"]))
    pq.write_table(pa.table({"text": ["a", None, "b"]}), tmp_path / "b.parquet")
    assert words_of(mw.count_files(tmp_path, pattern=None)) == {b"a": 2, b"b": 2}


@pytest.mark.parametrize("num_threads", [1, 2, 16])
def test_columns_of_many_files_and_row_groups(num_threads: int, tmp_path: Path) -> None:
    texts = [[f"{line} of file {file}" for line in range(100 * file)] for file in range(7)]
    for file, lines in enumerate(texts):
        table = pa.table({"more": range(len(lines)), "text": pa.array(lines, pa.string())})
        pq.write_table(table, tmp_path / f"{file}.parquet", row_group_size=30)
    seen: list[int] = []
    counts = mw.count_files(
        tmp_path, num_threads=num_threads, progress=lambda done, _: seen.append(done)
    )
    assert counts == mw.count(line for lines in texts for line in lines)
    assert seen == sorted(seen)


def not_utf8(*texts: bytes | None) -> pa.Table:
    """A table that says it holds text, whatever it holds: pyarrow writes and reads it unseen."""
    return pa.table({"text": pa.array(texts, pa.binary()).view(pa.string())})


@pytest.mark.parametrize("num_threads", [1, 2])
def test_columns_that_are_not_utf8(num_threads: int, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(not_utf8(b"good", None, b"b\xffd", b"more"), path, row_group_size=3)
    kept = mw.count_files(path, pattern=None, num_threads=num_threads)
    assert words_of(kept) == {b"good": 1, b"b\xffd": 1, b"more": 1}
    replaced = mw.count_files(path, pattern=None, errors="replace", num_threads=num_threads)
    assert words_of(replaced) == {b"good": 1, "b\ufffdd".encode(): 1, b"more": 1}
    message = r"a\.parquet: row 0 and on: document 2: invalid UTF-8 at byte 1"
    with pytest.raises(ValueError, match=message):
        mw.count_files(path, pattern=None, errors="strict", num_threads=num_threads)


def test_a_damaged_column_among_good_ones_is_named(tmp_path: Path) -> None:
    for name in "abc":
        table = pa.table({"text": [f"{name} {line}" for line in range(1000)]})
        pq.write_table(table, tmp_path / f"{name}.parquet", write_page_checksum=True)
    data = bytearray((tmp_path / "b.parquet").read_bytes())
    data[len(data) // 3] ^= 1
    (tmp_path / "b.parquet").write_bytes(data)
    for num_threads in (1, 16):
        with pytest.raises((FormatError, OSError), match=r"b\.parquet"):
            mw.count_files(tmp_path, num_threads=num_threads)


def test_all_sources_in_one_call(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        (tmp_path / "records" / "deep").mkdir(parents=True, exist_ok=True)
        write(tmp_path / "records" / "deep" / name)
    texts = [write_text(tmp_path / f"{i}.txt", text) for i, text in enumerate(TEXTS)]
    zipped = tmp_path / "z.txt.gz"
    zipped.write_bytes(gzip.compress(b"zipped text"))
    expected = mw.count([*TEXTS * (len(WRITERS) + 2), "zipped text"])
    paths: list[Path | str] = [texts[0]]
    paths += [tmp_path / "records", texts[1], zipped, str(tmp_path / "*.txt"), *texts[2:]]
    for num_threads in (1, 2, 16):
        assert mw.count_files(paths, num_threads=num_threads) == expected


def test_globs(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write_text(tmp_path / "a.txt", "a")
    write_text(tmp_path / "below" / "b.txt", "b")
    write_text(tmp_path / "below" / "c.md", "c")
    assert words_of(mw.count_files(str(tmp_path / "**" / "*.txt"))) == {b"a": 1, b"b": 1}
    assert words_of(mw.count_files(str(tmp_path / "*"))).keys() >= {b"a"}
    odd = write_text(tmp_path / "odd[1]*.txt", "odd")
    assert words_of(mw.count_files(odd)) == {b"odd": 1}


@pytest.mark.parametrize("documents", ["file", "lines"])
def test_standard_input(documents: Literal["file", "lines"], tmp_path: Path) -> None:
    text = OPTICKS.encode()
    code = "mw.count_files('-', documents=sys.argv[1]).save(sys.argv[2])"
    out = tmp_path / "out.counts"
    run_python(code, documents, str(out), stdin=text)
    plain = write_text(tmp_path / "a.txt", text)
    assert mw.WordCounts.from_file(out) == mw.count_files(plain, documents=documents)


def test_iterables_of_texts() -> None:
    expected = mw.count(["é", "b"])
    assert mw.count(("é", "b")) == expected
    assert mw.count(text for text in ("é", "b")) == expected
    assert mw.count({"é": 1, "b": 2}) == expected
    assert mw.count(["é".encode(), "b"]) == expected
    assert mw.count(pa.array(["é", "b"]).to_pylist()) == expected


def test_arrow_arrays() -> None:
    expected = mw.count(["é", "b", "b"])
    for kind in (pa.string(), pa.large_string(), pa.binary()):
        assert mw.count(pa.array(["é", "b", "b"], kind)) == expected
    assert mw.count(pa.chunked_array([["é"], ["b", "b"]])) == expected


def test_an_iterable_that_fails_passes_its_exception_on() -> None:
    def texts() -> Iterator[str]:
        yield "a"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        mw.count(texts())


# What is refused.


def test_one_text_is_no_iterable_of_texts() -> None:
    with pytest.raises(TypeError, match=r"found one str; hint: count\(\[text\]\)"):
        mw.count("text")
    with pytest.raises(TypeError, match="found one bytes"):
        mw.count(b"text")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [1, None, ["a"], bytearray(b"a")])
def test_other_types_are_no_text(wrong: object) -> None:
    with pytest.raises(TypeError, match="str or bytes"):
        mw.count(["a", wrong])  # type: ignore[list-item]


def test_lone_surrogates_are_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        mw.count(["a\ud800"])


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.txt", "a")
    with pytest.raises(ValueError, match=r"normalize.*nfc.*nfd"):
        mw.count(["a"], normalize="nfd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"errors.*strict.*ignore"):
        mw.count(["a"], errors="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"num_threads.*-1"):
        mw.count(["a"], num_threads=-1)
    with pytest.raises(ValueError, match=r"documents.*lines.*words"):
        mw.count_files(path, documents="words")  # type: ignore[arg-type]
    for wrong in (1.5, "2"):
        with pytest.raises(TypeError):
            mw.count(["a"], num_threads=wrong)  # type: ignore[arg-type]


def test_too_many_threads_do_not_end_the_process() -> None:
    code = (
        "try:\n"
        "    print(mw.count(['a b'], num_threads=10**12).num_words)\n"
        "except (ValueError, OverflowError, MemoryError):\n"
        "    print(2)"
    )
    assert run_python(code) == "2\n"


def test_a_wrong_option_is_refused_though_no_file_is_of_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(jsonl(TEXTS))
    with pytest.raises(ValueError, match=r"documents.*words"):
        mw.count_files(tmp_path, documents="words")  # type: ignore[arg-type]


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", str(tmp_path / "*.txt"), tmp_path / "no" / "file.parquet"):
        with pytest.raises(FileNotFoundError) as caught:
            mw.count_files([path])
        assert caught.value.filename == str(path)


@pytest.mark.parametrize("given", [".", "./-", "*"])
def test_a_file_may_have_the_name_of_standard_input(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("./-").absolute(), "a b")
    assert mw.count_files(given) == mw.count(["a b"])


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty" / "emptier").mkdir(parents=True)
    with pytest.raises((OSError, ValueError), match="empty"):
        mw.count_files(tmp_path / "empty")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.txt", "a")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(PermissionError) as caught:
        mw.count_files(path)
    assert caught.value.filename == str(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux")
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Reading at the address 0 of a process fails, for root too."""
    (tmp_path / "a.txt").symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match=r"a\.txt"):
        mw.count_files([tmp_path / "a.txt"])


@pytest.mark.parametrize(
    "name", ["a.txt.bz2", "a.jsonl.XZ", "a.tar.gz", "a.gz.zst", "a.parquet.gz"]
)
def test_compressions_that_are_not_read_are_no_text(name: str, tmp_path: Path) -> None:
    write_text(tmp_path / name, "low lower")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(InputError, match=f"{name}: found a compression that is not read"):
            mw.count_files(path)


def test_an_empty_file_counts_nothing(tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl"):
        write_text(tmp_path / name, "")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "d.txt.zst").write_bytes(zstandard.compress(b""))
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "e.parquet")
    counts = mw.count_files(tmp_path)
    assert (counts.num_words, counts.num_unique, counts.num_symbols) == (0, 0, 0)


def damaged(data: bytes) -> dict[str, bytes]:
    middle = len(data) // 2
    changed = bytearray(data)
    changed[middle] ^= 0x55
    return {
        "half": data[:middle],
        "without its last byte": data[:-1],
        "a few bytes": data[:5],
        "another byte": bytes(changed),
        "something else": b"something else " * 10,
    }


DAMAGES = [*damaged(b"123456")]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name", ["a.txt.gz", "a.txt.zst", "a.jsonl.gz", "a.jsonl.zst", "a.parquet"]
)
def test_damaged_files(name: str, damage: str, tmp_path: Path) -> None:
    good = tmp_path / "good"
    random = Random(6)  # noqa: S311
    texts = ["".join(random.choices("abcdefghij ", k=200)) for _ in range(100)]
    text = jsonl(texts) if "jsonl" in name else "".join(texts).encode()
    if name.endswith("gz"):
        good.write_bytes(gzip.compress(text))
    elif name.endswith("zst"):
        good.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(text))
    else:
        pq.write_table(pa.table({"text": texts}), good, write_page_checksum=True)
    data = damaged(good.read_bytes())[damage]
    path = write_text(tmp_path / name, data)
    with pytest.raises((FormatError, OSError), match=name.replace(".", r"\.")):
        mw.count_files(path)


def test_a_window_that_is_too_large_is_no_damage(tmp_path: Path) -> None:
    wide = zstandard.ZstdCompressionParameters.from_level(1, window_log=28)
    frame = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    path = write_text(tmp_path / "a.txt.zst", frame.compress(b"low") + frame.flush())
    message = r"a\.txt\.zst: found a zstd frame with a window of more than 128 MB at byte 0"
    with pytest.raises(FormatError, match=message) as caught:
        mw.count_files(path)
    assert caught.value.hint == "use_smaller_window"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", r"line 3: found no JSON"),
        (b"not json", r"line 3: found no JSON"),
        (b'["a"]', r"line 3: found a JSON list, expected an object"),
        (b'"a"', r"line 3: found a JSON str, expected an object"),
        (b'{"body": "a", "n": 1}', r"line 3: found the fields 'body', 'n', expected 'text'"),
        (b"{}", r"line 3: found the fields none, expected 'text'"),
        (b'{"text": 3}', r"line 3: 'text' is a int, expected a string"),
        (b'{"text": ["a"]}', r"line 3: 'text' is a list, expected a string"),
        (
            b'{"text": "\xff"}',
            r"line 3: found no JSON \(invalid unicode code point at column 1\d\)",
        ),
        (
            b'{"text": "\\ud800"}',
            r"line 3: found a lone surrogate at column 1\d, which no text can hold",
        ),
        (
            b'{"text": "\\ude00"}',
            r"line 3: found a lone surrogate at column 1\d, which no text can hold",
        ),
        (b'{"text": "a"} {"text": "b"}', r"line 3: found no JSON"),
        (b"[" * 100_000, r"line 3"),
    ],
)
def test_wrong_records(line: bytes, message: str, tmp_path: Path) -> None:
    data = b'{"text": "a"}\n\n' + line + b"\n"
    path = write_text(tmp_path / "a.jsonl", data)
    with pytest.raises(FormatError, match=rf"a\.jsonl: {message}"):
        mw.count_files(path)
    path = write_text(tmp_path / "b.jsonl.gz", gzip.compress(data))
    with pytest.raises(FormatError, match=rf"b\.jsonl\.gz: {message}"):
        mw.count_files(path)
    with pytest.warns(UserWarning, match=rf"no records, left out: 1; the first: .*gz: {message}"):
        assert mw.count_files(path, skip_bad=True) == mw.count(["a"])


@pytest.mark.parametrize("num_threads", [1, 4])
def test_wrong_records_are_counted_and_the_first_is_told(num_threads: int, tmp_path: Path) -> None:
    texts = [f"text {number} of a file" for number in range(60_000)]
    lines = jsonl(texts).splitlines(keepends=True)
    paths, kept = [], []
    for number, wrong in enumerate([(), (7, 40_000), (0, 59_999)]):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"".join(b"{" * (at in wrong) + line for at, line in enumerate(lines)))
        paths.append(path)
        kept += [text for at, text in enumerate(texts) if at not in wrong]
    with pytest.warns(UserWarning, match=r"left out: 4; the first: .*1\.jsonl: line 8: ") as told:
        found = mw.count_files(paths, skip_bad=True, num_threads=num_threads)
    assert len(told) == 1
    assert found == mw.count(kept)


def test_wrong_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(FormatError, match=r"a\.parquet: found the columns 'body', 'n'.*'text'"):
        mw.count_files(tmp_path)
    with pytest.raises(FormatError, match=r"a\.parquet: the column 'n' holds int64"):
        mw.count_files(tmp_path, field="n")
