"""Files to arrays of ids on disk: mergewise against its peers, and by the kinds of files.

    python bench/files.py jsonl inputs threads --corpora DIR --python PEERS/bin/python

DIR holds en.txt; PEERS is an environment with bench/requirements.txt. `jsonl` compares with others,
`inputs` compares `encode_files` on each kind of file with `encode_batch_numpy` on the same
documents, `threads` one thread with as many as there are cores. The tables go to stdout and into
bench/results/files.md.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from encode_peers import ONIGURUMA_PATTERN, SPECIAL_TOKENS, Outcome
from files_peers import (
    COMPETITORS,
    DOCUMENT_SIZE,
    INPUTS,
    ROW_GROUP_SIZE,
    Job,
    Measured,
    Spent,
    prepared,
)
from harness import BENCH, Harness, Row, parse, parser
from measure import Clock, run
from ranks import read_ranks, tokenizer_json
from tables import table, untimed
from texts import Text

from encode import judge

# The tests read the same files.
sys.path.append(str(BENCH.parent / "tests"))
from vocabularies import vocabulary

TITLE = """# Files of ids

Written by `bench/files.py`. English, cl100k, one thread if nothing else is said, each call in a
process of its own with empty caches, the repetitions interleaved; the best one counts. CPU s is
user and system time of the call that reads a file and writes all ids, loading excluded. A row of
peers counts only if the ids and the lengths of documents are those of tokenizers. Reading alone is
decompressing, parsing and making the documents Python objects; `encode_batch_numpy` has these in
memory. The ratio is its time over that of `encode_files` less that of reading."""

TEXT = Text("en", 100_000_000)
JUDGE = "tokenizers megatron"
PEERS_HEAD = ["", "CPU s", "MB/s", "CPU s over mergewise's", "peak MB", "ids"]
INPUTS_HEAD = ["", "CPU s", "MB/s", "reading", "`encode_batch_numpy`", "ratio"]
THREADS_HEAD = ["", "threads", "wall s", "times one thread", "MB/s", "CPU s", "peak MB"]
SECTIONS = {"jsonl": COMPETITORS, "inputs": INPUTS, "threads": INPUTS}


@dataclass(frozen=True)
class Case:
    """The text that is read."""

    text: Text


Peer = Row[Case, Outcome]
Input = Row[Case, Measured]
Alone = Row[Case, tuple[Spent, Spent]]


class FilesHarness(Harness):
    """Measures files to ids."""

    def section(self, name: str, folder: Path) -> str:
        """Measures one table."""
        case = Case(Text(TEXT.kind, int(TEXT.size * self.options.scale)))
        path = case.text.write(self.options.corpora, folder)
        size = path.stat().st_size
        words = f"{size / 1e6:.0f} MB of text; records of {DOCUMENT_SIZE / 1e3:.0f} kB, "
        words += f"row groups of {ROW_GROUP_SIZE:,} records."
        makers = {"jsonl": self._peers, "inputs": self._inputs, "threads": self._threads}
        return "\n\n".join([self.origin(name), words, makers[name](case, path, size)])

    def _peers(self, case: Case, path: Path, size: int) -> str:
        rows = [Peer(case, name) for name in self.present(COMPETITORS)]
        # Here, or its memory would count as that of the first.
        prepared(path, ".jsonl")

        def measure(row: Peer) -> str:
            row.outcomes.append(Outcome(**self._run(row.competitor, path)))
            return f"{row.outcomes[-1].cpu[0]:.3f} CPU s"

        self.repeat(rows, measure)
        reference = next(row.outcomes[0] for row in rows if row.competitor == JUDGE)
        for row in rows:
            row.verdict = judge(row.outcomes, reference, "tokenizers")
        cells = []
        ours = min(outcome.cpu[0] for outcome in rows[0].outcomes)
        for row in rows:
            if not row.counts:
                cells.append(untimed([row.competitor], row.reason, len(PEERS_HEAD)))
                continue
            cpu = min(outcome.cpu[0] for outcome in row.outcomes)
            peak = min(outcome.peak for outcome in row.outcomes) / 1e6
            figures = [f"{cpu:.2f}", f"{size / 1e6 / cpu:.0f}", f"{cpu / ours:.1f}", f"{peak:.0f}"]
            cells.append([row.competitor, *figures, f"{reference.num_tokens:,}"])
        return table(PEERS_HEAD, cells)

    def _inputs(self, case: Case, path: Path, size: int) -> str:
        rows = [Input(case, name) for name in INPUTS]

        def measure(row: Input) -> str:
            row.outcomes.append(Measured(**self._run(row.competitor, path)))
            return f"{row.outcomes[-1]}"

        self.repeat(rows, measure)
        cells = []
        for row in rows:
            if row.failure:
                cells.append(untimed([row.competitor], row.failure, len(INPUTS_HEAD)))
                continue
            files = min(outcome.files for outcome in row.outcomes)
            reading = min(outcome.reading for outcome in row.outcomes)
            in_memory = min(outcome.in_memory for outcome in row.outcomes)
            figures = [f"{files:.2f}", f"{size / 1e6 / files:.0f}", f"{reading:.2f}"]
            ratio = in_memory / (files - reading)
            cells.append([row.competitor, *figures, f"{in_memory:.2f}", f"{ratio:.2f}"])
        return table(INPUTS_HEAD, cells)

    def _threads(self, case: Case, path: Path, size: int) -> str:
        rows = [Alone(case, name) for name in INPUTS]
        numbers = (1, os.cpu_count() or 1)
        # Here, or its memory would count as that of the first.
        for suffix, _ in INPUTS.values():
            prepared(path, suffix)

        def measure(row: Alone) -> str:
            jobs = ({"num_threads": number, "is_alone": True} for number in numbers)
            one, all_cores = (Spent(**self._run(row.competitor, path, **job)) for job in jobs)
            row.outcomes.append((one, all_cores))
            return f"{one.wall:.2f} and {all_cores.wall:.2f} s"

        self.repeat(rows, measure)
        cells = []
        for row in rows:
            if row.failure:
                cells.append(untimed([row.competitor], row.failure, len(THREADS_HEAD)))
                continue
            best = [min(runs, key=lambda run: run.wall) for runs in zip(*row.outcomes, strict=True)]
            for number, spent in zip(numbers, best, strict=True):
                times, speed = best[0].wall / spent.wall, size / 1e6 / spent.wall
                figures = [f"{spent.wall:.2f}", f"{times:.1f}", f"{speed:.0f}", f"{spent.cpu:.2f}"]
                cells.append([row.competitor, str(number), *figures, f"{spent.peak / 1e6:.0f}"])
        num_bytes = path.with_suffix(".ids").stat().st_size
        seconds = min(disk_seconds(path.with_suffix(".raw"), num_bytes) for _ in range(3))
        words = f"To write {num_bytes / 1e6:.0f} MB of ids that are there already, and to wait "
        words += f"until the disk has them, takes {seconds:.2f} s."
        return f"{words}\n\n{table(THREADS_HEAD, cells)}"

    def _run(self, competitor: str, path: Path, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        ranks = vocabulary("cl100k")
        file = path.with_name("cl100k-tokenizer.json")
        if not file.exists():
            file.write_text(tokenizer_json(read_ranks(ranks), ONIGURUMA_PATTERN, SPECIAL_TOKENS))
        job = Job(competitor, str(path), str(ranks), str(file), **more)
        made = run(self.script, job, self.python(competitor), self.options.timeout)
        return dict(made)


def disk_seconds(path: Path, num_bytes: int) -> float:
    """How long it takes to write so many bytes, as large pieces, until they are on the disk."""
    piece = memoryview(os.urandom(1 << 20))
    os.sync()
    with path.open("wb", buffering=0) as file, (clock := Clock()):
        for start in range(0, num_bytes, len(piece)):
            file.write(piece[: num_bytes - start])
        os.fsync(file.fileno())
    path.unlink()
    return clock.wall


def main() -> None:
    """Measures the tables named on the command line."""
    made = parser(__doc__.partition("\n")[0], SECTIONS, SECTIONS, "files.md")
    harness = FilesHarness("files", parse(made, SECTIONS))
    if "jsonl" in harness.options.names and harness.versions["tokenizers"] is None:
        made.error("tokenizers is needed to check the ids of all")
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
