"""Row groups that are read at once, in order: what waits, what fails, and the ids of many files."""

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

NUM_BATCHES = 30


@pytest.mark.parametrize("num_threads", [0, 1, 4, 16, 64])
def test_batches_come_in_order_and_few_wait(num_threads: int) -> None:
    num_batches = [number % 4 * NUM_BATCHES for number in range(9)]
    num_read, num_taken, most = 0, 0, 0
    lock = threading.Lock()

    def row_group(number: int) -> Iterator[tuple[int, int]]:
        nonlocal num_read, most
        for batch in range(num_batches[number]):
            with lock:
                num_read += 1
                most = max(most, num_read - num_taken)
            yield number, batch

    found = []
    for batch in parquet.read_in_order(map(row_group, range(9)), num_threads):
        found.append(batch)
        with lock:
            num_taken += 1
    assert found == [(number, batch) for number in range(9) for batch in range(num_batches[number])]
    assert most <= max(parquet.MOST_AHEAD, num_threads // 2) + 1


def test_row_groups_are_read_at_once() -> None:
    meeting = threading.Barrier(4, timeout=60)

    def row_group(number: int) -> Iterator[int]:
        meeting.wait()
        yield number

    assert [*parquet.read_in_order(map(row_group, range(8)), 16)] == [*range(8)]


def test_what_fails_is_raised_in_its_turn() -> None:
    is_failed = threading.Event()

    def row_group(number: int) -> Iterator[int]:
        if number == 2:
            is_failed.set()
            raise OSError("cannot be read")
        is_failed.wait(60)
        yield from range(NUM_BATCHES)

    batches = parquet.read_in_order(map(row_group, range(9)), 16)
    found = [next(batches) for _ in range(2 * NUM_BATCHES)]
    assert found == [*range(NUM_BATCHES)] * 2
    with pytest.raises(OSError, match="cannot be read"):
        next(batches)


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
