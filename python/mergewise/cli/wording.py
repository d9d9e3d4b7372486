"""Errors in the words of the command line: one line, with its options in the hint."""

from __future__ import annotations

import argparse

from mergewise.errors import MergewiseError

# The hints of `mergewise.errors.HINTS`.
HINTS = {
    "allow_special": "--special to encode it as that token, --ordinary to encode its characters "
    "like any other text",
    "check_utf8": "count with --errors strict to find it, or with --errors replace",
    "use_pattern": "count with a --pattern",
    "prune_sums": "prune them where they are summed, with --min-count",
    "use_pattern_or_prune": "count words with a --pattern, or prune with --min-count",
    "give_pattern": "give --pattern cl100k, another name, a regular expression or none",
    "give_format": "give --to",
    "give_field": "give --field",
    "write_lossy": "--lossy writes the rest",
    "read_lossy": "--lossy reads the file without it",
}
# The words of commands without --to and --lossy.
HINTS_BESIDE_CONVERT = {
    "give_format": "write a tokenizer.json, and give `mergewise convert` --to",
    "write_lossy": "write a tokenizer.json; `mergewise convert --lossy` writes the rest of it",
    "read_lossy": "`mergewise convert --lossy` reads the file without it",
}


def message_of(error: Exception, parsed: argparse.Namespace) -> str:
    """The message of an error, in one line."""
    message = str(error)
    if isinstance(error, MergewiseError):
        is_convert = hasattr(parsed, "lossy")
        message = error.worded(HINTS if is_convert else {**HINTS, **HINTS_BESIDE_CONVERT})
    elif isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {error.strerror}"
    return " ".join(message.splitlines())
