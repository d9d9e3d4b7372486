"""A real Spark: the counts and shards of one machine, whatever fails on the way."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cluster_texts
import pyarrow as pa
import pytest
from command_line import call

import mergewise as mw
from mergewise.cluster import on_spark
from mergewise.cluster import task as cluster_task
from mergewise.cluster.shards import ShardTask
from mergewise.errors import ClusterError

pytest.importorskip("pyspark", reason="pyspark is not installed: make test-cluster does that")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java: apt-get install default-jre-headless", allow_module_level=True)

pytestmark = [
    pytest.mark.cluster,
    # What pyspark says of other packages' versions.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    # Two threads; a task may fail three times.
    builder = SparkSession.builder.master("local[2,4]").appName("mergewise")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@cluster_texts.each_text_in_partitions
def test_counts_are_those_of_count_files_on_parquet(
    spark: Any, text: str, num_partitions: int, tmp_path: Path
) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.TEXTS[text](), tmp_path, 2)
    frame = spark.read.parquet(*paths).repartition(num_partitions)
    counted = mw.cluster.count_spark(frame)
    cluster_texts.check_equal(counted, mw.count_files(paths), tmp_path)


@cluster_texts.each_text_in_partitions
def test_counts_are_those_of_count_files_on_text(
    spark: Any, text: str, num_partitions: int, tmp_path: Path
) -> None:
    paths = cluster_texts.write_files(cluster_texts.TEXTS[text](), tmp_path, 9)
    frame = spark.read.text(paths, wholetext=True).repartition(num_partitions)
    counted = mw.cluster.count_spark(frame, column="value", pattern="gpt2", memory_limit=1 << 16)
    cluster_texts.check_equal(counted, mw.count_files(paths, pattern="gpt2"), tmp_path)


def test_a_task_that_fails_twice_and_a_worker_that_is_killed(spark: Any, tmp_path: Path) -> None:
    from pyspark import TaskContext  # noqa: PLC0415

    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 1)
    log = tmp_path / "attempts"
    log.mkdir()

    def fail_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Hand out some batches, then break, in another way each time."""
        context = TaskContext.get()
        assert context is not None
        attempt = context.attemptNumber()
        (log / f"{context.partitionId()}-{attempt}").touch()
        yield next(batches)
        if attempt == 0:
            raise RuntimeError("fails in the middle")
        if attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    frame = spark.read.parquet(*paths).repartition(2).mapInArrow(fail_at_first, "text string")
    counted = mw.cluster.count_spark(frame, memory_limit=1 << 16)
    cluster_texts.check_equal(counted, mw.count_files(paths), tmp_path)
    assert {path.name for path in log.iterdir()} == {"0-0", "0-1", "0-2", "1-0", "1-1", "1-2"}


def test_empty_partitions_and_null_rows(spark: Any) -> None:
    frame = spark.createDataFrame([("to be",), (None,), ("",), ("or not",)], "text string")
    counted = mw.cluster.count_spark(frame.repartition(7))
    assert counted == mw.count(["to be", "or not"])
    assert mw.cluster.count_spark(frame.filter("false")) == mw.count([])


def test_what_is_no_text_is_refused_before_anything_runs(spark: Any) -> None:
    frame = spark.createDataFrame([(1, "a")], "number int, other string")
    with pytest.raises(TypeError, match="'number' holds int, expected string or binary"):
        mw.cluster.count_spark(frame, column="number")
    with pytest.raises(ValueError, match="the columns 'number', 'other', expected 'text'"):
        mw.cluster.count_spark(frame)


def test_a_workers_error_reaches_the_driver_in_one_line(spark: Any) -> None:
    frame = spark.createDataFrame([(b"a",), (b"\xff",)], "text binary").coalesce(1)
    assert mw.cluster.count_spark(frame).num_symbols == 2
    with pytest.raises(ClusterError, match="a worker failed: document 1: invalid UTF-8 at byte 0"):
        mw.cluster.count_spark(frame, errors="strict")


