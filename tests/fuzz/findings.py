"""Findings: a check that goes on after a failure."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path


class Findings:
    """A check that goes on after a failure, and keeps one input for each kind of failure."""

    def __init__(self, check: Callable[[bytes], None], folder: Path) -> None:
        self.check = check
        self.folder = folder
        self.known: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, data: bytes) -> None:
        """Check an input."""
        try:
            self.check(data)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception
            kind = getattr(error, "finding", None) or kind_of(error)
            if kind in self.known:
                return
            self.known.add(kind)
            path = self.folder / kind
            path.write_bytes(data)
            traceback.print_exc(limit=-6)
            sys.stderr.write(f"FINDING: {path}\n")


def kind_of(error: BaseException) -> str:
    """The class of an error and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/fuzz/" in frame.filename]
    places = (f"{frame.name}{frame.lineno}" for frame in (inside[-1], frames[-1]))
    return "-".join([type(error).__name__, *places]).replace("<", "").replace(">", "")
