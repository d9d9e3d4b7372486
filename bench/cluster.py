"""Counting on Spark and on Ray with two workers, beside `count_files` with two threads.

    python bench/cluster.py --size 5e9 --work DIR            # text made here
    python bench/cluster.py --text FILE --work DIR           # or one of yours; a line is a document
    python bench/cluster.py --words 1e6 4e6 16e6             # the driver's memory by unique words

The three must come to the same counts, byte for byte, or nothing is written. The tables go to
stdout and into bench/results/cluster.md.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from process_tree import Cost, run
from tables import keep, processor, table
from texts import LETTERS, spelling

RESULTS = Path(__file__).parent / "results" / "cluster.md"
TITLE = """# Counting on clusters

Written by `bench/cluster.py`. Spark and Ray run on this machine with two workers and read Parquet
(snappy); `count_files` reads the same documents with two threads, as text and from the same
Parquet. Spark runs as docs/cluster.md recommends, with and without the archive of its classes,
which a small run made beforehand. CPU s are those of all processes, the JVM, Ray's daemons and
their start included, of the best of the repetitions. The counts of a table's rows are the same
file, byte for byte."""

NAMES = {
    "files": "count_files, text",
    "parquet": "count_files, Parquet",
    "spark": "Spark",
    "spark-archived": "Spark, its classes archived",
    "ray": "Ray",
}
JOBS = Path(__file__).parent / "cluster_jobs.py"
FILE_BYTES = 64_000_000
NUM_WORDS = 200_000
# At this interval two words are written as one: rare words without end, as in real texts.
COMPOUND = 60


def documents(size: int) -> Iterator[bytes]:
    """Lines of words, the word of rank r about r times rarer than the first, and rare compounds."""
    import numpy as np  # noqa: PLC0415

    syllables = ["".join(pair) for pair in ((c + v) for c in LETTERS[0] for v in LETTERS[1])]
    words = [b" " + spelling(rank, syllables) for rank in range(NUM_WORDS)]
    tails = [word[1:] for word in words]
    draw = np.random.default_rng(1)
    while size > 0:
        ranks = np.exp(np.log(NUM_WORDS) * draw.random(500_000)).astype(int)
        text = [words[rank] for rank in ranks.tolist()]
        for place in draw.integers(1, len(text), len(text) // COMPOUND).tolist():
            text[place] = tails[ranks[place]]
        lengths = draw.integers(100, 1200, 2 * len(text) // 1200).tolist()
        rest = iter(text)
        for length in lengths:
            line = b"".join(islice(rest, length))[1:] + b"\n"
            if len(line) > 1 and size > 0:
                size -= len(line)
                yield line


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a text."""
    with path.open("rb") as file:
        yield from file


def write(lines: Iterable[bytes], folder: Path) -> None:
    """Writes each line as a document, into text files and Parquet files of the same documents."""
    lines = iter(lines)
    for number in range(10**6):
        part = list(islice_bytes(lines, FILE_BYTES))
        if not part:
            break
        (folder / f"{number:05}.txt").write_bytes(b"".join(part))
        texts = pa.table({"text": pa.array(part, pa.binary()).cast(pa.string())})
        pq.write_table(texts, folder / f"{number:05}.parquet", row_group_size=1 << 13)
    (folder / "whole").touch()


