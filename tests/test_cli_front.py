"""The command line as a newcomer meets it: early refusals, hints, pipes, terminals, all options."""

from __future__ import annotations

import fcntl
import inspect
import io
import json
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import PROGRAM, call, low_tokenizer, start
from processes import HANGS

import mergewise as mw
from mergewise.cli import main
from mergewise.cli.completion import commands_of
from mergewise.cli.parser import COMMANDS, make_parser
from mergewise.optimize import improving
from mergewise.progress import Reporter, SearchReporter, Ticker, columns_of
from mergewise.sources import size_of_standard_input

TEXT = "low lower lowest\n" * 20


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    return low_tokenizer(tmp_path)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT)
    return path


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever counts or encodes a corpus fails the test."""

    def read(*_: object, **__: object) -> None:
        pytest.fail("the corpus was read before the arguments were checked")

    for place in ("corpora.count_and_leave_out", "reporting.report_files", "improving.counts_for"):
        monkeypatch.setattr(f"mergewise.cli.{place}", read)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("train {corpus} --vocab-size 10 -o t.json", 1, "vocab_size must be at least 256"),
        ("train {corpus} --vocab-size -5 -o t.json", 2, "0 or more, found '-5'"),
        ("train {corpus} --merges 5 -o t.xyz", 1, "no format is written to a file named"),
        ("train {corpus} --merges 5 -o no/t.json", 1, "No such file"),
        ("train {corpus} --merges 5 --improve -1 -o t.json", 2, "expected seconds, 0 or more"),
        ("train {corpus} --merges 5 --min-frequency 0 -o t.json", 2, "1 or more, found '0'"),
        ("train {corpus} --merges 5 --then-across 9 -o t.json", 1, "then_across needs"),
        ("train {corpus} --merges 5 --normalize nfc -o t.tiktoken", 1, "cannot represent"),
        ("count {corpus} --min-count -1 -o c.counts", 2, "0 or more"),
        ("count {corpus} -o no/c.counts", 1, "No such file"),
        ("certify {tokenizer} {corpus} --time-limit nan", 2, "expected seconds"),
        ("certify {tokenizer} {corpus} --against merges --save no/c.cert", 1, "No such file"),
        ("improve {tokenizer} {corpus} --moves -1 -o t.json", 2, "0 or more"),
        ("improve {tokenizer} {corpus} -o t.xyz", 1, "no format is written"),
        ("report {tokenizer} {corpus} --time-limit -1 -o r.html", 2, "expected seconds"),
        ("report {tokenizer} {corpus} -o no/r.html", 1, "No such file"),
        ("report {tokenizer} {corpus} --threads x -o r.html", 2, "a whole number"),
        ("report {tokenizer} {corpus} -o r.pdf", 2, "a page is HTML: expected a name that ends in"),
        ("encode {tokenizer} {corpus} -o ids.txt", 2, "hint: leave -o out to write ids as text"),
    ],
)
def test_mistakes_are_found_before_the_work(
    arguments: str, status: int, message: str, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tokenizer.parent)
    corpus = tokenizer.with_name("corpus.txt")
    corpus.write_text(TEXT)
    forbid_reading(monkeypatch)
    words = [word.format(corpus=corpus, tokenizer=tokenizer) for word in arguments.split()]
    done = call(*words)
    assert (done.status, message in done.errors) == (status, True), done.errors


def test_solve_and_explain_check_their_outputs_first(tmp_path: Path) -> None:
    missing = tmp_path / "no"
    for name, output in (("solve", "x.json"), ("explain", "x.html")):
        done = call(name, "abab", "--merges", "1", "-o", missing / output)
        assert (done.status, done.output) == (1, b"")
    assert call("explain", "abab", "--merges", "1", "--svg", missing / "x").status == 1
    done = call("explain", "abab", "--merges", "1", "-o", tmp_path / "x.pdf")
    assert (done.status, "a page is HTML" in done.errors) == (2, True)


def test_without_a_command_all_are_listed() -> None:
    done = call()
    assert (done.status, done.output) == (2, b"")
    assert COMMANDS.keys() <= {line.split()[0] for line in done.errors.splitlines() if line}


def test_a_token_at_the_end_of_documents_can_be_added(
    tokenizer: Path, corpus: Path, tmp_path: Path
) -> None:
    ids = tmp_path / "ids.npy"
    end = ["--end-of-document", "<|eot|>", "-q", "-o", str(ids)]
    done = call("encode", tokenizer, corpus, *end)
    assert done.status == 1
    assert 'hint: --special "<|eot|>" adds it' in done.errors
    assert 'mergewise convert --special "<|eot|>"' in done.errors
    assert call("encode", tokenizer, corpus, *end, "--special", "<|eot|>").status == 0
    assert mw.open_tokens(ids)[0][-1] == 260
    more = tmp_path / "more.json"
    assert call("convert", tokenizer, more, "--special", "<|eot|>").status == 0
    assert mw.Tokenizer.from_file(more).special_tokens == {"<|end|>": 259, "<|eot|>": 260}


def test_special_means_a_special_token_everywhere() -> None:
    helps = {
        (command.name, option.nargs, "special token" in str(option.help))
        for command in commands_of(make_parser())
        for option in command.flagged
        if "--special" in option.option_strings
    }
    assert {"train", "count", "encode", "decode", "convert"} <= {name for name, _, _ in helps}
    assert {(nargs, is_said) for _, nargs, is_said in helps} == {(None, True)}


def test_special_tokens_are_allowed_one_by_one(tokenizer: Path) -> None:
    text = b"lo<|end|><|b|>"
    one = call("encode", tokenizer, "--special", "<|b|>", "--allow-special", "<|end|>", stdin=text)
    assert (one.status, "<|b|>" in one.errors) == (1, True)
    both = ["--special", "<|b|>", "--allow-special", "<|end|>", "--allow-special", "<|b|>"]
    assert call("encode", tokenizer, *both, stdin=text).text == "256 259 260\n"
    rest = ["--special", "<|b|>", "--allow-special", "<|end|>", "--ordinary"]
    ids = [256, 259, *b"<|b|>"]
    assert call("encode", tokenizer, *rest, stdin=text).text == f"{' '.join(map(str, ids))}\n"


def piped(*arguments: str | Path, stdin: bytes = b"") -> tuple[bytes, bytes]:
    """What a process writes to standard output and to standard error."""
    process = start(*arguments)
    output, errors = process.communicate(stdin, timeout=HANGS)
    assert process.returncode == 0, errors
    return output, errors


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ("count {corpus} -q", b"mwcounts"),
        ("train {corpus} --merges 5 -q", b"{"),
        ("convert {tokenizer}", b"{"),
        ("improve {tokenizer} {corpus} --moves 10 --certify 0 -q", b"{"),
        ("encode {tokenizer} {corpus} -q", bytes([1, 1])),
        ("report {tokenizer} {corpus} --no-certify -q", b"<!doctype html>"),
        ("explain abab --merges 1", b"<!doctype html>"),
        ("solve abab --merges 1 -q", b"{"),
    ],
)
def test_a_dash_is_standard_output(
    arguments: str, begins: bytes, tokenizer: Path, corpus: Path
) -> None:
    words = [word.format(corpus=corpus, tokenizer=tokenizer) for word in arguments.split()]
    outputs = ["-"] if words[0] == "convert" else ["-o", "-"]
    output, errors = piped(*words, *outputs)
    assert output.startswith(begins)
    assert errors  # the facts, which are no part of the output
    if begins == b"{":
        json.loads(output)


def test_standard_input_may_replace_an_output(tokenizer: Path, tmp_path: Path) -> None:
    counts = tmp_path / "c.counts"
    for text in (b"low", b"low lower"):
        assert call("count", "-", "-o", counts, stdin=text).status == 0
        assert mw.WordCounts.from_file(counts).num_symbols == len(text)
    made = tmp_path / "t.json"
    for _ in range(2):
        assert call("train", "-", "--merges", "1", "-o", made, stdin=b"low low").status == 0
    ids = tmp_path / "ids.npy"
    for _ in range(2):
        assert call("encode", tokenizer, "-", "-o", ids, stdin=b"low low").status == 0


def test_the_end_of_a_pipe_tells_no_wrong_size(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = Reporter(progress=True, label="count", total=0, unit="B")
    reporter.close(0)
    reporter(1_500)
    reporter.close(0)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("count: done in")
    assert second.startswith("count: 1.5 kB, ")


class Terminal(io.StringIO):
    """A terminal that does not say how wide it is."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (63, "encode: 25% 1.5 MB, 100 s left, 12.3 MB/s, 16,417,856 tokens/s"),
        (62, "encode: 25% 1.5 MB, 100 s left, 12.3 MB/s"),
        (41, "encode: 25% 1.5 MB, 100 s left"),
        (19, "encode: 25% 1.5 MB"),
        (10, "encode: 2"),
    ],
)
def test_a_bar_fits_the_terminal(columns: int, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mergewise.progress.columns_of", lambda _: columns)
    ticker = Ticker("encode", out=(terminal := Terminal()))
    ticker("25% 1.5 MB, 100 s left, 12.3 MB/s, 16,417,856 tokens/s")
    ticker.close("1.5 MB, 12.3 MB/s")
    line, last = terminal.getvalue().split("\r\x1b[K")[1:]
    assert line == shown
    assert last.startswith("encode: 1.5 MB, 12.3 MB/s in ")


def test_a_terminal_says_how_wide_it_is() -> None:
    screen, side_of_process = pty.openpty()
    with os.fdopen(side_of_process, "w") as terminal:
        assert columns_of(terminal) == 80
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 33, 0, 0))
        assert columns_of(terminal) == 33
    os.close(screen)
    assert columns_of(Terminal()) == 80


