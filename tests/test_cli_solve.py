"""`mergewise solve`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import call, interrupt_once_shown

import mergewise as mw
from mergewise.demo import opticks


def test_a_text() -> None:
    done = call("solve", "aaabaab", "--merges", "2", "-q")
    assert (done.status, done.errors) == (0, "")
    assert done.text == "saves 4 tokens: optimal\n   1  a  b\n   2  a  ab\na aab aab\n"


def test_json_says_the_same() -> None:
    done = call("solve", "aaabaab", "--merges", "2", "--json", "-q")
    facts = json.loads(done.text)
    best = mw.solve("aaabaab", num_merges=2)
    assert facts["merges"] == [[left.decode(), right.decode()] for left, right in best.merges]
    assert (facts["status"], facts["limit"], facts["utility"]) == ("optimal", None, 4)
    assert (facts["bound"], facts["gap"], facts["nodes"]) == (4, 0.0, best.nodes)


def test_counts_and_a_file(tmp_path: Path) -> None:
    counts, output = tmp_path / "c.counts", tmp_path / "best.json"
    mw.count(["low low lower"], pattern="whitespace").save(counts)
    done = call("solve", "--counts", counts, "--merges", "3", "-o", output, "-q")
    assert done.status == 0
    best = mw.solve(mw.WordCounts.from_file(counts), num_merges=3)
    assert mw.Tokenizer.from_file(output).merges == best.merges


@pytest.mark.parametrize("method", ["guarded", "brute-force"])
def test_the_paper_s_methods(method: str) -> None:
    done = call("solve", "abaabbaa", "--merges", "2", "--method", method, "--json", "-q")
    assert json.loads(done.text)["utility"] == 4


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["solve", "--merges", "2"], 2),
        (["solve", "ab", "--counts", "x.counts", "--merges", "2"], 2),
        (["solve", "ab"], 2),
        (["solve", "ab", "--merges", "-1"], 2),
        (["solve", "--counts", "missing.counts", "--merges", "1"], 1),
    ],
)
def test_mistakes(arguments: list[str], status: int) -> None:
    done = call(*arguments)
    assert done.status == status
    assert done.text == ""
    assert "Traceback" not in done.errors


def test_interrupted_it_shows_the_best_so_far(tmp_path: Path) -> None:
    counts = tmp_path / "c.counts"
    mw.count([opticks()], pattern="gpt2").save(counts)
    arguments = "solve", "--counts", counts, "--merges", "400", "--json"
    done = interrupt_once_shown(r"utility [1-9]", *arguments)
    assert done.status == 0, done.errors
    facts = json.loads(done.text)
    assert facts["limit"] == "interrupt"
    assert 0 < facts["utility"] < facts["bound"]
