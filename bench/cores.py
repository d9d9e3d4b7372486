"""All cores: threads against one thread, and against as many processes that share nothing.

    python bench/cores.py encode bytes count --corpora DIR --python PEERS/bin/python

DIR holds en.txt and multi.txt; PEERS is an environment with bench/requirements.txt. The tables go
to stdout and into bench/results/cores.md.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from cores_peers import Job, Speeds
from harness import BENCH, Harness, Row, Verdict, parse, parser
from measure import run
from tables import table, untimed
from texts import Text

# The tests read the same files.
sys.path.append(str(BENCH.parent / "tests"))
from vocabularies import vocabulary

TITLE = """# All cores

Written by `bench/cores.py`. Each row is a process of its own, the repetitions interleaved, the
fastest call counts, by the clock. Cold is the first call with a tokenizer, warm the best of the
three that follow on the same documents. Processes do the same work at the same time, each alone on
one thread and on the whole text, once: what all of them do together is what the machine can do. A
row counts only if it gives what one thread of mergewise gives, all ids or all counts. cl100k.

Of a `str` that is not ASCII, Python makes the UTF-8 on one thread, when it is asked for first: in
the cold call, whoever encodes; of many texts mergewise works on the first meanwhile. `bytes` is the
same table for documents that are bytes."""

MB = 1_000_000
HEAD = ["", "one thread, MB/s", "all threads, MB/s", "times one", "processes, times one"]


@dataclass(frozen=True)
class Case:
    """A text cut into documents, or one document, and all of it so many times over."""

    text: Text
    document_size: int
    times: int = 1

    def __str__(self) -> str:
        size = self.document_size
        cut = f"documents of {size / 1e3:,.0f} kB" if size else "one document"
        times = f", {self.times} times" if self.times > 1 else ""
        return f"{self.text.kind}, {self.text.size / 1e6:.0f} MB{times}, {cut}"


CASES = (
    Case(Text("en", 100 * MB), 1000),
    Case(Text("en", 100 * MB), MB),
    Case(Text("en", 100 * MB), 1000, 4),
    Case(Text("en", 100 * MB), MB, 4),
    Case(Text("en", 100 * MB), 0, 4),
    Case(Text("multi", 40 * MB), 1000),
)
SECTIONS = {
    "encode": ("mergewise encode", "gigatoken encode"),
    "bytes": ("mergewise bytes",),
    "count": ("mergewise count",),
}


@dataclass(frozen=True)
class Way:
    """Who works, on how many threads, in how many processes."""

    competitor: str
    num_threads: int = 1
    num_processes: int = 1


class Measured(Row[Case, Speeds]):
    """All repetitions of one way on one case."""

    def best(self, *, is_cold: bool) -> float:
        """The best MB/s of the first calls, or of the others."""
        calls = [outcome.calls[:1] if is_cold else outcome.calls[1:] for outcome in self.outcomes]
        return max(max(speeds) for speeds in calls)


class CoresHarness(Harness):
    """Measures threads and processes."""

    def section(self, name: str, folder: Path) -> str:
        """Measures one table."""
        num_cores = os.cpu_count() or 1
        ours, *others = self.present(SECTIONS[name])
        ways = [Way(ours), Way(ours, num_cores), Way(ours, 1, num_cores)]
        ways += [Way(other, num_cores) for other in others]
        cells = []
        for case in CASES:
            measured = self._measure(case, ways, folder)
            cells += self._cells(case, name, dict(zip(ways, measured, strict=True)))
        head = [*HEAD, *(f"{other}, all threads, MB/s" for other in others)]
        return "\n\n".join([self.origin(name), table(head, cells)])

    def _measure(self, case: Case, ways: list[Way], folder: Path) -> list[Measured]:
        text = Text(case.text.kind, int(case.text.size * self.options.scale))
        path = text.write(self.options.corpora, folder)
        rows = [Measured(case, way.competitor) for way in ways]
        way_of = dict(zip(map(id, rows), ways, strict=True))

        def measure(row: Measured) -> str:
            way = way_of[id(row)]
            # As many copies of so long a text would fill the memory.
            times = 1 if way.num_processes > 1 else case.times
            numbers = (way.num_threads, way.num_processes)
            ranks = str(vocabulary("cl100k"))
            job = Job(way.competitor, str(path), case.document_size, times, ranks, *numbers)
            made = run(self.script, job, self.python(way.competitor), self.options.timeout)
            row.outcomes.append(Speeds(**made))
            return (
                f"{way}: {row.best(is_cold=True):.0f} MB/s cold, {row.best(is_cold=False):.0f} warm"
            )

        self.repeat(rows, measure)
        digests = {outcome.digest for outcome in rows[0].outcomes}
        for row, way in zip(rows, ways, strict=True):
            is_other_text = way.num_processes > 1 and case.times > 1
            right = is_other_text or {outcome.digest for outcome in row.outcomes} == digests
            row.verdict = Verdict(right=right, words="not what one thread gives")
        return rows

    def _cells(self, case: Case, name: str, rows: dict[Way, Measured]) -> list[list[str]]:
        cells = []
        one, threads, processes, *others = rows.values()
        for words, is_cold in (
            (("cold", True), ("warm", False)) if name != "count" else (("", False),)
        ):
            head = [f"{case}, {words}".removesuffix(", ")]
            if not (one.counts and threads.counts and processes.counts):
                failed = next(row for row in (one, threads, processes) if not row.counts)
                cells.append(untimed(head, failed.reason, len(HEAD) + len(others)))
                continue
            alone = one.best(is_cold=is_cold)
            speed = threads.best(is_cold=is_cold)
            most = processes.best(is_cold=is_cold)
            figures = [
                f"{alone:.0f}",
                f"{speed:.0f}",
                f"{speed / alone:.1f}",
                f"{most / alone:.1f}",
            ]
            peers = [
                f"{row.best(is_cold=is_cold):.0f}" if row.counts else row.reason for row in others
            ]
            cells.append([*head, *figures, *peers])
        return cells


def main() -> None:
    """Measures the tables named on the command line."""
    made = parser(__doc__.partition("\n")[0], SECTIONS, SECTIONS, "cores.md")
    harness = CoresHarness("cores", parse(made, SECTIONS))
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
