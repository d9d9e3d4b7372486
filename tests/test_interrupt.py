"""Ctrl-C, progress, threads and forks: long work can be watched, stopped and shared."""

from __future__ import annotations

import gzip
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import interrupt, run_python

import mergewise as mw
from mergewise.sources import Source

SLOW = r"(?:(?=\p{L})\w)+(?!x)|[^x](?!y)"  # an expression

# Each is work for a minute or more. After Ctrl-C each thread ends what it has begun: less than half
# a CPU second in all with two threads.
MOST_CPU_SECONDS = 3
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
    "a slow expression": r"mw.count(['a' * 3_000_000], pattern=r'\w+(?=\s)|.')",
    "a slow automaton": r"mw.count(['a' * 3_000_000], pattern=r'\w+x|.')",
    "encoding with a slow expression": "tok.encode('a' * 3_000_000)",
    "training": "mw.train(counts, num_merges=10_000_000, min_frequency=1)",
    "training on": "mw.train(counts, num_merges=10_000_000, min_frequency=1, initial=tok)",
    "cutting words": f"mw.train(counts, num_merges=9, then_across=1, within=r'{SLOW}')",
    "a progress bar": "mw.count_files(['text.txt'] * 3000, progress=True)",
    "in a callback": "mw.count_files(['text.txt'] * 3000, progress=lambda *_: time.sleep(0.01))",
    "in a slow callback": "mw.train(counts, num_merges=10**6, progress=lambda *_: time.sleep(60))",
    "standard input without data": "mw.count_files('-')",
}
PREPARE = {
    "one large text and an expression": "large = words(100_000) * 120",
    "encoding with a slow expression": (
        r"tok = mw.train(mw.count(['a'], pattern=r'\w+(?=\s)|.'), num_merges=0)"
    ),
    "training": "counts = mw.count([letters(4_000_000)], pattern=None)",
    "training on": (
        "text = letters(1_000_000) * 30\n"
        "tok = mw.train(mw.count([text[:100_000]], pattern=None), num_merges=3000)\n"
        "counts = mw.count([text], pattern=None)"
    ),
    "cutting words": "counts = mw.count([words(100_000) * 120], pattern=None)",
    "in a slow callback": "counts = mw.count([letters(4_000_000)], pattern=None)",
}


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
    code = f"{PREPARE.get(work, '')}\ntry:\n    ready()\n    result = {LONG_WORK[work]}\n"
    code += "except KeyboardInterrupt:\n    print('interrupted')\n"
    code += "else:\n    print('finished')\n"
    code += "print(threading.active_count(), mw.count(['a b']).num_words)\n"
    done = interrupt(code, folder)
    assert (done.output, done.status) == ("interrupted\n1 2\n", 0)
    assert done.cpu_seconds < MOST_CPU_SECONDS
    assert sorted(folder.iterdir()) == before


def test_ctrl_c_ends_the_process_as_usual_and_no_file_is_written(folder: Path) -> None:
    before = sorted(folder.iterdir())
    code = "ready()\nmw.count_files(['text.txt'] * 3000).save('out.counts')"
    done = interrupt(code, folder)
    assert done.status in {-signal.SIGINT, 130}
    assert done.cpu_seconds < MOST_CPU_SECONDS
    assert sorted(folder.iterdir()) == before


