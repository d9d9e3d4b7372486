"""Counting and encoding on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from mergewise.arguments import check_count
from mergewise.cluster import blocks
from mergewise.cluster.failures import in_one_line
from mergewise.cluster.shards import Encoding, ShardTask, make_shard, plan
from mergewise.cluster.task import Counting, Task, kept
from mergewise.count_tables import KEY, counts_of
from mergewise.counts import WordCounts
from mergewise.encoding import EncodedFile
from mergewise.errors import InputError
from mergewise.optional import import_optional
from mergewise.parquet import import_pyarrow, no_column
from mergewise.sources import PathLike
from mergewise.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

COUNTS = "word binary, count bigint"
BLOCKS = "part int, block binary"


def count_spark(
    dataframe: DataFrame, *, min_count: int = 1, **options: Unpack[Counting]
) -> WordCounts:
    """How often each word occurs in a column of a Spark DataFrame: see `count_ray`.

    Words are summed in as many partitions as Spark's own settings say.

    Args:
        dataframe: with a column of strings or binary.
        min_count: see `count_ray`.
        options: `column`, `pattern`, `normalize`, `special_tokens`, `errors`, `num_threads` and
            `memory_limit` of `Task`.
    """
    task = Task(**options)
    summed = sum_by_part(dataframe, task, min_count, blocks.sum_to_blocks, BLOCKS)
    with in_one_line():
        batches = summed.toArrow().to_batches()
    summed_blocks = (block for batch in emptied(batches) for block in batch.column("block"))
    rows = blocks.rows_of_blocks(task, summed_blocks)
    return WordCounts(counts_of(rows, task.fingerprint))


def map_reduce_spark(dataframe: DataFrame, task: Task, *, min_count: int = 1) -> DataFrame:
    """`count_spark` as a DataFrame of words and counts; nothing has been computed yet.

    `.write.parquet("counts")` keeps it without the driver; `mergewise train counts/*.parquet` reads
    that.
    """
    functions = import_spark("functions")
    summed = sum_by_part(dataframe, task, min_count, blocks.sum_to_rows, COUNTS)
    # Arrow's metadata does not pass through Spark; a column's does, into Parquet too.
    word = functions.col("word").alias("word", metadata={KEY: task.fingerprint.to_json()})
    return summed.select(word, "count")


def sum_by_part(
    dataframe: DataFrame,
    task: Task,
    min_count: int,
    add: Callable[[Task, int, Iterable[Any]], Iterator[Any]],
    schema: str,
) -> DataFrame:
    """Count in blocks, bring the blocks of each part together, and apply `add` to them."""
    functions = import_spark("functions")
    check_count("min_count", min_count, least=1)
    check_column(dataframe, task.column)
    texts = dataframe.select(functions.col(quoted(task.column)))
    num_partitions = int(dataframe.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
    count = partial(blocks.count_blocks, task, blocks.num_parts_for(num_partitions))
    counted = texts.mapInArrow(count, BLOCKS)
    # No number of partitions here: Spark takes its own setting, and joins small partitions.
    gathered = counted.repartition("part").sortWithinPartitions("part")
    return gathered.mapInArrow(partial(add, task, min_count), schema)


def emptied(batches: list[Any]) -> Iterator[Any]:
    """The batches from the last to the first, each freed after its use."""
    while batches:
        yield batches.pop()


def encode_spark(
    tokenizer: Tokenizer,
    paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    shards: int,
    **options: Unpack[Encoding],
) -> EncodedFile:
    """Write the ids of files as shards, each by a task of the active session: see `encode_ray`."""
    session = import_spark("session").SparkSession.builder.getOrCreate()
    task = plan(tokenizer, paths, output, shards=shards, **options)
    task.begin()
    numbers = session.range(0, shards, 1, shards)
    with in_one_line():
        make = partial(make_shards, kept(task))
        made = numbers.mapInArrow(make, "id bigint, report string").collect()
    return task.finish(row.report for row in sorted(made, key=lambda row: row.id))


def make_shards(task: ShardTask, batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches of numbers of shards to their reports; the shards are made."""
    pa = import_pyarrow()
    for batch in batches:
        numbers = batch.column("id")
        reports = pa.array([make_shard(task, number) for number in numbers.to_pylist()])
        yield pa.RecordBatch.from_arrays([numbers, reports], names=["id", "report"])


def encode_dataframe(
    dataframe: DataFrame, tokenizer: Tokenizer, *, column: str = "text", num_threads: int = 1
) -> DataFrame:
    """The DataFrame with a column `ids` (array<int>) in the place of the column of texts.

    A null stays null. Nothing has been computed yet.
    """
    types = import_spark("types")
    check_column(dataframe, column)
    if tokenizer.vocab_size > 2**31:
        raise ValueError("ids of 2^31 or more do not fit the integers of Spark")
    task = Task(column=column, tokenizer=tokenizer, num_threads=num_threads)
    others = [field for field in dataframe.schema if field.name != column]
    schema = types.StructType(others).add("ids", types.ArrayType(types.IntegerType()))
    return dataframe.mapInArrow(partial(encode_signed, kept(task)), schema)


def encode_signed(task: Task, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches with signed ids of 32 bits, as Spark has no unsigned integers."""
    pa = import_pyarrow()
    for batch in task.encode(batches):
        ids = batch.column("ids").cast(pa.list_(pa.int32()))
        yield batch.drop_columns(["ids"]).append_column("ids", ids)


def import_spark(module: str) -> Any:  # noqa: ANN401 - a module
    """A module of Spark SQL."""
    return import_optional(f"pyspark.sql.{module}", extra="spark", package="pyspark")


def check_column(dataframe: DataFrame, column: str) -> None:
    """Reject a column that is missing or does not hold texts, before anything is computed."""
    if column not in dataframe.columns:
        raise InputError(no_column(dataframe.columns, column), hint="give column=")
    kind = dataframe.schema[column].dataType.simpleString()
    if kind not in {"string", "binary"} and not kind.startswith(("varchar", "char")):
        raise TypeError(f"the column {column!r} holds {kind}, expected string or binary")


def quoted(column: str) -> str:
    """The name of a column that Spark takes as it is, dots and all."""
    return "`" + column.replace("`", "``") + "`"
