"""Errors in the words of the command line: one line, with options of the command in the hint."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection

from mergewise.errors import MergewiseError

# The hints of `mergewise.errors.HINTS`: of each, the first whose options the command has.
HINTS = {
    "allow_special": (
        "--allow-special {token} encodes it as that token, --ordinary as any other text",
        "take it out of the text",
    ),
    "add_special": (
        "--special {token} adds it, and so does `mergewise convert --special {token}` for good",
        "`mergewise train --special {token}` or `mergewise convert --special {token}` adds it",
    ),
    "check_utf8": (
        "count with --errors strict to find it, or with --errors replace",
        "`mergewise count --errors strict` finds it",
    ),
    "use_pattern": ("`mergewise count --pattern` cuts texts into words",),
    "prune_sums": (
        "prune them where they are summed, with --min-count",
        "`mergewise count --min-count` prunes them",
    ),
    "use_pattern_or_prune": (
        "`mergewise count --pattern` cuts texts into words, `mergewise count --min-count` prunes",
    ),
    "give_pattern": (
        "give --pattern cl100k, another name, a regular expression or none",
        "`mergewise convert --pattern` writes a tokenizer.json that says it",
    ),
    "give_dtype": ("give --dtype", "`mergewise decode --dtype` reads bare numbers"),
    "give_format": ("give --to", "`mergewise convert --to` writes it in a format of your choice"),
    "give_field": ("give --field", "`mergewise count --field` reads another field"),
    "write_lossy": (
        "--lossy writes the rest",
        "write a tokenizer.json; `mergewise convert --lossy` writes the rest of it",
    ),
    "read_lossy": (
        "--lossy reads the file without it",
        "`mergewise convert --lossy` reads the file without it",
    ),
}
COMMAND = re.compile(r"`mergewise [^`]*`")
OPTION = re.compile(r"--[a-z][a-z-]*")


def hints_for(options: Collection[str]) -> dict[str, str]:
    """The hints in the words of a command with these options.

    >>> hints_for({"--lossy"})["write_lossy"], hints_for(())["read_lossy"]
    ('--lossy writes the rest', '`mergewise convert --lossy` reads the file without it')
    """
    return {
        name: next((w for w in wordings if own_options(w) <= set(options)), wordings[-1])
        for name, wordings in HINTS.items()
    }


def own_options(hint: str) -> set[str]:
    """The options that a hint asks of the command itself, not of another that it names."""
    return set(OPTION.findall(COMMAND.sub("", hint)))


def message_of(error: Exception, parsed: argparse.Namespace) -> str:
    """The message of an error, in one line."""
    message = str(error)
    if isinstance(error, MergewiseError):
        message = error.worded(hints_for(parsed.options))
    elif isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {error.strerror}"
    return " ".join(message.splitlines())
