"""A real Ray of two nodes: the counts and shards of one machine, whatever fails on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cluster_texts
import pyarrow as pa
import pytest
from command_line import call

import mergewise as mw
from mergewise.cluster import on_ray
from mergewise.cluster import task as cluster_task
from mergewise.cluster.shards import ShardTask
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
# Workers are kept from test to test: starting one takes longer than a test. Ray makes them yield
# to all other programs, on a busy machine for minutes.
SYSTEM = {
    "idle_worker_killing_time_threshold_ms": 600_000,
    "num_workers_soft_limit": 8,
    "worker_niceness": 0,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    head = {**NODE, "include_dashboard": False, "_system_config": SYSTEM}
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


@contextmanager
def killing_a_node(cluster: Any, log: Path, *, holds: bool) -> Iterator[Callable[[], None]]:
    """Kill a node while it runs a task; every task is to call what this yields.

    The first task of that node does not end. With `holds` those of the other node wait until it
    has begun: a node whose workers start slowly would find nothing left to do. Ray Data has them
    run one after the other, on each node in turn, so that there it is certain without.
    """
    log.mkdir()
    doomed = next(node for node in cluster.list_all_nodes() if node is not cluster.head_node)
    lost = log / doomed.node_id

    def wait_for_it() -> None:
        for _ in range(2000):
            if lost.exists():
                break
            time.sleep(0.05)

    def begin() -> None:
        node = ray.get_runtime_context().get_node_id()
        (log / node).touch()
        if holds:
            wait_for_it()
        if node == lost.name:
            time.sleep(100)

    def kill() -> None:
        wait_for_it()
        cluster.remove_node(doomed, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    yield begin
    killer.join()
    survivors = cluster.list_all_nodes()
    cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    assert survivors == [cluster.head_node]
    assert {path.name for path in log.iterdir()} == {lost.name, cluster.head_node.node_id}


def test_a_node_that_is_killed(cluster: Any, tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    with killing_a_node(cluster, tmp_path / "began", holds=False) as begin:

        def begin_to_read(table: pa.Table) -> pa.Table:
            begin()
            return table

        blocks = ray.data.read_parquet(paths).repartition(7)
        dataset = blocks.map_batches(begin_to_read, batch_format="pyarrow", batch_size=None)
        counted = mw.cluster.count_ray(dataset)
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


# Shards.


def encode(paths: list[str], folder: Path) -> dict[str, bytes]:
    """The files that Ray makes."""
    folder.mkdir(exist_ok=True)
    mw.cluster.encode_ray(cluster_texts.tokenizer(), paths, folder / "o", **cluster_texts.OPTIONS)
    return cluster_texts.files_in(folder)


def test_shards_are_those_of_encode_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate(cluster_texts.TEXTS.values()):
        (tmp_path / f"in{number}").mkdir()
        cluster_texts.write_parquet(text(), tmp_path / f"in{number}", 2)
    cluster_texts.write_files(cluster_texts.english(), tmp_path / "in1", 3)
    # Paths that mean something else in the folder of a worker.
    paths = ["in0", "in1/*.txt", "in1/*.parquet", "in2"]
    expected = cluster_texts.expected_shards(paths, tmp_path / "one")
    assert encode(paths, tmp_path / "many") == expected


def test_shards_in_an_object_store(tmp_path: Path) -> None:
    import s3fs  # noqa: PLC0415
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    paths += cluster_texts.write_files(cluster_texts.code(), tmp_path, 2)
    expected = cluster_texts.expected_shards(sorted(paths), tmp_path / "one")
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        options = {"endpoint_url": f"http://{host}:{port}", "key": "k", "secret": "s"}
        store = s3fs.S3FileSystem(**options)
        store.mkdir("bucket")
        for path in paths:
            store.put_file(path, f"bucket/in/{Path(path).name}")
        mw.cluster.encode_ray(
            cluster_texts.tokenizer(),
            "s3://bucket/in",
            "s3://bucket/out/o",
            storage_options=options,
            **cluster_texts.OPTIONS,
        )
        store.invalidate_cache()
        found = {Path(path).name: store.cat_file(path) for path in store.find("bucket/out")}
    finally:
        server.stop()
    manifests = [json.loads(files.pop("o.json")) for files in (found, expected)]
    assert found == expected
    names = [[Path(each["path"]).name for each in one.pop("inputs")] for one in manifests]
    assert names[0] == names[1]
    assert manifests[0] == manifests[1]


def test_a_node_that_is_killed_while_it_makes_shards(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    with killing_a_node(cluster, tmp_path / "began", holds=True) as begin:

        def begin_to_make(task: ShardTask, number: int) -> str:
            begin()
            return task.make(number)

        monkeypatch.setattr(on_ray, "make_shard", begin_to_make)
        found = encode(paths, tmp_path / "many")
    assert found == cluster_texts.expected_shards(paths, tmp_path / "one")


def test_tasks_of_shards_that_fail_and_are_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    log = tmp_path / "attempts"
    log.mkdir()

    def fail_at_first(task: ShardTask, number: int) -> str:
        """Break before the work, then die after it, and then find that it is done."""
        attempt = len(list(log.glob(f"{number}-*")))
        (log / f"{number}-{attempt}").touch()
        if attempt == 0 and number % 2:
            raise OSError("the network is down")
        report = task.make(number)
        if attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return report

    monkeypatch.setattr(on_ray, "make_shard", fail_at_first)
    found = encode(paths, tmp_path / "many")
    attempts = {"0-0", "1-0", "1-1", "1-2", "2-0", "3-0", "3-1", "3-2", "4-0"}
    assert {path.name for path in log.iterdir()} == attempts
    assert found == cluster_texts.expected_shards(paths, tmp_path / "one")


def test_an_input_that_cannot_be_read_ends_with_its_error(tmp_path: Path) -> None:
    cluster_texts.check_broken_line(encode, tmp_path)


def test_a_run_whose_driver_was_killed_goes_on(cluster: Any, tmp_path: Path) -> None:
    paths = cluster_texts.write_parquet(cluster_texts.english(), tmp_path, 2)
    folder = tmp_path / "many"
    folder.mkdir()
    program = f"""