def test_another_version_on_a_worker_is_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_task, "VERSION", "0.0.0")
    frame = spark.createDataFrame([("a",)], "text string")
    with pytest.raises(ClusterError, match=r"has mergewise .*, the driver 0\.0\.0; hint: install"):
        mw.cluster.count_spark(frame)


def test_pruning_tells_what_it_left_out(spark: Any, tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    counted = mw.cluster.count_spark(spark.read.parquet(*paths), min_count=3)
    expected = mw.count_files(paths).prune(3)
    assert expected.dropped_symbols > 0
    cluster_texts.check_equal(counted, expected, tmp_path)


def test_counts_written_by_spark_are_trained_from(spark: Any, tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    counts, trained = tmp_path / "counts", tmp_path / "trained.json"
    work = mw.cluster.Task(pattern="whitespace")
    frame = mw.cluster.map_reduce_spark(spark.read.parquet(*paths), work, min_count=2)
    frame.write.parquet(str(counts))
    expected = mw.count_files(paths, pattern="whitespace").prune(2)
    parts = sorted(counts.glob("*.parquet"))
    cluster_texts.check_equal(mw.WordCounts.from_files(parts), expected, tmp_path)
    for inputs in (parts, [counts], [counts / "*.parquet"]):
        assert call("train", *inputs, "--merges", "50", "-q", "-o", trained).status == 0
        assert mw.Tokenizer.from_file(trained) == mw.train(expected, num_merges=50)


# Shards.


def encode(paths: list[str], folder: Path) -> dict[str, bytes]:
    """The files that Spark makes."""
    folder.mkdir(exist_ok=True)
    mw.cluster.encode_spark(cluster_texts.tokenizer(), paths, folder / "o", **cluster_texts.OPTIONS)
    return cluster_texts.files_in(folder)


@pytest.mark.usefixtures("spark")
def test_shards_are_those_of_encode_files(tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    paths += cluster_texts.write_files(cluster_texts.languages(), tmp_path, 3)
    expected = cluster_texts.expected_shards(paths, tmp_path / "one")
    assert encode(paths, tmp_path / "many") == expected


@pytest.mark.usefixtures("spark")
def test_tasks_of_shards_that_fail_and_are_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    log = tmp_path / "attempts"
    log.mkdir()

    def fail_at_first(task: ShardTask, batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
        """Break before the work, then die after it, and then find that it is done."""
        for batch in batches:
            (number,) = batch.column("id").to_pylist()
            attempt = len(list(log.glob(f"{number}-*")))
            (log / f"{number}-{attempt}").touch()
            if attempt == 0 and number % 2:
                raise OSError("the network is down")
            report = task.make(number)
            if attempt == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield pa.record_batch({"id": [number], "report": [report]})

    monkeypatch.setattr(on_spark, "make_shards", fail_at_first)
    found = encode(paths, tmp_path / "many")
    attempts = {"0-0", "1-0", "1-1", "1-2", "2-0", "3-0", "3-1", "3-2", "4-0"}
    assert {path.name for path in log.iterdir()} == attempts
    assert found == cluster_texts.expected_shards(paths, tmp_path / "one")


@pytest.mark.usefixtures("spark")
def test_an_input_that_cannot_be_read_ends_with_its_error(tmp_path: Path) -> None:
    cluster_texts.check_broken_line(encode, tmp_path)


def test_encoding(spark: Any) -> None:
    tokenizer = mw.train(mw.count(cluster_texts.english()), num_merges=200)
    texts = [*cluster_texts.english()[:50], None, ""]
    rows = list(enumerate(texts))
    frame = spark.createDataFrame(rows, "id int, text string").repartition(3)
    encoded = mw.cluster.encode_dataframe(frame, tokenizer)
    assert encoded.dtypes == [("id", "int"), ("ids", "array<int>")]
    for row in encoded.collect():
        text = texts[row.id]
        assert row.ids == (None if text is None else tokenizer.encode(text))


@pytest.mark.usefixtures("spark")
def test_the_example_of_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cluster_texts.run_example("Spark", tmp_path)
