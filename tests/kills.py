"""Kill commands that write files at random moments: python tests/kills.py --kills 250.

After each kill every output is whole, old or new, files that belong together are of one run, and
whatever else was left is no input of a later run. The next run that is not killed removes it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Literal

import mergewise as mw
from mergewise.optimize import enumerate_curvature
from mergewise.sources import files_of

# Starts each command in a fork, so that a kill hits the command and not the start of Python.
FORKS = """
import json, os, sys
import pyarrow.parquet
from mergewise.cli import main
from mergewise.cli.parser import make_parser
from mergewise.optimize import checkpoint
checkpoint.SECONDS_BETWEEN_CHECKPOINTS = 0.0
make_parser()
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os._exit(main(json.loads(line)))
    print(child, flush=True)
    sys.stdin.readline()  # until then the number of the child is not given to another process
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
State = dict[str, bytes]


class Forks:
    """A process that runs commands in forks of itself."""

    def __init__(self) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", FORKS], text=True, **pipes)  # type: ignore[call-overload]

    def start(self, arguments: list[str]) -> int:
        """Start a command; its process id."""
        self.process.stdin.write(json.dumps(arguments) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def status(self) -> int:
        """Wait for the end of the command; its exit status."""
        self.process.stdin.write("wait\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def run(self, arguments: list[str]) -> None:
        """Run a command to its end."""
        self.start(arguments)
        assert self.status() == 0, arguments


@contextmanager
def started_forks() -> Iterator[Forks]:
    """The process, which is ended at the end."""
    forks = Forks()
    try:
        yield forks
    finally:
        forks.process.kill()
        forks.process.communicate()


@dataclass
class Writer:
    """A command that writes into a folder of its own, in two versions.

    Attributes:
        folder: the folder.
        versions: the arguments of the versions.
        kind: what is checked: that the files are those of one version, that each is that of a
            version, or, where a version does not always write the same, that they can be read.
        states: the files of each version.
        seconds: the latest moment of a kill; found by kills that come too late or too early.
    """

    folder: Path
    versions: list[list[str]]
    kind: Literal["all", "each", "read"]
    states: list[State] = field(default_factory=list)
    seconds: float = 0.3

    def state(self) -> State:
        """The files in the folder."""
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in self.folder.rglob("*")}

    def prepare(self, forks: Forks) -> None:
        """Run both versions to their ends, and keep what they write."""
        self.folder.mkdir()
        for version in self.versions:
            forks.run(version)
            self.states.append(self.state())

    def check_after_kill(self) -> str:
        """Check what is there after a kill; which version it is."""
        names = self.states[0].keys()
        read_all(self.folder)
        state = self.state()
        found = {str(path.relative_to(self.folder)) for path in files_of(str(self.folder))}
        assert found == names, (
            f"a later run would count {found - names}, and misses {names - found}"
        )
        if self.kind == "read":
            return "read"
        state = {name: content for name, content in state.items() if name in names}
        if self.kind == "each":
            for name, content in state.items():
                assert content in [known[name] for known in self.states], f"{name} is broken"
            return "read"
        assert state in self.states, f"{self.folder}: files are broken, or mixed"
        return "old" if state == self.states[1] else "new"

    def restore(self, forks: Forks) -> None:
        """Run the second version, which removes what is left."""
        forks.run(self.versions[1])
        assert self.state().keys() == self.states[0].keys(), self.state().keys()


def read_all(folder: Path) -> None:
    """Read each file in a folder as mergewise would: none is broken."""
    for path in folder.iterdir():
        if path.suffix in {".counts", ".parquet"}:
            mw.WordCounts.from_file(path)
        elif path.name in {"x.json", "x.tiktoken", "vocab.json", "x.model", "x.codes"}:
            mw.Tokenizer.from_file(path)
        elif path.suffix == ".cert":
            mw.Certificate.from_file(path)
        elif path.name == "run.json":
            enumerate_curvature(4, num_letters=2, num_merges=2, checkpoint=path)


# The files that a command writes are in HERE. The corpus, its counts, tokenizers and the text to
# explain are those of the version.
COMMANDS = {
    "count": "count {text} -o HERE/x.counts",
    "tables": "count {text} -o HERE/x.parquet",
    "train": "train {counts} --merges 500 -o HERE/x.json",
    "train ranks": "train {counts} --merges 500 -o HERE/x.tiktoken",
    "train a pair": "train {counts} --merges 500 -o HERE/vocab.json",
    "convert": "convert {tokenizer} HERE/x.json",
    "convert to ranks": "convert {tokenizer} HERE/x.tiktoken",
    "convert to a pair": "convert {tokenizer} HERE/vocab.json",
    "convert to a model": "convert {over_chars} HERE/x.model --lossy",
    "convert to codes": "convert {over_chars} HERE/x.codes --lossy",
    "encode": "encode {tokenizer} {text} -o HERE/x.npy",
    "encode to numbers": "encode {tokenizer} {text} -o HERE/x.ids",
    "improve": "improve {tokenizer} {counts} --moves 2000 --certify 0 -o HERE/x.json",
    "report": "report {tokenizer} {counts} --no-certify -o HERE/x.html",
    "certify": "certify {tokenizer} {counts} --against merges --time-limit 0.1 --save HERE/x.cert",
    "explain": "explain {letters} --merges 2 -o HERE/x.html",
    "drawings": "explain {letters} --merges 2 --svg HERE",
    "checkpoint": "curvature --enumerate --length 4 --alphabet 2 --merges 2 "
    "--checkpoint HERE/run.json",
}
# A proof takes the time that it is given; drawings are files of their own.
KINDS: dict[str, Literal["each", "read"]] = {"certify": "read", "drawings": "each"}


def version_of(number: int, letters: str, folder: Path) -> dict[str, str]:
    """The inputs of a version, by what commands call them."""
    random = Random(number)  # noqa: S311
    words = ["".join(random.choices(letters, k=random.randint(1, 6))) for _ in range(20_000)]
    inputs = {
        "text": folder / f"{number}.txt",
        "counts": folder / f"{number}.counts",
        "tokenizer": folder / f"{number}.json",
        "over_chars": folder / f"chars{number}.json",
    }
    text = " ".join(words)
    inputs["text"].write_text(text)
    counts = mw.count([text], pattern="gpt2")
    counts.save(inputs["counts"])
    mw.train(counts, num_merges=800, special_tokens=[f"<{number}>"]).save(inputs["tokenizer"])
    plain = mw.count([text], pattern="whitespace")
    mw.train(plain, num_merges=400, alphabet="chars").save(inputs["over_chars"])
    return {"letters": "".join(words)[:6], **{name: str(path) for name, path in inputs.items()}}


def prepared_writers(folder: Path, forks: Forks) -> dict[str, Writer]:
    """All commands that write, each of which has run in both versions."""
    versions = [version_of(n, letters, folder) for n, letters in enumerate(["abcdef", "defghi"])]
    writers = {}
    for number, (name, command) in enumerate(COMMANDS.items()):
        here = folder / f"of{number}"
        words = command.replace("HERE", str(here)).split()
        quiet = [] if words[0] in {"convert", "explain"} else ["-q"]
        arguments = [[word.format(**inputs) for word in words] + quiet for inputs in versions]
        writers[name] = Writer(here, arguments, KINDS.get(name, "all"))
        writers[name].prepare(forks)
    return writers


def kill_at_random(num_kills: int, seed: int, folder: Path) -> Counter[str]:
    """Kill commands in turn until `num_kills` were killed, and check what they leave.

    How often the old files were found, the new ones, or files that were read without comparison;
    and how often there were others beside them.
    """
    random = Random(seed)  # noqa: S311
    found: Counter[str] = Counter()
    with started_forks() as forks:
        writers = list(prepared_writers(folder, forks).items())
        for number in count():
            name, writer = writers[number % len(writers)]
            # Files are written at the end of most commands: half of the kills look there.
            moment = random.uniform(random.choice([0.0, 0.7]), 1.0)
            child = forks.start(writer.versions[0])
            time.sleep(moment * writer.seconds)
            os.kill(child, signal.SIGKILL)
            status = forks.status()
            assert status in {0, -signal.SIGKILL}, (name, status)
            try:
                version = writer.check_after_kill()
                num_files = len(writer.state())
                writer.restore(forks)
            except Exception as error:
                raise AssertionError(f"{name}, killed at {moment:.3f}: {error}") from error
            if status == 0:  # it ended before it was killed
                writer.seconds *= 0.7
                continue
            writer.seconds *= 1.2
            found[version] += 1
            found["leftovers"] += num_files > len(writer.states[0])
            if found.total() - found["leftovers"] == num_kills:
                return found
    raise AssertionError


def main() -> None:
    """Kill, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kill_at_random(parsed.kills, parsed.seed, Path(folder))
    sys.stdout.write(f"{parsed.kills} kills, no file broken or mixed: {dict(found)}\n")


if __name__ == "__main__":
    main()
