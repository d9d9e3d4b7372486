"""Progress of long work: a line that is replaced in a terminal, lines now and then in a log."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import ClassVar, TextIO, TypeAlias

Progress: TypeAlias = bool | Callable[[int, int], None]
SearchProgress: TypeAlias = bool | Callable[..., None]

SECONDS_IN_TERMINAL, SECONDS_IN_LOG = 0.1, 10.0
USUAL_COLUMNS = 80


class Ticker:
    """Writes the state of work to standard error, at most once in an interval."""

    # The one that wrote the line of a terminal in which the cursor still is.
    unfinished: ClassVar[Ticker | None] = None

    def __init__(self, label: str, *, out: TextIO | None = None) -> None:
        self.label = label
        self.out = out if out is not None else sys.stderr
        self.in_terminal = self.out.isatty()
        self.interval = SECONDS_IN_TERMINAL if self.in_terminal else SECONDS_IN_LOG
        self.started = time.monotonic()
        # A terminal shows the first state at once; a log only what takes longer than the interval.
        self.next = self.started + (0.0 if self.in_terminal else self.interval)

    @property
    def seconds(self) -> float:
        """How long the work has taken so far."""
        return time.monotonic() - self.started

    def __call__(self, state: str) -> None:
        """Write the state, unless the last one was written less than the interval ago."""
        now = time.monotonic()
        if now >= self.next:
            self.next = now + self.interval
            line = f"{self.label}: {state}"
            self.write(fitted(line, columns_of(self.out)) if self.in_terminal else line)

    def close(self, state: str) -> None:
        """Write the last state and how long the work took."""
        self.write(f"{self.label}: {state} in {self.seconds:.1f} s")
        self.end_line()

    def write(self, line: str) -> None:
        """Replace the line in a terminal, append it elsewhere."""
        self.out.write(f"\r\x1b[K{line}" if self.in_terminal else f"{line}\n")
        self.out.flush()
        if self.in_terminal:
            Ticker.unfinished = self

    def end_line(self) -> None:
        """Move to the next line of a terminal."""
        if self.in_terminal:
            self.out.write("\n")
            self.out.flush()
            Ticker.unfinished = None


class Reporter:
    """Passes how much of the work is done to the caller's function, or shows it as a bar.

    Args:
        progress: the argument of a public function: whether to show a bar, or what to call with
            the work done and the total.
        label: what is done.
        total: when the work is finished.
        unit: of what is done; "B" is scaled to kB, MB, ...
        num_tokens: how many tokens were made so far, if the work makes some.
    """

    def __init__(
        self,
        progress: Progress,
        label: str,
        total: int,
        unit: str,
        num_tokens: Callable[[], int] | None = None,
    ) -> None:
        self.callback = progress if callable(progress) else None
        self.ticker = Ticker(label) if progress is True else None
        self.total = total
        self.unit = unit
        self.num_tokens = num_tokens
        self.most = 0

    def after(self, before: int) -> Callable[..., None] | None:
        """What reports the work done on top of that before; None if a report has no effect."""
        is_wanted = self.ticker is not None or self.callback is not None
        return (lambda done, *_: self(before + done)) if is_wanted else None

    def __call__(self, done: int) -> None:
        """Report the work done so far."""
        self.most = max(self.most, done)
        if self.ticker is not None:
            seconds = self.ticker.seconds
            state = bar(done, self.total, self.unit, seconds)
            self.ticker(f"{state}{self.speed(done, seconds)}")
        if self.callback is not None:
            self.callback(done, self.total)

    def speed(self, done: int, seconds: float) -> str:
        """The bytes and tokens of a second, if there are such."""
        if self.unit != "B" or seconds <= 0:
            return ""
        amounts = [(done, "B")]
        if self.num_tokens is not None:
            amounts.append((self.num_tokens(), "tokens"))
        return "".join(f", {human(int(n / seconds), unit)}/s" for n, unit in amounts)

    def close(self, done: int) -> None:
        """Report the end of the work; of a pipe, whose size nobody knows, what was seen of it."""
        if self.ticker is not None:
            seen = max(done, self.most)
            speed = self.speed(seen, self.ticker.seconds)
            self.ticker.close(f"{human(seen, self.unit)}{speed}" if seen else "done")
        if self.callback is not None:
            self.callback(done, self.total)


class SearchReporter:
    """Passes the state of a search to the caller's function, or shows it.

    Args:
        progress: the argument of a public function: whether to show the search, or what to call.
        label: what is searched.
        state: the arguments of a call in words.
        time_limit: when the search ends, in seconds.
        total: or when the first argument of a call is this.
    """

    def __init__(
        self,
        progress: SearchProgress,
        label: str,
        state: Callable[..., str],
        *,
        time_limit: float | None = None,
        total: int | None = None,
    ) -> None:
        self.ticker = Ticker(label) if progress is True else None
        self.callback = self.show if progress is True else progress or None
        self.state = state
        self.time_limit = time_limit
        self.total = total

    def show(self, *arguments: int | None) -> None:
        """Show the state of the search."""
        if self.ticker is not None:
            left = self.left(arguments[0] or 0, self.ticker.seconds)
            self.ticker(self.state(*arguments) + left)

    def left(self, done: int, seconds: float) -> str:
        """About how long the search goes on, if it has an end.

        >>> SearchReporter(False, "improve", str, time_limit=60).left(0, 12.0)
        ', 48 s left'
        >>> SearchReporter(False, "improve", str, total=100).left(20, 5.0)
        ', 20 s left'
        """
        ends = [] if self.time_limit is None else [self.time_limit]
        if self.total is not None and done:
            ends.append(seconds * self.total / done)
        return f", {max(min(ends) - seconds, 0):.0f} s left" if ends else ""

    def close(self, state: str) -> None:
        """Show the end of the search."""
        if self.ticker is not None:
            self.ticker.close(state)


def end_line() -> None:
    """Move below a bar that did not come to its end: what is said begins on a line of its own."""
    if Ticker.unfinished is not None:
        Ticker.unfinished.end_line()


def columns_of(terminal: TextIO) -> int:
    """How wide a terminal is; the usual width if it does not say."""
    try:
        return os.get_terminal_size(terminal.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):  # not a terminal of the system
        return USUAL_COLUMNS


def fitted(line: str, columns: int) -> str:
    """As much of a line as does not wrap: the last facts are left out, the first is cut.

    >>> fitted("count: 50 B, 9 s left, 5 B/s", 24)
    'count: 50 B, 9 s left'
    """
    # In the last column, some terminals wrap already.
    most = max(columns - 1, 0)
    while len(line) > most and ", " in line:
        line = line.rpartition(", ")[0]
    return line[:most]


def bar(done: int, total: int, unit: str, seconds: float) -> str:
    """A bar, what is done, and about how long the rest takes.

    >>> bar(50, 200, "B", 3.0)
    '[#####               ]  25% 50 B, 9 s left'
    >>> bar(50, 0, "B", 3.0)
    '50 B'
    """
    if not total:
        return human(done, unit)
    part = min(done / total, 1.0)
    left = f", {seconds / part - seconds:.0f} s left" if part > 0 else ""
    return f"[{'#' * round(20 * part):<20}] {part:>4.0%} {human(done, unit)}{left}"


def human(amount: int, unit: str) -> str:
    """An amount as people read it.

    >>> human(1_500_000, "B"), human(1_500_000, "merges")
    ('1.5 MB', '1,500,000 merges')
    """
    if unit != "B" or amount < 1000:
        return f"{amount:,} {unit}"
    prefixes = iter("kMGT")
    scaled, prefix = amount / 1000, next(prefixes)
    while scaled >= 1000 and prefix != "T":
        scaled, prefix = scaled / 1000, next(prefixes)
    return f"{scaled:.1f} {prefix}{unit}"
