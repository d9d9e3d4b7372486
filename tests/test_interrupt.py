"""Ctrl-C, progress, threads and forks: long work can be watched, stopped and shared."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mergewise as mw

PRELUDE = """
import gzip, os, sys, threading, time
from random import Random
import mergewise as mw

def words(num_words):
    return " ".join(f"word{i * i % 10007}" for i in range(num_words))

def letters(size):
    return "".join(Random(0).choices("abcdefgh", k=size))

def ready():
    print("ready", flush=True)
"""

SLOW = r"(?:(?=\p{L})\w)+(?!x)|[^x](?!y)"  # an expression

# Each is work for a minute or more.
LONG_WORK = {
    "files": "mw.count_files(['text.txt'] * 3000, num_threads=2)",
    "files, one thread": "mw.count_files(['text.txt'] * 3000, num_threads=1)",
    "files, many threads": "mw.count_files(['text.txt'] * 3000, num_threads=16)",
    "lines": "mw.count_files(['text.txt'] * 3000, documents='lines')",
    "compressed files": "mw.count_files(['text.txt.gz'] * 3000)",
    "records": "mw.count_files(['text.jsonl'] * 3000)",
    "an iterator": "mw.count('some words ' * 1000 for _ in range(10_000_000))",
    "an expression": f"mw.count_files(['text.txt'] * 3000, pattern=r'{SLOW}')",
    "one large text and an expression": f"mw.count([large], pattern=r'{SLOW}', num_threads=1)",
    "training": "mw.train(counts, num_merges=10_000_000, min_frequency=1)",
    "training on": "mw.train(counts, num_merges=10_000_000, min_frequency=1, initial=tok)",
    "cutting words": f"mw.train(counts, num_merges=9, then_across=1, within=r'{SLOW}')",
    "reporting": "mw.report(tok, counts, time_limit=600)",
    "a progress bar": "mw.count_files(['text.txt'] * 3000, progress=True)",
    "in a callback": "mw.count_files(['text.txt'] * 3000, progress=lambda *_: time.sleep(0.01))",
    "in a slow callback": "mw.train(counts, num_merges=10**6, progress=lambda *_: time.sleep(60))",
    "standard input without data": "mw.count_files('-')",
}
PREPARE = {
    "one large text and an expression": "large = words(100_000) * 120",
    "training": "counts = mw.count([letters(4_000_000)], pattern=None)",
    "training on": (
        "text = letters(1_000_000) * 30\n"
        "tok = mw.train(mw.count([text[:100_000]], pattern=None), num_merges=3000)\n"
        "counts = mw.count([text], pattern=None)"
    ),
    "reporting": (
        "counts = mw.count([letters(100_000).replace('h', ' ')], pattern='whitespace')\n"
        "tok = mw.train(counts, num_merges=3000)"
    ),
    "cutting words": "counts = mw.count([words(100_000) * 120], pattern=None)",
    "in a slow callback": "counts = mw.count([letters(4_000_000)], pattern=None)",
}


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    """Run code in another process, up to its call of `ready()`."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