def test_what_is_said_begins_below_an_unfinished_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        Ticker("count")("25%")
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    Ticker("count")("50%")
    assert main(["count", "missing.txt", "-o", "c.counts"]) == 1
    monkeypatch.setattr("mergewise.cli.run", interrupted)
    assert main([]) == 130
    first, error, second, last, end = terminal.getvalue().split("\n")
    assert (first, second) == ("\r\x1b[Kcount: 50%", "\r\x1b[Kcount: 25%")
    assert error.startswith("mergewise: error: ")
    assert (last, end) == ("mergewise: interrupted", "")


@pytest.mark.parametrize("options", [[], ["--json"], ["--pieces"], ["--pieces", "--json"]])
@pytest.mark.parametrize("lines", [["--lines"], []])
def test_decode_reads_what_encode_writes(
    options: list[str], lines: list[str], tokenizer: Path
) -> None:
    text = "low lower é 日本 [1, 2]\n [\\x]\u2581\t\nlowest"
    written = call("encode", tokenizer, *options, *lines, stdin=text.encode())
    assert written.status == 0
    read = [option for option in options if option == "--pieces"]
    back = call("decode", tokenizer, *read, *lines, stdin=written.output)
    assert back.text == (f"{text}\n" if lines else text), back.errors


def test_decode_names_what_is_no_token(tokenizer: Path) -> None:
    for line in (b"low zzz\n", b'["low", "zzz"]\n', b"[1, 2\n", b"[1]\n", b"\xff\n"):
        done = call("decode", tokenizer, "--pieces", stdin=line)
        assert (done.status, "expected tokens" in done.errors) == (1, True), line


