"""The corpus that a command works on: its arguments, and its counts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mergewise.cli.options import INPUTS, Parser, keywords
from mergewise.counts import WordCounts, is_file_of_counts
from mergewise.errors import InputError
from mergewise.sources import files_of
from mergewise.tokenizer import Tokenizer
from mergewise.training import count_and_leave_out
from mergewise.vocabulary import Normalize


def add_inputs(parser: Parser) -> None:
    """The texts or counts of a corpus, and how they are read."""
    parser.add_argument("files", nargs="+", metavar="INPUT", help=f"{INPUTS}; or counts")
    text = "where a document ends in a file of text (default file)"
    parser.add_choice("--documents", ["file", "lines"], text, "file")
    parser.add_field()
    text = "how bytes that are not UTF-8 are counted (default keep)"
    parser.add_choice("--errors", ["keep", "strict", "replace"], text, "keep")
    parser.add_flag("--skip-bad", "leave out lines of .jsonl that are no records")
    parser.add_threads()


def counts_for(parsed: argparse.Namespace, tokenizer: Tokenizer) -> WordCounts:
    """The counts of the inputs, where texts are cut as the tokenizer does."""
    specials = list(tokenizer.special_tokens)
    return read_counts(parsed, tokenizer.pattern, tokenizer.normalize, specials)[0]


def read_counts(
    parsed: argparse.Namespace, pattern: str | None, normalize: Normalize, specials: Sequence[str]
) -> tuple[WordCounts, int]:
    """The counts of the inputs: the sum of files of counts, or of texts that are cut into words.

    With them comes how many lines that are no records were left out.
    """
    counted = files_of_counts(parsed.files)
    if counted is not None:
        return WordCounts.from_files(counted), 0
    tell_awaited(parsed.files, "a text")
    counts, left_out = count_and_leave_out(
        parsed.files,
        pattern=pattern,
        normalize=normalize,
        special_tokens=specials,
        **keywords(parsed, "documents", "field", "errors", "skip_bad", "num_threads", "progress"),
    )
    left_out.warn(stacklevel=1)
    return counts, left_out.num_lines


def files_of_counts(paths: Sequence[str]) -> list[Path] | None:
    """The files of counts that paths, folders and globs name; None if they are texts."""
    files = [file for path in paths for file in visible_files(path) or [Path(path)]]
    counted = [is_file_of_counts(file) for file in files]
    if not any(counted):
        return None
    if not all(counted):
        raise InputError("texts and counts cannot be mixed", hint="count the texts first")
    return files


def tell_awaited(paths: Sequence[str], what: str) -> None:
    """Tell a person at a terminal that the command waits for input, and how to end it."""
    if "-" in paths and sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        sys.stderr.write(f"mergewise: type {what}, and then {end} on a line of its own\n")


def files_among(*tokenizers: Path) -> list[Path]:
    """Those tokenizers that are one file, which an output must not be."""
    return [path for path in tokenizers if path.is_file()]


def visible_files(path: str) -> list[Path]:
    """The files of a path, folder or glob, without those that engines hide beside their output."""
    return [file for file in files_of(path) if not file.name.startswith(("_", "."))]
