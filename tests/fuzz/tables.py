"""Parquet files of texts and of counts: read alike in every way, or refused by name.

They are read in a process of its own, since pyarrow, which reads counts, may end the process that
reads a damaged file; `python -m fuzz.tables` is that process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import mergewise as mw
from fuzz.findings import kind_of
from mergewise.errors import FormatError, InputError
from mergewise.parquet import import_parquet
from mergewise.sources import classify, documents_of

MOST_MEMORY = 8 << 30
SLOW_SECONDS = 4
LENGTH_BYTES = 4


class WorkerError(AssertionError):
    """The reader failed, or its process ended; `kind` tells one failure from another."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.finding = kind


class Worker:
    """A process that reads one input after the other."""

    def __init__(self) -> None:
        path = [str(Path(__file__).parent.parent), *sys.path]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.tables"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        )

    def check(self, data: bytes) -> None:
        """Read an input there, and raise here what it raises."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)
            self.process.stdin.flush()
        try:
            answer = pickle.load(self.process.stdout)  # noqa: S301 - from our own process
        except (EOFError, pickle.UnpicklingError):
            worker.cache_clear()
            status = self.process.wait()
            raise WorkerError(f"ended-by-{status}", f"the process ended: {status}") from None
        if answer is not None:
            raise WorkerError(*answer)


@cache
def worker() -> Worker:
    """The process, started when it is needed."""
    return Worker()


def check_parquet(data: bytes) -> None:
    """Read a file as a corpus and as counts, in the process for that."""
    worker().check(data)


def check_tables(data: bytes) -> None:
    """Count the texts of a file, with several readers and with one; load it as counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        path.write_bytes(data)
        with refused_by_name(folder):
            counts = mw.count_files(path, pattern="whitespace", num_threads=2)
            assert counts == mw.count_files(path, pattern="whitespace", num_threads=1)
            texts = [text for batch, _ in documents_of(classify(path)) for text in batch]
            assert counts == mw.count(texts, pattern="whitespace")
        with refused_by_name(folder):
            counts = mw.WordCounts.from_file(path)
            counts.save(path)
            assert mw.WordCounts.from_file(path) == counts


@contextlib.contextmanager
def refused_by_name(folder: str) -> Iterator[None]:
    """Expect an error of ours that names the file, or none; pyarrow may believe sizes."""
    try:
        with contextlib.suppress(MemoryError):
            yield
    except (FormatError, InputError) as error:
        assert folder in str(error), f"the message does not name the file: {error}"  # noqa: PT017


def main() -> None:
    """Answer each input with what is wrong; None if nothing is."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The import takes seconds on a busy machine, which are not those of the first input.
    import_parquet()
    while size := sys.stdin.buffer.read(LENGTH_BYTES):
        data = sys.stdin.buffer.read(int.from_bytes(size, "little"))
        answer: Any = None
        faulthandler.dump_traceback_later(SLOW_SECONDS, exit=True)
        try:
            check_tables(data)
        except BaseException as error:  # noqa: BLE001 - a panic is no Exception
            answer = kind_of(error), "".join(traceback.format_exception(error, limit=-6))
        faulthandler.cancel_dump_traceback_later()
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
