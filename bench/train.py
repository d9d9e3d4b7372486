"""Training: mergewise against its peers, each answer checked before it counts.

    python bench/train.py en100 code multi50 lines10 --corpora DIR --python PEERS/bin/python

DIR holds en.txt, code.txt and multi.txt; PEERS is an environment with bench/requirements.txt.
A name also selects all cases it begins: `en100` is en100-8k, en100-32k and en100-128k. The tables
go to stdout and into bench/results/train.md, each in the place of its older self.
"""

import argparse
import datetime as dt
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from cases import CASES, DEFAULT, NOTES, Case
from judge import Verdict, first_unsteady, judge
from measure import Job, JobFailedError, run, versions
from peers import package
from tables import Row, comparison, growth, keep, processor

BENCH = Path(__file__).parent
TITLE = """# Training

Written by `bench/train.py`. Each competitor trains in a process of its own, the repetitions
interleaved; CPU s is the best of them, user and system time of all threads from the file to the
tokenizer (imports excluded). Peak memory is the process's, interpreter and mapped files included.
A row whose answer is wrong is not timed."""


class Harness:
    """The options, and what is installed where."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.versions = versions(options.python)
        self.versions["mergewise"] = versions(sys.executable)["mergewise"]
        for name, version in self.versions.items():
            if version is None:
                _say(f"MISSING, left out: {name}; {_remedy(name)}")

    def section(self, name: str, folder: Path) -> str:
        """Measures one named case; the text of its section."""
        scaled = {case: self._scaled(case) for case in CASES[name]}
        paths = {case: case.text.write(self.options.corpora, folder) for case in scaled.values()}
        rows = self._measure(name, list(scaled.values()), paths)
        sizes = {case: path.stat().st_size for case, path in paths.items()}
        if all(len(case.competitors) == 1 for case in paths):
            table = growth(rows, sizes)
            if name == "threads":
                table += "\n\n" + _speed_up(rows)
        else:
            table = comparison(rows)
        return "\n\n".join([*self._head(name, sizes), table])

    def _scaled(self, case: Case) -> Case:
        size = int(case.text.size * self.options.scale)
        threads = self.options.threads or case.num_threads
        return replace(case, text=replace(case.text, size=size), num_threads=threads)

    def _measure(self, name: str, cases: list[Case], paths: dict[Case, Path]) -> list[Row]:
        rows = [
            Row(case, competitor)
            for case in cases
            for competitor in case.competitors
            if self.versions[package(competitor)] is not None
            and package(competitor) not in self.options.without
        ]
        for repetition in range(self.options.repetitions):
            for row in rows:
                if not row.failure:
                    self._repeat(row, paths[row.case])
                    cost = row.failure or f"{row.outcomes[-1].cpu:.2f} CPU s"
                    text = f"{row.case.text.kind} {row.case.text.size / 1e6:.2f} MB"
                    _say(f"{name}, {text}, {row.competitor}, repetition {repetition + 1}: {cost}")
        for case in cases:
            mine = [row for row in rows if row.case == case and not row.failure]
            verdicts = judge(case, {row.competitor: row.outcomes[0] for row in mine})
            for row in mine:
                row.verdict = verdicts[row.competitor]
                if (index := first_unsteady(row.outcomes)) is not None:
                    words = f"repetition {index + 1} has other merges than the first"
                    row.verdict = Verdict(right=False, words=words)
        _judge_together(rows)
        return rows

    def _repeat(self, row: Row, path: Path) -> None:
        case = row.case
        job = Job(
            row.competitor,
            str(path),
            case.vocab_size,
            case.pattern,
            case.documents,
            case.num_threads,
        )
        ours = package(row.competitor) == "mergewise"
        python = sys.executable if ours else self.options.python
        try:
            row.outcomes.append(run(job, python, self.options.timeout))
        except JobFailedError as error:
            row.failure = str(error)

    def _head(self, name: str, sizes: dict[Case, int]) -> list[str]:
        case, size = next(iter(sizes.items()))
        options = " --python PEERS/bin/python" * (self.options.python != sys.executable)
        options += "".join(
            f" --{key} {value}"
            for key, value, default in (
                ("repetitions", self.options.repetitions, 3),
                ("scale", self.options.scale, 1),
                ("threads", self.options.threads, 0),
                ("without", " ".join(self.options.without), ""),
            )
            if value != default
        )
        known = ", ".join(f"{key} {value}" for key, value in self.versions.items() if value)
        today = dt.datetime.now(tz=dt.timezone.utc).date()
        made = f"`python bench/train.py {name} --corpora DIR{options}`, {today}"
        head = [f"{made}, {processor()} ({os.cpu_count()} cores). {known}."]
        if len(sizes) == 1:
            pattern = f"pattern {case.pattern}" if case.pattern else "no pattern"
            head.append(
                f"{case.text.kind}, {size / 1e6:.1f} MB, {pattern}, a document for each "
                f"{case.documents.removesuffix('s')}, vocabulary of {case.vocab_size:,}, "
                f"{case.num_threads} thread{'s' * (case.num_threads > 1)}."
            )
        return head + [note for key, note in NOTES.items() if name.startswith(key)]


def _judge_together(rows: list[Row]) -> None:
    """Fewer merges, or another number of threads, on the same text: the head of the same list."""
    longest: dict[object, Row] = {}
    key = {id(row): (row.competitor, row.case.text, row.case.pattern) for row in rows}
    alone = [row for row in rows if row.counts and row.case.competitors == ("mergewise",)]
    for row in sorted(alone, key=lambda row: -len(row.outcomes[0].merges)):
        other = longest.setdefault(key[id(row)], row)
        if other is row:
            continue
        merges = row.outcomes[0].merges
        if merges != other.outcomes[0].merges[: len(merges)]:
            row.verdict = Verdict(right=False, words="not the head of a longer list")
        else:
            row.verdict = Verdict(
                right=True, words=row.verdict.words + ", agrees with the longest run"
            )


def _speed_up(rows: list[Row]) -> str:
    wall = {row.case.num_threads: row.lap("count", "wall") for row in rows if row.counts}
    if not {1, 2} <= wall.keys():
        return "No speed-up: a row failed."
    return f"Counting with two threads: {wall[1] / wall[2]:.2f} times the speed of one (wall)."


def _remedy(name: str) -> str:
    if name == "mergewise":
        return "make test builds it into .venv: run .venv/bin/python bench/train.py"
    if name == "youtokentome":
        return (
            "pip install cython setuptools wheel && "
            "pip install --no-build-isolation youtokentome==1.0.6"
        )
    return "pip install -r bench/requirements.txt"


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("cases", nargs="*", default=DEFAULT, help=", ".join(CASES))
    add("--corpora", type=Path, help="the folder of en.txt, code.txt, multi.txt")
    add("--python", default=sys.executable, help="the interpreter that has the peers")
    add("--repetitions", type=int, default=3)
    add("--scale", type=float, default=1, help="of the texts' sizes; 0.05 for a trial")
    add("--threads", type=int, default=0, help="instead of each case's own number (1)")
    add("--timeout", type=float, default=1800, help="seconds for one repetition")
    add("--without", nargs="*", default=[], help="competitors to leave out")
    add("--work", type=Path, help="where texts are made and kept; a temporary folder if not given")
    add("--output", type=Path, default=BENCH / "results" / "train.md")
    options = parser.parse_args()
    names = [name for name in CASES if name.startswith(tuple(options.cases))]
    unknown = [case for case in options.cases if not any(name.startswith(case) for name in CASES)]
    if unknown:
        parser.error(f"no case named {', '.join(unknown)}; there are {', '.join(CASES)}")
    options.names = names
    return options


def main() -> None:
    """Measures the cases named on the command line."""
    options = _options()
    harness = Harness(options)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.work or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in options.names:
            section = harness.section(name, folder)
            print(f"## {name}\n\n{section}\n", flush=True)
            keep(options.output, TITLE, {name: section})


if __name__ == "__main__":
    main()