def interrupt(code: str, folder: Path, *, after: float = 0.8) -> tuple[float, str, int]:
    """Send Ctrl-C to code; the seconds until the process ended, its output and exit status."""
    process = start(code, folder)
    try:
        time.sleep(after)
        assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        # Waiting must not close standard input, from which the process may be reading.
        process.wait(timeout=15)
        seconds = time.monotonic() - sent
        assert process.stdout is not None
        return seconds, process.stdout.read(), process.returncode
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same 3 MB of text in some formats."""
    path = tmp_path_factory.mktemp("texts")
    lines = [" ".join(f"word{i * j % 10007}" for j in range(20)) for i in range(15_000)]
    text = "\n".join(lines).encode()
    (path / "text.txt").write_bytes(text)
    (path / "text.txt.gz").write_bytes(gzip.compress(text, 1))
    (path / "text.jsonl").write_text("".join(f'{{"text": "{line}"}}\n' for line in lines))
    pq.write_table(pa.table({"text": lines}), path / "text.parquet")
    return path


@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_stops_within_a_moment_and_leaves_nothing(work: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    code = f"{PREPARE.get(work, '')}\nready()\ntry:\n    result = {LONG_WORK[work]}\n"
    code += "except KeyboardInterrupt:\n    print('interrupted')\n"
    code += "else:\n    print('finished')\n"
    code += "print(threading.active_count(), mw.count(['a b']).num_words)\n"
    seconds, output, status = interrupt(code, folder)
    assert (output, status) == ("interrupted\n1 2\n", 0)
    assert seconds < 3, f"{seconds:.1f} s"
    assert sorted(folder.iterdir()) == before


def test_ctrl_c_ends_the_process_as_usual_and_no_file_is_written(folder: Path) -> None:
    before = sorted(folder.iterdir())
    code = "ready()\nmw.count_files(['text.txt'] * 3000).save('out.counts')"
    seconds, _, status = interrupt(code, folder)
    assert status in {-signal.SIGINT, 130}
    assert seconds < 3
    assert sorted(folder.iterdir()) == before


def test_ctrl_c_while_saving_leaves_a_whole_file_or_none(tmp_path: Path) -> None:
    code = (
        "mw.count(['old'], pattern=None).save('a.counts')\n"
        "counts = mw.count((str(i) for i in range(500_000)), pattern=None)\n"
        "ready()\n"
        "try:\n"
        "    while True:\n"
        "        counts.save('a.counts')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    seconds, output, _ = interrupt(code, tmp_path)
    assert output == "interrupted\n"
    assert seconds < 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.counts"]
    assert mw.WordCounts.from_file(tmp_path / "a.counts").num_unique in {1, 500_000}


# Other threads.


def ticks_during(work: Callable[[], object]) -> tuple[int, float]:
    """How often another thread could run during some work, and how many seconds that took."""
    done = threading.Event()
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            time.sleep(0.002)
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    work()
    seconds = time.monotonic() - started
    done.set()
    thread.join()
    return ticks, seconds


def test_other_threads_run_meanwhile(folder: Path) -> None:
    text = "".join(Random(0).choices("abcdefgh", k=2_000_000))  # noqa: S311
    counts = mw.count([text], pattern=None)
    for work in (
        lambda: mw.count_files([folder / "text.txt"] * 60, num_threads=1),
        lambda: mw.count([text] * 10, pattern=r"[a-d]+(?!x)", num_threads=1),
        lambda: mw.train(counts, num_merges=3000),
    ):
        ticks, seconds = ticks_during(work)
        assert ticks >= 10 * seconds, f"{ticks} ticks in {seconds:.1f} s"


def test_several_threads_count_and_train_at_once(folder: Path) -> None:
    expected = mw.count_files(folder / "text.txt")
    merges = mw.train(expected, num_merges=300).merges
    results: list[object] = []

    def work() -> None:
        counts = mw.count_files(folder / "text.txt", num_threads=2)
        results.append((counts == expected, mw.train(counts, num_merges=300).merges == merges))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(True, True)] * 6


def test_short_work_does_not_wait_for_the_next_look_at_signals() -> None:
    """The watcher looks every 50 ms; the end of the work must wake it at once."""
    counts = mw.count(["abab"], pattern=None)
    started = time.monotonic()
    for _ in range(40):
        mw.train(counts, num_merges=1)
    assert time.monotonic() - started < 40 * 0.025


# Forks. They run in a process of their own, which has no threads of other tests.


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_can_go_on_after_fork(folder: Path) -> None:
    code = """
def work():
    counts = mw.count_files('text.txt', num_threads=2) + mw.count(['a b c é'], num_threads=2)
    return mw.train(counts, num_merges=50).merges, counts.num_words

expected = work()
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0 if work() == expected else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), work() == expected)
"""
    assert run(code, folder) == "0 True\n" * 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_can_work_though_the_parent_was_forked_while_counting(folder: Path) -> None:
    code = """
