"""Counting on a real Ray of two nodes: the counts of count_files, whatever fails on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cluster_texts
import pyarrow as pa
import pytest
from command_line import call

import mergewise as mw
from mergewise.cluster import task as cluster_task
from mergewise.errors import ClusterError

ray = pytest.importorskip("ray", reason="ray is not installed: make test-cluster does that")
pytest.importorskip("ray.data", reason="ray[data] is not installed: make test-cluster does that")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.usefixtures("cluster"),
    # What Ray says of its own settings.
    pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\."),
    # Threads and log files of Ray that end at any time, on a busy machine within a test.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NODE = {"num_cpus": 1, "object_store_memory": 100_000_000}
# Workers are kept from test to test: starting one takes longer than a test.
KEEP = {"idle_worker_killing_time_threshold_ms": 600_000, "num_workers_soft_limit": 8}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    head = {**NODE, "include_dashboard": False, "_system_config": KEEP}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(**NODE)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    nodes.wait_for_nodes()
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@cluster_texts.each_text_in_partitions
def test_counts_are_those_of_count_files_on_parquet(
    text: str, num_partitions: int, tmp_path: Path
) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.TEXTS[text](), tmp_path, 2)
    counted = mw.cluster.count_ray(ray.data.read_parquet(paths).repartition(num_partitions))
    cluster_texts.check_equal(counted, mw.count_files(paths), tmp_path)


@cluster_texts.each_text_in_partitions
def test_counts_are_those_of_count_files_on_text(
    text: str, num_partitions: int, tmp_path: Path
) -> None:
    paths = cluster_texts.write_files(cluster_texts.TEXTS[text](), tmp_path, 9)
    dataset = ray.data.read_binary_files(paths, override_num_blocks=num_partitions)
    counted = mw.cluster.count_ray(dataset, column="bytes", pattern="gpt2", memory_limit=1 << 16)
    cluster_texts.check_equal(counted, mw.count_files(paths, pattern="gpt2"), tmp_path)


def test_a_node_that_is_killed(cluster: Any, tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    log = tmp_path / "began"
    log.mkdir()
    doomed = next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)

    def slowly(table: pa.Table) -> pa.Table:
        (log / ray.get_runtime_context().get_node_id()).touch()
        time.sleep(0.7)
        return table

    def kill() -> None:
        for _ in range(2000):
            if (log / doomed.node_id).exists():
                cluster.remove_node(doomed, allow_graceful=False)
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    blocks = ray.data.read_parquet(paths).repartition(7)
    dataset = blocks.map_batches(slowly, batch_format="pyarrow", batch_size=None)
    counted = mw.cluster.count_ray(dataset)
    killer.join()
    survivors = [node for node in ray.nodes() if node["Alive"]]
    cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    assert doomed.node_id in {path.name for path in log.iterdir()}
    assert [node["NodeID"] for node in survivors] == [cluster.head_node.node_id]
    cluster_texts.check_equal(counted, mw.count_files(paths), tmp_path)


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    log = tmp_path / "died"
    log.mkdir()

    def die_once(table: pa.Table) -> pa.Table:
        mark = log / table.column("text")[0].as_py()[:30].replace("/", " ")
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return table

    blocks = ray.data.read_parquet(paths).repartition(3)
    dataset = blocks.map_batches(die_once, batch_format="pyarrow", batch_size=None)
    counted = mw.cluster.count_ray(dataset)
    assert len(list(log.iterdir())) == 3
    cluster_texts.check_equal(counted, mw.count_files(paths), tmp_path)


def test_empty_blocks_and_null_rows() -> None:
    table = pa.table({"text": ["to be", None, "", "or not"]})
    dataset = ray.data.from_arrow([table, table.slice(0, 0), table.slice(1, 1)])
    assert mw.cluster.count_ray(dataset) == mw.count(["to be", "or not"])
    assert mw.cluster.count_ray(ray.data.from_arrow(table.slice(0, 0))) == mw.count([])


def test_what_is_no_text_is_refused() -> None:
    dataset = ray.data.from_arrow(pa.table({"number": [1, 2]}))
    with pytest.raises(ClusterError, match="'number' holds int64, expected text"):
        mw.cluster.count_ray(dataset, column="number")
    with pytest.raises(ValueError, match="the columns 'number', expected 'text'"):
        mw.cluster.count_ray(dataset)


def test_a_dataset_that_may_lose_blocks_is_refused() -> None:
    dataset = ray.data.from_arrow(pa.table({"text": ["a"]}))
    dataset.context.max_errored_blocks = 3
    with pytest.raises(ValueError, match="max_errored_blocks is 3"):
        mw.cluster.count_ray(dataset)


def test_another_version_on_a_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_task, "VERSION", "0.0.0")
    dataset = ray.data.from_arrow(pa.table({"text": ["a"]}))
    with pytest.raises(ClusterError, match=r"has mergewise .*, the driver 0\.0\.0; hint: install"):
        mw.cluster.count_ray(dataset)


def test_pruning_tells_what_it_left_out(tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    counted = mw.cluster.count_ray(ray.data.read_parquet(paths), min_count=3, num_partitions=5)
    expected = mw.count_files(paths).prune(3)
    assert expected.dropped_symbols > 0
    cluster_texts.check_equal(counted, expected, tmp_path)


def test_pruning_sees_all_of_a_word_however_small_the_blocks_of_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray.data.DataContext.get_current(), "target_max_block_size", 1 << 12)
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    dataset = ray.data.read_parquet(paths).repartition(7)
    counted = mw.cluster.count_ray(dataset, min_count=3, num_partitions=2)
    expected = mw.count_files(paths).prune(3)
    cluster_texts.check_equal(counted, expected, tmp_path)


def test_counts_written_by_ray_are_trained_from(tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    counts, trained = tmp_path / "counts", tmp_path / "trained.json"
    work = mw.cluster.Task(pattern="whitespace")
    dataset = mw.cluster.map_reduce_ray(ray.data.read_parquet(paths), work, min_count=2)
    dataset.write_parquet(str(counts))
    expected = mw.count_files(paths, pattern="whitespace").prune(2)
    parts = sorted(counts.glob("*.parquet"))
    cluster_texts.check_equal(mw.WordCounts.from_files(parts), expected, tmp_path)
    assert call("train", *parts, "--merges", "50", "-q", "-o", trained).status == 0
    assert mw.Tokenizer.from_file(trained) == mw.train(expected, num_merges=50)


def test_encoding() -> None:
    tokenizer = mw.train(mw.count(cluster_texts.english()), num_merges=200)
    texts = [*cluster_texts.english()[:50], None, ""]
    table = pa.table({"id": range(len(texts)), "text": texts})
    encoded = mw.cluster.encode_ray(ray.data.from_arrow(table), tokenizer)
    rows = {row["id"]: row["ids"] for row in encoded.take_all()}
    for number, text in enumerate(texts):
        ids = rows[number]
        assert (ids if ids is None else list(ids)) == (
            None if text is None else tokenizer.encode(text)
        )


def test_the_example_of_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cluster_texts.run_example("Ray", tmp_path)
