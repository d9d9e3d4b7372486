"""Measurements of training to Markdown."""

from harness import Row
from tables import table, untimed
from train_cases import Case
from train_peers import Outcome


class Training(Row[Case, Outcome]):
    """All repetitions of one competitor on one case."""

    @property
    def best(self) -> Outcome:
        """The repetition with the fewest CPU seconds."""
        return min(self.outcomes, key=lambda outcome: outcome.cpu)

    @property
    def peak(self) -> int:
        """The least of the peaks, in bytes."""
        return min(outcome.peak for outcome in self.outcomes)

    def lap(self, part: str, unit: str) -> float:
        """The least cost of one part, `count` or `train`, in seconds of `cpu` or `wall`."""
        return min(outcome.laps[part][unit] for outcome in self.outcomes)


COMPARISON = (
    "competitor",
    "CPU s",
    "each repetition",
    "wall s",
    "peak MB",
    "CPU / mergewise",
    "peak / mergewise",
    "checked",
)
GROWTH = (
    "text",
    "MB",
    "threads",
    "merges",
    "unique words",
    "count CPU s",
    "train CPU s",
    "count wall s",
    "train wall s",
    "each repetition, CPU s",
    "ns a byte",
    "peak MB",
    "peak bytes a byte",
    "checked",
)


def comparison(rows: list[Training]) -> str:
    """One line for each competitor, with its ratio to mergewise in this run."""
    ours = next((row for row in rows if row.competitor == "mergewise" and row.counts), None)
    return table(COMPARISON, [_comparison_cells(row, ours) for row in rows])


def _comparison_cells(row: Training, ours: Training | None) -> list[str]:
    if not row.counts:
        return untimed([row.competitor], row.reason, len(COMPARISON))
    ratios = ["", ""]
    if ours is not None:
        ratios = [f"{row.best.cpu / ours.best.cpu:.1f}", f"{row.peak / ours.peak:.1f}"]
    return [
        row.competitor,
        f"{row.best.cpu:.2f}",
        _each(row),
        f"{min(outcome.wall for outcome in row.outcomes):.2f}",
        f"{row.peak / 1e6:.0f}",
        *ratios,
        row.verdict.words,
    ]


def growth(rows: list[Training], sizes: dict[Case, int]) -> str:
    """One line for each case of mergewise alone: the parts of its cost, and the cost a byte."""
    return table(GROWTH, [_growth_cells(row, sizes[row.case]) for row in rows])


def _growth_cells(row: Training, size: int) -> list[str]:
    head = [row.case.text.kind, f"{size / 1e6:.2f}", f"{row.case.num_threads}"]
    if not row.counts:
        return untimed(head, row.reason, len(GROWTH))
    best = row.best
    return [
        *head,
        f"{len(best.merges):,}",
        f"{best.num_unique:,}",
        *(f"{row.lap(part, unit):.3f}" for unit in ("cpu", "wall") for part in ("count", "train")),
        _each(row),
        f"{best.cpu / size * 1e9:.1f}",
        f"{row.peak / 1e6:.0f}",
        f"{row.peak / size:.2f}",
        row.verdict.words,
    ]


def _each(row: Training) -> str:
    return " ".join(f"{outcome.cpu:.2f}" for outcome in row.outcomes)