expected = mw.count_files('text.txt')
thread = threading.Thread(target=mw.count_files, args=(['text.txt'] * 40,))
thread.start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    os._exit(0 if mw.count_files('text.txt', num_threads=2) == expected else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
"""
    assert run(code, folder) == "0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_can_count(method: str, folder: Path) -> None:
    """Counts travel between processes; their sum is that of the whole."""
    script = folder / f"pool_{method}.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "import mergewise as mw\n"
        "def work(text):\n"
        "    return mw.count([text], num_threads=2)\n"
        "if __name__ == '__main__':\n"
        "    texts = [f'some text {i} and more' * 1000 for i in range(8)]\n"
        "    expected = mw.count(texts)\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:\n"
        "        parts = pool.map(work, texts)\n"
        "    total = parts[0]\n"
        "    for part in parts[1:]:\n"
        "        total = total + part\n"
        "    print(total == expected)\n"
    )
    done = subprocess.run(
        [sys.executable, script, method], capture_output=True, text=True, timeout=60, check=False
    )
    script.unlink()
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


# Progress.


@pytest.mark.parametrize(
    "names",
    [
        ["text.txt"],
        ["text.txt"] * 30,
        ["text.txt.gz"],
        ["text.jsonl"],
        ["text.parquet"],
        ["text.txt", "text.txt.gz", "text.jsonl", "text.txt", "text.parquet", "text.txt"],
    ],
    ids=lambda names: f"{len(names)} {names[0]}",
)
def test_progress_of_counting_rises_to_the_size_of_the_files(
    names: list[str], folder: Path
) -> None:
    paths = [folder / name for name in names]
    seen: list[tuple[int, int]] = []
    counts = mw.count_files(paths, progress=lambda done, total: seen.append((done, total)))
    size = sum(path.stat().st_size for path in paths)
    assert {total for _, total in seen} == {size}
    amounts = [done for done, _ in seen]
    assert amounts == sorted(amounts)
    assert amounts[-1] == size
    assert counts == mw.count_files(paths)


@pytest.mark.parametrize("name", ["text.jsonl", "text.parquet", "text.txt.gz", "text.txt"])
def test_progress_is_seen_within_one_file(name: str, folder: Path, tmp_path: Path) -> None:
    """A file of ten times the size, so that there is something between start and end."""
    data = (folder / name).read_bytes()
    path = tmp_path / name
    if name == "text.parquet":
        table = pq.read_table(folder / name)
        pq.write_table(pa.concat_tables([table] * 10), path, row_group_size=20_000)
    else:
        path.write_bytes(data * 10)
    seen: list[int] = []
    mw.count_files(path, pattern="gpt2", num_threads=1, progress=lambda done, _: seen.append(done))
    size = path.stat().st_size
    assert any(0 < done < size for done in seen), seen


def test_progress_of_training_rises_to_the_number_of_merges() -> None:
    text = "".join(Random(0).choices("abcdefgh", k=1_000_000))  # noqa: S311
    counts = mw.count([text], pattern=None)
    seen: list[tuple[int, int]] = []

    def see(done: int, total: int) -> None:
        seen.append((done, total))

    mw.train(counts, num_merges=2000, progress=see)
    assert {total for _, total in seen} == {2000}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == 2000
    seen.clear()
    mw.train(counts, num_merges=900, then_across=300, within=r"[a-d]+|[e-h]", progress=see)
    assert {total for _, total in seen} == {900}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == 900


class CallbackError(Exception):
    """What the callbacks below raise."""


def fail(_done: int, _total: int) -> None:
    raise CallbackError


def test_what_a_callback_raises_reaches_the_caller(folder: Path) -> None:
    for name in ("text.txt", "text.txt.gz", "text.jsonl", "text.parquet"):
        with pytest.raises(CallbackError):
            mw.count_files([folder / name] * 3, progress=fail)
    counts = mw.count_files(folder / "text.txt")
    with pytest.raises(CallbackError):
        mw.train(counts, num_merges=10, progress=fail)
    with pytest.raises(TypeError):
        mw.train(counts, num_merges=10, progress=lambda: None)  # type: ignore[arg-type, misc]
    assert len(mw.train(counts, num_merges=10).merges) == 10


def test_a_callback_that_fails_stops_the_work(folder: Path) -> None:
    started = time.monotonic()
    with pytest.raises(CallbackError):
        mw.count_files([folder / "text.txt"] * 3000, progress=fail)
    assert time.monotonic() - started < 5


def test_a_callback_may_use_mergewise(folder: Path) -> None:
    sizes: set[int] = set()
    mw.count_files(
        [folder / "text.txt"] * 10,
        progress=lambda _done, _total: sizes.add(mw.count(["a b"]).num_words),
    )
    assert sizes == {2}


def test_a_bar_goes_to_standard_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = mw.count_files(folder / "text.txt", progress=True)
    mw.train(counts, num_merges=10, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    size = (folder / "text.txt").stat().st_size
    assert err.startswith(f"count: {size / 1e6:.1f} MB in ")
    assert "train: 10 merges in " in err
