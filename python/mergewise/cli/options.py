"""The parser of a command: kinds of arguments, and arguments that several commands share."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from mergewise.files import checked_path

STANDARD_OUTPUT = Path("/dev/stdout")
INPUTS = "text, .gz, .zst, .jsonl, .parquet, a folder, a glob, or - for standard input"


def keywords(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The named arguments, as keywords for a function that has them under the same names."""
    return {name: getattr(parsed, name) for name in names}


def whole_number(least: int) -> Callable[[str], int]:
    """What reads a whole number that is not too small."""

    def read(argument: str) -> int:
        try:
            number = int(argument)
        except ValueError:
            number = least - 1
        if number < least:
            message = f"expected a whole number, {least} or more, found {argument!r}"
            raise argparse.ArgumentTypeError(message)
        return number

    return read


def seconds(argument: str) -> float:
    """A time that is not negative."""
    try:
        number = float(argument)
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, 0 or more, found {argument!r}")
    return number


def output_path(argument: str) -> Path:
    """The file to write, where - is standard output."""
    return STANDARD_OUTPUT if argument == "-" else Path(argument)


def check_page(parsed: argparse.Namespace) -> None:
    """Exit with status 2 if the name of a page promises another format."""
    if parsed.output.suffix.lower() not in {"", ".html", ".htm"}:
        found = parsed.output.name
        parsed.refuse(f"a page is HTML: expected a name that ends in .html, found {found!r}")


def given_text(parsed: argparse.Namespace) -> str | None:
    """The TEXT of the arguments, or that of the file that it names; status 2 if that is unclear."""
    text: str | None = parsed.text
    if text is None or parsed.is_text:
        return text
    if parsed.file:
        return sys.stdin.read() if text == "-" else checked_path(text).read_text("utf-8")
    if os.path.isfile(text):  # noqa: PTH113 - of any length, where Path.is_file would fail
        parsed.refuse(f"{text} is a file: give --file to take its text, --text to take its name")
    return text


class Parser(argparse.ArgumentParser):
    """A parser with a method for each kind of argument; `text` is what `--help` says of it."""

    def add_flag(self, name: str, text: str) -> None:
        """An option without a value."""
        self.add_argument(name, action="store_true", help=text)

    def add_number(self, name: str, text: str, least: int = 0, **more: Any) -> None:  # noqa: ANN401
        """An option whose value is a whole number; help names it after the option, not `dest`."""
        metavar = name.strip("-").replace("-", "_").upper()
        named: Any = {"type": whole_number(least), "metavar": metavar}
        self.add_argument(name, help=text, **{**named, **more})

    def add_seconds(self, name: str, text: str, default: float | None = None) -> None:
        """An option whose value is a time."""
        self.add_argument(name, type=seconds, default=default, metavar="SECONDS", help=text)

    def add_choice(
        self, name: str, choices: Collection[str], text: str, default: str | None = None
    ) -> None:
        """An option whose value is one of a few words."""
        self.add_argument(name, choices=choices, default=default, help=text)

    def add_file(self, name: str, text: str, metavar: str = "FILE") -> None:
        """An argument that is a path."""
        self.add_argument(name, type=Path, metavar=metavar, help=text)

    def add_text(self, *, is_required: bool = True) -> None:
        """A text on the command line, or the name of a file with it: see `given_text`."""
        nargs = None if is_required else "?"
        text = "the text itself; with --file, the name of a file, or - for standard input"
        self.add_argument("text", nargs=nargs, metavar="TEXT", help=text)
        kinds = self.add_mutually_exclusive_group()
        text = "TEXT is the name of a file that holds the text"
        kinds.add_argument("--file", action="store_true", help=text)
        text = "TEXT is the text itself, also where a file has that name"
        kinds.add_argument("--text", dest="is_text", action="store_true", help=text)

    def add_merges(self, metavar: str = "MERGES") -> None:
        """The number of merges."""
        text = "the number of merges"
        self.add_number("--merges", text, dest="num_merges", required=True, metavar=metavar)

    def add_steps(self) -> None:
        """The number of steps of a search."""
        text = "the number of steps of the search, instead of a time limit: the same every time"
        self.add_number("--steps", text, dest="num_steps")

    def add_field(self) -> None:
        """The field of records that holds the text."""
        text = "the field of .jsonl or .parquet that holds the text (default text)"
        self.add_argument("--field", default="text", help=text)

    def add_threads(self) -> None:
        """The number of threads."""
        text = "the number of threads; 0: all cores"
        self.add_number("--threads", text, dest="num_threads", default=0)

    def add_time_limit(self, text: str, default: float | None = None) -> None:
        """The time of a search."""
        self.add_seconds("--time-limit", text, default)

    def add_output(self, text: str, *, is_required: bool = True) -> None:
        """The file to write."""
        help_text = f"{text}; - for standard output"
        self.add_argument("-o", "--output", type=output_path, required=is_required, help=help_text)

    def add_json(self, text: str = "print the result as JSON") -> None:
        """JSON instead of text for people."""
        self.add_flag("--json", text)

    def add_reporting(self) -> None:
        """JSON or text, with or without progress."""
        self.add_json()
        text = "show no progress"
        self.add_argument("-q", "--quiet", dest="progress", action="store_false", help=text)
