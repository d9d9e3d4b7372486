"""The wheel has the licence notices of all crates that are linked into it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from notices import NOTICES, notices

PROJECT = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")


def test_the_wheel_has_the_notices() -> None:
    assert 'license-files = ["LICENSE", "third_party/NOTICES.txt"]' in PROJECT


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_the_notices_name_every_crate_and_its_licences() -> None:
    assert NOTICES.read_text(encoding="utf-8") == notices(), "run `make notices`"
