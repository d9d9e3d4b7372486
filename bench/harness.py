"""What the benchmarks share: the command line, who is installed, interleaved repetitions."""

import argparse
import datetime as dt
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from measure import JobFailedError, package, versions
from tables import keep, processor
from texts import Text

BENCH = Path(__file__).parent


class OnText(Protocol):
    """A case: who does what with a text."""

    @property
    def text(self) -> Text:
        """The text."""


CaseT = TypeVar("CaseT", bound=OnText)
OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True)
class Verdict:
    """Right or wrong, and what was compared."""

    right: bool
    words: str


@dataclass
class Row(Generic[CaseT, OutcomeT]):
    """All repetitions of one competitor on one case, or why there are none."""

    case: CaseT
    competitor: str
    outcomes: list[OutcomeT] = field(default_factory=list)
    failure: str = ""
    verdict: Verdict = field(default_factory=lambda: Verdict(right=False, words="not judged"))

    @property
    def counts(self) -> bool:
        """Whether it ran to its end and its answer is right."""
        return not self.failure and self.verdict.right

    @property
    def reason(self) -> str:
        """Why it does not count."""
        return f"failed: {self.failure}" if self.failure else f"wrong: {self.verdict.words}"


RowT = TypeVar("RowT", bound=Row)  # type: ignore[type-arg] # a row of any case and outcome


class Harness:
    """The options, and what is installed where."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name = name
        self.options = options
        self.script = BENCH / f"{name}_peers.py"
        self.versions = versions(self.script, options.python)
        self.versions["mergewise"] = versions(self.script, sys.executable)["mergewise"]
        for missing, version in self.versions.items():
            if version is None:
                say(f"MISSING, left out: {missing}; {self._remedy(missing)}")

    def present(self, competitors: Iterable[str]) -> list[str]:
        """Those of the competitors that are installed and wanted."""
        return [
            name
            for name in competitors
            if self.versions[package(name)] is not None
            and package(name) not in self.options.without
        ]

    def python(self, competitor: str) -> str:
        """The interpreter that has a competitor."""
        ours = package(competitor) == "mergewise"
        return str(sys.executable if ours else self.options.python)

    def repeat(
        self,
        rows: Sequence[RowT],
        measure: Callable[[RowT], str],
    ) -> None:
        """Gives each row its repetitions, in turn; `measure` adds an outcome and describes it."""
        for repetition in range(self.options.repetitions):
            for row in rows:
                if not row.failure:
                    try:
                        words = measure(row)
                    except JobFailedError as error:
                        row.failure = words = str(error)
                    say(f"{row.case.text}, {row.competitor}, repetition {repetition + 1}: {words}")

    def origin(self, section: str) -> str:
        """The command that made a section, when, where, and with what."""
        options = " --python PEERS/bin/python" * (self.options.python != sys.executable)
        for key in ("repetitions", "scale", "threads", "without"):
            value = getattr(self.options, key, None)
            if value != self.options.defaults.get(key):
                value = " ".join(value) if isinstance(value, list) else value
                options += f" --{key} {value}"
        known = ", ".join(f"{key} {value}" for key, value in self.versions.items() if value)
        today = dt.datetime.now(tz=dt.timezone.utc).date()
        made = f"`python bench/{self.name}.py {section} --corpora DIR{options}`, {today}"
        load = f"load {os.getloadavg()[0]:.0f}"
        return f"{made}, {processor()} ({os.cpu_count()} cores, {load}). {known}."

    def write(self, title: str, section: Callable[[str, Path], str]) -> None:
        """Makes the sections named on the command line; `section` gets a name and a folder."""
        with tempfile.TemporaryDirectory() as temporary:
            folder = self.options.work or Path(temporary)
            folder.mkdir(exist_ok=True)
            for name in self.options.names:
                text = section(name, folder)
                print(f"## {name}\n\n{text}\n", flush=True)
                keep(self.options.output, title, {name: text})

    def _remedy(self, name: str) -> str:
        if name == "mergewise":
            return f"make test builds it into .venv: run .venv/bin/python bench/{self.name}.py"
        if name == "youtokentome":
            return (
                "pip install cython setuptools wheel && "
                "pip install --no-build-isolation youtokentome==1.0.6"
            )
        return "pip install -r bench/requirements.txt"


def parser(
    description: str, names: Collection[str], default: Iterable[str], output: str
) -> argparse.ArgumentParser:
    """The options of all benchmarks."""
    made = argparse.ArgumentParser(description=description)
    add = made.add_argument
    add("cases", nargs="*", default=default, help=", ".join(names))
    add("--corpora", type=Path, help="the folder of en.txt, code.txt, multi.txt")
    add("--python", default=sys.executable, help="the interpreter that has the peers")
    add("--repetitions", type=int, default=3)
    add("--scale", type=float, default=1, help="of the texts' sizes; 0.05 for a trial")
    add("--timeout", type=float, default=1800, help="seconds for one repetition")
    add("--without", nargs="*", default=[], help="competitors to leave out")
    add("--work", type=Path, help="where texts are made and kept; a temporary folder if not given")
    add("--output", type=Path, default=BENCH / "results" / output)
    return made


def parse(made: argparse.ArgumentParser, names: Collection[str]) -> argparse.Namespace:
    """The options given, with the `names` they select, less those inside another one."""
    options = made.parse_args()
    unknown = [case for case in options.cases if not any(name.startswith(case) for name in names)]
    if unknown:
        made.error(f"no case named {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [name for name in names if name.startswith(tuple(options.cases))]
    outer = tuple(f"{name}-" for name in chosen)
    options.names = [name for name in chosen if not name.startswith(outer)]
    options.defaults = {key: made.get_default(key) for key in vars(options)}
    return options


def say(words: str) -> None:
    """Tells the person who waits."""
    print(words, file=sys.stderr, flush=True)
