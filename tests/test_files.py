"""How files are written: what they replace, what a killed process leaves, and what errors name."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import call
from processes import HANGS, PRELUDE, run_python

import mergewise as mw
from mergewise import files
from mergewise.errors import FormatError, MergewiseError
from mergewise.files import is_temporary, replacing, write_files

COUNTS = mw.count(["low lower lowest low"], pattern="whitespace")
TOKENIZER = mw.train(COUNTS, num_merges=3)

# Every kind of writer, under a name of its kind of file.
Writer = Callable[[Path], object]


def encode(path: Path) -> None:
    text = path.with_name("text of encode.txt")
    text.write_text("low lower")
    TOKENIZER.encode_files(text, path)
    text.unlink()


WRITERS: dict[str, Writer] = {
    "x.counts": COUNTS.save,
    "x.parquet": COUNTS.save,
    "x.json": TOKENIZER.save,
    "x.bin": encode,
    "x.npy": encode,
    "x.html": mw.explain("abab", num_merges=1).save,
    "x.cert": mw.certify(TOKENIZER, COUNTS, time_limit=0.01).save,
}
PAIRS = {
    "x.tiktoken": ["x.tiktoken", "x.tiktoken.json"],
    "vocab.json": ["merges.txt", "vocab.json"],
}
every_writer = pytest.mark.parametrize("name", WRITERS)
every_pair = pytest.mark.parametrize("name", PAIRS)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def expected_bytes(name: str, folder: Path) -> bytes:
    """What a writer writes to an ordinary file."""
    path = folder / f"expected-{name}"
    WRITERS[name](path)
    content = path.read_bytes()
    path.unlink()
    return content


# What a file replaces.


def read_pipe(path: Path, write: Writer) -> bytes:
    """What is written to a pipe with a name."""
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    thread.start()
    write(path)
    assert stat.S_ISFIFO(path.stat().st_mode), "the pipe was replaced"
    thread.join(timeout=60)
    return read[0]


@every_writer
def test_a_pipe_is_written_to(name: str, tmp_path: Path) -> None:
    expected = expected_bytes(name, tmp_path)
    path = tmp_path / name
    os.mkfifo(path)
    if name == "x.npy":
        with pytest.raises(MergewiseError, match=f"{path}: found a pipe, expected a file"):
            read_pipe(path, WRITERS[name])
        return
    assert read_pipe(path, WRITERS[name]) == expected
    assert names_in(tmp_path) == [name]


@every_writer
def test_a_device_is_written_to(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    WRITERS[name](path)
    assert stat.S_ISCHR(path.stat().st_mode)
    assert names_in(tmp_path) == [name]


@every_writer
@pytest.mark.parametrize("is_there", [True, False], ids=["old file", "no file yet"])
def test_a_link_stays_and_its_file_is_replaced(name: str, is_there: bool, tmp_path: Path) -> None:  # noqa: FBT001
    expected = expected_bytes(name, tmp_path)
    link, between, target = tmp_path / name, tmp_path / "link", tmp_path / "folder" / "target"
    target.parent.mkdir()
    if is_there:
        target.write_bytes(b"old")
    between.symlink_to(Path("folder") / "target")
    link.symlink_to("link")
    WRITERS[name](link)
    assert link.is_symlink()
    assert between.is_symlink()
    assert target.read_bytes() == expected
    assert names_in(tmp_path) == sorted(["folder", "link", name])
    assert names_in(target.parent) == ["target"]


@every_pair
def test_links_of_a_pair_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    for file in PAIRS[name]:
        (tmp_path / file).symlink_to(tmp_path / "blobs" / file)
    TOKENIZER.save(tmp_path / name, lossy=True)
    assert all((tmp_path / file).is_symlink() for file in PAIRS[name])
    assert names_in(tmp_path / "blobs") == PAIRS[name]
    assert mw.Tokenizer.from_file(tmp_path / name).merges == TOKENIZER.merges


@every_pair
def test_a_pair_is_not_written_to_a_pipe_or_into_two_folders(name: str, tmp_path: Path) -> None:
    file = tmp_path / PAIRS[name][0]
    os.mkfifo(file)
    with pytest.raises(MergewiseError, match=f"{file}: found a device or a pipe"):
        TOKENIZER.save(tmp_path / name, lossy=True)
    file.unlink()
    (tmp_path / "folder").mkdir()
    file.symlink_to(tmp_path / "folder" / "file")
    with pytest.raises(MergewiseError, match=r"expected one$"):
        TOKENIZER.save(tmp_path / name, lossy=True)
    assert names_in(tmp_path) == sorted([file.name, "folder"])
    assert names_in(tmp_path / "folder") == []


@every_writer
def test_a_folder_is_not_replaced(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.mkdir()
    with pytest.raises((IsADirectoryError, MergewiseError)) as caught:
        WRITERS[name](path)
    assert str(path) in str(caught.value)


# Mode, owner, and what is on the disk.


@every_writer
def test_mode_and_owner_of_an_old_file_stay(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(0o640)
    owner = os.getuid(), os.getgid()
    if os.getuid() == 0:
        owner = 4321, 1234
        os.chown(path, *owner)
    WRITERS[name](path)
    status = path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o640
    assert (status.st_uid, status.st_gid) == owner
    assert path.read_bytes() != b"old"


def test_the_temporary_file_of_a_private_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"secret")
    path.chmod(0o600)
    with replacing(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_bytes(b"new")


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        for name, write in WRITERS.items():
            write(tmp_path / name)
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640
    finally:
        os.umask(umask)


def watch_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The names of files that are synced and renamed from now on."""
    calls: list[tuple[str, str]] = []
    sync, rename = os.fsync, os.replace

    def watched_sync(descriptor: int) -> None:
        calls.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        sync(descriptor)

    def watched_rename(source: Path, target: Path) -> None:
        calls.append(("rename", Path(target).name))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", watched_sync)
    monkeypatch.setattr(os, "replace", watched_rename)
    return calls


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the names of open files")
@every_writer
def test_a_file_is_synced_before_its_rename_and_the_folder_after(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = watch_calls(monkeypatch)
    WRITERS[name](tmp_path / name)
    (first, temporary), *others = calls
    assert first == "sync"
    assert is_temporary(Path(temporary))
    assert others == [("rename", name), ("sync", tmp_path.name)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs the names of open files")
@every_pair
def test_all_of_a_pair_is_synced_before_either_is_renamed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = watch_calls(monkeypatch)
    TOKENIZER.save(tmp_path / name, lossy=True)
    kinds = [kind for kind, _ in calls]
    # Both files, the journal, the folder that names them; then the renames, and the folder again.
    assert kinds == ["sync"] * 4 + ["rename"] * 2 + ["sync"]
    assert calls[3] == calls[-1] == ("sync", tmp_path.name)
    assert sorted(name for kind, name in calls if kind == "rename") == PAIRS[name]


# Pairs are replaced together.

# The process ends, as if it were killed, before the next call that changes a folder: the first, the
# second, and so on. The parent prints a line for each, until a child writes all of it.
KILL_EVERYWHERE = """
from pathlib import Path
folder, name = Path(sys.argv[1]), sys.argv[2]
CALLS = {"open", "os.rename", "os.remove", "os.chmod", "os.chown"}
tok = [
    mw.train(mw.count([text], pattern="gpt2"), num_merges=2, special_tokens=[f"<{text}>"])
    for text in ("abab abab", "cdcd cdcd")
]

def state():
    return {path.name: path.read_bytes() for path in folder.iterdir()}

states = []
for each in tok:
    each.save(folder / name)
    states.append(state())

def save_and_die(number):
    left = number
    def hook(event, arguments):
        nonlocal left
        is_ours = event in CALLS and str(folder) in str(arguments[0])
        left -= is_ours
        if is_ours and left == 0:
            os._exit(9)
    sys.addaudithook(hook)
    tok[0].save(folder / name)
    os._exit(0)

number = status = 1
while status:
    tok[1].save(folder / name)
    assert state() == states[1], state().keys()
    child = os.fork()
    if child == 0:
        save_and_die(number)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    before = state()
    found = mw.Tokenizer.from_file(folder / name)
    after = {name: content for name, content in state().items() if name in states[0]}
    assert found in tok and after == states[tok.index(found)], (number, before.keys())
    is_mixed = {name: before[name] for name in states[0]} not in states
    print(tok.index(found), int(is_mixed))
    number += 1
"""


@every_pair
def test_a_pair_is_never_mixed_wherever_its_writer_is_killed(name: str, tmp_path: Path) -> None:
    lines = run_python(KILL_EVERYWHERE, str(tmp_path), name).split("\n")[:-1]
    # Old files at first, new ones at last; between the renames the reader completes the pair.
    assert len(lines) > 10
    assert lines == sorted(lines, key=lambda line: line[0] == "0")
    assert (lines[0], lines[-1]) == ("1 0", "0 0")
    assert "0 1" in lines
    assert names_in(tmp_path) == PAIRS[name]


def begun_pair(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pair of files of which the first alone was renamed."""
    (folder / "x.tiktoken").write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(files, "rename_all", lambda *_: None)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        TOKENIZER.save(folder / "x.tiktoken")
    return folder / "x.tiktoken"


def test_a_pair_that_cannot_be_completed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun_pair(tmp_path, monkeypatch)
    assert len(names_in(tmp_path)) == 4

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(FormatError, match=r"could be replaced.*Permission denied"):
            mw.Tokenizer.from_file(path, pattern="gpt2")
    assert mw.Tokenizer.from_file(path).merges == TOKENIZER.merges
    assert names_in(tmp_path) == PAIRS["x.tiktoken"]


def test_what_a_pair_needs_is_not_removed_by_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = begun_pair(tmp_path, monkeypatch)
    COUNTS.save(tmp_path / "x.counts")
    assert names_in(tmp_path) == ["x.counts", *PAIRS["x.tiktoken"]]
    assert mw.Tokenizer.from_file(path).merges == TOKENIZER.merges


def test_a_pair_of_which_no_file_could_be_renamed_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        TOKENIZER.save(tmp_path / "x.tiktoken")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b'{".mergewise-0123456789abcdef.tmp": "../victim"',
        b'{".mergewise-0123456789abcdef.tmp": "../victim"}',
        b'{".mergewise-0123456789abcdef.tmp": ".."}',
        b'{"../victim": "x.tiktoken"}',
        b'["../victim"]',
        b"\xff",
    ],
)
def test_a_journal_of_others_moves_nothing(journal: bytes, tmp_path: Path) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    folder.mkdir()
    victim.write_bytes(b"old")
    TOKENIZER.save(folder / "x.tiktoken")
    (folder / ".mergewise-0123456789abcdef.tmp").write_bytes(b"new")
    (folder / ".mergewise-0123456789abcdef.journal").write_bytes(journal)
    assert mw.Tokenizer.from_file(folder / "x.tiktoken").merges == TOKENIZER.merges
    assert victim.read_bytes() == b"old"


def test_writers_of_one_pair_follow_one_another(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]

    def write(content: bytes) -> None:
        for _ in range(20):
            write_files(dict.fromkeys(paths, content))

    threads = [threading.Thread(target=write, args=(bytes([n]),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert names_in(tmp_path) == ["a", "b"]


def test_gpt2_needs_a_name_from_which_both_files_follow(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.gpt"
    with pytest.raises(MergewiseError, match=r"tokenizer.gpt.*expected vocab.json, merges.txt"):
        TOKENIZER.save(path, format="gpt2", lossy=True)
    assert names_in(tmp_path) == []


# What a killed process leaves.

SAVE_AND_DIE = """
from pathlib import Path
from mergewise.files import replacing, write_files
with replacing(Path(sys.argv[1]) / "x.counts") as temporary:
    temporary.write_text("half of it")
    print(temporary.name, flush=True)
    if len(sys.argv) > 2:
        sys.stdin.read()
    os._exit(0)
"""


def test_leftovers_are_no_corpus_and_the_next_write_removes_them(tmp_path: Path) -> None:
    corpus, folder = tmp_path / "corpus", tmp_path / "corpus" / "below"
    folder.mkdir(parents=True)
    (folder / "text.txt").write_text("to be")
    leftover = folder / run_python(SAVE_AND_DIE, str(folder)).strip()
    assert leftover.read_text() == "half of it"
    for inputs in (corpus, f"{folder}/*", f"{folder}/.*", f"{corpus}/**"):
        if inputs == f"{folder}/.*":
            with pytest.raises(FileNotFoundError):
                mw.count_files(inputs)
        else:
            assert mw.count_files(inputs).num_words == 2
    assert mw.count_files(leftover).num_words == 3  # whoever names it means it
    COUNTS.save(folder / "other.counts")
    assert names_in(folder) == ["other.counts", "text.txt"]


def test_what_a_living_process_writes_is_not_removed(tmp_path: Path) -> None:
    code = [sys.executable, "-c", PRELUDE + SAVE_AND_DIE, str(tmp_path), "wait"]
    with subprocess.Popen(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        leftover = tmp_path / process.stdout.readline().decode().strip()
        COUNTS.save(tmp_path / "x.counts")
        assert leftover.exists()
        process.communicate(timeout=HANGS)
    COUNTS.save(tmp_path / "x.counts")
    assert names_in(tmp_path) == ["x.counts"]


def test_files_of_other_names_stay(tmp_path: Path) -> None:
    others = [".mergewise-0.tmp", ".x.counts.abc", "mergewise-0123456789abcdef.tmp"]
    for name in others:
        (tmp_path / name).write_text("mine")
    os.mkfifo(tmp_path / ".mergewise-0123456789abcdee.tmp")
    (tmp_path / ".mergewise-0123456789abcdef.tmp").symlink_to(tmp_path / others[0])
    COUNTS.save(tmp_path / "x.counts")
    assert set(others) < set(names_in(tmp_path))


@pytest.mark.parametrize("command", ["count", "train", "encode", "improve", "report", "certify"])
def test_an_output_that_is_an_input_is_refused_before_the_work(
    command: str, tmp_path: Path
) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "below").mkdir(parents=True)
    ending = {"encode": "npy", "report": "html"}.get(command, "json")
    text, tokenizer = corpus / f"text.{ending}", tmp_path / f"tok.{ending}"
    text.write_text("low lower " * 9)
    os.link(text, corpus / f"same.{ending}")
    TOKENIZER.save(tmp_path / "tok.json")
    (tmp_path / "tok.json").rename(tokenizer)
    texts = {path: path.read_bytes() for path in (text, tokenizer)}
    more = [] if command in {"count", "train"} else [tokenizer]
    options = {"train": ["--merges", "1"], "certify": ["--against", "merges", "--time-limit", "1"]}

    def run(given: str | Path, output: Path) -> str:
        option = "--save" if command == "certify" else "-o"
        done = call(command, *more, given, *options.get(command, []), "-q", option, output)
        assert done.status == 1, done
        return done.errors

    (tmp_path / "link").symlink_to(corpus)
    for given in (corpus, corpus / "below" / "..", tmp_path / "link"):
        inside = corpus / "below" / f"x.{ending}"
        assert f"{inside}: found an output in the input {given}" in run(given, inside)
    link = tmp_path / "link" / text.name
    for same in (text, corpus / f"same.{ending}", f"{corpus}/t*.{ending}", link):
        assert f"{text}: found an output that is an input" in run(same, text)
    if command in {"encode", "report", "certify"}:
        assert f"{tokenizer}: found an output that is an input" in run(text, tokenizer)
    missing = tmp_path / "missing" / f"x.{ending}"
    assert f"{missing}: No such file or directory" in run(text, missing)
    assert {path: path.read_bytes() for path in (text, tokenizer)} == texts
    assert names_in(corpus) == ["below", f"same.{ending}", text.name]


def test_encode_files_refuses_its_inputs_as_output(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low")
    for paths, output in ((text, text), (iter([tmp_path]), tmp_path / "ids.npy")):
        with pytest.raises(MergewiseError, match="found an output"):
            TOKENIZER.encode_files(paths, output)
    assert text.read_text() == "low"
