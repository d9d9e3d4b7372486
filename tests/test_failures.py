"""Inputs and outputs that cannot be used: an error that names the file, and nothing is lost."""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import PROGRAM, call
from processes import HANGS, run_python
from test_files import COUNTS, PAIRS, TOKENIZER, WRITERS, Writer, every_writer, names_in

import mergewise as mw
from mergewise import saving
from mergewise.errors import MergewiseError
from mergewise.optimize import enumerate_curvature, find_worst_case
from mergewise.optimize.checkpoint import FORMAT, digest

ALL_WRITERS: dict[str, Writer] = {
    **WRITERS,
    **dict.fromkeys(PAIRS, lambda path: TOKENIZER.save(path, lossy=True)),
}
every_file = pytest.mark.parametrize("name", ALL_WRITERS)


def expect_named(error: BaseException, path: Path) -> None:
    """An error names the file of the user, and no temporary one."""
    assert str(path) in str(error)
    assert ".mergewise-" not in str(error)


# Errors name the file of the user.


@every_file
def test_a_name_may_be_as_long_as_the_system_allows(name: str, tmp_path: Path) -> None:
    longest = max(PAIRS.get(name, [name]), key=len)
    prefix = "é" * ((255 - len(longest)) // 2)
    path = tmp_path / (prefix + name)
    for _ in range(2):
        ALL_WRITERS[name](path)
    assert names_in(tmp_path) == [prefix + file for file in PAIRS.get(name, [name])]


def test_ranks_with_a_long_name_are_read_without_settings(tmp_path: Path) -> None:
    TOKENIZER.save(tmp_path / "x.tiktoken")
    path = tmp_path / ("x" * 246 + ".tiktoken")
    (tmp_path / "x.tiktoken").rename(path)
    assert mw.Tokenizer.from_file(path, pattern="whitespace").merges == TOKENIZER.merges


@every_file
def test_a_folder_that_is_missing_or_a_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "text.txt").write_text("low lower")
    for folder in ("missing", "file"):
        path = tmp_path / folder / name
        with pytest.raises(OSError, match=r"No such file|Not a directory") as caught:
            write_there(name, path, tmp_path)
        expect_named(caught.value, tmp_path / folder)


def write_there(name: str, path: Path, folder: Path) -> None:
    """Write to a path and nowhere else; the ids are those of text.txt in the folder."""
    if name in {"x.bin", "x.npy"}:
        TOKENIZER.encode_files(folder / "text.txt", path)
    else:
        ALL_WRITERS[name](path)


@contextmanager
def largest_file(num_bytes: int) -> Iterator[None]:
    """A limit on the size of files, as a full disk would set it."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


@every_file
def test_a_full_disk_is_an_error_and_the_old_files_stay(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "check_conversion", lambda *_: None)
    path = tmp_path / name
    names = PAIRS.get(name, [name])
    for file in names:
        (tmp_path / file).write_bytes(b"old")
    (tmp_path / "text.txt").write_text("low lower")
    with largest_file(4), pytest.raises(OSError, match="File too large") as caught:
        write_there(name, path, tmp_path)
    expect_named(caught.value, tmp_path)
    (tmp_path / "text.txt").unlink()
    assert names_in(tmp_path) == names
    assert {(tmp_path / file).read_bytes() for file in names} == {b"old"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@every_writer
def test_a_full_device_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/full")
    (tmp_path / "text.txt").write_text("low lower")
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_there(name, path, tmp_path)
    expect_named(caught.value, path)
    assert Path("/dev/full").is_char_device()


# Root may write and read all, and another user may not read every Python: it is loaded before.
AS_NOBODY = """
from mergewise.cli import main
arguments = sys.argv[1:]
main(arguments)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.stderr = sys.stdout
print(main(arguments))
"""


@pytest.fixture
def folder_of_root() -> Iterator[Path]:
    """Only root may write to it; not below the folder of pytest, which only its owner enters."""
    if os.getuid() != 0:
        pytest.skip("only root can become a user who may not write")
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["x.json", "x.tiktoken"])
def test_a_folder_that_is_read_only_is_an_error(name: str, folder_of_root: Path) -> None:
    source, path = folder_of_root / "tok.json", folder_of_root / name
    TOKENIZER.save(source)
    TOKENIZER.save(path)
    before = {file.name: file.read_bytes() for file in folder_of_root.iterdir()}
    *_, error, status = run_python(AS_NOBODY, "convert", str(source), str(path)).splitlines()
    assert error.startswith(f"mergewise: error: {path}")
    assert error.endswith(": Permission denied")
    assert status == "1"
    assert {file.name: file.read_bytes() for file in folder_of_root.iterdir()} == before


def test_a_folder_that_cannot_be_read_is_not_left_out(folder_of_root: Path) -> None:
    for name in ("open", "closed"):
        (folder_of_root / name).mkdir()
        (folder_of_root / name / "a.txt").write_text("low lower")
    (folder_of_root / "closed").chmod(0o700)
    TOKENIZER.save(folder_of_root / "tok.json")
    arguments = ["encode", str(folder_of_root / "tok.json"), str(folder_of_root)]
    *_, error, status = run_python(AS_NOBODY, *arguments).splitlines()
    assert error == f"mergewise: error: {folder_of_root / 'closed'}: Permission denied"
    assert status == "1"


ENCODE_WITH_FEW_THREADS = """
import resource, mergewise as mw
source, text, out, most = sys.argv[1:]
tokenizer = mw.Tokenizer.from_file(source)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (int(most), int(most)))
try:
    print(tokenizer.encode_files(text, out, num_threads=16).num_tokens)
