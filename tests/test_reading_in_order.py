"""Parquet on several threads: in order, what fails first, and the ids of many files."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mergewise as mw
from mergewise.demo import opticks
from mergewise.errors import FormatError, InputError

LONG_ROW = 100_000


def write(path: Path, texts: Sequence[str | None], **options: object) -> Path:
    """A file with one column."""
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path, **options)
    return path


def texts_of(number: int) -> list[str | None]:
    """Some texts, nulls and empty ones among them."""
    texts = opticks().split(". ")[number * 50 : number * 50 + 300]
    return [None if n % 7 == 0 else "" if n % 11 == 0 else text for n, text in enumerate(texts)]


OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {"compression": name} for name in ("none", "snappy", "gzip", "zstd", "lz4", "brotli")},
    "version 2": {"data_page_version": "2.0", "compression": "zstd"},
    "version 2, not compressed": {"data_page_version": "2.0", "compression": "none"},
    "no dictionary": {"use_dictionary": False},
    "lengths apart": {
        "use_dictionary": False,
        "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY"},
    },
    "beginnings apart": {
        "use_dictionary": False,
        "column_encoding": {"text": "DELTA_BYTE_ARRAY"},
    },
    "small pages": {"data_page_size": 500, "write_page_checksum": True, "write_page_index": True},
    "small dictionary": {"dictionary_pagesize_limit": 2000},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_encoding_and_compression_is_read(name: str, tmp_path: Path) -> None:
    texts = texts_of(0)
    path = write(tmp_path / "a.parquet", texts, row_group_size=90, **OPTIONS[name])
    assert pq.read_table(path)["text"].to_pylist() == texts
    expected = mw.count([text for text in texts if text is not None])
    for num_threads in (1, 3):
        assert mw.count_files(path, num_threads=num_threads) == expected


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
@pytest.mark.parametrize("nullable", [True, False])
def test_every_kind_of_texts_is_read(kind: pa.DataType, tmp_path: Path, *, nullable: bool) -> None:
    texts = [text for text in texts_of(0) if nullable or text is not None]
    field = pa.field("text", kind, nullable=nullable)
    array = pa.array(texts, pa.string()).cast(kind)
    table = pa.table([pa.array(range(len(texts))), array], pa.schema([("id", pa.int64()), field]))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=90)
    found = mw.count_files(tmp_path / "a.parquet")
    assert found == mw.count([text for text in texts if text is not None])


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([["a"]]), "lists"),
        (pa.array([{"a": "b"}]), "structures"),
        (pa.array([{"a": 1}], pa.map_(pa.string(), pa.int64())), "structures"),
        (pa.array([b"a"], pa.binary(1)), "binary of a fixed size"),
        (pa.array([Decimal(1)], pa.decimal128(30)), "decimal"),
        (pa.array([1]), "int64"),
        (pa.array([True]), "boolean"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_of_something_else_is_refused(column: pa.Array, kind: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    message = rf"a\.parquet: the column 'text' holds {kind}, expected strings or bytes"
    with pytest.raises(FormatError, match=message):
        mw.count_files(tmp_path / "a.parquet")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_bytes_are_read_as_texts(kind: pa.DataType, tmp_path: Path) -> None:
    texts = [None if text is None else text.encode() for text in texts_of(0)]
    array = pa.array([*texts, b"\xff a"], pa.binary()).cast(kind)
    pq.write_table(pa.table({"text": array}), tmp_path / "a.parquet", row_group_size=90)
    found = mw.count_files(tmp_path / "a.parquet")
    assert found == mw.count([*filter(None, texts), b"\xff a"])


def test_a_column_of_nulls_alone_has_no_documents(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": pa.nulls(5)}), tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", ["a b"])
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet")]
    counts = mw.count_files(paths)
    assert counts == mw.count(["a b"])
    written = mw.train(counts, num_merges=0).encode_files(paths, tmp_path / "o.npy")
    assert (written.num_documents, written.num_tokens) == (1, 3)


@pytest.mark.parametrize("num_threads", [1, 3])
def test_tables_may_have_no_rows_or_no_texts(num_threads: int, tmp_path: Path) -> None:
    rows: list[list[str | None]] = [[], ["a"], [], [None, None], [None, "a"], []]
    paths = [write(tmp_path / f"{n}.parquet", texts) for n, texts in enumerate(rows)]
    pq.ParquetWriter(tmp_path / "7.parquet", pa.schema([("text", pa.string())])).close()
    paths.append(tmp_path / "7.parquet")
    counts = mw.count_files(paths, pattern="whitespace", num_threads=num_threads)
    assert counts == mw.count(["a", "a"], pattern="whitespace")
    tok = mw.train(counts, num_merges=0)
    written = tok.encode_files(paths, tmp_path / "o.npy", num_threads=num_threads)
    assert written.num_documents == 2


@pytest.mark.parametrize("num_threads", [1, 4, 16])
def test_the_first_damaged_file_is_told(num_threads: int, tmp_path: Path) -> None:
    paths = []
    for number in range(9):
        path = write(
            tmp_path / f"{number}.parquet",
            [f"{number} {line}" for line in range(3000)],
            row_group_size=1000,
            use_dictionary=False,
            write_page_checksum=True,
        )
        if number in {3, 5}:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        paths.append(path)
    for _ in range(5):
        with pytest.raises(FormatError, match=r"3\.parquet: .*checksum"):
            mw.count_files(paths, num_threads=num_threads)


@pytest.mark.parametrize("num_threads", [1, 4])
def test_a_file_that_lacks_the_column_is_told(num_threads: int, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{number}.parquet", ["a"]) for number in range(4)]
    pq.write_table(pa.table({"body": ["a"]}), paths[2])
    with pytest.raises(FormatError, match=r"2\.parquet: found the columns 'body'") as caught:
        mw.count_files(paths, num_threads=num_threads)
    assert caught.value.hint == "give_field"


def test_an_error_names_the_place_of_the_rows(tmp_path: Path) -> None:
    texts = [b"a", None] * 2500 + [b"b\xff"]
    array = pa.array(texts, pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": array}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: row 4,096 and on: document 904") as caught:
        mw.count_files(tmp_path / "a.parquet", errors="strict")
    assert caught.value.offset == 1


def test_a_text_that_many_rows_repeat_does_not_fill_the_memory(tmp_path: Path) -> None:
    """A dictionary has it once: the file is small, and its rows have 40 GB."""
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 4096, pa.int32()), ["a " * 5_000_000])
    options = {"dictionary_pagesize_limit": 1 << 30}
    pq.write_table(pa.table({"text": rows}), tmp_path / "a.parquet", **options)
    assert (tmp_path / "a.parquet").stat().st_size < 1_000_000
    stopped_at = 200_000_000

    def stop(done: int, total: int) -> None:
        assert total < stopped_at
        if done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mw.count_files(tmp_path / "a.parquet", pattern="whitespace", progress=stop)


@pytest.mark.parametrize("num_threads", [1, 4, 16])
def test_ids_of_many_files_are_those_of_their_rows_in_order(
    num_threads: int, tmp_path: Path
) -> None:
    # Some rows are so long that few are read at once.
    texts = [f"{n} {opticks()[n * 50 : n * 90]}" for n in range(300)]
    texts += [f"{n} {opticks()[:LONG_ROW]}" for n in range(6)]
    tok = mw.train(mw.count(texts), num_merges=100)
    paths = []
    for number in range(6):
        part = texts[number * 51 : number * 51 + 51]
        paths.append(write(tmp_path / f"{number}.parquet", part, row_group_size=25 - number))
    tok.encode_files(paths, tmp_path / "o.npy", num_threads=num_threads)
    assert np.load(tmp_path / "o.npy").tolist() == [i for text in texts for i in tok.encode(text)]
