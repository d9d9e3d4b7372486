"""The command line: arguments to verbs, nothing else.

Data goes to standard output, everything else to standard error. The exit status is 0, 1 after an
error (one line, no traceback), 2 after a mistake in the arguments, 130 after Ctrl-C, and 141, as of
any program in a pipe, if whoever read the output left.
"""

from __future__ import annotations

import io
import os
import re
import sys
import warnings

from mergewise.cli.parser import COMMANDS, make_parser, parse
from mergewise.errors import MergewiseError

__all__ = ["main"]

# Advice for Python, and the same for the command line.
WORDINGS = (
    (
        r"pass allowed_special=\{.*\} to encode it as that token, or disallowed_special=\(\) to ",
        "--special to encode it as that token, --ordinary to ",
    ),
    (
        r'pattern="cl100k", another name, a regular expression or None',
        "--pattern cl100k, another name, a regular expression or none",
    ),
    (
        r"then_across needs counts of whole documents \(pattern=None\)(.*) within=\.\.\.",
        r"--then-across needs counts of whole documents (--pattern none)\1 --within",
    ),
    (r"\blossy=True", "--lossy"),
    (r"\bformat=", "--to"),
    (r"\bfield=\.\.\., --field", "--field"),
    (r'\berrors="(\w+)"', r"--errors \1"),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    try:
        try:
            return run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and what is left must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        sys.stderr.write("mergewise: interrupted\n")
        return 130


def run(arguments: list[str] | None) -> int:
    """Run a command; 0, or 1 after an error."""
    words = sys.argv[1:] if arguments is None else arguments
    parsed = parse(make_parser(COMMANDS.keys() & set(words)), words)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            parsed.run(parsed)
        except BrokenPipeError:
            raise
        except (MergewiseError, OSError, ValueError, OverflowError, ImportError) as error:
            sys.stderr.write(f"mergewise: error: {message_of(error)}\n")
            return 1
    return 0


def message_of(error: Exception) -> str:
    """What went wrong, in one line and in the words of the command line."""
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {error.strerror}"
    for pattern, wording in WORDINGS:
        message = re.sub(pattern, wording, message)
    return " ".join(message.splitlines())


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning as one line."""
    sys.stderr.write(f"mergewise: warning: {' '.join(str(message).splitlines())}\n")
