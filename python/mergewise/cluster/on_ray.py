"""Counting and encoding on Ray."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from mergewise.arguments import check_count
from mergewise.cluster.blocks import count_blocks, num_parts_for, sum_to_rows
from mergewise.cluster.failures import in_one_line
from mergewise.cluster.shards import Encoding, make_shard, plan
from mergewise.cluster.task import Counting, Task, kept
from mergewise.count_tables import batches_in, counts_of, schema_of
from mergewise.counts import WordCounts
from mergewise.encoding import EncodedFile
from mergewise.errors import InputError
from mergewise.optional import import_optional
from mergewise.parquet import import_pyarrow, no_column
from mergewise.sources import PathLike
from mergewise.tokenizer import Tokenizer

if TYPE_CHECKING:
    from ray.data import Dataset
    from typing_extensions import Unpack

# Spark's own number: a task runs four times at most.
MOST_RETRIES = 3


def count_ray(
    dataset: Dataset,
    *,
    min_count: int = 1,
    num_partitions: int | None = None,
    **options: Unpack[Counting],
) -> WordCounts:
    """How often each word occurs in a column of a Ray Dataset; each row is a document.

    The counts are those of `mergewise.count` on the same texts, however Ray divides the work and
    whatever it has to repeat. The driver holds the different words; `min_count` leaves rare ones
    out before they reach it.

    Args:
        dataset: with a column of strings or binary.
        min_count: words with a smaller count are left out; `dropped_symbols` has their bytes.
        num_partitions: the number of partitions in which words are summed; by default the
            number of cores of the cluster.
        options: `column`, `pattern`, `normalize`, `special_tokens`, `errors`, `num_threads` and
            `memory_limit` of `Task`.
    """
    task = Task(**options)
    summed = map_reduce_ray(dataset, task, min_count=min_count, num_partitions=num_partitions)
    with in_one_line():
        tables = summed.iter_batches(batch_size=None, batch_format="pyarrow")
        return WordCounts(counts_of(batches_in(tables), task.fingerprint))


def map_reduce_ray(
    dataset: Dataset, task: Task, *, min_count: int = 1, num_partitions: int | None = None
) -> Dataset:
    """`count_ray` as a Dataset of words and counts; nothing has been computed yet.

    `.write_parquet("counts")` keeps it without the driver; `mergewise train counts/*.parquet` reads
    that.
    """
    ray = import_ray()
    check_count("min_count", min_count, least=1)
    if num_partitions is None:
        num_partitions = max(1, int(ray.cluster_resources().get("CPU", 1)))
    check_count("num_partitions", num_partitions, least=1)
    check_dataset(dataset, task.column)
    whole = {"batch_size": None, "batch_format": "pyarrow", "zero_copy_batch": True}
    texts = dataset.select_columns([task.column])
    count = partial(count_table, task, num_parts_for(num_partitions))
    counted = texts.map_batches(count, num_cpus=max(1, task.num_threads), **whole)
    # Not a group for each part: Ray fails to sort the blocks of a dataset without rows.
    gathered = counted.repartition(num_partitions, keys=["part"])
    return gathered.map_batches(partial(sum_table, task, min_count), **whole)


def encode_ray(
    tokenizer: Tokenizer,
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    shards: int,
    **options: Unpack[Encoding],
) -> EncodedFile:
    """Write the ids of files as shards, each by a task of its own.

    The files and the manifest are those of `Tokenizer.encode_files` with the same arguments, byte
    for byte, whatever fails and is repeated. A run that was stopped goes on: shards that are whole
    are kept.

    Args:
        tokenizer: what encodes.
        paths: files, folders and globs that every machine sees, as for `mergewise.count_files`, or
            URLs that fsspec reads, such as s3://bucket/corpus.
        output: see `Tokenizer.encode_files`; also a URL.
        shards: how many; each has about the same share of the inputs' bytes.
        options: those of `Tokenizer.encode_files` but `shard_tokens` and `progress`;
            `num_threads` of each task, 1 unless given; `storage_options`, what fsspec is told of
            the file systems of URLs.
    """
    ray = import_ray()
    task = plan(tokenizer, paths, output, shards=shards, **options)
    task.begin()
    make = ray.remote(make_shard).options(
        num_cpus=max(1, task.reading.num_threads), max_retries=MOST_RETRIES, retry_exceptions=True
    )
    shared = ray.put(kept(task))
    running = [make.remote(shared, number) for number in task.numbers]
    reports = {}
    waiting = {ref: number for number, ref in enumerate(running)}
    try:
        with in_one_line():
            while waiting:
                (ref,), _ = ray.wait([*waiting], num_returns=1)
                reports[waiting.pop(ref)] = ray.get(ref)
    finally:
        for ref in waiting:
            ray.cancel(ref)
    return task.finish(reports[number] for number in task.numbers)


def encode_dataset(
    dataset: Dataset, tokenizer: Tokenizer, *, column: str = "text", num_threads: int = 1
) -> Dataset:
    """The Dataset with a column `ids` (list<uint32>) in the place of the column of texts.

    A null stays null. Nothing has been computed yet.
    """
    import_ray()
    check_dataset(dataset, column)
    task = Task(column=column, tokenizer=tokenizer, num_threads=num_threads)
    return dataset.map_batches(
        partial(encode_table, kept(task)), batch_format="pyarrow", num_cpus=max(1, num_threads)
    )


def count_table(task: Task, num_parts: int, table: Any) -> Any:  # noqa: ANN401 - a pyarrow.Table
    """The words of a table of texts and their counts, as a table of blocks."""
    pa = import_pyarrow()
    blocks = count_blocks(task, num_parts, table.to_batches())
    # Ray joins the blocks of a partition, which may be more than 2 GB.
    schema = pa.schema([("part", pa.int32()), ("block", pa.large_binary())])
    return pa.Table.from_batches((batch.cast(schema) for batch in blocks), schema)


def sum_table(task: Task, min_count: int, table: Any) -> Any:  # noqa: ANN401 - a pyarrow.Table
    """The words of a table of blocks, each once, with their counts."""
    pa = import_pyarrow()
    rows = sum_to_rows(task, min_count, table.sort_by("part").to_batches())
    return pa.Table.from_batches(rows, schema_of(task.fingerprint))


def encode_table(task: Task, table: Any) -> Any:  # noqa: ANN401 - a pyarrow.Table
    """A table with ids in the place of its texts."""
    return import_pyarrow().Table.from_batches(task.encode(table.to_batches()))


def import_ray() -> Any:  # noqa: ANN401 - a module
    """The package ray, if it has Ray Data."""
    for module in ("ray.data", "ray"):
        ray = import_optional(module, extra="ray", package="Ray Data")
    return ray


def check_dataset(dataset: Dataset, column: str) -> None:
    """Reject a dataset that may lose documents, and a column that is known to be missing."""
    if dataset.context.max_errored_blocks != 0:
        raise ValueError(
            "this dataset may leave out blocks that fail "
            f"(max_errored_blocks is {dataset.context.max_errored_blocks}), expected 0: "
            "documents would be missing without an error"
        )
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None and column not in schema.names:
        raise InputError(no_column(schema.names, column), hint="give column=")
