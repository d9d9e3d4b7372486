"""Shards of ids by Spark and by Ray with two workers, beside `encode_files` with two threads.

    python bench/cluster_encode.py FOLDER --shards 16

FOLDER holds Parquet files with a column `text`, such as bench/cluster.py leaves in its --work. The
three must make the same bytes, manifest included, or nothing is printed. CPU seconds are those of
all processes, the start of the engine included.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from cluster_jobs import JAVA_OPTIONS, WORKERS
from process_tree import run
from tables import table

import mergewise as mw

VOCAB_SIZE = 32_000
TRAINED_ROWS = 4_000


def encode_by_files(tokenizer: mw.Tokenizer, folder: Path, output: Path, shards: int) -> None:
    """By the threads of one process."""
    tokenizer.encode_files(folder, output, shards=shards, num_threads=WORKERS)


def encode_by_spark(tokenizer: mw.Tokenizer, folder: Path, output: Path, shards: int) -> None:
    """By Spark."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
    }
    spark = SparkSession.builder.master(f"local[{WORKERS}]").config(map=settings).getOrCreate()
    mw.cluster.encode_spark(tokenizer, folder, output, shards=shards)
    spark.stop()


def encode_by_ray(tokenizer: mw.Tokenizer, folder: Path, output: Path, shards: int) -> None:
    """By Ray."""
    import ray  # noqa: PLC0415

    ray.init(address="local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    mw.cluster.encode_ray(tokenizer, folder, output, shards=shards)
    ray.shutdown()


JOBS: dict[str, Callable[[mw.Tokenizer, Path, Path, int], None]] = {
    "encode_files": encode_by_files,
    "Spark": encode_by_spark,
    "Ray": encode_by_ray,
}


def digest(folder: Path) -> str:
    """The names and bytes of the files in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def measure(folder: Path, shards: int) -> str:
    """The table of the ways to encode a folder."""
    first = pq.ParquetFile(min(folder.glob("*.parquet")))
    texts: list[Any] = [text for batch in first.iter_batches() for text in batch["text"]]
    counts = mw.count(text.as_py() for text in islice(texts, TRAINED_ROWS))
    rows, digests = [], set()
    costs: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        mw.train(counts, vocab_size=VOCAB_SIZE).save(Path(work, "tokenizer.json"))
        for job in JOBS:
            output = Path(work, job)
            output.mkdir()
            command = [sys.executable, __file__, str(folder), "--shards", str(shards)]
            cost = run([*command, "--job", job, "--work", work])
            if cost.status != 0:
                raise SystemExit(f"{job}: exit status {cost.status}")
            digests.add(digest(output))
            costs[job] = cost.cpu
            ratio = cost.cpu / costs["encode_files"]
            peak = f"{cost.peak / 1e6:,.0f}"
            rows.append([job, f"{cost.cpu:.1f}", f"{ratio:.2f}", f"{cost.wall:.1f}", peak])
            print(rows[-1], file=sys.stderr)
    if len(digests) != 1:
        raise SystemExit("the files differ")
    return table(["", "CPU s", "times encode_files", "wall s", "all processes' peak MB"], rows)


def main() -> None:
    """Measures, or runs one job."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--job", choices=JOBS, help="run this alone, in --work")
    parser.add_argument("--work", type=Path)
    parsed = parser.parse_args()
    if parsed.job is None:
        print(measure(parsed.folder, parsed.shards))
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    tokenizer = mw.Tokenizer.from_file(parsed.work / "tokenizer.json")
    JOBS[parsed.job](tokenizer, parsed.folder, parsed.work / parsed.job / "o.npy", parsed.shards)


if __name__ == "__main__":
    main()
