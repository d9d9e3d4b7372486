"""Run one job in a fresh process, and report its CPU seconds, wall seconds and peak memory.

`run` and `versions` call a script of peers; `answer` is that script's main function.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class Job(Protocol):
    """What one competitor is to do: a dataclass of everything its process needs to know."""

    @property
    def competitor(self) -> str:
        """Its name: that of its package, and after a space how it is used."""

    @property
    def num_threads(self) -> int:
        """On how many threads."""


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


def package(competitor: str) -> str:
    """The name of a competitor's package."""
    return competitor.partition(" ")[0]


def run(script: Path, job: Job, python: str, timeout: float) -> Any:  # noqa: ANN401 (JSON)
    """What `script` answers to `job` in a fresh process of the interpreter `python`.

    Raises:
        JobFailedError: it died or ran longer than `timeout` seconds; its stderr goes to ours.
    """
    return _call(script, ["run", json.dumps(vars(job))], python, job.num_threads, timeout)


def versions(script: Path, python: str) -> dict[str, str | None]:
    """The version of each competitor's package under `python`; None where it is missing."""
    found: dict[str, str | None] = _call(script, ["versions"], python, 1, 60)
    return found


def _call(
    script: Path, arguments: Sequence[str], python: str, num_threads: int, timeout: float
) -> Any:  # noqa: ANN401 (JSON)
    environment = dict(os.environ)
    for name in ("RAYON", "OMP", "OPENBLAS"):
        environment[f"{name}_NUM_THREADS"] = str(num_threads)
    environment["FASTOKENS_BPE_THREADS"] = str(num_threads)
    environment["TOKENIZERS_PARALLELISM"] = "true" if num_threads > 1 else "false"
    try:
        done = subprocess.run(
            [python, str(script), *arguments],
            env=environment,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise JobFailedError(f"killed after {timeout:.0f} s") from None
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stderr[-2000:] + b"\n")
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise JobFailedError(f"exit status {done.returncode}, {last[:200]}")
    return json.loads(done.stdout)


def answer(
    competitors: Iterable[str],
    work: Callable[..., "DataclassInstance"],
    command: str,
    argument: str = "{}",
) -> None:
    """Answers `versions`, or `run JOB` by `work(**job)`, in JSON on stdout.

    Nothing else may write there: what a competitor prints goes to stderr.
    """
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with stdout:
        if command == "versions":
            json.dump(_installed(competitors), stdout)
        else:
            json.dump(asdict(work(**json.loads(argument))), stdout)


def _installed(competitors: Iterable[str]) -> dict[str, str | None]:
    found = {_normal(package.name): package.version for package in metadata.distributions()}
    return {name: found.get(_normal(name)) for name in map(package, competitors)}


def _normal(name: str) -> str:
    """A package's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