except OSError as error:
    print(error)
"""


@pytest.mark.parametrize("most_threads", [1, 2, 4])
def test_a_system_that_starts_few_threads(most_threads: int, folder_of_root: Path) -> None:
    """As in containers that limit them: fewer threads do the work; without any it is an error."""
    source, text, out = (folder_of_root / name for name in ("tok.json", "a.jsonl", "out"))
    TOKENIZER.save(source)
    text.write_text('{"text": "low lower"}\n' * 100_000)
    out.mkdir()
    out.chmod(0o777)
    arguments = [*map(str, (source, text, out / "o.npy", most_threads))]
    num_tokens = 100_000 * len(TOKENIZER.encode("low lower"))
    expected = "Resource temporarily unavailable" if most_threads == 1 else str(num_tokens)
    (printed,) = run_python(ENCODE_WITH_FEW_THREADS, *arguments).splitlines()
    assert printed.startswith(expected)


# Names that no file can have.

NO_NAMES = ["a\ud800.json", "a\0.json"]
BY_NAME: dict[str, Callable[[str], Any]] = {
    "count_files": mw.count_files,
    "Tokenizer.from_file": mw.Tokenizer.from_file,
    "Tokenizer.save": TOKENIZER.save,
    "WordCounts.from_file": mw.WordCounts.from_file,
    "WordCounts.save": COUNTS.save,
    "Certificate.from_file": mw.Certificate.from_file,
    "Explanation.save": mw.explain("abab", num_merges=1).save,
    "Explanation.save_svgs": mw.explain("abab", num_merges=1).save_svgs,
    "encode_files": lambda name: TOKENIZER.encode_files(__file__, name),
    "report": mw.report(TOKENIZER, COUNTS, time_limit=0).save,
    "optimize_vocabulary": mw.optimize_vocabulary(COUNTS, num_tokens=1, num_steps=1).save,
    "checkpoint": lambda name: enumerate_curvature(1, num_letters=1, num_merges=1, checkpoint=name),
}


@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
@pytest.mark.parametrize("function", BY_NAME)
def test_a_name_that_no_file_can_have_is_an_error_of_ours(function: str, name: str) -> None:
    with pytest.raises((MergewiseError, FileNotFoundError)) as caught:
        BY_NAME[function](name)
    assert repr(name) in str(caught.value)


def test_files_may_have_names_that_are_no_text(tmp_path: Path) -> None:
    """Python's names of such files have halves of surrogate pairs, which no page can hold."""
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("low lower")
    tokenizer = tmp_path / os.fsdecode(b"\xff.json")
    TOKENIZER.save(tokenizer)
    page = tmp_path / "report.html"
    done = call("report", tokenizer, path, "--no-certify", "-q", "-o", page)
    assert done.status == 0, done.errors
    assert r"caf\udce9.txt" in page.read_text()
    assert call("count", path, "-q", "-o", tmp_path / os.fsdecode(b"\xff.counts")).status == 0


# Numbers and files of another shape.


@pytest.mark.parametrize("number", [-1, 1 << 63, 1 << 64, 1 << 70])
def test_numbers_that_no_count_can_be_are_refused(number: int) -> None:
    for function in (
        COUNTS.prune,
        COUNTS.top,
        lambda n: mw.train(COUNTS, num_merges=1, min_frequency=n),
        lambda n: mw.train(COUNTS, num_merges=1, max_token_length=n),
        lambda n: mw.improve(TOKENIZER, COUNTS, num_moves=n),
        lambda n: mw.certify(TOKENIZER, COUNTS, num_steps=n),
        lambda n: mw.curvature("abab", num_merges=n),
        lambda n: mw.solve("abab", num_merges=1, node_limit=n),
        lambda n: mw.optimize_vocabulary(COUNTS, num_tokens=n),
    ):
        with pytest.raises(ValueError, match=f"found {number}$"):
            function(number)


