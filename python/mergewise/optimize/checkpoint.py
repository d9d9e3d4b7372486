"""The state of an enumeration in a file: written whole, read back only if unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from mergewise.arguments import check_count
from mergewise.errors import FormatError
from mergewise.files import checked_path, write_text
from mergewise.optimize.curvature import COLUMNS

SECONDS_BETWEEN_CHECKPOINTS = 60.0
FORMAT = "mergewise curvature checkpoint 1"

Pair: TypeAlias = tuple[int, int]
# For each number of merges, by column: a value and the first string that has it.
Rows: TypeAlias = list[list[tuple[Pair, str] | None]]


@dataclass(frozen=True)
class Settings:
    """The arguments of an enumeration; a checkpoint is only valid for the same ones."""

    length: int
    num_letters: int
    num_merges: int
    columns: str
    prune: bool


@dataclass
class State:
    """The state of an enumeration.

    Attributes:
        settings: what is enumerated.
        path: the file that holds the state, if one does.
        cells: what was found, by length and number of letters, in the order of the work.
        current: what was found so far in the next of them.
        num_units: how many of its units of work are done.
        saved: when the state was last saved.
    """

    settings: Settings
    path: str | os.PathLike[str] | None = None
    cells: dict[tuple[int, int], Rows] = field(default_factory=dict)
    current: Rows | None = None
    num_units: int = 0
    saved: float = field(default_factory=time.monotonic)

    def save_once_a_minute(self) -> None:
        """Save if the last time was a minute ago."""
        if time.monotonic() - self.saved >= SECONDS_BETWEEN_CHECKPOINTS:
            self.save()

    def save(self) -> None:
        """Write the file, if there is to be one, whole or not at all."""
        self.saved = time.monotonic()
        if self.path is None:
            return
        cells = [[*level, rows] for level, rows in self.cells.items()]
        body = {
            "settings": asdict(self.settings),
            "cells": cells,
            "current": self.current,
            "num_units": self.num_units,
        }
        text = json.dumps({"format": FORMAT, "sha256": digest(body), "state": body})
        write_text(text + "\n", self.path)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None, settings: Settings) -> State:
        """The state in a file; a fresh one if there is none."""
        if path is None or not checked_path(path).exists():
            return cls(settings, path)
        body = body_of(Path(path).read_bytes(), path)
        if body["settings"] != asdict(settings):
            raise FormatError(
                f"a checkpoint of {body['settings']}, expected {asdict(settings)}",
                path=path,
                hint="name another file, or remove this one",
            )
        try:
            cells = {(n, k): rows_of(rows, settings) for n, k, rows in body["cells"]}
            current = None if body["current"] is None else rows_of(body["current"], settings)
            num_units = check_count("num_units", body["num_units"])
            if list(cells) != levels_of(settings)[: len(cells)]:
                raise ValueError("found cells in another order")  # noqa: TRY301
        except (ValueError, TypeError, LookupError):
            raise not_a_checkpoint(path) from None
        return cls(settings, path, cells, current, num_units)


def levels_of(settings: Settings) -> list[tuple[int, int]]:
    """The lengths and numbers of letters, in the order of the work."""
    lengths = range(1, settings.length + 1)
    return [(n, k) for n in lengths for k in range(1, settings.num_letters + 1)]


def body_of(data: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    """The state in the bytes of a file, if it is unchanged."""
    try:
        whole = json.loads(data)
        body: dict[str, Any] = whole["state"]
        is_ours = whole["format"] == FORMAT and whole["sha256"] == digest(body)
        is_ours = is_ours and "settings" in body
    except (ValueError, KeyError, TypeError, RecursionError):
        is_ours = False
    if not is_ours:
        raise not_a_checkpoint(path)
    return body


def not_a_checkpoint(path: str | os.PathLike[str]) -> FormatError:
    """The error about a file that holds something else."""
    return FormatError("not a checkpoint of an enumeration, or a damaged one", path=path)


def digest(body: object) -> str:
    """The SHA-256 of a state."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def rows_of(rows: list[list[Any]], settings: Settings) -> Rows:
    """Records as they were before they became JSON; ValueError or TypeError for anything else."""
    if [len(row) for row in rows] != [len(COLUMNS)] * settings.num_merges:
        raise ValueError("found another number of records")
    return [[None if cell is None else record_of(*cell) for cell in row] for row in rows]


def record_of(value: list[Any], witness: object) -> tuple[Pair, str]:
    """A value, which is never 0 and has 32 bits, and the string that has it."""
    most = (1 << 31) - 1
    numerator, denominator = (check_count("value", number, least=1, most=most) for number in value)
    if not isinstance(witness, str):
        raise TypeError("found no string")
    return (numerator, denominator), witness
