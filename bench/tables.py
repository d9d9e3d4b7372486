"""Measurements to Markdown, and the file that keeps them."""

import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

from cases import Case
from judge import Verdict
from measure import Outcome


@dataclass
class Row:
    """All repetitions of one competitor on one case, or why there are none."""

    case: Case
    competitor: str
    outcomes: list[Outcome] = field(default_factory=list)
    failure: str = ""
    verdict: Verdict = field(default_factory=lambda: Verdict(right=False, words=""))

    @property
    def counts(self) -> bool:
        """Whether it ran to its end and its answer is right."""
        return not self.failure and self.verdict.right

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


def comparison(rows: list[Row]) -> str:
    """One line for each competitor, with its ratio to mergewise in this run."""
    ours = next((row for row in rows if row.competitor == "mergewise" and row.counts), None)
    return _table(COMPARISON, [_comparison_cells(row, ours) for row in rows])


def _comparison_cells(row: Row, ours: Row | None) -> list[str]:
    if not row.counts:
        return _failed([row.competitor], row, len(COMPARISON))
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


def growth(rows: list[Row], sizes: dict[Case, int]) -> str:
    """One line for each case of mergewise alone: the parts of its cost, and the cost a byte."""
    return _table(GROWTH, [_growth_cells(row, sizes[row.case]) for row in rows])


def _growth_cells(row: Row, size: int) -> list[str]:
    head = [row.case.text.kind, f"{size / 1e6:.2f}", f"{row.case.num_threads}"]
    if not row.counts:
        return _failed(head, row, len(GROWTH))
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


def _table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _each(row: Row) -> str:
    return " ".join(f"{outcome.cpu:.2f}" for outcome in row.outcomes)


def _failed(head: list[str], row: Row, width: int) -> list[str]:
    blanks = [""] * (width - len(head) - 1)
    return [*head, *blanks, f"failed: {row.failure or row.verdict.words}"]


def processor() -> str:
    """The name of this machine's processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"model name\s*:\s*(.+)", information.read_text())
        if found:
            return found[1]
    return platform.processor() or platform.machine()


def keep(path: Path, title: str, sections: dict[str, str]) -> None:
    """Writes the sections into the file, in the place of those of the same name."""
    kept: dict[str, str] = {}
    if path.exists():
        for part in re.split(r"(?m)^## ", path.read_text(encoding="utf-8"))[1:]:
            name, _, body = part.partition("\n")
            kept[name] = body.strip("\n")
    kept.update(sections)
    body = "\n".join(f"## {name}\n\n{kept[name]}\n" for name in kept)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{title}\n\n{body}", encoding="utf-8")