def islice_bytes(lines: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The next lines, until they have `size` bytes."""
    while size > 0:
        line = next(lines, b"")
        if not line:
            return
        size -= len(line)
        yield line


def unique_words(number: int) -> Iterator[bytes]:
    """Lines that hold each of `number` words once."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    draw = random.Random(1)  # noqa: S311 (not for secrets)
    for first in range(0, number, 1000):
        words = (numeral(n, alphabet) for n in range(first, min(number, first + 1000)))
        yield " ".join(word + draw.choice(alphabet) for word in words).encode() + b"\n"


def numeral(number: int, alphabet: str) -> str:
    """A number in letters, seven at least."""
    letters = ""
    while number or len(letters) < 7:
        number, digit = divmod(number, len(alphabet))
        letters += alphabet[digit]
    return letters


def measure(
    folder: Path, jobs: Iterable[str], repetitions: int = 1
) -> dict[str, tuple[Cost, dict[str, int | float]]]:
    """The cost of each job where it took least CPU, and what it says; all must count the same.

    The jobs take turns, so that a slow minute of the machine is not one job's alone.
    """
    done: dict[str, list[tuple[Cost, dict[str, int | float]]]] = {job: [] for job in jobs}
    for job in [*done] * repetitions:
        cost = run([sys.executable, str(JOBS), job, str(folder)])
        if cost.status != 0:
            raise SystemExit(f"{job}: exit status {cost.status}")
        done[job].append((cost, json.loads(cost.output)))
        print(job, cost.cpu, done[job][-1][1], file=sys.stderr)
    if len({said["sha256"] for runs in done.values() for _, said in runs}) != 1:
        raise SystemExit("the counts differ")
    return {job: min(runs, key=lambda each: each[0].cpu) for job, runs in done.items()}


def archive_classes(folder: Path) -> None:
    """Lets Spark count one file, which leaves an archive of its classes."""
    small = folder.parent / "small"
    small.mkdir(exist_ok=True)
    shutil.copy(min(folder.glob("*.parquet")), small)
    measure(small, ["archive"])


def beside_files(folder: Path, repetitions: int) -> str:
    """The table of the ways to count a folder."""
    size = sum(path.stat().st_size for path in folder.glob("*.txt"))
    archive_classes(folder)
    done = measure(folder, NAMES, repetitions)
    _, said = done["files"]
    rows = [
        [
            NAMES[job],
            f"{cost.cpu:.1f}",
            f"{cost.cpu / done['files'][0].cpu:.2f}",
            f"{cost.cpu / done['parquet'][0].cpu:.2f}",
            f"{said['wall']:.1f}",
            f"{said['driver'] / 1e6:,.0f}",
            f"{cost.peak / 1e6:,.0f}",
        ]
        for job, (cost, said) in done.items()
    ]
    head = [
        "",
        "CPU s",
        "times text",
        "times Parquet",
        "wall s",
        "driver's peak MB",
        "all processes' peak MB",
    ]
    facts = f"{size / 1e9:.2f} GB, {said['words']:,} words, {said['unique']:,} different."
    return f"{facts}\n\n{table(head, rows)}"


def driver_memory(numbers: Iterable[int], work: Path) -> str:
    """The table of the driver's memory by unique words."""
    rows = []
    before: dict[str, dict[str, int | float]] = {}
    for number in numbers:
        folder = work / f"unique-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "whole").exists():
            write(unique_words(number), folder)
        for job, (_, said) in measure(folder, ["spark", "ray"]).items():
            cells = [job, f"{said['unique']:,}", f"{said['driver'] / 1e6:,.0f}"]
            rows.append([*cells, growth(before.get(job), said)])
            before[job] = said
    return table(["", "unique words", "driver's peak MB", "bytes for each further word"], rows)


def growth(before: dict[str, int | float] | None, after: dict[str, int | float]) -> str:
    """The bytes that the driver took for each word more; the packages it imports are in both."""
    if before is None:
        return ""
    num_bytes = after["driver"] - before["driver"]
    return f"{num_bytes / (after['unique'] - before['unique']):.0f}"


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=float, default=1e9, help="of the text made here, in bytes")
    parser.add_argument("--text", type=Path, help="a text to count instead")
    parser.add_argument("--words", nargs="+", type=float, help="measure the driver's memory")
    parser.add_argument("--repetitions", type=int, default=1, help="how many runs; the best counts")
    parser.add_argument("--work", type=Path, help="where texts are made and kept")
    parsed = parser.parse_args()
    versions = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "ray", "pyarrow"))
    options = " ".join("DIR" if Path(word).is_dir() else Path(word).name for word in sys.argv[1:])
    origin = f"`python bench/cluster.py {options}`, {time.strftime('%Y-%m-%d')}, {processor()}."
    with tempfile.TemporaryDirectory() as temporary:
        work = parsed.work or Path(temporary)
        if parsed.words:
            name = "the driver's memory"
            body = driver_memory(map(int, parsed.words), work)
        else:
            text, size = parsed.text, int(parsed.size)
            name = text.stem if text else f"{size / 1e9:g} GB of generated text"
            folder = work / (text.stem if text else f"made-{size}")
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "whole").exists():
                write(lines_of(text) if text else documents(size), folder)
            body = beside_files(folder, parsed.repetitions)
    keep(RESULTS, TITLE, {name: f"{origin} {versions}.\n\n{body}"})
    print(body)


if __name__ == "__main__":
    main()
