"""Every seed of the fuzz targets, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.targets import TARGETS, seeds

CASES = [
    pytest.param(target, seed, id=f"{target}/{seed.name}")
    for target in TARGETS
    for seed in seeds(target)
]


@pytest.mark.parametrize(("target", "seed"), CASES)
def test_seed(target: str, seed: Path) -> None:
    TARGETS[target](seed.read_bytes())