def test_decode_reads_every_file_of_encode(tokenizer: Path, corpus: Path, tmp_path: Path) -> None:
    bare, many = tmp_path / "ids.bin", tmp_path / "many.npy"
    assert call("encode", tokenizer, corpus, "-q", "-o", bare).status == 0
    assert call("decode", tokenizer, bare, "--dtype", "uint16").text == TEXT
    parts = ["--documents", "lines", "--validation", "0.5", "-q", "-o", str(many)]
    assert call("encode", tokenizer, corpus, *parts).status == 0
    manifest = many.with_suffix(".json")
    splits = [
        call("decode", tokenizer, manifest, "--split", s).text for s in ("train", "validation")
    ]
    assert sorted("".join(splits).splitlines()) == sorted(TEXT.splitlines())


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_decode_reads_the_array_of_a_pipe(dtype: str, tokenizer: Path, corpus: Path) -> None:
    array, _ = piped("encode", tokenizer, corpus, "--dtype", dtype, "-q", "-o", "-")
    assert call("decode", tokenizer, "--dtype", dtype, stdin=array).text == TEXT
    cut = call("decode", tokenizer, "--dtype", dtype, stdin=array[:-1])
    assert (cut.status, "behind the last number" in cut.errors) == (1, True)
    assert call("decode", tokenizer, "--dtype", dtype, "--lines", stdin=array).status == 2


def test_decode_can_leave_special_tokens_out(tokenizer: Path) -> None:
    for options in ([], ["--lines"]):
        done = call("decode", tokenizer, "--skip-special-tokens", *options, stdin=b"256 259 257\n")
        assert done.text.rstrip("\n") == "lolow"


