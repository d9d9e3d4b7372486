"""The parser of a command: kinds of arguments, and arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import Any

INPUTS = "text, .gz, .zst, .jsonl, .parquet, a folder, a glob, or - for standard input"


def keywords(parsed: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The named arguments, as keywords for a function that has them under the same names."""
    return {name: getattr(parsed, name) for name in names}


class Parser(argparse.ArgumentParser):
    """A parser with a method for each kind of argument; `text` is what `--help` says of it."""

    def add_flag(self, name: str, text: str) -> None:
        """An option without a value."""
        self.add_argument(name, action="store_true", help=text)

    def add_number(self, name: str, text: str, **more: Any) -> None:  # noqa: ANN401
        """An option whose value is a number; help names it after the option, not after `dest`."""
        named: Any = {"type": int, "metavar": name.strip("-").replace("-", "_").upper()}
        self.add_argument(name, help=text, **{**named, **more})

    def add_choice(
        self, name: str, choices: Collection[str], text: str, default: str | None = None
    ) -> None:
        """An option whose value is one of a few words."""
        self.add_argument(name, choices=choices, default=default, help=text)

    def add_file(self, name: str, text: str, metavar: str = "FILE") -> None:
        """An argument that is a path."""
        self.add_argument(name, type=Path, metavar=metavar, help=text)

    def add_text(self, *, is_required: bool = True) -> None:
        """A text on the command line."""
        nargs = None if is_required else "?"
        self.add_argument("text", nargs=nargs, metavar="TEXT", help="the text itself, not a file")

    def add_merges(self, metavar: str = "MERGES") -> None:
        """The number of merges."""
        text = "the number of merges"
        self.add_number("--merges", text, dest="num_merges", required=True, metavar=metavar)

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
        self.add_number("--time-limit", text, type=float, default=default, metavar="SECONDS")

    def add_output(self, text: str, *, is_required: bool = True) -> None:
        """The file to write."""
        self.add_argument("-o", "--output", type=Path, required=is_required, help=text)

    def add_json(self, text: str = "print the result as JSON") -> None:
        """JSON instead of text for people."""
        self.add_flag("--json", text)

    def add_reporting(self) -> None:
        """JSON or text, with or without progress."""
        self.add_json()
        text = "show no progress"
        self.add_argument("-q", "--quiet", dest="progress", action="store_false", help=text)
