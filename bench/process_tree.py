"""CPU seconds and peak memory of a process and of all that it starts, on Linux.

Engines start daemons whose parents end before them, so this process takes over orphans
(PR_SET_CHILD_SUBREAPER), and a process is in the tree as long as it runs. Twice counted: by the
kernel, as children are waited for, and by looking at /proc a few times a second. The kernel misses
the children of those who never wait for them, /proc misses a process's last moment; the larger of
the two is reported.
"""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
TICKS = os.sysconf("SC_CLK_TCK")
MOST_SECONDS_TO_END = 120


@dataclass(frozen=True)
class Cost:
    """What a tree of processes took.

    Attributes:
        output: the root's standard output.
        status: its exit status.
        cpu: CPU seconds, user and system, of all processes.
        wall: seconds until the root ended.
        peak: the most bytes in memory of all processes at once; shared pages count in each.
    """

    output: bytes
    status: int
    cpu: float
    wall: float
    peak: int


def run(command: Sequence[str]) -> Cost:
    """Runs a command and waits for it and all that it leaves behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = waited_seconds()
    started = time.perf_counter()
    watcher = Watcher()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    watcher.start()
    output, _ = process.communicate()
    wall = time.perf_counter() - started
    watcher.stop()
    reap_orphans()
    cpu = max(waited_seconds() - before, sum(watcher.seconds.values()))
    return Cost(output, process.returncode, cpu, wall, watcher.peak)


def waited_seconds() -> float:
    """CPU seconds of all children that were waited for, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reap_orphans() -> None:
    """Ends what the command left behind, and waits for it: what runs on would be measured again."""
    deadline = time.monotonic() + MOST_SECONDS_TO_END
    while time.monotonic() < deadline:
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            return
        time.sleep(0.1)
    raise SystemExit(f"still running after {MOST_SECONDS_TO_END} seconds: {[*descendants()]}")


class Watcher(threading.Thread):
    """Looks at all descendants of this process until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds: dict[tuple[int, int], float] = {}
        self.peak = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        """Look, wait, look again."""
        while not self.is_over.wait(0.2):
            self.look()

    def look(self) -> None:
        """Note the CPU seconds of each process, and the memory of all."""
        memory = 0
        for pid, fields in descendants().items():
            self.seconds[pid, int(fields[21])] = (int(fields[13]) + int(fields[14])) / TICKS
            memory += int(fields[23]) * resource.getpagesize()
        self.peak = max(self.peak, memory)

    def stop(self) -> None:
        """Look once more."""
        self.is_over.set()
        self.join()
        self.look()


def descendants() -> dict[int, list[str]]:
    """The processes below this one, with the fields of their /proc/PID/stat."""
    fields: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue  # it ended
        head, _, tail = text.rpartition(")")
        fields[int(head.split()[0])] = [*head.split(maxsplit=1), *tail.split()]
    below: dict[int, list[str]] = {}
    parents = {os.getpid()}
    while parents:
        children = {pid for pid, stat in fields.items() if int(stat[3]) in parents}
        below.update((pid, fields[pid]) for pid in children - below.keys())
        parents = children
    return below
