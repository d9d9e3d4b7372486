"""The targets: each takes bytes, and raises where something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz.encoding import check_count, check_encode
from fuzz.readers import FILES, check_counts, check_reader

SEEDS = Path(__file__).parent.parent / "data" / "fuzz"
TARGETS: dict[str, Callable[[bytes], None]] = {
    **{name: partial(check_reader, name) for name in FILES if name != "counts"},
    "counts": check_counts,
    "count": check_count,
    "encode": check_encode,
}


def seeds(target: str) -> list[Path]:
    """The files that a target begins with."""
    return sorted((SEEDS / target).iterdir())
