"""Blocks: thousands of words with their counts in one value, for an engine that is slow with rows.

The rows of a block are the body of an Arrow record batch. All words of a block belong to one part,
so all blocks of a part, from all workers, hold all counts of its words: the engine brings them
together by the number of the part and never looks inside.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from typing import Any

from mergewise import _core
from mergewise.cluster.task import Task
from mergewise.count_tables import batches_of, counts_of, parts_of, schema_of
from mergewise.parquet import import_pyarrow

# An engine hashes the parts into partitions, which are the more equal the more parts there are.
PARTS_A_PARTITION = 4
# Enough for blocks of about a hundred kilobytes: Spark may send thousands to Python at once.
LEAST_PARTS = 256


def num_parts_for(num_partitions: int) -> int:
    """The number of parts of the words when an engine sums them in `num_partitions`."""
    return max(LEAST_PARTS, PARTS_A_PARTITION * num_partitions)


def count_blocks(task: Task, num_parts: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches with a column of texts to record batches of blocks of counts."""
    for counts in task.counts_of_parts(batches):
        yield from blocks_of(counts, num_parts)


def sum_to_rows(task: Task, min_count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Blocks, sorted by part, to record batches (word: binary, count: int64), each word once."""
    for counts in sums_of_blocks(task, min_count, batches):
        yield from batches_of(counts)


def sum_to_blocks(task: Task, min_count: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Blocks, sorted by part, to blocks, each word once."""
    for counts in sums_of_blocks(task, min_count, batches):
        yield from blocks_of(counts, 1)


def sums_of_blocks(
    task: Task, min_count: int, batches: Iterable[Any]
) -> Iterator[_core.WordCounts]:
    """The counts of each part; of words below `min_count` only their bytes.

    One part after the other: the words of a part fit the processor's cache, those of all do not.
    """
    task.check_version()
    blocks = (row for batch in batches for row in zip(*batch.columns, strict=True))
    for _, rows in groupby(blocks, lambda row: row[0].as_py()):
        counts = counts_of(rows_of_blocks(task, (block for _, block in rows)), task.fingerprint)
        yield counts.prune(min_count) if min_count > 1 else counts


def blocks_of(counts: _core.WordCounts, num_parts: int) -> Iterator[Any]:
    """Record batches (part: int32, block: binary)."""
    pa = import_pyarrow()
    for parts in parts_of(counts, num_parts):
        blocks = [batch.serialize() for batch in parts.values()]
        ends = array("i", accumulate((block.size for block in blocks), initial=0))
        # Buffers, as pyarrow.array imports pandas, which takes a worker longer than a block.
        buffers = [None, *map(pa.py_buffer, (ends, b"".join(blocks)))]
        columns = [
            pa.Array.from_buffers(pa.int32(), len(parts), [None, pa.py_buffer(array("i", parts))]),
            pa.Array.from_buffers(pa.binary(), len(blocks), buffers),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=["part", "block"])


def rows_of_blocks(task: Task, blocks: Iterable[Any]) -> Iterator[Any]:
    """The record batches of counts in blocks."""
    pa = import_pyarrow()
    schema = schema_of(task.fingerprint)
    for block in blocks:
        # A copy is aligned; a value in a column may not be.
        yield pa.ipc.read_record_batch(block.as_py(), schema)
