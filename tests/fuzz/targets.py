"""The targets: each takes bytes, and raises where something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from fuzz import readers
from fuzz.arrow import check_arrow
from fuzz.encoding import check_count, check_encode
from fuzz.own_files import check_certificate, check_checkpoint, check_core
from fuzz.patterns import check_pattern
from fuzz.tables import check_parquet

SEEDS = Path(__file__).parent.parent / "data" / "fuzz"
TARGETS: dict[str, Callable[[bytes], None]] = {
    **{name: partial(readers.check_reader, name) for name in readers.FILES},
    "counts": readers.check_counts,
    "count": check_count,
    "encode": check_encode,
    "pattern": check_pattern,
    "arrow": check_arrow,
    "certificate": check_certificate,
    "checkpoint": check_checkpoint,
    "core": check_core,
    "parquet": check_parquet,
}
# The files in the input of a target; their names say how they are changed. Others take any bytes.
FILES: dict[str, tuple[str, ...]] = {
    **readers.FILES,
    "counts": ("x.counts",),
    "certificate": ("x.certificate", "x.counts"),
    "checkpoint": ("x.checkpoint",),
    "core": ("x.core",),
    "parquet": ("x.parquet",),
}


def seeds(target: str) -> list[Path]:
    """The files that a target begins with."""
    return sorted((SEEDS / target).iterdir())
