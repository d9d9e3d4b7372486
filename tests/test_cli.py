"""The command line: data to standard output, one line for an error, the right exit status."""

from __future__ import annotations

import contextlib
import gzip
import importlib.metadata
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import PROGRAM, call, low_tokenizer, start
from processes import HANGS

import mergewise as mw
from mergewise.cli.completion import commands_of
from mergewise.cli.parser import make_parser
from mergewise.cli.wording import COMMAND, HINTS, OPTION, hints_for, own_options
from mergewise.errors import HINTS as PYTHON_HINTS

TEXT = "the cat sat on the mat and the rat sat on the cat\n" * 20


def mergewise(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
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
        (
            ["train", "{corpus}", "--merges", "1", "--pattern", "gpt-2", "-o", "x.json"],
            "no pattern is",
        ),
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


def test_hints_name_options_that_the_command_has(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "t.tiktoken"
    arguments = ["--merges", "5", "--normalize", "nfc", "--pattern", "gpt2", "-q"]
    done = call("train", corpus, *arguments, "-o", output)
    assert done.status == 1
    assert "hint: write a tokenizer.json; `mergewise convert --lossy` writes" in done.errors
    json_file = tmp_path / "t.json"
    assert call("train", corpus, *arguments, "-o", json_file).status == 0
    done = call("convert", json_file, output)
    assert done.errors.endswith("; hint: --lossy writes the rest\n")
    records = tmp_path / "r.jsonl"
    records.write_text('{"body": "low"}\n')
    done = call("count", records, "-q", "-o", tmp_path / "c.counts")
    assert done.errors.endswith(
        "r.jsonl: line 1: found the fields 'body', expected 'text'; hint: give --field\n"
    )
    damaged = tmp_path / "d.txt.gz"
    damaged.write_bytes(gzip.compress(b"low lower lowest " * 100)[:-9])
    done = call("count", damaged, "-q", "-o", tmp_path / "c.counts")
    assert done.errors.endswith("; hint: the file is damaged or cut short\n")


def test_every_hint_that_names_arguments_of_python_has_other_words() -> None:
    assert HINTS.keys() <= PYTHON_HINTS.keys()
    for name, hint in PYTHON_HINTS.items():
        assert all("=" not in wording for wording in HINTS.get(name, (hint,)))


def test_no_command_hints_at_options_that_it_lacks() -> None:
    commands = {
        command.name: {word for option in command.flagged for word in option.option_strings}
        for command in commands_of(make_parser())
    }
    for own in commands.values():
        for hint in hints_for(own).values():
            assert own_options(hint) <= set(own)
    for wordings in HINTS.values():
        for named in COMMAND.findall(" ".join(wordings)):
            assert set(OPTION.findall(named)) <= set(commands[named.split()[1].strip("`")])


def test_stopping_early_is_said(corpus: Path, tmp_path: Path) -> None:
    done = mergewise("train", corpus, "--merges", "100000", "-q", "-o", tmp_path / "t.json")
    assert done.returncode == 0
    assert done.stderr.startswith("mergewise: warning: stopped after")


def test_mistakes_in_the_arguments() -> None:
    assert mergewise("train").returncode == 2
    assert mergewise("nonsense").returncode == 2


def test_every_command_has_examples() -> None:
    for command in commands_of(make_parser()):
        text = call(command.name, "--help").text
        examples = text.split("examples:\n")[1].splitlines()
        assert len(examples) >= 2
        assert all(f"mergewise {command.name}" in example for example in examples)


def test_version() -> None:
    version = importlib.metadata.version("mergewise")
    assert call("--version").text == f"mergewise {version}\n"
    assert mw.__version__ == version


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "mergewise", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"mergewise {mw.__version__}\n"


def test_options_may_stand_among_files(corpus: Path, tmp_path: Path) -> None:
    counts = tmp_path / "c.counts"
    done = call("count", corpus, "-q", "-o", counts, corpus)
    assert (done.status, done.errors) == (0, "")
    assert mw.WordCounts.from_file(counts).num_symbols == 2 * len(TEXT)
    done = call("count", corpus, "-q", "-o", counts, corpus, "--nonsense")
    assert done.status == 2
    assert "unrecognized arguments" in done.errors


def test_ctrl_c_leaves_no_traceback(tmp_path: Path) -> None:
    with start("encode", low_tokenizer(tmp_path), "--lines") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"low\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"257\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=HANGS) == 130
        assert process.stderr.read() == b"mergewise: interrupted\n"


@pytest.mark.parametrize("command", ["encode", "decode"])
def test_a_closed_pipe_ends_quietly(command: str, tmp_path: Path) -> None:
    stdin = b"108 " * 500_000
    with start(command, low_tokenizer(tmp_path)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)
            process.stdin.close()
        assert process.wait(timeout=HANGS) == 141
        assert process.stderr.read() == b""
