"""Other processes as tests start them: run to the end, or stopped by Ctrl-C in the middle of work.

Nothing here measures time by the clock, which on a busy machine says little about the process: how
soon work ends is told by the CPU seconds that the process uses after the signal.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# A process that needs longer hangs, even on a busy machine.
HANGS = 240.0

# A process that was started in the background may ignore Ctrl-C, and so would its children.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
PRELUDE = f"""{LISTEN}
import os, sys, threading, time
from random import Random
import mergewise as mw

for name in mw.__all__:
    getattr(mw, name)  # loads it: Python may ignore a Ctrl-C that arrives during an import

def words(num_words):
    return " ".join(f"word{{i * i % 10007}}" for i in range(num_words))

def letters(size):
    return "".join(Random(0).choices("abcdefgh", k=size))

said = []

def ready(*_):
    if not said:
        said.append("ready")
        print("ready", flush=True)
"""


def run_python(code: str, *arguments: str, folder: Path | None = None, stdin: bytes = b"") -> str:
    """Run code in another process, which must leave no error; what it printed."""
    # Python warns of forks beside threads, which are what some of this code tests.
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PRELUDE + code, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=HANGS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    return done.stdout.decode()


@dataclass(frozen=True)
class Interrupted:
    """How a process ended after Ctrl-C."""

    output: str
    status: int
    cpu_seconds: float


def interrupt(code: str, folder: Path) -> Interrupted:
    """Send Ctrl-C to a process in the middle of its work, which begins at its call of `ready()`.

    `cpu_seconds` is what all its threads used from the signal to the end.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()[1]
        wait_for_work(process.pid)
        assert process.poll() is None, process.communicate()
        ended_before = cpu_seconds_of_ended()
        at_signal = cpu_seconds(process.pid)
        process.send_signal(signal.SIGINT)
        # Waiting must not close standard input, from which the process may be reading.
        process.wait(timeout=HANGS)
        used = cpu_seconds_of_ended() - ended_before - at_signal
        return Interrupted(process.stdout.read(), process.returncode, used)
    finally:
        process.kill()
        process.communicate()


def wait_for_work(pid: int) -> None:
    """Wait until a process has worked a little; for one that does nothing, a moment."""
    enough = cpu_seconds(pid) + 0.2
    for _ in range(200):
        if cpu_seconds(pid) >= enough:
            return
        time.sleep(0.01)


def cpu_seconds(pid: int) -> float:
    """The CPU seconds that all threads of a running process have used."""
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    told = subprocess.run(
        ["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    seconds = 0.0
    for part in told.stdout.strip().split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def cpu_seconds_of_ended() -> float:
    """The CPU seconds of all children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
