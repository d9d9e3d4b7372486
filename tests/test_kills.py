"""A few of the kills of `make test-kills`."""

from __future__ import annotations

from pathlib import Path

from kills import COMMANDS, kill_at_random


def test_kills_leave_no_file_broken_and_no_pair_mixed(tmp_path: Path) -> None:
    num_kills = len(COMMANDS)
    found = kill_at_random(num_kills, seed=1, folder=tmp_path)
    assert found["old"] + found["new"] + found["read"] == num_kills