def told_at_terminal(*arguments: str | Path) -> str:
    """What a command says when it reads from a terminal where nothing is typed but the end."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdin=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(side)
    os.write(terminal, b"\x04\x04")
    try:
        _, errors = process.communicate(timeout=HANGS)
    finally:
        os.close(terminal)
    return errors.decode()


def test_a_terminal_is_told_what_is_awaited(tokenizer: Path, tmp_path: Path) -> None:
    assert "type a text, and then Ctrl-D" in told_at_terminal("encode", tokenizer)
    assert "type ids, and then Ctrl-D" in told_at_terminal("decode", tokenizer)
    counts = tmp_path / "c.counts"
    assert "type a text" in told_at_terminal("count", "-", "-o", counts)
    assert "type" not in call("encode", tokenizer, stdin=b"low").errors


@pytest.mark.parametrize("name", ["explain", "forest", "solve", "curvature"])
def test_a_text_that_is_a_file_is_asked_about(name: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("abab")
    done = call(name, file, "--merges", "1")
    assert done.status == 2
    assert "is a file: give --file to take its text, --text to take its name" in done.errors
    assert (
        call(name, file, "--file", "--merges", "1").output
        == call(name, "abab", "--merges", "1").output
    )
    assert call(name, "-", "--file", "--merges", "1", stdin=b"abab").status == 0


def test_a_name_can_be_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("abab").write_text("zz")
    assert "abab" in call("solve", "abab", "--text", "--merges", "2").text


def test_a_search_tells_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(Ticker, "__call__", lambda _, state: told.append(state))
    monkeypatch.setattr(Ticker, "close", lambda *_: None)
    counts = mw.count([TEXT], pattern="whitespace")
    mw.improve(mw.train(counts, num_merges=4), counts, num_moves=500_000, progress=True)
    assert told
    assert all("moves" in state for state in told)
    assert any(state.endswith(" s left") for state in told)


def test_standard_input_that_is_a_file_has_a_size(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with corpus.open(encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert size_of_standard_input() == len(TEXT)
        file.buffer.read(10)
        assert size_of_standard_input() == len(TEXT) - 10
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"low")))
    assert size_of_standard_input() == 0


# How a command has each option of its function: under another name, or why it does not.
NAMES = {
    "num_merges": "--merges",
    "num_moves": "--moves",
    "num_steps": "--steps",
    "num_cases": "--cases",
    "num_threads": "--threads",
    "special_tokens": "--special",
    "allowed_special": "--allow-special",
    "disallowed_special": "--ordinary",
    "pinned": "--pin",
    "progress": "--quiet",
    "by": "--formal",
    "output": "--output",
}
ARGUMENTS = {"self", "paths", "path", "counts", "corpus", "tokenizer", "text", "texts", "ids"}
MISSING = {
    ("encode", "pairs"): "texts of a corpus come singly",
    ("decode", "errors"): "bytes are written as they are",
    ("report", "name"): "the names of the files",
    ("report", "compare_name"): "the names of the files",
    ("curvature", "optimal"): "a merge list of the paper, given in Python",
}
FUNCTIONS: dict[str, list[Callable[..., Any]]] = {
    "count": [mw.count_files, mw.WordCounts.prune],
    "train": [mw.count_files, mw.train],
    "convert": [mw.Tokenizer.from_file],
    "encode": [mw.Tokenizer.encode_batch, mw.Tokenizer.encode_files],
    "decode": [mw.Tokenizer.decode, mw.open_tokens],
    "certify": [mw.certify],
    "verify": [mw.Certificate.verify],
    "improve": [mw.improve],
    "solve": [mw.solve],
    "report": [mw.report_files],
    "explain": [mw.explain],
    "curvature": [mw.curvature],
}


def test_commands_have_every_option_of_python() -> None:
    commands = {
        command.name: {word for option in command.flagged for word in option.option_strings}
        for command in commands_of(make_parser())
    }
    for name, functions in FUNCTIONS.items():
        wanted = {p for f in functions for p in inspect.signature(f).parameters} - ARGUMENTS
        # --from is the format that is read; --format of `encode` the one that is written.
        renamed = {"format": "--from" if name == "convert" else "--format"}
        for parameter in wanted - {p for n, p in MISSING if n == name}:
            option = renamed.get(parameter) or NAMES.get(parameter)
            assert (option or f"--{parameter.replace('_', '-')}") in commands[name], (
                name,
                parameter,
            )


def test_the_time_left_ends_at_zero() -> None:
    reporter = SearchReporter(
        progress=False, label="search", state=str, time_limit=improving.TIME_LIMIT
    )
    assert reporter.left(1, improving.TIME_LIMIT + 5) == ", 0 s left"
