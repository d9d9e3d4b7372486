"""The command line: data to standard output, one line for an error, the right exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mergewise as mw

TEXT = "the cat sat on the mat and the rat sat on the cat\n" * 20


def mergewise(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from mergewise.cli import main; raise SystemExit(main())"]
        + [str(argument) for argument in arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    return path


def test_count_and_train_in_two_steps_equal_one(corpus: Path, tmp_path: Path) -> None:
    counts, two, one = tmp_path / "c.counts", tmp_path / "two.json", tmp_path / "one.json"
    done = mergewise("count", corpus, "--pattern", "gpt2", "-o", counts, "--json")
    assert (done.returncode, json.loads(done.stdout)["bytes"]) == (0, len(TEXT))
    assert mw.WordCounts.from_file(counts) == mw.count([TEXT], pattern="gpt2")
    assert mergewise("train", counts, "--vocab-size", "268", "-o", two).returncode == 0
    done = mergewise("train", corpus, "--pattern", "gpt2", "--merges", "12", "-o", one, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "268 tokens, 12 merges\n"
    assert one.read_bytes() == two.read_bytes()
    written = json.loads(one.read_text(encoding="utf-8"))
    assert len(written["model"]["merges"]) == 12


def test_standard_input_and_progress(tmp_path: Path) -> None:
    output = tmp_path / "c.counts"
    done = mergewise("count", "-", "--pattern", "none", "-o", output, stdin=TEXT)
    assert done.returncode == 0
    assert "count:" in done.stderr
    assert mw.WordCounts.from_file(output).num_unique == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "missing.txt", "--merges", "1", "-o", "x.json"], "missing.txt"),
        (["train", "{corpus}", "--vocab-size", "10", "-o", "x.json"], "vocab_size must be at"),
        (["train", "{corpus}", "--merges", "1", "--pattern", "gpt-2", "-o", "x"], "no pattern is"),
        (["train", "{corpus}", "x.counts", "--merges", "1", "-o", "x.json"], "cannot be mixed"),
        (["count", "{corpus}", "-o", "{folder}/no/such/folder"], "No such file"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str], message: str, corpus: Path, tmp_path: Path
) -> None:
    filled = [a.format(corpus=corpus, folder=tmp_path) for a in arguments]
    done = mergewise(*filled, "-q")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert sorted(tmp_path.iterdir()) == [corpus]


def test_stopping_early_is_said(corpus: Path, tmp_path: Path) -> None:
    done = mergewise("train", corpus, "--merges", "100000", "-q", "-o", tmp_path / "t.json")
    assert done.returncode == 0
    assert done.stderr.startswith("mergewise: warning: stopped after")


def test_mistakes_in_the_arguments() -> None:
    assert mergewise("train").returncode == 2
    assert mergewise("nonsense").returncode == 2


def test_help_has_examples() -> None:
    assert "mergewise train corpus.txt" in mergewise("train", "--help").stdout


def test_demo_shows_what_there_is() -> None:
    done = mergewise("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Opticks" in done.stdout
