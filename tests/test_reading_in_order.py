"""Columns that are read at once: in order, what fails, and the ids of many files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mergewise as mw
from mergewise import parquet
from mergewise.demo import opticks
from mergewise.errors import InputError
from mergewise.parquet import Texts
from mergewise.training import make_counter


def some_texts(*texts: str) -> Texts:
    return Texts(pa.array(texts), "here", range(len(texts)))


def test_columns_are_read_at_once() -> None:
    meeting = threading.Barrier(4, timeout=60)

    def column(number: int) -> Iterator[Texts]:
        meeting.wait()
        yield some_texts(f"a b{number}")

    counter = make_counter("whitespace", None, (), "keep", 9)
    counter.add_columns(map(column, range(8)))
    assert mw.WordCounts(counter.finish()) == mw.count(
        [f"a b{n}" for n in range(8)], pattern="whitespace"
    )


def test_columns_may_be_empty_or_all_null() -> None:
    columns = [[], [some_texts("a")], [], [Texts(pa.array([None, "a"]), "there", range(3))], []]
    counter = make_counter("whitespace", None, (), "keep", 3)
    told: list[int] = []
    counter.add_columns(iter(columns), progress=told.append)
    assert mw.WordCounts(counter.finish()) == mw.count(["a", "a"], pattern="whitespace")


@pytest.mark.parametrize("num_threads", [1, 4, 16])
def test_what_the_first_column_raised_is_raised(num_threads: int) -> None:
    is_failed = threading.Event()

    def column(number: int) -> Iterator[Texts]:
        if number == 5:
            is_failed.set()
            raise OSError("the sixth cannot be read")
        yield some_texts("a")
        if number == 2:
            is_failed.wait(60 if num_threads > 4 else 0)
            raise OSError("the third cannot be read")

    counter = make_counter(None, None, (), "keep", num_threads)
    with pytest.raises(OSError, match="the third"):
        counter.add_columns(map(column, range(9)))


def test_what_makes_the_columns_may_raise() -> None:
    def columns() -> Iterator[list[Texts]]:
        yield [some_texts("a")]
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        make_counter(None, None, (), "keep", 2).add_columns(columns())


def test_an_error_names_the_place_of_the_rows() -> None:
    array = pa.array([b"a", None, b"b\xff"]).view(pa.string())
    counter = make_counter("whitespace", None, (), "strict", 2)
    with pytest.raises(InputError, match="here: document 2") as caught:
        counter.add_columns([[some_texts("a"), Texts(array, "here", range(3))]])
    assert caught.value.path == "here"


@pytest.mark.parametrize("num_threads", [1, 4, 16])
def test_ids_of_many_files_are_those_of_their_rows_in_order(
    num_threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    texts = [f"{n} {opticks()[n * 50 : n * 90]}" for n in range(300)]
    tok = mw.train(mw.count(texts), num_merges=100)
    for number in range(5):
        table = pa.table({"text": texts[number * 60 : number * 60 + 60]})
        pq.write_table(table, tmp_path / f"{number}.parquet", row_group_size=25 - number)
    paths = [tmp_path / f"{number}.parquet" for number in range(5)]
    tok.encode_files(paths, tmp_path / "o.npy", num_threads=num_threads)
    assert np.load(tmp_path / "o.npy").tolist() == [i for text in texts for i in tok.encode(text)]
