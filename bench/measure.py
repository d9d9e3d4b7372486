"""Run one job in a fresh process, and report its CPU seconds, wall seconds and peak memory."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

PEERS = Path(__file__).with_name("peers.py")


@dataclass(frozen=True)
class Job:
    """What one competitor is to train: everything its process needs to know."""

    competitor: str
    path: str
    vocab_size: int
    pattern: str | None = "gpt2"
    documents: str = "file"
    num_threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """One repetition: its cost, and the answer by which it is judged.

    A merge is `[left, right]`, or `[token]` where the competitor tells only the result, in hex.
    """

    cpu: float
    wall: float
    peak: int
    laps: dict[str, dict[str, float]]
    vocab_size: int
    merges: list[list[str]] = field(default_factory=list)
    round_trip: bool | None = None
    num_unique: int | None = None


class JobFailedError(Exception):
    """The process of a job died or ran out of time."""


class Clock:
    """The cost of a `with` block; `lap(name)` gives the part since the last lap its own line."""

    def __init__(self) -> None:
        self.laps: dict[str, dict[str, float]] = {}
        self.peak = 0

    def __enter__(self) -> None:
        self._start = self._last = (_cpu_seconds(), time.perf_counter())

    def lap(self, name: str) -> None:
        """Closes a part of the block."""
        now = (_cpu_seconds(), time.perf_counter())
        self.laps[name] = {"cpu": now[0] - self._last[0], "wall": now[1] - self._last[1]}
        self._last = now

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cpu = _cpu_seconds() - self._start[0]
        self.wall = time.perf_counter() - self._start[1]
        self.peak = _peak_memory()


def _cpu_seconds() -> float:
    """User and system time of this process, all of its threads."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _peak_memory() -> int:
    """The most bytes this process held in memory, the interpreter and mapped files included.

    Linux hands `ru_maxrss` of the parent down to a new process, so `VmHWM` is read where there is
    one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def run(job: Job, python: str, timeout: float) -> Outcome:
    """Runs `job` in a fresh process of the interpreter `python`.

    Raises:
        JobFailedError: it died or ran longer than `timeout` seconds; its stderr goes to ours.
    """
    return Outcome(**_call(python, ["train", json.dumps(asdict(job))], job.num_threads, timeout))


def versions(python: str) -> dict[str, str | None]:
    """The version of each competitor's package under `python`; None where it is missing."""
    found: dict[str, str | None] = _call(python, ["versions"], 1, 60)
    return found


def _call(python: str, arguments: Sequence[str], num_threads: int, timeout: float) -> Any:  # noqa: ANN401 (JSON)
    environment = dict(os.environ)
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment[name] = str(num_threads)
    environment["TOKENIZERS_PARALLELISM"] = "true" if num_threads > 1 else "false"
    try:
        done = subprocess.run(
            [python, str(PEERS), *arguments],
            env=environment,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise JobFailedError(f"killed after {timeout:.0f} s") from None
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stderr[-2000:] + b"\n")
        raise JobFailedError(f"exit status {done.returncode}")
    return json.loads(done.stdout)