def test_ctrl_c_while_saving_leaves_a_whole_file_or_none(tmp_path: Path) -> None:
    code = (
        "mw.count(['old'], pattern=None).save('a.counts')\n"
        "counts = mw.count((str(i) for i in range(500_000)), pattern=None)\n"
        "try:\n"
        "    ready()\n"
        "    while True:\n"
        "        counts.save('a.counts')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = interrupt(code, tmp_path)
    assert done.output == "interrupted\n"
    assert done.cpu_seconds < MOST_CPU_SECONDS
    assert [path.name for path in tmp_path.iterdir()] == ["a.counts"]
    assert mw.WordCounts.from_file(tmp_path / "a.counts").num_unique in {1, 500_000}


# Several searches, each of which has a result when Ctrl-C ends it: no further one begins.
SEARCHES = {
    "certificates": (
        (
            "found = certify_prefixes(tok, counts, sizes=[100] * 50, time_limit=9000)\n"
            "print(len(found))\nfound[0].verify(counts)"
        ),
        "1\n",
    ),
    "a report": (
        (
            "made = mw.report(tok, counts, compare=tok, time_limit=6000)\n"
            "print(len(made.bands[0].certified), type(made.bands[1]).__name__)"
        ),
        "1 str\n",
    ),
    "improve": (
        (
            "improve = ['improve', 'tok.json', 'a.counts', '--time-limit', '6000', '--json']\n"
            "main([*improve, '--certify', '6000', '--quiet', '-o', 'out.json'])\n"
            "print(mw.Tokenizer.from_file('out.json').vocab_size)"
        ),
        '{"merges": N, "tokens_before": N, "tokens": N}\n556\n',
    ),
}


@pytest.mark.parametrize("work", SEARCHES)
def test_ctrl_c_keeps_what_was_found_and_begins_no_further_search(
    work: str, tmp_path: Path
) -> None:
    code, expected = SEARCHES[work]
    prepare = (
        "from mergewise.cli import main\nfrom mergewise.optimize import certify_prefixes\n"
        "counts = mw.count([letters(100_000).replace('h', ' ')], pattern='whitespace')\n"
        "tok = mw.train(counts, num_merges=300)\n"
        "counts.save('a.counts')\ntok.save('tok.json')\nready()\n"
    )
    done = interrupt(prepare + code, tmp_path)
    output = re.sub(": [0-9]+", ": N", done.output)
    assert (output, done.status) == (expected, 0)
    assert done.cpu_seconds < MOST_CPU_SECONDS


def test_ctrl_c_while_sources_are_handed_over_is_no_other_error(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def look_up(_source: Source) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Source, "reader", property(look_up))
    with pytest.raises(KeyboardInterrupt):
        mw.count_files(folder / "text.txt")


def test_ctrl_c_ends_the_demonstration(tmp_path: Path) -> None:
    code = "from mergewise.cli import main\nready()\nsys.exit(main(['demo']))"
    done = interrupt(code, tmp_path)
    assert done.status in {-signal.SIGINT, 130}
    assert done.cpu_seconds < MOST_CPU_SECONDS


# Other threads.


@contextmanager
def ticking(pause: float) -> Iterator[Callable[[], int]]:
    """A thread that wakes again and again; how often it did so far."""
    done = threading.Event()
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        while not done.wait(pause):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield lambda: ticks
    finally:
        done.set()
        thread.join()


def test_other_threads_run_meanwhile(folder: Path) -> None:
    text = "".join(Random(0).choices("abcdefgh", k=2_000_000))  # noqa: S311
    counts = mw.count([text], pattern=None)
    for work in (
        lambda: mw.count_files([folder / "text.txt"] * 60, num_threads=1),
        lambda: mw.count([text] * 10, pattern=r"[a-d]+(?!x)", num_threads=1),
        lambda: mw.train(counts, num_merges=3000),
    ):
        started = time.process_time()
        with ticking(0.002) as ticks:
            work()
            num_ticks = ticks()
        assert num_ticks >= 10 * (time.process_time() - started)


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
    """The watcher looks every 50 ms, and the end of the work must wake it at once.

    So one call or another ends before a thread that sleeps for 20 ms wakes.
    """
    counts = mw.count(["abab"], pattern=None)

    def is_within_a_tick(ticks: Callable[[], int]) -> bool:
        before = ticks()
        mw.train(counts, num_merges=1)
        return ticks() == before

    with ticking(0.02) as ticks:
        assert any(is_within_a_tick(ticks) for _ in range(200))


# Forks. They run in a process of their own, which has no threads of other tests.


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
    assert run_python(code, folder=folder) == "0 True\n" * 3


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_can_work_though_the_parent_was_forked_while_counting(folder: Path) -> None:
    code = """
expected = mw.count_files('text.txt')
begun = threading.Event()
work = {'paths': ['text.txt'] * 80, 'progress': lambda *_: begun.set()}
thread = threading.Thread(target=mw.count_files, kwargs=work)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    os._exit(0 if mw.count_files('text.txt', num_threads=2) == expected else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
"""
    assert run_python(code, folder=folder) == "0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_can_count(method: str, folder: Path) -> None:
    """Counts travel between processes; their sum is that of the whole."""
    code = """
import functools, multiprocessing, operator
texts = [f'some text {i} and more' * 1000 for i in range(8)]
with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
    parts = pool.map(functools.partial(mw.count, num_threads=2), [[text] for text in texts])
print(functools.reduce(operator.add, parts) == mw.count(texts))
"""
    assert run_python(code, method, folder=folder) == "True\n"


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


@pytest.mark.parametrize("name", ["text.jsonl", "text.parquet"])
def test_progress_is_seen_within_a_file_of_records(name: str, folder: Path, tmp_path: Path) -> None:
    """A file of ten times the size has several batches of records, and each is reported."""
    path = tmp_path / name
    if name == "text.parquet":
        table = pq.read_table(folder / name)
        pq.write_table(pa.concat_tables([table] * 10), path, row_group_size=20_000)
    else:
        path.write_bytes((folder / name).read_bytes() * 10)
    seen: list[int] = []
    mw.count_files(path, num_threads=1, progress=lambda done, _: seen.append(done))
    size = path.stat().st_size
    assert any(0 < done < size for done in seen), seen


class Gate:
    """Halts the reading of a file until progress within the file was seen."""

    def __init__(self) -> None:
        self.seen = threading.Event()

    def see(self, done: int, total: int) -> None:
        if 0 < done != total:
            self.seen.set()

    def is_opened(self) -> bool:
        return self.seen.wait(timeout=60)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
@pytest.mark.parametrize("name", ["text.txt", "text.txt.gz", "text.jsonl"])
def test_progress_is_seen_within_a_file(name: str, folder: Path, tmp_path: Path) -> None:
    path, text = tmp_path / name, (folder / name).read_bytes()
    os.mkfifo(path)
    gate = Gate()
    opened: list[bool] = []

    def write() -> None:
        with path.open("wb") as file:
            file.write(text)
            opened.append(gate.is_opened())
            file.write(text)

    writer = threading.Thread(target=write)
    writer.start()
    counts = mw.count_files(path, num_threads=1, progress=gate.see)
    writer.join()
    assert opened == [True]
    once = mw.count_files(folder / name)
    assert counts.num_symbols == 2 * once.num_symbols


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
    started = time.process_time()
    with pytest.raises(CallbackError):
        mw.count_files([folder / "text.txt"] * 3000, progress=fail)
    assert time.process_time() - started < MOST_CPU_SECONDS


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
    assert re.match(rf"count: {size / 1e6:.1f} MB, [\d,.]+ MB/s in ", err)
    assert "train: 10 merges in " in err
