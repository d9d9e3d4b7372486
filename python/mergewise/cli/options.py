"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TypeAlias

Parser: TypeAlias = argparse.ArgumentParser

INPUTS = "text, .gz, .zst, .jsonl, .parquet, a folder, a glob, or - for standard input"


def describe(parser: Parser, *examples: str, details: str = "") -> None:
    """The description and the examples of `--help`."""
    parser.description = textwrap.fill(f"{parser.description} {details}".rstrip(), 79)
    parser.epilog = "\n  ".join(["examples:", *examples])


def add_text(parser: Parser, *, is_required: bool = True) -> None:
    """A text on the command line."""
    nargs = None if is_required else "?"
    parser.add_argument("text", nargs=nargs, metavar="TEXT", help="the text itself, not a file")


def add_field(parser: Parser) -> None:
    """The field of records that holds the text."""
    parser.add_argument(
        "--field",
        default="text",
        help="the field of .jsonl or .parquet that holds the text (default text)",
    )


def add_threads(parser: Parser) -> None:
    """The number of threads."""
    parser.add_argument(
        "--threads", type=int, default=0, help="the number of threads; 0: all cores"
    )


def add_time_limit(parser: Parser, text: str, default: float | None = None) -> None:
    """The time of a search."""
    parser.add_argument("--time-limit", type=float, default=default, metavar="SECONDS", help=text)


def add_output(parser: Parser, text: str, *, is_required: bool = True) -> None:
    """The file to write."""
    parser.add_argument("-o", "--output", type=Path, required=is_required, help=text)


def add_json(parser: Parser, text: str = "print the result as JSON") -> None:
    """JSON instead of text for people."""
    parser.add_argument("--json", action="store_true", help=text)


def add_reporting(parser: Parser) -> None:
    """JSON or text, with or without progress."""
    add_json(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
