"""The jobs of bench/cluster.py, each run in a process of its own: one JSON object on stdout.

python bench/cluster_jobs.py files|parquet|archive|spark|spark-archived|ray FOLDER
"""

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mergewise as mw

WORKERS = 2
# Few large tasks: the more text one counts, the fewer words are shuffled more than once.
RAY_BLOCK_BYTES = 1 << 30
# The settings that docs/cluster.md recommends, with its reasons.
RAY_ENVIRONMENT = {"RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "1"}
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
SPARK_SETTINGS = {
    "spark.buffer.size": str(1 << 20),
    "spark.driver.memory": "4g",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.files.maxPartitionBytes": str(1 << 31),
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.parquet.columnarReaderBatchSize": "256",
}


def count_by_files(folder: Path) -> mw.WordCounts:
    """The texts, by the threads of one process."""
    return mw.count_files(
        sorted(folder.glob("*.txt")), documents="lines", num_threads=WORKERS, pattern="cl100k"
    )


def count_by_parquet(folder: Path) -> mw.WordCounts:
    """The same documents as Parquet, by the threads of one process."""
    return mw.count_files(sorted(folder.glob("*.parquet")), num_threads=WORKERS, pattern="cl100k")


def count_by_spark(folder: Path, java_options: str = "") -> mw.WordCounts:
    """The same documents as Parquet, by Spark."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {
        **SPARK_SETTINGS,
        "spark.driver.extraJavaOptions": f"{JAVA_OPTIONS} {java_options}",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
    }
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        builder = SparkSession.builder.master(f"local[{WORKERS}]").config(map=settings)
        spark = builder.config("spark.local.dir", scratch).getOrCreate()
        # Spark starts a job to look at many paths, and another to learn the schema.
        reader = spark.read.schema("text string").option("pathGlobFilter", "*.parquet")
        counts = mw.cluster.count_spark(reader.parquet(str(folder)), pattern="cl100k")
        shuffled = [path for path in Path(scratch).rglob("shuffle_*.data") if path.is_file()]
        num_bytes = sum(path.stat().st_size for path in shuffled)
        say(f"{num_bytes:,} bytes of shuffle files, compressed")
        spark.stop()
    return counts


def archive_classes(folder: Path) -> mw.WordCounts:
    """The same, and the classes that Spark loaded are written as the JVM likes to read them."""
    return count_by_spark(folder, f"-XX:ArchiveClassesAtExit={archive_of(folder)}")


def count_by_archived_spark(folder: Path) -> mw.WordCounts:
    """The same as Parquet, by a Spark whose classes were archived before."""
    return count_by_spark(folder, f"-XX:SharedArchiveFile={archive_of(folder)} -Xshare:on")


def archive_of(folder: Path) -> Path:
    """Where the archive of Spark's classes is."""
    return folder.parent / "spark.jsa"


def say(words: str) -> None:
    """Tells the person who waits."""
    print(words, file=sys.stderr, flush=True)


def count_by_ray(folder: Path) -> mw.WordCounts:
    """The same documents as Parquet, by Ray."""
    os.environ.update(RAY_ENVIRONMENT)
    import ray  # noqa: PLC0415

    ray.init(address="local", num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = RAY_BLOCK_BYTES
    paths = [str(path) for path in sorted(folder.glob("*.parquet"))]
    counts = mw.cluster.count_ray(ray.data.read_parquet(paths), pattern="cl100k")
    ray.shutdown()
    return counts


JOBS: dict[str, Callable[[Path], mw.WordCounts]] = {
    "files": count_by_files,
    "parquet": count_by_parquet,
    "archive": archive_classes,
    "spark": count_by_spark,
    "spark-archived": count_by_archived_spark,
    "ray": count_by_ray,
}


def peak_memory() -> int:
    """The most bytes this process held in memory."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) * 1024


def main(job: str, folder: str) -> None:
    """Runs a job and says what came out."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the engines print
    os.environ["PYSPARK_PYTHON"] = sys.executable
    before = peak_memory()
    started = time.perf_counter()
    counts = JOBS[job](Path(folder))
    seconds = time.perf_counter() - started
    peak = peak_memory()
    with tempfile.TemporaryDirectory() as kept:
        counts.save(Path(kept) / "counts")
        digest = hashlib.sha256((Path(kept) / "counts").read_bytes()).hexdigest()
    facts = {"unique": counts.num_unique, "words": counts.num_words, "sha256": digest}
    json.dump({**facts, "wall": seconds, "driver": peak, "driver_before": before}, answer)
    answer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
