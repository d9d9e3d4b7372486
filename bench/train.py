"""Training: mergewise against its peers, each answer checked before it counts.

    python bench/train.py en100 code multi50 lines10 --corpora DIR --python PEERS/bin/python

DIR holds en.txt, code.txt and multi.txt; PEERS is an environment with bench/requirements.txt.
A name also selects all cases it begins: `en100` is en100-8k, en100-32k and en100-128k. The tables
go to stdout and into bench/results/train.md, each in the place of its older self.
"""

from dataclasses import replace
from pathlib import Path

from harness import Harness, Verdict, parse, parser
from measure import run
from train_cases import CASES, DEFAULT, NOTES, Case
from train_judge import first_unsteady, judge
from train_peers import Job, Outcome
from train_tables import Training, comparison, growth

TITLE = """# Training

Written by `bench/train.py`. Each competitor trains in a process of its own, the repetitions
interleaved; CPU s is the best of them, user and system time of all threads from the file to the
tokenizer (imports excluded). Peak memory is the process's, interpreter and mapped files included.
A row whose answer is wrong is not timed."""


class TrainingHarness(Harness):
    """Measures the cases of training."""

    def section(self, name: str, folder: Path) -> str:
        """Measures one named case; the text of its section."""
        scaled = {case: self._scaled(case) for case in CASES[name]}
        paths = {case: case.text.write(self.options.corpora, folder) for case in scaled.values()}
        rows = self._measure(list(scaled.values()), paths)
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

    def _measure(self, cases: list[Case], paths: dict[Case, Path]) -> list[Training]:
        rows = [Training(case, name) for case in cases for name in self.present(case.competitors)]
        self.repeat(rows, lambda row: self._train(row, paths[row.case]))
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

    def _train(self, row: Training, path: Path) -> str:
        case = row.case
        job = Job(
            row.competitor,
            str(path),
            case.vocab_size,
            case.pattern,
            case.documents,
            case.num_threads,
        )
        python = self.python(row.competitor)
        row.outcomes.append(Outcome(**run(self.script, job, python, self.options.timeout)))
        return f"{row.outcomes[-1].cpu:.2f} CPU s"

    def _head(self, name: str, sizes: dict[Case, int]) -> list[str]:
        case, size = next(iter(sizes.items()))
        head = [self.origin(name)]
        if len(sizes) == 1:
            pattern = f"pattern {case.pattern}" if case.pattern else "no pattern"
            head.append(
                f"{case.text.kind}, {size / 1e6:.1f} MB, {pattern}, a document for each "
                f"{case.documents.removesuffix('s')}, vocabulary of {case.vocab_size:,}, "
                f"{case.num_threads} thread{'s' * (case.num_threads > 1)}."
            )
        return head + [note for key, note in NOTES.items() if name.startswith(key)]


def _judge_together(rows: list[Training]) -> None:
    """Fewer merges, or another number of threads, on the same text: the head of the same list."""
    longest: dict[object, Training] = {}
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


def _speed_up(rows: list[Training]) -> str:
    wall = {row.case.num_threads: row.lap("count", "wall") for row in rows if row.counts}
    if not {1, 2} <= wall.keys():
        return "No speed-up: a row failed."
    return f"Counting with two threads: {wall[1] / wall[2]:.2f} times the speed of one (wall)."


def main() -> None:
    """Measures the cases named on the command line."""
    made = parser(__doc__.partition("\n")[0], CASES, DEFAULT, "train.md")
    made.add_argument("--threads", type=int, default=0, help="instead of each case's own number")
    harness = TrainingHarness("train", parse(made, CASES))
    harness.write(TITLE, harness.section)


if __name__ == "__main__":
    main()
