"""The command line: arguments to verbs, nothing else.

Data goes to standard output, everything else to standard error. The exit status is 0, 1 after an
error (one line, no traceback), 2 after a mistake in the arguments, 130 after Ctrl-C, and 141, as of
any program in a pipe, if the reader of the output closed it.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import redirect_stdout

from mergewise.cli.options import STANDARD_OUTPUT
from mergewise.cli.parser import COMMANDS, make_parser, parse
from mergewise.cli.wording import message_of
from mergewise.errors import MergewiseError
from mergewise.progress import end_line

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit status."""
    try:
        try:
            return run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more when it exits: the rest must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        say("interrupted")
        return 130


def run(arguments: list[str] | None) -> int:
    """Run a command, or list them; the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = make_parser(COMMANDS.keys() & set(words))
    if not words:
        parser.print_help(sys.stderr)
        return 2
    parsed = parse(parser, words)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        # What is left out, for one, is always said, and is no error, whatever Python's options are.
        warnings.simplefilter("default", UserWarning)
        try:
            # What is said about an output must not become part of it.
            is_output = getattr(parsed, "output", None) == STANDARD_OUTPUT
            with redirect_stdout(sys.stderr if is_output else sys.stdout):
                parsed.run(parsed)
        except BrokenPipeError:
            raise
        except (MergewiseError, OSError, ValueError, OverflowError, ImportError) as error:
            say(f"error: {message_of(error, parsed)}")
            return 1
    return 0


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Write a warning as one line."""
    say(f"warning: {' '.join(str(message).splitlines())}")


def say(line: str) -> None:
    """Write a line to standard error, below a bar if one is there."""
    end_line()
    sys.stderr.write(f"mergewise: {line}\n")
