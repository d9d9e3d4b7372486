"""Measurements of encoding to Markdown."""

from collections.abc import Sequence

from encode_cases import Case
from encode_peers import Outcome
from harness import Row
from tables import table, untimed

COLUMNS = (
    "competitor",
    "cold MB / CPU s",
    "warm MB / CPU s",
    "cold CPU s",
    "warm CPU s",
    "cold wall s",
    "warm wall s",
    "each repetition, cold CPU s",
    "loading CPU s",
    "peak MB",
    "cold CPU / mergewise",
    "warm CPU / mergewise",
    "checked",
)


class Encoding(Row[Case, Outcome]):
    """All repetitions of one competitor on one case."""

    def cold(self, unit: str) -> float:
        """The least seconds of a first call, of `cpu` or `wall`."""
        return min(calls[0] for calls in self._calls(unit))

    def warm(self, unit: str) -> float:
        """The least seconds of a later call, of `cpu` or `wall`."""
        return min(min(calls[1:]) for calls in self._calls(unit))

    def _calls(self, unit: str) -> list[list[float]]:
        return [outcome.cpu if unit == "cpu" else outcome.wall for outcome in self.outcomes]

    @property
    def form(self) -> str:
        """What the ids come in: arrays or lists."""
        return self.competitor.partition(" ")[2]


def comparison(rows: Sequence[Encoding], size: int) -> str:
    """One line for each competitor, with its ratio to mergewise with ids in the same form."""
    ours = {
        row.form: row
        for row in reversed(rows)
        if row.competitor.startswith("mergewise ") and row.counts
    }
    return table(COLUMNS, [_cells(row, ours.get(row.form), size) for row in rows])


def _cells(row: Encoding, ours: Encoding | None, size: int) -> list[str]:
    threads = f", {row.case.num_threads} threads" * (row.case.num_threads > 1)
    head = [row.competitor + threads]
    if not row.counts:
        return untimed(head, row.reason, len(COLUMNS))
    ratios = ["", ""]
    if ours is not None:
        ratios = [
            f"{row.cold('cpu') / ours.cold('cpu'):.2f}",
            f"{row.warm('cpu') / ours.warm('cpu'):.2f}",
        ]
    return [
        *head,
        f"{size / 1e6 / row.cold('cpu'):.1f}",
        f"{size / 1e6 / row.warm('cpu'):.1f}",
        *(_seconds(cost(unit)) for unit in ("cpu", "wall") for cost in (row.cold, row.warm)),
        " ".join(_seconds(outcome.cpu[0]) for outcome in row.outcomes),
        _seconds(min(outcome.loading for outcome in row.outcomes)),
        f"{min(outcome.peak for outcome in row.outcomes) / 1e6:.0f}",
        *ratios,
        row.verdict.words,
    ]


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}"


def speed_up(rows: Sequence[Encoding]) -> str:
    """What a second thread gives, by wall time."""
    lines = []
    for form in dict.fromkeys(row.form for row in rows):
        mine = {row.case.num_threads: row for row in rows if row.form == form and row.counts}
        if {1, 2} <= mine.keys():
            cold = mine[1].cold("wall") / mine[2].cold("wall")
            warm = mine[1].warm("wall") / mine[2].warm("wall")
            lines.append(f"Two threads, {form}: {cold:.2f} times the speed of one cold, ")
            lines[-1] += f"{warm:.2f} times warm (wall)."
    return "\n".join(lines) or "No speed-up: a row failed."