SPARK = "org.apache.spark.sql.parquet.row.metadata"
CUT = '{"counts": 1, "pattern": %s, "normalize": null}'
TABLES: dict[str, tuple[Any, dict[str, str], str]] = {
    "no column": ({"other": ["a"]}, {}, "found the columns 'other', expected 'text'"),
    "numbers": ({"text": [1]}, {}, "the column 'text' holds int64, expected strings"),
    "Spark's, no JSON": ({"word": [b"a"]}, {SPARK: "x"}, "found other metadata of Spark's"),
    "Spark's, a list": ({"word": [b"a"]}, {SPARK: "[1]"}, "found other metadata of Spark's"),
    "Spark's, fields": ({"word": [b"a"]}, {SPARK: '{"fields": [1]}'}, "found other metadata"),
    "no counts": ({"word": [b"a"]}, {"mergewise": CUT % "null"}, "expected 'count'"),
    "a negative count": (
        {"word": [b"a", b"b"], "count": [1, -1]},
        {"mergewise": CUT % "null"},
        "row 1: found the count -1, expected 1 or more",
    ),
    "no pattern": ({"word": [b"a"], "count": [1]}, {"mergewise": CUT % '"("'}, "invalid pattern"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_another_shape_are_named(name: str, tmp_path: Path) -> None:
    columns, metadata, message = TABLES[name]
    path, good = tmp_path / "x.parquet", tmp_path / "good.parquet"
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    mw.count(["a", "b"], pattern=None).save(good)
    read = mw.count_files if "text" in message else mw.WordCounts.from_file
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    expect_named(caught.value, path)
    if name == "a negative count":
        with pytest.raises(ValueError, match=rf"x\.parquet: {message}"):
            mw.WordCounts.from_files([good, path])
    assert call("train", path, "--merges", "1", "-o", tmp_path / "x.json").status == 1


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), path)
    message = r"x\.parquet: found 2 columns 'text', expected one"
    with pytest.raises(MergewiseError, match=message):
        mw.count_files(path)


LIMITED: dict[str, Callable[..., object]] = {
    "certify": partial(mw.certify, TOKENIZER, COUNTS),
    "certify_prefixes": partial(mw.certify_prefixes, TOKENIZER, COUNTS),
    "curvature": partial(mw.curvature, "abab", num_merges=2),
    "find_worst_case": partial(find_worst_case, 7, num_letters=2, num_merges=2),
    "improve": partial(mw.improve, TOKENIZER, COUNTS),
    "optimize_vocabulary": partial(mw.optimize_vocabulary, COUNTS, num_tokens=1),
    "report": partial(mw.report, TOKENIZER, COUNTS),
    "solve": partial(mw.solve, "abab", num_merges=2),
}


@pytest.mark.parametrize("call", LIMITED.values(), ids=LIMITED)
@pytest.mark.parametrize("time_limit", [math.nan, -1, "1", True], ids=str)
def test_a_time_limit_is_a_number_of_seconds(
    call: Callable[..., object], time_limit: object
) -> None:
    with pytest.raises((TypeError, ValueError), match="time_limit must be"):
        call(time_limit=time_limit)


GOOD_ROWS = [[None] * 11]
STATES: dict[str, Any] = {
    "a number": 5,
    "a list": [],
    "nothing": {},
    **{
        f"{key} is {json.dumps(value)[:20]}": {key: value}
        for key in ("cells", "current", "num_units")
        for value in ("x", -1, [5], [[1]], [[1, 1, [5]]], [[1, 1, [[[1, 0], "a"]]]], {"a": 1})
    },
    "another cell": {"cells": [[9, 9, GOOD_ROWS]]},
    "no cells": {"cells": None},
    "no number": {"num_units": None},
}


@pytest.mark.parametrize("name", STATES)
def test_checkpoints_of_another_shape_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"

    def run() -> object:
        return enumerate_curvature(3, num_letters=2, num_merges=1, checkpoint=path)

    expected = run()
    good = json.loads(path.read_text())["state"]
    state = STATES[name] if not isinstance(STATES[name], dict) else {**good, **STATES[name]}
    state = {} if name == "nothing" else state
    path.write_text(json.dumps({"format": FORMAT, "sha256": digest(state), "state": state}))
    with pytest.raises(MergewiseError, match="not a checkpoint") as caught:
        run()
    expect_named(caught.value, path)
    path.write_text(json.dumps({"format": FORMAT, "sha256": digest(good), "state": good}))
    assert run() == expected


# The command line.


@pytest.mark.parametrize("command", ["count", "train", "encode", "improve", "report", "certify"])
@pytest.mark.parametrize("name", [b"missing.txt", b"\xff.txt", b"\xed\xa0\x80.txt", b"x" * 300])
def test_every_verb_says_in_a_line_which_file_is_missing(
    command: str, name: bytes, tmp_path: Path
) -> None:
    tokenizer = tmp_path / "tok.json"
    TOKENIZER.save(tokenizer)
    more: list[str | Path] = [] if command in {"count", "train"} else [tokenizer]
    options = {"train": ["--merges", "1"], "certify": ["--against", "merges"]}.get(command, [])
    ending = {"encode": "npy", "report": "html"}.get(command, "json")
    output = ["--save" if command == "certify" else "-o", tmp_path / f"x.{ending}"]
    done = subprocess.run(
        [
            *PROGRAM,
            command,
            *map(str, more),
            os.fsencode(tmp_path) + b"/" + name,
            *options,
            *output,
        ],
        capture_output=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"mergewise: error: {tmp_path}/".encode())
    assert done.stderr.count(b"\n") == 1
    assert names_in(tmp_path) == ["tok.json"]
