"""All commands, and the parser of their arguments."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Collection
from importlib import import_module

from mergewise.cli.options import Parser

# The module that has each command, as `add_NAME` and `run_NAME`, and what the command does.
# `--help` shows the rest of the docstring of `add_NAME`.
COMMANDS = {
    "count": ("making", "count the words of texts"),
    "train": ("making", "train a tokenizer on texts or on their counts"),
    "convert": ("making", "write a tokenizer in another format"),
    "encode": ("encode", "write the ids of texts"),
    "decode": ("decode", "write the text of ids"),
    "solve": ("solving", "find the best merges of all, and prove it"),
    "improve": ("improving", "find merges that make fewer tokens, as many as before"),
    "certify": ("certifying", "prove how far a tokenizer can be from the best of its size"),
    "verify": ("certifying", "check the proof of a certificate"),
    "inspect": ("inspecting", "show what is in a tokenizer"),
    "forest": ("trees", "draw the merge trees of a text"),
    "demo": ("demo", "show what mergewise does, on a text inside the package"),
    "report": ("reporting", "make a page on what a tokenizer does to a corpus"),
    "explain": (
        "explaining",
        "show greedy training step by step: the list, the heap, the positions",
    ),
    "curvature": ("curvature", "measure how far greedy can be from the optimum: the paper's σ"),
    "completion": ("completion", "print a script with which a shell completes these commands"),
}


class Version(argparse.Action):
    """`--version`; what knows the number is loaded for it alone."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and exit."""
        from mergewise._core import __version__  # noqa: PLC0415

        sys.stdout.write(f"mergewise {__version__}\n")
        parser.exit()


def make_parser(wanted: Collection[str] = COMMANDS.keys()) -> Parser:
    """The parser of the command line, with the arguments of the `wanted` commands.

    Their modules are loaded with them, which takes most of the time of a short command.
    """
    parser = Parser(
        prog="mergewise",
        description="Train, apply, improve, solve and certify byte-pair encodings.",
        epilog="`mergewise COMMAND --help` has examples.",
    )
    parser.add_argument(
        "--version", action=Version, nargs=0, help="show program's version number and exit"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (module_name, text) in COMMANDS.items():
        formatter = argparse.RawDescriptionHelpFormatter
        sub = commands.add_parser(name, help=text, formatter_class=formatter)
        if name in wanted:
            module = import_module(f"mergewise.cli.{module_name}")
            add = getattr(module, f"add_{name}")
            describe(sub, f"{text[0].upper()}{text[1:]}.", inspect.getdoc(add) or "")
            add(sub)
            options = {name for action in sub._actions for name in action.option_strings}  # noqa: SLF001
            run = getattr(module, f"run_{name}")
            sub.set_defaults(run=run, refuse=sub.error, options=options)
    return parser


def describe(parser: Parser, summary: str, doc: str) -> None:
    """Take the details and the examples of `--help` from the docstring of `add_NAME`."""
    _, _, rest = doc.partition("\n\n")
    details, _, examples = rest.rpartition("Examples:\n")
    parser.description = textwrap.fill(f"{summary} {details}".rstrip(), 79)
    parser.epilog = f"examples:\n{examples}"


def parse(parser: Parser, arguments: list[str]) -> argparse.Namespace:
    """The arguments; a list of files may have options in its midst, which argparse does not see."""
    parsed, rest = parser.parse_known_args(arguments)
    files = getattr(parsed, "files", None)
    if rest and (files is None or any(word.startswith("-") and word != "-" for word in rest)):
        parsed.refuse(f"unrecognized arguments: {' '.join(rest)}")
    if files is not None:
        parsed.files = [*files, *rest] or ["-"]
    return parsed
