"""Measurements of encoding to Markdown."""

from collections.abc import Mapping, Sequence

from encode_cases import Case
from encode_peers import Outcome
from harness import Row
from measure import package
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


def models_table(measured: Mapping[Case, tuple[list[Encoding], int]]) -> str:
    """One line for each model and text, and below the table why competitors are left out."""
    names = dict.fromkeys(row.competitor for rows, _ in measured.values() for row in rows)
    heads = (f"{package(name)} {call}" for name in names for call in ("cold", "warm"))
    lines = []
    left_out: dict[str, list[str]] = {}
    for case, (rows, size) in measured.items():
        ours = next((row for row in rows if row.competitor == "mergewise model"), None)
        cells = [cell for row in rows for cell in _short_cells(row, ours, size)]
        lines.append([case.model, case.text.kind, f"{size / 1e6:.1f}", *cells])
        for row in rows:
            if not row.counts:
                reason = f"{package(row.competitor)} {row.reason}"
                left_out.setdefault(reason, []).append(f"{case.model} {case.text.kind}")
    reasons = [f"- {', '.join(places)}: {reason}" for reason, places in left_out.items()]
    parts = [table(["model", "text", "MB", *heads], lines), "\n".join(reasons)]
    return "\n\n".join(filter(None, parts))


def _short_cells(row: Encoding, ours: Encoding | None, size: int) -> list[str]:
    """Cold and warm: MB per CPU second, and the ratio to ours."""
    if not row.counts:
        return ["", ""]
    if ours is None or not ours.counts or row is ours:
        return _speeds(row, size)
    pairs = zip(_speeds(row, size), _ratios(row, ours), strict=True)
    return [f"{speed} ({ratio})" for speed, ratio in pairs]


def _speeds(row: Encoding, size: int) -> list[str]:
    """MB per CPU second, cold and warm."""
    return [f"{size / 1e6 / seconds:.1f}" for seconds in (row.cold("cpu"), row.warm("cpu"))]


def _ratios(row: Encoding, ours: Encoding) -> list[str]:
    """CPU seconds cold and warm, divided by ours."""
    return [
        f"{row.cold('cpu') / ours.cold('cpu'):.2f}",
        f"{row.warm('cpu') / ours.warm('cpu'):.2f}",
    ]


def _cells(row: Encoding, ours: Encoding | None, size: int) -> list[str]:
    head = [row.competitor]
    if not row.counts:
        return untimed(head, row.reason, len(COLUMNS))
    return [
        *head,
        *_speeds(row, size),
        *(_seconds(cost(unit)) for unit in ("cpu", "wall") for cost in (row.cold, row.warm)),
        " ".join(_seconds(outcome.cpu[0]) for outcome in row.outcomes),
        _seconds(min(outcome.loading for outcome in row.outcomes)),
        f"{min(outcome.peak for outcome in row.outcomes) / 1e6:.0f}",
        *(_ratios(row, ours) if ours is not None else ("", "")),
        row.verdict.words,
    ]


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}"