import os, signal, time, ray, cluster_texts, mergewise as mw
from mergewise.cluster import on_ray
def slowly(task, number):
    time.sleep(60 if number == 3 else 0)
    return task.make(number)
on_ray.make_shard = slowly
ray.init(address={cluster.address!r}, log_to_driver=False, logging_level="ERROR")
mw.cluster.encode_ray(cluster_texts.tokenizer(), {paths!r}, {str(folder / "o")!r},
                      **cluster_texts.OPTIONS)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as driver:
        while len(list(folder.glob("o-0*.json"))) < 4 and driver.poll() is None:
            time.sleep(0.05)
        driver.kill()
    kept = {path.name: path.stat().st_ino for path in folder.glob("*.bin")}
    assert len(kept) == 8
    assert encode(paths, folder) == cluster_texts.expected_shards(paths, tmp_path / "one")
    assert kept.items() <= {path.name: path.stat().st_ino for path in folder.iterdir()}.items()


def test_encoding() -> None:
    tokenizer = mw.train(mw.count(cluster_texts.english()), num_merges=200)
    texts = [*cluster_texts.english()[:50], None, ""]
    table = pa.table({"id": range(len(texts)), "text": texts})
    encoded = mw.cluster.encode_dataset(ray.data.from_arrow(table), tokenizer)
    rows = {row["id"]: row["ids"] for row in encoded.take_all()}
    for number, text in enumerate(texts):
        ids = rows[number]
        assert (ids if ids is None else list(ids)) == (
            None if text is None else tokenizer.encode(text)
        )


def test_the_example_of_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cluster_texts.run_example("Ray", tmp_path)
