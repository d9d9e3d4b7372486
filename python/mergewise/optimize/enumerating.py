"""The largest curvatures and the smallest greedy/optimum over all strings up to a length."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from mergewise import _core
from mergewise.arguments import check_count, check_num_threads
from mergewise.optimize.checkpoint import Pair, Rows, Settings, State, levels_of
from mergewise.optimize.curvature import COLUMNS, RATIOS, SIGMAS, value_of
from mergewise.progress import Progress, Reporter

MOST_LENGTH, MOST_LETTERS, MOST_MERGES = 24, 8, 8
CHOICES = {"all": COLUMNS, "sigma": SIGMAS, "ratio": RATIOS}
# A batch of units of work should take between these numbers of seconds.
SHORT_BATCH, LONG_BATCH = 1.0, 5.0


@dataclass(frozen=True)
class Extreme:
    """The most extreme value, and the first string that has it.

    The first: the shortest, of these one with the fewest letters, of these the first by alphabet.
    """

    value: Fraction
    witness: str


@dataclass(frozen=True)
class Enumeration:
    """The extremes for every number of letters, merges and symbols up to the given ones.

    >>> found = enumerate_curvature(4, num_letters=2, num_merges=2)
    >>> found.extremes(num_merges=2)["sigma_max"]
    Extreme(value=Fraction(3, 1), witness='abab')
    """

    length: int
    num_letters: int
    num_merges: int
    columns: tuple[str, ...]
    cells: dict[tuple[int, int], Rows]

    def extremes(
        self, *, num_merges: int, num_letters: int | None = None, length: int | None = None
    ) -> dict[str, Extreme]:
        """By column: maxima of σ and minima of ratios over all strings of at most that size."""
        length = self.length if length is None else length
        num_letters = self.num_letters if num_letters is None else num_letters
        check_count("num_merges", num_merges, least=1, most=self.num_merges)
        check_count("num_letters", num_letters, least=1, most=self.num_letters)
        check_count("length", length, least=1, most=self.length)
        row = self.cells[length, num_letters][num_merges - 1]
        return {
            name: Extreme(value_of(name, found[0]), found[1])
            for name, found in zip(COLUMNS, row, strict=True)
            if name in self.columns and found is not None
        }


def enumerate_curvature(
    length: int,
    *,
    num_letters: int,
    num_merges: int,
    columns: Literal["all", "sigma", "ratio"] = "all",
    num_threads: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = False,
    prune: bool = True,
) -> Enumeration:
    """Extremes over all strings of at most `length` symbols and `num_letters` letters; exact.

    Every number of merges up to `num_merges` is looked at. The result, witnesses included, does
    not depend on the number of threads.

    Args:
        length: the longest strings.
        num_letters: the largest alphabet; renaming letters changes nothing.
        num_merges: the most merges.
        columns: the curvatures, greedy over optimum, or both.
        num_threads: 0 means all cores.
        checkpoint: a file that is written every minute and at Ctrl-C; if it exists, the
            enumeration continues from it.
        progress: show it; or call with the strings done and all of them.
        prune: leave out strings that bounds show to be no more extreme; without, all are measured.
    """
    check_count("length", length, least=1, most=MOST_LENGTH)
    check_count("num_letters", num_letters, least=1, most=MOST_LETTERS)
    check_count("num_merges", num_merges, least=1, most=MOST_MERGES)
    check_num_threads(num_threads)
    if columns not in CHOICES:
        raise ValueError(f"columns must be all, sigma or ratio, found {columns!r}")
    settings = Settings(length, num_letters, num_merges, columns, prune)
    state = State.load(checkpoint, settings)
    levels = levels_of(settings)
    units = {level: units_of(*level) for level in levels}
    before = sum(sum(units[level]) for level in levels[: len(state.cells)])
    total = sum(map(sum, units.values()))
    reporter = Reporter(progress, "curvature", total, "strings")
    try:
        for level in levels[len(state.cells) :]:
            run_level(state, level, units[level], num_threads, before=before, reporter=reporter)
            before += sum(units[level])
    finally:
        state.save()
    reporter.close(total)
    return Enumeration(length, num_letters, num_merges, CHOICES[columns], state.cells)


def units_of(length: int, num_letters: int) -> list[int]:
    """The number of strings in each unit of work; no string has more letters than symbols."""
    if num_letters > length:
        return []
    return _core.curvature_units(length=length, num_letters=num_letters)


def run_level(
    state: State,
    level: tuple[int, int],
    units: list[int],
    num_threads: int,
    *,
    before: int,
    reporter: Reporter,
) -> None:
    """Walk through the strings of exactly that length and number of letters.

    Only values that exceed those of shorter strings, and of strings with fewer letters, count.
    """
    settings = state.settings
    known = start_of(state, level)
    found = known if state.current is None else state.current
    floors = [[None if cell is None else cell[0] for cell in row] for row in known]
    wanted = [name in CHOICES[settings.columns] for name in COLUMNS]
    for first, last in batches(state.num_units, len(units)):
        done = before + sum(units[:first])
        improved = _core.walk_curvature(
            first,
            last,
            length=level[0],
            num_letters=level[1],
            columns=sum(1 << index for index, is_wanted in enumerate(wanted) if is_wanted),
            records=floors,
            is_pruned=settings.prune,
            num_threads=num_threads,
            progress=reporter.after(done),
        )
        for unit in improved:
            found = merged(found, unit)
        state.current, state.num_units = found, last
        state.save_once_a_minute()
    state.cells[level] = found
    state.current, state.num_units = None, 0


def start_of(state: State, level: tuple[int, int]) -> Rows:
    """The extremes of the strings before those of a level, shorter ones first."""
    length, num_letters = level
    rows: Rows = [[None] * len(COLUMNS) for _ in range(state.settings.num_merges)]
    for other in ((length - 1, num_letters), (length, num_letters - 1)):
        if other in state.cells:
            theirs = state.cells[other]
            rows = [list(map(larger, *both)) for both in zip(rows, theirs, strict=True)]
    return rows


def larger(one: tuple[Pair, str] | None, other: tuple[Pair, str] | None) -> tuple[Pair, str] | None:
    """The larger value; the first of equals."""
    if one is None or other is None:
        return one or other
    return other if Fraction(*other[0]) > Fraction(*one[0]) else one


def merged(rows: Rows, improved: list[tuple[int, int, Pair, bytes]]) -> Rows:
    """The records with those of a unit of work that are larger."""
    rows = [list(row) for row in rows]
    for num_merges, column, value, letters in improved:
        witness = "".join(chr(ord("a") + letter) for letter in letters)
        row = rows[num_merges - 1]
        row[column] = larger(row[column], (value, witness))
    return rows


def batches(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of units; the next is twice as large if the last was quick, half if it was not."""
    size = 16
    while first < end:
        started = time.monotonic()
        last = min(first + size, end)
        yield first, last
        first = last
        seconds = time.monotonic() - started
        if seconds < SHORT_BATCH:
            size *= 2
        elif seconds > LONG_BATCH:
            size = max(1, size // 2)
