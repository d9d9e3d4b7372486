"""Progress of long work: a bar in a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO, TypeAlias

Progress: TypeAlias = bool | Callable[[int, int], None]


class Ticker:
    """Shows how work stands of which nobody knows how long it takes."""

    def __init__(self, label: str, *, out: TextIO | None = None) -> None:
        self.label = label
        self.out = out if out is not None else sys.stderr
        self.in_terminal = self.out.isatty()
        self.started = time.monotonic()
        self.shown = 0.0 if self.in_terminal else self.started

    def __call__(self, standing: str) -> None:
        """Show how the work stands, unless something was shown a moment ago."""
        now = time.monotonic()
        if now - self.shown >= (0.1 if self.in_terminal else 10.0):
            self.shown = now
            self.write(f"{self.label}: {standing}")

    def close(self, standing: str) -> None:
        """Show the end of the work."""
        seconds = time.monotonic() - self.started
        self.write(f"{self.label}: {standing} in {seconds:.1f} s")
        if self.in_terminal:
            self.out.write("\n")
            self.out.flush()

    def write(self, line: str) -> None:
        """Replace the line in a terminal, append it elsewhere."""
        self.out.write(f"\r\x1b[K{line}" if self.in_terminal else f"{line}\n")
        self.out.flush()


class Bar:
    """Shows how far the work is and how long it may still take."""

    def __init__(self, label: str, total: int, unit: str, *, out: TextIO | None = None) -> None:
        self.ticker = Ticker(label, out=out)
        self.total = total
        self.unit = unit

    def __call__(self, done: int) -> None:
        """Show `done`, unless something was shown a moment ago."""
        seconds = time.monotonic() - self.ticker.started
        self.ticker(self.state(done, seconds))

    def close(self, done: int) -> None:
        """Show the end of the work."""
        self.ticker.close(human(done, self.unit))

    def state(self, done: int, seconds: float) -> str:
        """One state of the bar.

        >>> Bar("count", 200, "B").state(50, 3.0)
        '[#####               ]  25% 50 B, 9 s left'
        """
        part = min(done / self.total, 1.0) if self.total else 0.0
        bar = "#" * round(20 * part)
        left = f", {seconds / part - seconds:.0f} s left" if part > 0 else ""
        return f"[{bar:<20}] {part:>4.0%} {human(done, self.unit)}{left}"


def human(amount: int, unit: str) -> str:
    """An amount as people read it.

    >>> human(1_500_000, "B"), human(1_500_000, "merges")
    ('1.5 MB', '1,500,000 merges')
    """
    if unit != "B" or amount < 1000:
        return f"{amount:,} {unit}"
    scaled, prefix = amount / 1000, "k"
    for larger in "MGT":
        if scaled < 1000:
            break
        scaled, prefix = scaled / 1000, larger
    return f"{scaled:.1f} {prefix}{unit}"


class Reporter:
    """Turns the `progress` argument of a verb into something to call with the work done."""

    def __init__(self, progress: Progress, label: str, total: int, unit: str) -> None:
        self.total = total
        self.callback = progress if callable(progress) else None
        self.bar = Bar(label, total, unit) if progress is True else None
        self.done = 0

    @property
    def is_wanted(self) -> bool:
        """Does anybody want to know?"""
        return self.bar is not None or self.callback is not None

    def __call__(self, done: int) -> None:
        """Report the work done so far."""
        self.done = done
        if self.bar is not None:
            self.bar(done)
        if self.callback is not None:
            self.callback(done, self.total)

    def close(self, done: int) -> None:
        """Report the end."""
        self.done = done
        if self.bar is not None:
            self.bar.close(done)
        if self.callback is not None:
            self.callback(done, self.total)
